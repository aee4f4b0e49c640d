"""Writes `sdk_calls.tsv`, `sdk_clients.tsv`, `sdk_shapes.tsv` and `sdk_values.tsv` of `hyperpod_constructs/facts`.

They have operations with their required parameters, clients, all parameters of operations with the form of their answers, and the
kinds of values that are no plain texts.

Operations are botocore's newest models (Apache-2.0), of the services that a platform for training calls.

    python tools/generate_sdk_facts.py           # writes the facts
    python tools/generate_sdk_facts.py --check   # exits 1 if the facts are stale
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from tools.generate_update_facts import MODEL_VERSION, MODELS, write_or_check

FACTS = Path(__file__).resolve().parent.parent / "hyperpod_constructs" / "facts"
CALLS, CLIENTS, SHAPES, VALUES = (FACTS / f"sdk_{name}.tsv" for name in ("calls", "clients", "shapes", "values"))

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

#: The services whose answers are of interest, by the name of their client in boto3.
ANSWERING = frozenset(
    (
        *("batch", "cloudwatch", "codebuild", "dynamodb", "ecr", "ecs", "eks", "events", "fsx", "lambda", "logs", "s3"),
        *("sagemaker", "scheduler", "secretsmanager", "service-quotas", "sns", "sqs", "ssm", "stepfunctions", "sts"),
    )
)
_MOST_WORDS, _DEEPEST = 40, 3


def render() -> dict[Path, str]:
    """The text of the tables, by file."""
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
    shapes = [
        f"# Parameters and answers of operations, as botocore {MODEL_VERSION} knows them (Apache-2.0): name of its client,",
        "# operation, its parameters, shape of its answer; then client, : and shape, its members behind { with their shapes, the",
        "# shape of the items of a list behind *, or its words. tools/generate_sdk_facts.py writes this file.",
        *("\t".join(row) for name in sorted(SERVICES) for row in _shapes(name)),
    ]
    values = [
        f"# Parameters of operations that are no plain texts, as botocore {MODEL_VERSION} knows them (Apache-2.0): name of its",
        "# client, operation, then each parameter with its kind: list, map, number, true (or false), or its words.",
        "# tools/generate_sdk_facts.py writes this file.",
        *("\t".join(row) for name in sorted(SERVICES) for row in _values(name)),
    ]
    texts = ((CALLS, lines), (CLIENTS, clients), (SHAPES, shapes), (VALUES, values))
    return {path: "\n".join(text) + "\n" for path, text in texts}


def _row(name: str, prefix: str) -> Sequence[str]:
    model = _model(name)
    return model["metadata"]["serviceId"], name, prefix, " ".join(_operations(model))


@cache
def _model(name: str) -> Mapping[str, Any]:
    packed = sorted((MODELS / name).glob("*/service-2.json.gz"))
    found: Mapping[str, Any] = json.loads(gzip.decompress(packed[-1].read_bytes()))
    return found


def _shapes(client: str) -> Iterator[Sequence[str]]:
    """The rows of a service: its operations, and the shapes in their answers."""
    model = _model(client)
    wanted: dict[str, str] = {}
    for name, operation in sorted(model["operations"].items()):
        answer = operation.get("output", {}).get("shape", "") if client in ANSWERING else ""
        members = model["shapes"].get(operation.get("input", {}).get("shape"), {}).get("members", {})
        if answer:
            _want(model["shapes"], answer, wanted, 0)
        yield client, name, ",".join(members), answer
    yield from ((client, f":{name}", text) for name, text in sorted(wanted.items()) if text)


#: The kinds of values, by the types of their shapes.
KINDS: Mapping[str, str] = {
    **dict.fromkeys(("integer", "long", "float", "double"), "number"),
    **{"boolean": "true", "list": "list", "map": "map", "structure": "map"},
}


def _values(client: str) -> Iterator[Sequence[str]]:
    """The rows of a service: the parameters of its operations that are no plain texts."""
    model = _model(client)
    for name, operation in sorted(model["operations"].items()):
        members = model["shapes"].get(operation.get("input", {}).get("shape"), {}).get("members", {})
        kinds = {key: _kind(model["shapes"][member["shape"]]) for key, member in members.items()}
        found = [f"{key}={kind}" for key, kind in kinds.items() if kind]
        if found:
            yield client, name, *found


def _kind(shape: Mapping[str, Any]) -> str:
    words = shape.get("enum", ()) if shape["type"] == "string" else ()
    return "|".join(words) if 0 < len(words) <= _MOST_WORDS else KINDS.get(shape["type"], "")


def _want(shapes: Mapping[str, Any], name: str, wanted: dict[str, str], depth: int) -> None:
    """Add a shape, and those in it, with the text of each; a shape without form has an empty one."""
    shape = shapes[name]
    if wanted.get(name) or depth > _DEEPEST:
        wanted.setdefault(name, "")
        return
    wanted[name] = ""
    if shape["type"] == "structure":
        for member in shape["members"].values():
            _want(shapes, member["shape"], wanted, depth + 1)
        wanted[name] = "{" + ",".join(_member(key, member["shape"], wanted) for key, member in shape["members"].items())
    elif shape["type"] == "list":
        _want(shapes, shape["member"]["shape"], wanted, depth)
        wanted[name] = f"*{shape['member']['shape']}"
    elif 0 < len(shape.get("enum", ())) <= _MOST_WORDS:
        wanted[name] = "|".join(shape["enum"])


def _member(key: str, shape: str, wanted: Mapping[str, str]) -> str:
    return f"{key}={shape}" if wanted[shape] else key


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
