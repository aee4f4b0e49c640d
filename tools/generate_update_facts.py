"""Writes `hyperpod_constructs/facts/schema.json`, the update behaviour in CloudFormation's resource schemas.

The schemas are cfn-lint's for us-east-1 (MIT-0). For every type, the facts are: the properties that only a creation can set
(`create_only`), the properties that may replace the resource (`conditional`), the properties that form its unique name
(`identity`), and whether a replacement deletes the old resource first. For the types of this library, the facts list every
property, so that a test finds one without a row.

    python tools/generate_update_facts.py           # writes the facts
    python tools/generate_update_facts.py --check   # exits 1 if the facts are stale
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

FACTS = Path(__file__).resolve().parent.parent / "hyperpod_constructs" / "facts" / "schema.json"
CFN_LINT_VERSION = "1.58.0"
REGION = "us-east-1"

EMITTED = (
    "AWS::CloudWatch::Alarm",
    "AWS::CloudWatch::CompositeAlarm",
    "AWS::CloudWatch::Dashboard",
    "AWS::EC2::EIP",
    "AWS::EC2::FlowLog",
    "AWS::EC2::InternetGateway",
    "AWS::EC2::NatGateway",
    "AWS::EC2::Route",
    "AWS::EC2::RouteTable",
    "AWS::EC2::SecurityGroup",
    "AWS::EC2::SecurityGroupEgress",
    "AWS::EC2::SecurityGroupIngress",
    "AWS::EC2::Subnet",
    "AWS::EC2::SubnetRouteTableAssociation",
    "AWS::EC2::VPC",
    "AWS::EC2::VPCCidrBlock",
    "AWS::EC2::VPCEndpoint",
    "AWS::EC2::VPCGatewayAttachment",
    "AWS::EKS::AccessEntry",
    "AWS::EKS::Addon",
    "AWS::EKS::Cluster",
    "AWS::EKS::PodIdentityAssociation",
    "AWS::Events::Rule",
    "AWS::FSx::DataRepositoryAssociation",
    "AWS::FSx::FileSystem",
    "AWS::IAM::ManagedPolicy",
    "AWS::IAM::OIDCProvider",
    "AWS::IAM::Policy",
    "AWS::IAM::Role",
    "AWS::KMS::Alias",
    "AWS::KMS::Key",
    "AWS::Lambda::Function",
    "AWS::Lambda::LayerVersion",
    "AWS::Lambda::Permission",
    "AWS::Logs::LogGroup",
    "AWS::RDS::DBCluster",
    "AWS::RDS::DBClusterParameterGroup",
    "AWS::RDS::DBInstance",
    "AWS::RDS::DBParameterGroup",
    "AWS::RDS::DBSubnetGroup",
    "AWS::S3::Bucket",
    "AWS::S3::BucketPolicy",
    "AWS::SNS::Subscription",
    "AWS::SNS::Topic",
    "AWS::SNS::TopicPolicy",
    "AWS::SQS::Queue",
    "AWS::SQS::QueuePolicy",
    "AWS::SSM::Document",
    "AWS::SSM::Parameter",
    "AWS::SageMaker::Cluster",
    "AWS::SageMaker::ClusterSchedulerConfig",
    "AWS::SageMaker::ComputeQuota",
    "AWS::SecretsManager::Secret",
    "AWS::SecretsManager::SecretTargetAttachment",
    "AWS::StepFunctions::StateMachine",
)


def render() -> str:
    """The text of the facts, one type per line.

    :raises RuntimeError: if the installed cfn-lint is not the reviewed version.
    """
    installed = importlib.metadata.version("cfn-lint")
    if installed != CFN_LINT_VERSION:
        raise RuntimeError(f"the facts were reviewed with cfn-lint {CFN_LINT_VERSION}, found {installed}: review, then set it")
    folder = _package("cfnlint") / "data" / "schemas"
    files: dict[str, str] = _read(folder / "providers" / f"{REGION}.json")
    missing = sorted(set(EMITTED) - set(files))
    if missing:
        raise RuntimeError(f"{REGION} has no schema of {', '.join(missing)}")
    lines = []
    for name, digest in sorted(files.items()):
        facts = _facts(name, _read(folder / "resources" / f"{digest}.json"))
        lines.append(f"  {json.dumps(name)}: {json.dumps(facts, sort_keys=True)}")
    date = _read(folder / "version.json")["schema_date"]
    source = f"CloudFormation resource schemas of {REGION}, as cfn-lint {CFN_LINT_VERSION} ships them (MIT-0)"
    head = [
        f' "schema_date": {json.dumps(date)}',
        f' "source": {json.dumps(source)}',
    ]
    return "{\n" + ",\n".join(head) + ',\n "types": {\n' + ",\n".join(lines) + "\n }\n}\n"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="write the update behaviour in the resource schemas")
    parser.add_argument("--check", action="store_true", help="compare only; exit 1 if the facts are stale")
    options = parser.parse_args(arguments)
    text = render()
    if not options.check:
        FACTS.write_text(text, encoding="utf-8", newline="\n")
        return 0
    if FACTS.read_text(encoding="utf-8") == text:
        return 0
    sys.stderr.write(f"{FACTS.name} is stale: run python tools/{Path(__file__).name}\n")
    return 1


def _facts(name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    read_only = _paths(schema, "readOnlyProperties")
    facts: dict[str, Any] = {
        "conditional": _paths(schema, "conditionalCreateOnlyProperties"),
        "create_only": _paths(schema, "createOnlyProperties"),
        "identity": _identity(schema),
        "deletes_first": schema.get("replacementStrategy") == "delete_then_create",
    }
    if name in EMITTED:
        facts["properties"] = sorted(set(schema["properties"]) - set(read_only))
        facts["read_only"] = read_only
    return {key: value for key, value in facts.items() if value}


def _identity(schema: Mapping[str, Any]) -> list[str]:
    """The properties that form the resource's name; none if the service makes the name."""
    read_only = _paths(schema, "readOnlyProperties")
    candidates = (schema.get("primaryIdentifier", []), *schema.get("additionalIdentifiers", []))
    for paths in candidates:
        names = [path.removeprefix("/properties/") for path in paths]
        if names and not set(names) & set(read_only):
            return sorted(names)
    return []


def _paths(schema: Mapping[str, Any], key: str) -> list[str]:
    return sorted(path.removeprefix("/properties/") for path in schema.get(key, []))


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _package(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise RuntimeError(f"{name} is not installed")
    return Path(spec.origin).parent


if __name__ == "__main__":
    sys.exit(main())
