from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App, CfnParameter, Stack, assertions
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3

from hyperpod_constructs import (
    CapacityRequirements,
    ClusterInstanceType,
    ClusterNetwork,
    DeploymentConfiguration,
    ExecutionRole,
    ExistingNetwork,
    HyperPodCluster,
    InstanceGroup,
    InterfaceType,
    LifecycleMode,
    LifecycleScripts,
    LustreMount,
    LustreStorage,
    NetworkInterface,
    NodeRecovery,
    Orchestrator,
    OverrideVpcConfig,
    ScheduledUpdateConfig,
    SlurmConfigStrategy,
    SlurmNodeType,
)
from tests.conftest import only, resources, synthesize

CLUSTER = "AWS::SageMaker::Cluster"
M5 = ClusterInstanceType.M5_XLARGE
CONTROLLER = InstanceGroup(name="controller", node_type=SlurmNodeType.CONTROLLER, instance_type=M5, count=1)
EXISTING = LustreStorage.from_attributes(file_system_id="fs-11111111", mount_name="m")
WORKERS = InstanceGroup(name="workers", instance_type=ClusterInstanceType.P5_48XLARGE, count=4)


def groups_of(stack: Stack) -> list[dict[str, Any]]:
    groups: list[dict[str, Any]] = only(stack, CLUSTER)["Properties"]["InstanceGroups"]
    return groups


def errors_of(stack: Stack) -> list[str]:
    found = assertions.Annotations.from_stack(stack).find_error("*", assertions.Match.any_value())
    return [str(message.entry.data) for message in found]


def test_the_defaults(stack: Stack, network: ClusterNetwork) -> None:
    HyperPodCluster(stack, "Cluster", network=network, instance_groups=[CONTROLLER, WORKERS])
    properties = only(stack, CLUSTER)["Properties"]
    assert properties["NodeRecovery"] == "Automatic"
    assert properties["NodeProvisioningMode"] == "Continuous"
    assert properties["Orchestrator"] == {"Slurm": {}}
    assert "ClusterName" not in properties
    assert properties["VpcConfig"] == {
        "Subnets": [stack.resolve(network.node_subnet.subnet_id)],
        "SecurityGroupIds": [stack.resolve(network.security_group.security_group_id)],
    }
    assert [group["InstanceGroupName"] for group in properties["InstanceGroups"]] == ["controller", "workers"]
    assert errors_of(stack) == []


def test_opting_out_of_continuous_provisioning_leaves_the_mode_out(stack: Stack) -> None:
    HyperPodCluster(
        stack,
        "Cluster",
        instance_groups=[CONTROLLER],
        node_provisioning_mode=None,
        node_recovery=NodeRecovery.NONE,
        orchestrator=Orchestrator.slurm(config_strategy=SlurmConfigStrategy.MANAGED),
    )
    properties = only(stack, CLUSTER)["Properties"]
    assert "NodeProvisioningMode" not in properties
    assert properties["NodeRecovery"] == "None"
    assert properties["Orchestrator"] == {"Slurm": {"SlurmConfigStrategy": "Managed"}}


def test_the_cluster_awaits_role_policies_rules_and_scripts(stack: Stack, network: ClusterNetwork) -> None:
    data = s3.Bucket(stack, "Data")
    cluster = HyperPodCluster(stack, "Cluster", network=network, instance_groups=[CONTROLLER])
    data.grant_read_write(cluster)
    awaited = set(only(stack, CLUSTER)["DependsOn"])
    expected = {
        id
        for id, resource in resources(stack).items()
        if id.startswith("Network") or id.startswith("ClusterExecutionRole") or resource["Type"] == "Custom::HyperPodScriptsUpload"
    }
    assert awaited >= expected
    assert any(resources(stack)[id]["Type"] == "AWS::EC2::SecurityGroupEgress" for id in awaited)


