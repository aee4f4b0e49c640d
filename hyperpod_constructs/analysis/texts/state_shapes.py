"""The parts of a state machine by the demands of its language: fields, words, ranges, and what excludes what.

Source: https://states-language.net/spec.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hyperpod_constructs.analysis.schema.judge import violations
from hyperpod_constructs.analysis.texts.reading import is_open
from hyperpod_constructs.analysis.texts.slip import Slip
from hyperpod_constructs.facts.state_demands import state_schema
from hyperpod_constructs.templates.values import UNKNOWN, Value

_DEEPEST = 6


def shape_mistakes(part: str, value: Mapping[str, Value], whose: str) -> Iterator[Slip]:
    """What a part demands that it lacks.

    :param part: `machine`, a type of state, `choice` or `nested`.
    :param whose: the part in words, such as `in the state 'Wait'`.
    """
    for one in violations(state_schema(part), _settled(value)):
        yield Slip(f"{whose}, {one.message}", one.allowed)


def _settled(value: Value, depth: int = 0) -> Value:
    """A value in which texts that are filled later, or that are expressions, are unknown."""
    if depth > _DEEPEST:
        return UNKNOWN
    if isinstance(value, str):
        return UNKNOWN if is_open(value) or "${" in value or value.lstrip().startswith("{%") else value
    if isinstance(value, Mapping):
        if any(is_open(name) or "${" in name for name in value):
            return UNKNOWN
        return {name: _settled(item, depth + 1) for name, item in value.items()}
    return tuple(_settled(item, depth + 1) for item in value) if isinstance(value, tuple) else value
