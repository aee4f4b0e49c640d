"""The JSON protocol: requests and responses are judged by the service's model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.exceptions import ClientError

from hyperpod_constructs.local.aws_service import AwsError, Caller
from hyperpod_constructs.local.json_protocol import JsonService
from hyperpod_constructs.local.models import ServiceModels
from hyperpod_constructs.local.server import LocalAws

CALLER = Caller("123456789012", "us-west-2", "http://127.0.0.1:1")


class Echo:
    """A service that answers what the test says."""

    name = "sagemaker"

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.calls: list[Any] = []

    def call(self, operation: str, parameters: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
        self.calls.append((operation, dict(parameters), caller))
        if isinstance(self.answer, Exception):
            raise self.answer
        return dict(self.answer)

    def reset(self) -> None:
        self.calls.clear()


def ask(service: Echo, operation: str, body: Any) -> tuple[int, dict[str, Any]]:
    wire = JsonService(service, ServiceModels().service(service.name), lambda: CALLER)
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    status, headers, answer = wire.answer(("POST", "/", {"x-amz-target": f"SageMaker.{operation}"}, raw, {}))
    assert headers["Content-Type"] == "application/x-amz-json-1.1"
    return status, json.loads(answer)


def test_calls_the_operation_and_writes_times_as_numbers() -> None:
    moment = datetime(2026, 1, 2, tzinfo=UTC)
    arn = "arn:aws:sagemaker:us-west-2:123456789012:cluster/abcdefghijkl"
    summary = {"ClusterArn": arn, "ClusterName": "c", "CreationTime": moment, "ClusterStatus": "InService"}
    service = Echo({"ClusterSummaries": [summary]})
    status, answer = ask(service, "ListClusters", {"MaxResults": 3})
    assert status == 200
    assert answer["ClusterSummaries"][0]["CreationTime"] == moment.timestamp()
    assert service.calls == [("ListClusters", {"MaxResults": 3}, CALLER)]


@pytest.mark.parametrize(
    ("operation", "body", "code"),
    [
        ("DescribeCluster", {}, "ValidationException"),
        ("DescribeCluster", {"ClusterName": 5}, "ValidationException"),
        ("DescribeCluster", {"ClusterName": "no spaces allowed"}, "ValidationException"),
        ("ListClusters", {"SortBy": "SIZE"}, "ValidationException"),
        ("ListClusters", {"MaxResults": 1000}, "ValidationException"),
        ("ListClusters", {"Unheard": 1}, "ValidationException"),
        ("ListClusters", b"{", "SerializationException"),
        ("ListClusters", [], "SerializationException"),
        ("MakeCoffee", {}, "UnknownOperationException"),
    ],
)
def test_fails_on_requests_that_the_model_refuses(operation: str, body: Any, code: str) -> None:
    service = Echo({})
    status, answer = ask(service, operation, body)
    assert (status, answer["__type"]) == (400, code)
    assert service.calls == []


def test_errors_of_the_service_keep_code_and_status() -> None:
    status, answer = ask(Echo(AwsError("ResourceInUse", "taken", 409)), "ListClusters", {})
    assert (status, answer) == (409, {"__type": "ResourceInUse", "message": "taken"})
    refused = ClientError({"Error": {"Code": "AccessDenied", "Message": "no"}}, "GetRole")
    assert ask(Echo(refused), "ListClusters", {})[1] == {"__type": "AccessDenied", "message": "no"}


@pytest.mark.parametrize("answer", [{"ClusterSummaries": "none"}, {"Unheard": 1}, RuntimeError("broken")])
def test_a_broken_service_does_not_succeed(answer: Any) -> None:
    assert ask(Echo(answer), "ListClusters", {})[0] == 500


def test_boto3_raises_the_right_class(aws: LocalAws) -> None:
    sagemaker, fsx = aws.client("sagemaker"), aws.client("fsx")
    with pytest.raises(sagemaker.exceptions.ResourceNotFound):
        sagemaker.describe_cluster(ClusterName="nothing")
    with pytest.raises(fsx.exceptions.FileSystemNotFound):
        fsx.describe_file_systems(FileSystemIds=["fs-0123456789abcdef0"])
    with pytest.raises(ClientError, match="pattern"):
        sagemaker.describe_cluster(ClusterName="no spaces allowed")
