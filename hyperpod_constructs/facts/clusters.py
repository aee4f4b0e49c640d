"""Clusters and their instance groups: limits of the service, and the words for mistakes."""

from __future__ import annotations

from collections.abc import Sequence

from hyperpod_constructs.facts.mistake import Mistake, fixed_by

MOST_GROUPS = 100
"""Most groups of a cluster (as of 2026-11-21).

Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateCluster.html
"""

MOST_GROUPS_ON_EKS = 20
"""Most groups of a cluster on EKS by the guide, below the API's limit (as of 2026-11-21).

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-operate-cli-command-create-cluster.html
"""

LEAST_TIERED_PERCENTAGE = 20
"""Least percentage of a node's memory for tiered storage by the guide; the API takes any (as of 2026-11-21).

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/managed-tier-checkpointing-setup.html
"""

MOST_ADDED = 50
"""Most nodes that one `BatchAddClusterNodes` adds (as of 2026-11-21).

Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_BatchAddClusterNodes.html
"""

MOST_DELETED = 99
"""Most nodes that one `BatchDeleteClusterNodes` deletes (as of 2026-11-21).

Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_BatchDeleteClusterNodes.html
"""

MOST_RESTARTED = 25
"""Most nodes that one `BatchRebootClusterNodes` or `BatchReplaceClusterNodes` takes (as of 2026-11-21).

Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_BatchReplaceClusterNodes.html
"""

MOST_TAGS = 50
"""Most tags of a cluster (as of 2026-11-21).

Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_AddTags.html
"""

HOURS_TO_MINIMUM = 3
"""Hours in which a group reaches its `MinInstanceCount`; after them the service undoes the change (as of 2026-11-21).

Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterInstanceGroupSpecification.html
"""

HANDLER_HOURS = 12
"""Hours that CloudFormation waits for a cluster: the timeout of its handlers (as of 2026-10-20).

Source: the resource schema of `AWS::SageMaker::Cluster`
"""

SOFTWARE_UPDATE_ATTEMPTS = 4
"""Times that the lifecycle scripts run in a software update before it is rolled back (as of 2026-11-22).

AWS does not publish the number; it is the one of a field report, on Slurm and EKS with continuous provisioning.
Source: the node mental model of https://github.com/awslabs/awsome-distributed-ai
"""

MODE_ADDED_LATER = (
    "older documentation says that an existing cluster cannot be moved to continuous provisioning; newer pages leave this out and "
    "speak of a later move"
)
"""Whether a cluster can receive `NodeProvisioningMode` after its creation: not known, and not tried (as of 2026-11-22).

Sources: two copies of https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-scaling-slurm.html, and
https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-slurm-api-config-migration.html
"""

MODE_TAKEN_AWAY = "UpdateCluster has no value that takes continuous provisioning away, and no documentation speaks of it"
"""Whether a cluster can lose `NodeProvisioningMode` (as of 2026-11-22).

Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_UpdateCluster.html
"""

LEGACY_FILE = "provisioning_parameters.json"
"""The file that configured Slurm before the API did."""

SERVICE_PARTITION = "dev"
"""The partition that the service makes of all nodes (as of 2026-11-22).

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-slurm-api-config-migration.html
"""

DEFAULT_OPENZFS_PATH = "/home"
"""The service's own mount path of an OpenZFS file system (as of 2026-11-22).

Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterFsxOpenZfsConfig.html
"""

_PLACES_OF_NODES = {
    "/opt/ml": "the configuration that the service writes",
    "/opt/sagemaker": "the secondary volume",
    "/opt/slurm": "Slurm",
    "/home": "the homes of the image's own users",
    **dict.fromkeys(
        ("/bin", "/boot", "/dev", "/etc", "/lib", "/proc", "/root", "/run", "/sbin", "/sys", "/tmp", "/usr", "/var"),
        "parts of the operating system",
    ),
}

_CONTINUOUSLY = "provision continuously"
"""`NodeProvisioningMode: Continuous` in a template, and the default of the construct."""

ROOT_VOLUME = Mistake(
    "the root volume takes a KMS key and no size (it has 100 GB)",
    "give a secondary volume a size, such as 500 GB, and the root volume nothing but a key",
)
SECONDARY_VOLUME = Mistake("a secondary volume needs a size, 1 to 16384 GB", ROOT_VOLUME.fix)

CONNECTIVITY_OF_ONE = Mistake("InstanceConnectivity needs two nodes or more, found count 1", "keep InstanceStress only")

LIST_TYPES_ONCE = "name each instance type once, the preferred first"
SEPARATE_MOUNT_PATHS = "give each file system its own mount path"


def repeated_types(names: Sequence[str]) -> Mistake | None:
    """An instance type that is listed twice; `None` if all differ."""
    twice = sorted({name for name in names if names.count(name) > 1})
    return Mistake(f"{', '.join(twice)} is listed more than once", LIST_TYPES_ONCE) if twice else None


def shared_mount_path(paths: Sequence[str]) -> Mistake | None:
    """Two file systems at one path; `None` if all differ."""
    twice = next((path for position, path in enumerate(paths) if path in paths[:position]), None)
    return None if twice is None else Mistake(f"two file systems at {twice!r}", SEPARATE_MOUNT_PATHS)


def mount_over_place(path: str, usual: str) -> Mistake | None:
    """A mount path that hides what nodes have there or below; `None` for another path.

    :param usual: the service's own path of such a file system, which is always allowed.
    """
    places = _PLACES_OF_NODES.items()
    hidden = next((content for place, content in places if place == path or place.startswith(f"{path}/")), None)
    if hidden is None or path == usual:
        return None
    return Mistake(f"the mount path {path!r} hides {hidden}", f"mount it at {usual!r}, or at another path of its own")


