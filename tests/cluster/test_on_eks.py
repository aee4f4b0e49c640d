"""Clusters whose jobs Kubernetes schedules: what they render, what they may do, and what they refuse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App, CfnParameter, CfnResource, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from constructs import IDependable

from hyperpod_constructs import (
    AutoScaling,
    AutoScalingMode,
    CapacityRequirements,
    ClusterInstanceType,
    ClusterNetwork,
    ClusterRole,
    DeepHealthCheck,
    DeploymentConfiguration,
    EbsVolume,
    EnvironmentConfig,
    FSxLustreConfig,
    HyperPodCluster,
    InstanceGroup,
    KubernetesConfig,
    KubernetesTaint,
    KubernetesTaintEffect,
    LifecycleMode,
    LifecycleScripts,
    LustreMount,
    LustreStorage,
    NodeRecovery,
    NodeSoftware,
    OpenZfsMount,
    Orchestrator,
    OverrideVpcConfig,
    OwnStep,
    ReadinessGate,
    RestrictedInstanceGroup,
    ScheduledUpdateConfig,
    SharedEnvironmentConfig,
    SlurmNodeType,
    TieredStorage,
    TieredStorageMode,
)
from tests.cluster.test_cluster import CONTROLLER, errors_of
from tests.conftest import only, resources
from tests.test_execution_role import allowed

EKS_ARN = "arn:aws:eks:us-west-2:123456789012:cluster/k"
P5 = ClusterInstanceType.P5_48XLARGE
WORKERS = InstanceGroup(name="workers", instance_type=P5, count=4)
FILES = FSxLustreConfig(size_in_gib=1200, per_unit_storage_throughput=250)
NOVA = RestrictedInstanceGroup(
    name="nova", instance_type=P5, count=2, environment_config=EnvironmentConfig(fsx_lustre_config=FILES)
)
LUSTRE = LustreStorage.from_attributes(file_system_id="fs-11111111", mount_name="m")
TAINTS = KubernetesConfig(taints=[KubernetesTaint(key="pool", effect=KubernetesTaintEffect.NO_SCHEDULE)])


@dataclass
class ControlPlane:
    """A control plane that gains prerequisites."""

    cluster_arn: str = EKS_ARN
    cluster_name: str = "k"
    awaited: list[IDependable] = field(default_factory=list)


def on_eks(stack: Stack, *groups: InstanceGroup, control_plane: ControlPlane | None = None, **given: Any) -> HyperPodCluster:
    given.setdefault(
        "network", stack.node.try_find_child("Network") or ClusterNetwork(stack, "Network", availability_zone_id="usw2-az4")
    )
    orchestrator = Orchestrator.eks(ControlPlane() if control_plane is None else control_plane)
    return HyperPodCluster(stack, "Cluster", orchestrator=orchestrator, instance_groups=groups, **given)


def properties_of(stack: Stack) -> dict[str, Any]:
    found: dict[str, Any] = only(stack, "AWS::SageMaker::Cluster")["Properties"]
    return found


def test_the_defaults(stack: Stack) -> None:
    on_eks(stack, WORKERS)
    properties = properties_of(stack)
    assert properties["Orchestrator"] == {"Eks": {"ClusterArn": EKS_ARN}}
    assert properties["NodeProvisioningMode"] == "Continuous"
    assert properties["Tags"] == [{"Key": "SageMaker", "Value": "true"}]
    (group,) = properties["InstanceGroups"]
    assert set(group) == {"InstanceGroupName", "InstanceType", "InstanceCount", "ExecutionRole", "LifeCycleConfig"}
    assert group["LifeCycleConfig"]["OnCreate"] == "on_create.sh"
    assert "OnInitComplete" not in group["LifeCycleConfig"]
    assert not {"TieredStorageConfig", "AutoScaling", "ClusterRole", "RestrictedInstanceGroups"} & set(properties)
    assert errors_of(stack) == []


def test_the_cluster_awaits_what_the_control_plane_awaits_also_when_it_comes_later(stack: Stack) -> None:
    control_plane = ControlPlane(awaited=[CfnResource(stack, "Access", type="AWS::EKS::AccessEntry")])
    on_eks(stack, WORKERS, control_plane=control_plane)
    control_plane.awaited.append(CfnResource(stack, "Chart", type="Custom::Chart", properties={"ServiceToken": "x"}))
    assert {"Access", "Chart"} <= set(only(stack, "AWS::SageMaker::Cluster")["DependsOn"])


def test_subnets_of_nodes_are_tagged_for_load_balancers_and_no_others(stack: Stack) -> None:
    network = ClusterNetwork(stack, "Network", availability_zone_id="usw2-az4")
    on_eks(stack, WORKERS, network=network)
    network.add_node_subnet("Second", cidr="10.2.0.0/16", availability_zone_id="usw2-az1")
    tagged = {
        id: {"Key": "kubernetes.io/role/internal-elb", "Value": "1"} in subnet["Properties"]["Tags"]
        for id, subnet in resources(stack, "AWS::EC2::Subnet").items()
    }
    assert {id.removeprefix("Network")[:4]: found for id, found in tagged.items()} == {"Node": True, "Seco": True, "Publ": False}


def test_subnets_of_slurm_clusters_have_no_tag_of_kubernetes(stack: Stack, network: ClusterNetwork) -> None:
    HyperPodCluster(stack, "Cluster", network=network, instance_groups=[CONTROLLER])
    assert "kubernetes.io" not in str(resources(stack, "AWS::EC2::Subnet"))
    assert "Tags" not in properties_of(stack)


def test_nodes_may_give_addresses_images_and_identities_to_pods(stack: Stack) -> None:
    cluster = on_eks(stack, WORKERS)
    statements = dict(allowed(stack, "ClusterExecutionRole"))
    network = stack.node.find_child("Network")
    assert isinstance(network, ClusterNetwork)
    subnet = stack.resolve(stack.format_arn(service="ec2", resource="subnet", resource_name=network.node_subnet.subnet_id))
    for action in ("ec2:AssignPrivateIpAddresses", "ec2:UnassignPrivateIpAddresses"):
        assert "network-interface/*" in str(statements[action]["Resource"])
        assert str(subnet["Fn::Join"][1][-1]) in str(statements[action]["Condition"])
    assert statements["eks-auth:AssumeRoleForPodIdentity"]["Resource"] == EKS_ARN
    plain = ("ec2:AttachNetworkInterface", "ec2:DescribeInstances", "ecr:BatchGetImage", "ecr:BatchCheckLayerAvailability")
    assert all(statements[action]["Resource"] == "*" for action in plain)
    assert cluster.execution_role is not None


def test_the_role_of_a_group_elsewhere_may_address_pods_there(stack: Stack) -> None:
    subnet = ec2.Subnet.from_subnet_attributes(stack, "Other", subnet_id="subnet-1", ipv4_cidr_block="10.9.0.0/16")
    place = OverrideVpcConfig(subnets=[subnet], security_groups=[ec2.SecurityGroup.from_security_group_id(stack, "Group", "sg-1")])
    on_eks(stack, replace(WORKERS, override_vpc_config=place))
    assign = [statement for action, statement in allowed(stack) if action == "ec2:AssignPrivateIpAddresses"]
    assert len(assign) == 2
    assert "subnet/subnet-1" in str(assign[1]["Condition"])


def test_nodes_of_slurm_have_no_permission_of_pods(stack: Stack, network: ClusterNetwork) -> None:
    HyperPodCluster(stack, "Cluster", network=network, instance_groups=[CONTROLLER])
    assert not [action for action, _ in allowed(stack) if action.startswith(("ecr:", "eks-auth:")) or "PrivateIp" in action]


def test_everything_that_a_group_on_eks_can_say(stack: Stack) -> None:
    key = kms.Key(stack, "Key")
    alarm = cloudwatch.Alarm.from_alarm_arn(stack, "Alarm", "arn:aws:cloudwatch:us-west-2:123456789012:alarm:errors")
    group = replace(
        WORKERS,
        instance_type=(P5, ClusterInstanceType.P5EN_48XLARGE),
        kubernetes_config=KubernetesConfig(
            labels={"team": "research", "example.com/pool": "a"},
            taints=[KubernetesTaint(key="pool", value="a", effect=KubernetesTaintEffect.NO_EXECUTE)],
        ),
        capacity_requirements=CapacityRequirements.SPOT,
        image_release_version="1.2.3",
        ebs_volumes=(EbsVolume(size_gb=500, kms_key=key),),
        scheduled_update_config=ScheduledUpdateConfig(
            schedule_expression="cron(0 3 ? * SUN *)",
            deployment_config=DeploymentConfiguration(auto_rollback_configuration=[alarm]),
        ),
    )
    on_eks(stack, group)
    (found,) = properties_of(stack)["InstanceGroups"]
    assert found["KubernetesConfig"] == {
        "Labels": {"team": "research", "example.com/pool": "a"},
        "Taints": [{"Key": "pool", "Value": "a", "Effect": "NoExecute"}],
    }
    assert found["CapacityRequirements"] == {"Spot": {}}
    assert found["ImageReleaseVersion"] == "1.2.3"
    assert found["InstanceRequirements"] == {"InstanceTypes": ["ml.p5.48xlarge", "ml.p5en.48xlarge"]}
    assert "cloudwatch:DescribeAlarms" in dict(allowed(stack))


def test_restricted_groups_have_the_role_of_the_nodes_and_their_environment(stack: Stack) -> None:
    cluster = on_eks(
        stack, restricted_instance_groups=[NOVA], shared_environment_config=SharedEnvironmentConfig(fsx_lustre_config=FILES)
    )
    properties = properties_of(stack)
    (group,) = properties["RestrictedInstanceGroups"]
    assert group["ExecutionRole"] == stack.resolve(cluster.execution_role.role_arn)
    assert group["EnvironmentConfig"]["FSxLustreConfig"]["SizeInGiB"] == 1200
    shared = properties["RestrictedInstanceGroupsConfig"]["SharedEnvironmentConfig"]
    assert shared["FSxLustreDeletionPolicy"] == "Keep"


def test_tiered_storage(stack: Stack) -> None:
    on_eks(stack, WORKERS, tiered_storage=TieredStorage(instance_memory_allocation_percentage=40))
    assert properties_of(stack)["TieredStorageConfig"] == {"Mode": "Enable", "InstanceMemoryAllocationPercentage": 40}
    percentage: Any = CfnParameter(stack, "Percentage", type="Number").value_as_number
    given = TieredStorage(mode=TieredStorageMode.DISABLE, instance_memory_allocation_percentage=percentage).render()
    assert stack.resolve(given.instance_memory_allocation_percentage) == {"Ref": "Percentage"}


def test_autoscaling_has_a_role_that_scales_clusters_and_uses_the_volumes_keys(stack: Stack) -> None:
    key = kms.Key(stack, "Key")
    on_eks(stack, replace(WORKERS, count=0, ebs_volumes=(EbsVolume(size_gb=500, kms_key=key),)), auto_scaling=AutoScaling())
    properties = properties_of(stack)
    assert properties["AutoScaling"] == {"Mode": "Enable", "AutoScalerType": "Karpenter"}
    role = properties["ClusterRole"]["Fn::GetAtt"][0]
    trust = resources(stack)[role]["Properties"]["AssumeRolePolicyDocument"]["Statement"][0]
    assert trust["Principal"] == {"Service": "hyperpod.sagemaker.amazonaws.com"}
    statements = dict(allowed(stack, "ClusterClusterRole"))
    assert set(statements) == {
        "sagemaker:BatchAddClusterNodes",
        "sagemaker:BatchDeleteClusterNodes",
        "kms:CreateGrant",
        "kms:DescribeKey",
    }
    assert "cluster/*" in str(statements["sagemaker:BatchAddClusterNodes"]["Resource"])
    assert statements["kms:CreateGrant"]["Resource"] == stack.resolve(key.key_arn)
    assert "kms:ViaService" in str(statements["kms:CreateGrant"]["Condition"])
    awaited = set(only(stack, "AWS::SageMaker::Cluster")["DependsOn"])
    assert {id for id in resources(stack) if id.startswith("ClusterClusterRole")} <= awaited


def test_autoscaling_by_a_role_of_the_user(stack: Stack) -> None:
    role = iam.Role.from_role_arn(stack, "Role", "arn:aws:iam::123456789012:role/scaling")
    on_eks(stack, auto_scaling=AutoScaling(mode=AutoScalingMode.DISABLE), cluster_role=role)
    assert properties_of(stack)["ClusterRole"] == "arn:aws:iam::123456789012:role/scaling"
    assert not [action for action, _ in allowed(stack) if action.startswith("sagemaker:")]
    own = ClusterRole(stack, "Scaling", volume_keys=[kms.Key(stack, "Key")])
    other = on_eks(Stack(stack, "Second"), auto_scaling=AutoScaling(), cluster_role=own)
    assert other.resource.cluster_role == own.role.role_arn


def test_the_configuration_of_the_nodes_says_eks(stack: Stack) -> None:
    on_eks(stack, WORKERS, lifecycle_scripts=LifecycleScripts.from_asset(software=NodeSoftware(containers=False)))
    written = only(stack, "Custom::HyperPodScriptsUpload")["Properties"]["Configuration"]
    assert written == (
        '{"version":1,"cluster":{"node_recovery":"Automatic","orchestrator":"eks"},"groups":{"workers":{}},'
        '"software":{"containers":false}}'
    )


def test_the_gate_waits_for_nodes_on_request_only(stack: Stack) -> None:
    cluster = on_eks(stack, WORKERS, replace(WORKERS, name="others"))
    ReadinessGate(stack, "Gate", cluster=cluster, min_running={"workers": 2})
    groups = only(stack, "Custom::HyperPodReadinessGate")["Properties"]["Groups"]
    assert {group["Name"]: group["Minimum"] for group in groups} == {"workers": 2, "others": 0}


def test_addresses_of_pods_count_in_an_imported_subnet(stack: Stack) -> None:
    vpc = ec2.Vpc.from_vpc_attributes(stack, "Vpc", vpc_id="vpc-1", availability_zones=["us-west-2a"])
    subnet = ec2.Subnet.from_subnet_attributes(stack, "Nodes", subnet_id="subnet-1", ipv4_cidr_block="10.0.0.0/24")
    group = ec2.SecurityGroup.from_security_group_id(stack, "Group", "sg-1")
    network = ClusterNetwork.from_attributes(vpc=vpc, node_subnet=subnet, security_group=group)
    on_eks(stack, WORKERS, network=network, restricted_instance_groups=[replace(NOVA, count=1)])
    (error,) = errors_of(stack)
    assert "the groups need 405 addresses, up to 50 per node for pods and one per further network card" in error
    assert "(workers 324, nova 81)" in error


def test_the_command_connects_to_a_node_of_the_first_group(stack: Stack) -> None:
    on_eks(stack, WORKERS)
    output = next(value for id, value in outputs(stack).items() if id.startswith("ClusterConnectCommand"))
    assert "_workers-$(aws sagemaker list-cluster-nodes" in str(output["Value"])
    assert output["Description"].startswith("opens a shell on a node")


def outputs(stack: Stack) -> dict[str, Any]:
    app = stack.node.root
    assert isinstance(app, App)
    found: dict[str, Any] = app.synth().get_stack_by_name(stack.stack_name).template["Outputs"]
    return found


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"node_type": SlurmNodeType.LOGIN}, "node_type Login on instance group 'workers' of a cluster on EKS; leave it out"),
        ({"partition": "batch"}, "partition 'batch' on instance group 'workers' of a cluster on EKS; leave it out"),
        ({"file_systems": (LustreMount(file_system=LUSTRE),)}, "FsxLustreConfig on instance group 'workers' of a cluster on EKS"),
        (
            {"file_systems": (OpenZfsMount(dns_name="fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com"),)},
            "FsxOpenZfsConfig on instance group 'workers' of a cluster on EKS; leave it out, and install the add-on",
        ),
        ({"lifecycle_mode": LifecycleMode.ON_INIT_COMPLETE}, "OnInitComplete on instance group 'workers' of a cluster on EKS"),
    ],
)
def test_fails_on_a_setting_of_slurm(stack: Stack, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=r"^Stack/Cluster: ") as caught:
        on_eks(stack, replace(WORKERS, **changes))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"network": None}, "a cluster on EKS without VpcConfig; give it private subnets"),
        (
            {"auto_scaling": AutoScaling(), "node_recovery": NodeRecovery.NONE, "node_provisioning_mode": None},
            "autoscaling without NodeProvisioningMode: Continuous and NodeRecovery: Automatic; write ClusterRole",
        ),
        (
            {"restricted_instance_groups": [replace(NOVA, environment_config=None)]},
            "restricted instance group 'nova' has no file system: neither its own nor a shared one; give the group",
        ),
        ({"restricted_instance_groups": [NOVA, NOVA]}, "two instance groups are named 'nova'"),
        (
            {"lifecycle_scripts": LifecycleScripts.from_asset(software=NodeSoftware(motd=False))},
            "NodeSoftware sets up the nodes of Slurm clusters; on EKS this library's scripts take containers alone",
        ),
    ],
)
def test_fails_on_a_cluster_that_the_service_refuses(stack: Stack, given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=r"^Stack/Cluster: ") as caught:
        on_eks(stack, **given)
    assert message in str(caught.value)
    assert not stack.node.find_child("Cluster").node.try_find_child("Resource")


def test_fails_on_a_step_for_roles_of_slurm(stack: Stack, tmp_path: Path) -> None:
    script = tmp_path / "step.sh"
    script.write_text("#!/bin/sh\n")
    steps = [OwnStep(script=script, node_types=[SlurmNodeType.COMPUTE])]
    with pytest.raises(ValueError, match="own steps step name roles of Slurm; on EKS every node runs them: leave node_types out"):
        on_eks(stack, lifecycle_scripts=LifecycleScripts.from_asset(steps=steps))


@pytest.mark.parametrize("restricted", [True, False])
def test_restricted_groups_need_another_chart(stack: Stack, restricted: bool) -> None:
    on_eks(stack, WORKERS, restricted_instance_groups=[NOVA] if restricted else [])
    app = stack.node.root
    assert isinstance(app, App)
    found = [str(one.entry.data) for one in app.synth().get_stack_artifact(stack.artifact_id).messages]
    assert (
        any("write hyperpod chart fetch --revision 520886bbc1a0494c61d2c78dac6027429475d696" in text for text in found)
        is restricted
    )


def test_fails_on_restricted_groups_in_several_subnets_and_names_in_use(stack: Stack) -> None:
    subnets = [ec2.Subnet.from_subnet_id(stack, name, f"subnet-{name}") for name in ("a", "b")]
    groups = [ec2.SecurityGroup.from_security_group_id(stack, "Group", "sg-1")]
    wide = replace(NOVA, override_vpc_config=OverrideVpcConfig(subnets=subnets, security_groups=groups))
    with pytest.raises(ValueError, match="the nodes of restricted instance group 'nova' can be in 2 subnets"):
        on_eks(stack, restricted_instance_groups=[wide])
    with pytest.raises(ValueError, match="two instance groups are named 'nova'"):
        on_eks(Stack(App(), "Stack"), replace(WORKERS, name="nova"), restricted_instance_groups=[NOVA])


def test_fails_on_spot_without_continuous_provisioning(stack: Stack) -> None:
    spot = replace(WORKERS, capacity_requirements=CapacityRequirements.SPOT)
    with pytest.raises(ValueError, match="spot capacity of instance group 'workers' needs continuous provisioning"):
        on_eks(stack, spot, node_provisioning_mode=None)


@pytest.mark.parametrize(
    ("given", "feature"),
    [
        ({"tiered_storage": TieredStorage()}, "TieredStorageConfig"),
        ({"auto_scaling": AutoScaling()}, "AutoScaling"),
    ],
)
def test_fails_on_a_feature_of_eks_in_a_slurm_cluster(stack: Stack, given: dict[str, Any], feature: str) -> None:
    message = f"^Stack/Cluster: {feature} on a Slurm cluster, which cannot have it; leave it out, or orchestrate the cluster by EKS"
    with pytest.raises(ValueError, match=message):
        HyperPodCluster(stack, "Cluster", **given)


def test_fails_on_labels_and_taints_in_a_slurm_cluster(stack: Stack) -> None:
    with pytest.raises(ValueError, match="kubernetes_config on instance group 'workers' of a Slurm cluster"):
        HyperPodCluster(stack, "Cluster", instance_groups=[replace(WORKERS, kubernetes_config=TAINTS)])


def test_fails_on_taints_beside_deep_health_checks() -> None:
    with pytest.raises(ValueError, match="'workers' has deep health checks and custom taints; leave the taints out"):
        replace(WORKERS, kubernetes_config=TAINTS, deep_health_checks=(DeepHealthCheck.INSTANCE_STRESS,))


def taints(count: int) -> Sequence[KubernetesTaint]:
    return [KubernetesTaint(key=f"k{number}", effect=KubernetesTaintEffect.NO_SCHEDULE) for number in range(count)]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"labels": {f"k{number}": "v" for number in range(51)}}, "labels has 51 items; allowed: 0 to 50"),
        ({"labels": {"_k": "v"}}, "a label's key is '_k'; allowed: 1 to 317 letters"),
        ({"labels": {"k": "-v"}}, "labels is '-v'; allowed: 1 to 63 letters"),
        ({"taints": taints(51)}, "taints has 51 items; allowed: 0 to 50"),
    ],
)
def test_fails_beyond_the_limits_of_labels_and_taints(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^KubernetesConfig: {message}"):
        KubernetesConfig(**given)


def test_fifty_labels_and_taints_pass() -> None:
    made = KubernetesConfig(labels={f"k{number}": "v" for number in range(50)}, taints=taints(50))
    assert len(made.labels) == len(made.taints) == 50


@pytest.mark.parametrize(
    ("percentage", "message"),
    [(19, "tiered storage of 19 percent of the memory; write"), (101, "allowed: 0 to 100"), (-1, "allowed: 0 to 100")],
)
def test_fails_on_a_share_of_memory_beyond_the_guide(percentage: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TieredStorage(instance_memory_allocation_percentage=percentage)
