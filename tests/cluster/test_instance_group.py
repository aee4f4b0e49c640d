from __future__ import annotations

from dataclasses import FrozenInstanceError, replace
from typing import Any

import pytest
from aws_cdk import CfnParameter, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms

from hyperpod_constructs import (
    AutoPatchConfig,
    CapacityRequirements,
    CapacitySizeConfig,
    ClusterInstanceType,
    DeepHealthCheck,
    DeploymentConfiguration,
    EbsVolume,
    InstanceGroup,
    InterfaceType,
    LustreMount,
    LustreStorage,
    NetworkInterface,
    OpenZfsMount,
    OverrideVpcConfig,
    PatchingStrategy,
    RollingUpdatePolicy,
    ScheduledUpdateConfig,
    SlurmNodeType,
)

P5 = ClusterInstanceType.P5_48XLARGE
WORKERS = InstanceGroup(name="workers", instance_type=P5, count=4)
LUSTRE = LustreMount(
    file_system=LustreStorage.from_attributes(file_system_id="fs-11111111", mount_name="m", dns_name="fs-11111111.fsx.example")
)


def render(stack: Stack, group: InstanceGroup) -> Any:
    return stack.resolve(group.render(role_arn="role", scripts=None))


def test_the_least_that_a_group_says(stack: Stack) -> None:
    assert render(stack, WORKERS) == {
        "instanceGroupName": "workers",
        "instanceType": "ml.p5.48xlarge",
        "instanceCount": 4,
        "executionRole": "role",
        "slurmConfig": {"nodeType": "Compute", "partitionNames": ["workers"]},
    }


def test_everything_that_a_group_can_say(stack: Stack) -> None:
    key = kms.Key.from_key_arn(stack, "Key", "arn:aws:kms:us-west-2:123456789012:key/1")
    group = replace(
        WORKERS,
        min_count=2,
        partition="gpu",
        threads_per_core=1,
        ebs_volumes=(EbsVolume(size_gb=500, kms_key=key), EbsVolume(root=True, kms_key=key)),
        file_systems=(LUSTRE, OpenZfsMount(dns_name="fs-22222222.fsx.example")),
        training_plan_arn="arn:aws:sagemaker:us-west-2:123456789012:training-plan/plan",
        deep_health_checks=(DeepHealthCheck.INSTANCE_STRESS, DeepHealthCheck.INSTANCE_CONNECTIVITY),
    )
    rendered = render(stack, group)
    assert rendered["minInstanceCount"] == 2
    assert rendered["threadsPerCore"] == 1
    assert rendered["slurmConfig"]["partitionNames"] == ["gpu"]
    assert rendered["instanceStorageConfigs"] == [
        {"ebsVolumeConfig": {"volumeSizeInGb": 500, "volumeKmsKeyId": key.key_arn}},
        {"ebsVolumeConfig": {"rootVolume": True, "volumeKmsKeyId": key.key_arn}},
        {"fsxLustreConfig": {"dnsName": "fs-11111111.fsx.example", "mountName": "m", "mountPath": "/fsx"}},
        {"fsxOpenZfsConfig": {"dnsName": "fs-22222222.fsx.example", "mountPath": "/home"}},
    ]
    assert rendered["onStartDeepHealthChecks"] == ["InstanceStress", "InstanceConnectivity"]
    assert rendered["trainingPlanArn"].endswith("training-plan/plan")


def test_a_network_and_interfaces_of_its_own(stack: Stack) -> None:
    subnet = ec2.Subnet.from_subnet_id(stack, "Subnet", "subnet-1")
    security_group = ec2.SecurityGroup.from_security_group_id(stack, "Group", "sg-1")
    group = replace(
        WORKERS,
        override_vpc_config=OverrideVpcConfig(subnets=[subnet], security_groups=[security_group]),
        network_interface=NetworkInterface(interface_type=InterfaceType.EFA_ONLY),
    )
    rendered = render(stack, group)
    assert rendered["overrideVpcConfig"] == {"subnets": ["subnet-1"], "securityGroupIds": ["sg-1"]}
    assert rendered["networkInterface"] == {"interfaceType": "efa-only"}


