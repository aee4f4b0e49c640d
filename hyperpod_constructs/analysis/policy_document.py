"""The statements of a policy document, as IAM reads them.

https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements.html
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from hyperpod_constructs.analysis.answers import any_of
from hyperpod_constructs.templates.globs import matches
from hyperpod_constructs.templates.values import ABSENT, UNKNOWN, Part, Value, as_str, at, parts_of


@dataclass(frozen=True)
class Statement:
    """A statement of a policy."""

    raw: Mapping[str, Value]
    """The statement, resolved."""

    @cached_property
    def effect(self) -> str:
        """`Allow`, `Deny`, or `?` where it is not known."""
        return as_str(at(self.raw, "Effect")) or "?"

    @cached_property
    def actions(self) -> tuple[Value, ...]:
        """The patterns of `Action`, or of `NotAction`."""
        return listed(at(self.raw, "NotAction" if self.excludes_actions else "Action"))

    @property
    def resources(self) -> tuple[Value, ...]:
        """The patterns of `Resource`, or of `NotResource`."""
        return listed(at(self.raw, "NotResource" if self.excludes_resources else "Resource"))

    @property
    def excludes_actions(self) -> bool:
        """Whether it speaks of all but its actions."""
        return "NotAction" in self.raw

    @property
    def excludes_resources(self) -> bool:
        """Whether it speaks of all but its resources."""
        return "NotResource" in self.raw

    @property
    def conditional(self) -> bool:
        """Whether it counts only under a condition of the request."""
        return at(self.raw, "Condition") not in (ABSENT, {})

    def principals(self, kind: str) -> tuple[Value, ...] | None:
        """The principals of a kind, such as `Service`; `None` if that is not known or the statement excludes principals."""
        if "NotPrincipal" in self.raw:
            return None
        principal = at(self.raw, "Principal")
        if principal == "*":
            return ("*",)
        found = at(principal, kind)
        return None if found is UNKNOWN else listed(found)

    def speaks_of(self, action: str) -> bool | None:
        """Whether an action is among its actions; IAM ignores case there."""
        text = (action.lower(),)
        answers = [None if parts is None else matches(parts, text) for parts in self._lowered_actions]
        found = any_of(answers)
        if self.excludes_actions:
            return None if found is None else not found
        return found

    @cached_property
    def _lowered_actions(self) -> list[list[Part] | None]:
        return [
            None if pattern is UNKNOWN else [part.lower() if isinstance(part, str) else part for part in parts_of(pattern)]
            for pattern in self.actions
        ]


def statements_of(document: Value) -> tuple[Statement, ...] | None:
    """The statements of a resolved policy document; `None` if not all of them are known."""
    raw = at(document, "Statement")
    items = raw if isinstance(raw, tuple) else (raw,)
    statements = tuple(Statement(item) for item in items if isinstance(item, Mapping))
    return statements if len(statements) == len(items) else None


def listed(value: Value) -> tuple[Value, ...]:
    """One value or a list, as a list; no value is the empty list."""
    if value is ABSENT or value is None:
        return ()
    return value if isinstance(value, tuple) else (value,)
