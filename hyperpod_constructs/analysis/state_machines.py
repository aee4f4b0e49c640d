"""State machines: the definition with its substitutions in place, and all states in it.

Source: https://docs.aws.amazon.com/step-functions/latest/dg/concepts-amazon-states-language.html and
https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-stepfunctions-statemachine.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from hyperpod_constructs.analysis.embedded import values_in
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.values import ABSENT, Text, Value, as_items, at, joined, parts_of

STATE_MACHINE = "AWS::StepFunctions::StateMachine"
_PLACE = re.compile(r"\$\{([\w.-]{1,255})\}")
_DEEPEST = 20


class State(NamedTuple):
    """A state of a machine, or of a machine in a state.

    :param path: its place in the definition.
    """

    name: str
    path: tuple[str | int, ...]
    value: Mapping[str, Value]


def definition_key(machine: Resource) -> str:
    """The property with the definition."""
    return "DefinitionString" if machine.get("DefinitionString") is not ABSENT else "Definition"


def definition(machine: Resource) -> Value:
    """The definition of a machine, in which substitutions are in place; computed once."""
    return machine.template.model.cached((definition, machine), lambda: _definition(machine))


def _definition(machine: Resource) -> Value:
    substitutions = machine.get("DefinitionSubstitutions")
    found = values_in(machine.get(definition_key(machine)))
    return _filled(found, substitutions, 0) if isinstance(substitutions, Mapping) else found


def _filled(value: Value, names: Mapping[str, Value], depth: int) -> Value:
    """A value in whose texts the places of substitutions are filled."""
    if isinstance(value, Mapping) and depth < _DEEPEST:
        return {key: _filled(item, names, depth + 1) for key, item in value.items()}
    if isinstance(value, tuple) and depth < _DEEPEST:
        return tuple(_filled(item, names, depth + 1) for item in value)
    if not isinstance(value, str | Text):
        return value
    parts = (piece for part in parts_of(value) for piece in (_pieces(part, names) if isinstance(part, str) else (part,)))
    return joined(part for piece in parts for part in parts_of(piece))


def _pieces(text: str, names: Mapping[str, Value]) -> Iterator[Value]:
    for index, piece in enumerate(_PLACE.split(text)):
        yield piece if index % 2 == 0 else names.get(piece, f"${{{piece}}}")


def states(machine: Value, path: tuple[str | int, ...] = ()) -> Iterator[State]:
    """The states of a machine, and of those inside its states."""
    found = at(machine, "States")
    for name, value in found.items() if isinstance(found, Mapping) and len(path) < _DEEPEST else ():
        if isinstance(value, Mapping):
            place = (*path, "States", name)
            yield State(name, place, value)
            for index, branch in enumerate(as_items(at(value, "Branches")) or ()):
                yield from states(branch, (*place, "Branches", index))
            for key in ("ItemProcessor", "Iterator"):
                yield from states(at(value, key), (*place, key))
