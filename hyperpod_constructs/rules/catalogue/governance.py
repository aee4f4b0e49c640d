"""Task governance: scheduling policies and quotas of teams."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hyperpod_constructs.rules.facts.clusters import CLUSTER, Cluster, clusters, hit
from hyperpod_constructs.rules.facts.kubernetes import EksCluster, eks_clusters
from hyperpod_constructs.rules.finding import Hit, Level
from hyperpod_constructs.rules.mistakes import Mistake
from hyperpod_constructs.rules.rule import rule
from hyperpod_constructs.rules.template.model import Model, Resource
from hyperpod_constructs.rules.template.values import parts_of, resource_of

_ADDON = "amazon-sagemaker-hyperpod-taskgovernance"
_POLICIES = ("AWS::SageMaker::ClusterSchedulerConfig", "AWS::SageMaker::ComputeQuota")
_GUIDE = "https://docs.aws.amazon.com/sagemaker/latest/dg/"
_SETUP = f"{_GUIDE}sagemaker-hyperpod-eks-operate-console-ui-governance-setup-task-governance.html"
_KUEUE = re.compile(r"kueue", re.IGNORECASE)


def _policies(model: Model) -> Iterator[tuple[Resource, Cluster]]:
    """Policies and quotas with the HyperPod cluster that they are for, where that is in the model."""
    known = {cluster.resource: cluster for cluster in clusters(model)}
    for policy in model.resources(*_POLICIES):
        cluster = resource_of(policy.get("ClusterArn"), CLUSTER)
        if cluster is not None:
            yield policy, known[cluster]


@rule(
    "HP-EKS-040",
    Level.ERROR,
    title="scheduling policies and quotas are for clusters on EKS",
    why="the service refuses them for a Slurm cluster, which has priorities, associations and limits of its own",
    fix="leave them out, and set priorities and limits in Slurm (sacctmgr)",
    allowed="the ARN of a cluster with Orchestrator.Eks",
    source=_SETUP,
)
def policies_are_for_eks(model: Model) -> Iterator[Hit]:
    for policy, cluster in _policies(model):
        if cluster.on_eks is False:
            text = f"{policy.logical_id} is for {cluster.resource.logical_id}, which Slurm schedules"
            fix = "leave it out, and set priorities and limits in Slurm (sacctmgr)"
            yield hit(policy, ("ClusterArn",), Mistake(text, fix), policy.get("ClusterArn"))


@rule(
    "HP-EKS-041",
    Level.WARNING,
    title="scheduling policies and quotas come after the add-on of task governance",
    why="the service writes them into objects that the add-on defines; without it the request fails",
    fix="make them depend on the add-on (DependsOn)",
    allowed=f"a policy that depends on {_ADDON}",
    source=_SETUP,
)
def policies_come_after_their_addon(model: Model) -> Iterator[Hit]:
    for policy, cluster in _policies(model):
        eks = EksCluster.of(cluster.eks_arn)
        addon = None if eks is None else eks.addons.get(_ADDON)
        if addon is not None and not policy.awaits(addon):
            text = f"{policy.logical_id} does not await {addon.logical_id}, which defines what it is written into"
            yield hit(policy, (), Mistake(text, f"add DependsOn: {addon.logical_id}"))


@rule(
    "HP-EKS-042",
    Level.WARNING,
    title="a cluster has one Kueue: that of task governance",
    why="the add-on brings Kueue; a second one fights with it for the same objects, and the add-on fails",
    fix="take the other Kueue out",
    allowed=f"{_ADDON} or a chart of Kueue",
    source=_SETUP,
)
def kueue_is_installed_once(model: Model) -> Iterator[Hit]:
    for eks in eks_clusters(model):
        for chart in eks.charts if _ADDON in eks.addons else ():
            named = (chart.get(key) for key in ("Release", "Chart", "Repository"))
            if any(isinstance(part, str) and _KUEUE.search(part) for value in named for part in parts_of(value)):
                text = f"{chart.logical_id} installs Kueue beside the add-on {_ADDON}, which brings it"
                yield hit(chart, (), Mistake(text, "take the chart out"))
