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
    *("acm", "aoss", "application-autoscaling", "aps", "athena", "autoscaling", "backup", "backup-storage", "batch", "bedrock"),
    *("budgets", "ce", "cloudformation", "cloudtrail", "cloudwatch", "codebuild", "codecommit", "codeconnections", "codepipeline"),
    *("codestar-connections", "cognito-idp", "config", "datasync", "dlm", "dynamodb", "ec2", "ec2messages", "ecr", "ecr-public"),
    *("ecs", "eks", "eks-auth", "elasticfilesystem", "elasticloadbalancing", "es", "events", "execute-api", "firehose", "fis"),
    *("fsx", "glue", "grafana", "guardduty", "iam", "imagebuilder", "kinesis", "kms", "lakeformation", "lambda", "logs"),
    *("pipes", "pricing", "ram", "rds", "rds-data", "rds-db", "redshift", "redshift-data", "resource-groups", "route53"),
    *("route53resolver", "s3", "s3express", "s3tables", "sagemaker", "sagemaker-mlflow", "scheduler", "secretsmanager"),
    *("servicediscovery", "servicequotas", "ses", "sns", "sqs", "ssm", "ssmmessages", "sso", "states", "sts", "synthetics"),
    *("tag", "timestream", "vpc-lattice", "xray"),
)
#: Folders of botocore with the operations of services, where their name is another one.
FOLDERS: Mapping[str, tuple[str, ...]] = {
    "aoss": ("opensearchserverless",),
    "elasticfilesystem": ("efs",),
    "elasticloadbalancing": ("elb", "elbv2"),
    "es": ("es", "opensearch"),
    "sso": ("sso-admin",),
    "states": ("stepfunctions",),
    "tag": ("resourcegroupstaggingapi",),
}
#: Managed policies with their statements, by a part of the name; of the others, and of longer ones, the facts have the name alone.
SUBJECTS = re.compile(
    r"APIGateway|Athena|AutoScaling|Backup|Batch|Bedrock|Budgets|CloudTrail|CloudWatch|CodeBuild|CodePipeline|Container|Config|CSI"
    r"|DataLifecycle|DataSync|DynamoDB|EBS|EC2|ECS|EFS|EKS|ElasticFileSystem|EventBridge|FSx|Firehose|FaultInjection|Glue|Grafana"
    r"|ImageBuilder|KeyManagement|Kinesis|Lambda|OpenSearch|Prometheus|RDS|Resource|Route53|S3|SNS|SQS|SSM|SageMaker|Secrets"
    r"|StepFunctions|Synthetics|VPC|X[Rr]ay"
)
LONGEST = 4000
_NAMED = (
    "AdministratorAccess",
    "AmazonSageMakerFullAccess",
    "ReadOnlyAccess",
    *(f"service-role/{name}" for name in ("AWSBackupServiceRolePolicyForBackup", "AWSBackupServiceRolePolicyForRestores")),
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
        "# of some the resources and the allowed actions of each statement; conditions are left out.",
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
        for folder in FOLDERS.get(service, (service,)):
            packed = sorted((MODELS / folder).glob("*/service-2.json.gz"))
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
        line = "\t".join((name, *_statements(document)))
        chosen = SUBJECTS.search(name) and len(line) <= LONGEST and not name.startswith("aws-service-role/")
        yield line if chosen or name in _NAMED else name


def _statements(document: Mapping[str, Any]) -> Iterator[str]:
    """The resources and the actions of each statement that allows; all but some are all."""
    for statement in _listed(document["Statement"]):
        if statement["Effect"] == "Allow":
            yield " ".join(_listed(statement.get("Resource", "*")))
            yield " ".join(sorted(_listed(statement.get("Action", "*"))))


def _allowed(statement: Mapping[str, Any]) -> Iterable[str]:
    return _listed(statement.get("Action", [])) if statement["Effect"] == "Allow" else ()


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def main(arguments: Sequence[str] | None = None) -> int:
    return write_or_check(render, "write the facts of IAM", Path(__file__), arguments)


if __name__ == "__main__":
    sys.exit(main())