@pytest.mark.parametrize(
    ("capacity", "expected"), [(CapacityRequirements.SPOT, {"spot": {}}), (CapacityRequirements.ON_DEMAND, {"onDemand": {}})]
)
def test_the_kind_of_capacity(stack: Stack, capacity: CapacityRequirements, expected: dict[str, Any]) -> None:
    assert render(stack, replace(WORKERS, capacity_requirements=capacity))["capacityRequirements"] == expected


def test_an_image_and_its_updates(stack: Stack) -> None:
    alarm = cloudwatch.Alarm.from_alarm_arn(stack, "Alarm", "arn:aws:cloudwatch:us-west-2:123456789012:alarm:errors")
    deployment = DeploymentConfiguration(
        rolling_update_policy=RollingUpdatePolicy(
            maximum_batch_size=CapacitySizeConfig.capacity_percentage(25),
            rollback_maximum_batch_size=CapacitySizeConfig.instance_count(2),
        ),
        wait_interval_in_seconds=300,
        auto_rollback_configuration=[alarm],
    )
    group = replace(
        WORKERS,
        image_id="default",
        image_release_version="1.2.3",
        auto_patch_config=AutoPatchConfig(patching_strategy=PatchingStrategy.WHEN_IDLE, deployment_config=deployment),
        scheduled_update_config=ScheduledUpdateConfig(schedule_expression="cron(0 3 ? * SUN *)", deployment_config=deployment),
    )
    rendered = render(stack, group)
    course = {
        "rollingUpdatePolicy": {
            "maximumBatchSize": {"type": "CAPACITY_PERCENTAGE", "value": 25},
            "rollbackMaximumBatchSize": {"type": "INSTANCE_COUNT", "value": 2},
        },
        "waitIntervalInSeconds": 300,
        "autoRollbackConfiguration": [{"alarmName": "errors"}],
    }
    assert (rendered["imageId"], rendered["imageReleaseVersion"]) == ("default", "1.2.3")
    assert rendered["autoPatchConfig"] == {"patchingStrategy": "WhenIdle", "deploymentConfig": course}
    assert rendered["scheduledUpdateConfig"] == {"scheduleExpression": "cron(0 3 ? * SUN *)", "deploymentConfig": course}
    assert [one.alarm_ref.alarm_name for one in group.rollback_alarms] == ["errors", "errors"]
    assert WORKERS.rollback_alarms == []


@pytest.mark.parametrize("expression", ["cron(0 3 1 * SUN *)", "cron(0 3 ? * ? *)"])
def test_fails_on_a_schedule_with_both_kinds_of_day_or_none(expression: str) -> None:
    with pytest.raises(ValueError, match=r"needs either a day of the month or a day of the week, with \? for the other; write "):
        ScheduledUpdateConfig(schedule_expression=expression)


def test_fails_on_a_batch_of_more_than_all_nodes() -> None:
    with pytest.raises(ValueError, match="a batch of 150 % of the nodes; write 1 to 100, or a number of nodes as INSTANCE_COUNT"):
        CapacitySizeConfig.capacity_percentage(150)
    assert CapacitySizeConfig.instance_count(150).value == 150


def test_a_list_of_types_keeps_its_order(stack: Stack) -> None:
    rendered = render(stack, replace(WORKERS, instance_type=(ClusterInstanceType.P5EN_48XLARGE, P5)))
    assert rendered["instanceRequirements"] == {"instanceTypes": ["ml.p5en.48xlarge", "ml.p5.48xlarge"]}
    assert "instanceType" not in rendered


@pytest.mark.parametrize("node_type", [SlurmNodeType.CONTROLLER, SlurmNodeType.LOGIN])
def test_only_compute_nodes_have_a_partition(stack: Stack, node_type: SlurmNodeType) -> None:
    assert render(stack, replace(WORKERS, node_type=node_type, count=1))["slurmConfig"] == {"nodeType": node_type.value}


