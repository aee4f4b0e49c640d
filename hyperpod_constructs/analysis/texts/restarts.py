"""State machines that look at what they started until it is done, and start it anew while it still runs.

Source: https://docs.aws.amazon.com/step-functions/latest/dg/sample-project-job-poller.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from hyperpod_constructs.analysis.data_forms import Lost, of_answer, read, steps_of
from hyperpod_constructs.analysis.state_machines import STATE_MACHINE, definition, definition_key
from hyperpod_constructs.analysis.texts.integrations import integration_of
from hyperpod_constructs.analysis.texts.reading import known, texts_in
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge, entries, mapping
from hyperpod_constructs.facts.sdk_calls import Operation
from hyperpod_constructs.facts.sdk_shapes import answer_of
from hyperpod_constructs.facts.state_language import only_reads
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.values import ABSENT, Value

_UNDER_WAY = ("inprogress", "pending", "queued", "submitted")
"""Words for what goes on, beside those with `-ing`."""
_STARTING, _TOKEN = ("create", "run", "start", "submit"), "token"
_MOST_PAUSES, _DEEPEST = 10, 10
_States = Mapping[str, Mapping[str, Value]]


class _Look(NamedTuple):
    """A task that reads what becomes of another one, and the words for it.

    :param variable: the path that a choice compares.
    """

    state: Mapping[str, Value]
    variable: str
    words: tuple[str, ...]


def state_machine(resource: Resource) -> Slips:
    """The first choice that leads back to the start of what is still under way."""
    states = {name: mapping(one) for name, one in mapping(mapping(definition(resource)).get("States", ABSENT)).items()}
    looks = {known(one.get("Next", ABSENT)): one for one in states.values() if _reads(one)}
    for name, choice in states.items():
        look = _look(looks[name], choice) if name in looks else None
        for word in look.words if look is not None else ():
            target = _behind(states, _chosen(choice, look.variable, word)) if look is not None and _is_under_way(word) else None
            if target is not None and look is not None and _starts(states[target], look.state):
                path = (definition_key(resource),)
                message = f"the state {name!r} goes to {target!r} on {word!r}, which starts another one while the first still runs"
                yield Slip(message, "the state that waits before the next look", path, dead=True)
                return


def _operation(state: Mapping[str, Value]) -> Operation | None:
    call = integration_of(state.get("Resource", ABSENT))
    return call.operation if call is not None and call.by_sdk and not call.waits else None


def _reads(state: Mapping[str, Value]) -> bool:
    operation = _operation(state)
    return operation is not None and only_reads(operation.name)


def _look(state: Mapping[str, Value], choice: Mapping[str, Value]) -> _Look | None:
    """What a choice compares of the answer to a task before it, if that is a text of some words."""
    operation, result = _operation(state), state.get("ResultPath", "$")
    variables = set(_variables(choice, 0))
    variable = variables.pop() if len(variables) == 1 else None
    above, steps = (steps_of(one) if isinstance(one, str) else None for one in (result, variable))
    if operation is None or variable is None or above is None or steps is None or steps[: len(above)] != above:
        return None
    answer = of_answer(operation.client, answer_of(operation.client, operation.name), capital=True)
    found = read(answer, steps[len(above) :])
    return None if found is None or isinstance(found, Lost) or not found.words else _Look(state, variable, found.words)


def _variables(rule: Mapping[str, Value], depth: int) -> Iterator[str | None]:
    """The paths that a choice compares; `None` for a comparison of another kind."""
    for inner in _inner(rule) if depth < _DEEPEST else ():
        yield from _variables(inner, depth + 1)
    if "Variable" in rule:
        variable = rule["Variable"]
        yield variable if isinstance(variable, str) and isinstance(rule.get("StringEquals"), str) else None


def _inner(rule: Mapping[str, Value]) -> list[Mapping[str, Value]]:
    every = [one for key in ("Choices", "And", "Or") for _, one in entries(rule.get(key, ABSENT))]
    return [one for one in (*every, rule.get("Not", ABSENT)) if isinstance(one, Mapping)]


def _chosen(choice: Mapping[str, Value], variable: str, word: str) -> Value:
    """The state to which a choice goes on a word."""
    rules = (mapping(one) for _, one in entries(choice.get("Choices", ABSENT)))
    return next((one.get("Next", ABSENT) for one in rules if _holds(one, variable, word)), choice.get("Default", ABSENT))


def _holds(rule: Mapping[str, Value], variable: str, word: str, depth: int = 0) -> bool:
    if depth > _DEEPEST:
        return False
    for key, decide in (("And", all), ("Or", any)):
        if key in rule:
            return decide(_holds(mapping(one), variable, word, depth + 1) for _, one in entries(rule[key]))
    if "Not" in rule:
        return not _holds(mapping(rule["Not"]), variable, word, depth + 1)
    return rule.get("Variable") == variable and rule.get("StringEquals") == word


def _behind(states: _States, name: Value) -> str | None:
    """The first state from one on that does more than to wait."""
    for _ in range(_MOST_PAUSES):
        found = known(name)
        if found is None or found not in states:
            return None
        if known(states[found].get("Type", ABSENT)) not in ("Pass", "Wait"):
            return found
        name = states[found].get("Next", ABSENT)
    return None


def _is_under_way(word: str) -> bool:
    bare = word.lower().replace("_", "")
    return bare.endswith("ing") or bare in _UNDER_WAY


def _starts(state: Mapping[str, Value], look: Mapping[str, Value]) -> bool:
    """Whether a state starts what another one looks at, and each time a new one."""
    operation, result, parameters = _operation(state), state.get("ResultPath", "$"), mapping(state.get("Parameters", ABSENT))
    starting = operation is not None and operation.name.lower().startswith(_STARTING)
    if not starting or any(_TOKEN in name.lower() for name in parameters):
        return False
    return isinstance(result, str) and any(f"{result}." in text for text in texts_in(look.get("Parameters", ABSENT)))


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {STATE_MACHINE: state_machine}