def test_the_cluster_awaits_policies_of_imported_roles(stack: Stack) -> None:
    role = iam.Role.from_role_arn(stack, "Role", "arn:aws:iam::123456789012:role/nodes")
    HyperPodCluster(stack, "Cluster", instance_groups=[CONTROLLER], execution_role=role)
    policies = [id for id in resources(stack, "AWS::IAM::Policy") if id.startswith("Role")]
    assert len(policies) == 1
    assert policies[0] in only(stack, CLUSTER)["DependsOn"]


def test_the_cluster_awaits_the_group_of_an_existing_network(stack: Stack) -> None:
    vpc = ec2.Vpc(stack, "Vpc")
    group = ec2.SecurityGroup(stack, "Group", vpc=vpc, allow_all_outbound=False)
    group.add_egress_rule(group, ec2.Port.all_traffic())
    network = ClusterNetwork.from_attributes(vpc=vpc, node_subnet=vpc.private_subnets[0], security_group=group)
    HyperPodCluster(stack, "Cluster", network=network, instance_groups=[CONTROLLER])
    assert set(resources(stack, "AWS::EC2::SecurityGroupEgress")) <= set(only(stack, CLUSTER)["DependsOn"])


def test_one_role_per_group(stack: Stack) -> None:
    role = ExecutionRole(stack, "Workers")
    HyperPodCluster(stack, "Cluster", instance_groups=[CONTROLLER, replace(WORKERS, execution_role=role)])
    controller, workers = groups_of(stack)
    assert workers["ExecutionRole"] == stack.resolve(role.role.role_arn)
    assert controller["ExecutionRole"] != workers["ExecutionRole"]


def test_groups_added_later_count(stack: Stack, network: ClusterNetwork, lustre: LustreStorage) -> None:
    cluster = HyperPodCluster(stack, "Cluster", network=network, instance_groups=[CONTROLLER])
    cluster.add_instance_group(replace(WORKERS, file_systems=(LustreMount(file_system=lustre),)))
    assert [group["InstanceGroupName"] for group in groups_of(stack)] == ["controller", "workers"]
    configuration = str(only(stack, "Custom::HyperPodScriptsUpload")["Properties"]["Configuration"])
    assert "workers" in configuration


def test_order_and_number_of_groups_rename_nothing(network: ClusterNetwork) -> None:
    def ids(*groups: InstanceGroup) -> set[str]:
        stack = Stack(App(), "Stack")
        HyperPodCluster(stack, "Cluster", instance_groups=groups)
        return set(resources(stack))

    front = InstanceGroup(name="login", node_type=SlurmNodeType.LOGIN, instance_type=M5, count=1)
    assert ids(CONTROLLER, WORKERS) == ids(WORKERS, CONTROLLER) == ids(front, CONTROLLER, WORKERS)


def test_two_clusters_in_one_stack(stack: Stack, network: ClusterNetwork) -> None:
    for name in ("One", "Two"):
        HyperPodCluster(stack, name, network=network, instance_groups=[CONTROLLER])
    assert len(resources(stack, CLUSTER)) == 2
    assert len({str(bucket["Properties"]["BucketName"]) for bucket in resources(stack, "AWS::S3::Bucket").values()}) == 2


def test_outputs_connect_to_the_node_that_is_there_when_they_are_run(stack: Stack) -> None:
    HyperPodCluster(stack, "Cluster", instance_groups=[CONTROLLER])
    outputs = synthesize(stack)["Outputs"]
    value = next(output["Value"] for id, output in outputs.items() if "ConnectCommand" in id)
    command = "".join(part for part in value["Fn::Join"][1] if isinstance(part, str))
    assert "InstanceGroupName=='controller'" in command
    assert "list-cluster-nodes" in command
    assert "i-0" not in command


