"""Updates of a HyperPod cluster: what goes to UpdateCluster, what reaches running nodes, what the service refuses.

Sources: the schema of AWS::SageMaker::Cluster and
https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_UpdateCluster.html unless a row names another. The service's
documentation does not say of every member of a group whether it can change; such rows say "not documented".
"""

from __future__ import annotations

from hyperpod_constructs.rules.effects.effect import Change, Effect, Row, added, grows, removed, shrinks
from hyperpod_constructs.rules.template.values import ABSENT, as_int, as_str, at

_GROUP_API = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterInstanceGroupSpecification.html"
_SOFTWARE_API = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_UpdateClusterSoftware.html"
_NEW_NODES = "reaches only nodes that start from then on; running nodes keep what they have until they are replaced or updated"
_NEW_GROUP = "add a group with another name, move the jobs, then remove this one"


def _controller(change: Change) -> bool:
    return at(change.item_before, "SlurmConfig", "NodeType") == "Controller"


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
        f"the controller is terminated, and with it Slurm's queue and, unless an accounting database outside is configured, "
        f"the accounting records; {_removed_group(change)}"
    )


def _added_group(change: Change) -> str:
    count = as_int(at(change.new, "InstanceCount"))
    kind = as_str(at(change.new, "InstanceType"))
    number = "an unknown number of" if count is None else count
    return f"{number} {_one_or_more(count, 'node', 'nodes')}{'' if kind is None else f' ({kind})'} {_are(count)} asked for"


def _grown(change: Change) -> str:
    old, new = as_int(change.old), as_int(change.new)
    if old is None or new is None:
        return "more nodes are asked for"
    more = new - old
    asked = f"{more} more {_one_or_more(more, 'node', 'nodes')} {_are(more)} asked for"
    return f"{asked}; {old} {_one_or_more(old, 'goes', 'go')} on"


def _shrunk(change: Change) -> str:
    old, new = as_int(change.old), as_int(change.new)
    gone = None if old is None or new is None else old - new
    leaving = "some" if gone is None else f"{gone} of {old}"
    leave, their = _one_or_more(gone, "leaves", "leave"), _one_or_more(gone, "its", "their")
    return f"{leaving} nodes of group {change.path[1]} {leave} at once, with {their} volumes; the service chooses which"


def _software(change: Change) -> str:
    return f"{_nodes(change)} get a new root volume, {_batch(change)}; jobs on them end, and lifecycle scripts run again"


def _batch(change: Change) -> str:
    """How many nodes at a time, by the group's own policy."""
    for place in (("ScheduledUpdateConfig", "DeploymentConfig"), ("AutoPatchConfig", "DeploymentConfig")):
        size = at(change.item_after, *place, "RollingUpdatePolicy", "MaximumBatchSize")
        value = as_int(at(size, "Value"))
        if value is not None:
            return f"{value} % at a time" if at(size, "Type") == "CAPACITY_PERCENTAGE" else f"{value} at a time"
    return "all at a time, because the group has no RollingUpdatePolicy"


def _only_uses_types(change: Change) -> bool:
    """A group that lists types already, and lists others."""
    return change.old is not ABSENT and change.new is not ABSENT


def _autoscaling(change: Change) -> bool:
    return at(change.before.get("AutoScaling", ABSENT), "Mode") == "Enable"


