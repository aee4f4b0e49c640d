"""The resource of a request."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hyperpod_constructs.local.authorization import ResourceNames, dependents
from hyperpod_constructs.local.aws_service import Caller

CALLER = Caller("123456789012", "us-west-2", "http://127.0.0.1:1")
ARN = "arn:aws:sagemaker:us-west-2:123456789012:cluster/abcdefghijkl"
PLAN = "arn:aws:sagemaker:us-west-2:123456789012:training-plan/one"
EXTENSION = "arn:aws:sagemaker:us-west-2:123456789012:extension/sagemaker-abcdefghijkl/one/0123456789ab"
QUOTA = "arn:aws:sagemaker:us-west-2:123456789012:compute-quota/abcdefghijkl"
POLICY = "arn:aws:sagemaker:us-west-2:123456789012:cluster-scheduler-config/abcdefghijkl"
SSM = "arn:aws:ssm:us-west-2:123456789012"
FSX = "arn:aws:fsx:us-west-2:123456789012"


@pytest.mark.parametrize(
    ("service", "operation", "parameters", "expected"),
    [
        ("sagemaker", "CreateCluster", {"ClusterName": "known"}, ARN.replace("abcdefghijkl", "*")),
        ("sagemaker", "DescribeCluster", {"ClusterName": "known"}, ARN),
        ("sagemaker", "DescribeCluster", {"ClusterName": ARN}, ARN),
        ("sagemaker", "DescribeCluster", {"ClusterName": "unknown"}, ARN.replace("abcdefghijkl", "unknown")),
        ("sagemaker", "ListClusters", {}, None),
        ("sagemaker", "DescribeTrainingPlan", {"TrainingPlanName": "one"}, PLAN),
        ("sagemaker", "DescribeTrainingPlan", {"TrainingPlanName": PLAN}, PLAN),
        ("sagemaker", "CreateTrainingPlan", {"TrainingPlanName": "one", "TrainingPlanOfferingId": "tpo-1"}, PLAN),
        ("sagemaker", "ListTrainingPlans", {}, None),
        ("sagemaker", "SearchTrainingPlanOfferings", {"InstanceType": "ml.p5.48xlarge"}, None),
        ("sagemaker", "AddTags", {"ResourceArn": ARN}, ARN),
        ("sagemaker", "CreateClusterExtension", {"ClusterArn": ARN, "ExtensionName": "one"}, ARN),
        ("sagemaker", "DeleteClusterExtension", {"ClusterArn": ARN, "ExtensionArn": EXTENSION}, EXTENSION),
        ("sagemaker", "CreateComputeQuota", {"ClusterArn": ARN, "Name": "one"}, QUOTA.replace("abcdefghijkl", "*")),
        ("sagemaker", "UpdateComputeQuota", {"ComputeQuotaId": "abcdefghijkl", "TargetVersion": 1}, QUOTA),
        ("sagemaker", "ListComputeQuotas", {"ClusterArn": ARN}, None),
        ("sagemaker", "CreateClusterSchedulerConfig", {"ClusterArn": ARN, "Name": "one"}, POLICY.replace("abcdefghijkl", "*")),
        ("sagemaker", "DescribeClusterSchedulerConfig", {"ClusterSchedulerConfigId": "abcdefghijkl"}, POLICY),
        ("sagemaker", "ListClusterSchedulerConfigs", {"ClusterArn": ARN}, None),
        ("sagemaker", "ListClusterExtensionVersions", {"ExtensionName": "one"}, None),
        ("fsx", "CreateFileSystem", {}, f"{FSX}:file-system/*"),
        ("fsx", "DeleteFileSystem", {"FileSystemId": "fs-1"}, f"{FSX}:file-system/fs-1"),
        ("fsx", "DescribeFileSystems", {"FileSystemIds": ["fs-1"]}, None),
        ("fsx", "DeleteDataRepositoryAssociation", {"AssociationId": "dra-1"}, f"{FSX}:association/*/dra-1"),
        ("fsx", "CreateDataRepositoryTask", {"FileSystemId": "fs-1"}, f"{FSX}:file-system/fs-1"),
        ("fsx", "CancelDataRepositoryTask", {"TaskId": "task-1"}, f"{FSX}:task/task-1"),
        ("fsx", "UpdateVolume", {"VolumeId": "fsvol-1"}, f"{FSX}:volume/*/fsvol-1"),
        ("fsx", "UpdateVolume", {"VolumeId": "fsvol-known"}, f"{FSX}:volume/fs-1/fsvol-known"),
        ("fsx", "CreateSnapshot", {"VolumeId": "fsvol-known", "Name": "a"}, f"{FSX}:volume/fs-1/fsvol-known"),
        ("fsx", "DeleteSnapshot", {"SnapshotId": "fsvolsnap-1"}, f"{FSX}:snapshot/*/fsvolsnap-1"),
        ("fsx", "DeleteSnapshot", {"SnapshotId": "fsvolsnap-known"}, f"{FSX}:snapshot/fsvol-known/fsvolsnap-known"),
        ("fsx", "DescribeSnapshots", {"SnapshotIds": ["fsvolsnap-1"]}, None),
        ("fsx", "TagResource", {"ResourceARN": f"{FSX}:file-system/fs-1"}, f"{FSX}:file-system/fs-1"),
        ("ssm", "GetParameter", {"Name": "/one"}, f"{SSM}:parameter/one"),
        ("ssm", "StartSession", {"Target": "sagemaker-cluster:abcdefghijkl_p-5-i-0123456789abcdef0"}, ARN),
        ("ssm", "StartSession", {"Target": "i-0123456789abcdef0"}, None),
        ("ssm", "StartSession", {"Target": ["sagemaker-cluster:abcdefghijkl_p-5-i-0123456789abcdef0"]}, None),
        ("ssm", "TerminateSession", {"SessionId": "me-0123"}, f"{SSM}:session/me-0123"),
        ("ec2", "DescribeVpcs", {}, None),
    ],
)
def test_resource_of_a_request(service: str, operation: str, parameters: dict[str, Any], expected: str | None) -> None:
    names = ResourceNames()
    names.learn({"ClusterName": "known"}, {"ClusterArn": ARN}, CALLER)
    home = {"ResourceARN": f"{FSX}:file-system/fs-1", "OpenZFSConfiguration": {"RootVolumeId": "fsvol-known"}}
    names.learn({}, {"FileSystem": home}, CALLER)
    snapshot = {"SnapshotId": "fsvolsnap-known", "ResourceARN": f"{FSX}:snapshot/fsvol-known/fsvolsnap-known"}
    names.learn({}, {"Snapshot": snapshot}, CALLER)
    assert names.arn(service, operation, json.dumps(parameters).encode(), CALLER) == expected


@pytest.mark.parametrize(
    ("document", "arn"),
    [
        ({}, f"{SSM}:document/SSM-SessionManagerRunShell"),
        ({"DocumentName": "AWS-StartSSHSession"}, "arn:aws:ssm:us-west-2::document/AWS-StartSSHSession"),
        ({"DocumentName": "SSM-Own"}, f"{SSM}:document/SSM-Own"),
    ],
)
def test_a_session_takes_a_document_too(document: dict[str, str], arn: str) -> None:
    body = json.dumps({"Target": "sagemaker-cluster:abcdefghijkl_w-i-0123456789abcdef0", **document}).encode()
    assert [*dependents("ssm", "StartSession", body, CALLER)] == [("ssm:StartSession", arn, {})]
    assert [*dependents("ssm", "TerminateSession", body, CALLER)] == []


@pytest.mark.parametrize("body", [b"{", b"[]", b'{"ClusterName": 1}'])
def test_unreadable_requests_are_about_nothing(body: bytes) -> None:
    assert ResourceNames().arn("sagemaker", "DescribeCluster", body, CALLER) is None
