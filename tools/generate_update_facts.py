"""Writes `schema.json` and `limits.json` of `hyperpod_constructs/facts`: updates and limits in CloudFormation's resource schemas.

The schemas are cfn-lint's for us-east-1 (MIT-0). For every type, the facts are: the properties that only a creation can set
(`create_only`), the properties that may replace the resource (`conditional`), the properties that form its unique name
(`identity`), and whether a replacement deletes the old resource first. For the types of this library, the facts list every
property, so that a test finds one without a row. For the types that constructs cover in full, they list every writable leaf,
so that a test finds one that no construct renders.

The limits are the pattern, the length and the range of every property of the types whose values constructors check, and the number
of items of every list. The schema of FSx file systems has none: theirs, and those of operations that CloudFormation lacks, come
from botocore's newest model, with the allowed words too. Their paths begin with the operation, such as
`fsx:CreateFileSystem/LustreConfiguration`.

    python tools/generate_update_facts.py           # writes the facts
    python tools/generate_update_facts.py --check   # exits 1 if the facts are stale
"""

from __future__ import annotations

import argparse
import gzip
import importlib.metadata
import importlib.util
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

FACTS = Path(__file__).resolve().parent.parent / "hyperpod_constructs" / "facts" / "schema.json"
LIMITS = FACTS.with_name("limits.json")
CFN_LINT_VERSION = "1.58.0"
REGION = "us-east-1"

EMITTED = (
    "AWS::APS::RuleGroupsNamespace",
    "AWS::APS::Workspace",
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
    "AWS::EKS::Nodegroup",
    "AWS::EKS::PodIdentityAssociation",
    "AWS::Events::Rule",
    "AWS::FSx::DataRepositoryAssociation",
    "AWS::FSx::FileSystem",
    "AWS::Grafana::Workspace",
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
    "AWS::Scheduler::Schedule",
    "AWS::SecretsManager::Secret",
    "AWS::SecretsManager::SecretTargetAttachment",
    "AWS::StepFunctions::StateMachine",
)

LIMITED = (
    "AWS::FSx::DataRepositoryAssociation",
    "AWS::SageMaker::Cluster",
    "AWS::SageMaker::ClusterSchedulerConfig",
    "AWS::SageMaker::ComputeQuota",
)
COVERED = ("AWS::FSx::DataRepositoryAssociation", "AWS::FSx::FileSystem", "AWS::SageMaker::Cluster")
_LIMITS = ("maxItems", "maxLength", "maximum", "minItems", "minLength", "minimum", "pattern")

#: botocore's newest models, which `tools/setup.sh` installs; the reviewed version.
MODELS = FACTS.parents[2] / ".venv" / "models" / "botocore" / "data"
MODEL_VERSION = "1.44.5"
#: The limited requests: service, operation, and the members that are left out with all below them.
REQUESTS = (
    (
        "fsx",
        "CreateFileSystem",
        ("ClientRequestToken", "Tags", "OntapConfiguration", "WindowsConfiguration"),
    ),
    ("fsx", "CreateDataRepositoryTask", ("CapacityToRelease", "ClientRequestToken", "Tags")),
    ("fsx", "CreateSnapshot", ("ClientRequestToken", "Tags")),
)


def render() -> dict[Path, str]:
    """The texts of the facts and of the limits, one type or property per line."""
    check_version()
    folder = package("cfnlint") / "data" / "schemas"
    files: dict[str, str] = read(folder / "providers" / f"{REGION}.json")
    missing = sorted(set(EMITTED) - set(files))
    if missing:
        raise RuntimeError(f"{REGION} has no schema of {', '.join(missing)}")
    schemas = {name: read(folder / "resources" / f"{digest}.json") for name, digest in sorted(files.items())}
    facts = [f"  {json.dumps(name)}: {json.dumps(_facts(name, schema), sort_keys=True)}" for name, schema in schemas.items()]
    limits = [
        f"  {json.dumps(f'{name}/{path}')}: {json.dumps(limit, sort_keys=True)}"
        for name in LIMITED
        for path, limit in sorted(_limits(schemas[name], schemas[name], "").items())
    ]
    limits += [
        f"  {json.dumps(path)}: {json.dumps(limit, sort_keys=True)}"
        for service, operation, left_out in REQUESTS
        for path, limit in sorted(_request_limits(service, operation, left_out).items())
    ]
    date = read(folder / "version.json")["schema_date"]
    source = f"CloudFormation resource schemas of {REGION}, as cfn-lint {CFN_LINT_VERSION} ships them (MIT-0)"
    head = [
        f' "schema_date": {json.dumps(date)}',
        f' "source": {json.dumps(source)}',
    ]
    models = f' "requests": {json.dumps(f"models of botocore {MODEL_VERSION} (Apache-2.0)")}'
    return {FACTS: _document([*head, _section("types", facts)]), LIMITS: _document([*head, models, _section("limits", limits)])}


