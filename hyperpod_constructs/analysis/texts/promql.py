"""Expressions of Prometheus and texts of its alerts: functions, ranges, names of metrics, variables.

Source: https://prometheus.io/docs/prometheus/latest/querying/basics/
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hyperpod_constructs.analysis.schema.violation import listed, meant
from hyperpod_constructs.analysis.texts.reading import HOLE
from hyperpod_constructs.analysis.texts.slip import Slip
from hyperpod_constructs.analysis.typo import typo_of
from hyperpod_constructs.facts.promql import AGGREGATIONS, FUNCTIONS, GPU_METRICS, MOST, RANGE_FUNCTIONS, TEMPLATE_VARIABLES, WORDS

_QUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|`[^`]*`|#[^\n]*")
_CALL = re.compile(r"([a-zA-Z_][a-zA-Z0-9_:]{0,100})\s{0,9}\(([^()]{0,500}\))?")
_AGGREGATION = re.compile(r"\b([a-zA-Z_]\w{0,100})\s+(?:by|without)\s{0,9}\(")
_BARE = re.compile(r"\b(by|without|ignoring)\s+([a-zA-Z_]\w{0,100})")
_SELECTOR = re.compile(r"\s*([a-zA-Z_:][a-zA-Z0-9_:]*)\s*(\{[^{}]*\})?\s*(\[[^\[\]]*\])?\s*\)")
_NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
_LABELS = re.compile(r"\{[^{}]*\}|\b(?:by|without|on|ignoring)\s*\([^()]*\)")
_WINDOW = re.compile(r"\[[^\[\]]*\]")
_VARIABLE = re.compile(r"\{\{[^{}]*?\$(\w{1,100})")
_UNIT = re.compile(r"(?<![\w.:$])\d+(?:\.\d+)?(?!(?:ms|[smhdwy]|\d)+\b|[eE][-+]?\d|[xX])[A-Za-z]\w*")
_OF_LABELS = r"(?:\{[^{}]*\})?"
_BY = r"(?:(?:by|without)\s*\([^()]*\)\s*)?"
_COMPARED = re.compile(
    rf"\s*(?:(?:max|min|avg)\s*{_BY}\(\s*)?(?P<name>[A-Za-z_:]\w*){_OF_LABELS}\s*\)?\s*{_BY}"
    r"(?P<operator>>=|<=|==|>|<)\s*(?P<number>-?\d+(?:\.\d+)?)\s*"
)
LONGEST_EXPRESSION = 10_000
"""Longer expressions are believed."""


def mistakes_in_promql(text: str, recorded: frozenset[str]) -> Iterator[tuple[str, str, bool]]:
    """What an expression has that is none of PromQL, the allowed, and whether it is only without effect.

    :param recorded: the names of metrics that rules of the same text record.
    """
    if HOLE in text or len(text) > LONGEST_EXPRESSION:
        return
    plain = _QUOTED.sub('""', text)
    for match in _CALL.finditer(plain):
        name = match[1]
        if name.lower() in WORDS or name.lower() in AGGREGATIONS:
            continue
        if name not in FUNCTIONS and name not in RANGE_FUNCTIONS:
            yield (
                f"has the function {name}{meant(name, (*FUNCTIONS, *RANGE_FUNCTIONS, *AGGREGATIONS))}",
                "a function of PromQL",
                False,
            )
            return
        inner = _SELECTOR.fullmatch(match[2] or "")
        if inner is not None and name in RANGE_FUNCTIONS and inner[3] is None and "quantile" not in name:
            yield f"has {name} of {inner[1]} without a range", f"a range such as {inner[1]}[5m]", False
            return
    bare = _BARE.search(plain)
    if bare is not None:
        yield f"has {bare[1]} without parentheses", f"{bare[1]} ({bare[2]})", False
        return
    for name in _AGGREGATION.findall(plain):
        if name.lower() not in AGGREGATIONS:
            yield f"has the aggregation {name}{meant(name, AGGREGATIONS)}", "an aggregation of PromQL", False
            return
    bare_names = _LABELS.sub("", plain)
    for name in _NAME.findall(bare_names):
        near = typo_of(name, GPU_METRICS if name.startswith("DCGM") else recorded if ":" in name else ()) or _longer(name)
        if near and name not in FUNCTIONS:
            yield f"asks for {name}; the nearest is {near}", near, True
            return
    unit = _UNIT.search(_WINDOW.sub("", bare_names))
    if unit is not None:
        yield f"has the number {unit[0]}", "a number without a unit", False
        return
    yield from _never_met(plain)


def names_in(text: str) -> list[str]:
    """The names in an expression, without those of labels: of metrics, functions and operators."""
    return _NAME.findall(_WINDOW.sub("", _LABELS.sub("", _QUOTED.sub('""', text))))


def _longer(name: str) -> str | None:
    """The metric of GPUs of which a name is the longer form of the last word."""
    return next((one for one in GPU_METRICS if name.startswith(one) and name[len(one) :].isalpha()), None)


def _never_met(plain: str) -> Iterator[tuple[str, str, bool]]:
    """A comparison of a metric alone, or of its highest, lowest or average value, with a number that it never reaches."""
    match = _COMPARED.fullmatch(plain)
    most = None if match is None else MOST.get(match["name"])
    if match is None or most is None:
        return
    operator, number = match["operator"], float(match["number"])
    if (operator == ">" and number >= most) or (operator in (">=", "==") and number > most):
        yield f"asks for {match['name']} {operator} {number:g}, and it is {most:g} at most", f"a number below {most:g}", True
    elif operator in ("<", "<=") and number < 0:
        yield f"asks for {match['name']} {operator} {number:g}, and it is never below 0", "a number above 0", True


def mistakes_in_message(text: str) -> Iterator[tuple[str, str]]:
    """Variables that a text of an alert does not have, and braces without an end."""
    if HOLE in text:
        return
    unknown = [name for name in _VARIABLE.findall(text) if name not in TEMPLATE_VARIABLES and f"${name} :=" not in text]
    if unknown and ":=" not in text:
        yield (
            f"has the variable ${unknown[0]}{meant(unknown[0], TEMPLATE_VARIABLES)}",
            listed(f"${one}" for one in TEMPLATE_VARIABLES),
        )
    elif text.count("{{") != text.count("}}"):
        yield "has {{ without }}", "{{ and }}"


def slips(place: str, key: str, found: Iterator[tuple[str, str]] | Iterator[tuple[str, str, bool]]) -> Iterator[Slip]:
    """Mistakes as those of a text at a place."""
    for says, allowed, *dead in found:
        yield Slip(f"{key} of {place} {says}", allowed, dead=bool(dead and dead[0]))
