"""Updates of a HyperPod cluster: for running nodes, for new nodes only, or refused by the service.

The documentation leaves open whether some members of a group can change; such rows say "not documented".

Source: the schema of AWS::SageMaker::Cluster and
https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_UpdateCluster.html, unless a row names another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from hyperpod_constructs.facts import accounting, clusters, updates
from hyperpod_constructs.plan.change import Change, added, fixed_by_another, grows, removed, shrinks
from hyperpod_constructs.plan.row import Row, in_place, loses_data, refused, replaced, rolling
from hyperpod_constructs.templates.values import ABSENT, Value, as_bool, as_int, as_items, as_str, at, is_known, shown

_GROUP_API = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterInstanceGroupSpecification.html"
_UPDATE_GUIDE = "https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-operate-cli-command-update-cluster.html"
_SOFTWARE_API = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_UpdateClusterSoftware.html"
_CONTINUOUS = "https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-scaling-slurm.html"
_PLAN_UPDATE = "https://docs.aws.amazon.com/sagemaker/latest/dg/use-training-plan-for-hyperpod-update-using-api-cli-sdk.html"
_SHARED = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterSharedEnvironmentConfig.html"
_ACCOUNTING = "https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-external-accounting-db-slurm.html"
_KEYS = "https://docs.aws.amazon.com/sagemaker/latest/dg/smcluster-cmk.html"
_NEW_NODES = "applies to new nodes only; running nodes keep the old value until they are replaced or updated"
_NEW_CLUSTER = (
    "a new cluster is created and the old one deleted, with every node, its volumes, Slurm's queue and its accounting records"
)

_fixed = partial(refused, avoid="add a group with another name, move the jobs, then remove this one", source=_GROUP_API)
"""A row of a property that is fixed for an existing group."""


def _controller(change: Change) -> bool:
    return at(change.item_before, "SlurmConfig", "NodeType") == "Controller"


def _keeps_shared(change: Change) -> bool:
    """Whether there is no shared file system, or one that stays without users."""
    shared = at(change.before.get("RestrictedInstanceGroupsConfig", ABSENT), "SharedEnvironmentConfig")
    return shared is ABSENT or at(shared, "FSxLustreDeletionPolicy") == "Keep"


def _restricted_after(change: Change) -> Value:
    return change.after.get("RestrictedInstanceGroups", ABSENT)


def _one_or_more(count: int | None, one: str, more: str) -> str:
    return one if count == 1 else more


def _are(count: int | None) -> str:
    return _one_or_more(count, "is", "are")


def _nodes(change: Change) -> str:
    count, kind = as_int(at(change.item_before, "InstanceCount")), as_str(at(change.item_before, "InstanceType"))
    if count == 1:
        return f"all nodes (1 x {kind or 'an unknown type'}) of group {change.path[1]}"
    return f"{'all' if count is None else f'all {count}'} nodes{'' if kind is None else f' ({kind})'} of group {change.path[1]}"


def _removed_group(change: Change) -> str:
    return f"{_nodes(change)} are terminated at once, with their root and secondary volumes; jobs on them end"


def _removed_controller(change: Change) -> str:
    return (
        "the controller is terminated, with Slurm's queue and, without an external accounting database, "
        f"the accounting records; {_removed_group(change)}"
    )


def _added_group(change: Change) -> str:
    count = as_int(at(change.new, "InstanceCount"))
    kind = as_str(at(change.new, "InstanceType"))
    number = "an unknown number of" if count is None else count
    return f"{number} {_one_or_more(count, 'node', 'nodes')}{'' if kind is None else f' ({kind})'} {_are(count)} requested"


def _grown(change: Change) -> str:
    old, new = as_int(change.old), as_int(change.new)
    if old is None or new is None:
        return "more nodes are requested"
    more = new - old
    asked = f"{more} more {_one_or_more(more, 'node', 'nodes')} {_are(more)} requested"
    return f"{asked}; {old} {_one_or_more(old, 'keeps', 'keep')} running"


def _shrunk(change: Change) -> str:
    old, new = as_int(change.old), as_int(change.new)
    gone = None if old is None or new is None else old - new
    leaving = "some" if gone is None else f"{gone} of {old}"
    their = _one_or_more(gone, "its", "their")
    nodes = f"{leaving} nodes of group {change.path[1]} {_are(gone)}"
    return f"{nodes} terminated at once, with {their} volumes; the service chooses which"


def _software(change: Change) -> str:
    return f"{_nodes(change)} get a new root volume, {_batch(change)}; jobs on them end, and lifecycle scripts run again"


def _batch(change: Change) -> str:
    """The number of nodes at a time, from the group's own policy."""
    for place in (("ScheduledUpdateConfig", "DeploymentConfig"), ("AutoPatchConfig", "DeploymentConfig")):
        size = at(change.item_after, *place, "RollingUpdatePolicy", "MaximumBatchSize")
        value = as_int(at(size, "Value"))
        if value is not None:
            return f"{value} % at a time" if at(size, "Type") == "CAPACITY_PERCENTAGE" else f"{value} at a time"
    return "all at a time, because the group has no RollingUpdatePolicy"


