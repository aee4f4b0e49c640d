"""Pods in objects of Kubernetes that find no node: by the labels of groups, their types, their taints and what a node has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hyperpod_constructs._support.words import enumerated
from hyperpod_constructs.analysis.embedded import has_hole
from hyperpod_constructs.analysis.kubernetes import EksCluster, eks_clusters
from hyperpod_constructs.analysis.manifests import KubernetesObject, brings_known_objects, objects_of
from hyperpod_constructs.analysis.pod_places import OTHERS, Place, Unplaced, is_of_kubernetes, keeps_out, places_of
from hyperpod_constructs.facts.instance_types import InstanceType
from hyperpod_constructs.facts.kubernetes_nodes import ACCELERATORS, EFA, GROUP, INSTANCE_TYPE, quantity, resources
from hyperpod_constructs.facts.kubernetes_objects import pods_anywhere
from hyperpod_constructs.templates.model import Model
from hyperpod_constructs.templates.values import ABSENT, Text, Unknown, as_items, as_str, frozen

_OF_NODES = ("NodePool", "NodeClaim", "EC2NodeClass")
_BY_HAND = "kubernetes.io/hostname"


def unplaced_objects(model: Model) -> Iterator[Unplaced]:
    """The objects whose pods surely find no node, where no other nodes can be."""
    for eks in eks_clusters(model):
        objects = objects_of(eks)
        if not objects or model.resources(*OTHERS) or eks.is_automatic or not brings_known_objects(eks):
            continue
        places = list(places_of(eks))
        known = places and all(one.labels is not None for one in places)
        if known and not any(one.kind in _OF_NODES for one in objects):
            yield from (found for one in objects for found in _unplaced(one, eks, places))


def _unplaced(one: KubernetesObject, eks: EksCluster, places: list[Place]) -> Iterator[Unplaced]:
    for _, pods in pods_anywhere(one.raw):
        message = _lack(pods, places)
        if message is not None:
            yield Unplaced(one.resource, one.path, f"{one.label}: {message}")
            return


def _lack(pods: Mapping[str, Any], places: list[Place]) -> str | None:
    """What keeps pods from each group of nodes, in words."""
    selector = pods.get("nodeSelector") or {}
    if not isinstance(selector, Mapping) or any(map(has_hole, selector.values())) or _BY_HAND in selector:
        return None
    for key, value in selector.items():
        fits = [_has(place, str(key), value) for place in places]
        if not any(fit is not False for fit in fits):
            return f"no group of nodes has the label {key}={value}, which its pods select"
    fitting = [place for place in places if all(_has(place, str(key), value) is not False for key, value in selector.items())]
    tolerations = as_items(frozen(pods.get("tolerations") or []))
    if fitting and all(keeps_out(place.taints, tolerations) for place in fitting):
        return f"its pods do not tolerate the taints of {enumerated(_named(fitting))}"
    return _too_much(pods, fitting)


def _has(place: Place, key: str, value: object) -> bool | None:
    """Whether the nodes of a group have a label; `None` where that is not known."""
    if key == GROUP:
        name = None if place.group is None else place.group.get("InstanceGroupName")
        return None if isinstance(name, Unknown | Text) else as_str(ABSENT if name is None else name) == value
    if key == INSTANCE_TYPE:
        types = _types(place)
        return None if types is None else value in types
    if is_of_kubernetes(key):
        return None
    own = (place.labels or {}).get(key, ABSENT)
    return None if isinstance(own, Unknown | Text) else as_str(own) == value


def _types(place: Place) -> tuple[str, ...] | None:
    if place.group is not None:
        return place.group.type_names
    names = [as_str(one) for one in as_items(place.resource.get("InstanceTypes")) or ()]
    return tuple(one for one in names if one is not None) if names and None not in names else None


def _too_much(pods: Mapping[str, Any], places: list[Place]) -> str | None:
    """A resource of which pods ask for more than any node of these groups has."""
    kinds = [None if place.group is None else place.group.types for place in places]
    if not kinds or any(one is None for one in kinds):
        return None
    nodes = [kind for types in kinds for kind in types or ()]
    for name, wanted in _asked(pods).items():
        amounts = [_amount(kind, name) for kind in nodes]
        most = max((one for one in amounts if one is not None), default=0)
        if None not in amounts and wanted > most:
            return f"its pods ask for {wanted:g} of {name}, and a node has {most:g} at most"
    return None


def _amount(kind: InstanceType, name: str) -> float | None:
    """What a node has of a resource; `None` where that is not known."""
    found = resources(kind).get(name)
    if found is not None:
        return quantity(found)
    return 0 if kind.vcpus is not None and name in (*ACCELERATORS.values(), EFA) else None


def _asked(pods: Mapping[str, Any]) -> dict[str, float]:
    """What the containers of a pod ask for together, as far as it is known."""
    total: dict[str, float] = {}
    for container in pods["containers"]:
        given = container.get("resources") if isinstance(container, Mapping) else None
        parts = [given.get(key) for key in ("limits", "requests")] if isinstance(given, Mapping) else []
        asked: dict[str, Any] = {}
        for part in parts:
            asked |= part if isinstance(part, Mapping) else {}
        for name, amount in asked.items():
            number = None if has_hole(amount) else quantity(amount)
            total[str(name)] = total.get(str(name), 0) + (number or 0)
    return total


def _named(places: list[Place]) -> list[str]:
    return [place.resource.logical_id if place.group is None else place.group.label for place in places]
