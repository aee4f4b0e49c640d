"""What the code of a function that stands in its template does: it is followed, and never executed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain

from hyperpod_constructs.analysis.code_runs.parsing import LONGEST, parsed_code
from hyperpod_constructs.analysis.code_runs.runs import MOST_STEPS, Code, Run, runs
from hyperpod_constructs.analysis.code_runs.service_calls import CodeCall
from hyperpod_constructs.analysis.code_runs.things import thing_of
from hyperpod_constructs.analysis.code_runs.way import Around
from hyperpod_constructs.analysis.custom_resources import IS_COMPLETE, ON_EVENT, made_behind, made_by
from hyperpod_constructs.analysis.javascript_calls import commands_in
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.values import Part, Text, Value, as_str, parts_of

FUNCTION = "AWS::Lambda::Function"
_MOST_STEPS = 500_000
"""How many steps the functions of a model are followed together."""
_HOLE = "_hole_{}_"


def calls_of(function: Resource) -> tuple[CodeCall, ...]:
    """The calls in the code of a function, each with the parameters that are known; computed once."""
    return function.template.model.cached((calls_of, function), lambda: tuple(_calls_of(function)))


def runs_of(function: Resource) -> tuple[Run, ...]:
    """What a function in Python does for each event; none for another function. Computed once."""
    return function.template.model.cached((runs_of, function), lambda: tuple(_runs_of(function)))


def _calls_of(function: Resource) -> Iterator[CodeCall]:
    text = _text(function)
    if len(text) <= LONGEST and (as_str(function.get("Runtime")) or "").startswith("nodejs") and "@aws-sdk" in text:
        yield from commands_in(text, _variables(function))
    else:
        found = chain.from_iterable(run.calls for run in runs_of(function))
        yield from {call.spelled: call for call in found}.values()


def _runs_of(function: Resource) -> Iterator[Run]:
    is_python = (as_str(function.get("Runtime")) or "").startswith("python")
    tree = parsed_code(_text(function)) if is_python else None
    if tree is None:
        return
    direct, behind = made_by(function), made_behind(function, ON_EVENT, IS_COMPLETE)
    handler = (as_str(function.get("Handler")) or "").rpartition(".")[2]
    left = function.template.model.cached(Code, lambda: [_MOST_STEPS])
    code = Code(tree, _around(function), min(left[0], MOST_STEPS))
    left[0] -= min(left[0], MOST_STEPS)
    yield from runs(code, handler, direct or behind, framework=not direct)
    left[0] += max(code.steps_left, 0)


def _around(function: Resource) -> Around:
    return Around({name: thing_of(one) for name, one in _variables(function).items()}, _holes(function))


def _text(function: Resource) -> str:
    """The code, with a name in the place of each part that is not known."""
    code = function.get("Code", "ZipFile")
    parts = parts_of(code) if isinstance(code, str | Text) else ()
    return "".join(part if isinstance(part, str) else _HOLE.format(place) for place, part in enumerate(parts))


def _holes(function: Resource) -> Mapping[str, Part]:
    code = function.get("Code", "ZipFile")
    parts = code.parts if isinstance(code, Text) else ()
    return {_HOLE.format(place): part for place, part in enumerate(parts) if not isinstance(part, str)}


def _variables(function: Resource) -> Mapping[str, Value]:
    environment = function.get("Environment", "Variables")
    return environment if isinstance(environment, Mapping) else {}