def _takes_a_type_away(change: Change) -> bool:
    """Whether a group that may have nodes loses one of its instance types."""
    old, new = (as_items(at(value, "InstanceTypes")) for value in (change.old, change.new))
    names = {as_str(one) for one in new or ()}
    return bool(new) and as_int(at(change.item_before, "InstanceCount")) != 0 and any(as_str(one) not in names for one in old or ())


def _is_last_group(change: Change) -> bool:
    left = [as_items(change.after.get(name, ABSENT)) for name in ("InstanceGroups", "RestrictedInstanceGroups")]
    return removed(change) and left == [(), ()]


def _changes_keys(change: Change) -> bool:
    """Whether a volume that stays has another key."""
    before, after = (dict(_keys(value)) for value in (change.old, change.new))
    return any(_differ(before[volume], after[volume]) for volume in before.keys() & after.keys())


def _keys(storage: Value) -> Iterator[tuple[bool, Value]]:
    """The keys of the root volume (true) and the other one (false) of a group."""
    for one in as_items(storage) or ():
        volume = at(one, "EbsVolumeConfig")
        if isinstance(volume, Mapping):
            yield as_bool(volume.get("RootVolume", False)) is True, volume.get("VolumeKmsKeyId", ABSENT)


def _differ(old: Value, new: Value) -> bool:
    return is_known(old) and is_known(new) and shown(old) != shown(new)


def _only_uses_types(change: Change) -> bool:
    """Whether the group lists instance types before and after."""
    return change.old is not ABSENT and change.new is not ABSENT


def _group_rows(groups: str) -> tuple[Row, ...]:
    """The rows that instance groups and restricted instance groups share."""
    prefix = f"{groups}/*"
    return (
        replaced(groups, "the groups are unknown here: whole groups may go, with all their nodes", part=True),
        in_place(prefix, _added_group, when=added),
        in_place(f"{prefix}/InstanceCount", _grown, when=grows),
        rolling(
            f"{prefix}/InstanceCount",
            _shrunk,
            when=shrinks,
            avoid="to choose the nodes, delete them first (hyperpod remove), then lower the count",
            source="https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_BatchDeleteClusterNodes.html",
        ),
        rolling(f"{prefix}/InstanceCount", "the count is unknown here: nodes may be added or terminated"),
        replaced(f"{prefix}/InstanceGroupName", "the group is removed, and another one is created", part=True),
        _fixed(f"{prefix}/InstanceType", "the instance type of an existing group is fixed", source=_UPDATE_GUIDE),
        _fixed(f"{prefix}/OverrideVpcConfig", "the network of an existing group is fixed"),
        _fixed(f"{prefix}/ExecutionRole", "the execution role of an existing group is fixed", source=_UPDATE_GUIDE),
        _fixed(f"{prefix}/ThreadsPerCore", "the threads per core of an existing group are fixed", source=_UPDATE_GUIDE),
        refused(
            f"{prefix}/InstanceStorageConfigs",
            "the key of the volumes of an existing group is fixed",
            when=_changes_keys,
            avoid="add a group with another name and the other key, move the jobs, then remove this one",
            source=_KEYS,
        ),
        in_place(f"{prefix}/InstanceStorageConfigs", _NEW_NODES, source=_GROUP_API),
        in_place(f"{prefix}/TrainingPlanArn", _NEW_NODES, source=_PLAN_UPDATE),
        in_place(f"{prefix}/OnStartDeepHealthChecks", f"{_NEW_NODES}; new nodes run the checks"),
    )


