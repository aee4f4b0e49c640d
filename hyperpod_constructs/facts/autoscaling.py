"""Autoscaling by the service's Karpenter: its objects, its limits, and the words for mistakes (as of 2026-11-22).

Sources: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-autoscaling-nodeclass.html and
https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-autoscaling-nodepool.html
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from hyperpod_constructs.facts import kubernetes_nodes
from hyperpod_constructs.facts.data import document
from hyperpod_constructs.facts.instance_types import InstanceType
from hyperpod_constructs.facts.mistake import Mistake, fixed_by
from hyperpod_constructs.facts.shapes import shape_mistakes
from hyperpod_constructs.facts.zones import ids_are_of, is_zone_id

ROLE_GUIDE = "https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-autoscaling-iam.html"
"""The page about the cluster role."""

NODE_CLASS_GROUP = "karpenter.sagemaker.amazonaws.com"
"""The API group of `HyperpodNodeClass`."""

NODE_CLASS_KIND = "HyperpodNodeClass"
"""The kind of a node class."""

NODE_POOL_GROUP = "karpenter.sh"
"""The API group of `NodePool`."""

NODE_POOL_KIND = "NodePool"
"""The kind of a node pool."""

NODE_CLASS_DEFINITION = f"hyperpodnodeclasses.{NODE_CLASS_GROUP}"
"""The name of the definition of `HyperpodNodeClass`.

Source: the plural in manifests and programs of public repositories; AWS's pages name the kind only (as of 2026-11-23).
"""

NODE_POOL_DEFINITION = f"nodepools.{NODE_POOL_GROUP}"
"""The name of the definition of `NodePool`.

