"""Writes `hyperpod_constructs/custom_resources/handlers/models/`: small service models for the Lambda functions.

The boto3 that Lambda brings may be older than an operation that the functions call. A model holds only OPERATIONS and the shapes
that they reach, without documentation, patterns and enumerations: a client checks neither patterns nor enumerations, and each new
instance type changes them. `endpoint-templates.json` says where the services answer, see `endpoints`.

    python tools/generate_service_models.py <botocore data folder>
"""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from botocore.endpoint_provider import EndpointProvider
from botocore.exceptions import EndpointProviderError

ROOT = Path(__file__).resolve().parent.parent
MODELS = ROOT / "hyperpod_constructs" / "custom_resources" / "handlers" / "models"

#: The operations that handlers call, by service: an older boto3 may lack them, and the whole model of EC2 takes long to load.
OPERATIONS: Mapping[str, tuple[str, ...]] = {
    "cloudformation": ("DescribeStackResource", "DescribeStacks"),
    "ec2": ("DescribeInstanceTypeOfferings", "DescribeNetworkInterfaces", "DescribeSubnets"),
    "events": ("PutEvents",),
    "fsx": (
        "CancelDataRepositoryTask",
        "CreateDataRepositoryTask",
        "CreateSnapshot",
        "DeleteSnapshot",
        "DescribeDataRepositoryTasks",
        "DescribeFileSystems",
        "DescribeSnapshots",
        "DescribeVolumes",
        "UpdateFileSystem",
        "UpdateVolume",
    ),
    "iam": ("GetRole",),
    "logs": ("AssociateKmsKey", "CreateLogGroup", "GetLogEvents", "PutRetentionPolicy"),
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

KINDS: Mapping[str, Mapping[str, bool]] = {
    "": {"UseFIPS": False, "UseDualStack": False},
    "DUALSTACK": {"UseFIPS": False, "UseDualStack": True},
    "FIPS": {"UseFIPS": True, "UseDualStack": False},
    "FIPS DUALSTACK": {"UseFIPS": True, "UseDualStack": True},
}
"""The kinds of endpoints, with what botocore's rules take for each."""

_UNUSED = frozenset({"documentation", "enum", "pattern"})


def load(data: Path, service: str) -> tuple[str, dict[str, Any]]:
    """The newest API version of a service in a botocore data folder, and its model.

    :raises ValueError: when the folder has no model of the service.
    """
    versions = sorted(path.name for path in (data / service).glob("*") if any(path.glob("service-2.json*")))
    if not versions:
        raise ValueError(f"{data} has no model of {service}; write the folder `data` of a botocore package")
    return versions[-1], _read(data / service / versions[-1] / "service-2.json")


def _read(path: Path) -> dict[str, Any]:
    text = path.read_bytes() if path.is_file() else gzip.decompress(path.with_suffix(".json.gz").read_bytes())
    found: dict[str, Any] = json.loads(text)
    return found


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


def endpoints(data: Path) -> dict[str, Any]:
    """The endpoints of the services of OPERATIONS by botocore's rules, as templates of a URL and of the region in signatures.

    The templates of a kind are listed by region, partition and `*`, whichever fits first. A partition's template is that of a
    region which does not exist, so that one that will exist has an endpoint; regions with another one are exceptions. An empty URL
    stands for an endpoint that there is not.
    """
    partitions = _read(data / "partitions.json")
    known = [
        {
            "name": found["id"],
            "pattern": found["regionRegex"],
            "regions": [name for name in found["regions"] if not re.match(found["regionRegex"], name)],
            "dns": found["outputs"]["dnsSuffix"],
            "dual": found["outputs"]["dualStackDnsSuffix"],
        }
        for found in partitions["partitions"]
    ]
    rules = {service: EndpointProvider(_rules(data, service), partitions) for service in OPERATIONS}
    services = {service: {kind: _places(rules[service], partitions, kind) for kind in KINDS} for service in OPERATIONS}
    return {"partitions": known, "services": services}


def _rules(data: Path, service: str) -> dict[str, Any]:
    return _read(data / service / load(data, service)[0] / "endpoint-rule-set-1.json")


def _places(rules: EndpointProvider, partitions: Mapping[str, Any], kind: str) -> dict[str, list[str]]:
    general, exceptions = {}, {}
    for partition in partitions["partitions"]:
        regions = [name for name in partition["regions"] if re.match(partition["regionRegex"], name)]
        template = general[partition["id"]] = _template(rules, partition, re.sub(r"\d+$", "99", regions[0]), kind)
        for region in partition["regions"]:
            own = _template(rules, partition, region, kind)
            if _filled(own, region) != _filled(template, region):
                exceptions[region] = own
    [(usual, _)] = Counter(map(tuple, general.values())).most_common(1)
    others = {name: template for name, template in general.items() if tuple(template) != usual}
    return {"*": list(usual), **others, **exceptions}


def _template(rules: EndpointProvider, partition: Mapping[str, Any], region: str, kind: str) -> list[str]:
    try:
        found = rules.resolve_endpoint(Region=region, **KINDS[kind])
    except EndpointProviderError:
        return ["", ""]
    [scheme] = found.properties.get("authSchemes") or [{}]
    url, outputs = found.url.replace(region, "{region}"), partition["outputs"]
    for name in ("dualStackDnsSuffix", "dnsSuffix"):
        if url.endswith(f".{outputs[name]}"):
            url = url.removesuffix(outputs[name]) + ("{dns}" if name == "dnsSuffix" else "{dual}")
            break
    return [url, scheme.get("signingRegion", region).replace(region, "{region}")]


def _filled(template: list[str], region: str) -> list[str]:
    return [text.replace("{region}", region) for text in template]


def generate(data: Path, target: Path) -> list[Path]:
    """Write the models of OPERATIONS and their endpoints from a botocore data folder into `target`, and return the files."""
    written = [_write(target / "endpoint-templates.json", endpoints(data))]
    for service, operations in OPERATIONS.items():
        version, model = load(data, service)
        written.append(_write(target / service / version / "service-2.json", prune(model, operations)))
    return written


def _write(path: Path, content: Mapping[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return path


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
    """Regenerate the vendored models and the endpoints; the exit code is 2 for wrong arguments."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python tools/generate_service_models.py <botocore data folder>\n")
        return 2
    for path in generate(Path(arguments[0]), MODELS):
        sys.stdout.write(f"{path} {path.stat().st_size} bytes\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
