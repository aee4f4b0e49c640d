"""Clusters with everything set."""

from __future__ import annotations

from aws_cdk import App, Stack, Tags
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms
from aws_cdk import aws_secretsmanager as secretsmanager

from hyperpod_constructs import (
    AccountingDatabase,
    AutoPatchConfig,
    AutoScaling,
    CapacityRequirements,
    CapacitySizeConfig,
    ClusterInstanceType,
    ClusterNetwork,
    DeepHealthCheck,
    DeploymentConfiguration,
    EbsVolume,
    EnvironmentConfig,
    FSxLustreConfig,
    HyperPodCluster,
    InstanceGroup,
    InterfaceType,
    KubernetesConfig,
    KubernetesTaint,
    KubernetesTaintEffect,
    LifecycleMode,
    LustreMount,
    LustreStorage,
    NetworkInterface,
    OpenZfsMount,
    Orchestrator,
    OverrideVpcConfig,
    PatchingStrategy,
    RestrictedInstanceGroup,
    RollingUpdatePolicy,
    ScheduledUpdateConfig,
    SharedEnvironmentConfig,
    SlurmConfigStrategy,
    SlurmNodeType,
    TieredStorage,
)
from tests.cluster.test_on_eks import ControlPlane

CONTROLLER = InstanceGroup(
    name="controller", node_type=SlurmNodeType.CONTROLLER, instance_type=ClusterInstanceType.M5_XLARGE, count=1
)
P5 = ClusterInstanceType.P5_48XLARGE


def build(app: App) -> None:
    """Clusters: with continuous provisioning and all that a group can say; with a strategy, which excludes it; and on EKS."""
    stack = Stack(app, "Continuous")
    Tags.of(stack).add("team", "research")
    ports = [ec2.Port.tcp(2049), ec2.Port.tcp(3306)]
    network = ClusterNetwork(stack, "Network", availability_zone_id="usw2-az4", egress_ports=ports)
    arn = "arn:aws:secretsmanager:us-west-2:123456789012:secret:accounting-AbCdEf"
    database = AccountingDatabase(
        endpoint="db.example.com",
        secret=secretsmanager.Secret.from_secret_complete_arn(stack, "Secret", arn),
        name="slurm_acct_db",
    )
    cluster = HyperPodCluster(
        stack,
        "Cluster",
        network=network,
        cluster_name="training",
        orchestrator=Orchestrator.slurm(accounting_database=database),
        instance_groups=[CONTROLLER],
    )
    for group in (_full(stack, network), _flexible(), _elsewhere(stack)):
        cluster.add_instance_group(group)
    HyperPodCluster(
        Stack(app, "AtOnce"),
        "Cluster",
        orchestrator=Orchestrator.slurm(config_strategy=SlurmConfigStrategy.MERGE),
        node_provisioning_mode=None,
        instance_groups=[CONTROLLER],
    )
    _on_eks(app)


def _on_eks(app: App) -> None:
    """A cluster on EKS with all that its groups, restricted ones too, can say there alone."""
    stack = Stack(app, "Kubernetes")
    files = FSxLustreConfig(size_in_gib=1200, per_unit_storage_throughput=250)
    key = kms.Key(stack, "Key")
    subnet = ec2.Subnet.from_subnet_id(stack, "OtherSubnet", "subnet-1")
    security_group = ec2.SecurityGroup.from_security_group_id(stack, "OtherGroup", "sg-1")
    taint = KubernetesTaint(key="example.com/pool", value="a", effect=KubernetesTaintEffect.NO_SCHEDULE)
    HyperPodCluster(
        stack,
        "Cluster",
        network=ClusterNetwork(stack, "Network", availability_zone_id="usw2-az4"),
        orchestrator=Orchestrator.eks(ControlPlane()),
        instance_groups=[
            InstanceGroup(
                name="workers",
                instance_type=P5,
                count=0,
                kubernetes_config=KubernetesConfig(labels={"team": "research"}, taints=[taint]),
                capacity_requirements=CapacityRequirements.SPOT,
                image_release_version="1.2.3",
            )
        ],
        restricted_instance_groups=[
            RestrictedInstanceGroup(
                name="nova",
                instance_type=P5,
                count=2,
                environment_config=EnvironmentConfig(fsx_lustre_config=files),
                override_vpc_config=OverrideVpcConfig(subnets=[subnet], security_groups=[security_group]),
                threads_per_core=1,
                ebs_volumes=(EbsVolume(size_gb=500, kms_key=key), EbsVolume(root=True, kms_key=key)),
                training_plan_arn="arn:aws:sagemaker:us-west-2:123456789012:training-plan/plan",
                deep_health_checks=(DeepHealthCheck.INSTANCE_STRESS,),
            )
        ],
        shared_environment_config=SharedEnvironmentConfig(fsx_lustre_config=files),
        tiered_storage=TieredStorage(instance_memory_allocation_percentage=40),
        auto_scaling=AutoScaling(),
    )


def _full(stack: Stack, network: ClusterNetwork) -> InstanceGroup:
    key = kms.Key(stack, "Key")
    lustre = LustreStorage(stack, "Lustre", network=network)
    deployment = DeploymentConfiguration(
        rolling_update_policy=RollingUpdatePolicy(
            maximum_batch_size=CapacitySizeConfig.capacity_percentage(25),
            rollback_maximum_batch_size=CapacitySizeConfig.instance_count(2),
        ),
        wait_interval_in_seconds=300,
        auto_rollback_configuration=[
            cloudwatch.Alarm.from_alarm_arn(stack, "Alarm", "arn:aws:cloudwatch:us-west-2:123456789012:alarm:errors")
        ],
    )
    return InstanceGroup(
        name="workers",
        instance_type=P5,
        count=4,
        min_count=2,
        threads_per_core=1,
        ebs_volumes=(EbsVolume(size_gb=500, kms_key=key), EbsVolume(root=True, kms_key=key)),
        file_systems=(
            LustreMount(file_system=lustre),
            OpenZfsMount(dns_name="fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com"),
        ),
        training_plan_arn="arn:aws:sagemaker:us-west-2:123456789012:training-plan/plan",
        deep_health_checks=(DeepHealthCheck.INSTANCE_STRESS,),
        network_interface=NetworkInterface(interface_type=InterfaceType.EFA_ONLY),
        image_id="default",
        auto_patch_config=AutoPatchConfig(patching_strategy=PatchingStrategy.WHEN_IDLE, deployment_config=deployment),
        scheduled_update_config=ScheduledUpdateConfig(schedule_expression="cron(0 3 ? * SUN *)", deployment_config=deployment),
    )


def _flexible() -> InstanceGroup:
    return InstanceGroup(
        name="flexible",
        instance_type=(P5, ClusterInstanceType.P5EN_48XLARGE),
        count=1,
        lifecycle_mode=LifecycleMode.ON_CREATE,
        capacity_requirements=CapacityRequirements.ON_DEMAND,
    )


def _elsewhere(stack: Stack) -> InstanceGroup:
    subnet = ec2.Subnet.from_subnet_id(stack, "OtherSubnet", "subnet-1")
    security_group = ec2.SecurityGroup.from_security_group_id(stack, "OtherGroup", "sg-1")
    return InstanceGroup(
        name="elsewhere",
        instance_type=ClusterInstanceType.M5_XLARGE,
        count=1,
        override_vpc_config=OverrideVpcConfig(subnets=[subnet], security_groups=[security_group]),
    )
