"""Slurm: node types, partitions, features of EKS, and the accounting database."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from hyperpod_constructs.analysis.clusters import RESTRICTED_GROUPS, Cluster, Group, Orchestration, clusters, given
from hyperpod_constructs.analysis.database import (
    ACCOUNTING,
    DATABASES,
    SECRET,
    asked_port,
    database_of,
    is_of_slurm,
    keys_of,
    port_of,
)
from hyperpod_constructs.analysis.node_configuration import CONFIGURATION, scheduling_settings
from hyperpod_constructs.facts import accounting as accounting_facts
from hyperpod_constructs.facts import clusters as cluster_facts
from hyperpod_constructs.facts import orchestration, software_updates
from hyperpod_constructs.facts import scheduling as scheduling_facts
from hyperpod_constructs.facts.mistake import Mistake
from hyperpod_constructs.rules.finding import Hit, hit
from hyperpod_constructs.rules.rule import error, warning
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import as_items, as_str

_API = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/"
_GUIDE = "https://docs.aws.amazon.com/sagemaker/latest/dg/"
_GETTING_STARTED = f"{_GUIDE}smcluster-getting-started-slurm-cli.html"
_REFUSED = f"{_GETTING_STARTED}#smcluster-getting-started-slurm-cli-validation-errors"
_MIGRATION = f"{_GUIDE}sagemaker-hyperpod-slurm-api-config-migration.html"
_DATABASE = f"{_API}API_ClusterAccountingDatabase.html"
_GUIDE_OF_DATABASE = f"{_GUIDE}sagemaker-hyperpod-external-accounting-db-slurm.html"
_MYSQL = re.compile(r"mysql|mariadb|^aurora$", re.IGNORECASE)


def _slurm_clusters(model: Model) -> Iterator[Cluster]:
    """The clusters whose Slurm is configured through the API."""
    return (cluster for cluster in clusters(model) if cluster.orchestration is Orchestration.SLURM)


def _slurm_groups(model: Model) -> Iterator[Group]:
    """Their groups."""
    return (group for cluster in _slurm_clusters(model) for group in cluster.plain_groups)


_group_error = partial(error, on=_slurm_groups)


def _clusters_without_eks(model: Model) -> Iterator[Cluster]:
    return (cluster for cluster in clusters(model) if cluster.on_eks is False)


def _of_type(cluster: Cluster, node_type: str) -> list[Group]:
    return [group for group in cluster.plain_groups if group.node_type == node_type]


def _knows_node_types(cluster: Cluster) -> bool:
    return cluster.knows_groups and all(
        group.node_type is not None or given(group.get("SlurmConfig")) is False for group in cluster.plain_groups
    )


@error(
    "HP-SLM-001",
    on=_slurm_clusters,
    at=("InstanceGroups",),
    title="a Slurm cluster has a Controller group",
    why="CreateCluster is refused: no node would run slurmctld",
    fix=cluster_facts.no_controller.fix,
    allowed="exactly one group with SlurmConfig.NodeType Controller",
    source=_REFUSED,
    silences=("HP-SLM-004",),
)
def a_controller_exists(cluster: Cluster) -> Mistake | None:
    if _knows_node_types(cluster) and not _of_type(cluster, "Controller") and not cluster.is_made_for_eks:
        return cluster_facts.no_controller([group.label for group in cluster.plain_groups])
    return None


@error(
    "HP-SLM-002",
    on=_slurm_clusters,
    title="a Slurm cluster has one Controller group and at most one Login group",
    why='the service refuses a second one ("SlurmConfig for InstanceGroups may only have one Controller Group")',
    fix=cluster_facts.second_of_node_type.fix,
    allowed="one Controller group, at most one Login group",
    source=f"{_MIGRATION}#sagemaker-hyperpod-slurm-api-config-migration-ts-multiple-controllers",
    silences=("HP-SLM-003", "HP-SLM-004"),
)
def managing_groups_are_single(cluster: Cluster) -> Iterator[Hit]:
    for node_type in ("Controller", "Login"):
        alike = _of_type(cluster, node_type)
        for other in alike[1:]:
            mistake = cluster_facts.second_of_node_type(node_type, alike[0].label, other.label)
            yield hit(other, mistake, "SlurmConfig", "NodeType")


@_group_error(
    "HP-SLM-003",
    at=("InstanceCount",),
    title="the Controller group has one node",
    why="without a controller the cluster never starts, and configuration through the API knows no backup controller",
    fix=cluster_facts.controller_count.fix,
    allowed="1",
    source=f"{_MIGRATION}#sagemaker-hyperpod-slurm-api-config-migration-multihead",
)
def the_controller_is_one_node(group: Group) -> Mistake | None:
    wrong = group.node_type == "Controller" and group.count not in (None, 1)
    return cluster_facts.controller_count(group.count or 0) if wrong else None


@_group_error(
    "HP-SLM-004",
    title="Compute groups have a partition, and no others have",
    why='the service answers "Partitions can only be assigned to Compute node types", and refuses Compute groups without one',
    fix=cluster_facts.misplaced_partition.fix,
    allowed="one name in PartitionNames of a Compute group",
    source=_REFUSED,
)
def compute_nodes_have_partitions(group: Group) -> Hit | None:
    listed = as_items(group.get("SlurmConfig", "PartitionNames"))
    if listed and group.node_type in ("Controller", "Login"):
        return hit(group, cluster_facts.misplaced_partition(group.node_type, as_str(listed[0])), "SlurmConfig", "PartitionNames")
    if listed == () and group.node_type == "Compute":
        return hit(group, f"Compute group {group.label!r} has no partition", "SlurmConfig")
    return None


@_group_error(
    "HP-SLM-005",
    title="all groups of a Slurm cluster have a SlurmConfig, or no group has one",
    why="the service cannot tell the kind of the other nodes",
    fix="give each group SlurmConfig.NodeType",
    allowed="SlurmConfig on every group",
    source=f"{_GUIDE}sagemaker-hyperpod-scaling-slurm.html",
    silences=("HP-SLM-001",),
)
def every_group_is_configured(group: Group) -> str | None:
    some = any(given(other.get("SlurmConfig")) for other in group.cluster.plain_groups)
    return f"instance group {group.label!r} has no SlurmConfig" if some and given(group.get("SlurmConfig")) is False else None


@error(
    "HP-SLM-006",
    on=clusters,
    at=ACCOUNTING,
    title="an accounting database needs continuous provisioning",
    why='the service supports AccountingDatabase only "for clusters using Continuous as the NodeProvisioningMode"',
    fix=accounting_facts.WITHOUT_CONTINUOUS.fix,
    allowed="AccountingDatabase with NodeProvisioningMode Continuous",
    source=f"{_API}API_ClusterOrchestratorSlurmConfig.html",
    because=("NodeProvisioningMode",),
)
def accounting_is_continuous(cluster: Cluster) -> Hit | None:
    """What the database needs is not said beside it: nobody knows whether the database or the mode is the mistake."""
    without = cluster.continuous is False and given(cluster.get(*ACCOUNTING))
    found = hit(cluster, accounting_facts.WITHOUT_CONTINUOUS, *ACCOUNTING) if without else None
    return None if found is None else replace(found, doubts=((cluster.resource, ACCOUNTING),))


@error(
    "HP-SLM-007",
    on=_clusters_without_eks,
    title="tiered storage, autoscaling and restricted groups are for EKS",
    why="the service refuses them on a Slurm cluster",
    fix=orchestration.feature_of_eks.fix,
    allowed="TieredStorageConfig, AutoScaling and RestrictedInstanceGroups with Orchestrator.Eks",
    source=f"{_GUIDE}managed-tier-checkpointing.html",
)
def slurm_has_no_features_of_eks(cluster: Cluster) -> Iterator[Hit]:
    enabled = {key: as_str(cluster.get(key, "Mode")) == "Enable" for key in ("TieredStorageConfig", "AutoScaling")}
    enabled[RESTRICTED_GROUPS] = bool(as_items(cluster.get(RESTRICTED_GROUPS)))
    return (hit(cluster, orchestration.feature_of_eks(key), key) for key, present in enabled.items() if present)


_plain_error = partial(
    error, on=lambda model: (group for cluster in _clusters_without_eks(model) for group in cluster.plain_groups), once=True
)


@_plain_error(
    "HP-SLM-008",
    title="labels, taints and release versions of the image are for groups on EKS",
    why="the service refuses them on a group of a Slurm cluster",
    fix=cluster_facts.setting_of_eks.fix,
    allowed="KubernetesConfig and ImageReleaseVersion with Orchestrator.Eks",
    source="https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-sagemaker-cluster.html",
)
def slurm_groups_have_no_settings_of_eks(group: Group) -> Iterator[Hit]:
    for key in ("KubernetesConfig", "ImageReleaseVersion"):
        if given(group.get(key)):
            yield hit(group, cluster_facts.setting_of_eks(group.label, key), key)


@_plain_error(
    "HP-SLM-009",
    title="updates in batches are for groups on EKS",
    why="the guide says that batches, waits and rollback by alarms are available only with EKS; on Slurm all nodes of a group are "
    "updated at a time, and their jobs end together",
    fix=software_updates.BATCHES_ON_SLURM.fix,
    allowed="DeploymentConfig with Orchestrator.Eks",
    source=software_updates.UPDATE_GUIDE,
)
def slurm_updates_all_nodes_at_a_time(group: Group) -> Iterator[Hit]:
    for member in ("ScheduledUpdateConfig", "AutoPatchConfig") if not group.cluster.is_made_for_eks else ():
        if given(group.get(member, "DeploymentConfig")):
            yield hit(group, software_updates.BATCHES_ON_SLURM, member, "DeploymentConfig")


@warning(
    "HP-SLM-010",
    on=_slurm_groups,
    title="no group or partition has the name of the service's own partition",
    why="the service makes a partition of all nodes under this name: jobs for one kind of node come to every kind",
    fix=cluster_facts.name_of_service_partition.fix,
    allowed=f"any name but {cluster_facts.SERVICE_PARTITION}",
    source=_MIGRATION,
)
def the_services_partition_is_its_own(group: Group) -> Iterator[Hit]:
    reserved = cluster_facts.SERVICE_PARTITION
    if group.name == reserved:
        yield hit(group, cluster_facts.name_of_service_partition("the group"), "InstanceGroupName")
    for index, name in enumerate(as_items(group.get("SlurmConfig", "PartitionNames")) or ()):
        if as_str(name) == reserved and group.name != reserved:
            mistake = cluster_facts.name_of_service_partition(f"a partition of {group.label!r}")
            yield hit(group, mistake, "SlurmConfig", "PartitionNames", index)


@error(
    "HP-SLM-011",
    on=scheduling_settings,
    title="partitions, QOS and accounts name each other, the groups, and nothing else",
    why="slurmctld does not start with two partitions of one name, and sacctmgr refuses QOS that preempt each other and unknown "
    "names: the settings after the first mistake never reach Slurm",
    fix="define what is named, and give each partition a name of its own",
    allowed="names that the settings define",
    source="https://slurm.schedmd.com/qos.html",
)
def settings_of_the_scheduler_fit(upload: Resource, settings: Mapping[str, Any], workers: Mapping[str, str]) -> Iterator[Hit]:
    found = [*scheduling_facts.mistakes(settings), *scheduling_facts.partition_mistakes(settings, workers)]
    return (hit(upload, mistake, CONFIGURATION) for mistake in found)


def _databases(model: Model) -> Iterator[tuple[Cluster, Resource]]:
    """Clusters whose accounting database is in the model."""
    for cluster in clusters(model):
        database = database_of(cluster)
        if database is not None:
            yield cluster, database


_database_error = partial(error, on=_databases, source=_DATABASE)


@error(
    "HP-SLM-020",
    title="the accounting database is MariaDB or MySQL",
    why="slurmdbd speaks no other protocol: accounting, and with it every limit and fair share, never comes up",
    fix="take the engine mariadb, mysql or aurora-mysql",
    allowed="mariadb, mysql, aurora-mysql",
    source=_DATABASE,
)
def the_engine_is_mysql(model: Model) -> Iterator[Hit]:
    """At the cluster that names the database, or at one whose schema tells that scripts of a cluster give it to slurmdbd."""
    named = list(_databases(model))
    for cluster, database in named:
        yield from _of_engine(cluster, database, *ACCOUNTING, "Endpoint")
    said = {database for _, database in named}
    for database in model.resources(*DATABASES) if any(_clusters_without_eks(model)) else ():
        if database not in said and database.exists and is_of_slurm(database):
            yield from _of_engine(database, database, "Engine")


def _of_engine(place: Cluster | Resource, database: Resource, *path: str) -> Iterator[Hit]:
    engine = as_str(database.get("Engine"))
    if engine is not None and not _MYSQL.search(engine):
        yield hit(place, f"the accounting database {database.logical_id} has the engine {engine}", *path)


@_database_error(
    "HP-SLM-021",
    at=(*ACCOUNTING, "Port"),
    title="Slurm connects to the port of the accounting database",
    why="slurmdbd cannot connect, and jobs are not accounted",
    fix="write the port of the database in AccountingDatabase.Port",
    allowed=f"the port of the database, by default {accounting_facts.DEFAULT_PORT}",
)
def the_port_is_the_database_s(cluster: Cluster, database: Resource) -> str | None:
    listening, asked = port_of(database), asked_port(cluster)
    if listening is None or asked is None or listening == asked:
        return None
    return f"Slurm connects to port {asked}, but {database.logical_id} listens on {listening}"


@warning(
    "HP-SLM-022",
    on=clusters,
    at=(*ACCOUNTING, "SecretArn"),
    title="the secret of the accounting database has the keys username and password",
    why="slurmdbd takes both from the secret, and cannot log in without one of them",
    fix="store JSON with the keys username and password",
    allowed='{"username": "...", "password": "..."}',
    source=_DATABASE,
)
def the_secret_has_both_keys(cluster: Cluster) -> str | None:
    secret = resource_of(cluster.get(*ACCOUNTING, "SecretArn"), SECRET)
    keys = None if secret is None else keys_of(secret)
    lacking = [] if keys is None else [key for key in ("username", "password") if key not in keys]
    if secret is None or not lacking:
        return None
    return f"the secret {secret.logical_id} of the accounting database has no {' and no '.join(lacking)}"