@pytest.mark.parametrize(("name", "found"), [(None, "generated"), ("demo", "demo")])
def test_the_log_group_is_found_in_a_shell(make_stack: Callable[..., Stack], tmp_path: Path, name: str | None, found: str) -> None:
    """CloudFormation does not return a name that it made, so the shell asks the service."""
    stack = make_stack("us-west-2")
    HyperPodCluster(stack, "Cluster", cluster_name=name, instance_groups=[CONTROLLER])
    outputs = synthesize(stack)["Outputs"]
    value = next(output["Value"] for id, output in outputs.items() if "LogGroup" in id)
    arn = "arn:aws:sagemaker:us-west-2:123456789012:cluster/abcdefgh1234"
    text = "".join(
        part if isinstance(part, str) else arn if "GetAtt" in str(part)[:12] else "abcdefgh1234" for part in value["Fn::Join"][1]
    )
    (tmp_path / "aws").write_text(
        f'#!/bin/sh\n[ "$*" = "sagemaker describe-cluster --region us-west-2 --cluster-name {arn} '
        '--query ClusterName --output text" ] && echo generated\n'
    )
    (tmp_path / "aws").chmod(0o755)
    said = subprocess.run(  # noqa: S603
        ["/bin/sh", "-c", f'echo "{text}"'], env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, capture_output=True, text=True, check=True
    )
    assert said.stdout == f"/aws/sagemaker/Clusters/{found}/abcdefgh1234\n"


@pytest.mark.parametrize(("region", "zone"), [("cn-north-1", "cnn1-az1"), ("us-gov-west-1", "usgw1-az1")])
def test_no_partition_is_written_down(make_stack: Callable[..., Stack], region: str, zone: str) -> None:
    stack = make_stack(region)
    network = ClusterNetwork(stack, "Network", availability_zone_id=zone)
    lustre = LustreStorage(stack, "Lustre", network=network)
    bucket = s3.Bucket(stack, "Data", encryption=s3.BucketEncryption.KMS)
    lustre.add_data_repository("Data", bucket=bucket, file_system_path="/data")
    cluster = HyperPodCluster(stack, "Cluster", network=network, instance_groups=[CONTROLLER])
    cluster.grants.connect(iam.Role(stack, "Person", assumed_by=iam.AccountRootPrincipal()))
    for id, resource in resources(stack).items():
        assert "arn:aws:" not in str(resource), id


def test_a_permissions_boundary_reaches_every_role(stack: Stack, network: ClusterNetwork) -> None:
    HyperPodCluster(stack, "Cluster", network=network, instance_groups=[CONTROLLER])
    boundary = iam.ManagedPolicy.from_managed_policy_name(stack, "Boundary", "boundary")
    iam.PermissionsBoundary.of(stack).apply(boundary)
    roles = resources(stack, "AWS::IAM::Role")
    assert len(roles) > 3
    assert all("PermissionsBoundary" in role["Properties"] for role in roles.values())


def test_takes_tokens(stack: Stack) -> None:
    text = CfnParameter(stack, "Text").value_as_string
    number: Any = CfnParameter(stack, "Number", type="Number").value_as_number
    workers = InstanceGroup(name=text, instance_type=ClusterInstanceType.of(text), count=number)
    HyperPodCluster(stack, "Cluster", cluster_name=text, instance_groups=[CONTROLLER, workers])
    assert only(stack, CLUSTER)["Properties"]["ClusterName"] == {"Ref": "Text"}
    assert groups_of(stack)[1]["InstanceCount"] == {"Ref": "Number"}
    assert errors_of(stack) == []


def test_the_l1_is_the_default_child(stack: Stack) -> None:
    cluster = HyperPodCluster(stack, "Cluster", instance_groups=[CONTROLLER])
    assert cluster.node.default_child is cluster.resource
    cluster.resource.add_property_override("NodeRecovery", "None")
    assert only(stack, CLUSTER)["Properties"]["NodeRecovery"] == "None"


