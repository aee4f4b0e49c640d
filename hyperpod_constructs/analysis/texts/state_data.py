"""Data between the states of a machine: a state reads what each way to it brings from the input or the states before it.

The input of a machine that nothing in the app starts may have any members. A choice that asks whether something is present is
believed. Paths are followed in both languages of queries.

Sources: https://docs.aws.amazon.com/step-functions/latest/dg/concepts-input-output-filtering.html,
https://docs.aws.amazon.com/step-functions/latest/dg/connect-lambda.html and
https://docs.aws.amazon.com/step-functions/latest/dg/supported-services-awssdk.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import TypeAlias

from hyperpod_constructs.analysis.data_forms import (
    ANY_OBJECT,
    Data,
    Known,
    Lost,
    either,
    of_answer,
    of_value,
    paths_in,
    put,
    read,
    steps_of,
)
from hyperpod_constructs.analysis.function_answers import answer_of_function
from hyperpod_constructs.analysis.jsonata_forms import form_of, lost_in
from hyperpod_constructs.analysis.schema.violation import listed, meant
from hyperpod_constructs.analysis.state_machines import definition, definition_key
from hyperpod_constructs.analysis.texts.inputs import input_of
from hyperpod_constructs.analysis.texts.integrations import integration_of
from hyperpod_constructs.analysis.texts.left_out import left_out
from hyperpod_constructs.analysis.texts.reading import known
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge, entries, mapping
from hyperpod_constructs.facts.sdk_shapes import answer_of
from hyperpod_constructs.facts.state_language import (
    AFTER_WORK,
    ERROR_OUTPUT,
    EXPRESSION_FIELDS,
    JSON_PATH,
    JSONATA,
    READ_FIELDS,
    SDK_METADATA,
)
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, Value

_MACHINE, _FUNCTION = "AWS::StepFunctions::StateMachine", "AWS::Lambda::Function"
_DEEPEST = 10
_MOST_STEPS, _MOST_WAYS = 8, 12
"""The looks at each state until its data are known, and the ways to a state that are told apart."""
_Edge: TypeAlias = tuple[str, int]
"""A way from one state to the next: the name of the first, and the number of the way among its own."""
_PLAIN_ANSWERS = ("dynamodb", "lambda", "sns", "sqs")
"""Services whose optimized integrations answer as the operation does."""


def state_machine(resource: Resource) -> Slips:
    """The first state that reads what nothing before it writes."""
    machine = definition(resource)
    if isinstance(machine, Mapping):
        start = input_of(resource) or ANY_OBJECT
        for slip in _Flow(machine, start, 0, _language(machine, JSON_PATH)).slips():
            yield slip.below(definition_key(resource))
            return


def _language(value: Mapping[str, Value], given: str) -> str:
    return known(value.get("QueryLanguage", given)) or JSONATA


class _Flow:
    """The data of one machine, from state to state: each way to a state brings its own.

    A choice tells its ways apart, by what nobody can know here: behind it, data may have what any way to it brings.
    """

    def __init__(self, machine: Mapping[str, Value], start: Known, depth: int, language: str = JSON_PATH) -> None:
        self._states = {name: mapping(one) for name, one in mapping(machine.get("States", ABSENT)).items()}
        self._depth, self._language = depth, language
        self._inputs: dict[str, dict[_Edge, list[Known]]] = {}
        first = known(machine.get("StartAt", ABSENT))
        self._waiting: list[str] = []
        self._come(first, ("", 0), [start])
        for _ in range(_MOST_STEPS * len(self._states)):
            if not self._waiting:
                break
            self._leave(self._waiting.pop(0))

    def slips(self) -> Iterator[Slip]:
        """The states that read what is not there, in the order in which they are reached."""
        for name in () if self._waiting else self._inputs:
            state, ways = self._states[name], self._ways(name)
            language = _language(state, self._language)
            others = [one for key, one in self._states.items() if key != name]
            found = [(source, list(_reads(name, state, data, language, others))) for source, data in ways]
            every = all(slips for _, slips in found)
            for source, slips in found:
                yield from (one if every else _on_a_way(one, source) for one in slips)
            for _, data in ways:
                yield from self._inner(state, data, language)

    def _ways(self, name: str) -> list[tuple[str, Known]]:
        """The data that come to a state, each with the state before it."""
        found = [(source, data) for (source, _), forms in self._inputs[name].items() for data in forms]
        if known(self._states[name].get("Type", ABSENT)) != "Choice" and len(found) <= _MOST_WAYS:
            return found
        return [(found[0][0], reduce(either, (data for _, data in found)))]

    def _inner(self, state: Mapping[str, Value], data: Known, language: str) -> Iterator[Slip]:
        if self._depth < _DEEPEST:
            given = _given(state, data, language)
            for _, branch in entries(state.get("Branches", ABSENT)):
                yield from _Flow(mapping(branch), given, self._depth + 1, language).slips()
            for key in ("ItemProcessor", "Iterator"):
                selected = _given(state, data, language, "ItemSelector") if "ItemSelector" in state else None
                yield from _Flow(mapping(state.get(key, ABSENT)), selected, self._depth + 1, language).slips()

    def _come(self, name: str | None, edge: _Edge, forms: list[Known]) -> None:
        """Bring data to a state."""
        if name is None or name not in self._states:
            return
        new = [one for index, one in enumerate(forms) if one not in forms[:index]]
        before = self._inputs.setdefault(name, {})
        if before.get(edge) != new:
            before[edge] = new
            self._waiting.append(name)

    def _leave(self, name: str) -> None:
        """Bring the data of a state to those that come after it."""
        state, data = self._states[name], [one for _, one in self._ways(name)]
        for number, (after, forms) in enumerate(_ways_from(state, data, _language(state, self._language))):
            self._come(known(after), (name, number), forms)


def _ways_from(state: Mapping[str, Value], data: list[Known], language: str) -> Iterator[tuple[Value, list[Known]]]:
    """The states after a state, each with what comes to it."""
    out = [_output(state, one, language) for one in data]
    yield from ((state.get(key, ABSENT), out) for key in ("Next", "Default"))
    for choice in (mapping(one) for _, one in entries(state.get("Choices", ABSENT))):
        own = "Output" in choice and language == JSONATA
        yield choice.get("Next", ABSENT), [form_of(choice["Output"], {"input": one}) for one in data] if own else out
    for rule in (mapping(one) for _, one in entries(state.get("Catch", ABSENT))):
        yield rule.get("Next", ABSENT), [_caught(rule, one, language) for one in data]


def _effective(state: Mapping[str, Value], data: Known) -> Known:
    return _through(data, state.get("InputPath", "$"))


def _through(data: Known, path: Value) -> Known:
    """What a path lets through."""
    steps = steps_of(path) if isinstance(path, str) else None
    found = Data() if path is None else read(data, steps) if steps is not None else None
    return None if isinstance(found, Lost) else found


def _at_path(data: Known, path: Value, value: Known) -> Known:
    """Data with a value at a result path."""
    if path is None:
        return data
    steps = steps_of(path) if isinstance(path, str) else None
    return None if steps is None else put(data, steps, value)


def _given(state: Mapping[str, Value], data: Known, language: str, key: str = "") -> Known:
    """What a state makes of its data for its work, or by a template of another name."""
    if language == JSONATA:
        name = key or "Arguments"
        return form_of(state[name], {"input": data}) if name in state else data
    name, effective = key or "Parameters", _effective(state, data)
    return _selected(state[name], effective, 0) if name in state else effective


def _selected(value: Value, data: Known, depth: int) -> Known:
    if not isinstance(value, Mapping) or depth > _DEEPEST:
        return of_value(value)
    members = {
        name.removesuffix(".$"): _through(data, item) if name.endswith(".$") else _selected(item, data, depth + 1)
        for name, item in value.items()
    }
    return Data(members)


def _caught(rule: Mapping[str, Value], data: Known, language: str) -> Known:
    """What a catch hands on."""
    error = Data(dict.fromkeys(ERROR_OUTPUT))
    if language == JSONATA:
        return form_of(rule["Output"], {"input": data, "errorOutput": error}) if "Output" in rule else error
    return _at_path(data, rule.get("ResultPath", "$"), error)


def _output(state: Mapping[str, Value], data: Known, language: str) -> Known:
    """What a state hands on."""
    kind, result = known(state.get("Type", ABSENT)), _result(state)
    works = kind in ("Task", "Parallel", "Map")
    if language == JSONATA:
        scope = {"input": data, **({"result": result} if works else {})}
        return form_of(state["Output"], scope) if "Output" in state else scope.get("result", data)
    if kind in ("Choice", "Wait", "Succeed"):
        return _through(_effective(state, data), state.get("OutputPath", "$"))
    if kind == "Pass" and "Result" not in state:
        result = _given(state, data, language)
    if "ResultSelector" in state:
        result = _selected(state["ResultSelector"], result, 0)
    return _through(_at_path(data, state.get("ResultPath", "$"), result), state.get("OutputPath", "$"))


def _result(state: Mapping[str, Value]) -> Known:
    """What the work of a state gives."""
    kind = known(state.get("Type", ABSENT))
    if kind in ("Parallel", "Map"):
        return None if "ResultWriter" in state else Data(items=(None,))
    if kind == "Pass":
        return of_value(state.get("Result", ABSENT))
    function = resource_of(state.get("Resource", ABSENT), _FUNCTION)
    if function is not None:
        return answer_of_function(function)
    call = integration_of(state.get("Resource", ABSENT))
    if call is None or call.waits or call.operation is None or not (call.by_sdk or call.service in _PLAIN_ANSWERS):
        return None
    answer = of_answer(call.operation.client, answer_of(call.operation.client, call.operation.name), capital=True)
    members = {} if answer is None else {**answer.members, **dict.fromkeys(SDK_METADATA)}
    if call.operation.action == "lambda:InvokeFunction" and not call.by_sdk:
        given = mapping(state.get("Parameters", state.get("Arguments", ABSENT)))
        called = resource_of(given.get("FunctionName", ABSENT), _FUNCTION)
        members["Payload"] = None if called is None else answer_of_function(called)
    return None if answer is None else Data(members)


def _reads(
    name: str, state: Mapping[str, Value], data: Known, language: str, others: Sequence[Mapping[str, Value]]
) -> Iterator[Slip]:
    """The paths of a state at which nothing is, and the values that it leaves out."""
    if language == JSONATA:
        yield from _evaluated(name, state, data)
        return
    effective = _effective(state, data)
    for key in READ_FIELDS:
        if key in state:
            yield from _lost(name, state[key], data if key == "InputPath" else effective, is_path=key.endswith("Path"))
    if "ResultSelector" in state:
        yield from _lost(name, state["ResultSelector"], _result(state))
    choices = state.get("Choices", ABSENT)
    if "IsPresent" not in str(choices):
        for _, choice in entries(choices):
            yield from _compared(name, mapping(choice), effective, 0)
        yield from left_out(name, state, effective, others)


def _evaluated(name: str, state: Mapping[str, Value], data: Known) -> Iterator[Slip]:
    """The plain paths of a state's expressions, in what it takes and in what it hands on."""
    works = known(state.get("Type", ABSENT)) in ("Task", "Parallel", "Map")
    for key in EXPRESSION_FIELDS:
        scope = {"input": data, **({"result": _result(state)} if works and key in AFTER_WORK else {})}
        yield from (_slip(name, path, lost) for path, lost in lost_in(state.get(key, ABSENT), scope))


