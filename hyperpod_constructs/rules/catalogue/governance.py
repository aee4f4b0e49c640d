"""Task governance: scheduling policies and quotas of teams."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs._support.metadata import BEYOND_CAPACITY
from hyperpod_constructs._support.words import enumerated
from hyperpod_constructs.analysis.clusters import Cluster, given
from hyperpod_constructs.analysis.governance import (
    SHARING,
    Quota,
    capacity,
    governed,
    guarantees,
    nodes_by_type,
    policies,
    quotas,
)
from hyperpod_constructs.analysis.kubernetes import EksCluster, eks_clusters, eks_of, installs
from hyperpod_constructs.facts import governance, quota_amounts
from hyperpod_constructs.facts.addons import TASK_GOVERNANCE
from hyperpod_constructs.facts.governance import ON_SLURM, SCHEDULER_CONFIG
from hyperpod_constructs.facts.mistake import Mistake
from hyperpod_constructs.rules.finding import Hit, hit
from hyperpod_constructs.rules.rule import ORDER, error, warning
from hyperpod_constructs.templates.dependencies import awaits
from hyperpod_constructs.templates.model import Model, Resource
from hyperpod_constructs.templates.values import ABSENT, as_int, as_items, as_str, at

_GUIDE = "https://docs.aws.amazon.com/sagemaker/latest/dg/"
_GOVERNANCE = f"{_GUIDE}sagemaker-hyperpod-eks-operate-console-ui-governance-setup-task-governance.html"
_POLICIES = f"{_GUIDE}sagemaker-hyperpod-eks-operate-console-ui-governance-policies.html"
_API = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/"
_ENTRY = f"{_API}API_ComputeQuotaResourceConfig.html"
_quota_warning, _governed_warning = partial(warning, on=quotas), partial(warning, on=governed)


@error(
    "HP-GOV-001",
    on=policies,
    at=("ClusterArn",),
    title="scheduling policies and quotas are for clusters on EKS",
    why="the service refuses them for a Slurm cluster, which has priorities, associations and limits of its own",
    fix=ON_SLURM.fix,
    allowed="the ARN of a cluster with Orchestrator.Eks",
    source=_GOVERNANCE,
    aliases=("HP-EKS-040",),
    silences=("HP-GOV-004",),
)
def policies_are_for_eks(policy: Resource, cluster: Cluster) -> str | None:
    """For a cluster whose groups are made for EKS, its orchestrator is the mistake."""
    on_slurm = cluster.on_eks is False and not cluster.is_made_for_eks
    return f"{policy.logical_id} is for {cluster.resource.logical_id}, which Slurm schedules" if on_slurm else None


@warning(
    "HP-GOV-002",
    title="scheduling policies and quotas come after the add-on of task governance",
    why="the service writes them into objects that the add-on defines; without it the request fails",
    fix="add the add-on, and make them depend on it (DependsOn)",
    allowed=f"a policy that depends on {TASK_GOVERNANCE}",
    source=_GOVERNANCE,
    aliases=("HP-EKS-041",),
    because=ORDER,
)
def policies_come_after_their_addon(model: Model) -> Iterator[Hit]:
    """Of several policies for one cluster without the add-on, the first names the others."""
    for eks, found in grouped((eks_of(cluster), policy) for policy, cluster in policies(model)).items():
        addon, (first, *others) = None if eks is None else eks.addons.get(TASK_GOVERNANCE), found
        if addon is not None:
            late = [policy for policy in found if not awaits(policy, addon)]
            text = f"does not await {addon.logical_id}, the add-on that defines its objects"
            yield from (Hit(policy, (), f"{policy.logical_id} {text}") for policy in late)
        elif eks is not None and eks.lacks_addon(TASK_GOVERNANCE):
            more = f"; so is {enumerated(one.logical_id for one in others)}" if others else ""
            text = f"{first.logical_id} is for a cluster without the add-on {TASK_GOVERNANCE}, which defines its objects{more}"
            yield Hit(first, (), text, covers=tuple(others))


@warning(
    "HP-GOV-003",
    on=eks_clusters,
    title="a cluster has one Kueue, the add-on's",
    why="the add-on brings Kueue; a second one fights with it for the same objects, and the add-on fails",
    fix="take the other Kueue out",
    allowed=f"{TASK_GOVERNANCE} or a chart of Kueue",
    source=_GOVERNANCE,
    aliases=("HP-EKS-042",),
)
def kueue_is_installed_once(eks: EksCluster) -> Iterator[Hit]:
    for chart in eks.charts if TASK_GOVERNANCE in eks.addons else ():
        if installs(chart, "kueue"):
            yield hit(chart, f"{chart.logical_id} installs Kueue beside the add-on {TASK_GOVERNANCE}, which brings it")


def _without_policy(model: Model) -> Iterator[Quota]:
    """The first quota of each cluster of the model that no policy names; none where a policy is for a cluster from elsewhere."""
    configs = model.resources(SCHEDULER_CONFIG)
    named = {cluster.resource for policy, cluster in policies(model) if policy in configs}
    if model.complete and len(named) == len(configs):
        first = {quota.cluster.resource: quota for quota in reversed(quotas(model)) if quota.cluster is not None}
        yield from (quota for cluster, quota in first.items() if cluster not in named)


@warning(
    "HP-GOV-004",
    on=_without_policy,
    title="a cluster with quotas has a scheduling policy",
    why="without one there are no priority classes and jobs run first come, first served: weights of teams and preemption by "
    "priority have nothing to go by",
    fix=f"add an {SCHEDULER_CONFIG} with PriorityClasses and FairShare",
    allowed=f"quotas beside an {SCHEDULER_CONFIG} of the same cluster",
    source=_POLICIES,
)
def quotas_have_a_policy(quota: Quota) -> str:
    return f"the quota of team {quota.team!r} is for a cluster without a scheduling policy"


@error(
    "HP-GOV-005",
    on=quotas,
    title="parts of GPUs are parts that the instance type offers",
    why="the service rejects a MIG profile that the chosen instance type does not support",
    fix="name a part of this instance type, or give Accelerators instead",
    allowed="a partition of the type's GPU",
    source=f"{_API}API_AcceleratorPartitionConfig.html",
)
def partitions_are_offered(quota: Quota) -> Iterator[Hit]:
    for path, entry in quota.entries:
        mistake = None if entry.partition is None else quota_amounts.unserved_partition(entry.instance_type, entry.partition)
        if mistake is not None:
            yield hit(quota, mistake, *path, "AcceleratorPartition", "Type")


@_quota_warning(
    "HP-GOV-006",
    title="an entry of a quota has amounts that mean something together",
    why="an entry without an amount guarantees nothing, a limit has no effect on a team that does not borrow, and no page says "
    "what whole instances mean beside single resources",
    fix="give Count alone, or single resources without it; leave limits out where the team does not borrow",
    allowed="Count, or single resources; limits of borrowing with LendAndBorrow",
    source=_ENTRY,
    silences=("HP-GOV-008",),
)
def amounts_go_together(quota: Quota) -> Iterator[Hit]:
    for path, entry in quota.entries:
        wrong = quota_amounts.amounts_mistake(entry)
        if wrong is not None and not (entry.partition and quota_amounts.unserved_partition(entry.instance_type, entry.partition)):
            yield hit(quota, wrong, *path)
    sharing = quota.resource.get(*SHARING)
    limited = given(at(sharing, "BorrowLimit")) is True or bool(as_items(at(sharing, "AbsoluteBorrowLimits")))
    mistake = governance.borrow_mistake(as_str(at(sharing, "Strategy")) or "LendAndBorrow", limited)
    if mistake is not None:
        yield hit(quota, mistake, *SHARING)


@_governed_warning(
    "HP-GOV-007",
    title="quotas name instance types of the cluster",
    why="no node serves the quota: the team waits without end for what it was promised",
    fix="name a type of an instance group",
    allowed="instance types of the cluster's groups",
    source=_ENTRY,
    silences=("HP-GOV-008",),
)
def quotas_name_types_of_the_cluster(cluster: Cluster, found: list[Quota]) -> Iterator[Hit]:
    known = nodes_by_type(cluster) or {}
    for quota in found:
        for path, entry in quota.entries:
            if entry.instance_type not in known:
                where = f"the quota of team {quota.team!r}"
                yield hit(quota, governance.unknown_type(where, entry.instance_type, known), *path, "InstanceType")


@_governed_warning(
    "HP-GOV-008",
    title="quotas together guarantee no more than the cluster has",
    why="the service takes them, and the last team to come does not get what its quota guarantees",
    fix=f"lower a quota, or add nodes; for nodes that come later write the metadata {BEYOND_CAPACITY}: true (in the CDK: "
    "beyond_capacity=True)",
    allowed="the nodes of each type, unless Karpenter adds more",
    source=_POLICIES,
)
def quotas_fit_the_cluster(cluster: Cluster, found: list[Quota]) -> Iterator[Hit]:
    nodes, grows = nodes_by_type(cluster) or {}, cluster.get("AutoScaling", "Mode") not in (ABSENT, "Disable")
    counted = [quota for quota in found if _counts(quota)]
    for name, teams in guarantees(() if grows else counted).items():
        count = nodes.get(name)
        for mistake in () if count is None else quota_amounts.beyond_capacity(name, teams, capacity(name, count)):
            users = [quota for quota in counted if any(entry.instance_type == name for _, entry in quota.guarantees)]
            alone = [one for one in users if _is_beyond(one, name, count or 0)]
            meant = (alone or users)[-1].resource
            others = tuple(one.resource for one in users if one.resource is not meant)
            yield Hit(meant, governance.RESOURCES_PATH, mistake.message, covers=others)


def _is_beyond(quota: Quota, name: str, count: int) -> bool:
    """Whether a quota alone guarantees more of a type than the cluster has."""
    own = guarantees([quota]).get(name, {})
    return any(quota_amounts.beyond_capacity(name, own, capacity(name, count)))


def _counts(quota: Quota) -> bool:
    """Whether a quota is in force and for the present nodes."""
    return quota.resource.get("ActivationState") in (ABSENT, "Enabled") and not at(quota.resource.metadata, BEYOND_CAPACITY)


@_quota_warning(
    "HP-GOV-010",
    at=(*SHARING, "BorrowLimit"),
    title=f"a team that borrows may borrow 1 to {governance.DOCUMENTED_BORROW_LIMIT} percent of its own resources",
    why=f"the API takes 0 to {governance.BORROW_LIMIT.most}, but its page says 1 to {governance.DOCUMENTED_BORROW_LIMIT}: "
    "none says what more means, and with 0 the team borrows nothing",
    fix=governance.high_borrow_limit.fix,
    allowed=f"1 to {governance.DOCUMENTED_BORROW_LIMIT}",
    source=f"{_API}API_ResourceSharingConfig.html",
)
def borrow_limits_are_documented(quota: Quota) -> Mistake | None:
    limit = as_int(quota.resource.get(*SHARING, "BorrowLimit"))
    borrows = as_str(quota.resource.get(*SHARING, "Strategy")) == "LendAndBorrow"
    if limit is None or not borrows or 1 <= limit <= governance.DOCUMENTED_BORROW_LIMIT:
        return None
    return governance.high_borrow_limit(limit) if limit else governance.no_borrow_limit()


@_quota_warning(
    "HP-GOV-012",
    at=("ComputeQuotaTarget", "TeamName"),
    title="a team has its own name, and not that of its namespace",
    why="the service puts hyperpod-ns- before it: identities, access and jobs of the namespace that was meant find none",
    fix="write the name without hyperpod-ns-",
    allowed="the name of a team",
    source=f"{_API}API_ComputeQuotaTarget.html",
)
def teams_are_not_called_as_namespaces(quota: Quota) -> str | None:
    space = governance.namespace(quota.team)
    return f"the namespace of the team {quota.team} is {space}" if quota.team.startswith(governance.namespace("")) else None