ROWS: tuple[Row, ...] = (
    replaced("ClusterName", _NEW_CLUSTER, avoid="keep the name; put a readable name into a tag"),
    replaced("VpcConfig", _NEW_CLUSTER, avoid="keep subnets and security groups; change the rules of the groups instead"),
    replaced(
        "Orchestrator/Eks",
        "the EKS cluster is fixed at creation: a new HyperPod cluster is created and the old one deleted, with every node",
    ),
    in_place(
        "Orchestrator/Slurm/SlurmConfigStrategy", "decides how the next change of partitions treats manual edits of slurm.conf"
    ),
    refused(
        "Orchestrator/Slurm/AccountingDatabase",
        accounting.TAKEN_AWAY,
        when=removed,
        avoid="keep it, or create a second cluster without it",
        source=_ACCOUNTING,
    ),
    rolling(
        "Orchestrator/Slurm/AccountingDatabase",
        f"the controller's slurmdbd leaves the database on the controller for good, without its records; jobs continue (not "
        f"documented). The controller needs an image that was released after {accounting.IMAGES_AFTER}",
        when=added,
        avoid="copy the records first if they matter; update the software of a controller with an older image before",
        source=_ACCOUNTING,
    ),
    rolling(
        "Orchestrator/Slurm/AccountingDatabase",
        "the controller's slurmdbd connects to another database, without the earlier records; jobs continue (not documented)",
        avoid="copy the database first if the records matter",
        source=_ACCOUNTING,
    ),
    in_place("Orchestrator/Slurm", "configuration of Slurm on the controller"),
    in_place("Orchestrator", "the configuration of the same orchestrator is added or left out"),
    rolling(
        "NodeProvisioningMode",
        f"whether the service takes this is not known: {clusters.MODE_ADDED_LATER}; if it refuses, the update rolls back",
        when=lambda change: change.old is ABSENT,
        avoid="try it on a small cluster first, or create a second cluster with the mode",
        source=_CONTINUOUS,
    ),
    refused(
        "NodeProvisioningMode",
        clusters.MODE_TAKEN_AWAY,
        avoid="keep it, or create a second cluster without it",
        source=_CONTINUOUS,
    ),
    in_place("NodeRecovery", "decides what happens to the next faulty node"),
    refused(
        "ClusterRole",
        "the cluster role is frozen while autoscaling is enabled",
        when=fixed_by_another,
        avoid="disable AutoScaling in one update, change the role in the next",
    ),
    in_place("ClusterRole", "used for the next scaling operation"),
    in_place("AutoScaling", "from then on, the number of nodes follows the demand, or no longer does"),
    in_place("TieredStorageConfig", "memory of the nodes is set aside for checkpoints, or given back"),
    loses_data(
        "RestrictedInstanceGroupsConfig",
        "restricted groups no longer share a file system, and its deletion policy is DeleteIfNotUsed (not documented)",
        when=lambda change: removed(change) and not _keeps_shared(change),
        avoid="set FSxLustreDeletionPolicy: Keep, and deploy that first, or copy its files to S3",
        source=_SHARED,
    ),
    in_place(
        "RestrictedInstanceGroupsConfig",
        "the shared environment of restricted groups changes in place, according to CloudFormation's documentation",
    ),
    in_place("Tags", "tags change by AddTags and DeleteTags"),
    refused(
        "InstanceGroups/*",
        "a cluster keeps at least one group",
        when=_is_last_group,
        avoid="scale the last group to 0, or remove the cluster",
        source="https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_UpdateCluster.html",
    ),
    loses_data(
        "InstanceGroups/*",
        _removed_controller,
        when=lambda change: removed(change) and _controller(change),
        avoid="keep the controller's group and its name",
    ),
    loses_data("InstanceGroups/*", _removed_group, when=removed, avoid="drain the nodes first; a renamed group is another group"),
    loses_data(
        "InstanceGroups/*/InstanceCount",
        _removed_controller,
        when=lambda change: as_int(change.new) == 0 and _controller(change),
        avoid="keep the one node of the controller's group",
    ),
    *_group_rows("InstanceGroups"),
    in_place(
        "InstanceGroups/*/MinInstanceCount",
        "the group starts only with this many nodes; without them, the update rolls back after three hours",
    ),
    _fixed(
        "InstanceGroups/*/InstanceRequirements",
        "no type with running nodes leaves the list of a group",
        when=_takes_a_type_away,
        avoid="scale the nodes of the type to 0 first, or add a group with the other types",
    ),
    in_place("InstanceGroups/*/InstanceRequirements", f"{_NEW_NODES} (not documented)", when=_only_uses_types),
    _fixed(
        "InstanceGroups/*/InstanceRequirements",
        "a change between one instance type and a list of types counts as refused here (unverified)",
        when=lambda change: "InstanceGroups/*/InstanceType" in updates.fixed(change.type),
    ),
    _fixed("InstanceGroups/*/CapacityRequirements", "spot or on-demand is fixed for an existing group"),
    in_place("InstanceGroups/*/LifeCycleConfig", _NEW_NODES),
    _fixed(
        "InstanceGroups/*/SlurmConfig/NodeType",
        "the Slurm node type of an existing group is fixed",
        when=lambda change: not added(change),
        source="https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterSlurmConfig.html",
    ),
    in_place(
        "InstanceGroups/*/SlurmConfig",
        "from then on, the API configures Slurm; no group's scripts may contain provisioning_parameters.json",
        when=added,
    ),
    _fixed(
        "InstanceGroups/*/SlurmConfig",
        "an existing group cannot leave the configuration through the API",
        when=removed,
        source="",
    ),
    in_place("InstanceGroups/*/SlurmConfig/PartitionNames", "Slurm is reconfigured; running jobs continue"),
    in_place(
        "InstanceGroups/*/KubernetesConfig", "labels and taints of the nodes change; a new taint evicts pods only with NoExecute"
    ),
    in_place("InstanceGroups/*/NetworkInterface", f"{_NEW_NODES} (not documented)"),
    *(
        rolling(
            f"InstanceGroups/*/{name}",
            _software,
            avoid="update when no job runs; on EKS, also set a RollingUpdatePolicy in ScheduledUpdateConfig",
            source=_SOFTWARE_API,
        )
        for name in ("ImageId", "ImageReleaseVersion")
    ),
    in_place(
        "InstanceGroups/*/ScheduledUpdateConfig",
        "nothing happens now; at the scheduled times, nodes get a new root volume in batches, and their jobs end",
    ),
    in_place(
        "InstanceGroups/*/AutoPatchConfig", "nothing happens now; later patches replace the root volumes of nodes by this strategy"
    ),
    loses_data(
        "RestrictedInstanceGroups/*",
        lambda change: f"{_removed_group(change)}; the group's own file system is deleted",
        when=lambda change: removed(change) and at(change.item_before, "EnvironmentConfig") is not ABSENT,
        avoid="scale the group to 0 instead (its file system stays), or copy its files to S3 first",
        source="https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-operate-cli-command-create-cluster.html",
    ),
    loses_data(
        "RestrictedInstanceGroups/*",
        lambda change: f"{_removed_group(change)}; it is the last one, so the shared file system is deleted",
        when=lambda change: removed(change) and not _keeps_shared(change) and not as_items(_restricted_after(change)),
        avoid="set FSxLustreDeletionPolicy: Keep, and deploy that first, or copy its files to S3",
        source=_SHARED,
    ),
    loses_data("RestrictedInstanceGroups/*", _removed_group, when=removed, avoid="end the jobs on the nodes first"),
    *_group_rows("RestrictedInstanceGroups"),
    loses_data(
        "RestrictedInstanceGroups/*/EnvironmentConfig",
        "the group has no file system of its own any more; whether the service deletes it is not documented",
        when=removed,
        avoid="keep it, or copy its files to S3 first",
    ),
    in_place(
        "RestrictedInstanceGroups/*/EnvironmentConfig",
        "the group's file system changes in place, according to CloudFormation's documentation",
    ),
)
