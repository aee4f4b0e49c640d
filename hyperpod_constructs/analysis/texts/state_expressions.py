"""The paths and expressions of all states of a machine, by the query language of each."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from hyperpod_constructs.analysis.schema.violation import quoted
from hyperpod_constructs.analysis.state_machines import State
from hyperpod_constructs.analysis.state_machines import states as all_states
from hyperpod_constructs.analysis.texts.integrations import integration_of
from hyperpod_constructs.analysis.texts.intrinsics import mistakes_in_paths
from hyperpod_constructs.analysis.texts.jsonata import mistakes_in_expression
from hyperpod_constructs.analysis.texts.reading import is_open, known
from hyperpod_constructs.analysis.texts.slip import Slip, entries, mapping
from hyperpod_constructs.facts.state_language import JSON_PATH, JSONATA, PATHS
from hyperpod_constructs.templates.values import ABSENT, Value

_INNER = frozenset(("Branches", "ItemProcessor", "Iterator", "States"))
_MAPS = frozenset(("ItemProcessor", "Iterator"))
_WORKS = frozenset(("Task", "Parallel", "Map"))
_DEEPEST = 20
_BASE = ("input", "context")
_TOKEN = ("$$.Task.Token", "$states.context.Task.Token")


class _Text(NamedTuple):
    """A text of a state with the key above it, and the members that `$states` has there."""

    key: str
    text: str
    scope: tuple[str, ...]


def expression_mistakes(machine: Mapping[str, Value]) -> Iterator[Slip]:
    """The mistakes in paths, functions and expressions, each with its state."""
    every, top = list(all_states(machine)), known(machine.get("QueryLanguage", JSON_PATH))
    variables = _variables(every)
    for one in every:
        language, own = known(one.value.get("QueryLanguage", ABSENT)), "QueryLanguage" in one.value
        if not own and len(one.path) > 2 and top != JSONATA and _has_jsonata(every):
            continue
        language = language if own else top
        found = _of_jsonata(one, variables) if language == JSONATA else _of_paths(one, variables) if language == JSON_PATH else ()
        yield from (replace(slip, message=f"the state {one.name!r} {slip.message}") for slip in found)


def _has_jsonata(every: list[State]) -> bool:
    """Whether states say themselves that they are of JSONata: nobody knows of those in them."""
    return any("QueryLanguage" in one.value for one in every)


def _variables(every: list[State]) -> Collection[str] | None:
    """The variables that states assign; `None` if some are not known."""
    found: set[str] = set()
    for one in every:
        rules = [mapping(rule) for key in ("Choices", "Catch") for _, rule in entries(one.value.get(key, ABSENT))]
        for value in (holder["Assign"] for holder in (one.value, *rules) if "Assign" in holder):
            if not isinstance(value, Mapping) or any(is_open(name) for name in value):
                return None
            found.update(name.removesuffix(".$") for name in value)
    return found


def _of_paths(state: State, variables: Collection[str] | None) -> Iterator[Slip]:
    """The paths and functions of a state."""
    for key, text, _ in _texts("", state.value, _BASE, 0):
        if (key in PATHS or key.endswith(".$") or key == "Variable") and text.startswith(("$", "States.")):
            yield from mistakes_in_paths(text, variables)
            yield from _context(state, text)


def _context(state: State, text: str) -> Iterator[Slip]:
    """What the context has in some states only."""
    if "$$.Map" in text and not _MAPS.intersection(state.path) and state.value.get("Type") != "Map":
        yield Slip(f"reads {quoted(text)}, and is in no map", "$$.Map in a map alone", dead=True)
    if any(one in text for one in _TOKEN):
        call = integration_of(state.value.get("Resource", ABSENT))
        if call is not None and call.waits != ".waitForTaskToken":
            yield Slip("hands on a token, and does not wait for it", ".waitForTaskToken behind its Resource", dead=True)


def _of_jsonata(state: State, variables: Collection[str] | None) -> Iterator[Slip]:
    """The expressions of a state, and what is a path of the other language."""
    works = state.value.get("Type") in _WORKS
    for field, value in state.value.items():
        scope = (*_BASE, "result") if works and field in ("Output", "Assign") else _BASE
        for key, text, members in _texts(field, {field: value}, scope, 0):
            if text.strip().startswith("{%") and text.strip().endswith("%}"):
                yield from mistakes_in_expression(text, members, variables)
                yield from _context(state, text)
            elif key.endswith(".$") or (text.startswith("$.") and field in ("Arguments", "Output", "Assign", "ItemSelector")):
                yield Slip(
                    f"has {quoted(text)} as {key or field}, which JSONata does not read", "{% $states.input... %}", dead=True
                )


def _texts(key: str, value: Value, scope: tuple[str, ...], depth: int) -> Iterator[_Text]:
    """The texts of a value, without those that only the deployment knows and those of inner machines."""
    if isinstance(value, str):
        if not is_open(value) and "${" not in value:
            yield _Text(key, value, scope)
    elif depth < _DEEPEST and isinstance(value, Mapping):
        for name, item in value.items():
            if name not in _INNER:
                yield from _texts(name, item, (*_BASE, "errorOutput") if name == "Catch" and depth == 0 else scope, depth + 1)
    elif depth < _DEEPEST and isinstance(value, tuple):
        for item in value:
            yield from _texts("", item, scope, depth + 1)