def check_version() -> None:
    """Refuse schemas that nobody reviewed.

    :raises RuntimeError: if the installed cfn-lint is not the reviewed version.
    """
    installed = importlib.metadata.version("cfn-lint")
    if installed != CFN_LINT_VERSION:
        raise RuntimeError(f"the facts were reviewed with cfn-lint {CFN_LINT_VERSION}, found {installed}: review, then set it")


def main(arguments: Sequence[str] | None = None) -> int:
    return write_or_check(render, "write the update behaviour and the limits in the resource schemas", Path(__file__), arguments)


def write_or_check(made: Callable[[], Mapping[Path, str]], description: str, program: Path, arguments: Sequence[str] | None) -> int:
    """The command line of a generator: it writes its files, or with `--check` names those that are stale and gives 1.

    :param made: the texts by file.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--check", action="store_true", help="compare only; exit 1 if the facts are stale")
    options = parser.parse_args(arguments)
    texts = made()
    if not options.check:
        for file, text in texts.items():
            file.write_text(text, encoding="utf-8", newline="\n")
        return 0
    stale = [file.name for file, text in texts.items() if not file.is_file() or file.read_text(encoding="utf-8") != text]
    if stale:
        sys.stderr.write(f"{', '.join(stale)} is stale: run python tools/{program.name}\n")
    return 1 if stale else 0


def _document(parts: Sequence[str]) -> str:
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _section(name: str, lines: Sequence[str]) -> str:
    return f' "{name}": {{\n' + ",\n".join(lines) + "\n }"


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
    if name in COVERED:
        facts["leaves"] = sorted(_leaves(schema, schema, "") - set(read_only))
    return {key: value for key, value in facts.items() if value}


def _limits(schema: Mapping[str, Any], node: Mapping[str, Any], path: str) -> dict[str, dict[str, Any]]:
    """The limits of a property and of all below it, by path; an item of a list is `*`."""
    if "$ref" in node:
        node = schema["definitions"][node["$ref"].rpartition("/")[2]]
    own = {key: node[key] for key in _LIMITS if key in node}
    found = {path: own} if own else {}
    for name, child in node.get("properties", {}).items():
        found |= _limits(schema, child, f"{path}/{name}".removeprefix("/"))
    for branch in (*node.get("oneOf", ()), *node.get("anyOf", ()), *node.get("allOf", ())):
        found |= _limits(schema, branch, path)
    return found | (_limits(schema, node["items"], f"{path}/*") if "items" in node else {})


def _request_limits(service: str, operation: str, left_out: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The limits of a request's members, by path."""
    model = service_model(service)
    shapes = model["shapes"]
    request = shapes[model["operations"][operation]["input"]["shape"]]
    members = {name: member for name, member in request["members"].items() if name not in left_out}
    return {f"{service}:{operation}/{path}": limit for path, limit in _shape_limits(shapes, {**request, "members": members}, "")}


def service_model(service: str) -> dict[str, Any]:
    """The newest model of a service.

    :raises RuntimeError: if botocore's reviewed models are not installed.
    """
    if not (MODELS.parents[1] / f"botocore-{MODEL_VERSION}.dist-info").is_dir():
        raise RuntimeError(f"the limits of requests were reviewed with the models of botocore {MODEL_VERSION}: run tools/setup.sh")
    packed = max((MODELS / service).glob("*/service-2.json.gz"))
    model: dict[str, Any] = json.loads(gzip.decompress(packed.read_bytes()))
    return model


def shape_words(shape: Mapping[str, Any]) -> dict[str, Any]:
    """The limits of a shape in the words of a schema."""
    size = {"string": ("minLength", "maxLength"), "list": ("minItems", "maxItems")}.get(shape["type"], ("minimum", "maximum"))
    words = {"min": size[0], "max": size[1], "pattern": "pattern", "enum": "enum"}
    return {words[key]: shape[key] for key in words if key in shape}


def _shape_limits(shapes: Mapping[str, Any], shape: Mapping[str, Any], path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The limits of a shape and of all below it, by path; an item of a list is `*`."""
    own = shape_words(shape)
    if own:
        yield path, own
    for name, child in shape.get("members", {}).items():
        yield from _shape_limits(shapes, shapes[child["shape"]], f"{path}/{name}".removeprefix("/"))
    if shape["type"] == "list":
        yield from _shape_limits(shapes, shapes[shape["member"]["shape"]], f"{path}/*")


def _leaves(schema: Mapping[str, Any], node: Mapping[str, Any], path: str) -> set[str]:
    """The properties at and below a path that have no properties of their own; an item of a list is `*`."""
    if "$ref" in node:
        node = schema["definitions"][node["$ref"].rpartition("/")[2]]
    found: set[str] = set()
    for name, child in node.get("properties", {}).items():
        found |= _leaves(schema, child, f"{path}/{name}".removeprefix("/"))
    for branch in (*node.get("oneOf", ()), *node.get("anyOf", ()), *node.get("allOf", ())):
        found |= _leaves(schema, branch, path) - {path}
    if "items" in node:
        found |= _leaves(schema, node["items"], f"{path}/*")
    return found or {path}


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


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def package(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise RuntimeError(f"{name} is not installed")
    return Path(spec.origin).parent


if __name__ == "__main__":
    sys.exit(main())
