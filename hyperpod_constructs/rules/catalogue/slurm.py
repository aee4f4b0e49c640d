"""Slurm: node types, partitions, accounting, and what only Kubernetes has."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_constructs.rules import mistakes
from hyperpod_constructs.rules.facts.clusters import (
    RESTRICTED_GROUPS,
    Cluster,
    Group,
    Orchestration,
    alike_groups_once,
    clusters,
    given,
)
from hyperpod_constructs.rules.finding import Hit, Level
from hyperpod_constructs.rules.mistakes import Mistake
from hyperpod_constructs.rules.rule import rule
from hyperpod_constructs.rules.template.model import Model
from hyperpod_constructs.rules.template.values import as_items, as_str

_API = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/"
_GUIDE = "https://docs.aws.amazon.com/sagemaker/latest/dg/"
_GETTING_STARTED = f"{_GUIDE}smcluster-getting-started-slurm-cli.html"
_REFUSED = f"{_GETTING_STARTED}#smcluster-getting-started-slurm-cli-validation-errors"
_MIGRATION = f"{_GUIDE}sagemaker-hyperpod-slurm-api-config-migration.html"


def _slurm_clusters(model: Model) -> Iterator[Cluster]:
    """The clusters whose Slurm is configured through the API."""
    return (cluster for cluster in clusters(model) if cluster.orchestration is Orchestration.SLURM)


def _of_type(cluster: Cluster, node_type: str) -> list[Group]:
    return [group for group in cluster.plain_groups if group.node_type == node_type]


def _knows_node_types(cluster: Cluster) -> bool:
    return cluster.knows_groups and all(
        group.node_type is not None or given(group.get("SlurmConfig")) is False for group in cluster.plain_groups
    )


@rule(
    "HP-SLM-001",
    Level.ERROR,
    title="a Slurm cluster has a Controller group",
    why='the service answers "Cluster must have exactly one InstanceGroup with Controller node type"',
    fix="give one group SlurmConfig.NodeType: Controller",
    allowed="exactly one Controller group",
    source=_REFUSED,
    silences=("HP-SLM-004",),
)
def a_controller_exists(model: Model) -> Iterator[Hit]:
    for cluster in _slurm_clusters(model):
        if _knows_node_types(cluster) and not _of_type(cluster, "Controller"):
            yield cluster.hit(mistakes.no_controller([group.label for group in cluster.plain_groups]), "InstanceGroups")


@rule(
    "HP-SLM-002",
    Level.ERROR,
    title="a Slurm cluster has one Controller group and at most one Login group",
    why='the service refuses a second one ("SlurmConfig for InstanceGroups may only have one Controller Group")',
    fix="make the other group Compute",
    allowed="one Controller group, none or one Login group",
    source=f"{_MIGRATION}#sagemaker-hyperpod-slurm-api-config-migration-ts-multiple-controllers",
    silences=("HP-SLM-003", "HP-SLM-004"),
)
def managing_groups_are_single(model: Model) -> Iterator[Hit]:
    for cluster in _slurm_clusters(model):
        for node_type in ("Controller", "Login"):
            alike = _of_type(cluster, node_type)
            for other in alike[1:]:
                mistake = mistakes.second_of_node_type(node_type, alike[0].label, other.label)
                yield other.hit(mistake, "SlurmConfig", "NodeType")


@rule(
    "HP-SLM-003",
    Level.ERROR,
    title="the Controller group has one node",
    why="without a controller the cluster never starts, and configuration through the API knows no backup controller",
    fix="write InstanceCount: 1",
    allowed="1",
    source=f"{_MIGRATION}#sagemaker-hyperpod-slurm-api-config-migration-multihead",
)
def the_controller_is_one_node(model: Model) -> Iterator[Hit]:
    for cluster in _slurm_clusters(model):
        for group in _of_type(cluster, "Controller"):
            if group.count is not None and group.count != 1:
                yield group.hit(mistakes.controller_count(group.count), "InstanceCount")


@rule(
    "HP-SLM-004",
    Level.ERROR,
    title="Compute groups have a partition, and no others have",
    why='the service answers "Partitions can only be assigned to Compute node types", and refuses Compute groups without one',
    fix="write PartitionNames on Compute groups, and there only",
    allowed="one name in PartitionNames of a Compute group",
    source=_REFUSED,
)
def compute_nodes_have_partitions(model: Model) -> Iterator[Hit]:
    for cluster in _slurm_clusters(model):
        for group in cluster.plain_groups:
            names = group.get("SlurmConfig", "PartitionNames")
            listed = as_items(names)
            if listed and group.node_type in ("Controller", "Login"):
                mistake = mistakes.misplaced_partition(group.node_type, as_str(listed[0]))
                yield group.hit(mistake, "SlurmConfig", "PartitionNames")
            elif listed == () and group.node_type == "Compute":
                mistake = Mistake(f"Compute group {group.label!r} has no partition", "name one, such as the group's own name")
                yield group.hit(mistake, "SlurmConfig")


@rule(
    "HP-SLM-005",
    Level.ERROR,
    title="every group of a Slurm cluster has a SlurmConfig, if one has",
    why="the service cannot tell what the nodes of the others are",
    fix="give each group SlurmConfig.NodeType",
    allowed="SlurmConfig on every group",
    source=f"{_GUIDE}sagemaker-hyperpod-scaling-slurm.html",
    silences=("HP-SLM-001",),
)
def every_group_is_configured(model: Model) -> Iterator[Hit]:
    for cluster in _slurm_clusters(model):
        some = any(given(group.get("SlurmConfig")) for group in cluster.plain_groups)
        for group in cluster.plain_groups:
            if some and given(group.get("SlurmConfig")) is False:
                yield group.hit(Mistake(f"instance group {group.label!r} has no SlurmConfig", "give it one with its NodeType"))


@rule(
    "HP-SLM-006",
    Level.ERROR,
    title="an accounting database needs continuous provisioning",
    why='the service supports AccountingDatabase only "for clusters using Continuous as the NodeProvisioningMode"',
    fix="write NodeProvisioningMode: Continuous, or leave AccountingDatabase out: then it is on the controller",
    allowed="AccountingDatabase with NodeProvisioningMode Continuous",
    source=f"{_API}API_ClusterOrchestratorSlurmConfig.html",
)
def accounting_is_continuous(model: Model) -> Iterator[Hit]:
    path = ("Orchestrator", "Slurm", "AccountingDatabase")
    for cluster in clusters(model):
        if cluster.continuous is False and given(cluster.get(*path)):
            mistake = Mistake(
                "an accounting database of your own needs continuous provisioning",
                "provision continuously, or leave the database out: then it is on the controller",
            )
            yield cluster.hit(mistake, *path)


@rule(
    "HP-SLM-007",
    Level.ERROR,
    title="tiered storage, autoscaling and restricted groups are for EKS",
    why="the service refuses them on a Slurm cluster",
    fix="leave them out, or orchestrate the cluster by EKS",
    allowed="TieredStorageConfig, AutoScaling and RestrictedInstanceGroups with Orchestrator.Eks",
    source=f"{_GUIDE}managed-tier-checkpointing.html",
)
def slurm_has_no_features_of_eks(model: Model) -> Iterator[Hit]:
    for cluster in clusters(model):
        if cluster.on_eks is not False:
            continue
        enabled = {key: as_str(cluster.get(key, "Mode")) == "Enable" for key in ("TieredStorageConfig", "AutoScaling")} | {
            RESTRICTED_GROUPS: bool(as_items(cluster.get(RESTRICTED_GROUPS)))
        }
        for key in (key for key, present in enabled.items() if present):
            yield cluster.hit(
                Mistake(f"{key} on a Slurm cluster, which cannot have it", "leave it out, or orchestrate the cluster by EKS"), key
            )


@rule(
    "HP-SLM-008",
    Level.ERROR,
    title="labels, taints and release versions of the image are for groups on EKS",
    why="the service refuses them on a group of a Slurm cluster",
    fix="leave them out; Slurm has partitions and features instead",
    allowed="KubernetesConfig and ImageReleaseVersion with Orchestrator.Eks",
    source="https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-sagemaker-cluster.html",
)
@alike_groups_once
def slurm_groups_have_no_settings_of_eks(model: Model) -> Iterator[Hit]:
    for cluster in clusters(model):
        if cluster.on_eks is not False:
            continue
        for group in cluster.plain_groups:
            for key in ("KubernetesConfig", "ImageReleaseVersion"):
                if given(group.get(key)):
                    mistake = Mistake(f"{key} on instance group {group.label!r} of a Slurm cluster", "leave it out")
                    yield group.hit(mistake, key)
