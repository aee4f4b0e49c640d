from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from aws_cdk import Stack
from aws_cdk import aws_iam as iam

from hyperpod_constructs import (
    ClusterGrants,
    ClusterInstanceType,
    ClusterNetwork,
    ExecutionRole,
    HyperPodCluster,
    InstanceGroup,
    LustreStorage,
    SlurmCluster,
)
from tests.conftest import only

ARN = "arn:aws:sagemaker:us-west-2:123456789012:cluster/abcdefgh1234"


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
    assert {"sagemaker:ListClusterNodes", "ssm:TerminateSession", "ssmmessages:OpenDataChannel"} < actions(stack)
    assert not any("Batch" in action for action in actions(stack))


def test_read_changes_nothing(stack: Stack, person: iam.Role, grants: ClusterGrants) -> None:
    grants.read(person)
    assert all(action.startswith(("sagemaker:Describe", "sagemaker:List")) for action in actions(stack))


def test_read_logs_reads_those_of_this_cluster_only(stack: Stack, person: iam.Role, grants: ClusterGrants) -> None:
    grants.read_logs(person).assert_success()
    (found,) = [statement for statement in statements(stack) if statement["Action"] == "logs:FilterLogEvents"]
    assert ":log-group:/aws/sagemaker/Clusters/*/abcdefgh1234:*" in str(found["Resource"])
    assert "sagemaker:DescribeCluster" in actions(stack)


def test_manage_nodes_cannot_delete_the_cluster(stack: Stack, person: iam.Role, grants: ClusterGrants) -> None:
    grants.manage_nodes(person)
    assert actions(stack) >= {
        "sagemaker:BatchReplaceClusterNodes",
        "sagemaker:BatchRebootClusterNodes",
        "sagemaker:DescribeCluster",
    }
    assert not actions(stack) & {"sagemaker:DeleteCluster", "sagemaker:UpdateCluster", "sagemaker:*"}
    assert {str(statement["Resource"]) for statement in statements(stack)} == {ARN}


OWN_ROLES: dict[str, Callable[[HyperPodCluster, ExecutionRole], iam.IGrantable]] = {
    "the cluster": lambda cluster, own: cluster,
    "its role": lambda cluster, own: cluster.execution_role,
    "the construct of its role": lambda cluster, own: own,
    "the role in that construct": lambda cluster, own: own.role,
}


@pytest.mark.parametrize("which", OWN_ROLES)
@pytest.mark.parametrize("grant", ["connect", "read", "read_logs", "manage_nodes"])
def test_fails_for_a_role_of_the_own_nodes(stack: Stack, which: str, grant: str) -> None:
    own = ExecutionRole(stack, "Own")
    cluster = HyperPodCluster(stack, "Cluster", execution_role=own)
    with pytest.raises(
        ValueError, match=r"^Stack/Cluster: Stack/Own/Resource is a role of the cluster's own nodes and has a grant"
    ):
        getattr(ClusterGrants.from_cluster(cluster), grant)(OWN_ROLES[which](cluster, own))


def test_fails_for_a_group_whose_role_has_a_grant_already(stack: Stack, person: iam.Role) -> None:
    cluster = HyperPodCluster(stack, "Cluster")
    cluster.grants.read(person)
    with pytest.raises(ValueError, match=r"^Stack/Cluster: Stack/Person is a role of the cluster's own nodes and has a grant"):
        cluster.add_instance_group(
            InstanceGroup(name="w", instance_type=ClusterInstanceType.M5_XLARGE, count=1, execution_role=person)
        )


def test_the_pattern_has_the_grants_of_its_cluster(stack: Stack, network: ClusterNetwork, lustre: LustreStorage) -> None:
    slurm = SlurmCluster(
        stack, "Slurm", network=network, file_system=lustre, worker_type=ClusterInstanceType.M5_XLARGE, worker_count=1
    )
    person = iam.Role(stack, "Person", assumed_by=iam.AccountRootPrincipal())
    slurm.grants.connect(person)
    with pytest.raises(ValueError, match="own nodes"):
        slurm.grants.connect(slurm)
