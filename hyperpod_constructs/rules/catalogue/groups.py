"""Instance groups: names, counts, volumes, mounts and hardware settings."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from hyperpod_constructs.analysis.clusters import Cluster, Group, clusters, given, groups
from hyperpod_constructs.analysis.file_systems import LUSTRE, OPENZFS
from hyperpod_constructs.analysis.schema.resources import schema_violations
from hyperpod_constructs.facts import clusters as cluster_facts
from hyperpod_constructs.facts import orchestration, software_updates
from hyperpod_constructs.facts.mistake import Mistake
from hyperpod_constructs.rules.finding import Hit, hit
from hyperpod_constructs.rules.rule import error, warning
from hyperpod_constructs.templates.model import Model, Resource
from hyperpod_constructs.templates.values import Value, as_bool, as_int, as_items, as_str, at

_API = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/"
_GROUP = f"{_API}API_ClusterInstanceGroupSpecification.html"
_VOLUME = f"{_API}API_ClusterEbsVolumeConfig.html"
_GUIDE = "https://docs.aws.amazon.com/sagemaker/latest/dg/"
_MOUNTS = f"{_GUIDE}smcluster-getting-started-slurm-cli.html#smcluster-getting-started-slurm-cli-fsx-vpc"
_CHECKS_ON_EKS = f"{_GUIDE}sagemaker-hyperpod-eks-resiliency-deep-health-checks.html"
_CHECKS, _TAINTS = "OnStartDeepHealthChecks", ("KubernetesConfig", "Taints")
_DEFAULT_PATHS = {"FsxLustreConfig": "/fsx", "FsxOpenZfsConfig": "/home"}
_TYPES = {"FsxLustreConfig": LUSTRE, "FsxOpenZfsConfig": OPENZFS}
_group_error, _group_warning = partial(error, on=groups), partial(warning, on=groups)


@error(
    "HP-GRP-001",
    on=clusters,
    title="names of instance groups are unique, also between plain and restricted groups",
    why="the service tells groups apart by their names, and refuses the cluster",
    fix=cluster_facts.repeated_name.fix,
    allowed="a unique name in the cluster",
    source=_GROUP,
)
def names_are_unique(cluster: Cluster) -> Iterator[Hit]:
    seen: set[str | None] = set()
    for group in cluster.groups:
        if group.name is not None and group.name in seen:
            yield hit(group, cluster_facts.repeated_name(group.name), "InstanceGroupName")
        seen.add(group.name)


@_group_error(
    "HP-GRP-002",
    at=("MinInstanceCount",),
    title="MinInstanceCount is at most InstanceCount",
    why="the service refuses the group: it can never have more nodes than its count",
    fix=cluster_facts.minimum_above_count.fix,
    allowed="0 to InstanceCount",
    source=f"{_GUIDE}sagemaker-hyperpod-scaling-slurm.html",
)
def minimum_is_within_count(group: Group) -> Mistake | None:
    minimum = as_int(group.get("MinInstanceCount"))
    if minimum is not None and group.count is not None and minimum > group.count:
        return cluster_facts.minimum_above_count(minimum, group.count)
    return None


@_group_error(
    "HP-GRP-003",
    at=("InstanceStorageConfigs",),
    title="a group has at most one volume or file system of each kind",
    why="the service refuses the group",
    fix=cluster_facts.too_many_of_kind.fix,
    allowed="one root volume, one secondary volume, one Lustre and one OpenZFS file system",
    source=_VOLUME,
)
def one_volume_of_each_kind(group: Group) -> Iterator[Mistake]:
    roots = [_is_root(volume) for _, volume in group.storage("EbsVolumeConfig")]
    kinds = {
        "root volume": roots.count(True),
        "secondary volume": roots.count(False),
        "Lustre file system": len(list(group.storage("FsxLustreConfig"))),
        "OpenZFS file system": len(list(group.storage("FsxOpenZfsConfig"))),
    }
    return (cluster_facts.too_many_of_kind(count, kind) for kind, count in kinds.items() if count > 1)


@_group_error(
    "HP-GRP-004",
    title="a secondary volume has a size, a root volume has a key and no size",
    why="the service refuses the group",
    fix=cluster_facts.ROOT_VOLUME.fix,
    allowed="VolumeSizeInGB, or RootVolume: true with VolumeKmsKeyId",
    source=_VOLUME,
)
def volumes_are_complete(group: Group) -> Iterator[Hit]:
    for path, volume in group.storage("EbsVolumeConfig"):
        mistake = _volume_mistake(volume)
        if mistake is not None:
            keys = ("RootVolume", "VolumeKmsKeyId")
            yield hit(group, mistake, *path, doubts=((group.resource, (*group.path, *path, key)) for key in keys))


def _is_root(volume: Value) -> bool | None:
    root = at(volume, "RootVolume")
    return False if given(root) is False else as_bool(root)


def _volume_mistake(volume: Value) -> Mistake | None:
    root = _is_root(volume)
    size, key = given(at(volume, "VolumeSizeInGB")), given(at(volume, "VolumeKmsKeyId"))
    if root is False and size is False:
        return cluster_facts.SECONDARY_VOLUME
    return cluster_facts.ROOT_VOLUME if root and (size or key is False) else None


@_group_warning(
    "HP-GRP-005",
    at=("InstanceStorageConfigs",),
    title="each file system of a group has a mount path of its own, apart from what nodes have",
    why="the mount hides what is there, another file system or a part of the node, and jobs write to the wrong place",
    fix=cluster_facts.SEPARATE_MOUNT_PATHS,
    allowed="different values of MountPath, beside /opt/sagemaker and the image's own; by default Lustre is at /fsx and OpenZFS at "
    "/home",
    source=_MOUNTS,
)
def mount_paths_differ(group: Group) -> Iterator[Hit | Mistake]:
    shared = cluster_facts.shared_mount_path([path for _, path, _ in _mounts(group) if path is not None])
    if shared is not None:
        yield shared
    for place, path, usual in _mounts(group):
        hidden = None if path is None else cluster_facts.mount_over_place(path, usual)
        if hidden is not None:
            yield hit(group, hidden, *place, "MountPath")


def _mounts(group: Group) -> Iterator[tuple[tuple[str | int, ...], str | None, str]]:
    """The first mount of each kind, with its path and the usual one; another rule finds more of a kind."""
    for kind, default in _DEFAULT_PATHS.items():
        for place, mount in list(group.storage(kind))[:1]:
            path = at(mount, "MountPath")
            yield place, default if given(path) is False else as_str(path), default


@_group_error(
    "HP-GRP-006",
    once=True,
    title="file systems are mounted only in a custom VPC",
    why='the service answers "FSx configurations are only supported for Custom VPC"',
    fix=cluster_facts.mount_without_network.fix,
    allowed="FsxLustreConfig and FsxOpenZfsConfig in a cluster with VpcConfig",
    source=_MOUNTS,
    because=("VpcConfig",),
)
def mounts_have_a_network(group: Group) -> Iterator[Hit]:
    if group.cluster.has_network is False and not group.cluster.on_eks:
        for place, path, usual in list(_mounts(group))[:1]:
            yield hit(group, cluster_facts.mount_without_network(group.label, path or usual), *place[:1])


@_group_error(
    "HP-GRP-007",
    at=("OverrideVpcConfig",),
    once=True,
    title="OverrideVpcConfig needs the VpcConfig of the cluster",
    why="the service refuses a group with a network of its own in a cluster without one",
    fix=cluster_facts.override_without_network.fix,
    allowed="OverrideVpcConfig in a cluster with VpcConfig",
    source=f"{_GUIDE}sagemaker-hyperpod-prerequisites.html#sagemaker-hyperpod-prerequisites-multiple-availability-zones",
    because=("VpcConfig",),
)
def overrides_have_something_to_override(group: Group) -> Mistake | None:
    if group.cluster.has_network is False and group.cluster.on_eks is False and given(group.get("OverrideVpcConfig")):
        return cluster_facts.override_without_network(group.label)
    return None


@_group_error(
    "HP-GRP-008",
    at=("NetworkInterface", "InterfaceType"),
    title="network interfaces for EFA are for instance types with EFA",
    why="the nodes are never launched: the deployment fails, or with continuous provisioning it tries without end",
    fix=cluster_facts.interface_without_efa.fix,
    allowed="NetworkInterface on types with EFA",
    source="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html#efa-instance-types",
)
def efa_interfaces_are_on_efa_types(group: Group) -> Mistake | None:
    kind = as_str(group.get("NetworkInterface", "InterfaceType"))
    if kind and group.types and all(one.efa_interfaces == 0 for one in group.types):
        return cluster_facts.interface_without_efa(kind, [one.name for one in group.types])
    return None


@_group_error(
    "HP-GRP-009",
    at=("ThreadsPerCore",),
    title="ThreadsPerCore 2 is for instance types with simultaneous multithreading",
    why="types with one thread per core take only 1, and the nodes do not start",
    fix="leave ThreadsPerCore out, or write 1",
    allowed="1",
    source=f"{_GROUP}#sagemaker-Type-ClusterInstanceGroupSpecification-ThreadsPerCore",
)
def threads_exist(group: Group) -> str | None:
    if as_int(group.get("ThreadsPerCore")) == 2 and group.types and all(one.threads_per_core == 1 for one in group.types):
        return f"2 threads per core on {', '.join(one.name for one in group.types)}, whose cores have one"
    return None


def _listed_checks(group: Group) -> tuple[str | None, ...]:
    return tuple(map(as_str, as_items(group.get(_CHECKS)) or ()))


def _manages(group: Group) -> bool:
    """Whether a group manages a Slurm cluster: such nodes are never checked."""
    return not group.cluster.on_eks and group.node_type in ("Controller", "Login")


def _checked(model_groups: Iterator[Group], *, managing: bool) -> Iterator[Group]:
    return (group for group in model_groups if any(_listed_checks(group)) and _manages(group) is managing)


_checked_warning = partial(warning, on=lambda model: _checked(groups(model), managing=False), at=(_CHECKS,), source=_CHECKS_ON_EKS)


@_checked_warning(
    "HP-GRP-010",
    title="deep health checks are for instance types with accelerators",
    why="other types are skipped: the group looks checked, but is not",
    fix=cluster_facts.checks_without_accelerator.fix,
    allowed="OnStartDeepHealthChecks on types with GPUs or Neuron devices",
)
def checks_have_accelerators(group: Group) -> Mistake | None:
    plain = group.types and not any(one.accelerator for one in group.types)
    return cluster_facts.checks_without_accelerator([one.name for one in group.types or ()]) if plain else None


@_checked_warning(
    "HP-GRP-011",
    title="InstanceConnectivity is for two nodes or more",
    why="it runs collectives between nodes; a single node has no other to talk to",
    fix=cluster_facts.CONNECTIVITY_OF_ONE.fix,
    allowed="InstanceStress",
)
def connectivity_has_two_ends(group: Group) -> Mistake | None:
    accelerated = group.types is None or any(one.accelerator for one in group.types)
    alone = group.count == 1 and "InstanceConnectivity" in _listed_checks(group)
    return cluster_facts.CONNECTIVITY_OF_ONE if alone and accelerated else None


@_group_error(
    "HP-GRP-012",
    at=_TAINTS,
    title="a group with deep health checks has no custom taints",
    why="the checks taint the nodes themselves, and the service refuses any other taint in such a group",
    fix=orchestration.taints_beside_checks.fix,
    allowed="Taints in groups without OnStartDeepHealthChecks",
    source=_CHECKS_ON_EKS,
)
def checked_groups_have_no_taints(group: Group) -> Mistake | None:
    checked = group.cluster.on_eks and any(_listed_checks(group))
    return orchestration.taints_beside_checks(group.label) if checked and any(_possible_taints(group)) else None


def _possible_taints(group: Group) -> Iterator[bool]:
    """Whether the schema takes each custom taint of a group; one that it refuses is a mistake of its own."""
    place, refused = (*group.path, *_TAINTS), _refused(group.resource.template.model)
    for index, _ in enumerate(as_items(group.get(*_TAINTS)) or ()):
        yield (group.resource, (*place, index)) not in refused


def _refused(model: Model) -> frozenset[tuple[Resource, tuple[str | int, ...]]]:
    """The places at or below which a schema refuses something; computed once."""
    found = ((resource, one.path) for resource, one in schema_violations(model))
    return model.cached(_refused, lambda: frozenset((one, path[: end + 1]) for one, path in found for end in range(len(path))))


@warning(
    "HP-GRP-013",
    on=lambda model: _checked(groups(model), managing=True),
    at=(_CHECKS,),
    title="deep health checks are not on controller or login nodes",
    why="the checks of a Slurm cluster run on its compute nodes only",
    fix="leave OnStartDeepHealthChecks out of this group",
    allowed="OnStartDeepHealthChecks on Compute groups",
    source=f"{_GUIDE}sagemaker-hyperpod-resiliency-slurm-deep-health-checks.html",
)
def checks_are_of_compute_nodes(group: Group) -> str:
    return f"deep health checks on a {group.node_type} group, which is never checked"


@_group_error(
    "HP-GRP-014",
    at=("ScheduledUpdateConfig", "ScheduleExpression"),
    title="a schedule of updates names a day of the month or a day of the week",
    why="a cron expression has ? for one of the two days; with both or neither no time is meant, and the service refuses it",
    fix=software_updates.days_of_both_kinds.fix,
    allowed="? for exactly one of the two days",
    source="https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-scheduled-rule-pattern.html",
)
def schedules_name_one_kind_of_day(group: Group) -> Mistake | None:
    expression = as_str(group.get("ScheduledUpdateConfig", "ScheduleExpression"))
    malformed = expression is None or software_updates.SCHEDULE.mistake("ScheduleExpression", expression)
    return None if expression is None or malformed else software_updates.schedule_mistake(expression)


_DEPLOYMENTS = (("ScheduledUpdateConfig", "DeploymentConfig"), ("AutoPatchConfig", "DeploymentConfig"))


@_group_warning(
    "HP-GRP-015",
    title=f"a batch of an update is at most {software_updates.MOST_PERCENT} percent of the nodes",
    why="no group has so many nodes: a number of nodes was probably meant",
    fix=software_updates.percentage_above_all.fix,
    allowed=f"1 to {software_updates.MOST_PERCENT} with CAPACITY_PERCENTAGE",
    source=f"{_API}API_CapacitySizeConfig.html",
)
def batches_are_parts_of_a_group(group: Group) -> Iterator[Hit]:
    for place in _DEPLOYMENTS:
        for name in ("MaximumBatchSize", "RollbackMaximumBatchSize"):
            path = (*place, "RollingUpdatePolicy", name)
            size = as_int(group.get(*path, "Value"))
            if as_str(group.get(*path, "Type")) == "CAPACITY_PERCENTAGE" and (size or 0) > software_updates.MOST_PERCENT:
                yield hit(group, software_updates.percentage_above_all(size or 0), *path, "Value")


@_group_warning(
    "HP-GRP-016",
    title="rollback alarms have a wait between batches",
    why="the service looks at the alarms while it waits after a batch; without batches or a wait a bad image reaches every node",
    fix=software_updates.UNSEEN_ALARMS.fix,
    allowed="AutoRollbackConfiguration beside RollingUpdatePolicy and WaitIntervalInSeconds of 1 or more",
    source=software_updates.UPDATE_GUIDE,
)
def alarms_are_looked_at(group: Group) -> Iterator[Hit]:
    place = _DEPLOYMENTS[0]
    wait = group.get(*place, "WaitIntervalInSeconds")
    blind = given(group.get(*place, "RollingUpdatePolicy")) is False or given(wait) is False or as_int(wait) == 0
    if blind and given(group.get(*place, "AutoRollbackConfiguration")):
        yield hit(group, software_updates.UNSEEN_ALARMS, *place, "AutoRollbackConfiguration")
