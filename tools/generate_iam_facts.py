"""Writes `iam_actions.tsv` and `aws_policies.tsv` of `hyperpod_constructs/facts`: actions of services, and AWS's managed policies.

The actions with the types of their resources are cfn-lint's copy of the service authorization reference (MIT-0); its names have no
capitals, so those come from botocore's operations and from the managed policies. These are moto's copy (Apache-2.0).

    python tools/generate_iam_facts.py           # writes the facts
    python tools/generate_iam_facts.py --check   # exits 1 if the facts are stale
"""

from __future__ import annotations

import gzip
import importlib.metadata
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tools.generate_update_facts import CFN_LINT_VERSION, MODELS, check_version, package, read, write_or_check

FACTS = Path(__file__).resolve().parent.parent / "hyperpod_constructs" / "facts"
ACTIONS, POLICIES = FACTS / "iam_actions.tsv", FACTS / "aws_policies.tsv"

#: Services whose actions the facts list; of the others they have the prefix alone.
SERVICES = (
    *("aps", "autoscaling", "cloudformation", "cloudwatch", "dynamodb", "ec2", "ec2messages", "ecr", "eks", "eks-auth"),
    *("elasticfilesystem", "elasticloadbalancing", "events", "fsx", "grafana", "iam", "kms", "lambda", "logs", "pricing", "rds"),
    *("s3", "sagemaker", "secretsmanager", "servicequotas", "sns", "sqs", "ssm", "ssmmessages", "states", "sts"),
)
#: Managed policies with their statements; of the others the facts have the name alone.
STATEMENTS = (
    "AmazonEC2FullAccess",
    "AmazonEC2ReadOnlyAccess",
    "AmazonEC2ContainerRegistryFullAccess",
    "AmazonEC2ContainerRegistryPowerUser",
    "AmazonEKSClusterPolicy",
    "AmazonEKSVPCResourceController",
    "AmazonFSxReadOnlyAccess",
    "AmazonPrometheusQueryAccess",
    "AmazonPrometheusRemoteWriteAccess",
    "AmazonSSMManagedInstanceCore",
    "AmazonSageMakerHyperPodTrainingOperatorAccess",
    "CloudWatchAgentServerPolicy",
    "CloudWatchFullAccess",
    "CloudWatchLogsFullAccess",
    "CloudWatchReadOnlyAccess",
    "ReadOnlyAccess",
    "SecretsManagerReadWrite",
    "service-role/AWSLambdaBasicExecutionRole",
    "service-role/AWSLambdaVPCAccessExecutionRole",
    "service-role/AmazonRDSEnhancedMonitoringRole",
)

#: Extensions of clusters, which the reference lacks as yet: the beginning of their ARN's last field, and the actions on them.
_EXTENSION = "cluster-extension"
_EXTENSIONS = (
    *("CreateClusterExtension", "DeleteClusterExtension", "DescribeClusterExtension", "ListClusterExtensions"),
    *("ListClusterExtensionVersions", "UpdateClusterExtension", "AddTags", "DeleteTags", "ListTags"),
)


def render() -> dict[Path, str]:
    """The texts of both tables, by file."""
    check_version()
    documents = _documents()
    actions = [
        f"# Actions of IAM with the types of their resources, as cfn-lint {CFN_LINT_VERSION} knows them (MIT-0).",
        "# tools/generate_iam_facts.py writes this file: service, types with the beginning of their ARN's last field, actions.",
        *_actions(_spellings(documents)),
    ]
    policies = [
        f"# Managed policies of AWS, as moto {importlib.metadata.version('moto')} knows them (Apache-2.0): path and name, and",
        "# of some resource and allowed actions of the services in iam_actions.tsv; conditions are left out.",
        "# tools/generate_iam_facts.py writes this file.",
        *_policies(documents),
    ]
    return {ACTIONS: "\n".join(actions) + "\n", POLICIES: "\n".join(policies) + "\n"}


def _documents() -> dict[str, Any]:
    from moto.iam.aws_managed_policies import aws_managed_policies_data

    found = json.loads(aws_managed_policies_data)
    return {f"{one.get('Path', '/')[1:]}{name}": one["Document"] for name, one in sorted(found.items())}


def _spellings(documents: Mapping[str, Any]) -> dict[str, str]:
    """Actions as AWS writes them, by their lowercase form; those of policies come last, because they are the actions themselves."""
    found: dict[str, str] = {}
    for service in SERVICES:
        packed = sorted((MODELS / service).glob("*/service-2.json.gz"))
        for name in json.loads(gzip.decompress(packed[-1].read_bytes()))["operations"] if packed else ():
            found[f"{service}:{name}".lower()] = name
    for action in (action for document in documents.values() for one in _listed(document["Statement"]) for action in _allowed(one)):
        if "*" not in action:
            found[action.lower()] = action.partition(":")[2]
    return found


def _actions(spellings: Mapping[str, str]) -> Iterator[str]:
    known = read(package("cfnlint") / "data" / "AdditionalSpecs" / "Policies.json")
    known["sagemaker"]["Resources"].setdefault(_EXTENSION, {"ARNFormats": ["arn:aws:sagemaker:.*:.*:extension/.*"]})
    for name in _EXTENSIONS:
        action = known["sagemaker"]["Actions"].setdefault(name.lower(), {"Resources": ["cluster"]})
        action["Resources"] = sorted({*action["Resources"], _EXTENSION})
    for service in SERVICES:
        types = (f"{_word(name)}={_beginning(service, one)}" for name, one in sorted(known[service].get("Resources", {}).items()))
        actions = (_action(service, name, one, spellings) for name, one in sorted(known[service]["Actions"].items()))
        yield "\t".join((service, " ".join(types), " ".join(actions)))
    yield "\t".join(("others", "", " ".join(sorted(set(known) - set(SERVICES)))))


def _action(service: str, name: str, action: Mapping[str, Any], spellings: Mapping[str, str]) -> str:
    types = ",".join(map(_word, action.get("Resources", ())))
    return spellings.get(f"{service}:{name}", name) + (f":{types}" if types else "")


def _word(name: str) -> str:
    return name.lower().replace(" ", "-")


def _beginning(service: str, resource: Mapping[str, Any]) -> str:
    """The characters with which the last field of an ARN begins, up to its first variable part; none if its forms differ.

    The service of the ARN stands before it, with a `@`, where it is another one.
    """
    forms = [form.split(":", 5) for form in resource["ARNFormats"]]
    begins = {(fields[2], re.split(r"\.\*|\$", fields[-1])[0]) for fields in forms}
    owner, begin = begins.pop() if len(begins) == 1 else (service, "")
    return begin if owner == service else f"{owner}@{begin}"


def _policies(documents: Mapping[str, Any]) -> Iterator[str]:
    for name, document in documents.items():
        if name not in STATEMENTS:
            yield name
        for statement in _listed(document["Statement"]) if name in STATEMENTS else ():
            actions = sorted(one for one in _allowed(statement) if one == "*" or one.partition(":")[0] in SERVICES)
            for resource in _listed(statement["Resource"]) if actions else ():
                yield "\t".join((name, resource, " ".join(actions)))


def _allowed(statement: Mapping[str, Any]) -> Iterable[str]:
    return _listed(statement.get("Action", [])) if statement["Effect"] == "Allow" else ()


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def main(arguments: Sequence[str] | None = None) -> int:
    return write_or_check(render, "write the facts of IAM", Path(__file__), arguments)


if __name__ == "__main__":
    sys.exit(main())