def _group_rows(groups: str) -> tuple[Row, ...]:
    """The rows that instance groups and restricted ones share."""
    prefix = f"{groups}/*"
    return (
        Row(
            path=groups,
            effect=Effect.REPLACE,
            why="whole groups may go, with all their nodes: which there are is not known",
            part=True,
        ),
        Row(path=prefix, effect=Effect.NO_INTERRUPTION, why=_added_group, when=added),
        Row(path=f"{prefix}/InstanceCount", effect=Effect.NO_INTERRUPTION, why=_grown, when=grows),
        Row(
            path=f"{prefix}/InstanceCount",
            effect=Effect.ROLLING,
            why=_shrunk,
            when=shrinks,
            avoid="to choose the nodes, delete them first (aws sagemaker batch-delete-cluster-nodes), then lower the count",
            source="https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_BatchDeleteClusterNodes.html",
        ),
        Row(path=f"{prefix}/InstanceCount", effect=Effect.ROLLING, why="nodes may leave or come: the count is not known"),
        Row(path=f"{prefix}/InstanceGroupName", effect=Effect.REPLACE, why="the group goes, and another one is made", part=True),
        Row(
            path=f"{prefix}/InstanceType",
            effect=Effect.REFUSED,
            why="the instance type of an existing group is taken to be fixed; the documentation does not say (unverified)",
            avoid=_NEW_GROUP,
            source=_GROUP_API,
        ),
        Row(
            path=f"{prefix}/OverrideVpcConfig",
            effect=Effect.REFUSED,
            why="the network of an existing group is fixed",
            avoid=_NEW_GROUP,
            source=_GROUP_API,
        ),
        Row(path=f"{prefix}/ExecutionRole", effect=Effect.NO_INTERRUPTION, why=f"{_NEW_NODES} (not documented)"),
        Row(path=f"{prefix}/InstanceStorageConfigs", effect=Effect.NO_INTERRUPTION, why=_NEW_NODES, source=_GROUP_API),
        Row(path=f"{prefix}/ThreadsPerCore", effect=Effect.NO_INTERRUPTION, why=f"{_NEW_NODES} (not documented)"),
        Row(
            path=f"{prefix}/TrainingPlanArn",
            effect=Effect.NO_INTERRUPTION,
            why=f"{_NEW_NODES}; whether an existing group may change its plan is not documented",
        ),
        Row(path=f"{prefix}/OnStartDeepHealthChecks", effect=Effect.NO_INTERRUPTION, why=f"{_NEW_NODES}, which run the checks"),
    )