def imported_network(stack: Stack, block: str) -> ExistingNetwork:
    subnet = ec2.Subnet.from_subnet_attributes(
        stack, "Subnet", subnet_id="subnet-1", availability_zone="us-west-2a", ipv4_cidr_block=block
    )
    return ClusterNetwork.from_attributes(
        vpc=ec2.Vpc.from_vpc_attributes(stack, "Vpc", vpc_id="vpc-1", availability_zones=["us-west-2a"]),
        node_subnet=subnet,
        security_group=ec2.SecurityGroup.from_security_group_id(stack, "Group", "sg-1"),
    )


def test_an_imported_subnet_that_is_too_small_is_an_error_with_the_arithmetic(stack: Stack) -> None:
    network = imported_network(stack, "10.1.0.0/25")
    HyperPodCluster(stack, "Cluster", network=network, instance_groups=[CONTROLLER, WORKERS])
    (error,) = errors_of(stack)
    assert "need 129 addresses, one per network card (controller 1, workers 128), and the node subnet has 123" in error


def test_an_imported_subnet_of_just_enough_addresses_passes(stack: Stack) -> None:
    network = imported_network(stack, "10.1.0.0/25")
    HyperPodCluster(stack, "Cluster", network=network, instance_groups=[CONTROLLER, replace(WORKERS, count=3)])
    assert errors_of(stack) == []


def test_a_subnet_of_this_app_is_left_to_the_rules(make_stack: Callable[..., Stack]) -> None:
    stack = make_stack()
    network = ClusterNetwork(stack, "Network", availability_zone_id="usw2-az4", node_cidr="10.1.0.0/25")
    HyperPodCluster(stack, "Cluster", network=network, instance_groups=[CONTROLLER, WORKERS])
    with pytest.raises(RuntimeError, match="HP-SUB-001") as caught:
        synthesize(stack)
    assert "need 129 addresses" not in str(caught.value)


def test_a_subnet_of_unknown_size_is_not_judged(stack: Stack) -> None:
    network = ClusterNetwork.from_attributes(
        vpc=ec2.Vpc.from_vpc_attributes(stack, "Vpc", vpc_id="vpc-1", availability_zones=["us-west-2a"]),
        node_subnet=ec2.Subnet.from_subnet_id(stack, "Subnet", "subnet-1"),
        security_group=ec2.SecurityGroup.from_security_group_id(stack, "Group", "sg-1"),
    )
    HyperPodCluster(stack, "Cluster", network=network, instance_groups=[CONTROLLER, replace(WORKERS, count=6000)])
    assert errors_of(stack) == []


def other_zone(stack: Stack, block: str | None = None) -> OverrideVpcConfig:
    """An imported subnet of another zone, with a group of its own."""
    subnet = ec2.Subnet.from_subnet_attributes(
        stack, "Other", subnet_id="subnet-2", availability_zone="us-west-2b", ipv4_cidr_block=block
    )
    return OverrideVpcConfig(
        subnets=[subnet], security_groups=[ec2.SecurityGroup.from_security_group_id(stack, "OtherGroup", "sg-2")]
    )


def test_a_group_in_another_zone_has_its_permissions_connections_and_subnet(stack: Stack, network: ClusterNetwork) -> None:
    far = replace(WORKERS, name="far", override_vpc_config=other_zone(stack))
    cluster = HyperPodCluster(stack, "Cluster", network=network, instance_groups=[CONTROLLER, far])
    assert groups_of(stack)[1]["OverrideVpcConfig"] == {"Subnets": ["subnet-2"], "SecurityGroupIds": ["sg-2"]}
    assert [known.security_group_id for known in cluster.connections.security_groups][1:] == ["sg-2"]
    statements = [
        statement
        for policy in resources(stack, "AWS::IAM::Policy").values()
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
        if "subnet-2" in str(statement)
    ]
    creation = next(statement for statement in statements if statement["Action"] == "ec2:CreateNetworkInterface")
    assert "security-group/sg-2" in str(creation["Resource"])
    assert {str(statement["Action"]) for statement in statements} >= {
        "['ec2:CreateNetworkInterfacePermission', 'ec2:DeleteNetworkInterface']",
        "['ec2:CreateTags', 'ec2:DeleteNetworkInterfacePermission']",
    }


