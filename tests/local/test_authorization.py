"""The resource of a request."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hyperpod_constructs.local.authorization import ResourceNames
from hyperpod_constructs.local.aws_service import Caller

CALLER = Caller("123456789012", "us-west-2", "http://127.0.0.1:1")
ARN = "arn:aws:sagemaker:us-west-2:123456789012:cluster/abcdefghijkl"
FSX = "arn:aws:fsx:us-west-2:123456789012"


@pytest.mark.parametrize(
    ("service", "operation", "parameters", "expected"),
    [
        ("sagemaker", "CreateCluster", {"ClusterName": "known"}, ARN.replace("abcdefghijkl", "*")),
        ("sagemaker", "DescribeCluster", {"ClusterName": "known"}, ARN),
        ("sagemaker", "DescribeCluster", {"ClusterName": ARN}, ARN),
        ("sagemaker", "DescribeCluster", {"ClusterName": "unknown"}, ARN.replace("abcdefghijkl", "unknown")),
        ("sagemaker", "ListClusters", {}, None),
        ("sagemaker", "AddTags", {"ResourceArn": ARN}, ARN),
        ("fsx", "CreateFileSystem", {}, f"{FSX}:file-system/*"),
        ("fsx", "DeleteFileSystem", {"FileSystemId": "fs-1"}, f"{FSX}:file-system/fs-1"),
        ("fsx", "DescribeFileSystems", {"FileSystemIds": ["fs-1"]}, None),
        ("fsx", "DeleteDataRepositoryAssociation", {"AssociationId": "dra-1"}, f"{FSX}:association/*/dra-1"),
        ("fsx", "TagResource", {"ResourceARN": f"{FSX}:file-system/fs-1"}, f"{FSX}:file-system/fs-1"),
        ("ec2", "DescribeVpcs", {}, None),
    ],
)
def test_resource_of_a_request(service: str, operation: str, parameters: dict[str, Any], expected: str | None) -> None:
    names = ResourceNames()
    names.learn({"ClusterName": "known"}, {"ClusterArn": ARN}, CALLER)
    assert names.arn(service, operation, json.dumps(parameters).encode(), CALLER) == expected


@pytest.mark.parametrize("body", [b"{", b"[]", b'{"ClusterName": 1}'])
def test_unreadable_requests_are_about_nothing(body: bytes) -> None:
    assert ResourceNames().arn("sagemaker", "DescribeCluster", body, CALLER) is None
