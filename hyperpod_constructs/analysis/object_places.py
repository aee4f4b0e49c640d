"""Pods in objects of Kubernetes that find no node: by the labels of groups, their types, their taints and what a node has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hyperpod_constructs._support.words import enumerated
from hyperpod_constructs.analysis.embedded import has_hole
from hyperpod_constructs.analysis.kubernetes import eks_clusters
from hyperpod_constructs.analysis.manifests import KubernetesObject, brings_known_objects, objects_of
from hyperpod_constructs.analysis.own_nodes import has_own_nodes
from hyperpod_constructs.analysis.pod_places import OTHERS, Place, Unplaced, is_of_kubernetes, keeps_out, places_of
from hyperpod_constructs.analysis.pod_wishes import tolerations_of, wanted_labels
from hyperpod_constructs.facts.instance_types import InstanceType
from hyperpod_constructs.facts.job_workers import workers_of
from hyperpod_constructs.facts.kubernetes_nodes import ACCELERATORS, EFA, GROUP, INSTANCE_TYPE, quantity, resources
from hyperpod_constructs.facts.kubernetes_objects import pods_anywhere
from hyperpod_constructs.templates.model import Model
from hyperpod_constructs.templates.values import ABSENT, Text, Unknown, Value, as_items, as_str, at

_OF_NODES = ("NodePool", "NodeClaim", "EC2NodeClass")
_BY_HAND = "kubernetes.io/hostname"


def unplaced_objects(model: Model) -> Iterator[Unplaced]:
    """The objects whose pods surely find no node, where no other nodes can be."""
    for eks in eks_clusters(model):
        objects = objects_of(eks)
        if not objects or model.resources(*OTHERS) or eks.is_automatic or any(one.kind in _OF_NODES for one in objects):
            continue
        places, is_whole = list(places_of(eks)), brings_known_objects(eks)
        known = places and all(one.labels is not None for one in places)
        if known and (is_whole or has_own_nodes(eks, places)):
            own = None if is_whole else frozenset(str(key) for place in places for key in place.labels or {})
            yield from (found for one in objects for found in _unplaced(one, places, own))


def _unplaced(one: KubernetesObject, places: list[Place], own: frozenset[str] | None) -> Iterator[Unplaced]:
    """What keeps the pods of an object from all nodes.

    :param own: the labels that the templates surely give; `None` if nobody else gives any.
    """
    for _, pods in pods_anywhere(one.raw):
        message = _lack(pods, places, own)
        if message is not None:
            yield Unplaced(one.resource, one.path, f"{one.label}: {message}")
            return
    message = _too_many(one, places)
    if message is not None:
        yield Unplaced(one.resource, one.path, f"{one.label}: {message}")


def _lack(pods: Mapping[str, Any], places: list[Place], own: frozenset[str] | None) -> str | None:
    """What keeps pods from each group of nodes, in words."""
    wanted = wanted_labels(pods)
    if wanted is None or _BY_HAND in wanted:
        return None
    for key, values in wanted.items():
        is_managed = own is None or key in own or key in (GROUP, INSTANCE_TYPE)
        if is_managed and not any(_has_one(place, key, values) for place in places):
            return f"no group of nodes has the label {key}={' or '.join(values)}, which its pods select"
    fitting = _fitting(wanted, places)
    if fitting and all(keeps_out(_taints(place, pods), tolerations_of(pods)) for place in fitting):
        return f"its pods do not tolerate the taints of {enumerated(_named(fitting))}"
    return _too_much(pods, fitting)


def _fitting(wanted: Mapping[str, Sequence[str]], places: list[Place]) -> list[Place]:
    """The groups whose nodes may have the labels that pods want."""
    return [place for place in places if all(_has_one(place, key, values) for key, values in wanted.items())]


def _has_one(place: Place, key: str, values: Sequence[str]) -> bool:
    """Whether the nodes of a group may have a label with one of some values."""
    return any(_has(place, key, value) is not False for value in values)


def _taints(place: Place, pods: Mapping[str, Any]) -> tuple[Value, ...] | None:
    """The taints of a group that count for pods.

    With `ExtendedResourceToleration`, pods tolerate the taint of a device for which they ask; a group with deep health checks takes
    no taints.
    """
    checked = place.group is not None and place.group.get("OnStartDeepHealthChecks") is not ABSENT
    devices = {name for name in _asked(pods) if "/" in name}
    return () if checked else tuple(one for one in place.taints or () if as_str(at(one, "Key")) not in devices)


def _too_many(one: KubernetesObject, places: list[Place]) -> str | None:
    """A device of which the pods of a job, which start together, ask for more than all nodes have on which they may be."""
    total, most = dict[str, float](), dict[str, float]()
    for pods, count in workers_of(one.raw, has_hole):
        wanted = wanted_labels(pods)
        fitting = [] if wanted is None else _fitting(wanted, places)
        for name, amount in _asked(pods).items():
            has = [_in_group(place, name) for place in fitting]
            if count is None or not fitting or None in has or name not in (*ACCELERATORS.values(), EFA):
                continue
            total[name] = total.get(name, 0) + count * amount
            most[name] = max(most.get(name, 0), sum(number for number in has if number is not None))
    lacking = next((name for name, amount in total.items() if amount > most[name]), None)
    if lacking is None:
        return None
    return f"its pods ask for {total[lacking]:g} of {lacking} together, and their nodes have {most[lacking]:g}"


def _in_group(place: Place, name: str) -> float | None:
    """What all nodes of a group have of a device, if that is known."""
    kinds, count = (None, None) if place.group is None else (place.group.types, place.group.count)
    amounts = [None if count is None else _amount(kind, name) for kind in kinds or (None,) if kind is not None]
    known = [one for one in amounts if one is not None]
    return None if count is None or not known or len(known) < len(amounts) else count * max(known)


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
