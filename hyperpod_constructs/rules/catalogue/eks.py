"""Kubernetes: the cluster that HyperPod joins, its groups, and its add-ons."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial

from hyperpod_constructs.analysis.clusters import Cluster, Group, clusters, given, groups
from hyperpod_constructs.analysis.iam import ROLE, role_facts
from hyperpod_constructs.analysis.kubernetes import ADDON, EksCluster, eks_clusters, installs, joined
from hyperpod_constructs.facts import clusters as cluster_facts
from hyperpod_constructs.facts import orchestration
from hyperpod_constructs.facts.addons import (
    NO_INLINE_IDENTITY,
    POD_IDENTITY_AGENT,
    VPC_CNI,
    Nodes,
    known_addons,
    named,
    prerequisites,
)
from hyperpod_constructs.facts.kubernetes import LEAST_CNI, NEWEST, OLDEST, PODS_PRINCIPAL, version_of
from hyperpod_constructs.facts.mistake import Mistake
from hyperpod_constructs.rules.finding import Hit
from hyperpod_constructs.rules.hits import hit
from hyperpod_constructs.rules.rule import error, warning
from hyperpod_constructs.templates.dependencies import awaits
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import as_int, as_items, as_str, at

_GUIDE = "https://docs.aws.amazon.com/sagemaker/latest/dg/"
_PREREQUISITES = f"{_GUIDE}sagemaker-hyperpod-eks-prerequisites.html"
_EKS_GUIDE = "https://docs.aws.amazon.com/eks/latest/userguide/"
_OLDEST, _NEWEST = version_of(OLDEST) or (), version_of(NEWEST) or ()
_CNI = LEAST_CNI
_TIERED_SHARE = f"{cluster_facts.LEAST_TIERED_PERCENTAGE} to 100"
_TIERED = ("TieredStorageConfig", "InstanceMemoryAllocationPercentage")

_joined_error, _joined_warning = partial(error, on=joined), partial(warning, on=joined)

_TRAINING_OPERATOR, _BROKEN_VERSION = NO_INLINE_IDENTITY
_AGENT = POD_IDENTITY_AGENT

# Add-ons that become active only when a node runs their pods.
_NEED_NODES = named(Nodes.NEEDS)
# These are degraded until nodes come, and then heal; nothing that brings the nodes may wait for them.
_HEAL = named(Nodes.HEALS)
_NEED: Mapping[str, tuple[str, ...]] = {name: needed for name in known_addons() if (needed := prerequisites(name))}


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


@_joined_warning(
    "HP-EKS-009",
    title=f"the VPC CNI is {_shown(_CNI)} or newer",
    why="older versions do not know HyperPod's nodes, whose pods then get no addresses",
    fix="raise AddonVersion of vpc-cni, or leave it out",
    allowed=f"v{_shown(_CNI)} and newer",
    source=_PREREQUISITES,
)
def the_cni_knows_hyperpod(_: Cluster, eks: EksCluster) -> Hit | None:
    addon = eks.addons.get(VPC_CNI)
    version = None if addon is None else as_str(addon.get("AddonVersion"))
    found = re.match(r"v?(\d{1,9})\.(\d{1,9})\.(\d{1,9})", version or "")
    if addon is None or found is None or tuple(map(int, found.groups())) >= _CNI:
        return None
    return hit(addon, f"version {version} of the VPC CNI", "AddonVersion")


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


@_joined_warning(
    "HP-EKS-020",
    title="add-ons that need nodes come after the HyperPod cluster",
    why="without a node their pods never run, and the add-on fails or is degraded when its time is over",
    fix="make the add-on depend on the HyperPod cluster (DependsOn)",
    allowed="an add-on that depends on the HyperPod cluster",
    source=f"{_GUIDE}sagemaker-hyperpod-eks-operate-console-ui-governance-setup-task-governance.html",
)
def addons_come_after_nodes(cluster: Cluster, eks: EksCluster) -> Iterator[Hit]:
    for addon in eks.installed(_NEED_NODES) if eks.lacks_nodes else ():
        if not awaits(addon, cluster.resource):
            text = f"add-on {addon.get('AddonName')} does not await {cluster.resource.logical_id}, which brings the only nodes"
            yield hit(addon, text)


@_joined_warning(
    "HP-EKS-021",
    title="the HyperPod cluster awaits no add-on that needs its nodes",
    why="each waits for the other, until the add-on is given up as degraded",
    fix="take the add-on out of the dependencies of the HyperPod cluster",
    allowed="a cluster that depends on vpc-cni, kube-proxy and eks-pod-identity-agent at most",
    source=f"{_EKS_GUIDE}managing-coredns.html",
    silences=("HP-EKS-020",),
)
def nodes_do_not_await_addons(cluster: Cluster, eks: EksCluster) -> Iterator[Hit]:
    for addon in eks.installed((*_NEED_NODES, *_HEAL)) if eks.lacks_nodes else ():
        if awaits(cluster.resource, addon):
            names = f"{addon.get('AddonName')} ({addon.logical_id})"
            text = f"the cluster awaits the add-on {names}, which needs the nodes that only the cluster brings"
            yield Hit(cluster.resource, (), text, covers=(addon,))


@warning(
    "HP-EKS-022",
    on=eks_clusters,
    title="add-ons come after the add-ons that they need",
    why="an operator without certificates or an identity fails its first start, and the deployment with it",
    fix="make the add-on depend on its requirements (DependsOn)",
    allowed="an add-on that depends on its requirements",
    source=f"{_GUIDE}sagemaker-eks-operator-install.html",
)
def addons_come_in_order(eks: EksCluster) -> Iterator[Hit]:
    for addon in eks.installed(_NEED):
        late = [other for other in eks.installed(_NEED[str(addon.get("AddonName"))]) if not awaits(addon, other)]
        if late:
            names = ", ".join(f"{other.get('AddonName')} ({other.logical_id})" for other in late)
            yield hit(addon, f"add-on {addon.get('AddonName')} does not await {names}")


@_joined_warning(
    "HP-EKS-023",
    title="pod identities need the add-on eks-pod-identity-agent",
    why="without the agent on the nodes pods get no credentials, and AWS refuses every call of theirs",
    fix=f"add the add-on {_AGENT}",
    allowed=f"associations in a cluster with {_AGENT}",
    source=f"{_EKS_GUIDE}pod-id-agent-setup.html",
)
def identities_have_an_agent(_: Cluster, eks: EksCluster) -> Hit | None:
    model = eks.resource.template.model
    inline = [addon for addon in eks.addons.values() if as_items(addon.get("PodIdentityAssociations"))]
    users = [*eks.pod_identities, *inline]
    agent = any(as_str(addon.get("AddonName")) in (_AGENT, None) for addon in model.resources(ADDON))
    if not users or agent or eks.is_automatic or eks.charts or not model.complete:
        return None
    return hit(users[0], f"a pod identity in a cluster whose add-ons are {', '.join(eks.addons) or 'none'}")


@error(
    "HP-EKS-024",
    on=eks_clusters,
    title="roles of pod identities trust pods.eks.amazonaws.com with sts:AssumeRole and sts:TagSession",
    why='EKS answers "Trust policy of the role provided is invalid" to the association',
    fix="let the role's trust policy allow both actions to pods.eks.amazonaws.com",
    allowed="sts:AssumeRole and sts:TagSession by pods.eks.amazonaws.com",
    source=f"{_EKS_GUIDE}pod-id-role.html",
)
def identities_are_trusted(eks: EksCluster) -> Iterator[Hit]:
    for user, path in _identities(eks):
        role = resource_of(at(user.get(), *path), ROLE)
        asked = ("sts:AssumeRole", "sts:TagSession") if role is not None else ()
        lacking = [action for action in asked if role is not None and role_facts(role).trusts(PODS_PRINCIPAL, action) is False]
        if role is not None and lacking:
            yield hit(user, f"{role.logical_id} does not trust {PODS_PRINCIPAL} with {' and '.join(lacking)}", *path)


def _identities(eks: EksCluster) -> Iterator[tuple[Resource, tuple[str | int, ...]]]:
    """Roles of pods: the resource and the path of each."""
    for identity in eks.pod_identities:
        yield identity, ("RoleArn",)
    for addon in eks.addons.values():
        for index, _ in enumerate(as_items(addon.get("PodIdentityAssociations")) or ()):
            yield addon, ("PodIdentityAssociations", index, "RoleArn")


@error(
    "HP-EKS-025",
    on=eks_clusters,
    title=f"the training operator {_BROKEN_VERSION} has its pod identity in a resource of its own",
    why='EKS answers "Pod Identity feature is not supported for addon version" to an association inside this version of the add-on',
    fix="take PodIdentityAssociations out of the add-on, and write an AWS::EKS::PodIdentityAssociation before it",
    allowed="an AWS::EKS::PodIdentityAssociation beside the add-on",
    source="https://github.com/awslabs/awsome-distributed-training/issues/1075",
)
def the_operator_s_identity_is_separate(eks: EksCluster) -> Iterator[Hit]:
    for addon in eks.installed([_TRAINING_OPERATOR]):
        if as_str(addon.get("AddonVersion")) == _BROKEN_VERSION and given(addon.get("PodIdentityAssociations")):
            text = f"a pod identity inside the add-on {_TRAINING_OPERATOR} {_BROKEN_VERSION}"
            yield hit(addon, text, "PodIdentityAssociations")


@warning(
    "HP-EKS-026",
    on=eks_clusters,
    title="the training operator comes after its pod identity",
    why="pods get an identity only when they start: an earlier operator has no identity until somebody restarts it",
    fix="make the add-on depend on the association (DependsOn)",
    allowed="an add-on that depends on its association",
    source=f"{_EKS_GUIDE}pod-identities.html",
)
def identities_come_before_pods(eks: EksCluster) -> Iterator[Hit]:
    for addon in eks.installed([_TRAINING_OPERATOR]):
        for identity in eks.pod_identities:
            if as_str(identity.get("Namespace")) == "aws-hyperpod" and not awaits(addon, identity):
                yield hit(addon, f"add-on {_TRAINING_OPERATOR} does not await {identity.logical_id}, the identity of its pods")
