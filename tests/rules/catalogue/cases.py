"""Single mistakes in correct templates, written as changes of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from tests.rules.catalogue.templates import Template, findings

REMOVED = object()
"""As a value: take away what is there."""


@dataclass(frozen=True)
class Case:
    """A mistake and the nearest correct template, as changes of `base`: values by path of resource and property."""

    rule: str
    base: Template
    wrong: Mapping[str, Any]
    right: Mapping[str, Any]

    def check(self) -> None:
        """The mistake gives one finding, of this rule and no other; the nearest correct template gives none."""
        found = findings(edited(self.base, self.wrong))
        assert [finding.rule for finding in found] == [self.rule], [f"{one.rule}: {one.message}" for one in found]
        assert all((found[0].message, found[0].fix, found[0].allowed, found[0].source))
        assert [f"{one.rule}: {one.message}" for one in findings(edited(self.base, self.right))] == []


def edited(template: Template, changes: Mapping[str, Any]) -> Template:
    """A template after changes: `Cluster` is a resource, `Cluster/VpcConfig` a property, `Cluster/.DependsOn` beside properties.

    Nothing awaits a resource that is taken away.
    """
    copy: Any = _copied(template)
    for path, value in changes.items():
        resource, *rest = path.split("/")
        keys: list[str | int] = ["Resources", resource]
        if rest and rest[0].startswith("."):
            keys.append(rest.pop(0)[1:])
        elif rest:
            keys.append("Properties")
        _set(copy, [*keys, *(int(key) if key.isdecimal() else key for key in rest)], value)
        if value is REMOVED and keys == ["Resources", path]:
            no_longer_awaited(copy, path)
    return dict(copy)


def no_longer_awaited(template: Template, *ids: str) -> None:
    """Take resources out of `DependsOn` of the others."""
    for resource in template["Resources"].values():
        awaited = resource.get("DependsOn", [])
        if "DependsOn" in resource:
            resource["DependsOn"] = [one for one in ([awaited] if isinstance(awaited, str) else awaited) if one not in ids]


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in value.items()}
    return [_copied(item) for item in value] if isinstance(value, list) else value


def _set(value: Any, keys: list[str | int], new: Any) -> None:
    for key, following in pairwise(keys):
        if isinstance(value, dict) and key not in value:
            value[key] = [] if isinstance(following, int) else {}
        value = value[key]
    last: Any = keys[-1]
    if new is REMOVED:
        del value[last]
    elif isinstance(value, list) and last == len(value):
        value.append(new)
    else:
        value[last] = new
