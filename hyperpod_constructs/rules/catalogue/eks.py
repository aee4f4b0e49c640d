"""Kubernetes: the cluster that HyperPod joins, and its groups."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from hyperpod_constructs.analysis.clusters import Cluster, Group, clusters, given, groups
from hyperpod_constructs.analysis.kubernetes import EksCluster, installs, joined
from hyperpod_constructs.facts import clusters as cluster_facts
from hyperpod_constructs.facts import orchestration
from hyperpod_constructs.facts.kubernetes import NEWEST, OLDEST, version_of
from hyperpod_constructs.facts.mistake import Mistake
from hyperpod_constructs.rules.finding import Hit
from hyperpod_constructs.rules.hits import hit
from hyperpod_constructs.rules.rule import error, warning
from hyperpod_constructs.templates.dependencies import awaits
from hyperpod_constructs.templates.model import Model
from hyperpod_constructs.templates.values import as_int, as_str

_GUIDE = "https://docs.aws.amazon.com/sagemaker/latest/dg/"
_PREREQUISITES = f"{_GUIDE}sagemaker-hyperpod-eks-prerequisites.html"
_EKS_GUIDE = "https://docs.aws.amazon.com/eks/latest/userguide/"
_OLDEST, _NEWEST = version_of(OLDEST) or (), version_of(NEWEST) or ()
_TIERED_SHARE = f"{cluster_facts.LEAST_TIERED_PERCENTAGE} to 100"
_TIERED = ("TieredStorageConfig", "InstanceMemoryAllocationPercentage")

_joined_error, _joined_warning = partial(error, on=joined), partial(warning, on=joined)


def _version(eks: EksCluster) -> tuple[int, int] | None:
    found = re.fullmatch(r"(\d{1,9})\.(\d{1,9})", eks.version or "")
    return None if found is None else (int(found[1]), int(found[2]))


def _shown(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


def _groups_on_eks(model: Model) -> Iterator[Group]:
    return (group for group in groups(model) if group.cluster.on_eks)


@error(
    "HP-EKS-001",
    on=clusters,
    at=("VpcConfig",),
    title="a cluster on EKS has a VpcConfig",
    why="its nodes must be in the network of the Kubernetes cluster, and the service refuses a cluster on EKS without a VpcConfig",
    fix=orchestration.WITHOUT_NETWORK.fix,
    allowed="VpcConfig in the VPC of the Kubernetes cluster",
    source=f"{_GUIDE}sagemaker-hyperpod-prerequisites.html#sagemaker-hyperpod-prerequisites-optional-vpc",
)
def the_network_is_given(cluster: Cluster) -> Mistake | None:
    return orchestration.WITHOUT_NETWORK if cluster.on_eks and cluster.has_network is False else None


@_joined_error(
    "HP-EKS-002",
    title=f"the Kubernetes version is {_shown(_OLDEST)} or newer",
    why="HyperPod refuses to join older clusters",
    fix="raise Version of the Kubernetes cluster",
    allowed=f"{_shown(_OLDEST)} to {_shown(_NEWEST)}",
    source=_PREREQUISITES,
)
def the_version_is_not_too_old(cluster: Cluster, eks: EksCluster) -> Hit | None:
    version = _version(eks)
    return _of_version(cluster, eks) if version is not None and version < _OLDEST else None


def _of_version(cluster: Cluster, eks: EksCluster) -> Hit:
    return hit(eks.resource, f"{cluster.resource.logical_id} joins a cluster of Kubernetes {eks.version}", *eks.version_path)


@_joined_warning(
    "HP-EKS-003",
    title=f"the Kubernetes version is {_shown(_NEWEST)} or older",
    why="HyperPod's images and agents were documented up to this version when this rule was written (2026-11)",
    fix=f"take {_shown(_NEWEST)}, or see in HyperPod's prerequisites whether your version is supported by now",
    allowed=f"{_shown(_OLDEST)} to {_shown(_NEWEST)}",
    source=_PREREQUISITES,
)
def the_version_is_not_too_new(cluster: Cluster, eks: EksCluster) -> Hit | None:
    version = _version(eks)
    return _of_version(cluster, eks) if version is not None and version > _NEWEST else None


@_joined_error(
    "HP-EKS-004",
    title="the Kubernetes cluster authenticates by its API",
    why="HyperPod gives its nodes and itself access by access entries, which the mode CONFIG_MAP (the default) does not have",
    fix="write AccessConfig.AuthenticationMode: API_AND_CONFIG_MAP",
    allowed="API or API_AND_CONFIG_MAP",
    source=_PREREQUISITES,
)
def access_entries_are_possible(cluster: Cluster, eks: EksCluster) -> Hit | None:
    if eks.authentication_mode != "CONFIG_MAP":
        return None
    text = f"{cluster.resource.logical_id} joins a cluster with the authentication mode {eks.authentication_mode}"
    return hit(eks.resource, text, *eks.authentication_path)


@error(
    "HP-EKS-005",
    on=_groups_on_eks,
    at=("SlurmConfig",),
    once=True,
    title="groups of a cluster on EKS have no SlurmConfig",
    why="the service refuses Slurm's settings on a cluster that Kubernetes orchestrates",
    fix=orchestration.slurm_on_eks.fix,
    allowed="SlurmConfig with Orchestrator.Slurm",
    source="https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterSlurmConfig.html",
    silences=("HP-EKS-006", "HP-EKS-007"),
)
def groups_have_no_slurm(group: Group) -> Mistake | None:
    return orchestration.slurm_on_eks(group.label, "SlurmConfig") if given(group.get("SlurmConfig")) else None


@warning(
    "HP-EKS-006",
    on=_groups_on_eks,
    at=("LifeCycleConfig", "OnInitComplete"),
    once=True,
    title="groups of a cluster on EKS run their scripts by OnCreate",
    why="OnInitComplete extends the set-up of the image for Slurm; on EKS every group needs OnCreate",
    fix=orchestration.completed_on_eks.fix,
    allowed="OnCreate",
    source=f"{_GUIDE}sagemaker-hyperpod-eks-operate-cli-command-create-cluster.html",
)
def scripts_run_on_create(group: Group) -> Mistake | None:
    created, completed = (given(group.get("LifeCycleConfig", key)) for key in ("OnCreate", "OnInitComplete"))
    return orchestration.completed_on_eks(group.label) if completed and created is False else None


@warning(
    "HP-EKS-007",
    on=_groups_on_eks,
    once=True,
    title="file systems of a cluster on EKS are mounted by a CSI driver",
    why="the service mounts file systems on the nodes of Slurm clusters only; pods get theirs from a persistent volume",
    fix=orchestration.mount_on_eks.fix,
    allowed="FsxLustreConfig and FsxOpenZfsConfig on Slurm",
    source=f"{_GUIDE}smcluster-getting-started-slurm-cli.html#smcluster-getting-started-slurm-cli-fsx-vpc",
)
def file_systems_are_volumes(group: Group) -> Iterator[Hit]:
    for kind in ("FsxLustreConfig", "FsxOpenZfsConfig"):
        for path, _ in group.storage(kind):
            yield hit(group, orchestration.mount_on_eks(group.label, kind), *path)


@_joined_error(
    "HP-EKS-008",
    at=("Orchestrator",),
    title="the Helm chart of HyperPod is installed before the cluster is created",
    why='the service answers "missing one or more required dependencies"',
    fix="make the HyperPod cluster depend on the chart (DependsOn)",
    allowed="a cluster that depends on the chart",
    source=f"{_GUIDE}sagemaker-hyperpod-eks-install-packages-using-helm-chart.html",
)
def the_chart_comes_first(cluster: Cluster, eks: EksCluster) -> Iterator[str]:
    for chart in eks.charts:
        if installs(chart, "hyperpod") and not awaits(cluster.resource, chart) and not awaits(chart, cluster.resource):
            yield f"the cluster does not await {chart.logical_id}, which installs HyperPod's chart"


@warning(
    "HP-EKS-010",
    on=clusters,
    at=_TIERED,
    title=f"tiered storage takes {_TIERED_SHARE} percent of the memory of a node",
    why=f"the API takes any percentage, but the guide gives {_TIERED_SHARE}: with less, checkpoints may not fit",
    fix=orchestration.tiered_share.fix,
    allowed=_TIERED_SHARE,
    source=f"{_GUIDE}managed-tier-checkpointing-setup.html",
)
def tiered_storage_is_large_enough(cluster: Cluster) -> Mistake | None:
    percentage = as_int(cluster.get(*_TIERED))
    enabled = as_str(cluster.get("TieredStorageConfig", "Mode")) == "Enable"
    if not cluster.on_eks or not enabled or percentage is None or percentage >= cluster_facts.LEAST_TIERED_PERCENTAGE:
        return None
    return orchestration.tiered_share(percentage)
