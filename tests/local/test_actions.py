"""IAM is asked about the operation that a service of ours answers, whatever else a request names."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qs

import ministack.app  # type: ignore[import-untyped]
import pytest
from ministack.core import iam_actions, router  # type: ignore[import-untyped]

from hyperpod_constructs.local import ministack as adapter
from hyperpod_constructs.local.aws_service import Caller
from hyperpod_constructs.local.ec2.service import Ec2
from hyperpod_constructs.local.json_protocol import JsonService
from hyperpod_constructs.local.rest_protocol import RestService
from tests.local.hyperpod_requests import model

CALLER = Caller("123456789012", "us-west-2", "http://127.0.0.1:1")
FORM = {"content-type": "application/x-www-form-urlencoded"}
LURE = {"x-amz-target": "SageMaker.ListClusters"}

Judged = Callable[..., tuple[str | None, list[str]]]


class Recorder:
    """A service that keeps the operations that reach it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.calls: list[str] = []

    def call(self, operation: str, parameters: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
        self.calls.append(operation)
        return {}

    def reset(self) -> None:
        self.calls.clear()


class RecordingEc2(Ec2):
    """An EC2 whose moto keeps what it is sent."""

    def __init__(self) -> None:
        super().__init__(lambda: CALLER)
        self.calls: list[str] = []
        self.__dict__["_backends"] = defaultdict(lambda: defaultdict(object))

    def _ask_moto(self, headers: Mapping[str, str], encoded: str, caller: Caller) -> tuple[int, dict[str, str], bytes]:
        self.calls += parse_qs(encoded)["Action"]
        return 200, {}, b""


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> Judged:
    """The action that ministack asks IAM about, and the operations that its handler then dispatches."""
    monkeypatch.setattr(iam_actions, "extract_iam_action", iam_actions.extract_iam_action)
    for table in (ministack.app.SERVICE_HANDLERS, router.SERVICE_PATTERNS, iam_actions.SERVICE_TO_IAM_NAMESPACE):
        for name in ("sagemaker", "eks", "ec2"):
            monkeypatch.setitem(table, name, table.get(name))
    sagemaker, eks, ec2 = Recorder("sagemaker"), Recorder("eks"), RecordingEc2()
    adapter.serve("sagemaker", JsonService(sagemaker, model("sagemaker"), lambda: CALLER), target_prefix="SageMaker")
    adapter.serve("eks", RestService(eks, model("eks"), lambda: CALLER))
    adapter.serve("ec2", ec2)
    calls = {"sagemaker": sagemaker.calls, "eks": eks.calls, "ec2": ec2.calls}

    def judge(
        service: str, method: str, path: str, headers: Mapping[str, str], body: bytes, query: str
    ) -> tuple[str | None, list[str]]:
        found = parse_qs(query)
        routing = ministack.app._routing_params(method, path, headers, body, found)
        action = iam_actions.extract_iam_action(service, method, path, headers, body, routing)
        asyncio.run(ministack.app.SERVICE_HANDLERS[service](method, path, headers, body, found))
        return action, calls[service]

    return judge


TARGET = {"x-amz-target": "SageMaker.DeleteCluster"}
NAMED = b'{"ClusterName": "one"}'


@pytest.mark.parametrize(
    ("service", "method", "path", "headers", "body", "query", "expected"),
    [
        ("eks", "DELETE", "/clusters/one", {}, b"", "", "DeleteCluster"),
        ("eks", "DELETE", "/clusters/one", {}, b"", "Action=ListClusters", "DeleteCluster"),
        ("eks", "DELETE", "/clusters/one", {"x-amz-target": "Any.ListClusters"}, b"", "", "DeleteCluster"),
        ("eks", "DELETE", "/clusters/one", FORM, b"Action=ListClusters", "", "DeleteCluster"),
        ("eks", "GET", "/nothing", {}, b"", "Action=ListClusters", None),
        ("sagemaker", "POST", "/", TARGET, NAMED, "", "DeleteCluster"),
        ("sagemaker", "POST", "/", TARGET, NAMED, "Action=ListClusters", "DeleteCluster"),
        ("sagemaker", "POST", "/", TARGET | FORM, NAMED, "Action=ListClusters", "DeleteCluster"),
        ("sagemaker", "POST", "/", {"x-amz-target": "SageMaker.Nothing"}, b"", "Action=ListClusters", None),
        ("ec2", "POST", "/", FORM, b"Action=DescribeVpcs", "", "DescribeVpcs"),
        ("ec2", "POST", "/", FORM, b"Action=DescribeSubnets", "Action=DescribeVpcs", "DescribeVpcs"),
        ("ec2", "POST", "/", FORM, b"", "Action=DescribeVpcs&Action=DescribeSubnets", "DescribeSubnets"),
        ("ec2", "POST", "/", FORM, b"Action=DescribeVpcs&Action=DescribeSubnets", "", "DescribeSubnets"),
        ("ec2", "POST", "/", {"content-type": "text/plain"}, b"Action=DescribeVpcs", "", "DescribeVpcs"),
        ("ec2", "POST", "/", LURE, b"Action=DescribeVpcs", "", "DescribeVpcs"),
    ],
)
def test_the_operation_that_is_judged_is_dispatched(
    judged: Judged, service: str, method: str, path: str, headers: Mapping[str, str], body: bytes, query: str, expected: str | None
) -> None:
    action, dispatched = judged(service, method, path, headers, body, query)
    assert dispatched == ([] if expected is None else [expected])
    assert action == (None if expected is None else f"{service}:{expected}")