@fixed_by("write another name, such as 'research'")
def name_of_service_partition(what: str) -> str:
    """A group or a partition with the name of the service's own partition.

    :param what: the group or the partition.
    """
    return f"{what} is named {SERVICE_PARTITION!r}, as the service's own partition of all nodes, and would merge with it"


@fixed_by("give each group of a cluster a name of its own")
def repeated_name(name: str) -> str:
    """Two groups of one name."""
    return f"two instance groups are named {name!r}"


@fixed_by("merge groups of one kind of node, or make a second cluster")
def group_beyond_limit(name: str | None) -> str:
    """One group too many for the service."""
    return f"{'this' if name is None else repr(name)} is instance group {MOST_GROUPS + 1}; the service takes {MOST_GROUPS}"


@fixed_by("raise the count or lower the minimum")
def minimum_above_count(minimum: int, count: int) -> str:
    """A minimum above the group's count."""
    return f"a minimum of {minimum} nodes is above the count of {count}"


@fixed_by("keep one of each kind on a group, and leave the others out")
def too_many_of_kind(count: int, kind: str) -> str:
    """More than one volume or file system of a kind on a group."""
    return f"{count} {kind}s given; the service takes one per group"


@fixed_by("write a count of 1: Slurm configured through the API has one controller")
def controller_count(count: int) -> str:
    """A controller group without exactly one node."""
    return f"count {count} on the Controller group"


@fixed_by("make exactly one group the Controller")
def no_controller(names: Sequence[str]) -> str:
    """A Slurm cluster without a controller."""
    return f"the cluster has no Controller group (groups: {', '.join(map(repr, names)) or 'none'})"


@fixed_by("keep one, and make the other group Compute")
def second_of_node_type(node_type: str, first: str, second: str) -> str:
    """Two groups of controllers, or of login nodes."""
    return f"instance groups {first!r} and {second!r} are both {node_type}; the service takes one"


@fixed_by("give each Compute group a partition, and no other group")
def misplaced_partition(node_type: str, partition: str | None) -> str:
    """A partition on nodes that run no jobs.

    :param partition: `None` if its name is unknown.
    """
    return f"{'a partition' if partition is None else f'partition {partition!r}'} on a {node_type} group"


CHECK_TIME = "about two hours"
"""The time of deep health checks, before a node takes work (as of 2026-11-22).

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-resiliency-deep-health-checks.html
"""


@fixed_by("leave the deep health checks of this group out")
def checks_without_accelerator(types: Sequence[str]) -> str:
    """Deep health checks on types without an accelerator."""
    return f"deep health checks on {', '.join(types)}, which has no accelerator to check"


@fixed_by("give the cluster a network: the VPC of the file system")
def mount_without_network(group: str, path: str) -> str:
    """A file system on nodes in the service's own VPC."""
    return f"instance group {group!r} mounts {path}, but the cluster has no network of its own"


@fixed_by(f"name one type, or {_CONTINUOUSLY}")
def types_without_continuous(group: str, count: int) -> str:
    """Several instance types where capacity is all or nothing."""
    return f"instance group {group!r} lists {count} instance types, which needs continuous provisioning"


@fixed_by("give the cluster a network too: the group's own network overrides it")
def override_without_network(group: str) -> str:
    """A network of a group's own in a cluster in the service's own VPC."""
    return f"instance group {group!r} overrides a network, but the cluster has none"


@fixed_by("keep one of OnDemand, Spot and TrainingPlanArn")
def spot_beside(group: str, other: str) -> str:
    """Two kinds of capacity of one group.

    :param other: the kind beside spot.
    """
    return f"instance group {group!r} asks for both spot capacity and {other}"


@fixed_by("take on-demand capacity, or on EKS write NodeProvisioningMode: Continuous")
def spot_without(group: str, lacking: Sequence[str]) -> str:
    """Spot capacity where the service does not offer it."""
    return f"spot capacity of instance group {group!r} needs {' and '.join(lacking)}"


@fixed_by("leave it out: Slurm has partitions and features instead of labels and taints, and takes the latest release of the image")
def setting_of_eks(group: str, setting: str) -> str:
    """A setting of groups on EKS in a Slurm cluster."""
    return f"{setting} on instance group {group!r} of a Slurm cluster"


@fixed_by("leave the network interface out, or take a type with EFA")
def interface_without_efa(kind: str, types: Sequence[str]) -> str:
    """An interface for EFA on types without EFA."""
    return f"network interface {kind!r} on {', '.join(types)}, which has no EFA"


@fixed_by(f"leave the key out, or {_CONTINUOUSLY}")
def key_without_continuous(group: str) -> str:
    """A key for volumes where capacity is all or nothing."""
    return f"instance group {group!r} has a volume with a KMS key, which needs continuous provisioning"


@fixed_by("leave the strategy out, or do without continuous provisioning")
def strategy_with_continuous(strategy: str) -> str:
    """A Slurm configuration strategy with continuous provisioning, which always merges."""
    return (
        f"Slurm's configuration strategy is {strategy}, which the service refuses with continuous provisioning (it always merges)"
    )


@fixed_by("delete the file: groups, partitions and file systems come from the instance groups")
def legacy_file(place: str) -> str:
    """The legacy configuration file among the scripts of a cluster that the API configures."""
    return f"{place} holds {LEGACY_FILE}, which the service refuses beside Slurm configuration through its API"
