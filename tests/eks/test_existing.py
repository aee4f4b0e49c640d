from __future__ import annotations

import re

import pytest
from aws_cdk import CfnParameter, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_

from hyperpod_constructs import ExistingControlPlane, KubernetesVersion
from tests.conftest import only, resources


def make(stack: Stack, layer: lambda_.ILayerVersion, **given: object) -> ExistingControlPlane:
    arguments = {"cluster_name": "there", "kubectl_layer": layer, **given}
    return ExistingControlPlane(stack, "ControlPlane", **arguments)  # type: ignore[arg-type]


def handler(stack: Stack) -> dict[str, object]:
    (found,) = [one for name, one in resources(stack, "AWS::Lambda::Function").items() if "ProviderHandler" in name]
    return dict(found)


def test_nothing_is_made_but_the_function_and_its_access(stack: Stack, layer: lambda_.ILayerVersion) -> None:
    control_plane = make(stack, layer)
    assert resources(stack, "AWS::EKS::Cluster") == {}
    entry = only(stack, "AWS::EKS::AccessEntry")["Properties"]
    role = control_plane.kubectl_provider.role
    assert role is not None
    assert (entry["ClusterName"], entry["PrincipalArn"]) == ("there", stack.resolve(role.role_arn))
    assert entry["AccessPolicies"][0]["AccessScope"] == {"Type": "cluster"}
    assert control_plane.version is None
    assert control_plane.has_nodes is None


def test_a_grant_to_the_function_meets_its_entry(stack: Stack, layer: lambda_.ILayerVersion) -> None:
    control_plane = make(stack, layer)
    role = control_plane.kubectl_provider.role
    assert role is not None
    control_plane.access.grant_viewer(role)
    assert len(only(stack, "AWS::EKS::AccessEntry")["Properties"]["AccessPolicies"]) == 2


def test_the_function_awaits_its_access(stack: Stack, layer: lambda_.ILayerVersion) -> None:
    make(stack, layer)
    (entry,) = resources(stack, "AWS::EKS::AccessEntry")
    depends = handler(stack)["DependsOn"]
    assert isinstance(depends, list)
    assert entry in depends


def test_a_role_with_access_is_taken_as_it_is(stack: Stack, layer: lambda_.ILayerVersion) -> None:
    role = iam.Role.from_role_arn(stack, "Role", "arn:aws:iam::123456789012:role/kubectl")
    make(stack, layer, kubectl_role=role)
    properties = handler(stack)["Properties"]
    assert isinstance(properties, dict)
    assert properties["Role"] == "arn:aws:iam::123456789012:role/kubectl"
    assert resources(stack, "AWS::EKS::AccessEntry") == {}


def test_manifests_go_through_the_function(stack: Stack, layer: lambda_.ILayerVersion) -> None:
    control_plane = make(stack, layer)
    control_plane.cluster.add_manifest("Space", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}})
    manifest = only(stack, "Custom::AWSCDK-EKS-KubernetesResource")["Properties"]
    assert manifest["ClusterName"] == "there"
    assert manifest["ServiceToken"] == stack.resolve(control_plane.kubectl_provider.service_token)


def test_the_function_is_in_the_vpc_of_a_private_endpoint(
    stack: Stack, layer: lambda_.ILayerVersion, subnets: list[ec2.ISubnet]
) -> None:
    vpc = ec2.Vpc.from_vpc_attributes(stack, "Vpc", vpc_id="vpc-1", availability_zones=["us-west-2a"])
    group = ec2.SecurityGroup.from_security_group_id(stack, "Group", "sg-1")
    control_plane = make(stack, layer, vpc=vpc, subnets=subnets, security_group=group)
    properties = handler(stack)["Properties"]
    assert isinstance(properties, dict)
    assert properties["VpcConfig"] == {
        "SecurityGroupIds": ["sg-1"],
        "SubnetIds": [stack.resolve(subnet.subnet_id) for subnet in subnets],
    }
    assert [one.security_group_id for one in control_plane.connections.security_groups] == ["sg-1"]


def test_the_arn_is_of_the_stack_s_account(stack: Stack, layer: lambda_.ILayerVersion) -> None:
    control_plane = make(stack, layer, version=KubernetesVersion.V1_33)
    assert control_plane.version is KubernetesVersion.V1_33
    assert control_plane.cluster_name == "there"
    arn = "".join(
        part if isinstance(part, str) else part["Ref"] for part in stack.resolve(control_plane.cluster_arn)["Fn::Join"][1]
    )
    assert arn == "arn:AWS::Partition:eks:AWS::Region:AWS::AccountId:cluster/there"


def test_a_name_may_be_a_token(stack: Stack, layer: lambda_.ILayerVersion) -> None:
    make(stack, layer, cluster_name=CfnParameter(stack, "Name").value_as_string)
    assert only(stack, "AWS::EKS::AccessEntry")["Properties"]["ClusterName"] == {"Ref": "Name"}


def test_fails_with_a_part_of_the_network(stack: Stack, layer: lambda_.ILayerVersion) -> None:
    group = ec2.SecurityGroup.from_security_group_id(stack, "Group", "sg-1")
    text = "Stack/ControlPlane: security_group without vpc and subnets; give all three for a private endpoint, or none of them"
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        make(stack, layer, security_group=group)