def test_takes_tokens(stack: Stack) -> None:
    text = CfnParameter(stack, "Text").value_as_string
    number = CfnParameter(stack, "Number", type="Number").value_as_number
    group = InstanceGroup(
        name=text,
        instance_type=ClusterInstanceType.of(text),
        count=number,  # type: ignore[arg-type]
        min_count=number,  # type: ignore[arg-type]
        partition=text,
        threads_per_core=number,  # type: ignore[arg-type]
        ebs_volumes=(EbsVolume(size_gb=number),),  # type: ignore[arg-type]
        training_plan_arn=text,
        deep_health_checks=(DeepHealthCheck.INSTANCE_CONNECTIVITY,),
        image_id=text,
        image_release_version=text,
        scheduled_update_config=ScheduledUpdateConfig(
            schedule_expression=text,
            deployment_config=DeploymentConfiguration(
                rolling_update_policy=RollingUpdatePolicy(
                    maximum_batch_size=CapacitySizeConfig.capacity_percentage(number),  # type: ignore[arg-type]
                ),
                wait_interval_in_seconds=number,  # type: ignore[arg-type]
            ),
        ),
    )
    rendered = render(stack, group)
    assert rendered["imageId"] == rendered["imageReleaseVersion"] == rendered["scheduledUpdateConfig"]["scheduleExpression"]
    assert rendered["scheduledUpdateConfig"]["deploymentConfig"]["waitIntervalInSeconds"] == {"Ref": "Number"}
    assert rendered["instanceCount"] == rendered["minInstanceCount"] == {"Ref": "Number"}
    assert rendered["instanceType"] == rendered["instanceGroupName"] == {"Ref": "Text"}


def test_a_group_is_a_value() -> None:
    assert replace(WORKERS, count=4) == WORKERS
    assert replace(WORKERS, count=5) != WORKERS
    with pytest.raises(FrozenInstanceError):
        WORKERS.count = 5  # type: ignore[misc]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"node_type": SlurmNodeType.CONTROLLER},
            "count 4 on the Controller group; write a count of 1: Slurm configured through the API has one controller",
        ),
        ({"min_count": 5}, "a minimum of 5 nodes is above the count of 4; raise the count or lower the minimum"),
        ({"instance_type": ()}, "instance_type lists 0 types; the service takes 1 to 20"),
        ({"instance_type": (P5, P5)}, "ml.p5.48xlarge is listed more than once; name each instance type once"),
        (
            {"partition": "gpu", "node_type": SlurmNodeType.LOGIN},
            "partition 'gpu' on a Login group; give each Compute group a partition",
        ),
        ({"ebs_volumes": (EbsVolume(size_gb=1), EbsVolume(size_gb=2))}, "2 secondary volumes given; the service takes one"),
        ({"file_systems": (LUSTRE, LUSTRE)}, "2 Lustre file systems given; the service takes one per group"),
        (
            {"file_systems": (LUSTRE, OpenZfsMount(dns_name="fs-22222222.fsx.example", mount_path="/fsx"))},
            "two file systems at '/fsx'",
        ),
        (
            {"instance_type": ClusterInstanceType.M5_XLARGE, "deep_health_checks": (DeepHealthCheck.INSTANCE_STRESS,)},
            "deep health checks on ml.m5.xlarge, which has no accelerator to check",
        ),
        (
            {
                "capacity_requirements": CapacityRequirements.SPOT,
                "training_plan_arn": "arn:aws:sagemaker:us-west-2:123456789012:training-plan/plan",
            },
            "instance group 'workers' asks for both spot capacity and a training plan; keep one of OnDemand, Spot and",
        ),
        (
            {
                "instance_type": ClusterInstanceType.M5_XLARGE,
                "network_interface": NetworkInterface(interface_type=InterfaceType.EFA),
            },
            "network interface 'efa' on ml.m5.xlarge, which has no EFA; leave the network interface out, or take a type with EFA",
        ),
        (
            {"count": 1, "deep_health_checks": (DeepHealthCheck.INSTANCE_CONNECTIVITY,)},
            "InstanceConnectivity needs two nodes or more, found count 1",
        ),
    ],
)
def test_fails_on_a_mistake_within_one_group(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=r"^InstanceGroup 'workers': ") as caught:
        replace(WORKERS, **changes)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({}, "a secondary volume needs a size, 1 to 16384 GB"),
        ({"root": True}, "the root volume takes a KMS key and no size"),
        ({"root": True, "size_gb": 200}, "EbsVolume(root=True, size_gb=200, kms_key=None)"),
    ],
)
def test_fails_on_a_volume_that_is_neither_secondary_nor_encrypted_root(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match="EbsVolume") as caught:
        EbsVolume(**parameters)
    assert message in str(caught.value)
