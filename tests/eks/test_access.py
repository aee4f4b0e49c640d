from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, cast

import pytest
from aws_cdk import CfnParameter, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk.assertions import Template

from hyperpod_constructs import (
    ClusterNetwork,
    EksControlPlane,
    ExecutionRole,
    ExistingControlPlane,
    HyperPodCluster,
    Orchestrator,
)
from tests.conftest import resources


@pytest.fixture
def control_plane(stack: Stack, layer: lambda_.ILayerVersion) -> ExistingControlPlane:
    role = iam.Role.from_role_arn(stack, "Kubectl", "arn:aws:iam::123456789012:role/kubectl")
    return ExistingControlPlane(stack, "ControlPlane", cluster_name="there", kubectl_role=role, kubectl_layer=layer)


@pytest.fixture
def people(stack: Stack) -> iam.IRole:
    return iam.Role.from_role_arn(stack, "People", "arn:aws:iam::123456789012:role/people")


def entries(stack: Stack) -> list[dict[str, Any]]:
    return [one["Properties"] for one in resources(stack, "AWS::EKS::AccessEntry").values()]


def policies(entry: dict[str, Any]) -> dict[str, Any]:
    """The scope of each access policy by its name."""
    return {one["PolicyArn"]["Fn::Join"][1][-1].rpartition("/")[2]: one["AccessScope"] for one in entry["AccessPolicies"]}


def test_an_administrator_may_do_everything(stack: Stack, control_plane: ExistingControlPlane, people: iam.IRole) -> None:
    control_plane.access.grant_admin(people)
    (entry,) = entries(stack)
    assert (entry["ClusterName"], entry["PrincipalArn"], entry["Type"]) == ("there", people.role_arn, "STANDARD")
    assert policies(entry) == {"AmazonEKSClusterAdminPolicy": {"Type": "cluster"}}


def test_policies_are_of_the_partition(stack: Stack, control_plane: ExistingControlPlane, people: iam.IRole) -> None:
    control_plane.access.grant_admin(people)
    assert entries(stack)[0]["AccessPolicies"][0]["PolicyArn"]["Fn::Join"][1][:2] == ["arn:", {"Ref": "AWS::Partition"}]


def test_a_team_works_in_its_namespaces(stack: Stack, control_plane: ExistingControlPlane, people: iam.IRole) -> None:
    control_plane.access.grant_team(people, namespaces=["hyperpod-ns-a"], kubernetes_groups=["writers"])
    (entry,) = entries(stack)
    assert policies(entry) == {"AmazonEKSEditPolicy": {"Type": "namespace", "Namespaces": ["hyperpod-ns-a"]}}
    assert entry["KubernetesGroups"] == ["writers"]


def test_a_viewer_looks_everywhere_or_in_some_namespaces(
    stack: Stack, control_plane: ExistingControlPlane, people: iam.IRole
) -> None:
    control_plane.access.grant_viewer(people)
    control_plane.access.grant_viewer(iam.User(stack, "User"), namespaces=["a"])
    assert [policies(entry)["AmazonEKSViewPolicy"] for entry in entries(stack)] == [
        {"Type": "cluster"},
        {"Type": "namespace", "Namespaces": ["a"]},
    ]


def test_a_principal_has_one_entry(stack: Stack, control_plane: ExistingControlPlane, people: iam.IRole) -> None:
    control_plane.access.grant_team(people, namespaces=["a"], kubernetes_groups=["one"])
    control_plane.access.grant_team(people, namespaces=["b", "a"], kubernetes_groups=["two"])
    control_plane.access.grant_viewer(people)
    control_plane.access.grant_viewer(people, namespaces=["c"])
    (entry,) = entries(stack)
    assert policies(entry) == {
        "AmazonEKSEditPolicy": {"Type": "namespace", "Namespaces": ["a", "b"]},
        "AmazonEKSViewPolicy": {"Type": "cluster"},
    }
    assert entry["KubernetesGroups"] == ["one", "two"]


def test_another_grant_renames_no_entry(stack: Stack, control_plane: ExistingControlPlane, people: iam.IRole) -> None:
    control_plane.access.grant_admin(people)
    before = set(resources(stack, "AWS::EKS::AccessEntry"))
    control_plane.access.grant_admin(iam.Role.from_role_arn(stack, "First", "arn:aws:iam::123456789012:role/first"))
    assert before < set(resources(stack, "AWS::EKS::AccessEntry"))


def test_nodes_join_by_an_entry_of_their_own_type(stack: Stack, control_plane: ExistingControlPlane) -> None:
    nodes = ExecutionRole(stack, "Nodes")
    control_plane.add_awaited(control_plane.access.grant_nodes(nodes.role))
    (entry,) = entries(stack)
    assert entry["Type"] == "HYPERPOD_LINUX"
    assert entry["PrincipalArn"] == stack.resolve(nodes.role.role_arn)
    assert "AccessPolicies" not in entry
    assert len(control_plane.awaited) == 1


