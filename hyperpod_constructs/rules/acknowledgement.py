"""Acknowledgements: findings that somebody accepts, with the reason."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_constructs.templates.globs import glob
from hyperpod_constructs.templates.values import Value, as_items, at

if TYPE_CHECKING:
    from hyperpod_constructs.templates.model import Resource

_METADATA_KEY = "HyperPodRules"
"""The key of a resource's metadata that accepts findings:
`HyperPodRules: {Acknowledge: [{Rule: HP-NET-004, Reason: "..."}]}`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Acknowledgement:
    """Accepts the findings of one rule, on one resource or on all."""

    rule: str
    reason: str
    resource: str | None = None
    """A logical id or construct path, with `*` for any piece; `None` for every resource."""
    within: Path | None = None
    """The assembly whose app accepts it; `None` for templates from anywhere."""

    def __post_init__(self) -> None:
        if not self.reason.strip():
            raise ValueError(f"the acknowledgement of {self.rule} has no reason; write why the finding is accepted")

    def accepts(self, rules: Collection[str], resource: Resource) -> bool:
        """Whether a finding of the rule with these ids, on this resource, is accepted."""
        file = resource.template.file
        if self.rule not in rules or (self.within is not None and (file is None or not file.is_relative_to(self.within))):
            return False
        return self.resource is None or any(glob(self.resource, name) for name in _names(resource))

    @classmethod
    def of(cls, resource: Resource) -> Iterator[Acknowledgement]:
        """The acknowledgements in a resource's metadata; an entry without a rule or a reason accepts nothing."""
        for entry in as_items(at(resource.metadata, _METADATA_KEY, "Acknowledge")) or ():
            rule, reason = _text(entry, "Rule"), _text(entry, "Reason")
            if rule and reason.strip():
                yield cls(rule=rule, reason=reason, resource=resource.logical_id)


class Acknowledged:
    """Acknowledgements by their rule; a resource's metadata add their own."""

    def __init__(self, given: Iterable[Acknowledgement]) -> None:
        self._everywhere: dict[str, list[Acknowledgement]] = {}
        self._named: dict[tuple[str, str], list[Acknowledgement]] = {}
        for one in given:
            if one.resource is None or "*" in one.resource or "?" in one.resource:
                self._everywhere.setdefault(one.rule, []).append(one)
            else:
                self._named.setdefault((one.rule, one.resource), []).append(one)

    def covers(self, rules: Collection[str], resource: Resource) -> bool:
        """Whether a finding of the rule with these ids, on this resource, is accepted."""
        everywhere = [one for rule in rules for one in self._everywhere.get(rule, ())]
        named = [one for rule in rules for name in _names(resource) for one in self._named.get((rule, name), ())]
        return any(one.accepts(rules, resource) for one in (*everywhere, *named, *Acknowledgement.of(resource)))


def _names(resource: Resource) -> tuple[str, str]:
    return resource.logical_id, resource.construct_path or resource.logical_id


def _text(entry: Value, key: str) -> str:
    value = entry.get(key) if isinstance(entry, Mapping) else None
    return value if isinstance(value, str) else ""
