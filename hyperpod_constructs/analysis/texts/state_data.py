"""Data between the states of a machine: a state reads what the input or a state before it may have written.

The input of a machine that nothing in the app starts may have any members. A choice that asks whether something is present is
believed.

Sources: https://docs.aws.amazon.com/step-functions/latest/dg/concepts-input-output-filtering.html,
https://docs.aws.amazon.com/step-functions/latest/dg/connect-lambda.html and
https://docs.aws.amazon.com/step-functions/latest/dg/supported-services-awssdk.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

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
from hyperpod_constructs.analysis.schema.violation import listed, meant
from hyperpod_constructs.analysis.state_machines import definition, definition_key
from hyperpod_constructs.analysis.texts.inputs import input_of
from hyperpod_constructs.analysis.texts.integrations import integration_of
from hyperpod_constructs.analysis.texts.reading import known
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge, entries, mapping
from hyperpod_constructs.facts.sdk_shapes import answer_of
from hyperpod_constructs.facts.state_language import ERROR_OUTPUT, JSON_PATH, JSONATA, READ_FIELDS, SDK_METADATA
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, Value

_MACHINE, _FUNCTION = "AWS::StepFunctions::StateMachine", "AWS::Lambda::Function"
_DEEPEST = 10
_PLAIN_ANSWERS = ("dynamodb", "lambda", "sns", "sqs")
"""Services whose optimized integrations answer as the operation does."""


def state_machine(resource: Resource) -> Slips:
    """The first state that reads what nothing before it writes."""
    machine = definition(resource)
    if isinstance(machine, Mapping) and _language(machine, JSON_PATH) == JSON_PATH:
        for slip in _Flow(machine, input_of(resource) or ANY_OBJECT, 0).slips():
            yield slip.below(definition_key(resource))
            return


def _language(value: Mapping[str, Value], given: str) -> str:
    return known(value.get("QueryLanguage", given)) or JSONATA


class _Flow:
    """The data of one machine, from state to state."""

    def __init__(self, machine: Mapping[str, Value], start: Known, depth: int) -> None:
        self._states = {name: mapping(one) for name, one in mapping(machine.get("States", ABSENT)).items()}
        self._depth = depth
        self._inputs: dict[str, Known] = {}
        first = known(machine.get("StartAt", ABSENT))
        self._waiting: list[str] = []
        self._come(first, start)
        for _ in range(4 * len(self._states)):
            if not self._waiting:
                break
            self._leave(self._waiting.pop(0))

    def slips(self) -> Iterator[Slip]:
        """The states that read what is not there, in the order in which they are reached."""
        for name in () if self._waiting else self._inputs:
            state = self._states[name]
            if _language(state, JSON_PATH) == JSON_PATH:
                yield from _reads(name, state, _effective(state, self._inputs[name]), _result(state))
            yield from self._inner(state, _effective(state, self._inputs[name]))

    def _inner(self, state: Mapping[str, Value], data: Known) -> Iterator[Slip]:
        if self._depth < _DEEPEST:
            given = _given(state, data)
            for _, branch in entries(state.get("Branches", ABSENT)):
                yield from _Flow(mapping(branch), given, self._depth + 1).slips()
            for key in ("ItemProcessor", "Iterator"):
                selected = _given(state, data, "ItemSelector") if "ItemSelector" in state else None
                yield from _Flow(mapping(state.get(key, ABSENT)), selected, self._depth + 1).slips()

    def _come(self, name: str | None, data: Known) -> None:
        """Bring data to a state."""
        if name is None or name not in self._states:
            return
        old = self._inputs.get(name)
        new = either(old, data) if name in self._inputs else data
        if name not in self._inputs or new != old:
            self._inputs[name] = new
            self._waiting.append(name)

    def _leave(self, name: str) -> None:
        """Bring the data of a state to those that come after it."""
        state, data = self._states[name], self._inputs[name]
        for _, rule in entries(state.get("Catch", ABSENT)):
            path = mapping(rule).get("ResultPath", "$")
            self._come(known(mapping(rule).get("Next", ABSENT)), _at_path(data, path, Data(dict.fromkeys(ERROR_OUTPUT))))
        out = _output(state, data)
        for after in (state, *(mapping(one) for _, one in entries(state.get("Choices", ABSENT)))):
            self._come(known(after.get("Next", ABSENT)), out)
        self._come(known(state.get("Default", ABSENT)), out)


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


def _given(state: Mapping[str, Value], data: Known, key: str = "Parameters") -> Known:
    """What a state makes of its data by a template."""
    return _selected(state[key], data, 0) if key in state else data


def _selected(value: Value, data: Known, depth: int) -> Known:
    if not isinstance(value, Mapping) or depth > _DEEPEST:
        return of_value(value)
    members = {
        name.removesuffix(".$"): _through(data, item) if name.endswith(".$") else _selected(item, data, depth + 1)
        for name, item in value.items()
    }
    return Data(members)


def _output(state: Mapping[str, Value], data: Known) -> Known:
    """What a state hands on."""
    if _language(state, JSON_PATH) != JSON_PATH:
        return None
    kind, effective = known(state.get("Type", ABSENT)), _effective(state, data)
    if kind in ("Choice", "Wait", "Succeed"):
        return _through(effective, state.get("OutputPath", "$"))
    result = _result(state)
    if kind == "Pass" and "Result" not in state:
        result = _given(state, effective)
    if "ResultSelector" in state:
        result = _given(state, result, "ResultSelector")
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
        called = resource_of(mapping(state.get("Parameters", ABSENT)).get("FunctionName", ABSENT), _FUNCTION)
        members["Payload"] = None if called is None else answer_of_function(called)
    return None if answer is None else Data(members)


def _reads(name: str, state: Mapping[str, Value], data: Known, result: Known) -> Iterator[Slip]:
    """The paths of a state at which nothing is."""
    for key in READ_FIELDS:
        if key in state:
            yield from _lost(name, state[key], data, is_path=key.endswith("Path"))
    if "ResultSelector" in state:
        yield from _lost(name, state["ResultSelector"], result)
    choices = state.get("Choices", ABSENT)
    if "IsPresent" not in str(choices):
        for _, choice in entries(choices):
            yield from _compared(name, mapping(choice), data, 0)


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
