"""Rules: one small function each, or one for a family, registered with its id, level, reason, fix and source.

@error(
    "HP-GRP-002",
    on=groups,
    at=("MinInstanceCount",),
    title="MinInstanceCount is at most InstanceCount",
    why="the service refuses the group",
    fix="raise the count or lower the minimum",
    allowed="0 to InstanceCount",
    source="https://docs.aws.amazon.com/...",
)
def minimum_is_within_count(group: Group) -> str | None:
    minimum = as_int(group.get("MinInstanceCount"))
    ...
    return f"a minimum of {minimum} nodes is above the count of {group.count}"
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, Final, TypeVar, cast

from hyperpod_constructs._support.words import shortened
from hyperpod_constructs.rules.finding import Finding, Hit, Level
from hyperpod_constructs.rules.hits import Judge, Subjects, over
from hyperpod_constructs.templates.model import Model
from hyperpod_constructs.templates.values import shown

Check = Callable[[Model], Iterator[Hit]]
_Judge = TypeVar("_Judge", bound=Judge)

_ID = re.compile(r"HP-[A-Z0-9]{2,6}-\d{3}")

ORDER = ("DependsOn",)
"""As the place of a missing setting: the resource does not await another."""

_RULES: Final[dict[str, Rule]] = {}

CATALOGUE: Final[Mapping[str, Rule]] = MappingProxyType(_RULES)
"""Every rule by its id, as far as its module is imported; `checking.load_catalogue` imports all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A rule: its demand, the harm of a mistake, and the fix."""

    id: str
    level: Level
    title: str
    why: str
    fix: str
    source: str
    allowed: str
    silences: tuple[str, ...]
    """Rules with no finding on a resource where this one has one: they see the same mistake from elsewhere."""
    check: Check
    aliases: tuple[str, ...] = ()
    """Former ids of the rule: an acknowledgement of one still accepts its findings."""
    yields: bool = False
    """It is silent where another rule has an error at the same property; a warning there is silent instead."""
    validated: bool = False
    """CDK's own validation of a synthesis says the same."""
    because: tuple[str | int, ...] = ()
    """The place of the setting that a subject lacks, or `ORDER`: one finding is enough for all that need it."""
    last: bool = False
    """It is silent while another rule has an error, or a way ends: its finding may be gone with the mistake."""

    @property
    def ids(self) -> tuple[str, ...]:
        """The id and its aliases."""
        return (self.id, *self.aliases)

    def finding(self, hit: Hit) -> Finding:
        """A hit of this rule as a finding."""
        return Finding(
            rule=self.id,
            level=self.level,
            template=hit.resource.template.name,
            resource=hit.resource.logical_id,
            construct=hit.resource.construct_path,
            path=hit.resource.path(*hit.path) if hit.path else "",
            found=shown(hit.found),
            allowed=self.allowed if hit.allowed is None else hit.allowed,
            message=shortened(hit.message),
            why=self.why,
            fix=self.fix,
            source=self.source if hit.source is None else hit.source,
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
    on: Subjects | None = None,
    at: tuple[str | int, ...] = (),
    once: bool = False,
    silences: Iterable[str] = (),
    aliases: Iterable[str] = (),
    yields: bool = False,
    validated: bool = False,
    because: tuple[str | int, ...] = (),
    last: bool = False,
) -> Callable[[_Judge], _Judge]:
    """Register the decorated function as a rule; the function stays as it is. One function can judge for a family of rules.

    :param id: such as `HP-NET-004`; never reused for another rule.
    :param title: the demand, in a few words.
    :param why: the harm of a mistake.
    :param fix: the one fix, printed with every finding.
    :param source: the address of the documentation of the service, or of the failure.
    :param allowed: the allowed values, unless a hit has its own.
    :param on: the subjects; the function judges one at a time. By default it is called once, with the model, and yields hits.
    :param at: the place of a mistake in its subject, for a function that returns words.
    :param once: groups of a cluster with the same mistake at the same property are one finding.
    :param silences: ids of the rules with no finding on a resource where this one has one.
    :param aliases: former ids of the rule.
    :param yields: silent where a rule that does not yield has an error at the same property.
    :param validated: CDK's own validation says the same, so the plug-in does not.
    :param because: the place of the setting that a subject lacks; of several findings that it would end, one is said; `ORDER` for
        a resource that does not await another.
    :param last: silent while another rule has an error, or a way ends.
    :raises ValueError: if the id is malformed or taken.
    """
    if not _ID.fullmatch(id):
        raise ValueError(f"rule id {id!r} is malformed; an id looks like HP-NET-004")

    def register(judge: _Judge) -> _Judge:
        check = cast(Check, judge) if on is None else over(on, at, once, judge)
        known = _RULES.get(id)
        if known is not None and (_name(known.check), known.title) != (_name(judge), title):
            raise ValueError(f"rule id {id!r} is taken by {_name(known.check)}")
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
            aliases=tuple(aliases),
            yields=yields,
            validated=validated,
            because=because,
            last=last,
        )
        return judge

    return register


error = partial(rule, level=Level.ERROR)
warning = partial(rule, level=Level.WARNING)


def _name(function: Callable[..., Any]) -> str:
    return f"{function.__module__}.{function.__qualname__}"
