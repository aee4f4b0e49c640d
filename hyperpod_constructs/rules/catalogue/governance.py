"""Task governance: scheduling policies and quotas of teams."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_constructs.analysis.clusters import CLUSTER, Cluster, clusters
from hyperpod_constructs.analysis.kubernetes import EksCluster, eks_clusters, installs
from hyperpod_constructs.facts.addons import TASK_GOVERNANCE
from hyperpod_constructs.facts.governance import COMPUTE_QUOTA, ON_SLURM, SCHEDULER_CONFIG
from hyperpod_constructs.rules.finding import Hit
from hyperpod_constructs.rules.hits import hit
from hyperpod_constructs.rules.rule import error, warning
from hyperpod_constructs.templates.dependencies import awaits
from hyperpod_constructs.templates.model import Model, Resource, resource_of

_GOVERNANCE = (
    "https://docs.aws.amazon.com/sagemaker/latest/dg/"
    "sagemaker-hyperpod-eks-operate-console-ui-governance-setup-task-governance.html"
)


def _policies(model: Model) -> Iterator[tuple[Resource, Cluster]]:
    """Policies and quotas with their HyperPod cluster, if it is in the model."""
    known = {cluster.resource: cluster for cluster in clusters(model)}
    for policy in model.resources(SCHEDULER_CONFIG, COMPUTE_QUOTA):
        cluster = resource_of(policy.get("ClusterArn"), CLUSTER)
        if cluster is not None:
            yield policy, known[cluster]


@error(
    "HP-GOV-001",
    on=_policies,
    at=("ClusterArn",),
    title="scheduling policies and quotas are for clusters on EKS",
    why="the service refuses them for a Slurm cluster, which has priorities, associations and limits of its own",
    fix=ON_SLURM.fix,
    allowed="the ARN of a cluster with Orchestrator.Eks",
    source=_GOVERNANCE,
    aliases=("HP-EKS-040",),
)
def policies_are_for_eks(policy: Resource, cluster: Cluster) -> str | None:
    on_slurm = cluster.on_eks is False
    return f"{policy.logical_id} is for {cluster.resource.logical_id}, which Slurm schedules" if on_slurm else None


@warning(
    "HP-GOV-002",
    on=_policies,
    title="scheduling policies and quotas come after the add-on of task governance",
    why="the service writes them into objects that the add-on defines; without it the request fails",
    fix="make them depend on the add-on (DependsOn)",
    allowed=f"a policy that depends on {TASK_GOVERNANCE}",
    source=_GOVERNANCE,
    aliases=("HP-EKS-041",),
)
def policies_come_after_their_addon(policy: Resource, cluster: Cluster) -> str | None:
    eks = EksCluster.of(cluster.eks_arn)
    addon = None if eks is None else eks.addons.get(TASK_GOVERNANCE)
    if addon is None or awaits(policy, addon):
        return None
    return f"{policy.logical_id} does not await {addon.logical_id}, the add-on that defines its objects"


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
