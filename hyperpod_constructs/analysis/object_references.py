"""References among the objects of one deployment that nothing answers, beside an object of the same kind that nothing names.

Charts and others may make objects that no template has. So only both together are a mistake: a name without an object,
and an object that nothing names.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from hyperpod_constructs.analysis.embedded import has_hole
from hyperpod_constructs.analysis.manifests import KubernetesObject
from hyperpod_constructs.facts.kubernetes_objects import pods_anywhere
from hyperpod_constructs.facts.object_references import OF_CLUSTER, THERE, Reference, references_in
from hyperpod_constructs.facts.raw_parts import items, mapping, part

_MOST = 300
_Key = tuple[str, str | None, str]


class Unanswered(NamedTuple):
    """A reference of an object to one that is not there.

    :param says: the reference, in words.
    :param others: the names of the objects of its kind that nothing names.
    """

    object: KubernetesObject
    says: str
    others: tuple[str, ...]


def unanswered(objects: Sequence[KubernetesObject]) -> Iterator[Unanswered]:
    """The references that nothing answers; objects whose names are not known may answer any of their kind."""
    if len(objects) > _MOST:
        return
    made = [(str(one.raw.get("kind")), _space(one, str(one.raw.get("kind"))), _name_of(one)) for one in objects]
    named = [(one, found, _key(one, found)) for one in objects for found in references_in(one.raw)]
    used = {key for _, _, key in named}
    for one, found, key in named:
        kind, space, name = key
        beside = [each for each in made if each[:2] == (kind, space)]
        is_known = not any(has_hole(part_) for each in (*beside, key) for part_ in each if part_ is not None)
        idle = [each[2] for each in beside if each not in used]
        unknown_users = any(each[0] == kind and any(part_ is not None and has_hole(part_) for part_ in each) for each in used)
        is_there = key in made or name in THERE.get(kind, ()) or name.startswith("system:")
        if is_known and idle and not is_there and not unknown_users:
            where = "" if space in (None, _DEFAULT) else f" in {space}"
            yield Unanswered(one, f"{found.place} names the {kind} {name!r}, which nothing makes{where}", tuple(idle))
    yield from _services(objects)


_DEFAULT = ""
"""The namespace where none is written."""


def _space(one: KubernetesObject, kind: str) -> str | None:
    """The namespace of an object, as it is written; `None` for a kind without."""
    return None if kind in OF_CLUSTER else str(part(one.raw, "metadata", "namespace") or one.space or _DEFAULT)


def _name_of(one: KubernetesObject) -> str:
    return str(part(one.raw, "metadata", "name"))


def _key(one: KubernetesObject, found: Reference) -> _Key:
    own = _space(one, "")
    return found.kind, None if found.kind in OF_CLUSTER else str(found.namespace or own), str(found.name)


def _services(objects: Sequence[KubernetesObject]) -> Iterator[Unanswered]:
    """Services that select pods by a value of a label which no pods have, beside pods with another value of it."""
    pods = [(_space(one, ""), labels) for one in objects for labels in _labels(one.raw)]
    for one in (one for one in objects if one.raw.get("kind") == "Service"):
        selector = mapping(part(one.raw, "spec", "selector"))
        if not selector or any(map(has_hole, (*selector.values(), _space(one, "")))):
            continue
        near = [labels for space, labels in pods if space == _space(one, "") and set(selector) <= set(labels)]
        if near and not any(_fits(selector, labels) for labels in near):
            says = f"spec.selector is {_spelled(selector)}, which no pods have"
            yield Unanswered(one, says, tuple(_spelled({key: labels[key] for key in selector}) for labels in near))


def _fits(selector: Any, labels: Any) -> bool:
    return all(has_hole(labels[key]) or labels[key] == value for key, value in selector.items())


def _spelled(labels: Any) -> str:
    return ",".join(f"{key}={value}" for key, value in labels.items())


def _labels(found: Any) -> Iterator[Any]:
    """The labels of the pods of an object."""
    for place, _ in pods_anywhere(found):
        outer: Any = found
        for key in place[:-1]:
            outer = items(outer)[int(key)] if isinstance(outer, list) else part(outer, key)
        yield mapping(part(outer, "metadata", "labels"))
