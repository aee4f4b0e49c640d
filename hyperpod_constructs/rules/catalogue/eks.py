"""Kubernetes: the cluster that HyperPod joins, and its groups."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial

from hyperpod_constructs.analysis.chart_installers import chart_installers
from hyperpod_constructs.analysis.clusters import Cluster, Group, clusters, given, groups
from hyperpod_constructs.analysis.iam import ROLE
from hyperpod_constructs.analysis.kubernetes import EksCluster, Misnamed, eks_clusters, joined, named_elsewhere
from hyperpod_constructs.analysis.networks import SUBNET, in_one_zone, places_of_zones
from hyperpod_constructs.analysis.placement import NodeGroup, node_groups
from hyperpod_constructs.analysis.trust import assumptions
from hyperpod_constructs.facts import clusters as cluster_facts
from hyperpod_constructs.facts import orchestration
from hyperpod_constructs.facts.eks import AS_OF, STANDARD, SupportPeriod, support_on
from hyperpod_constructs.facts.kubernetes import (
    FEWEST_ZONES,
    MOST_MINOR_VERSIONS_BEHIND,
    NEWEST,
    NODE_ENTRY,
    ZONES_WITHOUT_EKS,
    KubernetesVersion,
    too_few_zones,
    version_of,
)
from hyperpod_constructs.facts.kubernetes_nodes import OWN_LABELS
from hyperpod_constructs.facts.mistake import Mistake
from hyperpod_constructs.rules.finding import Hit, hit
from hyperpod_constructs.rules.rule import ORDER, error, warning
from hyperpod_constructs.templates.dependencies import awaits
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, UNKNOWN, Value, as_int, as_items, as_str, is_known

_GUIDE = "https://docs.aws.amazon.com/sagemaker/latest/dg/"
_PREREQUISITES = f"{_GUIDE}sagemaker-hyperpod-eks-prerequisites.html"
_EKS_GUIDE = "https://docs.aws.amazon.com/eks/latest/userguide/"
_SUPPORTED = [version for version in KubernetesVersion if support_on(AS_OF, version) is not SupportPeriod.OVER]
_OLDEST, _NEWEST = version_of(min(_SUPPORTED)) or (), version_of(NEWEST) or ()
_IMAGE = re.compile(r"(\d+\.\d+)\.\d+-\d{8}")
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


_group_warning = partial(warning, on=_groups_on_eks)


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
    title=f"the Kubernetes version is {_shown(_OLDEST)} or newer, and EKS supports it",
    why=f"HyperPod refuses to join older clusters, and EKS makes none of a version whose support was over by {AS_OF}",
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


@_group_warning(
    "HP-EKS-006",
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


@_group_warning(
    "HP-EKS-007",
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
    because=ORDER,
)
def the_chart_comes_first(cluster: Cluster, eks: EksCluster) -> Iterator[str]:
    for chart in chart_installers(eks):
        if not awaits(cluster.resource, chart) and not awaits(chart, cluster.resource):
            yield f"the cluster does not await {chart.logical_id}, which installs HyperPod's chart"


@_joined_warning(
    "HP-EKS-017",
    at=("Orchestrator",),
    title="the Helm chart of HyperPod is installed in a Kubernetes cluster that the templates make",
    why='in a new Kubernetes cluster without it, the service answers "missing one or more required dependencies"',
    fix="install the chart (in the CDK: HyperPodDependencies) and make the HyperPod cluster depend on it; accept the finding where "
    "you install it by hand between two deployments",
    allowed="a chart of HyperPod, or another way to install it",
    source=f"{_GUIDE}sagemaker-hyperpod-eks-install-packages-using-helm-chart.html",
)
def the_chart_is_there(_: Cluster, eks: EksCluster) -> str | None:
    return f"nothing in the templates installs HyperPod's chart in {eks.resource.logical_id}" if eks.lacks_charts else None


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


@error(
    "HP-EKS-011",
    on=eks_clusters,
    title=f"the control plane has subnets in {FEWEST_ZONES} zones or more, all with EKS",
    why="EKS refuses the cluster: subnets must be in at least two availability zones, and some old zones have no EKS",
    fix="add a subnet in another zone, a small one: nodes need not be in it",
    allowed=f"subnets in {FEWEST_ZONES} or more availability zones, none of them {', '.join(ZONES_WITHOUT_EKS)}",
    source=f"{_EKS_GUIDE}network-reqs.html",
)
def the_control_plane_has_two_zones(eks: EksCluster) -> Iterator[Hit]:
    path = eks.network_path("SubnetIds")
    subnets, listed = eks.in_network("SubnetIds", SUBNET), as_items(eks.resource.get(*path))
    for subnet in subnets or ():
        zone = as_str(subnet.get("AvailabilityZoneId"))
        if zone in ZONES_WITHOUT_EKS:
            yield hit(subnet, f"{subnet.logical_id} of the control plane is in {zone}, which has no EKS", "AvailabilityZoneId")
    alone = listed is not None and len(listed) == 1
    if not alone and not in_one_zone(subnets or ()):
        return
    names = ", ".join(subnet.logical_id for subnet in subnets or ())
    text = too_few_zones("the control plane", f"in one zone ({names})" if names else "one subnet")
    yield hit(eks.resource, text, *path, doubts=places_of_zones(subnets or ()))


@_joined_error(
    "HP-EKS-012",
    title="the nodes are in the VPC of the control plane",
    why="HyperPod refuses to join nodes to a Kubernetes cluster in another VPC",
    fix="name subnets of the control plane's VPC in VpcConfig",
    allowed="subnets of one VPC",
    source=_PREREQUISITES,
)
def the_vpc_is_one(cluster: Cluster, eks: EksCluster) -> Iterator[Hit]:
    vpcs = [subnet.get("VpcId") for subnet in eks.in_network("SubnetIds", SUBNET) or ()][:1]
    for group in _placed(cluster):
        for subnet in group.subnets or ():
            own = subnet.get("VpcId")
            if vpcs and is_known((own, *vpcs)) and own != vpcs[0]:
                text = f"{subnet.logical_id} of group {group.label!r} is in another VPC than {eks.resource.logical_id}"
                yield hit(cluster, text, *group.network_path, "Subnets")
                return


def _placed(cluster: Cluster) -> Iterator[NodeGroup]:
    return (group for group in node_groups(cluster.resource.template.model) if group.cluster is cluster)


@warning(
    "HP-EKS-050",
    on=named_elsewhere,
    title="add-ons, identities, access entries and nodes name the Kubernetes cluster of the templates",
    why="EKS knows no cluster of another name, or gives them to that one",
    fix="write Ref of the cluster, or its Arn in the HyperPod cluster",
    allowed="the name of the cluster in the templates",
    source="https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateAddon.html",
    silences=("HP-ADD-020", "HP-ADD-030", "HP-NGR-003"),
)
def parts_name_the_cluster(one: Misnamed) -> Hit:
    name = as_str(one.eks.resource.get("Name"))
    text = f"{one.resource.logical_id} names the cluster {one.name}; {one.eks.resource.logical_id} is {name}"
    return hit(one.resource, text, *one.path, covers=one.eks.parts)


@_joined_warning(
    "HP-EKS-014",
    title="the role of HyperPod's nodes has no other part in the Kubernetes cluster",
    why=f"a role has one access entry, and HyperPod's nodes join by one of the type {NODE_ENTRY}: beside EKS's own nodes, or with "
    "an entry of another type, they never become nodes",
    fix="give EKS's node group a role of its own, and leave the entry out: HyperPod makes it",
    allowed=f"no access entry, or one of the type {NODE_ENTRY}",
    source=_PREREQUISITES,
    silences=("HP-ACC-006", "HP-EKS-015", "HP-ROL-001"),
)
def the_role_of_nodes_is_theirs(cluster: Cluster, eks: EksCluster) -> Iterator[Hit]:
    roles = {_role_key(group.get("ExecutionRole")) for group in cluster.groups} - {None}
    for entry in eks.access_entries:
        kind = as_str(entry.get("Type")) or STANDARD
        if _role_key(entry.get("PrincipalArn")) in roles and kind != NODE_ENTRY:
            text = f"the role of HyperPod's nodes has an access entry of the type {kind}"
            yield hit(entry, text, "Type", covers=eks.hyperpod_charts)
    for nodes in eks.node_groups:
        role = _role_key(nodes.get("NodeRole"))
        if role in roles:
            yield _shared_role(cluster, nodes, role)


def _shared_role(cluster: Cluster, nodes: Resource, role: Resource | str | None) -> Hit:
    """A role of HyperPod's nodes and of a node group, at the one that may not assume it; at the node group where nobody knows."""
    covers = (role,) if isinstance(role, Resource) else ()
    users = [one.user for one in assumptions(nodes.template.model) if one.role is role and one.lacking] if covers else []
    group = next((one for one in cluster.groups if _role_key(one.get("ExecutionRole")) == role), None)
    if group is not None and cluster.resource in users:
        text = f"the role of instance group {group.label!r} is that of {nodes.logical_id} too"
        return hit(group, text, "ExecutionRole", covers=(*covers, nodes))
    return hit(nodes, "the role of HyperPod's nodes is that of this node group too", "NodeRole", covers=covers)


