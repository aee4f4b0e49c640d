"""Autoscaling by Karpenter: node classes in manifests, and their instance groups."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from hyperpod_constructs.analysis.clusters import given
from hyperpod_constructs.analysis.node_classes import NodeClass, node_classes
from hyperpod_constructs.analysis.placement import NodeGroup, node_groups
from hyperpod_constructs.facts import autoscaling
from hyperpod_constructs.facts.mistake import Mistake
from hyperpod_constructs.rules.rule import error, warning
from hyperpod_constructs.templates.dependencies import awaits
from hyperpod_constructs.templates.values import ABSENT, as_items, as_str

_GUIDE = "https://docs.aws.amazon.com/sagemaker/latest/dg/"
_NODE_CLASS = f"{_GUIDE}sagemaker-hyperpod-eks-autoscaling-nodeclass.html"
_class_warning = partial(warning, on=node_classes)


@error(
    "HP-KAR-001",
    on=node_classes,
    title="node classes come after a cluster with autoscaling",
    why="the service installs Karpenter and its kinds of objects with the cluster: before it, or without autoscaling, Kubernetes "
    "refuses the manifest",
    fix="enable AutoScaling, and let the manifest depend on the HyperPod cluster (DependsOn)",
    allowed="a manifest that depends on a cluster with AutoScaling.Mode Enable",
    source=f"{_GUIDE}sagemaker-hyperpod-eks-autoscaling-cluster.html",
)
def node_classes_have_a_karpenter(one: NodeClass) -> str | None:
    mode = one.cluster.get("AutoScaling", "Mode")
    if mode in (ABSENT, "Disable"):
        return autoscaling.WITHOUT_AUTOSCALING.message
    late = not awaits(one.resource, one.cluster.resource)
    return f"the node class does not await {one.cluster.resource.logical_id}, which brings its kind" if late else None


@_class_warning(
    "HP-KAR-002",
    title="node classes name instance groups of the cluster",
    why="a node class with a group that does not exist is not ready, and Karpenter adds no nodes",
    fix=autoscaling.unknown_group.fix,
    allowed=f"1 to {autoscaling.MOST_GROUPS} groups of the cluster",
    source=_NODE_CLASS,
)
def node_classes_name_groups(one: NodeClass) -> Iterator[Mistake]:
    known = [group.name for group in one.cluster.groups if group.name is not None]
    if len(one.groups) > autoscaling.MOST_GROUPS:
        yield autoscaling.number_of_groups(len(one.groups))
    if one.cluster.knows_groups and len(known) == len(one.cluster.groups):
        yield from (autoscaling.unknown_group(name, known) for name in one.groups if name not in known)


@_class_warning(
    "HP-KAR-003",
    title="Karpenter can fill the groups of its node classes",
    why="it takes the user's own nodes away, and adds none to a group with a training plan, spot capacity, deep health checks, or "
    "subnets in several zones",
    fix="write an InstanceCount of 0 and nothing that Karpenter does not support, or take the group out of the node class",
    allowed="groups with a count of 0, on demand, in one zone",
    source=_NODE_CLASS,
)
def groups_can_be_filled(one: NodeClass) -> Iterator[Mistake]:
    for group in node_groups(one.resource.template.model):
        if group.cluster is one.cluster and group.name in one.groups:
            mistake = autoscaling.group_mistake(group.label, group.count, _settings(group), _zones(group))
            if mistake is not None:
                yield mistake


def _settings(group: NodeGroup) -> dict[str, bool]:
    return {
        "a training plan": given(group.get("TrainingPlanArn")) is True,
        "deep health checks": bool(as_items(group.get("OnStartDeepHealthChecks"))),
        "spot capacity": given(group.get("CapacityRequirements", "Spot")) is True,
    }


def _zones(group: NodeGroup) -> list[str]:
    """The zones of its subnets if two of them surely differ."""
    zones = [facts.zone for facts in group.subnet_facts()]
    differ = any(zones[0].is_same(other) is False for other in zones[1:])
    return [as_str(zone.name) or as_str(zone.id) or "?" for zone in zones] if differ else []