def test_tokens_are_taken(stack: Stack, control_plane: ExistingControlPlane) -> None:
    arn = CfnParameter(stack, "Arn").value_as_string
    namespace = CfnParameter(stack, "Space").value_as_string
    role = iam.Role.from_role_arn(stack, "Unknown", arn)
    control_plane.access.grant_team(role, namespaces=[namespace])
    (entry,) = entries(stack)
    assert entry["PrincipalArn"] == {"Ref": "Arn"}
    assert policies(entry)["AmazonEKSEditPolicy"]["Namespaces"] == [{"Ref": "Space"}]


def test_fails_without_a_namespace(control_plane: ExistingControlPlane, people: iam.IRole) -> None:
    text = 'Stack/ControlPlane/Access: a team without namespaces; write namespaces=["hyperpod-ns-research"]'
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        control_plane.access.grant_team(people, namespaces=[])


def test_fails_with_a_group_of_the_system(control_plane: ExistingControlPlane, people: iam.IRole) -> None:
    with pytest.raises(ValueError, match=r"kubernetes_groups is 'system:masters'; allowed: .* not beginning with system:"):
        control_plane.access.grant_team(people, namespaces=["a"], kubernetes_groups=["system:masters"])


def test_fails_with_a_namespace_of_another_form(control_plane: ExistingControlPlane, people: iam.IRole) -> None:
    with pytest.raises(ValueError, match=r"namespaces is 'Team_A'; allowed: 1 to 63 lowercase letters"):
        control_plane.access.grant_team(people, namespaces=["Team_A"])


@pytest.mark.parametrize("nodes_first", [True, False])
def test_fails_for_nodes_with_another_entry(stack: Stack, control_plane: ExistingControlPlane, nodes_first: bool) -> None:
    role = iam.Role(stack, "Both", assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"))
    grants = (control_plane.access.grant_nodes, control_plane.access.grant_admin)
    first, second = grants if nodes_first else reversed(grants)
    first(role)
    kind = "HYPERPOD_LINUX" if nodes_first else "STANDARD"
    text = (
        f"Stack/ControlPlane/Access: Stack/Both has an access entry already, of the type {kind}; "
        "a principal has one entry: take a role of its own for the nodes, and another for people"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        second(role)


Grant = Callable[[EksControlPlane, iam.IRole], None]
POLICIES = [eks.AccessPolicy.from_access_policy_name("AmazonEKSViewPolicy", access_scope_type=eks.AccessScopeType.CLUSTER)]


def _by_the_cluster(plane: EksControlPlane, role: iam.IRole) -> None:
    plane.cluster.grant_access("Again", role.role_arn, POLICIES)


def _by_an_entry(plane: EksControlPlane, role: iam.IRole) -> None:
    eks.AccessEntry(
        Stack.of(plane), "Again", cluster=cast(eks.ICluster, plane.cluster), principal=role.role_arn, access_policies=POLICIES
    )


def _to_kubectl(plane: EksControlPlane, role: iam.IRole) -> None:
    found = plane.kubectl_provider.role
    assert found is not None
    plane.access.grant_viewer(found)


@pytest.mark.parametrize(
    ("grant", "other"),
    [(_by_the_cluster, "ControlPlaneClusterAgain"), (_by_an_entry, "Again"), (_to_kubectl, "ClusterAdminRoleAccess")],
)
def test_an_entry_of_the_cdk_s_own_for_the_same_principal_is_an_error_at_synthesis(
    stack: Stack, network: ClusterNetwork, layer: lambda_.ILayerVersion, grant: Grant, other: str
) -> None:
    """The two cannot be joined: the CDK's construct renders its policies alone. A rule finds them, whoever made them."""
    subnets: list[ec2.ISubnet] = [
        network.add_control_plane_subnet(f"ControlPlane{zone}", cidr=f"10.0.{zone}.0/28", availability_zone_id=f"usw2-az{zone}")
        for zone in (1, 2)
    ]
    plane = EksControlPlane(stack, "ControlPlane", network=network, subnets=subnets, kubectl_layer=layer)
    HyperPodCluster(stack, "Cluster", network=network, orchestrator=Orchestrator.eks(plane))
    role = iam.Role(stack, "People", assumed_by=iam.AccountRootPrincipal())
    plane.access.grant_admin(role)
    grant(plane, role)
    with pytest.raises(RuntimeError) as refused:
        Template.from_stack(stack)
    (said,) = re.findall(r"PrincipalArn: (.*) are both AWS::EKS::AccessEntry", str(refused.value))
    assert other in said
    assert "ControlPlaneAccessEntry" in said