def test_the_cluster_awaits_the_network_of_a_group() -> None:
    stack = Stack(App(context={"hyperpod:rules": "false"}), "Stack")
    network = ClusterNetwork(stack, "Network", availability_zone_id="usw2-az4")
    vpc = network.vpc.vpc_id
    subnet = ec2.PrivateSubnet(stack, "Other", vpc_id=vpc, availability_zone="us-west-2b", cidr_block="10.0.64.0/18")
    override = OverrideVpcConfig(subnets=[subnet], security_groups=[network.security_group])
    HyperPodCluster(stack, "Cluster", network=network, instance_groups=[replace(WORKERS, override_vpc_config=override)])
    assert [name for name in only(stack, CLUSTER)["DependsOn"] if name.startswith("OtherRouteTableAssociation")]


def test_fails_on_a_network_of_a_group_in_a_cluster_without_one(stack: Stack) -> None:
    with pytest.raises(
        ValueError, match="instance group 'workers' overrides a network, but the cluster has none; give the cluster"
    ):
        HyperPodCluster(stack, "Cluster", instance_groups=[replace(WORKERS, override_vpc_config=other_zone(stack))])


def test_the_addresses_of_a_group_are_counted_where_it_is(stack: Stack) -> None:
    network = imported_network(stack, "10.1.0.0/28")
    far = replace(WORKERS, override_vpc_config=other_zone(stack, "10.2.0.0/25"))
    HyperPodCluster(stack, "Cluster", network=network, instance_groups=[CONTROLLER, replace(far, name="a"), replace(far, name="b")])
    (error,) = errors_of(stack)
    assert "the groups need 256 addresses, one per network card (a 128, b 128)" in error
    assert "the subnets of override_vpc_config have 123; a subnet's block cannot be changed later: name larger or more" in error


def test_interfaces_that_carry_efa_alone_take_no_address(stack: Stack) -> None:
    network = imported_network(stack, "10.1.0.0/28")
    workers = replace(WORKERS, network_interface=NetworkInterface(interface_type=InterfaceType.EFA_ONLY))
    HyperPodCluster(stack, "Cluster", network=network, instance_groups=[CONTROLLER, workers])
    assert errors_of(stack) == []


def test_the_service_may_look_at_rollback_alarms() -> None:
    stack = Stack(App(context={"hyperpod:rules": False}), "Stack")
    alarm = cloudwatch.Alarm.from_alarm_arn(stack, "Alarm", "arn:aws:cloudwatch:us-west-2:123456789012:alarm:errors")
    update = ScheduledUpdateConfig(
        schedule_expression="cron(0 3 ? * SUN *)",
        deployment_config=DeploymentConfiguration(auto_rollback_configuration=[alarm]),
    )
    HyperPodCluster(stack, "Plain", instance_groups=[CONTROLLER, WORKERS])
    HyperPodCluster(stack, "Cluster", instance_groups=[CONTROLLER, replace(WORKERS, scheduled_update_config=update)])
    policies = [policy["Properties"]["PolicyDocument"]["Statement"] for policy in resources(stack, "AWS::IAM::Policy").values()]
    statement = {"Effect": "Allow", "Action": "cloudwatch:DescribeAlarms", "Resource": "*"}
    assert [statement in statements for statements in policies].count(True) == 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"capacity_requirements": CapacityRequirements.SPOT},
            "spot capacity of instance group 'workers' needs EKS; take on-demand capacity, or on EKS write",
        ),
        (
            {"image_release_version": "1.2.3"},
            "image_release_version on instance group 'workers' of a Slurm cluster; leave it out: Slurm has partitions",
        ),
    ],
)
def test_fails_on_a_setting_of_eks(stack: Stack, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=r"^Stack/Cluster: ") as caught:
        HyperPodCluster(stack, "Cluster", instance_groups=[replace(WORKERS, **changes)])
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([CONTROLLER, replace(WORKERS, name="controller")], "two instance groups are named 'controller'"),
        ([CONTROLLER, replace(CONTROLLER, name="second")], "'controller' and 'second' are both Controller; the service takes one"),
        (
            [replace(WORKERS, file_systems=(LustreMount(file_system=EXISTING),))],
            "instance group 'workers' mounts /fsx, but the cluster has no network",
        ),
    ],
)
def test_fails_on_groups_that_exclude_each_other(stack: Stack, groups: list[InstanceGroup], message: str) -> None:
    with pytest.raises(ValueError, match=r"^Stack/Cluster: ") as caught:
        HyperPodCluster(stack, "Cluster", instance_groups=groups)
    assert message in str(caught.value)


