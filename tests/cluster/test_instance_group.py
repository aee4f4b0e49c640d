from __future__ import annotations

from dataclasses import FrozenInstanceError, replace
from typing import Any

import pytest
from aws_cdk import CfnParameter, Stack
from aws_cdk import aws_kms as kms

from hyperpod_constructs import (
    ClusterInstanceType,
    DeepHealthCheck,
    EbsVolume,
    InstanceGroup,
    LustreMount,
    LustreStorage,
    OpenZfsMount,
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
    )
    rendered = render(stack, group)
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