def _lost(name: str, value: Value, data: Known, depth: int = 0, *, is_path: bool = False) -> Iterator[Slip]:
    if isinstance(value, str) and is_path:
        for path, steps in paths_in(value):
            found = read(data, steps)
            if isinstance(found, Lost):
                yield _slip(name, path, found)
    elif isinstance(value, Mapping) and depth < _DEEPEST:
        for key, item in value.items():
            yield from _lost(name, item, data, depth + 1, is_path=key.endswith(".$"))
    elif isinstance(value, tuple) and depth < _DEEPEST:
        for item in value:
            yield from _lost(name, item, data, depth + 1)


def _slip(name: str, path: str, lost: Lost) -> Slip:
    message = f"the state {name!r} reads {path}, and nothing before it writes {lost.name}{meant(lost.name, lost.names)}"
    return Slip(message, listed(lost.names) if lost.names else "what a state before it writes", dead=True)


def _on_a_way(slip: Slip, source: str) -> Slip:
    """A mistake on one way alone, whose data another state hands on."""
    return replace(slip, message=slip.message.replace("nothing before it writes", f"the way from {source!r} has no", 1))


def _compared(name: str, choice: Mapping[str, Value], data: Known, depth: int) -> Iterator[Slip]:
    """What a choice compares, and with words that the value may be."""
    inner = [*(one for key in ("And", "Or") for _, one in entries(choice.get(key, ABSENT))), choice.get("Not", ABSENT)]
    for one in inner if depth < _DEEPEST else ():
        yield from _compared(name, mapping(one), data, depth + 1)
    variable, word = choice.get("Variable"), choice.get("StringEquals")
    steps = steps_of(variable) if isinstance(variable, str) else None
    found = read(data, steps) if steps else None
    if isinstance(found, Lost) and isinstance(variable, str):
        yield _slip(name, variable, found)
    elif isinstance(found, Data) and found.words and isinstance(word, str) and known(word) and word not in found.words:
        message = f"the state {name!r} compares {variable} with {word!r}, which it never is{meant(word, found.words)}"
        yield Slip(message, listed(found.words), dead=True)


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {_MACHINE: state_machine}