def test_fails_on_a_list_of_types_without_continuous_provisioning(stack: Stack) -> None:
    several = replace(WORKERS, instance_type=(ClusterInstanceType.P5_48XLARGE, ClusterInstanceType.P5EN_48XLARGE))
    with pytest.raises(ValueError, match="lists 2 instance types, which needs continuous provisioning"):
        HyperPodCluster(stack, "Cluster", instance_groups=[several], node_provisioning_mode=None)


def test_fails_on_a_strategy_with_continuous_provisioning(stack: Stack) -> None:
    orchestrator = Orchestrator.slurm(config_strategy=SlurmConfigStrategy.OVERWRITE)
    with pytest.raises(ValueError, match="strategy is Overwrite, which the service refuses with continuous provisioning"):
        HyperPodCluster(stack, "Cluster", orchestrator=orchestrator)


def test_fails_on_more_groups_than_the_service_takes(stack: Stack) -> None:
    cluster = HyperPodCluster(stack, "Cluster", lifecycle_scripts=LifecycleScripts.none())
    for number in range(100):
        cluster.add_instance_group(replace(WORKERS, name=f"workers-{number}"))
    with pytest.raises(ValueError, match="'one-more' is instance group 101; the service takes 100"):
        cluster.add_instance_group(replace(WORKERS, name="one-more"))


def test_fails_on_a_mode_whose_entry_point_is_missing(stack: Stack, tmp_path: Path) -> None:
    (tmp_path / "on_init_complete.sh").write_text("#!/bin/sh\n")
    cluster = HyperPodCluster(stack, "Cluster", lifecycle_scripts=LifecycleScripts.from_asset(path=tmp_path))
    cluster.add_instance_group(CONTROLLER)
    with pytest.raises(ValueError, match=r"has no entry point 'on_create.sh' for OnCreate; found on_init_complete.sh"):
        cluster.add_instance_group(replace(WORKERS, lifecycle_mode=LifecycleMode.ON_CREATE))


def test_imported_clusters_have_grants_connections_and_their_id(stack: Stack) -> None:
    arn = "arn:aws:sagemaker:us-west-2:123456789012:cluster/abcdefgh1234"
    assert HyperPodCluster.from_cluster_arn(arn).connections.security_groups == []
    group = ec2.SecurityGroup.from_security_group_id(stack, "Group", "sg-1")
    cluster = HyperPodCluster.from_cluster_attributes(cluster_arn=arn, cluster_name="demo", security_group=group)
    assert cluster.cluster_id == "abcdefgh1234"
    assert [known.security_group_id for known in cluster.connections.security_groups] == ["sg-1"]
    person = iam.Role(stack, "Person", assumed_by=iam.AccountRootPrincipal())
    cluster.grants.read(person)
    statement = only(stack, "AWS::IAM::Policy")["Properties"]["PolicyDocument"]["Statement"][0]
    assert statement["Resource"] == arn
