"""A cluster as SageMaker describes it, for commands whose answers are given."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from hyperpod_constructs.cli.commands import app
from hyperpod_constructs.cli.target import AwsAccount
from tests.cli.conftest import StubbedTarget

ARN = "arn:aws:sagemaker:us-west-2:111122223333:cluster/abcde01234yz"
CLUSTER: dict[str, Any] = {
    "ClusterArn": ARN,
    "ClusterName": "trainer",
    "ClusterStatus": "InService",
    "NodeRecovery": "Automatic",
    "NodeProvisioningMode": "Continuous",
    "VpcConfig": {"Subnets": ["subnet-1"], "SecurityGroupIds": ["sg-1"]},
    "InstanceGroups": [
        {
            "InstanceGroupName": "controller",
            "InstanceType": "ml.m5.xlarge",
            "Status": "InService",
            "CurrentCount": 1,
            "TargetCount": 1,
            "SlurmConfig": {"NodeType": "Controller"},
        },
        {
            "InstanceGroupName": "workers",
            "InstanceType": "ml.p5.48xlarge",
            "Status": "Degraded",
            "CurrentCount": 1,
            "TargetCount": 2,
            "SlurmConfig": {"NodeType": "Compute"},
            "OverrideVpcConfig": {"Subnets": ["subnet-2"], "SecurityGroupIds": ["sg-1"]},
            "TrainingPlanArn": "arn:aws:sagemaker:us-west-2:111122223333:training-plan/spring",
        },
    ],
}
SUBNETS = {
    "Subnets": [
        {"SubnetId": "subnet-1", "AvailabilityZone": "us-west-2a", "AvailabilityZoneId": "usw2-az2"},
        {"SubnetId": "subnet-2", "AvailabilityZone": "us-west-2b", "AvailabilityZoneId": "usw2-az1"},
    ]
}
ASKED = {"ClusterName": ARN, "MaxResults": 100, "SortBy": "CREATION_TIME", "SortOrder": "Ascending"}


def node(number: int, group: str = "workers", status: str = "Running", message: str = "", **members: Any) -> dict[str, Any]:
    """A node in ListClusterNodes, launched three days and four hours ago."""
    return {
        "InstanceGroupName": group,
        "InstanceId": f"i-{number:017x}",
        "InstanceType": "ml.m5.xlarge" if group == "controller" else "ml.p5.48xlarge",
        "LaunchTime": datetime.now(UTC) - timedelta(days=3, hours=4),
        "InstanceStatus": {"Status": status} | ({"Message": message} if message else {}),
        **members,
    }


NODES = [node(2), node(3, status="Failure", message="lifecycle script failed\x1b[2J"), node(1, "controller")]


@pytest.fixture
def account(target: StubbedTarget, monkeypatch: pytest.MonkeyPatch) -> StubbedTarget:
    """The caller's account, which answers only what a test gives."""
    monkeypatch.setattr(AwsAccount, "of_caller", lambda **options: target)
    return target


def looked_up(account: StubbedTarget, found: dict[str, Any]) -> None:
    """The answer for one node, asked for by its id."""
    account.answer("sagemaker", "describe_cluster_node", {"NodeDetails": found}, ClusterName=ARN, NodeId=found["InstanceId"])


def run(*arguments: str) -> Result:
    """A command on the account."""
    return CliRunner().invoke(app, [*arguments, "--target", "aws"])
