"""Task governance of a cluster on EKS: its limits, and the names that the service makes (as of 2026-11-22).

Sources: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateComputeQuota.html,
https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateClusterSchedulerConfig.html and the resource schemas of
`AWS::SageMaker::ComputeQuota` and `AWS::SageMaker::ClusterSchedulerConfig`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from hyperpod_constructs.facts.limits import property_limit
from hyperpod_constructs.facts.mistake import Mistake, fixed_by

SCHEDULER_CONFIG = "AWS::SageMaker::ClusterSchedulerConfig"
COMPUTE_QUOTA = "AWS::SageMaker::ComputeQuota"

_RESOURCES = f"{COMPUTE_QUOTA}/ComputeQuotaConfig/ComputeQuotaResources"
_SHORT_NAME = "1 to {longest} lowercase letters, digits and hyphens, with a letter or digit first and last"
_NAME = "{shortest} to {longest} letters, digits and hyphens, with a letter or digit first and last"

RESOURCES_PATH = ("ComputeQuotaConfig", "ComputeQuotaResources")
"""The place of a quota's entries."""

NAME = property_limit(f"{COMPUTE_QUOTA}/Name", words=_NAME, example="research")

TEAM_NAME = replace(
    property_limit(f"{COMPUTE_QUOTA}/ComputeQuotaTarget/TeamName", words=_SHORT_NAME, example="research"), longest=40
)
"""The pattern means 40 characters and does not hold longer ones off; jobs name the local queue in a label, which has at most 63."""

PRIORITY_CLASS = replace(
    property_limit(f"{SCHEDULER_CONFIG}/SchedulerConfig/PriorityClasses/*/Name", words=_SHORT_NAME, example="training"), longest=40
)
PRIORITY_WEIGHT = property_limit(f"{SCHEDULER_CONFIG}/SchedulerConfig/PriorityClasses/*/Weight")
PRIORITY_CLASSES = property_limit(f"{SCHEDULER_CONFIG}/SchedulerConfig/PriorityClasses")
FAIR_SHARE_WEIGHT = property_limit(f"{COMPUTE_QUOTA}/ComputeQuotaTarget/FairShareWeight")
BORROW_LIMIT = property_limit(f"{COMPUTE_QUOTA}/ComputeQuotaConfig/ResourceSharingConfig/BorrowLimit")
"""In percent. The API takes 0 to 10000; its page says 1 to 500."""
DOCUMENTED_BORROW_LIMIT = 500
"""The highest percentage that a page names.

Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ResourceSharingConfig.html (as of 2026-11-22)
"""

RESOURCES = property_limit(_RESOURCES)
QUOTA_ENTRIES = replace(RESOURCES, fewest=1)
"""Entries of a quota: the API takes none, which guarantees nothing."""
AMOUNT = property_limit(f"{_RESOURCES}/*/Count")

DEFAULT_BORROW_LIMIT = 50
DEFAULT_SHARING: Mapping[str, object] = {"Strategy": "LendAndBorrow", "BorrowLimit": DEFAULT_BORROW_LIMIT}
"""What the service takes for a quota without ResourceSharingConfig."""

KUEUE = "kueue.x-k8s.io"
"""The API group of Kueue, which the add-on brings."""

QUEUE_LABEL = f"{KUEUE}/queue-name"
PRIORITY_LABEL = f"{KUEUE}/priority-class"
"""Labels of a job: its queue and its priority.

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-operate-console-ui-governance-cli.html
"""


MANAGED = "sagemaker.amazonaws.com/sagemaker-managed-queue"
ALLOCATION = "sagemaker.amazonaws.com/quota-allocation-id"
ACTIVE = "sagemaker.amazonaws.com/activate-quota"
"""Labels that the service puts on the objects that it makes: that they are its own, of which quota or policy, and whether it is in
force.

Source: the launcher in https://github.com/aws/sagemaker-hyperpod-cli; the last one as seen on clusters (as of 2026-11-24).
"""

COHORT = "shared-pool"
"""The cohort of all teams' queues, as seen on clusters (as of 2026-11-24); no page of AWS names it."""

IDLE_QUEUE = "hyperpod-ns-idle-resource-sharing-cq-{number}"
"""The queue that lends what no quota holds; the service makes several when there are many types.

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-operate-console-ui-governance-policies.html
"""

COVERED = ("aws.amazon.com/neurondevice", "cpu", "memory", "nvidia.com/gpu", "vpc.amazonaws.com/efa")
"""The resources that every team's queue counts; of those that a type does not have there are none.

Source: examples/end_to_end_walkthrough/03-task-governance in https://github.com/aws/sagemaker-hyperpod-cli (as of 2026-11-24)
"""

