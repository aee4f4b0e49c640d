"""Findings that somebody accepts, with the reason."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from hyperpod_constructs.rules.template.globs import glob
from hyperpod_constructs.rules.template.model import Resource
from hyperpod_constructs.rules.template.values import Value, as_items, at

METADATA_KEY = "HyperPodRules"
"""Where a resource's metadata accept findings on it: ``HyperPodRules: {Acknowledge: [{Rule: HP-NET-001, Reason: "..."}]}``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Acknowledgement:
    """Accepts the findings of one rule, on one resource or on all."""

    rule: str
    reason: str
    resource: str | None = None
    """A logical id or construct path, with ``*`` for any piece; ``None`` for every resource."""
    within: Path | None = None
    """The assembly whose app accepts it; ``None`` for templates from anywhere."""

    def __post_init__(self) -> None:
        if not self.reason.strip():
            raise ValueError(f"the acknowledgement of {self.rule} has no reason; write why the finding is accepted")

    def accepts(self, rule: str, resource: Resource) -> bool:
        """Whether a finding of this rule on this resource is accepted."""
        file = resource.template.file
        if rule != self.rule or (self.within is not None and (file is None or not file.is_relative_to(self.within))):
            return False
        names = (resource.logical_id, resource.construct_path or resource.logical_id)
        return self.resource is None or any(glob(self.resource, name) for name in names)

    @classmethod
    def of(cls, resource: Resource) -> Iterator[Acknowledgement]:
        """What a resource's metadata accept; an entry without a rule or a reason accepts nothing."""
        for entry in as_items(at(resource.metadata, METADATA_KEY, "Acknowledge")) or ():
            rule, reason = _text(entry, "Rule"), _text(entry, "Reason")
            if rule and reason.strip():
                yield cls(rule=rule, reason=reason, resource=resource.logical_id)


class Acknowledged:
    """Acknowledgements by their rule: what each finding is compared with, those of its resource's metadata among them."""

    def __init__(self, given: Iterable[Acknowledgement]) -> None:
        self._everywhere: dict[str, list[Acknowledgement]] = {}
        self._named: dict[tuple[str, str], list[Acknowledgement]] = {}
        for one in given:
            if one.resource is None or "*" in one.resource or "?" in one.resource:
                self._everywhere.setdefault(one.rule, []).append(one)
            else:
                self._named.setdefault((one.rule, one.resource), []).append(one)

    def covers(self, rule: str, resource: Resource) -> bool:
        """Whether a finding of this rule on this resource is accepted."""
        names = (resource.logical_id, resource.construct_path or resource.logical_id)
        named = (one for name in names for one in self._named.get((rule, name), ()))
        candidates = (*self._everywhere.get(rule, ()), *named, *Acknowledgement.of(resource))
        return any(one.accepts(rule, resource) for one in candidates)


def _text(entry: Value, key: str) -> str:
    value = entry.get(key) if isinstance(entry, Mapping) else None
    return value if isinstance(value, str) else ""
