"""Instance groups: names, counts, volumes, mounts and hardware settings."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_constructs.rules import mistakes
from hyperpod_constructs.rules.facts.clusters import Cluster, Group, alike_groups_once, clusters, given, groups
from hyperpod_constructs.rules.finding import Hit, Level
from hyperpod_constructs.rules.mistakes import Mistake
from hyperpod_constructs.rules.rule import rule
from hyperpod_constructs.rules.template.model import Model
from hyperpod_constructs.rules.template.values import Value, as_bool, as_int, as_items, as_str, at

_API = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/"
_GROUP = f"{_API}API_ClusterInstanceGroupSpecification.html"
_VOLUME = f"{_API}API_ClusterEbsVolumeConfig.html"
_GUIDE = "https://docs.aws.amazon.com/sagemaker/latest/dg/"
_MOUNTS = f"{_GUIDE}smcluster-getting-started-slurm-cli.html#smcluster-getting-started-slurm-cli-fsx-vpc"
_LUSTRE, _OPEN_ZFS = "FsxLustreConfig", "FsxOpenZfsConfig"
_DEFAULT_PATHS = {_LUSTRE: "/fsx", _OPEN_ZFS: "/home"}


@rule(
    "HP-GRP-001",
    Level.ERROR,
    title="names of instance groups are unique, also between plain and restricted groups",
    why="the service refuses the cluster, whose groups are told apart by their names",
    fix="give each group a name of its own",
    allowed="a name that no other group of the cluster has",
    source=_GROUP,
)
def names_are_unique(model: Model) -> Iterator[Hit]:
    for cluster in clusters(model):
        seen: set[str] = set()
        for group in cluster.groups:
            if group.name is not None and group.name in seen:
                yield group.hit(mistakes.repeated_name(group.name), "InstanceGroupName")
            seen |= {group.name} if group.name is not None else set()


@rule(
    "HP-GRP-002",
    Level.ERROR,
    title="MinInstanceCount is at most InstanceCount",
    why="the service refuses the group: it can never have more nodes than are asked for",
    fix="raise InstanceCount or lower MinInstanceCount",
    allowed="0 to InstanceCount",
    source=f"{_GUIDE}sagemaker-hyperpod-scaling-slurm.html",
)
def minimum_is_within_count(model: Model) -> Iterator[Hit]:
    for _, group in groups(model):
        minimum = as_int(group.get("MinInstanceCount"))
        if minimum is not None and group.count is not None and minimum > group.count:
            yield group.hit(mistakes.minimum_above_count(minimum, group.count), "MinInstanceCount")


@rule(
    "HP-GRP-003",
    Level.ERROR,
    title="a group has at most one volume or file system of each kind",
    why="the service refuses the group",
    fix="leave all but one out",
    allowed="one root volume, one secondary volume, one Lustre and one OpenZFS file system",
    source=_VOLUME,
)
def one_volume_of_each_kind(model: Model) -> Iterator[Hit]:
    for _, group in groups(model):
        roots = [_is_root(volume) for _, volume in group.storage("EbsVolumeConfig")]
        kinds = {
            "root volume": roots.count(True),
            "secondary volume": roots.count(False),
            "Lustre file system": len(list(group.storage(_LUSTRE))),
            "OpenZFS file system": len(list(group.storage(_OPEN_ZFS))),
        }
        for kind, count in kinds.items():
            if count > 1:
                yield group.hit(mistakes.too_many_of_kind(count, kind), "InstanceStorageConfigs")


@rule(
    "HP-GRP-004",
    Level.ERROR,
    title="a secondary volume has a size, a root volume has a key and no size",
    why="the service refuses the group",
    fix="write VolumeSizeInGB for a secondary volume, and RootVolume with VolumeKmsKeyId alone for the root volume",
    allowed="VolumeSizeInGB, or RootVolume: true with VolumeKmsKeyId",
    source=_VOLUME,
)
def volumes_are_complete(model: Model) -> Iterator[Hit]:
    for _, group in groups(model):
        for path, volume in group.storage("EbsVolumeConfig"):
            mistake = _volume_mistake(volume)
            if mistake is not None:
                yield group.hit(mistake, *path)


def _is_root(volume: Value) -> bool | None:
    root = at(volume, "RootVolume")
    return False if given(root) is False else as_bool(root)


def _volume_mistake(volume: Value) -> Mistake | None:
    root = _is_root(volume)
    size, key = given(at(volume, "VolumeSizeInGB")), given(at(volume, "VolumeKmsKeyId"))
    if root is False and size is False:
        return mistakes.SECONDARY_VOLUME
    return mistakes.ROOT_VOLUME if root and (size or key is False) else None


@rule(
    "HP-GRP-005",
    Level.WARNING,
    title="each file system of a group has a mount path of its own",
    why="the second mount hides the first, and jobs write to the wrong file system",
    fix="write different values of MountPath",
    allowed="paths that differ; without one, Lustre is at /fsx and OpenZFS at /home",
    source=_MOUNTS,
)
def mount_paths_differ(model: Model) -> Iterator[Hit]:
    for _, group in groups(model):
        mistake = mistakes.shared_mount_path([path for path in _mount_paths(group) if path is not None])
        if mistake is not None:
            yield group.hit(mistake, "InstanceStorageConfigs")


def _mount_paths(group: Group) -> Iterator[str | None]:
    """One of each kind: more are the matter of another rule."""
    for kind, default in _DEFAULT_PATHS.items():
        for _, mount in list(group.storage(kind))[:1]:
            path = at(mount, "MountPath")
            yield default if given(path) is False else as_str(path)


@rule(
    "HP-GRP-006",
    Level.ERROR,
    title="file systems are mounted only in a custom VPC",
    why='the service answers "FSx configurations are only supported for Custom VPC"',
    fix="give the cluster a VpcConfig in the VPC of the file system",
    allowed="FsxLustreConfig and FsxOpenZfsConfig in a cluster with VpcConfig",
    source=_MOUNTS,
)
@alike_groups_once
def mounts_have_a_network(model: Model) -> Iterator[Hit]:
    for cluster, group in groups(model):
        if cluster.has_network is False and not cluster.on_eks:
            for kind, default in _DEFAULT_PATHS.items():
                for path, mount in list(group.storage(kind))[:1]:
                    where = as_str(at(mount, "MountPath")) or default
                    yield group.hit(mistakes.mount_without_network(group.label, where), *path)


@rule(
    "HP-GRP-007",
    Level.ERROR,
    title="OverrideVpcConfig needs the VpcConfig of the cluster",
    why="the service refuses a group with a network of its own in a cluster that has none",
    fix="write VpcConfig on the cluster too",
    allowed="OverrideVpcConfig in a cluster with VpcConfig",
    source=f"{_GUIDE}sagemaker-hyperpod-prerequisites.html#sagemaker-hyperpod-prerequisites-multiple-availability-zones",
)
@alike_groups_once
def overrides_have_something_to_override(model: Model) -> Iterator[Hit]:
    for cluster, group in groups(model):
        if cluster.has_network is False and cluster.on_eks is False and given(group.get("OverrideVpcConfig")):
            mistake = Mistake(
                f"instance group {group.label!r} overrides a network that the cluster does not have", "give the cluster a VpcConfig"
            )
            yield group.hit(mistake, "OverrideVpcConfig")


@rule(
    "HP-GRP-008",
    Level.ERROR,
    title="network interfaces for EFA are for instance types with EFA",
    why="the nodes are never launched: the deployment fails, or with continuous provisioning it tries without end",
    fix="leave NetworkInterface out, or take a type with EFA",
    allowed="NetworkInterface on types with EFA",
    source="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html#efa-instance-types",
)
def efa_interfaces_are_on_efa_types(model: Model) -> Iterator[Hit]:
    for _, group in groups(model):
        kind = as_str(group.get("NetworkInterface", "InterfaceType"))
        if kind and group.types and all(one.efa_interfaces == 0 for one in group.types):
            names = ", ".join(one.name for one in group.types)
            mistake = Mistake(f"network interface {kind!r} on {names}, which has no EFA", "leave it out, or take a type with EFA")
            yield group.hit(mistake, "NetworkInterface", "InterfaceType")


@rule(
    "HP-GRP-009",
    Level.ERROR,
    title="ThreadsPerCore 2 is for instance types with simultaneous multithreading",
    why="types whose cores have one thread take only 1, and the nodes do not start",
    fix="leave ThreadsPerCore out, or write 1",
    allowed="1",
    source=f"{_GROUP}#sagemaker-Type-ClusterInstanceGroupSpecification-ThreadsPerCore",
)
def threads_exist(model: Model) -> Iterator[Hit]:
    for _, group in groups(model):
        if as_int(group.get("ThreadsPerCore")) == 2 and group.types and all(one.threads_per_core == 1 for one in group.types):
            names = ", ".join(one.name for one in group.types)
            mistake = Mistake(f"2 threads per core on {names}, whose cores have one", "leave ThreadsPerCore out, or write 1")
            yield group.hit(mistake, "ThreadsPerCore")


def _listed_checks(group: Group) -> tuple[str, ...]:
    return tuple(name for name in map(as_str, as_items(group.get("OnStartDeepHealthChecks")) or ()) if name is not None)


def _skips_checks(cluster: Cluster, group: Group) -> bool:
    """Whether a group is of nodes that manage a Slurm cluster, which are never checked."""
    return not cluster.on_eks and group.node_type in ("Controller", "Login")


@rule(
    "HP-GRP-010",
    Level.WARNING,
    title="deep health checks are for instance types with accelerators",
    why="other types are skipped: the group looks checked, and is not",
    fix="leave OnStartDeepHealthChecks out of this group",
    allowed="OnStartDeepHealthChecks on types with GPUs or Neuron devices",
    source=f"{_GUIDE}sagemaker-hyperpod-eks-resiliency-deep-health-checks.html",
)
def checks_have_accelerators(model: Model) -> Iterator[Hit]:
    for cluster, group in groups(model):
        plain = group.types and not any(one.accelerator for one in group.types)
        if plain and _listed_checks(group) and not _skips_checks(cluster, group):
            names = [one.name for one in group.types or ()]
            yield group.hit(mistakes.checks_without_accelerator(names), "OnStartDeepHealthChecks")


@rule(
    "HP-GRP-011",
    Level.WARNING,
    title="InstanceConnectivity is for two nodes or more",
    why="it runs collectives between nodes; a single node has no other to talk to",
    fix="keep InstanceStress only",
    allowed="InstanceStress",
    source=f"{_GUIDE}sagemaker-hyperpod-eks-resiliency-deep-health-checks.html",
)
def connectivity_has_two_ends(model: Model) -> Iterator[Hit]:
    for cluster, group in groups(model):
        alone = group.count == 1 and "InstanceConnectivity" in _listed_checks(group)
        accelerated = group.types is None or any(one.accelerator for one in group.types)
        if alone and accelerated and not _skips_checks(cluster, group):
            yield group.hit(mistakes.CONNECTIVITY_OF_ONE, "OnStartDeepHealthChecks")


@rule(
    "HP-GRP-012",
    Level.ERROR,
    title="a group with deep health checks has no custom taints",
    why="the checks taint the nodes themselves, and the service allows no other taint in such a group",
    fix="leave Taints out, or leave OnStartDeepHealthChecks out",
    allowed="Taints in groups without OnStartDeepHealthChecks",
    source=f"{_GUIDE}sagemaker-hyperpod-eks-resiliency-deep-health-checks.html",
)
def checked_groups_have_no_taints(model: Model) -> Iterator[Hit]:
    for cluster, group in groups(model):
        if cluster.on_eks and _listed_checks(group) and as_items(group.get("KubernetesConfig", "Taints")):
            mistake = Mistake(
                f"instance group {group.label!r} has deep health checks and custom taints", "leave one of the two out"
            )
            yield group.hit(mistake, "KubernetesConfig", "Taints")


@rule(
    "HP-GRP-013",
    Level.WARNING,
    title="deep health checks are not on controller or login nodes",
    why="the checks of a Slurm cluster run on its compute nodes only",
    fix="leave OnStartDeepHealthChecks out of this group",
    allowed="OnStartDeepHealthChecks on Compute groups",
    source=f"{_GUIDE}sagemaker-hyperpod-resiliency-slurm-deep-health-checks.html",
)
def checks_are_of_compute_nodes(model: Model) -> Iterator[Hit]:
    for cluster, group in groups(model):
        if _listed_checks(group) and _skips_checks(cluster, group):
            mistake = Mistake(f"deep health checks on a {group.node_type} group, which is never checked", "leave the checks out")
            yield group.hit(mistake, "OnStartDeepHealthChecks")
