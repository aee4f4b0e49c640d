"""Capacity: instance types, spot, training plans, autoscaling, and what continuous provisioning needs and forbids."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_constructs.rules import mistakes
from hyperpod_constructs.rules.facts.clusters import Orchestration, alike_groups_once, clusters, given, groups
from hyperpod_constructs.rules.finding import Hit, Level
from hyperpod_constructs.rules.mistakes import Mistake
from hyperpod_constructs.rules.rule import rule
from hyperpod_constructs.rules.template.model import Model
from hyperpod_constructs.rules.template.values import as_str, at

_API = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/"
_GUIDE = "https://docs.aws.amazon.com/sagemaker/latest/dg/"
_GROUP = f"{_API}API_ClusterInstanceGroupSpecification.html"
_SLURM_SCALING = f"{_GUIDE}sagemaker-hyperpod-scaling-slurm.html"
_CONTINUOUS = "write NodeProvisioningMode: Continuous"

_CREATION = f"{_GUIDE}sagemaker-hyperpod-eks-operate-cli-command-create-cluster.html"
_PLANS = f"{_GUIDE}reserve-capacity-with-training-plans.html"

# What the API of training plans lists (ReservedCapacityInstanceType of botocore 1.44.5), and what the guide lists beyond it
_PLANNED_TYPES = frozenset(
    f"ml.{name}"
    for name in (
        "g6.xlarge",
        "g6.4xlarge",
        "p4d.24xlarge",
        "p4de.24xlarge",
        "p5.4xlarge",
        "p5.48xlarge",
        "p5e.48xlarge",
        "p5en.48xlarge",
        "p6-b200.48xlarge",
        "p6-b300.48xlarge",
        "p6e-gb200.36xlarge",
        "trn1.32xlarge",
        "trn2.48xlarge",
    )
)


@rule(
    "HP-CAP-001",
    Level.ERROR,
    title="a group has exactly one of InstanceType and InstanceRequirements",
    why="the service refuses a group with both or with none",
    fix="keep InstanceType for one type, InstanceRequirements for several",
    allowed="InstanceType, or InstanceRequirements",
    source=_GROUP,
)
def types_are_given_once(model: Model) -> Iterator[Hit]:
    for _, group in groups(model):
        single, several = given(group.get("InstanceType")), given(group.get("InstanceRequirements"))
        if single and several:
            text = f"instance group {group.label!r} has both InstanceType and InstanceRequirements"
            yield group.hit(Mistake(text, "keep one of the two"), "InstanceRequirements")
        elif single is False and several is False and not group.restricted:
            text = f"instance group {group.label!r} has neither InstanceType nor InstanceRequirements"
            yield group.hit(Mistake(text, "name its instance type"))


@rule(
    "HP-CAP-002",
    Level.ERROR,
    title="several instance types need continuous provisioning",
    why="without continuous provisioning the service refuses InstanceRequirements",
    fix=f"{_CONTINUOUS}, or name one InstanceType",
    allowed="InstanceRequirements with NodeProvisioningMode Continuous",
    source=_CREATION,
)
@alike_groups_once
def flexible_groups_are_continuous(model: Model) -> Iterator[Hit]:
    for cluster, group in groups(model):
        needs = given(group.get("InstanceRequirements")) and given(group.get("InstanceType")) is False
        if needs and cluster.continuous is False and group.type_names:
            yield group.hit(mistakes.types_without_continuous(group.label, len(group.type_names)), "InstanceRequirements")


@rule(
    "HP-CAP-003",
    Level.ERROR,
    title="each instance type of a group is listed once",
    why="the service takes no list with a type twice: the order of the list is the order of preference",
    fix="name each type once, the preferred first",
    allowed="types that differ",
    source=_CREATION,
)
def types_are_listed_once(model: Model) -> Iterator[Hit]:
    for _, group in groups(model):
        mistake = mistakes.repeated_types(group.type_names or ())
        if mistake is not None and given(group.get("InstanceType")) is False:
            yield group.hit(mistake, "InstanceRequirements", "InstanceTypes")


@rule(
    "HP-CAP-004",
    Level.ERROR,
    title="a group has one kind of capacity: on demand, spot or a training plan",
    why="the service refuses a group that asks for two",
    fix="keep one of OnDemand, Spot and TrainingPlanArn",
    allowed="one of CapacityRequirements.OnDemand, CapacityRequirements.Spot and TrainingPlanArn",
    source=f"{_GUIDE}sagemaker-hyperpod-spot.html",
)
def capacity_is_of_one_kind(model: Model) -> Iterator[Hit]:
    for _, group in groups(model):
        if not given(group.get("CapacityRequirements", "Spot")):
            continue
        if given(group.get("CapacityRequirements", "OnDemand")):
            text = f"instance group {group.label!r} asks for both spot and on-demand capacity"
            yield group.hit(Mistake(text, "keep one of the two"), "CapacityRequirements")
        if given(group.get("TrainingPlanArn")):
            text = f"instance group {group.label!r} asks for both spot capacity and a training plan"
            yield group.hit(Mistake(text, "keep one of the two"), "TrainingPlanArn")


@rule(
    "HP-CAP-005",
    Level.ERROR,
    title="spot capacity needs EKS and continuous provisioning",
    why="the service refuses it on Slurm, and without continuous provisioning",
    fix=f"take on-demand capacity, or on EKS {_CONTINUOUS}",
    allowed="CapacityRequirements.Spot on EKS with NodeProvisioningMode Continuous",
    source=f"{_GUIDE}sagemaker-hyperpod-spot.html",
)
@alike_groups_once
def spot_is_continuous_on_eks(model: Model) -> Iterator[Hit]:
    for cluster, group in groups(model):
        lacking = ["EKS"] if cluster.on_eks is False else []
        lacking += ["continuous provisioning"] if cluster.continuous is False else []
        if lacking and given(group.get("CapacityRequirements", "Spot")):
            text = f"spot capacity of instance group {group.label!r} needs {' and '.join(lacking)}"
            yield group.hit(Mistake(text, "take on-demand capacity" if "EKS" in lacking else _CONTINUOUS), "CapacityRequirements")


@rule(
    "HP-CAP-006",
    Level.ERROR,
    title="continuous provisioning has no SlurmConfigStrategy",
    why="with continuous provisioning partitions are always merged, and any strategy makes the request fail",
    fix="leave SlurmConfigStrategy out",
    allowed="no SlurmConfigStrategy",
    source=_SLURM_SCALING,
)
def continuous_clusters_have_no_strategy(model: Model) -> Iterator[Hit]:
    path = ("Orchestrator", "Slurm", "SlurmConfigStrategy")
    for cluster in clusters(model):
        strategy = as_str(cluster.get(*path))
        if cluster.continuous and strategy:
            yield cluster.hit(mistakes.strategy_with_continuous(strategy), *path)


@rule(
    "HP-CAP-007",
    Level.ERROR,
    title="continuous provisioning needs EKS, or Slurm that is configured through the API",
    why="clusters that are configured by provisioning_parameters.json cannot be provisioned continuously",
    fix="give every group a SlurmConfig, or leave NodeProvisioningMode out",
    allowed="NodeProvisioningMode Continuous with Orchestrator.Eks, or with a SlurmConfig on every group",
    source=_SLURM_SCALING,
)
def continuous_clusters_are_configured_through_the_api(model: Model) -> Iterator[Hit]:
    for cluster in clusters(model):
        if cluster.continuous and cluster.orchestration is Orchestration.LEGACY_SLURM:
            mistake = Mistake(
                "continuous provisioning of a Slurm cluster that is not configured through the API: no group has a SlurmConfig",
                "give every group a SlurmConfig, or leave NodeProvisioningMode out",
            )
            yield cluster.hit(mistake, "NodeProvisioningMode")


@rule(
    "HP-CAP-008",
    Level.ERROR,
    title="a KMS key for volumes needs continuous provisioning",
    why="without continuous provisioning the service takes no key of your own",
    fix=f"{_CONTINUOUS}, or leave VolumeKmsKeyId out",
    allowed="VolumeKmsKeyId with NodeProvisioningMode Continuous",
    source=f"{_GUIDE}smcluster-cmk.html",
)
@alike_groups_once
def encrypted_volumes_are_continuous(model: Model) -> Iterator[Hit]:
    for cluster, group in groups(model):
        for path, volume in group.storage("EbsVolumeConfig"):
            if cluster.continuous is False and given(at(volume, "VolumeKmsKeyId")):
                yield group.hit(mistakes.key_without_continuous(group.label), *path, "VolumeKmsKeyId")


@rule(
    "HP-CAP-009",
    Level.ERROR,
    title="autoscaling needs a cluster role, continuous provisioning and automatic node recovery",
    why="the service refuses AutoScaling without one of them",
    fix="write ClusterRole, NodeProvisioningMode: Continuous and NodeRecovery: Automatic",
    allowed="AutoScaling with ClusterRole, NodeProvisioningMode Continuous and NodeRecovery Automatic",
    source=f"{_GUIDE}sagemaker-hyperpod-eks-autoscaling.html",
)
def autoscaling_has_what_it_needs(model: Model) -> Iterator[Hit]:
    for cluster in clusters(model):
        if as_str(cluster.get("AutoScaling", "Mode")) != "Enable" or not cluster.on_eks:
            continue
        lacking = ["ClusterRole"] if given(cluster.get("ClusterRole")) is False else []
        lacking += ["NodeProvisioningMode: Continuous"] if cluster.continuous is False else []
        lacking += ["NodeRecovery: Automatic"] if as_str(cluster.get("NodeRecovery")) == "None" else []
        if lacking:
            yield cluster.hit(
                Mistake(f"autoscaling without {' and '.join(lacking)}", f"write {' and '.join(lacking)}"), "AutoScaling"
            )


@rule(
    "HP-CAP-010",
    Level.WARNING,
    title="training plans are for the instance types that are sold by plan",
    why="a plan reserves one of these types; a group of another type can never draw on it",
    fix="take the plan's instance type, or leave TrainingPlanArn out",
    allowed=", ".join(sorted(_PLANNED_TYPES)),
    source=f"{_PLANS}#training-plans-supported-instances-and-regions",
)
def plans_are_for_planned_types(model: Model) -> Iterator[Hit]:
    for _, group in groups(model):
        if given(group.get("TrainingPlanArn")) and group.types and not {one.name for one in group.types} & _PLANNED_TYPES:
            names = ", ".join(one.name for one in group.types)
            mistake = Mistake(f"a training plan for {names}, which no plan reserves", "take the plan's type, or leave the plan out")
            yield group.hit(mistake, "TrainingPlanArn")


@rule(
    "HP-CAP-011",
    Level.ERROR,
    title="a training plan is of the stack's own region",
    why="reserved capacity is in one zone of one region; a cluster elsewhere cannot use it",
    fix="deploy to the plan's region, or name a plan of this one",
    allowed="a plan of the region of the stack",
    source=_PLANS,
)
def plans_are_of_this_region(model: Model) -> Iterator[Hit]:
    for _, group in groups(model):
        parts = (as_str(group.get("TrainingPlanArn")) or "").split(":")
        region = group.cluster.template.environment.region
        if len(parts) > 5 and region is not None and parts[3] not in ("", region):
            text = f"the training plan of instance group {group.label!r} is in {parts[3]}, the stack in {region}"
            yield group.hit(Mistake(text, f"name a plan of {region}, or deploy to {parts[3]}"), "TrainingPlanArn")