Source: https://karpenter.sh/docs/concepts/nodepools/ (as of 2026-11-23)
"""

MOST_GROUPS = 10
"""Most instance groups of a node class."""

ARCHITECTURE = "amd64"
"""The architecture of nodes that Karpenter adds."""

_ASK_FOR_GROUPS = f"name types and zones of the groups of the node class, and {ARCHITECTURE}, or leave the requirement out"

WITHOUT_AUTOSCALING = Mistake(
    "the cluster has no autoscaling, so the service does not install Karpenter and its kinds of objects",
    "give the HyperPodCluster auto_scaling=AutoScaling()",
)


@fixed_by(f"give each node class 1 to {MOST_GROUPS} instance groups")
def number_of_groups(count: int) -> str:
    """A node class with too many groups, or none."""
    return f"the node class has {count} instance groups"


@fixed_by("write a count of 0: Karpenter adds the nodes, and would take these away")
def nodes_of_the_user(group: str, count: int) -> str:
    """A group that starts with nodes."""
    return f"instance group {group!r} of the node class has a count of {count}"


@fixed_by("leave it out, or leave the group out of the node class")
def unsupported(group: str, setting: str) -> str:
    """A group with what Karpenter does not support.

    :param setting: such as `a training plan`.
    """
    return f"instance group {group!r} of the node class has {setting}"


@fixed_by("name subnets of one zone; another zone needs a group of its own")
def several_zones(group: str, zones: Sequence[str]) -> str:
    """A group whose nodes can be in several zones."""
    return f"instance group {group!r} of the node class has subnets in {', '.join(zones)}"


@fixed_by("add the group to the HyperPodCluster")
def unknown_group(group: str, known: Sequence[str], others: Sequence[str] = ()) -> str:
    """A group that the cluster does not have.

    :param others: further such groups.
    """
    more = f"; the same with {', '.join(others)}" if others else ""
    return f"instance group {group!r} of the node class is not in the cluster, which has {', '.join(known) or 'none'}{more}"


@fixed_by(_ASK_FOR_GROUPS)
def unknown_types(types: Sequence[str], known: Sequence[str]) -> str:
    """Types that no group of the node class has."""
    return f"the node pool names {', '.join(types)}; its node class has {', '.join(known)}"


def group_mistake(group: str, count: int | None, settings: Mapping[str, bool], zones: Sequence[str]) -> Mistake | None:
    """What keeps Karpenter from filling a group of a node class; `None` for a group that it can fill.

    :param count: the wanted nodes; `None` if that is not known.
    :param settings: by words such as `a training plan`, whether the group has it.
    :param zones: the zones in which its nodes can be, as far as they are known to differ.
    """
    if count:
        return nodes_of_the_user(group, count)
    wrong = next((setting for setting, there in settings.items() if there), None)
    if wrong is not None:
        return unsupported(group, wrong)
    return several_zones(group, zones) if len(zones) > 1 else None


def object_mistake(found: Mapping[str, Any], unknown: Callable[[object], bool]) -> str | None:
    """What Kubernetes refuses about a node class or a node pool, in words; `None` for an object of another kind.

    :param unknown: whether a value is known only at the deployment.
    """
    kind = NODE_POOL_KIND if found.get("kind") == NODE_POOL_KIND else NODE_CLASS_KIND
    return next(shape_mistakes(document("karpenter_objects.json")[kind], found, unknown), None)


@fixed_by(f"write group {NODE_CLASS_GROUP}, kind {NODE_CLASS_KIND} and the name of a node class of the manifests")
def unknown_class(group: str, kind: str | None, name: str | None, known: Iterable[str]) -> str:
    """A node pool whose class is not there.

    :param known: the names of the node classes that are there.
    """
    there = ", ".join(known) or "none"
    return f"the node pool names the {kind} {name!r} of {group}, and the node classes in the manifests are {there}"


@fixed_by(_ASK_FOR_GROUPS)
def unreachable_zone(zone: str, zones: Iterable[str]) -> str:
    """A zone in which no group of a node class has a subnet."""
    return f"the node pool names the zone {zone}; the groups of its node class are in {', '.join(zones)}"


@fixed_by(_ASK_FOR_GROUPS)
def foreign_architecture(found: str) -> str:
    """An architecture that Karpenter does not add."""
    return f"the node pool names the architecture {found}; Karpenter adds {ARCHITECTURE} only"


@fixed_by("raise the limit to what the nodes together may have, or leave it out")
def low_limit(resource: str, limit: object, kind: str, amount: str) -> str:
    """A limit that leaves no room for one node."""
    return f"the limit {resource}: {limit} of the node pool is below one node: {kind} has {amount}"


def zone_mistake(zone: str, names: Sequence[str | None], ids: Sequence[str | None]) -> Mistake | None:
    """A zone that no group of a node class is in; `None` where that is not known.

    :param names: the names of the zones of the groups' subnets; `None` for one that is not known.
    :param ids: the same for their ids.
    """
    known = [name for name in names if name is not None]
    if known and len(known) == len(names):
        return None if zone in known else unreachable_zone(zone, dict.fromkeys(known))
    given = [name for name in ids if name is not None]
    if is_zone_id(zone) or (given and len(given) == len(ids) and not ids_are_of(given, zone)):
        return unreachable_zone(zone, dict.fromkeys(given) or ["zones with names such as us-west-2a"])
    return None


def limit_mistake(limits: Mapping[str, Any], kinds: Sequence[InstanceType]) -> Mistake | None:
    """The first limit of a node pool that is below a node of every type; a limit does not hold a type that lacks the resource."""
    for resource, limit in limits.items():
        most = kubernetes_nodes.quantity(limit)
        amounts = {kind.name: kubernetes_nodes.resources(kind).get(resource) for kind in kinds}
        known = {name: (kubernetes_nodes.quantity(amount), amount) for name, amount in amounts.items() if amount is not None}
        if most is None or not known or len(known) < len(amounts):
            continue
        name, (least, shown) = min(known.items(), key=lambda item: item[1][0] or 0)
        if least is not None and most < least:
            return low_limit(resource, limit, name, shown)
    return None
