"""Rules: one small function each, registered with its id, level, reason, fix and source.

@rule(
    "HP-GRP-001",
    Level.ERROR,
    title="instance group names are unique",
    why="CreateCluster refuses two groups of one name, after ...",
    fix="give each group a name of its own",
    allowed="names that differ",
    source="https://docs.aws.amazon.com/...",
)
def group_names_are_unique(model: Model) -> Iterator[Hit]:
    for cluster in model.resources("AWS::SageMaker::Cluster"):
        ...
        yield Hit(cluster, ("InstanceGroups", 1, "InstanceGroupName"), "two groups are called 'workers'", found="workers")
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Final

from hyperpod_constructs.rules.acknowledgement import Acknowledged, Acknowledgement
from hyperpod_constructs.rules.failure import CATALOGUE as CATALOGUE_STAGE
from hyperpod_constructs.rules.failure import guarded, rule_failed
from hyperpod_constructs.rules.finding import Finding, Hit, Level
from hyperpod_constructs.rules.template.model import Model, Resource
from hyperpod_constructs.rules.template.values import shown

Check = Callable[[Model], Iterator[Hit]]

_ID = re.compile(r"HP-[A-Z0-9]{2,6}-\d{3}")
MOST_HITS = 10_000
"""Findings of one rule; nobody reads as many, and a rule without an end yields more."""

_RULES: Final[dict[str, Rule]] = {}

CATALOGUE: Final[Mapping[str, Rule]] = MappingProxyType(_RULES)
"""Every rule by its id, as far as its module is imported; :func:`load_catalogue` imports all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A rule: what it demands, why, and how to comply."""

    id: str
    level: Level
    title: str
    why: str
    fix: str
    source: str
    allowed: str
    silences: tuple[str, ...]
    """Rules that say nothing of a resource of which this one speaks: the same mistake seen from elsewhere."""
    check: Check

    def finding(self, hit: Hit) -> Finding:
        """The finding that a hit of this rule makes."""
        return Finding(
            rule=self.id,
            level=self.level,
            template=hit.resource.template.name,
            resource=hit.resource.logical_id,
            construct=hit.resource.construct_path,
            path=hit.resource.path(*hit.path) if hit.path else "",
            found=shown(hit.found),
            allowed=self.allowed if hit.allowed is None else hit.allowed,
            message=hit.message,
            fix=self.fix if hit.fix is None else hit.fix,
            source=self.source,
        )


def rule(
    id: str,
    level: Level,
    *,
    title: str,
    why: str,
    fix: str,
    source: str,
    allowed: str = "",
    silences: Iterable[str] = (),
) -> Callable[[Check], Check]:
    """Register the decorated function as a rule; the function stays as it is.

    :param id: such as ``HP-NET-001``; never reused for another rule.
    :param title: what is demanded, in a few words.
    :param why: what happens otherwise.
    :param fix: what to write instead; a hit can say it better.
    :param source: where the service, or the failure that this prevents, is documented.
    :param allowed: what may stand there; a hit can say it better.
    :param silences: ids of the rules that say nothing of a resource of which this one speaks.
    :raises ValueError: if the id is malformed or taken.
    """
    if not _ID.fullmatch(id):
        raise ValueError(f"rule id {id!r} is malformed; an id looks like HP-NET-001")

    def register(check: Check) -> Check:
        known = _RULES.get(id)
        if known is not None and (known.check.__module__, known.check.__qualname__) != (check.__module__, check.__qualname__):
            raise ValueError(f"rule id {id!r} is taken by {known.check.__module__}.{known.check.__qualname__}")
        _RULES[id] = Rule(
            id=id,
            level=level,
            title=title,
            why=why,
            fix=fix,
            source=source,
            allowed=allowed,
            silences=tuple(silences),
            check=check,
        )
        return check

    return register


def load_catalogue() -> Mapping[str, Rule]:
    """Import every module of ``rules/catalogue``, and return :data:`CATALOGUE`; what :func:`broken_modules` names is not in it."""
    broken_modules()
    return CATALOGUE


@cache
def broken_modules() -> tuple[Finding, ...]:
    """A finding for each module of the catalogue that cannot be imported."""
    from hyperpod_constructs.rules import catalogue

    found: list[Finding] = []
    for module in pkgutil.iter_modules(catalogue.__path__):
        with guarded(CATALOGUE_STAGE, found):
            importlib.import_module(f"{catalogue.__name__}.{module.name}")
    return tuple(found)


def check(model: Model, acknowledged: Iterable[Acknowledgement] = (), rules: Iterable[Rule] | None = None) -> list[Finding]:
    """The findings of all rules, sorted by template, level and place; silenced and acknowledged ones are left out.

    A rule that fails costs only itself: that it failed is a finding, which nothing silences and nobody can accept.

    :param acknowledged: findings that are accepted, beside those that the templates' metadata accept.
    :param rules: the rules to run; by default the whole catalogue.
    """
    failures = list(broken_modules()) if rules is None else []
    chosen = list(load_catalogue().values() if rules is None else rules)
    hits = [(current, hit, finding) for current in chosen for hit, finding in _heard(current, model, failures)]
    silent = _silenced(hits)
    accepted = Acknowledged(acknowledged)
    found: dict[tuple[str, str, str, str, str], Finding] = {}
    for current, hit, finding in hits:
        if (current.id, hit.resource) not in silent and not accepted.covers(current.id, hit.resource):
            found.setdefault((finding.rule, finding.template, finding.resource, finding.path, finding.message), finding)
    return [*failures, *_sorted(found.values(), model)]


def _heard(rule: Rule, model: Model, failures: list[Finding]) -> list[tuple[Hit, Finding]]:
    """What a rule finds, up to the point where it fails."""
    heard: list[tuple[Hit, Finding]] = []
    try:
        for hit in rule.check(model):
            if len(heard) >= MOST_HITS:
                raise OverflowError(f"it found more than {MOST_HITS:,} mistakes, of which the others are not shown")
            heard.append((_proper(hit), rule.finding(hit)))
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        failures.append(rule_failed(rule.id, error))
    return heard


def _proper(hit: object) -> Hit:
    if not isinstance(hit, Hit):
        raise TypeError(f"it yielded {type(hit).__name__}, which is no Hit")
    texts = (hit.message, *(text for text in (hit.allowed, hit.fix) if text is not None))
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("it yielded a Hit whose text is no text")
    if not all(isinstance(resource, Resource) for resource in (hit.resource, *hit.covers)):
        raise TypeError("it yielded a Hit whose resource is no Resource")
    return hit


def _sorted(findings: Iterable[Finding], model: Model) -> list[Finding]:
    order = {template.name: position for position, template in enumerate(model.templates)}
    return sorted(
        findings,
        key=lambda finding: (
            order[finding.template],
            finding.level is not Level.ERROR,
            finding.resource,
            finding.path,
            finding.rule,
        ),
    )


def _silenced(hits: Iterable[tuple[Rule, Hit, Finding]]) -> set[tuple[str, Resource]]:
    return {
        (silenced, resource)
        for current, hit, _ in hits
        for silenced in current.silences
        for resource in (hit.resource, *hit.covers)
    }
