"""Kubernetes: the cluster that HyperPod joins, and what its groups cannot have."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hyperpod_constructs.rules.facts.clusters import alike_groups_once, clusters, given, groups, hit
from hyperpod_constructs.rules.facts.kubernetes import EksCluster, joined
from hyperpod_constructs.rules.finding import Hit, Level
from hyperpod_constructs.rules.mistakes import Mistake
from hyperpod_constructs.rules.rule import rule
from hyperpod_constructs.rules.template.model import Model
from hyperpod_constructs.rules.template.values import as_int, as_str, parts_of

_GUIDE = "https://docs.aws.amazon.com/sagemaker/latest/dg/"
_PREREQUISITES = f"{_GUIDE}sagemaker-hyperpod-eks-prerequisites.html"
_OLDEST, _NEWEST = (1, 30), (1, 35)
_MODES = ("API", "API_AND_CONFIG_MAP")
_LEAST_PERCENTAGE = 20
_CHART = re.compile("hyperpod", re.IGNORECASE)


def _version(eks: EksCluster) -> tuple[int, int] | None:
    found = re.fullmatch(r"(\d{1,9})\.(\d{1,9})", eks.version or "")
    return None if found is None else (int(found[1]), int(found[2]))


def _shown(version: tuple[int, int]) -> str:
    return ".".join(map(str, version))


@rule(
    "HP-EKS-001",
    Level.ERROR,
    title="a cluster on EKS has a VpcConfig",
    why="its nodes must be in the network of the Kubernetes cluster, and the service refuses a cluster on EKS without a VpcConfig",
    fix="write VpcConfig with private subnets and a security group of that VPC",
    allowed="VpcConfig in the VPC of the Kubernetes cluster",
    source=f"{_GUIDE}sagemaker-hyperpod-prerequisites.html#sagemaker-hyperpod-prerequisites-optional-vpc",
)
def the_network_is_given(model: Model) -> Iterator[Hit]:
    for cluster in clusters(model):
        if cluster.on_eks and cluster.has_network is False:
            mistake = Mistake("a cluster on EKS without VpcConfig", "write VpcConfig in the VPC of the Kubernetes cluster")
            yield cluster.hit(mistake, "VpcConfig")


@rule(
    "HP-EKS-002",
    Level.ERROR,
    title=f"the Kubernetes version is {_shown(_OLDEST)} or newer",
    why="HyperPod refuses to join older clusters",
    fix="raise Version of the Kubernetes cluster",
    allowed=f"{_shown(_OLDEST)} to {_shown(_NEWEST)}",
    source=_PREREQUISITES,
)
def the_version_is_not_too_old(model: Model) -> Iterator[Hit]:
    for cluster, eks in joined(model):
        version = _version(eks)
        if version is not None and version < _OLDEST:
            text = f"{cluster.resource.logical_id} joins a cluster of Kubernetes {_shown(version)}"
            mistake = Mistake(text, f"take {_shown(_OLDEST)} to {_shown(_NEWEST)}")
            yield hit(eks.resource, eks.version_path, mistake, eks.version)


@rule(
    "HP-EKS-003",
    Level.WARNING,
    title=f"the Kubernetes version is {_shown(_NEWEST)} or older",
    why="HyperPod's images and agents were documented up to this version when this rule was written (2026-11)",
    fix=f"take {_shown(_NEWEST)}, or see in HyperPod's prerequisites whether yours is supported by now",
    allowed=f"{_shown(_OLDEST)} to {_shown(_NEWEST)}",
    source=_PREREQUISITES,
)
def the_version_is_not_too_new(model: Model) -> Iterator[Hit]:
    for cluster, eks in joined(model):
        version = _version(eks)
        if version is not None and version > _NEWEST:
            text = f"{cluster.resource.logical_id} joins a cluster of Kubernetes {_shown(version)}"
            mistake = Mistake(text, f"take {_shown(_NEWEST)}, or see in HyperPod's prerequisites whether yours is supported by now")
            yield hit(eks.resource, eks.version_path, mistake, eks.version)


@rule(
    "HP-EKS-004",
    Level.ERROR,
    title="the Kubernetes cluster authenticates by its API",
    why="HyperPod gives its nodes and itself access by access entries, which the mode CONFIG_MAP does not have",
    fix="write AccessConfig.AuthenticationMode: API_AND_CONFIG_MAP",
    allowed=" or ".join(_MODES),
    source=_PREREQUISITES,
)
def access_entries_are_possible(model: Model) -> Iterator[Hit]:
    for cluster, eks in joined(model):
        mode = eks.authentication_mode
        if mode == "CONFIG_MAP":
            text = f"{cluster.resource.logical_id} joins a cluster with the authentication mode {mode}"
            mistake = Mistake(text, "take API_AND_CONFIG_MAP; where none is written, EKS takes CONFIG_MAP")
            yield hit(eks.resource, eks.authentication_path, mistake, eks.resource.get(*eks.authentication_path))


@rule(
    "HP-EKS-005",
    Level.ERROR,
    title="groups of a cluster on EKS have no SlurmConfig",
    why="the service refuses Slurm's settings on a cluster that Kubernetes orchestrates",
    fix="leave SlurmConfig out",
    allowed="SlurmConfig with Orchestrator.Slurm",
    source="https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterSlurmConfig.html",
    silences=("HP-EKS-006", "HP-EKS-007"),
)
@alike_groups_once
def groups_have_no_slurm(model: Model) -> Iterator[Hit]:
    for cluster, group in groups(model):
        if cluster.on_eks and given(group.get("SlurmConfig")):
            yield group.hit(
                Mistake(f"SlurmConfig on instance group {group.label!r} of a cluster on EKS", "leave it out"), "SlurmConfig"
            )


@rule(
    "HP-EKS-006",
    Level.WARNING,
    title="groups of a cluster on EKS run their scripts by OnCreate",
    why="OnInitComplete extends what the image sets up for Slurm; on EKS every group needs OnCreate",
    fix="name the entry point in OnCreate",
    allowed="OnCreate",
    source=f"{_GUIDE}sagemaker-hyperpod-eks-operate-cli-command-create-cluster.html",
)
@alike_groups_once
def scripts_run_on_create(model: Model) -> Iterator[Hit]:
    for cluster, group in groups(model):
        path = ("LifeCycleConfig", "OnInitComplete")
        if cluster.on_eks and given(group.get(*path)) and given(group.get("LifeCycleConfig", "OnCreate")) is False:
            mistake = Mistake(f"OnInitComplete on instance group {group.label!r} of a cluster on EKS", "write OnCreate instead")
            yield group.hit(mistake, *path)


@rule(
    "HP-EKS-007",
    Level.WARNING,
    title="file systems of a cluster on EKS are mounted by a CSI driver",
    why="the service mounts file systems on the nodes of Slurm clusters only; pods get theirs from a persistent volume",
    fix="leave FsxLustreConfig and FsxOpenZfsConfig out, and install the add-on aws-fsx-csi-driver",
    allowed="FsxLustreConfig and FsxOpenZfsConfig on Slurm",
    source=f"{_GUIDE}smcluster-getting-started-slurm-cli.html#smcluster-getting-started-slurm-cli-fsx-vpc",
)
@alike_groups_once
def file_systems_are_volumes(model: Model) -> Iterator[Hit]:
    for cluster, group in groups(model):
        for kind in ("FsxLustreConfig", "FsxOpenZfsConfig"):
            for path, _ in group.storage(kind):
                if cluster.on_eks:
                    text = f"{kind} on instance group {group.label!r} of a cluster on EKS"
                    yield group.hit(Mistake(text, "leave it out, and install the add-on aws-fsx-csi-driver"), *path)


@rule(
    "HP-EKS-008",
    Level.ERROR,
    title="the Helm chart of HyperPod is installed before the cluster is created",
    why='the service answers "missing one or more required dependencies"',
    fix="make the HyperPod cluster depend on the chart (DependsOn)",
    allowed="a cluster that depends on the chart",
    source=f"{_GUIDE}sagemaker-hyperpod-eks-install-packages-using-helm-chart.html",
)
def the_chart_comes_first(model: Model) -> Iterator[Hit]:
    for cluster, eks in joined(model):
        for chart in eks.charts:
            named = [chart.get(key) for key in ("Release", "Chart", "Repository")]
            ours = any(_CHART.search(part) for value in named for part in parts_of(value) if isinstance(part, str))
            if ours and not cluster.resource.awaits(chart) and not chart.awaits(cluster.resource):
                text = f"the cluster does not await {chart.logical_id}, which installs HyperPod's chart"
                yield cluster.hit(Mistake(text, f"add DependsOn: {chart.logical_id}"), "Orchestrator")


@rule(
    "HP-EKS-009",
    Level.WARNING,
    title="the VPC CNI is 1.18.3 or newer",
    why="older versions do not know HyperPod's nodes, whose pods then get no addresses",
    fix="raise AddonVersion of vpc-cni, or leave it out",
    allowed="v1.18.3 and newer",
    source=_PREREQUISITES,
)
def the_cni_knows_hyperpod(model: Model) -> Iterator[Hit]:
    for _, eks in joined(model):
        addon = eks.addons.get("vpc-cni")
        version = None if addon is None else as_str(addon.get("AddonVersion"))
        found = re.match(r"v?(\d{1,9})\.(\d{1,9})\.(\d{1,9})", version or "")
        if addon is not None and found is not None and tuple(map(int, found.groups())) < (1, 18, 3):
            mistake = Mistake(f"version {version} of the VPC CNI", "take v1.18.3 or newer")
            yield hit(addon, ("AddonVersion",), mistake, version)


@rule(
    "HP-EKS-010",
    Level.WARNING,
    title="tiered storage takes 20 to 100 percent of the memory of a node",
    why="the API takes any percentage, but the guide gives 20 to 100: with less, checkpoints may not fit",
    fix="write InstanceMemoryAllocationPercentage 20 or more, or leave it out",
    allowed="20 to 100",
    source=f"{_GUIDE}managed-tier-checkpointing-setup.html",
)
def tiered_storage_is_large_enough(model: Model) -> Iterator[Hit]:
    path = ("TieredStorageConfig", "InstanceMemoryAllocationPercentage")
    for cluster in clusters(model):
        percentage = as_int(cluster.get(*path))
        enabled = as_str(cluster.get("TieredStorageConfig", "Mode")) == "Enable"
        if cluster.on_eks and enabled and percentage is not None and percentage < _LEAST_PERCENTAGE:
            mistake = Mistake(f"tiered storage of {percentage} percent of the memory", f"take {_LEAST_PERCENTAGE} percent or more")
            yield cluster.hit(mistake, *path)
