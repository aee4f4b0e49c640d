"""Writes `hyperpod_constructs/custom_resources/handlers/models/`: small service models for the Lambda functions.

The boto3 that Lambda brings may be older than an operation that the functions call. A model holds only OPERATIONS and the shapes
that they reach, without documentation, patterns and enumerations: botocore checks neither patterns nor enumerations, and each new
instance type changes them.

    python tools/generate_service_models.py <botocore data folder>
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
MODELS = ROOT / "hyperpod_constructs" / "custom_resources" / "handlers" / "models"

#: The operations that handlers call, by service: an older boto3 may lack them, and the whole model of EC2 takes long to load.
OPERATIONS: Mapping[str, tuple[str, ...]] = {
    "cloudformation": ("DescribeStackResource", "DescribeStacks"),
    "ec2": ("DescribeInstanceTypeOfferings", "DescribeNetworkInterfaces", "DescribeSubnets"),
    "fsx": (
        "CancelDataRepositoryTask",
        "CreateDataRepositoryTask",
        "DescribeDataRepositoryTasks",
        "DescribeFileSystems",
        "UpdateFileSystem",
    ),
    "iam": ("GetRole",),
    "logs": ("GetLogEvents",),
    "s3": ("HeadBucket",),
    "sagemaker": (
        "AddTags",
        "CreateClusterExtension",
        "DeleteClusterExtension",
        "DeleteTags",
        "DescribeCluster",
        "DescribeClusterEvent",
        "DescribeClusterExtension",
        "DescribeClusterNode",
        "DescribeTrainingPlan",
        "ListClusterEvents",
        "ListClusterExtensions",
        "ListClusterNodes",
        "ListClusters",
        "ListTags",
        "UpdateCluster",
        "UpdateClusterExtension",
    ),
    "service-quotas": ("ListAWSDefaultServiceQuotas", "ListServiceQuotas"),
    "ssm": ("DeleteParameters", "GetParametersByPath", "PutParameter"),
}

_UNUSED = frozenset({"documentation", "enum", "pattern"})


def load(data: Path, service: str) -> tuple[str, dict[str, Any]]:
    """The newest API version of a service in a botocore data folder, and its model.

    :raises ValueError: when the folder has no model of the service.
    """
    versions = sorted(path.name for path in (data / service).glob("*") if any(path.glob("service-2.json*")))
    if not versions:
        raise ValueError(f"{data} has no model of {service}; write the folder `data` of a botocore package")
    folder = data / service / versions[-1]
    plain = folder / "service-2.json"
    text = plain.read_bytes() if plain.is_file() else gzip.decompress((folder / "service-2.json.gz").read_bytes())
    return versions[-1], json.loads(text)


def prune(model: Mapping[str, Any], operations: Iterable[str]) -> dict[str, Any]:
    """A model with some operations and what they reach.

    :raises ValueError: when the model lacks an operation.
    """
    kept = {}
    for name in sorted(operations):
        if name not in model["operations"]:
            raise ValueError(f"operation {name} is not in the model of {model['metadata']['serviceId']}")
        kept[name] = _strip(model["operations"][name])
    shapes: dict[str, Any] = {}
    pending = list(_references(kept))
    while pending:
        name = pending.pop()
        if name not in shapes:
            shapes[name] = _shape(model["shapes"][name])
            pending += _references(shapes[name])
    return {
        "version": model["version"],
        "metadata": model["metadata"],
        "operations": kept,
        "shapes": dict(sorted(shapes.items())),
    }


def generate(data: Path, target: Path) -> list[Path]:
    """Write the models of OPERATIONS from a botocore data folder into `target`, and return the files."""
    written = []
    for service, operations in OPERATIONS.items():
        version, model = load(data, service)
        path = target / service / version / "service-2.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(prune(model, operations), indent=1, sort_keys=True) + "\n", encoding="utf-8")
        written.append(path)
    return written


def _shape(shape: Mapping[str, Any]) -> dict[str, Any]:
    slim = {key: value for key, value in shape.items() if key not in _UNUSED}
    if "members" in slim:
        slim["members"] = {name: _strip(member) for name, member in slim["members"].items()}
    for key in slim.keys() & {"member", "key", "value"}:
        slim[key] = _strip(slim[key])
    return slim


def _strip(part: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in part.items() if key not in _UNUSED}


def _references(part: Any) -> Iterator[str]:
    if isinstance(part, Mapping):
        if isinstance(part.get("shape"), str):
            yield part["shape"]
        for value in part.values():
            yield from _references(value)
    elif isinstance(part, list):
        for value in part:
            yield from _references(value)


def main(arguments: list[str]) -> int:
    """Regenerate the vendored models; the exit code is 2 for wrong arguments."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python tools/generate_service_models.py <botocore data folder>\n")
        return 2
    for path in generate(Path(arguments[0]), MODELS):
        sys.stdout.write(f"{path} {path.stat().st_size} bytes\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
