"""The policy of a cluster and the quotas of its teams."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from aws_cdk import App, CfnParameter, CfnResource, Stack, Tags
from aws_cdk import aws_sagemaker as sagemaker
from aws_cdk.assertions import Annotations, Match

from hyperpod_constructs import (
    AcceleratorPartition,
    ClusterInstanceType,
    ComputeQuota,
    ComputeQuotaResource,
    HyperPodCluster,
    InstanceGroup,
    PreemptTeamTasks,
    PriorityClass,
    ResourceSharingStrategy,
    SchedulerConfig,
    SlurmNodeType,
)
from hyperpod_constructs.facts.governance import COMPUTE_QUOTA, SCHEDULER_CONFIG
from tests.conftest import only, resources
from tests.eks.governed import ROLE, Governed

P5, G5 = ClusterInstanceType.P5_48XLARGE, ClusterInstanceType.G5_XLARGE
ARN = "arn:aws:sagemaker:us-west-2:123456789012:cluster/abcdefgh1234"


@pytest.fixture
def cluster(stack: Stack) -> Governed:
    return Governed(stack, workers=(P5.name, 8))


def nodes(count: int, /, **members: Any) -> list[ComputeQuotaResource]:
    return [ComputeQuotaResource(**{"instance_type": P5, "count": count, **members})]


def gpus(count: int) -> list[ComputeQuotaResource]:
    return [ComputeQuotaResource(instance_type=P5, accelerators=count)]


def quota(stack: Stack, cluster: Any, team: str = "research", **members: Any) -> ComputeQuota:
    return ComputeQuota(stack, team.title(), **{"cluster": cluster, "team": team, "resources": nodes(4), **members})


def policy(stack: Stack, cluster: Any, id: str = "Policy", **members: Any) -> SchedulerConfig:
    classes = [PriorityClass(name="high", weight=90), PriorityClass(name="low", weight=10)]
    return SchedulerConfig(stack, id, **{"cluster": cluster, "priority_classes": classes, **members})


def errors(stack: Stack) -> list[str]:
    return [str(found.entry.data) for found in Annotations.from_stack(stack).find_error("*", Match.any_value())]


def test_a_policy_has_classes_and_shares_fairly(stack: Stack, cluster: Governed) -> None:
    policy(stack, cluster, description="ours")
    assert only(stack, SCHEDULER_CONFIG)["Properties"] == {
        "Name": "scheduler",
        "ClusterArn": stack.resolve(cluster.cluster_arn),
        "Description": "ours",
        "SchedulerConfig": {
            "PriorityClasses": [{"Name": "high", "Weight": 90}, {"Name": "low", "Weight": 10}],
            "FairShare": "Enabled",
            "IdleResourceSharing": "Disabled",
        },
    }


def test_a_policy_can_serve_who_asks_first(stack: Stack, cluster: Governed) -> None:
    policy(stack, cluster, fair_share=False, idle_resource_sharing=True, priority_classes=[])
    config = only(stack, SCHEDULER_CONFIG)["Properties"]["SchedulerConfig"]
    assert config == {"PriorityClasses": [], "FairShare": "Disabled", "IdleResourceSharing": "Enabled"}


def test_fails_for_a_second_policy_of_one_cluster(stack: Stack, cluster: Governed) -> None:
    policy(stack, cluster)
    with pytest.raises(ValueError, match=r"Stack/Other: the cluster has a scheduling policy already \(Stack/Policy\)"):
        policy(stack, cluster, "Other")
    policy(stack, Governed(stack, "Second"), "Third")


def test_two_apps_may_each_govern_an_existing_cluster() -> None:
    for _ in range(2):
        policy(Stack(App(), "Stack"), HyperPodCluster.from_cluster_arn(ARN))


@pytest.mark.parametrize(
    ("classes", "text"),
    [
        ([("a", 1), ("a", 2)], "two priority classes are named 'a'"),
        ([(f"class-{number}", 1) for number in range(11)], "priority_classes has 11 items; allowed: 0 to 10"),
    ],
)
def test_fails_for_classes_that_the_service_refuses(
    stack: Stack, cluster: Governed, classes: list[tuple[str, int]], text: str
) -> None:
    with pytest.raises(ValueError, match=text):
        policy(stack, cluster, priority_classes=[PriorityClass(name=name, weight=weight) for name, weight in classes])


@pytest.mark.parametrize(
    ("name", "weight", "text"),
    [("High", 1, "lowercase letters"), ("x" * 41, 1, "1 to 40"), ("high", 101, "allowed: 0 to 100"), ("high", -1, "0 to 100")],
)
def test_fails_for_a_class_beyond_the_limits(name: str, weight: int, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        PriorityClass(name=name, weight=weight)


def test_a_class_has_a_value_for_jobs(stack: Stack, cluster: Governed) -> None:
    made = policy(stack, cluster)
    assert made.priority_class("high") == "high-priority"
    with pytest.raises(ValueError, match="has no priority class 'urgent'; it has 'high', 'low'"):
        made.priority_class("urgent")


@pytest.mark.parametrize("make", [policy, quota])
def test_fails_for_a_slurm_cluster(stack: Stack, make: Callable[..., Any]) -> None:
    group = InstanceGroup(name="controller", node_type=SlurmNodeType.CONTROLLER, instance_type=G5, count=1)
    with pytest.raises(ValueError, match="Slurm orchestrates this one; leave them out"):
        make(stack, HyperPodCluster(stack, "Slurm", instance_groups=[group]))


def test_a_quota_guarantees_shares_and_preempts(stack: Stack, cluster: Governed) -> None:
    quota(stack, cluster, borrow_limit=100, absolute_borrow_limits=gpus(2), fair_share_weight=7)
    found = only(stack, COMPUTE_QUOTA)["Properties"]
    assert found["Name"] == "research"
    assert found["ActivationState"] == "Enabled"
    assert found["ComputeQuotaTarget"] == {"TeamName": "research", "FairShareWeight": 7}
    assert found["ComputeQuotaConfig"] == {
        "ComputeQuotaResources": [{"InstanceType": "ml.p5.48xlarge", "Count": 4}],
        "ResourceSharingConfig": {
            "Strategy": "LendAndBorrow",
            "BorrowLimit": 100,
            "AbsoluteBorrowLimits": [{"InstanceType": "ml.p5.48xlarge", "Accelerators": 2}],
        },
        "PreemptTeamTasks": "LowerPriority",
    }
    assert "Tags" not in found


def test_a_quota_can_keep_to_itself(stack: Stack, cluster: Governed) -> None:
    wanted = [
        ComputeQuotaResource(instance_type=P5, accelerator_partition=AcceleratorPartition(type="mig-1g.10gb", count=7)),
        ComputeQuotaResource(instance_type=P5, vcpu=1.5, memory_in_gib=3),
    ]
    quota(
        stack,
        cluster,
        resources=wanted,
        strategy=ResourceSharingStrategy.DONT_LEND,
        preempt_team_tasks=PreemptTeamTasks.NEVER,
        enabled=False,
        name="other",
    )
    found = only(stack, COMPUTE_QUOTA)["Properties"]
    assert (found["Name"], found["ActivationState"]) == ("other", "Disabled")
    assert found["ComputeQuotaConfig"] == {
        "ComputeQuotaResources": [
            {"InstanceType": "ml.p5.48xlarge", "AcceleratorPartition": {"Type": "mig-1g.10gb", "Count": 7}},
            {"InstanceType": "ml.p5.48xlarge", "VCpu": 1.5, "MemoryInGiB": 3},
        ],
        "ResourceSharingConfig": {"Strategy": "DontLend"},
        "PreemptTeamTasks": "Never",
    }


def test_tags_of_the_app_reach_a_quota(stack: Stack, cluster: Governed) -> None:
    quota(stack, cluster)
    Tags.of(stack).add("owner", "me")
    assert only(stack, COMPUTE_QUOTA)["Properties"]["Tags"] == [{"Key": "owner", "Value": "me"}]


@pytest.mark.parametrize(
    ("members", "text"),
    [
        ({"team": "Research"}, "lowercase letters"),
        ({"team": "t" * 41}, "1 to 40"),
        ({"fair_share_weight": 101}, "allowed: 0 to 100"),
        ({"borrow_limit": 10_001}, "allowed: 0 to 10000"),
        ({"borrow_limit": 5, "strategy": ResourceSharingStrategy.LEND}, "borrows nothing"),
        ({"absolute_borrow_limits": gpus(1), "strategy": ResourceSharingStrategy.DONT_LEND}, "borrows nothing"),
        ({"resources": []}, "resources has 0 items; allowed: 1 to 15"),
        ({"resources": gpus(1) * 16}, "resources has 16 items; allowed: 1 to 15"),
    ],
)
def test_fails_for_a_quota_beyond_the_limits(stack: Stack, cluster: Governed, members: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        quota(stack, cluster, **members)


@pytest.mark.parametrize(
    ("members", "text"),
    [
        ({"count": None}, "has no amount"),
        ({"count": 1, "vcpu": 2}, "give count alone"),
        ({"count": -1}, "allowed: 0 to 10000000"),
        (
            {"count": None, "accelerator_partition": AcceleratorPartition(type="mig-1g.5gb", count=1)},
            "has no accelerator partition",
        ),
    ],
)
def test_fails_for_amounts_that_mean_nothing(members: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        nodes(1, **members)


def test_fails_for_a_second_quota_of_a_team(stack: Stack, cluster: Governed) -> None:
    quota(stack, cluster)
    with pytest.raises(ValueError, match=r"team 'research' has a quota on this cluster already \(Stack/Research\)"):
        ComputeQuota(stack, "Again", cluster=cluster, team="research", resources=nodes(1))


def test_quotas_await_the_policy_whatever_comes_first(stack: Stack, cluster: Governed) -> None:
    quota(stack, cluster, "first", resources=nodes(1))
    made = policy(stack, cluster)
    quota(stack, cluster, "second", resources=nodes(1))
    (logical_id,) = resources(stack, SCHEDULER_CONFIG)
    assert stack.get_logical_id(made.resource) == logical_id
    assert [found["DependsOn"] for found in resources(stack, COMPUTE_QUOTA).values()] == [[logical_id]] * 2


def test_a_policy_of_another_stack_is_not_awaited(stack: Stack, cluster: Governed) -> None:
    app: Any = stack.node.root
    policy(Stack(app, "Other"), HyperPodCluster.from_cluster_arn(ARN))
    quota(stack, HyperPodCluster.from_cluster_arn(ARN))
    assert "DependsOn" not in only(stack, COMPUTE_QUOTA)


def test_the_addon_is_awaited(stack: Stack, cluster: Governed) -> None:
    addon = CfnResource(stack, "Addon", type="AWS::EKS::Addon", properties={"ClusterName": "k", "AddonName": "x"})
    policy(stack, cluster, task_governance=addon)
    quota(stack, HyperPodCluster.from_cluster_arn(ARN), task_governance=addon)
    assert [only(stack, kind)["DependsOn"] for kind in (SCHEDULER_CONFIG, COMPUTE_QUOTA)] == [["Addon"], ["Addon"]]


def test_quotas_fill_the_cluster(stack: Stack, cluster: Governed) -> None:
    quota(stack, cluster, "one")
    quota(stack, cluster, "two", resources=[*nodes(3), *gpus(8)])
    assert errors(stack) == []


def test_fails_for_quotas_beyond_the_nodes(stack: Stack, cluster: Governed) -> None:
    quota(stack, cluster, "one")
    quota(stack, cluster, "two", resources=[*nodes(4), *gpus(1)])
    (error,) = errors(stack)
    assert "the quotas of ml.p5.48xlarge guarantee 65 accelerators (one 32, two 33); the cluster has 64" in error


def test_fails_for_a_type_that_the_cluster_lacks(stack: Stack, cluster: Governed) -> None:
    quota(stack, cluster, resources=[ComputeQuotaResource(instance_type=G5, count=1)])
    (error,) = errors(stack)
    assert (
        "the quota of team 'research' is for ml.g5.xlarge, which no instance group of the cluster has; it has ml.p5.48xlarge"
        in error
    )


def test_nodes_that_come_later_are_not_compared(stack: Stack, cluster: Governed) -> None:
    quota(stack, cluster, "one", resources=nodes(9), beyond_capacity=True)
    quota(stack, cluster, "two", resources=nodes(8))
    assert errors(stack) == []


def test_karpenter_adds_nodes_of_the_groups_types(stack: Stack) -> None:
    cluster = Governed(stack, workers=(P5.name, 0))
    cluster.resource.auto_scaling = sagemaker.CfnCluster.ClusterAutoScalingConfigProperty(mode="Enable")
    cluster.resource.cluster_role, cluster.resource.node_provisioning_mode = ROLE, "Continuous"
    cluster.resource.node_recovery = "Automatic"
    quota(stack, cluster, "one", resources=[*nodes(8), ComputeQuotaResource(instance_type=G5, count=1)])
    assert ["ml.g5.xlarge, which no instance group" in error for error in errors(stack)] == [True]


def test_what_is_known_only_at_deployment_is_not_judged(stack: Stack) -> None:
    number: Any = CfnParameter(stack, "Number", type="Number").value_as_number
    text = CfnParameter(stack, "Text").value_as_string
    quota(stack, Governed(stack, workers=(P5.name, number)), "one", resources=nodes(9))
    later = Governed(stack, "Later", workers=(text, 1))
    quota(stack, later, "two", resources=nodes(9))
    unknown = ClusterInstanceType.of(text)
    partition = AcceleratorPartition(type=text, count=number)
    wanted = [ComputeQuotaResource(instance_type=unknown, accelerator_partition=partition), *nodes(number)]
    ComputeQuota(
        stack, "Three", cluster=later, team=text, resources=wanted, fair_share_weight=number, borrow_limit=number, name=text
    )
    PriorityClass(name=text, weight=number)
    assert errors(stack) == []


def test_an_existing_cluster_is_not_judged(stack: Stack) -> None:
    quota(stack, HyperPodCluster.from_cluster_arn(ARN), resources=nodes(1000))
    assert errors(stack) == []


def test_a_list_of_types_counts_for_each(stack: Stack) -> None:
    cluster = Governed(stack, workers=(P5.name, 1))
    types = sagemaker.CfnCluster.InstanceRequirementsProperty(instance_types=[P5.name, G5.name])
    group = sagemaker.CfnCluster.ClusterInstanceGroupProperty(
        instance_group_name="mixed", instance_count=2, execution_role=ROLE, instance_requirements=types
    )
    cluster.resource.instance_groups = [group]
    cluster.resource.node_provisioning_mode = "Continuous"
    quota(stack, cluster, "one", resources=[*nodes(2), ComputeQuotaResource(instance_type=G5, count=2)])
    assert errors(stack) == []


def test_ids_are_attributes(stack: Stack, cluster: Governed) -> None:
    made, governed = quota(stack, cluster), policy(stack, cluster)
    found = stack.resolve(
        [made.compute_quota_arn, made.compute_quota_id, governed.scheduler_config_arn, governed.scheduler_config_id]
    )
    names = ["ComputeQuotaArn", "ComputeQuotaId", "ClusterSchedulerConfigArn", "ClusterSchedulerConfigId"]
    assert [item["Fn::GetAtt"][1] for item in found] == names
