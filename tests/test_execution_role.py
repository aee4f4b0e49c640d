from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from aws_cdk import App, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3

from hyperpod_constructs import (
    ClusterInstanceType,
    ClusterNetwork,
    EbsVolume,
    ExecutionRole,
    HyperPodCluster,
    InstanceGroup,
    LifecycleScripts,
    LustreMount,
    LustreStorage,
    SlurmNodeType,
)
from tests.conftest import only, resources

CONTROLLER = InstanceGroup(
    name="controller", node_type=SlurmNodeType.CONTROLLER, instance_type=ClusterInstanceType.M5_XLARGE, count=1
)
NETWORK_ACTIONS = {
    "ec2:CreateNetworkInterface",
    "ec2:CreateNetworkInterfacePermission",
    "ec2:CreateTags",
    "ec2:DeleteNetworkInterface",
    "ec2:DeleteNetworkInterfacePermission",
    "ec2:DescribeDhcpOptions",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSecurityGroups",
    "ec2:DescribeSubnets",
    "ec2:DescribeVpcs",
    "ec2:DetachNetworkInterface",
}


def allowed(stack: Stack, prefix: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Each action that a policy of the stack allows, with its statement."""
    documents = [
        policy["PolicyDocument"]
        for id, resource in resources(stack).items()
        for policy in (resource.get("Properties", {}), *resource.get("Properties", {}).get("Policies", ()))
        if id.startswith(prefix) and "PolicyDocument" in policy
    ]
    for document in documents:
        for statement in document["Statement"]:
            actions = statement["Action"]
            yield from ((action, statement) for action in ([actions] if isinstance(actions, str) else actions))


def test_sagemaker_assumes_it_and_no_managed_policy_is_attached(stack: Stack) -> None:
    ExecutionRole(stack, "Role")
    role = only(stack, "AWS::IAM::Role")["Properties"]
    assert role["AssumeRolePolicyDocument"]["Statement"][0]["Principal"] == {"Service": "sagemaker.amazonaws.com"}
    assert "ManagedPolicyArns" not in role


def test_every_node_may_log_measure_and_be_connected_to(stack: Stack) -> None:
    ExecutionRole(stack, "Role")
    statements = dict(allowed(stack))
    assert set(statements) == {
        "logs:CreateLogGroup",
        "logs:CreateLogStream",
        "logs:DescribeLogStreams",
        "logs:PutLogEvents",
        "cloudwatch:PutMetricData",
        "ssmmessages:CreateControlChannel",
        "ssmmessages:CreateDataChannel",
        "ssmmessages:OpenControlChannel",
        "ssmmessages:OpenDataChannel",
    }
    assert "log-group:/aws/sagemaker/Clusters/*" in str(statements["logs:PutLogEvents"]["Resource"])
    assert statements["cloudwatch:PutMetricData"]["Condition"] == {
        "StringEquals": {"cloudwatch:namespace": "/aws/sagemaker/Clusters"}
    }


def test_interfaces_only_where_the_cluster_has_a_network(stack: Stack, network: ClusterNetwork) -> None:
    HyperPodCluster(stack, "With", network=network, instance_groups=[CONTROLLER])
    HyperPodCluster(stack, "Without", instance_groups=[CONTROLLER])
    assert {action for action, _ in allowed(stack, "WithExec") if action.startswith("ec2:")} == NETWORK_ACTIONS
    assert not any(action.startswith("ec2:") for action, _ in allowed(stack, "WithoutExec"))


def test_interfaces_are_created_in_this_subnet_and_group_only(stack: Stack, network: ClusterNetwork) -> None:
    HyperPodCluster(stack, "Cluster", network=network, instance_groups=[CONTROLLER])
    where = str(dict(allowed(stack, "ClusterExec"))["ec2:CreateNetworkInterface"]["Resource"])
    assert str(stack.resolve(network.node_subnet.subnet_id)) in where
    assert str(stack.resolve(network.security_group.security_group_id)) in where
    assert "subnet/*" not in where


def test_existing_interfaces_are_changed_in_this_subnet_only(stack: Stack, network: ClusterNetwork) -> None:
    HyperPodCluster(stack, "Cluster", network=network, instance_groups=[CONTROLLER])
    statements = dict(allowed(stack, "ClusterExec"))
    operators = {
        "ec2:CreateNetworkInterfacePermission": "ArnEquals",
        "ec2:CreateTags": "ArnEqualsIfExists",
        "ec2:DeleteNetworkInterface": "ArnEquals",
        "ec2:DeleteNetworkInterfacePermission": "ArnEqualsIfExists",
    }
    for action, operator in operators.items():
        ((found, keys),) = statements[action]["Condition"].items()
        assert (action, found, list(keys)) == (action, operator, ["ec2:Subnet"])
        assert str(stack.resolve(network.node_subnet.subnet_id)) in str(keys["ec2:Subnet"])


def test_interfaces_are_detached_from_instances_of_the_services_account(stack: Stack, network: ClusterNetwork) -> None:
    HyperPodCluster(stack, "Cluster", network=network, instance_groups=[CONTROLLER])
    statement = dict(allowed(stack, "ClusterExec"))["ec2:DetachNetworkInterface"]
    assert statement == {"Action": "ec2:DetachNetworkInterface", "Effect": "Allow", "Resource": "*"}


@pytest.mark.parametrize(("name", "group"), [("research", "Clusters/research/*"), (None, "Clusters/*")])
def test_logs_are_those_of_the_named_cluster(stack: Stack, name: str | None, group: str) -> None:
    imported = iam.Role.from_role_arn(stack, "Existing", "arn:aws:iam::123456789012:role/nodes")
    workers = InstanceGroup(name="workers", instance_type=ClusterInstanceType.M5_XLARGE, count=1, execution_role=imported)
    HyperPodCluster(stack, "Own", cluster_name=name, instance_groups=[CONTROLLER, workers])
    for role in ("OwnExec", "Existing"):
        granted = dict(allowed(stack, role))
        for action in ("logs:CreateLogGroup", "logs:PutLogEvents"):
            assert f"log-group:/aws/sagemaker/{group}" in str(granted[action]["Resource"])


def test_only_reads_describe_everything(stack: Stack, network: ClusterNetwork) -> None:
    HyperPodCluster(stack, "Cluster", network=network, instance_groups=[CONTROLLER])
    everywhere = {action for action, statement in allowed(stack, "ClusterExec") if statement["Resource"] == "*"}
    assert {action for action in everywhere if not action.startswith(("ec2:Describe", "ssmmessages:"))} == {
        "cloudwatch:PutMetricData",
        "ec2:DetachNetworkInterface",
    }


def test_the_scripts_are_readable_and_nothing_else_in_the_bucket(stack: Stack) -> None:
    HyperPodCluster(stack, "Cluster", instance_groups=[CONTROLLER])
    reads = {action: statement for action, statement in allowed(stack, "ClusterExec") if action.startswith("s3:")}
    assert set(reads) == {"s3:GetObject", "s3:ListBucket"}
    assert "/lifecycle/" in str(reads["s3:GetObject"]["Resource"])


def test_no_scripts_no_bucket(stack: Stack) -> None:
    HyperPodCluster(stack, "Cluster", instance_groups=[CONTROLLER], lifecycle_scripts=LifecycleScripts.none())
    assert not any(action.startswith("s3:") for action, _ in allowed(stack))


def test_file_systems_are_described_where_lustre_is_mounted(stack: Stack, network: ClusterNetwork) -> None:
    existing = LustreStorage.from_attributes(file_system_id="fs-11111111", mount_name="m")
    mounting = InstanceGroup(
        name="workers",
        instance_type=ClusterInstanceType.P5_48XLARGE,
        count=1,
        file_systems=(LustreMount(file_system=existing),),
        execution_role=ExecutionRole(stack, "Workers"),
    )
    HyperPodCluster(stack, "Cluster", network=network, instance_groups=[CONTROLLER, mounting])
    assert "fsx:DescribeFileSystems" in dict(allowed(stack, "Workers"))
    assert "fsx:DescribeFileSystems" not in dict(allowed(stack, "ClusterExec"))


def test_an_imported_role_receives_all_that_nodes_need(stack: Stack, network: ClusterNetwork) -> None:
    role = iam.Role.from_role_arn(stack, "Existing", "arn:aws:iam::123456789012:role/nodes")
    HyperPodCluster(stack, "Cluster", network=network, instance_groups=[CONTROLLER], execution_role=role)
    granted = {action for action, _ in allowed(stack, "Existing")}
    assert granted >= NETWORK_ACTIONS | {"logs:PutLogEvents", "ssmmessages:OpenDataChannel", "s3:GetObject"}


def test_one_role_of_two_clusters_has_each_statement_once(stack: Stack, network: ClusterNetwork) -> None:
    role = ExecutionRole(stack, "Role")
    for name in ("One", "Two"):
        HyperPodCluster(stack, name, network=network, instance_groups=[CONTROLLER], execution_role=role)
    creations = [action for action, _ in allowed(stack, "Role") if action == "ec2:CreateNetworkInterface"]
    assert len(creations) == 1


def test_a_boundary_limits_the_role(stack: Stack) -> None:
    boundary = iam.ManagedPolicy.from_managed_policy_name(stack, "Boundary", "boundary")
    ExecutionRole(stack, "Role", permissions_boundary=boundary)
    assert "boundary" in str(only(stack, "AWS::IAM::Role")["Properties"]["PermissionsBoundary"])


def test_data_is_granted_to_the_role(stack: Stack) -> None:
    s3.Bucket(stack, "Data").grant_read_write(ExecutionRole(stack, "Role"))
    assert "s3:PutObject" in dict(allowed(stack, "Role"))


def test_a_role_of_another_stack_reads_the_scripts_of_this_one() -> None:
    app = App()
    role = ExecutionRole(Stack(app, "Identities"), "Role")
    stack = Stack(app, "Cluster")
    HyperPodCluster(stack, "Cluster", instance_groups=[CONTROLLER], execution_role=role)
    granted = dict(allowed(stack, "ClusterNodePolicy"))
    source = only(stack, "AWS::SageMaker::Cluster")["Properties"]["InstanceGroups"][0]["LifeCycleConfig"]["SourceS3Uri"]
    assert str(granted["s3:GetObject"]["Resource"]["Fn::Join"][1][-2]) in str(source)
    assert any(id.startswith("ClusterNodePolicy") for id in only(stack, "AWS::SageMaker::Cluster")["DependsOn"])


def test_keys_of_volumes_are_granted(stack: Stack) -> None:
    key = kms.Key.from_key_arn(stack, "Key", "arn:aws:kms:us-west-2:123456789012:key/1")
    encrypted = replace(CONTROLLER, ebs_volumes=(EbsVolume(size_gb=500, kms_key=key),))
    HyperPodCluster(stack, "Cluster", instance_groups=[encrypted])
    assert dict(allowed(stack, "ClusterExec"))["kms:CreateGrant"]["Resource"] == key.key_arn
    with pytest.raises(ValueError, match="has a volume with a KMS key, which needs continuous provisioning"):
        HyperPodCluster(stack, "Other", instance_groups=[encrypted], node_provisioning_mode=None)