ROWS: tuple[Row, ...] = (
    Row(
        path="ClusterName",
        effect=Effect.REPLACE,
        why="a new cluster is made and the old one deleted, with every node, its volumes, Slurm's queue and its accounting records",
        avoid="keep the name: tags can carry what people read",
    ),
    Row(
        path="VpcConfig",
        effect=Effect.REPLACE,
        why="a new cluster is made and the old one deleted, with every node, its volumes, Slurm's queue and its accounting records",
        avoid="keep subnets and security groups; change the rules of the groups instead",
    ),
    Row(
        path="Orchestrator/Eks",
        effect=Effect.REPLACE,
        why="the EKS cluster is fixed at creation: a new HyperPod cluster is made and the old one deleted, with every node",
    ),
    Row(
        path="Orchestrator/Slurm/SlurmConfigStrategy",
        effect=Effect.NO_INTERRUPTION,
        why="decides how the next change of partitions treats manual edits of slurm.conf",
    ),
    Row(
        path="Orchestrator/Slurm/AccountingDatabase",
        effect=Effect.ROLLING,
        why="the controller's slurmdbd connects to another database, which has none of the records so far; jobs go on "
        "(not documented)",
        avoid="copy the database first if the records matter",
    ),
    Row(path="Orchestrator/Slurm", effect=Effect.NO_INTERRUPTION, why="configuration of Slurm on the controller"),
    Row(path="Orchestrator", effect=Effect.NO_INTERRUPTION, why="the configuration of the same orchestrator is named or left out"),
    Row(
        path="NodeProvisioningMode",
        effect=Effect.REFUSED,
        why="the provisioning mode is fixed at creation, in both directions: existing clusters cannot be migrated",
        avoid="keep it, or make a second cluster with the other mode",
        source="https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-scaling-slurm.html",
    ),
    Row(path="NodeRecovery", effect=Effect.NO_INTERRUPTION, why="decides what happens to the next faulty node"),
    Row(
        path="ClusterRole",
        effect=Effect.REFUSED,
        why="the cluster role is frozen while autoscaling is enabled",
        when=_autoscaling,
        avoid="disable AutoScaling in one update, change the role in the next",
    ),
    Row(path="ClusterRole", effect=Effect.NO_INTERRUPTION, why="used for the next scaling operation"),
    Row(path="AutoScaling", effect=Effect.NO_INTERRUPTION, why="nodes come and go by demand from then on, or stop to"),
    Row(
        path="TieredStorageConfig",
        effect=Effect.NO_INTERRUPTION,
        why="memory of the nodes is set aside for checkpoints, or given back",
    ),
    Row(
        path="RestrictedInstanceGroupsConfig",
        effect=Effect.NO_INTERRUPTION,
        why="the shared environment of restricted groups; CloudFormation's documentation says no interruption",
    ),
    Row(path="Tags", effect=Effect.NO_INTERRUPTION, why="tags change by AddTags and DeleteTags"),
    Row(
        path="InstanceGroups/*",
        effect=Effect.REPLACE,
        why=_removed_controller,
        when=lambda change: removed(change) and _controller(change),
        avoid="keep the controller's group and its name",
        part=True,
    ),
    Row(
        path="InstanceGroups/*",
        effect=Effect.REPLACE,
        why=_removed_group,
        when=removed,
        avoid="drain the nodes first; a renamed group is another group",
        part=True,
    ),
    Row(
        path="InstanceGroups/*/InstanceCount",
        effect=Effect.REPLACE,
        why=_removed_controller,
        when=lambda change: as_int(change.new) == 0 and _controller(change),
        avoid="keep the one node of the controller's group",
        part=True,
    ),
    *_group_rows("InstanceGroups"),
    Row(
        path="InstanceGroups/*/MinInstanceCount",
        effect=Effect.NO_INTERRUPTION,
        why="nodes without which the group is not started: unmet within three hours, the update is rolled back",
    ),
    Row(
        path="InstanceGroups/*/InstanceRequirements",
        effect=Effect.NO_INTERRUPTION,
        why=f"{_NEW_NODES} (not documented)",
        when=_only_uses_types,
    ),
    Row(
        path="InstanceGroups/*/InstanceRequirements",
        effect=Effect.REFUSED,
        why="an existing group is taken not to change between one instance type and a list of them (unverified)",
        avoid=_NEW_GROUP,
        source=_GROUP_API,
    ),
    Row(
        path="InstanceGroups/*/CapacityRequirements",
        effect=Effect.REFUSED,
        why="spot or on-demand is fixed for an existing group",
        avoid=_NEW_GROUP,
        source=_GROUP_API,
    ),
    Row(path="InstanceGroups/*/LifeCycleConfig", effect=Effect.NO_INTERRUPTION, why=_NEW_NODES),
    Row(
        path="InstanceGroups/*/SlurmConfig/NodeType",
        effect=Effect.REFUSED,
        why="what the nodes of an existing group are in Slurm is fixed",
        when=lambda change: not added(change),
        avoid=_NEW_GROUP,
        source="https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterSlurmConfig.html",
    ),
    Row(
        path="InstanceGroups/*/SlurmConfig",
        effect=Effect.NO_INTERRUPTION,
        why="Slurm is configured through the API from then on; no group's scripts may hold provisioning_parameters.json",
        when=added,
    ),
    Row(
        path="InstanceGroups/*/SlurmConfig",
        effect=Effect.REFUSED,
        why="a group that is configured through the API stays so",
        when=removed,
        avoid=_NEW_GROUP,
    ),
    Row(
        path="InstanceGroups/*/SlurmConfig/PartitionNames",
        effect=Effect.NO_INTERRUPTION,
        why="Slurm is reconfigured; running jobs go on",
    ),
    Row(
        path="InstanceGroups/*/KubernetesConfig",
        effect=Effect.NO_INTERRUPTION,
        why="labels and taints of the nodes change; a new taint evicts pods only with NoExecute",
    ),
    Row(
        path="InstanceGroups/*/NetworkInterface",
        effect=Effect.NO_INTERRUPTION,
        why=f"{_NEW_NODES} (not documented)",
    ),
    *(
        Row(
            path=f"InstanceGroups/*/{name}",
            effect=Effect.ROLLING,
            why=_software,
            avoid="set a RollingUpdatePolicy in ScheduledUpdateConfig, and update when no job runs",
            source=_SOFTWARE_API,
        )
        for name in ("ImageId", "ImageReleaseVersion")
    ),
    Row(
        path="InstanceGroups/*/ScheduledUpdateConfig",
        effect=Effect.NO_INTERRUPTION,
        why="nothing now; at the scheduled times the nodes get a new root volume in batches, and jobs on them end",
    ),
    Row(
        path="InstanceGroups/*/AutoPatchConfig",
        effect=Effect.NO_INTERRUPTION,
        why="nothing now; patches exchange the root volumes of nodes, by the strategy that is written here",
    ),
    Row(
        path="RestrictedInstanceGroups/*",
        effect=Effect.DATA_LOSS,
        why=lambda change: f"{_removed_group(change)}; the file system that the service made for the group is deleted",
        when=removed,
        avoid="scale the group to 0 instead, which keeps its file system, or copy its files to S3 first",
        source="https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-operate-cli-command-create-cluster.html",
    ),
    *_group_rows("RestrictedInstanceGroups"),
    Row(
        path="RestrictedInstanceGroups/*/EnvironmentConfig",
        effect=Effect.NO_INTERRUPTION,
        why="the group's file system is updated in place; CloudFormation's documentation says no interruption",
    ),
)
