"""Writes `sdk_calls.tsv` and `sdk_clients.tsv` of `hyperpod_constructs/facts`: operations with required parameters, and clients.

Operations are botocore's newest models (Apache-2.0), of the services that a platform for training calls.

    python tools/generate_sdk_facts.py           # writes the facts
    python tools/generate_sdk_facts.py --check   # exits 1 if the facts are stale
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tools.generate_update_facts import MODEL_VERSION, MODELS, write_or_check

FACTS = Path(__file__).resolve().parent.parent / "hyperpod_constructs" / "facts"
CALLS, CLIENTS = FACTS / "sdk_calls.tsv", FACTS / "sdk_clients.tsv"

#: The services by the name of their client in boto3, and the prefix of their actions where it is another one.
SERVICES: Mapping[str, str] = {
    **{
        name: name
        for names in (
            ("acm", "application-autoscaling", "athena", "autoscaling", "backup", "batch", "bedrock", "budgets", "ce"),
            ("cloudformation", "cloudtrail", "cloudwatch", "codebuild", "codepipeline", "config", "datasync", "dynamodb", "ec2"),
            ("ecr", "ecs", "eks", "events", "firehose", "fsx", "glue", "grafana", "iam", "imagebuilder", "kinesis", "kms"),
            ("lambda", "logs", "pipes", "rds", "rds-data", "redshift-data", "resource-groups", "route53", "s3", "sagemaker"),
            ("scheduler", "secretsmanager", "ses", "sns", "sqs", "ssm", "sts", "synthetics", "xray"),
        )
        for name in names
    },
    "amp": "aps",
    "bedrock-runtime": "bedrock",
    "efs": "elasticfilesystem",
    "elbv2": "elasticloadbalancing",
    "opensearch": "es",
    "resourcegroupstaggingapi": "tag",
    "sagemaker-runtime": "sagemaker",
    "service-quotas": "servicequotas",
    "sesv2": "ses",
    "stepfunctions": "states",
}


def render() -> dict[Path, str]:
    """The text of the table, by file."""
    lines = [
        f"# Operations of services, as botocore {MODEL_VERSION} knows them (Apache-2.0): name of the service, of its client in",
        "# boto3, prefix of its actions, operations with their required parameters. tools/generate_sdk_facts.py writes this file.",
        *("\t".join(_row(name, prefix)) for name, prefix in sorted(SERVICES.items())),
    ]
    names = sorted(path.name for path in MODELS.iterdir() if any(path.glob("*/service-2.json.gz")))
    clients = [
        f"# Clients of boto3, as botocore {MODEL_VERSION} knows them (Apache-2.0). tools/generate_sdk_facts.py writes this file.",
        "\t".join(names),
    ]
    return {CALLS: "\n".join(lines) + "\n", CLIENTS: "\n".join(clients) + "\n"}


def _row(name: str, prefix: str) -> Sequence[str]:
    packed = sorted((MODELS / name).glob("*/service-2.json.gz"))
    model = json.loads(gzip.decompress(packed[-1].read_bytes()))
    return model["metadata"]["serviceId"], name, prefix, " ".join(_operations(model))


def _operations(model: Mapping[str, Any]) -> Iterator[str]:
    for name, operation in sorted(model["operations"].items()):
        request = model["shapes"].get(operation.get("input", {}).get("shape"), {})
        filled = {key for key, member in request.get("members", {}).items() if member.get("idempotencyToken")}
        required = [key for key in request.get("required", ()) if key not in filled]
        yield f"{name}:{','.join(required)}" if required else name


def main(arguments: Sequence[str] | None = None) -> int:
    return write_or_check(render, "write the operations of services", Path(__file__), arguments)


if __name__ == "__main__":
    sys.exit(main())
