"""The functions of custom resources: cold start beside the same with boto3's clients, size, and calls."""

from __future__ import annotations

import io
import sys
import zipfile
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench import children
from bench.figures import Cost, Pairs, interleave
from hyperpod_constructs.custom_resources import handlers
from hyperpod_constructs.custom_resources.handlers import resource
from hyperpod_constructs.custom_resources.handlers.readiness_gate import ReadinessGate

NODES = 10_000
MOST_CALLS = 102
"""A look of the readiness gate: the cluster, the controller, and 100 pages of workers."""
MOST_BYTES = 1_000_000
HANDLERS = {
    "readiness_gate": ("sagemaker", "logs"),
    "node_inventory": ("sagemaker", "ssm"),
    "preflight": ("cloudformation", "sagemaker", "service-quotas", "ec2", "iam", "s3", "fsx"),
}
"""The handlers that are measured, with the clients of one operation."""
_FOLDER = Path(handlers.__file__).parent
_ARN = "arn:aws:sagemaker:us-west-2:123456789012:cluster/abcdefabcdef"
_PROGRAM = """
import sys
sys.path.insert(0, {folder!r})
from handlers import {module}, aws
{maker}
for service in {services!r}:
    client(service)
"""
_OWN = "client = aws.client"
_WHOLE = "from boto3 import client"


def cold_starts(module: str, pairs: int) -> Pairs:
    """Costs of a process that loads a handler and makes its clients, and of one that makes them with boto3 and its whole models."""
    variables = {**children.environment(), "AWS_DEFAULT_REGION": "us-west-2"}

    def run(maker: str) -> Cost:
        code = _PROGRAM.format(folder=str(_FOLDER.parent), module=module, maker=maker, services=HANDLERS[module])
        return children.timed([sys.executable, "-c", code], variables)

    run(_OWN)
    run(_WHOLE)
    return interleave(lambda: run(_OWN), lambda: run(_WHOLE), pairs)


def archive_bytes() -> int:
    """The size of the functions' archive, which all of them share."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(_FOLDER.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                archive.write(path, f"handlers/{path.relative_to(_FOLDER)}")
    return len(content.getvalue())


def gate_calls(nodes: int = NODES) -> int:
    """The calls of one look of the readiness gate at a cluster of this many nodes, all of them awaited."""
    groups = {"controller": 1, "workers": nodes - 1}
    calls: Counter[str] = Counter()
    event = {
        "RequestType": "Create",
        "RequestId": "1",
        "ResourceProperties": {
            "TimeoutSeconds": "3600",
            "ClusterArn": _ARN,
            "Groups": [{"Name": name, "Minimum": str(count), "Count": str(count)} for name, count in groups.items()],
        },
    }
    gate = ReadinessGate(lambda service: _Cluster(groups, calls))
    answer = resource.is_complete(gate, {**event, **resource.on_event(gate, event)})
    if answer["Data"]["Ready"] != "true":
        raise RuntimeError(f"the gate is not ready: {answer['Data']['Message']}")
    return calls.total()


class _Cluster:
    """A client of SageMaker that answers for Running nodes."""

    def __init__(self, groups: dict[str, int], calls: Counter[str]) -> None:
        self._groups, self._calls = groups, calls

    def __getattr__(self, operation: str) -> Callable[..., dict[str, Any]]:
        def call(**asked: Any) -> dict[str, Any]:
            self._calls[operation] += 1
            if operation == "describe_cluster":
                return {"ClusterArn": _ARN, "ClusterName": "demo", "ClusterStatus": "InService", "InstanceGroups": []}
            return self._page(asked["InstanceGroupNameContains"], int(asked.get("NextToken", 0)), asked["MaxResults"])

        return call

    def _page(self, group: str, start: int, size: int) -> dict[str, Any]:
        end = min(start + size, self._groups[group])
        node = {
            "InstanceGroupName": group,
            "InstanceId": "i-0123456789abcdef0",
            "LaunchTime": datetime(2026, 1, 1, tzinfo=UTC),
            "InstanceStatus": {"Status": "Running"},
        }
        more = {"NextToken": str(end)} if end < self._groups[group] else {}
        return {"ClusterNodeSummaries": [node] * (end - start), **more}
