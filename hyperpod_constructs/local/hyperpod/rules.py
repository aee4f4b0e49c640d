"""Refusals of HyperPod by the request alone: rules across fields, in the order in which a user meets them.

Messages that AWS documents keep its words, followed by the value found. The other messages are ours. Where the documentation leaves
a case open, the stricter reading counts, because a refusal costs less here than on AWS: a list that leaves a group out, and a
second controller node are refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hyperpod_constructs.facts import accounting, clusters, updates
from hyperpod_constructs.facts.instance_types import instance_type
from hyperpod_constructs.local.aws_service import AwsError
from hyperpod_constructs.local.hyperpod.restricted import KINDS, check_restricted, check_sizes, restricted_in, specs_of
from hyperpod_constructs.local.hyperpod.state import Cluster, LiveGroup, Spec, instance_types, node_type
from hyperpod_constructs.local.hyperpod.update_rules import group_mistake, software_mistake

TYPE = "AWS::SageMaker::Cluster"
_WHY_KEPT = {
    "NodeProvisioningMode": clusters.MODE_TAKEN_AWAY,
    "Orchestrator/Slurm/AccountingDatabase": accounting.TAKEN_AWAY,
}


def refusal(message: str) -> AwsError:
    """The error with which SageMaker answers a request that breaks a rule."""
    return AwsError("ValidationException", message)


def check_create(request: Mapping[str, Any]) -> None:
    """Refuse a CreateCluster request that breaks a rule.

    :raises AwsError: with the cause of the refusal.
    """
    _check_orchestrator(request.get("Orchestrator"))
    check_restricted(request.get("RestrictedInstanceGroups", ()), request, eks=_is_eks(request))
    check_settings(request)
    check_groups(specs_of(request), request, request["ClusterName"])


def check_update(cluster: Cluster, request: Mapping[str, Any]) -> None:
    """Refuse an UpdateCluster request that breaks a rule.

    :raises AwsError: with the cause of the refusal.
    """
    fixed = updates.fixed(TYPE)
    if "NodeProvisioningMode" in fixed and "NodeProvisioningMode" in request and not cluster.continuous:
        raise refusal(
            f"NodeProvisioningMode of cluster {cluster.name} cannot be changed here: {clusters.MODE_ADDED_LATER},"
            f" and the embedded AWS follows the older; it was created without {request['NodeProvisioningMode']}; create a new one"
        )
    orchestrator = request.get("Orchestrator")
    _check_orchestrator(orchestrator)
    if orchestrator is not None and ("Eks" in orchestrator) != _is_eks(cluster.settings):
        raise refusal(
            f"the orchestrator of cluster {cluster.name} cannot be changed between Slurm and EKS; create a new cluster instead"
        )
    _check_role(cluster, request)
    if orchestrator is not None:
        check_kept(cluster.settings, {**cluster.settings, "Orchestrator": orchestrator}, cluster.name)
    settings = {**cluster.settings, **settings_of(request)}
    check_settings(settings)
    groups = groups_after(cluster, request)
    if not groups:
        raise refusal(f"the update deletes every instance group of cluster {cluster.name}; at least one must remain")
    restricted = restricted_after(cluster, request)
    check_restricted((spec for spec in groups if spec["InstanceGroupName"] in restricted), settings, eks=_is_eks(settings))
    check_sizes(cluster, groups, settings)
    check_groups(groups, settings, cluster.name)


def check_kept(before: Mapping[str, Any], after: Mapping[str, Any], cluster: str) -> None:
    """Refuse to take away what a cluster keeps once it has it. UpdateCluster keeps a whole member that a request leaves out.

    :raises AwsError: with what is gone, and why it stays.
    """
    for path in sorted(updates.kept(TYPE)):
        if _at(before, path) is not None and _at(after, path) is None:
            raise refusal(f"{path.rpartition('/')[2]} of cluster {cluster} cannot be taken away: {_WHY_KEPT[path]}; keep it")


def check_software_update(cluster: Cluster, request: Mapping[str, Any]) -> None:
    """Refuse an UpdateClusterSoftware request that breaks a rule.

    :raises AwsError: with the cause of the refusal.
    """
    if (mistake := software_mistake(cluster, request, _is_eks(cluster.settings))) is not None:
        raise refusal(str(mistake))


def settings_of(request: Mapping[str, Any]) -> dict[str, Any]:
    """What a request says about the cluster as a whole: all but its name, its groups and its tags."""
    others = ("ClusterName", *KINDS, "InstanceGroupsToDelete", "Tags")
    return {key: value for key, value in request.items() if key not in others}


def groups_after(cluster: Cluster, request: Mapping[str, Any]) -> list[Spec]:
    """The groups that the cluster will have after an update.

    :raises AwsError: for a list that is not whole or changes what is fixed.
    """
    deleted = list(request.get("InstanceGroupsToDelete", ()))
    named = [spec["InstanceGroupName"] for spec in specs_of(request)]
    leaving = [name for name, group in cluster.groups.items() if group.status == "Deleting"]
    for name in leaving:
        if name in named:
            raise AwsError(
                "ConflictException",
                f"instance group {name} of cluster {cluster.name} is being deleted; wait until it is gone",
            )
    for name in deleted:
        if name not in cluster.groups:
            raise refusal(f"InstanceGroupsToDelete names {name!r}; cluster {cluster.name} has {', '.join(cluster.groups)}")
        if name in named:
            kind = "RestrictedInstanceGroups" if name in restricted_in(request) else "InstanceGroups"
            raise refusal(f"instance group {name} is in {kind} and in InstanceGroupsToDelete; name it in one of them")
    return [spec for kind in KINDS for spec in _kind_after(cluster, request, kind, (*deleted, *leaving))]


def restricted_after(cluster: Cluster, request: Mapping[str, Any]) -> frozenset[str]:
    """The names of the restricted groups that the cluster will have after an update; of groups that go, too."""
    return restricted_in(request) | {name for name, group in cluster.groups.items() if group.restricted}


def _kind_after(cluster: Cluster, request: Mapping[str, Any], kind: str, gone: Sequence[str]) -> list[Spec]:
    """The groups of one list."""
    here = {name: group for name, group in cluster.groups.items() if group.restricted == KINDS[kind] and name not in gone}
    if kind not in request:
        return [group.spec for group in here.values()]
    named = [spec["InstanceGroupName"] for spec in request[kind]]
    missing = [name for name in here if name not in named]
    if missing:
        raise refusal(
            f"the update names {', '.join(named)} and leaves out {', '.join(missing)}; {kind} takes every"
            f" {'restricted ' if KINDS[kind] else ''}group of the cluster,"
            f" and a group to delete is named in InstanceGroupsToDelete"
        )
    for spec in request[kind]:
        existing = cluster.groups.get(spec["InstanceGroupName"])
        if existing is not None:
            _check_fixed(existing, spec, kind)
            _check_types(existing, spec)
    return list(request[kind])


def check_settings(settings: Mapping[str, Any]) -> None:
    """Refuse settings of the cluster that exclude each other.

    :raises AwsError: with the cause of the refusal.
    """
    continuous = settings.get("NodeProvisioningMode") == "Continuous"
    slurm = settings.get("Orchestrator", {}).get("Slurm", {})
    if continuous and "SlurmConfigStrategy" in slurm:
        raise refusal(
            f"SlurmConfigStrategy {slurm['SlurmConfigStrategy']} cannot be set with NodeProvisioningMode Continuous,"
            f" which always merges; leave the strategy out"
        )
    if "AccountingDatabase" in slurm and not continuous:
        raise refusal("AccountingDatabase is only supported for clusters using Continuous as the NodeProvisioningMode")
    if _is_eks(settings) and "VpcConfig" not in settings:
        raise refusal("VpcConfig is required for a cluster that EKS orchestrates")
    if "TieredStorageConfig" in settings and not _is_eks(settings):
        raise refusal("TieredStorageConfig is only supported for clusters that EKS orchestrates")
    if settings.get("AutoScaling", {}).get("Mode") == "Enable":
        _check_auto_scaling(settings, continuous)


def check_groups(groups: Sequence[Spec], settings: Mapping[str, Any], cluster: str) -> None:
    """Refuse a list of instance groups that breaks a rule.

    :raises AwsError: with the cause of the refusal.
    """
    if len(groups) > clusters.MOST_GROUPS:
        raise refusal(f"found {len(groups)} instance groups; a cluster has at most {clusters.MOST_GROUPS}")
    twice = [name for name, count in Counter(spec["InstanceGroupName"] for spec in groups).items() if count > 1]
    if twice:
        raise refusal(f"instance group names must be unique; found {', '.join(twice)} more than once")
    continuous = settings.get("NodeProvisioningMode") == "Continuous"
    for spec in groups:
        _check_group(spec, settings, continuous)
        _check_storage(spec, groups, settings)
    if is_slurm_api(groups, settings):
        _check_slurm(groups, continuous, cluster)
    elif continuous and not _is_eks(settings):
        raise refusal(
            "NodeProvisioningMode Continuous needs a Slurm configuration through the API or EKS: give every instance"
            " group a SlurmConfig"
        )


def is_slurm_api(groups: Iterable[Spec], settings: Mapping[str, Any]) -> bool:
    """Whether Slurm is configured through the API, rather than by the file provisioning_parameters.json."""
    return "Slurm" in settings.get("Orchestrator", {}) or any("SlurmConfig" in spec for spec in groups)


def _is_eks(settings: Mapping[str, Any]) -> bool:
    return "Eks" in settings.get("Orchestrator", {})


def _check_orchestrator(orchestrator: Mapping[str, Any] | None) -> None:
    if orchestrator is not None and len(orchestrator) != 1:
        found = " and ".join(orchestrator) or "none"
        raise refusal(f"Orchestrator needs exactly one orchestrator configuration, either Eks or Slurm; found {found}")


def _check_auto_scaling(settings: Mapping[str, Any], continuous: bool) -> None:
    if not continuous or settings.get("NodeRecovery") != "Automatic" or "ClusterRole" not in settings:
        raise refusal("AutoScaling needs ClusterRole, NodeProvisioningMode Continuous and NodeRecovery Automatic")


def _check_role(cluster: Cluster, request: Mapping[str, Any]) -> None:
    old, new = cluster.settings.get("ClusterRole"), request.get("ClusterRole")
    condition = updates.fixed_with(TYPE, "ClusterRole")
    if condition is not None and new not in (None, old) and _at(cluster.settings, condition[0]) == condition[1]:
        raise refusal(
            f"ClusterRole of cluster {cluster.name} cannot be updated while autoscaling is enabled: it is {old}, found {new}"
        )


def _check_fixed(group: LiveGroup, new: Spec, kind: str) -> None:
    name = group.name
    if group.restricted != KINDS[kind]:
        is_now = "a restricted instance group" if group.restricted else "an instance group of the plain kind"
        raise refusal(f"{name} in {kind} is {is_now}, and a group keeps its kind; add a new group instead")
    for path in updates.fixed_in(TYPE, kind):
        before, after = _at(group.spec, path), _at(new, path)
        if before == after or (before is None and f"{kind}/*/{path}" in updates.addable(TYPE)):
            continue
        if path == "SlurmConfig/NodeType":
            raise refusal(f"NodeType of instance group {name} is immutable: it is {before}, found {after}; add a new group instead")
        raise refusal(f"{path} of instance group {name} cannot be changed: it is {before}, found {after}; add a new group instead")


def _check_types(group: LiveGroup, new: Spec) -> None:
    gone = {node.instance_type for node in group.nodes if node.status == "Running"} - set(instance_types(new))
    if gone and "InstanceRequirements" in group.spec:
        raise refusal(f"instance group {group.name} has nodes of {', '.join(sorted(gone))}; keep the type in its InstanceTypes")


def _at(value: Any, path: str) -> Any:
    for part in path.split("/"):
        value = value.get(part, {})
    return value or None


def _check_group(spec: Spec, settings: Mapping[str, Any], continuous: bool) -> None:
    name = spec["InstanceGroupName"]
    if ("InstanceType" in spec) == ("InstanceRequirements" in spec):
        raise refusal(f"instance group {name} needs exactly one of InstanceType and InstanceRequirements")
    if "InstanceRequirements" in spec and not continuous:
        raise refusal(f"InstanceRequirements of instance group {name} needs NodeProvisioningMode Continuous")
    if spec.get("MinInstanceCount", 0) > spec["InstanceCount"]:
        raise refusal(
            f"MinInstanceCount of instance group {name} is {spec['MinInstanceCount']};"
            f" it cannot exceed InstanceCount, which is {spec['InstanceCount']}"
        )
    _check_scripts(spec)
    eks = _is_eks(settings)
    if (mistake := group_mistake(spec, eks)) is not None:
        raise refusal(f"instance group {name}: {mistake}")
    if eks and "SlurmConfig" in spec:
        raise refusal(f"SlurmConfig of instance group {name} is only supported for clusters that Slurm orchestrates")
    if not eks and "KubernetesConfig" in spec:
        raise refusal(f"KubernetesConfig of instance group {name} is only supported for clusters that EKS orchestrates")
    if "OverrideVpcConfig" in spec and "VpcConfig" not in settings:
        raise refusal(f"OverrideVpcConfig of instance group {name} needs a VpcConfig of the cluster")
    _check_interface(spec)
    if "Spot" in spec.get("CapacityRequirements", {}):
        if "OnDemand" in spec["CapacityRequirements"]:
            raise refusal(f"instance group {name} cannot have both Spot and OnDemand capacity")
        if not (eks and continuous):
            raise refusal(f"Spot capacity of instance group {name} needs EKS and NodeProvisioningMode Continuous")
        if "TrainingPlanArn" in spec:
            raise refusal(f"instance group {name} cannot have both Spot capacity and a TrainingPlanArn")


def _check_interface(spec: Spec) -> None:
    kind, types = spec.get("NetworkInterface", {}).get("InterfaceType"), instance_types(spec)
    if kind is not None and all(instance_type(name).efa_interfaces == 0 for name in types):
        raise refusal(str(clusters.interface_without_efa(kind, types)))


def _check_scripts(spec: Spec) -> None:
    name, scripts = spec["InstanceGroupName"], spec.get("LifeCycleConfig")
    if scripts is None:
        return
    if "OnCreate" in scripts and "OnInitComplete" in scripts:
        raise refusal(f"LifeCycleConfig of instance group {name} has both OnCreate and OnInitComplete; they are mutually exclusive")
    if not scripts.get("SourceS3Uri") or not ("OnCreate" in scripts or "OnInitComplete" in scripts):
        raise refusal(
            f"LifeCycleConfig for instance group {name} is incomplete: found {', '.join(scripts) or 'nothing'};"
            f" it needs SourceS3Uri and one of OnCreate and OnInitComplete"
        )
    if not scripts["SourceS3Uri"].startswith("s3://"):
        raise refusal(f"SourceS3Uri {scripts['SourceS3Uri']}: the embedded AWS reads only s3:// URIs")


def _check_storage(spec: Spec, groups: Sequence[Spec], settings: Mapping[str, Any]) -> None:
    name = spec["InstanceGroupName"]
    volumes: Counter[str] = Counter()
    for entry in spec.get("InstanceStorageConfigs", ()):
        kind, volume = next(iter(entry.items()))
        if kind == "EbsVolumeConfig":
            kind = _ebs_kind(name, volume)
        elif "VpcConfig" not in settings:
            raise refusal(
                f"FSx configurations are only supported for Custom VPC: {kind} of instance group {name} needs a VpcConfig"
            )
        elif not any(node_type(other) == "Controller" for other in groups):
            raise refusal(f"{kind} of instance group {name} needs an InstanceGroup with Controller node type in the cluster")
        volumes[kind] += 1
    for kind, count in volumes.items():
        if count > 1:
            raise refusal(f"instance group {name} has {count} entries of {kind}; at most one is allowed")


def _ebs_kind(group: str, volume: Mapping[str, Any]) -> str:
    if not volume.get("RootVolume", False):
        if "VolumeSizeInGB" not in volume:
            raise refusal(f"EbsVolumeConfig of instance group {group} needs VolumeSizeInGB, unless RootVolume is true")
        return "EbsVolumeConfig (secondary volume)"
    if "VolumeSizeInGB" in volume or "VolumeKmsKeyId" not in volume:
        raise refusal(
            f"EbsVolumeConfig of instance group {group} with RootVolume true needs VolumeKmsKeyId and takes no VolumeSizeInGB"
        )
    return "EbsVolumeConfig (root volume)"


def _check_slurm(groups: Sequence[Spec], continuous: bool, cluster: str) -> None:
    for spec in groups:
        name = spec["InstanceGroupName"]
        if "SlurmConfig" not in spec:
            raise refusal(f"instance group {name} has no SlurmConfig; every group of a Slurm cluster needs one")
        partitions = spec["SlurmConfig"].get("PartitionNames", ())
        if partitions and node_type(spec) != "Compute":
            raise refusal(
                f"Partitions can only be assigned to Compute node types: instance group {name} is {node_type(spec)}"
                f" and has {', '.join(partitions)}"
            )
        if not partitions and node_type(spec) == "Compute":
            raise refusal(f"instance group {name} has node type Compute and needs a name in PartitionNames")
    controllers = [spec for spec in groups if node_type(spec) == "Controller"]
    if not controllers:
        raise refusal(f"Cluster {cluster} has no InstanceGroup with Controller node type.")
    if len(controllers) > 1:
        raise refusal(
            f"{len(controllers)} Controller Groups found: SlurmConfig for InstanceGroups may only have one Controller Group."
        )
    count = controllers[0]["InstanceCount"]
    if count < 1 or (continuous and count > 1):
        raise refusal(
            f"instance group {controllers[0]['InstanceGroupName']} is the controller and has InstanceCount {count}; it needs 1"
        )
    logins = [spec["InstanceGroupName"] for spec in groups if node_type(spec) == "Login"]
    if len(logins) > 1:
        raise refusal(f"Cluster can have at most one InstanceGroup with Login node type; found {', '.join(logins)}")
