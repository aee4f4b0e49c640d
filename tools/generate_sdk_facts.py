"""Writes the tables `sdk_*.tsv` of `facts`.

They have operations with their required parameters, clients, waiters and pages, the forms of parameters, all parameters of
operations with the form of their answers, the kinds of values that are no plain texts, and refusals to make a thing twice.

Operations are botocore's newest models (Apache-2.0), of the services that a platform for training calls.

    python tools/generate_sdk_facts.py           # writes the facts
    python tools/generate_sdk_facts.py --check   # exits 1 if the facts are stale
"""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

from tools.generate_update_facts import MODEL_VERSION, MODELS, write_or_check

FACTS = Path(__file__).resolve().parent.parent / "hyperpod_constructs" / "facts"
CALLS, CLIENTS, EXISTING, HELPERS, INPUTS, SHAPES, VALUES = (
    FACTS / f"sdk_{name}.tsv" for name in ("calls", "clients", "existing", "helpers", "inputs", "shapes", "values")
)

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
    existing = [
        f"# Operations that make a thing, and how they refuse to make it twice, as botocore {MODEL_VERSION} knows it (Apache-2.0):",
        "# name of the client, operations with the exception. tools/generate_sdk_facts.py writes this file.",
        *("\t".join((name, *found)) for name in sorted(SERVICES) if (found := tuple(_refusals(_model(name))))),
    ]
    helpers = [
        f"# Waiters and pages of clients, as botocore {MODEL_VERSION} knows them (Apache-2.0): name of the client, its waiters,",
        "# each with the seconds between two looks and how often it looks, and the operations that have pages.",
        "# tools/generate_sdk_facts.py writes this file.",
        *("\t".join(_helpers(name)) for name in sorted(SERVICES)),
    ]
    inputs = [
        f"# Forms of parameters that are no plain values, as botocore {MODEL_VERSION} knows them (Apache-2.0): name of the client,",
        "# operation and its parameters; then client, : and shape. Behind { are members, required ones with !, each with its kind;",
        "# a list has the kind of its items behind *, an object with any names that of its values behind %. A kind is number,",
        "# true, text, words, or a shape behind a colon. tools/generate_sdk_facts.py writes this file.",
        *("\t".join(row) for name in sorted(ANSWERING) for row in _inputs(name)),
    ]
    texts = (
        *((CALLS, lines), (CLIENTS, clients), (EXISTING, existing), (HELPERS, helpers)),
        *((INPUTS, inputs), (SHAPES, shapes), (VALUES, values)),
    )
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


#: Exceptions that say that a thing is there.
_IS_THERE = re.compile(r"(?:Exists|ResourceInUse|ResourceConflict)(?:Exception|Fault)?$")
_MAKING = re.compile(r"Create(?!OrUpdate)|AddPermission$|PutParameter$")


def _refusals(model: Mapping[str, Any]) -> Iterator[str]:
    """The operations of a service that make a thing with a name, each with its exception for one that is there."""
    for name, operation in sorted(model["operations"].items()):
        errors = (one["shape"] for one in operation.get("errors", ()))
        found = next((one for one in errors if _IS_THERE.search(one)), None)
        if found is not None and _MAKING.match(name):
            yield f"{name}={found}"


def _helpers(client: str) -> Sequence[str]:
    """The row of a client: its waiters, and the operations that have pages."""
    waiters = _beside_model(client, "waiters-2.json").get("waiters", {})
    said = (f"{_snake(name)}={one['delay']}*{one['maxAttempts']}" for name, one in sorted(waiters.items()))
    return client, " ".join(said), " ".join(sorted(_beside_model(client, "paginators-1.json").get("pagination", {})))


def _beside_model(client: str, name: str) -> Mapping[str, Any]:
    files = sorted((MODELS / client).glob(f"*/{name}"))
    found: Mapping[str, Any] = json.loads(files[-1].read_text()) if files else {}
    return found


def _snake(name: str) -> str:
    """The name of a waiter as programs write it."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def _inputs(client: str) -> Iterator[Sequence[str]]:
    """The rows of a service: its operations whose parameters have a form, and the shapes in these."""
    model, wanted = _model(client), dict[str, str]()
    for name, operation in sorted(model["operations"].items()):
        members = model["shapes"].get(operation.get("input", {}).get("shape"), {}).get("members", {})
        kinds = {key: _form(model["shapes"], member["shape"], wanted, 0) for key, member in members.items()}
        found = [f"{key}={kind}" for key, kind in kinds.items() if kind.startswith(":")]
        if found:
            yield client, name, *found
    yield from ((client, f":{name}", text) for name, text in sorted(wanted.items()) if text)


def _form(shapes: Mapping[str, Any], name: str, wanted: dict[str, str], depth: int) -> str:
    """The kind of a shape; that of one with parts is its name, and its text is among the wanted ones."""
    shape = shapes[name]
    if shape["type"] not in ("structure", "list", "map"):
        return _kind(shape) or ("text" if shape["type"] == "string" else "")
    if depth > _DEEPEST or shape.get("union") or shape.get("document"):
        return ""
    if name not in wanted:
        wanted[name] = ""
        below = partial(_form, shapes, wanted=wanted, depth=depth + 1)
        if shape["type"] == "structure":
            required = shape.get("required", ())
            members = (f"{key}{'!' * (key in required)}={below(one['shape'])}" for key, one in shape["members"].items())
            wanted[name] = "{" + ",".join(members)
        else:
            inner = shape["member" if shape["type"] == "list" else "value"]["shape"]
            wanted[name] = f"{'*' if shape['type'] == 'list' else '%'}{below(inner)}"
    return f":{name}"


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
