"""The findings of rules: a mistake with its place, its reason and its fix; a hit is a mistake before its rule adds these."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

from hyperpod_constructs.facts.mistake import Mistake
from hyperpod_constructs.templates.values import ABSENT, Value

if TYPE_CHECKING:
    from hyperpod_constructs.templates.model import Resource


class Level(StrEnum):
    """How sure the harm is."""

    ERROR = "error"
    """The deployment is sure to fail, or data is sure to be lost."""
    WARNING = "warning"
    """It is likely to hurt."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A mistake in this very template; the rule adds its reason, its fix and its source.

    `path` leads to the property, from the properties: `("VpcConfig", "Subnets", 0)`; it is empty for the resource itself. `message`
    is one sentence on this case, lowercase, without a full stop. Unless the hit has its own, `allowed` and `source` are the rule's.
    """

    resource: Resource
    path: tuple[str | int, ...]
    message: str
    found: Value = ABSENT
    allowed: str | None = None
    covers: tuple[Resource, ...] = ()
    """Other resources with the same mistake: the silenced rules are silent there too."""
    about: tuple[tuple[str | int, ...], ...] = ()
    """Places of the mistake, for a rule that yields: it is silent where another rule has an error at one of them."""
    doubts: tuple[tuple[Resource, tuple[str | int, ...]], ...] = ()
    """Further places whose values are not sure as long as the mistake is there."""
    meant: str | None = None
    """The type of resource that was meant, where the type is the mistake."""
    source: str | None = None
    """The page on this case, of a rule for many kinds of cases."""
    part: Value = None
    """The part that is the mistake in the text of the place, where another part of the text may be right."""
    judged: Resource | None = None
    """The resource for which the place of the mistake matters, if that is in another: who accepts the rule there accepts it."""


@runtime_checkable
class Part(Protocol):
    """A part of a resource, such as an instance group of a cluster."""

    @property
    def resource(self) -> Resource: ...

    @property
    def path(self) -> tuple[str | int, ...]: ...


Subject: TypeAlias = "Resource | Part"


def hit(
    subject: Subject,
    said: Mistake | str,
    *path: str | int,
    allowed: str | None = None,
    covers: tuple[Resource, ...] = (),
    doubts: Iterable[tuple[Resource, tuple[str | int, ...]]] = (),
) -> Hit:
    """A mistake of a subject, at a path in it; the value there is the one found."""
    resource, start = (subject.resource, subject.path) if isinstance(subject, Part) else (subject, ())
    place = (*start, *path)
    message = said.message if isinstance(said, Mistake) else said
    return Hit(resource, place, message, resource.get(*place) if place else ABSENT, allowed, covers, doubts=tuple(doubts))


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A mistake in a template."""

    rule: str
    level: Level
    template: str = ""
    resource: str = ""
    construct: str | None = None
    path: str = ""
    found: object = None
    """The value found, as JSON: references as `${Id.Attribute}`, unknown parts as `${?}`."""
    allowed: str = ""
    message: str
    why: str = ""
    """The harm of the mistake; empty if it is in the message."""
    fix: str
    source: str = ""
    fatal: bool = False
    """Nobody can acknowledge it for a whole app: data is lost, or a rule failed."""

    def described(self) -> str:
        """The finding in words, the same wherever it is printed: the mistake, the allowed values if it lacks them, the harm."""
        allowed = f"allowed: {self.allowed}" if self.allowed and self.allowed not in self.message else ""
        return "; ".join(part.rstrip(".") for part in (self.message, allowed, self.why) if part)

    def to_dict(self) -> Mapping[str, object]:
        """The finding as JSON."""
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name != "fatal"}
