from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import Stack
from aws_cdk import aws_iam as iam

from hyperpod_constructs import ClusterGrants, HyperPodCluster
from tests.conftest import only

ARN = "arn:aws:sagemaker:us-west-2:123456789012:cluster/abc123"


@pytest.fixture
def person(stack: Stack) -> iam.Role:
    return iam.Role(stack, "Person", assumed_by=iam.AccountRootPrincipal())


@pytest.fixture
def grants() -> ClusterGrants:
    return HyperPodCluster.from_cluster_arn(ARN).grants


def statements(stack: Stack) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = only(stack, "AWS::IAM::Policy")["Properties"]["PolicyDocument"]["Statement"]
    return found


def actions(stack: Stack) -> set[str]:
    listed = (statement["Action"] for statement in statements(stack))
    return {action for item in listed for action in ([item] if isinstance(item, str) else item)}


def test_connect_starts_sessions_on_this_cluster_only(stack: Stack, person: iam.Role, grants: ClusterGrants) -> None:
    grants.connect(person).assert_success()
    start = next(statement for statement in statements(stack) if statement["Action"] == "ssm:StartSession")
    assert start["Resource"][0] == ARN
    assert all("document/" in str(resource) for resource in start["Resource"][1:])
    assert "sagemaker:ListClusterNodes" in actions(stack)
    assert not any("Batch" in action for action in actions(stack))


def test_read_changes_nothing(stack: Stack, person: iam.Role, grants: ClusterGrants) -> None:
    grants.read(person)
    assert all(action.startswith(("sagemaker:Describe", "sagemaker:List")) for action in actions(stack))


def test_manage_nodes_cannot_delete_the_cluster(stack: Stack, person: iam.Role, grants: ClusterGrants) -> None:
    grants.manage_nodes(person)
    assert actions(stack) >= {
        "sagemaker:BatchReplaceClusterNodes",
        "sagemaker:BatchRebootClusterNodes",
        "sagemaker:DescribeCluster",
    }
    assert not actions(stack) & {"sagemaker:DeleteCluster", "sagemaker:UpdateCluster", "sagemaker:*"}
    assert {str(statement["Resource"]) for statement in statements(stack)} == {ARN}
