"""Autoscaling by Karpenter: node classes and node pools in manifests, and their instance groups."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs.analysis.clusters import Cluster, given
from hyperpod_constructs.analysis.embedded import has_hole
from hyperpod_constructs.analysis.karpenter import (
    NodeClass,
    NodePool,
    has_objects,
    is_of_karpenter,
    karpenter_manifests,
    node_classes,
    node_pools,
)
from hyperpod_constructs.analysis.kubernetes import installs
from hyperpod_constructs.analysis.manifests import KubernetesObject, kubernetes_objects
from hyperpod_constructs.analysis.placement import NodeGroup
from hyperpod_constructs.facts import autoscaling, kubernetes_nodes
from hyperpod_constructs.facts.autoscaling import NODE_CLASS_GROUP, NODE_CLASS_KIND
from hyperpod_constructs.facts.instance_types import instance_type, is_instance_type
from hyperpod_constructs.facts.mistake import Mistake
from hyperpod_constructs.rules.finding import Hit, hit
from hyperpod_constructs.rules.rule import error, warning
from hyperpod_constructs.templates.dependencies import awaits
from hyperpod_constructs.templates.model import Model, Resource
from hyperpod_constructs.templates.values import ABSENT, as_items, as_str

_GUIDE = "https://docs.aws.amazon.com/sagemaker/latest/dg/"
_NODE_CLASS = f"{_GUIDE}sagemaker-hyperpod-eks-autoscaling-nodeclass.html"
_NODE_POOL = f"{_GUIDE}sagemaker-hyperpod-eks-autoscaling-nodepool.html"
_class_warning, _pool_warning = partial(warning, on=node_classes), partial(warning, on=node_pools)


@error(
    "HP-KAR-001",
    on=lambda model: grouped((cluster, manifest) for manifest, cluster in karpenter_manifests(model).items()).items(),
    title="node classes and node pools come after a cluster with autoscaling",
    why="the service installs Karpenter and its kinds of objects with the cluster: before it, or without autoscaling, Kubernetes "
    "refuses the manifest",
    fix="enable AutoScaling, and let the manifest depend on the HyperPod cluster (DependsOn)",
    allowed="a manifest that depends on a cluster with AutoScaling.Mode Enable",
    source=f"{_GUIDE}sagemaker-hyperpod-eks-autoscaling-cluster.html",
)
def karpenter_is_there(cluster: Cluster, manifests: list[Resource]) -> Iterator[Hit]:
    if cluster.get("AutoScaling", "Mode") in (ABSENT, "Disable"):
        yield hit(manifests[0], autoscaling.WITHOUT_AUTOSCALING, "Manifest", covers=tuple(manifests[1:]))
        return
    for manifest in manifests:
        if not awaits(manifest, cluster.resource):
            yield hit(manifest, f"the manifest does not await {cluster.resource.logical_id}, which brings Karpenter's kinds")


@_class_warning(
    "HP-KAR-002",
    title="node classes name instance groups of the cluster",
    why="a node class with a group that does not exist is not ready, and Karpenter adds no nodes",
    fix=autoscaling.unknown_group.fix,
    allowed=f"1 to {autoscaling.MOST_GROUPS} groups of the cluster",
    source=_NODE_CLASS,
)
def node_classes_name_groups(one: NodeClass) -> Mistake | None:
    known = [group.name for group in one.cluster.groups if group.name is not None]
    if len(one.group_names) > autoscaling.MOST_GROUPS:
        return autoscaling.number_of_groups(len(one.group_names))
    complete = one.cluster.knows_groups and len(known) == len(one.cluster.groups)
    foreign = [name for name in one.group_names if complete and name not in known]
    return autoscaling.unknown_group(foreign[0], known, foreign[1:]) if foreign else None


@_class_warning(
    "HP-KAR-003",
    title="Karpenter can fill the groups of its node classes",
    why="it takes the user's own nodes away, and adds none to a group with a training plan, deep health checks, or subnets in "
    "several zones",
    fix="write an InstanceCount of 0 and nothing that Karpenter does not support, or take the group out of the node class",
    allowed="groups with a count of 0, on demand or spot, in one zone",
    source=_NODE_CLASS,
    silences=("HP-KAR-006", "HP-KAR-007"),
)
def groups_can_be_filled(one: NodeClass) -> Iterator[Mistake]:
    for group in one.named_groups:
        mistake = autoscaling.group_mistake(group.label, group.count, _settings(group), _zones(group))
        if mistake is not None:
            yield mistake


def _settings(group: NodeGroup) -> dict[str, bool]:
    return {
        "a training plan": given(group.get("TrainingPlanArn")) is True,
        "deep health checks": bool(as_items(group.get("OnStartDeepHealthChecks"))),
    }


def _zones(group: NodeGroup) -> list[str]:
    """The zones of its subnets if two of them surely differ."""
    zones = [facts.zone for facts in group.subnet_facts()]
    differ = any(zones[0].is_same(other) is False for other in zones[1:])
    return [as_str(zone.name) or as_str(zone.id) or "?" for zone in zones] if differ else []


def _objects(model: Model) -> Iterator[KubernetesObject]:
    return filter(is_of_karpenter, kubernetes_objects(model))


@error(
    "HP-KAR-004",
    on=_objects,
    title="node classes and node pools have the form that Kubernetes takes",
    why="Kubernetes refuses an object with another version, an unknown key or a value of another form, and the stack rolls back",
    fix="correct the key or the value: kubectl explain nodepool.spec --recursive shows what is there",
    allowed="apiVersion, keys and values as in the definition of the kind",
    source="https://karpenter.sh/docs/concepts/nodepools/",
    silences=("HP-KAR-005", "HP-KAR-006", "HP-KAR-007"),
)
def objects_have_their_form(one: KubernetesObject) -> str | None:
    wrong = autoscaling.object_mistake(one.raw, has_hole)
    return f"{one.label}: {wrong}" if wrong else None


@_pool_warning(
    "HP-KAR-005",
    title="node pools name a node class that is there",
    why="a node pool without its class is not ready, and Karpenter adds no nodes",
    fix=autoscaling.unknown_class.fix,
    allowed=f"{NODE_CLASS_KIND} of {NODE_CLASS_GROUP}, by the name of one in the manifests",
    source=_NODE_POOL,
)
def node_pools_name_a_class(pool: NodePool) -> Mistake | None:
    """A pool of other nodes is judged only where nothing can have brought another Karpenter."""
    group, kind, name = pool.reference
    ours = (group, kind) == (NODE_CLASS_GROUP, NODE_CLASS_KIND)
    known = [one.object.name for one in node_classes(pool.resource.template.model) if one.cluster is pool.cluster]
    there = name is None or (name in known if ours else kind is None or not _cannot_have(pool, group, kind))
    if there or None in known or not pool.resource.template.model.complete:
        return None
    return autoscaling.unknown_class(group, kind, name, (one for one in known if one is not None))


def _cannot_have(pool: NodePool, group: str, kind: str) -> bool:
    """Whether a class of another Karpenter cannot be in the cluster."""
    eks = pool.object.eks
    others = eks.is_automatic or not all(installs(chart, "hyperpod") for chart in eks.charts)
    return not others and not has_objects(eks, group, kind)


@_pool_warning(
    "HP-KAR-006",
    title="node pools ask for what the groups of their node class have",
    why="no group has such a node: Karpenter adds none, and the pods stay pending",
    fix=autoscaling.unknown_types.fix,
    allowed=f"instance types such as ml.g6.12xlarge and zones such as us-west-2a of the groups; {autoscaling.ARCHITECTURE}",
    source=_NODE_POOL,
    silences=("HP-KAR-007",),
)
def node_pools_ask_for_what_is_there(pool: NodePool) -> Iterator[Mistake]:
    types = None if pool.node_class is None else pool.node_class.types
    foreign = [name for name in pool.wanted(kubernetes_nodes.INSTANCE_TYPE) if types is not None and name not in types]
    if foreign:
        yield autoscaling.unknown_types(foreign, types or ())
    yield from _zone_mistakes(pool)
    for name in pool.wanted(kubernetes_nodes.ARCHITECTURE) if pool.asks_for_hyperpod else ():
        if name != autoscaling.ARCHITECTURE:
            yield autoscaling.foreign_architecture(name)


def _zone_mistakes(pool: NodePool) -> Iterator[Mistake]:
    groups = None if pool.node_class is None else pool.node_class.groups
    zones = [facts.zone for group in groups or () for facts in group.subnet_facts()]
    known = groups is not None and all(group.subnets is not None for group in groups)
    for name in pool.wanted(kubernetes_nodes.ZONE) if known else ():
        mistake = autoscaling.zone_mistake(name, [as_str(one.name) for one in zones], [as_str(one.id) for one in zones])
        if mistake is not None:
            yield mistake


@_pool_warning(
    "HP-KAR-007",
    title="the limits of a node pool leave room for a node",
    why="Karpenter adds no node that would lift the sum above a limit: below one node, it adds none at all",
    fix=autoscaling.low_limit.fix,
    allowed="limits of at least one node of the smallest type",
    source="https://karpenter.sh/docs/concepts/nodepools/#speclimits",
)
def limits_hold_a_node(pool: NodePool) -> Mistake | None:
    types = None if pool.node_class is None else pool.node_class.types
    wanted = pool.wanted(kubernetes_nodes.INSTANCE_TYPE) or types or ()
    kinds = [instance_type(name) for name in wanted if is_instance_type(name)]
    return autoscaling.limit_mistake(pool.limits, kinds) if types is not None and len(kinds) == len(wanted) else None
