"""Whether a condition, or an assertion of a rule, holds for some values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeAlias

from hyperpod_constructs.templates.raw import Raw

Side: TypeAlias = Callable[[Raw], str | None]
"""The text that a side of a comparison is with these values; `None` if that is not known."""


def holds(raw: Raw, side: Side, conditions: Mapping[str, Raw] = MappingProxyType({}), before: tuple[str, ...] = ()) -> bool | None:
    """Whether it holds; `None` if that is not known.

    :param conditions: those that it may name; by default none.
    :param before: the conditions that have led here.
    """
    if not isinstance(raw, dict) or len(raw) != 1:
        return None
    ((name, argument),) = raw.items()
    if name == "Condition":
        known = isinstance(argument, str) and argument in conditions and argument not in before
        return holds(conditions[str(argument)], side, conditions, (*before, str(argument))) if known else None
    if not isinstance(argument, list):
        return None
    if name in ("Fn::Equals", "Fn::Contains") and len(argument) == 2:
        first, second = argument
        sides, wanted = [side(one) for one in (first if isinstance(first, list) else [first])], side(second)
        return None if wanted is None or None in sides or isinstance(second, list) else wanted in sides
    parts = [holds(one, side, conditions, before) for one in argument]
    if name == "Fn::Not" and len(parts) == 1:
        return None if parts[0] is None else not parts[0]
    if name not in ("Fn::And", "Fn::Or"):
        return None
    deciding = name == "Fn::Or"
    return deciding if deciding in parts else None if None in parts else not deciding
