"""Partitions, QOS and accounts: what reaches the nodes, and what is refused before."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from aws_cdk import App, Stack

from hyperpod_constructs import (
    Account,
    ClusterInstanceType,
    HyperPodCluster,
    InstanceGroup,
    LifecycleMode,
    LifecycleScripts,
    Orchestrator,
    Partition,
    PreemptMode,
    Priority,
    Qos,
    QosFlag,
    SlurmNodeType,
)
from hyperpod_constructs.cluster import configuration
from hyperpod_constructs.node_software.software import NodeSoftware
from tests.conftest import only, synthesize

HEAD = InstanceGroup(name="head", node_type=SlurmNodeType.CONTROLLER, instance_type=ClusterInstanceType.M5_XLARGE, count=1)
WORKERS = InstanceGroup(name="workers", instance_type=ClusterInstanceType.M5_XLARGE, count=1)
MORE = replace(WORKERS, name="more", partition="other")
URGENT = Qos(name="urgent", priority=100, preempt=["normal"])
FULL = Orchestrator.slurm(
    partitions=[Partition(name="shared", max_time_minutes=90, allow_qos=["urgent"], allow_accounts=["research", "hyperpod"])],
    qos=[
        URGENT,
        Qos(
            name="batch",
            preempt_mode=PreemptMode.CANCEL,
            grace_time_seconds=90,
            preempt_exempt_time_seconds=86_400,
            max_wall_minutes=14 * 24 * 60,
            grp_tres={"node": 8, "gres/gpu": 64},
            usage_factor=0.5,
            flags=[QosFlag.NO_RESERVE, QosFlag.DENY_ON_LIMIT],
        ),
    ],
    accounts=[Account(name="research", users=["alice", "alice"], fair_share=40, qos=["urgent"])],
)


def document(orchestrator: Orchestrator) -> dict[str, Any]:
    return configuration.render([HEAD, WORKERS], NodeSoftware(), "Automatic", (), orchestrator.scheduling)


def test_values_are_as_sacctmgr_shows_them() -> None:
    found = document(FULL)["scheduling"]
    batch = {key: text for key, text in found["qos"][1]["settings"].items() if text}
    assert batch == {
        "Priority": "0",
        "PreemptMode": "cancel",
        "PreemptExemptTime": "1-00:00:00",
        "GraceTime": "00:01:30",
        "MaxWall": "14-00:00:00",
        "GrpTRES": "gres/gpu=64,node=8",
        "UsageFactor": "0.500000",
        "Flags": "DenyOnLimit,NoReserve",
    }
    account = found["accounts"][0]
    assert (account["parent"], account["users"]) == ("root", ["alice"])
    assert account["settings"]["DefaultQOS"] == "urgent", "a job without --qos would ask for normal, which its account may not"
    assert found["partitions"][0]["settings"] == {
        "PriorityTier": "1",
        "PriorityJobFactor": "1",
        "MaxTime": "90",
        "AllowAccounts": "research,hyperpod",
        "AllowQos": "urgent",
    }


def test_slurm_enforces_and_preempts_only_what_is_asked_for() -> None:
    lines = document(FULL)["scheduling"]["slurm_conf"]
    assert lines["PreemptType"] == "preempt/qos"
    assert lines["PreemptParameters"] == "send_user_signal"
    assert lines["AccountingStorageEnforce"] == "associations,limits,qos"
    assert lines["AccountingStorageTRES"] == "gres/gpu"
    assert not {"SchedulerParameters", "TopologyPlugin", "TopologyParam"} & {*lines}
    assert document(Orchestrator.slurm(partitions=[Partition(name="shared")]))["scheduling"]["slurm_conf"] == {}
    only = document(Orchestrator.slurm(priority=Priority(weight_job_size=5)))["scheduling"]["slurm_conf"]
    assert (only["PriorityWeightJobSize"], only["PriorityMaxAge"]) == ("5", "7-00:00:00")
    assert "AccountingStorageEnforce" not in only
    assert "scheduling" not in document(Orchestrator.slurm())


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Qos(name="Urgent"), r"name is 'Urgent'; allowed: 1 to 32 lowercase"),
        (lambda: Qos(name="a\nPreemptMode=OFF"), r"allowed: 1 to 32 lowercase"),
        (lambda: Qos(name="a", preempt=["b c"]), r"preempt is 'b c'"),
        (lambda: Qos(name="a", priority=-1), r"priority is -1; allowed: 0 to 4294967293; write priority=0"),
        (lambda: Qos(name="a", grp_tres={"gpu": 8}), r"a key of grp_tres is 'gpu'; allowed: cpu, node, or gres/"),
        (lambda: Qos(name="a", grp_tres={"node": -1}), r"grp_tres is -1; allowed: 0 to"),
        (lambda: Qos(name="a", usage_factor=float("nan")), r"usage_factor is nan"),
        (lambda: Account(name="root"), r"Slurm's account above all others"),
        (lambda: Account(name="a", users=["x;reboot"]), r"users is 'x;reboot'; allowed: an account of Linux"),
        (lambda: Account(name="a", qos=["b"], default_qos="c"), r"default_qos is 'c', which is not in its qos, b"),
        (lambda: Account(name="a", fair_share=0), r"fair_share is 0; allowed: 1 to"),
        (lambda: Partition(name="dev"), r"named 'dev', a name that the service makes of all workers; choose another"),
        (lambda: Partition(name="DEFAULT"), r"Slurm takes for a word of its own"),
        (lambda: Partition(name="a Nodes=ALL"), r"allowed: 1 to 32 letters"),
        (lambda: Partition(name="a", max_time_minutes=5, default_time_minutes=6), r"write default_time_minutes=5"),
        (lambda: Priority(weight_qos=2**31), r"weight_qos is 2147483648; allowed: 0 to 2147483647"),
        (lambda: Orchestrator.slurm(qos=[URGENT, URGENT]), r"two QOS are named 'urgent'; rename one"),
        (lambda: Orchestrator.slurm(qos=[Qos(name="a", preempt=["b"])]), r"'b', which is not among a, normal; define it too"),
        (
            lambda: Orchestrator.slurm(qos=[URGENT, Qos(name="normal", preempt=["urgent"])]),
            r"the QOS urgent preempts normal preempts urgent, so a job could preempt itself",
        ),
        (lambda: Orchestrator.slurm(qos=[Qos(name="a", preempt=["a"])]), r"the QOS a preempts a"),
        (
            lambda: Orchestrator.slurm(accounts=[Account(name="a", parent="b"), Account(name="b", parent="a")]),
            r"the account a is below b is below a",
        ),
        (
            lambda: Orchestrator.slurm(accounts=[Account(name="a", parent="b")]),
            r"names the account 'b', which is not among a, root",
        ),
        (lambda: Orchestrator.slurm(accounts=[Account(name="a", default_qos="x")]), r"names the QOS 'x'"),
        (lambda: Orchestrator.slurm(partitions=[Partition(name="a", qos="x")]), r"Partition 'a' names the QOS 'x'"),
        (lambda: Orchestrator.slurm(partitions=[Partition(name="a", allow_accounts=["x"])]), r"names the account 'x'"),
    ],
)
def test_fails_where_it_is_written(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def cluster(orchestrator: Orchestrator, **changes: Any) -> Stack:
    stack = Stack(App(), "Stack")
    HyperPodCluster(stack, "Cluster", **{"orchestrator": orchestrator, "instance_groups": [HEAD, WORKERS, MORE], **changes})
    return stack


def test_the_settings_are_in_the_configuration_of_the_scripts() -> None:
    properties = only(cluster(FULL), "Custom::HyperPodScriptsUpload")["Properties"]
    assert json.loads(properties["Configuration"])["scheduling"] == FULL.scheduling.render()


@pytest.mark.parametrize(
    "changes",
    [
        {"lifecycle_scripts": LifecycleScripts.none()},
        {"instance_groups": [replace(HEAD, lifecycle_mode=LifecycleMode.NONE)]},
    ],
)
def test_fails_without_the_scripts_that_write_them(changes: dict[str, Any]) -> None:
    message = r"has partitions, qos, accounts, which only this library's scripts write on the controller"
    with pytest.raises(ValueError, match=message):
        cluster(FULL, **changes)
    cluster(Orchestrator.slurm(), **changes)


@pytest.mark.parametrize(
    ("partition", "message"),
    [
        (Partition(name="workers"), r"'workers' has the name of the partition that the service makes of group 'workers'"),
        (Partition(name="other"), r"'other' has the name of the partition that the service makes of group 'more'"),
        (Partition(name="a", groups=["head"]), r"names the group 'head'; groups of workers are workers, more"),
        (Partition(name="a", groups=["nowhere"]), r"names the group 'nowhere'"),
    ],
)
def test_fails_for_a_partition_beside_the_groups(partition: Partition, message: str) -> None:
    stack = cluster(Orchestrator.slurm(partitions=[partition]))
    with pytest.raises(RuntimeError, match=rf"{message}[\s\S]*hyperpod::HP-SLM-011"):
        synthesize(stack)