QUOTA_ACCELERATORS: Mapping[str, str] = {"gpu": "nvidia.com/gpu", "neuron": "aws.amazon.com/neurondevice"}
"""The resource that a queue counts, by kind of accelerator."""

PARTITION_RESOURCE = "nvidia.com/{partition}"
"""The resource of a part of a GPU, such as `nvidia.com/mig-1g.5gb`.

Source: https://docs.nvidia.com/datacenter/cloud-native/kubernetes/latest/index.html (MIG strategy "mixed")
"""

MANAGER_NAMESPACE, MANAGER_CONFIG = "kueue-system", "kueue-manager-config"
MANAGER_CONFIG_KEY = "controller_manager_config.yaml"
"""The ConfigMap of Kueue's settings, which says whether idle resources are shared by weight.

Source: https://kueue.sigs.k8s.io/docs/concepts/fair_sharing/
"""


def namespace(team: str) -> str:
    """The namespace that the service makes for a team."""
    return f"hyperpod-ns-{team}"


def local_queue(team: str) -> str:
    """The queue that a team's jobs name."""
    return f"{namespace(team)}-localqueue"


def cluster_queue(team: str) -> str:
    """The queue that holds a team's quota."""
    return f"{namespace(team)}-clusterqueue"


def priority_value(priority_class: str) -> str:
    """The name by which jobs ask for a priority class."""
    return f"{priority_class}-priority"


def team_group(team: str) -> str:
    """The Kubernetes group of a team's people, as the service's chart names it."""
    return f"{namespace(team)}-namespace-level-group"


def namespace_of_group(group: str) -> str | None:
    """The namespace of the team whose people a group holds; `None` for any other group."""
    space = group.removesuffix(team_group("").removeprefix(namespace("")))
    return space if space != group else None


ON_SLURM = Mistake(
    "scheduling policies and quotas are for clusters that EKS orchestrates; Slurm orchestrates this one",
    "leave them out, and set priorities and limits in Slurm (sacctmgr)",
)
"""Source: the schema of ComputeQuota: Slurm-orchestrated clusters are rejected by the service."""


@fixed_by("change the one that is there")
def second_scheduler(first: str) -> str:
    """A second scheduling policy on a cluster that has one.

    :param first: where the first one is.
    """
    return f"the cluster has a scheduling policy already ({first}); a cluster has one"


@fixed_by("give each team one quota, with several resources")
def second_quota(team: str, first: str) -> str:
    """A second quota of a team on one cluster: both would make the same namespace and queues."""
    return f"team {team!r} has a quota on this cluster already ({first})"


@fixed_by("give each priority class a name of its own")
def repeated_class(name: str) -> str:
    """Two priority classes of one name."""
    return f"two priority classes are named {name!r}"


def unknown_class(name: str, known: Iterable[str]) -> Mistake:
    """A priority class that the cluster's policy lacks."""
    names = ", ".join(map(repr, known)) or "none"
    return Mistake(
        f"the scheduling policy has no priority class {name!r}; it has {names}", "add a PriorityClass, or name one of these"
    )


def borrow_mistake(strategy: str, limited: bool) -> Mistake | None:
    """A limit of borrowing for a team that does not borrow; `None` for a correct pair."""
    if not limited or strategy == "LendAndBorrow":
        return None
    return Mistake(f"a team with the strategy {strategy} borrows nothing, so a borrow limit has no effect", "leave the limit out")


@fixed_by(f"take {DOCUMENTED_BORROW_LIMIT} or less, or limit by AbsoluteBorrowLimits what the team may borrow")
def high_borrow_limit(limit: int) -> str:
    """A limit of borrowing that the API takes and its page does not."""
    return f"a borrow limit of {limit} percent; the service's page names {DOCUMENTED_BORROW_LIMIT} at most"


@fixed_by("take 1 or more, or the strategy Lend")
def no_borrow_limit() -> str:
    """A team that borrows, and may borrow nothing."""
    return "a borrow limit of 0 percent beside the strategy LendAndBorrow"


def unknown_type(where: str, instance_type: str, known: Iterable[str]) -> Mistake:
    """A quota for a type that no group of the cluster has."""
    names = ", ".join(sorted(set(known))) or "no instance groups"
    return Mistake(
        f"{where} is for {instance_type}, which no instance group of the cluster has; it has {names}", "name one of these"
    )
