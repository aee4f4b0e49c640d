"""The Slurm cluster in one construct: its short form, and groups of workers."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from aws_cdk import CfnParameter, Stack
from aws_cdk import aws_secretsmanager as secretsmanager

from hyperpod_constructs import (
    AccountingDatabase,
    ClusterInstanceType,
    ClusterNetwork,
    DeepHealthCheck,
    LustreStorage,
    NodeRecovery,
    OpenZfsStorage,
    SlurmCluster,
    WorkerGroup,
)
from tests.conftest import only, synthesize

P5, TRN1 = ClusterInstanceType.P5_48XLARGE, ClusterInstanceType.TRN1_32XLARGE
M5 = ClusterInstanceType.M5_XLARGE
PLAN = "arn:aws:sagemaker:us-west-2:123456789012:training-plan/plan"
HOMES = "fs-01234567.fsx.us-west-2.amazonaws.com"
ONE_GROUP: dict[str, Any] = {"worker_type": TRN1, "worker_count": 4}
GPUS = WorkerGroup(name="gpus", instance_type=P5, count=2)


@pytest.fixture
def make(stack: Stack, network: ClusterNetwork, lustre: LustreStorage) -> Any:
    return lambda **given: SlurmCluster(stack, "Slurm", network=network, file_system=lustre, **given)


def cluster_of(stack: Stack) -> dict[str, Any]:
    found: dict[str, Any] = only(stack, "AWS::SageMaker::Cluster")["Properties"]
    return found


def groups_of(stack: Stack) -> dict[str, dict[str, Any]]:
    return {group["InstanceGroupName"]: group for group in cluster_of(stack)["InstanceGroups"]}


def everything_set(make: Any, stack: Stack) -> SlurmCluster:
    arn = "arn:aws:secretsmanager:us-west-2:123456789012:secret:slurm-AbCdEf"
    secret = secretsmanager.Secret.from_secret_complete_arn(stack, "Secret", arn)
    group = WorkerGroup(
        name="gpus",
        instance_type=(P5, ClusterInstanceType.P5EN_48XLARGE),
        count=2,
        partition="large",
        threads_per_core=2,
        training_plan_arn=PLAN,
        deep_health_checks=(DeepHealthCheck.INSTANCE_STRESS, DeepHealthCheck.INSTANCE_CONNECTIVITY),
    )
    made: SlurmCluster = make(
        worker_groups=[group, WorkerGroup(name="neurons", instance_type=TRN1, count=1)],
        controller_group_name="head",
        login_type=M5,
        login_group_name="front",
        home_file_system=OpenZfsStorage.from_attributes(file_system_id="fs-01234567", dns_name=HOMES),
        threads_per_core=1,
        node_recovery=NodeRecovery.NONE,
        accounting_database=AccountingDatabase(endpoint="db.example.com", secret=secret),
        min_running={"gpus": 1},
    )
    return made


def test_the_short_form_is_one_group_of_workers(make: Any, stack: Stack) -> None:
    make(**ONE_GROUP)
    found = groups_of(stack)
    assert list(found) == ["controller", "workers"]
    assert found["workers"]["SlurmConfig"] == {"NodeType": "Compute", "PartitionNames": ["workers"]}
    assert not any({"ThreadsPerCore", "OnStartDeepHealthChecks", "TrainingPlanArn"} & set(group) for group in found.values())
    assert cluster_of(stack)["NodeRecovery"] == "Automatic"
    assert cluster_of(stack)["Orchestrator"] == {"Slurm": {}}


def test_a_group_of_workers_is_the_short_form_written_out(make: Any, stack: Stack) -> None:
    make(worker_groups=[WorkerGroup(name="workers", instance_type=TRN1, count=4)])
    one = synthesize(stack)
    other_stack = Stack(type(stack.node.root)(), "Stack")  # type: ignore[arg-type]
    network = ClusterNetwork(other_stack, "Network", availability_zone_id="usw2-az4")
    SlurmCluster(
        other_stack, "Slurm", network=network, file_system=LustreStorage(other_stack, "Lustre", network=network), **ONE_GROUP
    )
    assert one == synthesize(other_stack)


def test_every_parameter_reaches_the_template(make: Any, stack: Stack) -> None:
    everything_set(make, stack)
    found = groups_of(stack)
    assert list(found) == ["head", "front", "gpus", "neurons"]
    assert {name: group["ThreadsPerCore"] for name, group in found.items()} == {"head": 1, "front": 1, "gpus": 2, "neurons": 1}
    homes = {"FsxOpenZfsConfig": {"DnsName": HOMES, "MountPath": "/home"}}
    assert all(homes in group["InstanceStorageConfigs"] for group in found.values())
    gpus = found["gpus"]
    assert gpus["InstanceRequirements"] == {"InstanceTypes": ["ml.p5.48xlarge", "ml.p5en.48xlarge"]}
    assert gpus["SlurmConfig"]["PartitionNames"] == ["large"]
    assert (gpus["InstanceCount"], gpus["TrainingPlanArn"]) == (2, PLAN)
    assert gpus["OnStartDeepHealthChecks"] == ["InstanceStress", "InstanceConnectivity"]
    assert cluster_of(stack)["NodeRecovery"] == "None"
    assert cluster_of(stack)["Orchestrator"]["Slurm"]["AccountingDatabase"]["Endpoint"] == "db.example.com"
    outputs = synthesize(stack)["Outputs"]
    command = next(output["Value"]["Fn::Join"][1] for id, output in outputs.items() if "ConnectCommand" in id)
    assert "InstanceGroupName=='head'" in "".join(part for part in command if isinstance(part, str))
    gated = only(stack, "Custom::HyperPodReadinessGate")["Properties"]["Groups"]
    assert {group["Name"]: group["Minimum"] for group in gated} == {"head": 1, "front": 1, "gpus": 1, "neurons": 0}


def test_every_group_has_the_volume_and_the_file_systems(make: Any, stack: Stack) -> None:
    everything_set(make, stack)
    kinds = [[next(iter(entry)) for entry in group["InstanceStorageConfigs"]] for group in groups_of(stack).values()]
    assert kinds == [["EbsVolumeConfig", "FsxLustreConfig", "FsxOpenZfsConfig"]] * 4


def test_the_short_form_has_checks_and_threads_too(make: Any, stack: Stack) -> None:
    make(**ONE_GROUP, threads_per_core=1, deep_health_checks=[DeepHealthCheck.INSTANCE_STRESS], training_plan_arn=PLAN)
    found = groups_of(stack)
    assert {group["ThreadsPerCore"] for group in found.values()} == {1}
    assert found["workers"]["OnStartDeepHealthChecks"] == ["InstanceStress"]
    assert "OnStartDeepHealthChecks" not in found["controller"]
    assert found["workers"]["TrainingPlanArn"] == PLAN


def test_takes_tokens(make: Any, stack: Stack) -> None:
    text = CfnParameter(stack, "Text").value_as_string
    number: Any = CfnParameter(stack, "Number", type="Number").value_as_number
    group = WorkerGroup(
        name=text, instance_type=TRN1, count=number, partition=text, threads_per_core=number, training_plan_arn=text
    )
    make(worker_groups=[group], controller_group_name=text + "c")
    found = cluster_of(stack)["InstanceGroups"]
    assert found[1]["InstanceCount"] == found[1]["ThreadsPerCore"] == {"Ref": "Number"}
    assert found[1]["SlurmConfig"]["PartitionNames"] == [{"Ref": "Text"}]
    assert found[0]["InstanceGroupName"] == {"Fn::Join": ["", [{"Ref": "Text"}, "c"]]}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            ONE_GROUP,
            "worker_type and worker_count beside worker_groups; the groups are the workers then: write them as WorkerGroup(",
        ),
        ({"training_plan_arn": PLAN}, "training_plan_arn beside worker_groups"),
        ({"worker_count": 0}, "worker_count beside worker_groups"),
        ({"deep_health_checks": [DeepHealthCheck.INSTANCE_STRESS]}, "deep_health_checks beside worker_groups"),
    ],
)
def test_fails_for_groups_beside_the_parameters_of_one(make: Any, given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(f'Stack/Slurm: {message}')}"):
        make(worker_groups=[GPUS], **given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "Stack/Slurm: workers are worker_type with worker_count, or worker_groups; write worker_type="),
        ({"worker_type": P5}, "Stack/Slurm: worker_type alone; workers are"),
        ({"worker_count": 0}, "Stack/Slurm: worker_count alone; workers are"),
    ],
)
def test_fails_without_workers(make: Any, given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        make(**given)


@pytest.mark.parametrize("given", [{"worker_groups": [GPUS, GPUS]}, {"worker_groups": [GPUS], "controller_group_name": "gpus"}])
def test_fails_for_two_groups_of_one_name(make: Any, given: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="two instance groups are named 'gpus'"):
        make(**given)


def test_a_group_of_workers_checks_itself() -> None:
    with pytest.raises(ValueError, match="WorkerGroup 'gpus': count is -1; allowed: 0 to 6758; write count=0"):
        replace(GPUS, count=-1)
    with pytest.raises(ValueError, match=r"InstanceGroup 'gpus': deep health checks on ml\.m5\.xlarge, which has no accelerator"):
        replace(GPUS, instance_type=M5, deep_health_checks=(DeepHealthCheck.INSTANCE_STRESS,))
    with pytest.raises(ValueError, match="the group is named 'dev'"):
        replace(GPUS, name="dev")
