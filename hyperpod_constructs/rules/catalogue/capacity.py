"""Capacity: instance types, spot, training plans, autoscaling, and the needs of continuous provisioning."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from hyperpod_constructs.analysis.clusters import Cluster, Group, Orchestration, clusters, given, groups
from hyperpod_constructs.facts import clusters as cluster_facts
from hyperpod_constructs.facts import orchestration
from hyperpod_constructs.facts.instance_types import PLANNED_TYPES, impossible, is_instance_type, nearest
from hyperpod_constructs.facts.mistake import Mistake
from hyperpod_constructs.rules.finding import Hit, hit
from hyperpod_constructs.rules.rule import error, warning
from hyperpod_constructs.templates.values import Value, as_items, as_str, at

_API = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/"
_GUIDE = "https://docs.aws.amazon.com/sagemaker/latest/dg/"
_SLURM_SCALING = f"{_GUIDE}sagemaker-hyperpod-scaling-slurm.html"
_CREATION = f"{_GUIDE}sagemaker-hyperpod-eks-operate-cli-command-create-cluster.html"
_SPOT = f"{_GUIDE}sagemaker-hyperpod-spot.html"
_PLANS = f"{_GUIDE}reserve-capacity-with-training-plans.html"
_group_error, _cluster_error = partial(error, on=groups), partial(error, on=clusters)
_STRATEGY = ("Orchestrator", "Slurm", "SlurmConfigStrategy")


@_group_error(
    "HP-CAP-001",
    title="a group has exactly one of InstanceType and InstanceRequirements",
    why="the service refuses a group with both or with neither",
    fix="write InstanceType for one type, InstanceRequirements for several",
    allowed="InstanceType, or InstanceRequirements",
    source=f"{_API}API_ClusterInstanceGroupSpecification.html",
)
def types_are_given_once(group: Group) -> Hit | None:
    single, several = given(group.get("InstanceType")), given(group.get("InstanceRequirements"))
    if single and several:
        return hit(group, f"instance group {group.label!r} has both InstanceType and InstanceRequirements", "InstanceRequirements")
    if single is False and several is False and not group.restricted:
        return hit(group, f"instance group {group.label!r} has neither InstanceType nor InstanceRequirements")
    return None


@_group_error(
    "HP-CAP-002",
    at=("InstanceRequirements",),
    once=True,
    title="several instance types need continuous provisioning",
    why="without continuous provisioning the service refuses InstanceRequirements",
    fix=cluster_facts.types_without_continuous.fix,
    allowed="InstanceRequirements with NodeProvisioningMode Continuous",
    source=_CREATION,
    because=("NodeProvisioningMode",),
)
def flexible_groups_are_continuous(group: Group) -> Mistake | None:
    needs = given(group.get("InstanceRequirements")) and given(group.get("InstanceType")) is False
    if needs and group.cluster.continuous is False and group.type_names:
        return cluster_facts.types_without_continuous(group.label, len(group.type_names))
    return None


@_group_error(
    "HP-CAP-004",
    title="a group has one kind of capacity: on demand, spot or a training plan",
    why="the service refuses a group with two",
    fix=cluster_facts.spot_beside.fix,
    allowed="one of CapacityRequirements.OnDemand, CapacityRequirements.Spot and TrainingPlanArn",
    source=_SPOT,
)
def capacity_is_of_one_kind(group: Group) -> Iterator[Hit]:
    if given(group.get("CapacityRequirements", "Spot")):
        if given(group.get("CapacityRequirements", "OnDemand")):
            yield hit(group, cluster_facts.spot_beside(group.label, "on-demand capacity"), "CapacityRequirements")
        if given(group.get("TrainingPlanArn")):
            yield hit(group, cluster_facts.spot_beside(group.label, "a training plan"), "TrainingPlanArn")


@_group_error(
    "HP-CAP-005",
    at=("CapacityRequirements",),
    once=True,
    title="spot capacity needs EKS and continuous provisioning",
    why="the service refuses it on Slurm, and without continuous provisioning",
    fix=cluster_facts.spot_without.fix,
    allowed="CapacityRequirements.Spot on EKS with NodeProvisioningMode Continuous",
    source=_SPOT,
    because=("NodeProvisioningMode",),
    silences=("HP-CAP-004",),
)
def spot_is_continuous_on_eks(group: Group) -> Mistake | None:
    lacking = ["EKS"] if group.cluster.on_eks is False else []
    lacking += ["continuous provisioning"] if group.cluster.continuous is False else []
    if lacking and given(group.get("CapacityRequirements", "Spot")):
        return cluster_facts.spot_without(group.label, lacking)
    return None


@_cluster_error(
    "HP-CAP-006",
    at=_STRATEGY,
    title="continuous provisioning has no SlurmConfigStrategy",
    why="with continuous provisioning partitions are always merged, and any strategy makes the request fail",
    fix=cluster_facts.strategy_with_continuous.fix,
    allowed="no SlurmConfigStrategy",
    source=_SLURM_SCALING,
)
def continuous_clusters_have_no_strategy(cluster: Cluster) -> Mistake | None:
    strategy = as_str(cluster.get(*_STRATEGY))
    return cluster_facts.strategy_with_continuous(strategy) if cluster.continuous and strategy else None


@_cluster_error(
    "HP-CAP-007",
    at=("NodeProvisioningMode",),
    title="continuous provisioning needs EKS, or Slurm configured through the API",
    why="a cluster configured by provisioning_parameters.json cannot be provisioned continuously",
    fix="give every group a SlurmConfig, or leave NodeProvisioningMode out",
    allowed="NodeProvisioningMode Continuous with Orchestrator.Eks, or with a SlurmConfig on every group",
    source=_SLURM_SCALING,
)
def continuous_clusters_are_configured_through_the_api(cluster: Cluster) -> str | None:
    if cluster.continuous and cluster.orchestration is Orchestration.LEGACY_SLURM:
        return "continuous provisioning of a Slurm cluster that is not configured through the API: no group has a SlurmConfig"
    return None


@_group_error(
    "HP-CAP-008",
    once=True,
    title="a KMS key for volumes needs continuous provisioning",
    why="without continuous provisioning the service refuses a key of your own",
    fix=cluster_facts.key_without_continuous.fix,
    allowed="VolumeKmsKeyId with NodeProvisioningMode Continuous",
    source=f"{_GUIDE}smcluster-cmk.html",
    because=("NodeProvisioningMode",),
)
def encrypted_volumes_are_continuous(group: Group) -> Iterator[Hit]:
    for path, volume in group.storage("EbsVolumeConfig") if group.cluster.continuous is False else ():
        if given(at(volume, "VolumeKmsKeyId")):
            yield hit(group, cluster_facts.key_without_continuous(group.label), *path, "VolumeKmsKeyId")


@_cluster_error(
    "HP-CAP-009",
    at=("AutoScaling",),
    title="autoscaling needs a cluster role, continuous provisioning and automatic node recovery",
    why="the service refuses AutoScaling without one of them",
    fix=orchestration.autoscaling_without.fix,
    allowed="AutoScaling with ClusterRole, NodeProvisioningMode Continuous and NodeRecovery Automatic",
    source=f"{_GUIDE}sagemaker-hyperpod-eks-autoscaling.html",
    because=("NodeProvisioningMode",),
)
def autoscaling_has_what_it_needs(cluster: Cluster) -> Mistake | None:
    if as_str(cluster.get("AutoScaling", "Mode")) != "Enable" or not cluster.on_eks:
        return None
    lacking = ["ClusterRole"] if given(cluster.get("ClusterRole")) is False else []
    lacking += ["NodeProvisioningMode: Continuous"] if cluster.continuous is False else []
    lacking += ["NodeRecovery: Automatic"] if as_str(cluster.get("NodeRecovery")) == "None" else []
    return orchestration.autoscaling_without(lacking) if lacking else None


@warning(
    "HP-CAP-010",
    on=groups,
    at=("TrainingPlanArn",),
    title="a group with a training plan has an instance type sold by plan",
    why="a plan reserves one of these types; a group of another type never draws on it",
    fix="take the plan's instance type, or leave TrainingPlanArn out",
    allowed=", ".join(sorted(PLANNED_TYPES)),
    source=f"{_PLANS}#training-plans-supported-instances-and-regions",
)
def plans_are_for_planned_types(group: Group) -> str | None:
    names = [one.name for one in group.types or ()]
    if names and given(group.get("TrainingPlanArn")) and not PLANNED_TYPES.intersection(names):
        return f"a training plan for {', '.join(names)}, which no plan reserves"
    return None


@_group_error(
    "HP-CAP-012",
    title="an instance type is one that HyperPod can have",
    why="the service refuses the cluster",
    fix="take a type of the service; the nearest has the most similar name",
    allowed="a name such as ml.p5.48xlarge, of a family that HyperPod has",
    source=f"{_API}API_ClusterInstanceGroupSpecification.html",
)
def types_are_of_the_service(group: Group) -> Iterator[Hit]:
    listed = as_items(group.get("InstanceRequirements", "InstanceTypes")) or ()
    places: list[tuple[Value, tuple[str | int, ...]]] = [(group.get("InstanceType"), ("InstanceType",))]
    places += [(value, ("InstanceRequirements", "InstanceTypes", index)) for index, value in enumerate(listed)]
    for value, path in places:
        name = as_str(value)
        if name is not None and not is_instance_type(name) and (reason := impossible(name)) is not None:
            yield hit(group, f"instance group {group.label!r} has {name}: {reason}; the nearest is {nearest(name)}", *path)
