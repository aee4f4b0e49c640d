"""Settings that go together: `together.tsv` has them row by row, in a short form of the schemas of `demands.tsv`.

A condition is of properties of one object, with `&` between several:

- `A` is there, and `!A` is not; `A/B` is B in A.
- `A=x,y` has one of these values, and with `?` among them may be left out; `A!=x,y` has another.
- `A~pattern` fits a pattern; `A>=1` and `A<=5` are numbers; `A<=0.5*B` is at most half of B, and `A<=0.5*B:10` too where B is
  left out, which then counts as 10.
- `A or B` has at least one of these.

>>> demand("Mode=auto", "!Size")["then"]
{'properties': {'Size': False}}
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from hyperpod_constructs.facts.data import rows

_CONDITION = re.compile(r"(!?)([\w/]+?)(?:(!=|<=|>=|=|~)(.*))?")
_TIMES = re.compile(r"([\d.]+)\*(\w+)(?::([\d.]+))?")
_BOUNDS = {"<=": "maximum", ">=": "minimum"}


def demands_together() -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    """The rows: types, path, words and schema."""
    for types, path, when, then, words, _ in rows("together.tsv"):
        yield types, path, words, demand(when, then)


def demand(when: str, then: str) -> dict[str, Any]:
    """The schema of objects that fit the second condition where they fit the first; an empty one always holds."""
    wanted = condition(then)
    return {"if": condition(when, sure=True), "then": wanted} if when else wanted


def condition(text: str, *, sure: bool = False) -> dict[str, Any]:
    """The schema of a condition.

    :param sure: a number, or a text of a form, is there too.
    """
    if " or " in text:
        return {"requiredOr": text.split(" or ")}
    found: dict[str, Any] = {}
    for one in text.split(" & "):
        _merge(found, _schema(one, sure))
    return found


def _schema(text: str, sure: bool) -> dict[str, Any]:
    match = _CONDITION.fullmatch(text)
    assert match is not None, text
    refused, place, sign, value = match.groups()
    *parents, name = place.split("/")
    there = not refused and (sign is None or (sure and sign not in ("=", "!=")) or (sign in ("=", "!=") and "?" not in value))
    found = {**_of_one(name, refused, sign, value), **({"required": [name]} if there else {})}
    for key in reversed(parents):
        found = {"properties": {key: found}, **({"required": [key]} if there else {})}
    return found


def _of_one(name: str, refused: str, sign: str | None, value: str) -> dict[str, Any]:
    if sign is None:
        return {"properties": {name: False}} if refused else {}
    times = _TIMES.fullmatch(value)
    if times is not None:
        return {"timesAtMost": {name: [times[2], float(times[1]), float(times[3]) if times[3] else None]}}
    return {"properties": {name: _leaf(sign, value)}}


def _leaf(sign: str, value: str) -> dict[str, Any]:
    if sign == "~":
        return {"pattern": value}
    if sign in _BOUNDS:
        return {_BOUNDS[sign]: float(value)}
    values = {"enum": [one for one in value.split(",") if one != "?"]}
    return {"not": values} if sign == "!=" else values


def _merge(found: dict[str, Any], other: dict[str, Any]) -> None:
    """Adds the words of one schema to another."""
    for key, value in other.items():
        own = found.get(key)
        if isinstance(own, dict) and isinstance(value, dict):
            _merge(own, value)
        else:
            found[key] = list(dict.fromkeys([*own, *value])) if isinstance(own, list) else value