@error(
    "HP-EKS-015",
    on=eks_clusters,
    title="the role of a node group has an access entry of nodes, or none",
    why="EKS makes the entry with the node group; beside one of another type the nodes never join",
    fix="take the entry out, or give the people a role of their own",
    allowed="no access entry, or one of the type EC2_LINUX or EC2_WINDOWS",
    source=f"{_EKS_GUIDE}creating-access-entries.html",
)
def roles_of_node_groups_are_theirs(eks: EksCluster) -> Iterator[Hit]:
    roles = {_role_key(nodes.get("NodeRole")) for nodes in eks.node_groups} - {None}
    for entry in eks.access_entries:
        kind = entry.get("Type")
        if _role_key(entry.get("PrincipalArn")) in roles and (as_str(kind) == STANDARD or kind is ABSENT):
            yield hit(entry, f"the role of a node group has an access entry of the type {STANDARD}", "PrincipalArn")


def _role_key(value: Value) -> Resource | str | None:
    return resource_of(value, ROLE) or as_str(value)


@_joined_warning(
    "HP-EKS-016",
    title="node groups are at most three minor versions behind the control plane, and their image is of their version",
    why="Kubernetes supports no nodes that are further behind, and EKS refuses an image of another version",
    fix="leave Version and ReleaseVersion of the node group out: they are then those of the cluster, and the newest image",
    allowed=f"the version of the cluster, or up to {MOST_MINOR_VERSIONS_BEHIND} minor versions less",
    source="https://kubernetes.io/docs/setup/version-skew-policy/",
)
def nodes_are_not_far_behind(_: Cluster, eks: EksCluster) -> Iterator[Hit]:
    control = _version(eks)
    for nodes in eks.node_groups:
        version = version_of(as_str(nodes.get("Version")) or "")
        if control is None or version is None or len(version) != 2 or version[0] != control[0]:
            continue
        if control[1] - version[1] > MOST_MINOR_VERSIONS_BEHIND:
            yield hit(nodes, f"nodes of {_shown(version)} beside a control plane of {_shown(control)}", "Version")
    for nodes in eks.node_groups:
        release, kubernetes = as_str(nodes.get("ReleaseVersion")) or "", as_str(nodes.get("Version")) or eks.version
        image = _IMAGE.match(release) if (as_str(nodes.get("AmiType")) or "AL").startswith("AL") else None
        if image is not None and kubernetes is not None and image[1] != kubernetes and nodes.get("Version") is not UNKNOWN:
            yield hit(nodes, f"the image {release} is of Kubernetes {image[1]}, and the nodes of {kubernetes}", "ReleaseVersion")


