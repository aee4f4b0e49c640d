"""Label and field selectors."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from hyperpod_constructs.local.kubernetes import status
from hyperpod_constructs.local.kubernetes.values import at

Labels = Mapping[str, str]
Test = Callable[[Labels], bool]
_SET = re.compile(r"\s*([^\s,()!=]+)\s+(in|notin)\s*\(([^()]*)\)\s*")
_EQUAL = re.compile(r"\s*([^\s,()!=]+)\s*(==|=|!=)\s*([^\s,()!=]*)\s*")
_PRESENT = re.compile(r"\s*(!?)\s*([^\s,()!=]+)\s*")
_FIELDS: Mapping[str, tuple[str, ...]] = {
    "metadata.name": (),
    "metadata.namespace": (),
    "spec.nodeName": ("pods",),
    "spec.schedulerName": ("pods",),
    "spec.restartPolicy": ("pods",),
    "spec.serviceAccountName": ("pods",),
    "status.phase": ("pods", "namespaces", "persistentvolumes"),
    "status.podIP": ("pods",),
    "spec.unschedulable": ("nodes",),
    "type": ("secrets", "events"),
    "status.successful": ("jobs",),
    "reason": ("events",),
    "involvedObject.kind": ("events",),
    "involvedObject.name": ("events",),
    "involvedObject.namespace": ("events",),
    "involvedObject.uid": ("events",),
}


def labels(text: str) -> Test:
    """The test of a label selector such as `a=b,c in (d,e),!f`.

    :raises ApiError: 400 for one that cannot be read.
    """
    tests: list[Test] = []
    position = 0
    while position < len(text):
        for pattern, make in ((_SET, _set), (_EQUAL, _equal), (_PRESENT, _present)):
            found = pattern.match(text, position)
            if found and (found.end() == len(text) or text[found.end()] == ","):
                tests.append(make(found))
                position = found.end() + 1
                break
        else:
            raise status.bad_request(
                f"unable to parse requirement: found {text[position:]!r}, expected: a key with =, !=, in or notin"
            )
    return lambda given: all(test(given) for test in tests)


def _set(found: re.Match[str]) -> Test:
    key, values = found[1], {value.strip() for value in found[3].split(",")}
    if found[2] == "in":
        return lambda given: given.get(key) in values
    return lambda given: given.get(key) not in values


def _equal(found: re.Match[str]) -> Test:
    key, value = found[1], found[3]
    if found[2] == "!=":
        return lambda given: given.get(key) != value
    return lambda given: given.get(key) == value


def _present(found: re.Match[str]) -> Test:
    key, wanted = found[2], not found[1]
    return lambda given: (key in given) is wanted


def matches(selector: Mapping[str, Any], given: Labels) -> bool:
    """Whether a `LabelSelector` object selects these labels."""
    if any(given.get(key) != value for key, value in (selector.get("matchLabels") or {}).items()):
        return False
    return all(_expression(one, given) for one in selector.get("matchExpressions") or ())


def _expression(one: Mapping[str, Any], given: Labels) -> bool:
    key, values = one.get("key", ""), one.get("values") or ()
    found = {
        "In": given.get(key) in values,
        "NotIn": given.get(key) not in values,
        "Exists": key in given,
        "DoesNotExist": key not in given,
    }
    return found.get(one.get("operator", ""), False)


def fields(text: str, plural: str) -> Callable[[Mapping[str, Any]], bool]:
    """The test of a field selector such as `metadata.name=x`.

    :raises ApiError: 400 for a field that cannot be selected by.
    """
    wanted = []
    for part in filter(None, text.split(",")):
        found = re.fullmatch(r"([\w.]+)(==|=|!=)(.*)", part)
        if found is None:
            raise status.bad_request(f"invalid field selector: found {part!r}, expected: field=value")
        plurals = _FIELDS.get(found[1])
        if plurals is None or (plurals and plural not in plurals):
            raise status.bad_request(f"field label not supported: {found[1]}")
        wanted.append((found[1].split("."), found[3], found[2] != "!="))
    return lambda obj: all((str(at(obj, *path) or "") == value) is equal for path, value, equal in wanted)


def name_in(text: str) -> str | None:
    """The one name that a field selector asks for."""
    found = re.search(r"(?:^|,)metadata\.name==?([^,]+)", text)
    return found[1] if found else None