@error(
    "HP-EKS-018",
    on=clusters,
    at=("Orchestrator",),
    title="a cluster has one orchestrator",
    why="the service refuses a cluster with two",
    fix="write Eks or Slurm",
    allowed="Eks or Slurm",
    source="https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterOrchestrator.html",
    silences=("HP-CAP-006",),
)
def the_orchestrator_is_one(cluster: Cluster) -> str | None:
    both = all(given(cluster.get("Orchestrator", kind)) for kind in ("Eks", "Slurm"))
    return "the cluster has two orchestrators, Eks and Slurm" if both else None


@_group_warning(
    "HP-EKS-019",
    title="labels of nodes are not the service's own",
    why="the service reads and writes these labels: a health status of yours makes it replace or drain the nodes, or hides a fault",
    fix="take a key with a prefix of your own, such as example.com/pool",
    allowed=f"keys that do not begin with {OWN_LABELS}",
    source=f"{_GUIDE}sagemaker-hyperpod-eks-resiliency-node-labels.html",
)
def labels_are_not_the_service_s(group: Group) -> Iterator[Hit]:
    labels = group.get("KubernetesConfig", "Labels")
    for key in labels if isinstance(labels, Mapping) else ():
        if key.startswith(OWN_LABELS):
            yield hit(group, f"instance group {group.label!r} has the label {key}", "KubernetesConfig", "Labels", key)
