"""State machines in Amazon's language: states that are reached, fields that they have, paths and expressions.

Sources: https://states-language.net/spec.html and https://docs.aws.amazon.com/step-functions/latest/dg/transforming-data.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from hyperpod_constructs.analysis.schema.violation import listed, meant, nearest, quoted
from hyperpod_constructs.analysis.state_machines import states as all_states
from hyperpod_constructs.analysis.texts.expressions import expressions_of, mistake_in_path, mistakes_in_jsonata
from hyperpod_constructs.analysis.texts.integrations import waits_in
from hyperpod_constructs.analysis.texts.machine_times import waits_too_long, ways_from
from hyperpod_constructs.analysis.texts.reading import HOLE, from_json, is_open, known, spelled, texts_in
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge, entries, mapping
from hyperpod_constructs.analysis.texts.state_expressions import expression_mistakes
from hyperpod_constructs.analysis.texts.state_shapes import shape_mistakes
from hyperpod_constructs.analysis.texts.task_calls import task_mistakes
from hyperpod_constructs.analysis.typo import typo_of
from hyperpod_constructs.facts.state_language import (
    COMPARISONS,
    ERRORS,
    FIELDS,
    JSON_PATH,
    JSONATA,
    LAMBDA_ERRORS,
    OF_JSON_PATH,
    OF_JSONATA,
    PATHS,
    RUNNERS,
)
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.values import ABSENT, Reference, Value, as_int

MACHINE = "AWS::StepFunctions::StateMachine"
_MOST_STATES, _DEEPEST = 1000, 10
_MOST_SECONDS, _EXPRESS_SECONDS = 99_999_999, 300
_SECONDS = ("Seconds", "TimeoutSeconds", "HeartbeatSeconds")
_PLACE = re.compile(r"\$\{([\w.-]{1,255})\}")


def state_machine(resource: Resource) -> Slips:
    """A state machine: it starts, goes on and ends in states that it has, and each state is one of the language."""
    key = "DefinitionString" if resource.get("DefinitionString") is not ABSENT else "Definition"
    value, given = resource.get(key), resource.get("DefinitionSubstitutions")
    text = spelled(value)
    if given is not ABSENT and text:
        value = _PLACE.sub(HOLE, text)
    data = from_json(value) if key == "DefinitionString" else value
    if isinstance(data, Slip):
        yield data.below(key)
    elif isinstance(data, Mapping):
        found = [*_machine(data, "", 0, _language(data, JSON_PATH)), *_places(text or data, given)]
        found += [
            *_twice(data),
            *_kind(data, known(resource.get("StateMachineType"))),
            *waits_too_long(data),
            *shape_mistakes("machine", data, "in the machine"),
        ]
        found += expression_mistakes(data)
        found += _numbers(data) if key == "DefinitionString" else []
        yield from (slip.below(key) for slip in sorted(found, key=lambda one: one.dead)[:1])
    yield from _logging(resource)


def _logging(resource: Resource) -> Slips:
    level = known(resource.get("LoggingConfiguration", "Level"))
    if level in ("ALL", "ERROR", "FATAL") and resource.get("LoggingConfiguration", "Destinations") in (ABSENT, ()):
        yield Slip(f"the machine logs {level} to nowhere", "a log group in Destinations", ("LoggingConfiguration",))


def _places(value: Value, given: Value) -> Iterator[Slip]:
    """Places of substitutions that nothing fills."""
    names = given if isinstance(given, Mapping) else {} if given is ABSENT else None
    for place in _PLACE.findall("\n".join(texts_in(value))) if names is not None else ():
        if names is not None and place not in names:
            message = f"nothing fills the place ${{{place}}}{meant(place, names)}"
            yield Slip(message, f"substitutions: {listed(names)}" if names else "DefinitionSubstitutions", dead=True)
            return


def _twice(data: Mapping[str, Value]) -> Iterator[Slip]:
    """Names of states that a state inside of another one has too."""
    seen: set[str] = set()
    for one in all_states(data):
        if one.name in seen:
            yield Slip(f"two states are named {one.name!r}", "different names in the whole machine")
            return
        seen.add(one.name)


def _numbers(data: Mapping[str, Value]) -> list[Slip]:
    """Seconds that a definition in JSON has as a text."""
    written = [(one, key, one.value.get(key)) for one in all_states(data) for key in _SECONDS]
    return [
        Slip(f"the state {one.name!r} has {key} {quoted(value)}, a text", value)
        for one, key, value in written
        if isinstance(value, str) and value.isdecimal()
    ][:1]


def _kind(data: Mapping[str, Value], kind: str | None) -> list[Slip]:
    """Machines that live for five minutes wait for nobody."""
    if kind != "EXPRESS":
        return []
    waits = [way for text in texts_in(data) if (way := waits_in(text))]
    if waits:
        return [Slip(f"an express machine waits for a task ({waits[0]})", "StateMachineType: STANDARD, or a task without waiting")]
    spread = [one for one in all_states(data) if _mode(one.value) == "DISTRIBUTED"]
    if spread:
        return [
            Slip(f"an express machine has the distributed map {spread[0].name!r}", "StateMachineType: STANDARD, or the mode INLINE")
        ]
    long = [one for one in all_states(data) if (as_int(one.value.get("Seconds", ABSENT)) or 0) >= _EXPRESS_SECONDS]
    if long:
        seconds = long[0].value["Seconds"]
        message = f"the state {long[0].name} waits for {seconds} seconds, and an express machine ends after five minutes"
        return [Slip(message, "StateMachineType: STANDARD, or a shorter wait", dead=True)]
    return []


def _mode(state: Mapping[str, Value]) -> str | None:
    """Where a map runs its machines."""
    return known(mapping(mapping(state.get("ItemProcessor")).get("ProcessorConfig")).get("Mode", ABSENT))


def _language(data: Mapping[str, Value], given: str) -> str:
    return known(data.get("QueryLanguage", given)) or given


def _machine(data: Mapping[str, Value], place: str, depth: int, language: str) -> Iterator[Slip]:
    states = data.get("States", ABSENT)
    if not isinstance(states, Mapping):
        if states is ABSENT or states is None:
            yield Slip(f"the machine{place} has no States", "StartAt and States")
        return
    if depth > _DEEPEST or len(states) > _MOST_STATES or any(is_open(name) for name in states):
        return
    start = known(data.get("StartAt", ABSENT))
    if data.get("StartAt", ABSENT) is ABSENT:
        yield Slip(f"the machine{place} has no StartAt", f"one of {listed(states)}")
    elif start and start not in states:
        yield _lost("StartAt", start, states)
    for name, one in states.items():
        if isinstance(one, Mapping):
            yield from _state(name, one, states, depth, _language(one, language))
    if start in states:
        yield from _reached(str(start), states, place)


def _lost(where: str, name: str, states: Mapping[str, Value]) -> Slip:
    near = nearest(name, states)
    return Slip(
        f"{where} names the state {name!r}, which is not there{f'; the nearest is {near!r}' if near else ''}",
        f"one of {listed(states)}",
    )


def _reached(start: str, states: Mapping[str, Value], place: str) -> Iterator[Slip]:
    """States that no way leads to, and a machine that never ends."""
    seen, waiting, ends = {start}, [start], False
    while waiting:
        state = mapping(states.get(waiting.pop(), ABSENT))
        ways = [known(way) for way in ways_from(state) if way is not ABSENT]
        if None in ways or not state:
            return
        ends = ends or state.get("End") is True or known(state.get("Type", ABSENT)) in ("Succeed", "Fail")
        ends = ends or (known(state.get("Type", ABSENT)) == "Choice" and "Default" not in state)
        new = [way for way in ways if way and way in states and way not in seen]
        seen.update(new)
        waiting += new
    alone = [name for name in states if name not in seen]
    if alone:
        yield Slip(f"no way leads to the state {alone[0]!r}{place}", "states that others name in Next, Default, Choices or Catch")
    elif not ends:
        yield Slip(f"the machine{place} never ends", "a state with End: true, or of the type Succeed or Fail")


def _state(name: str, state: Mapping[str, Value], states: Mapping[str, Value], depth: int, language: str) -> Iterator[Slip]:
    kind = known(state.get("Type", ABSENT))
    if kind is None or kind not in FIELDS:
        if kind is not None or state.get("Type", ABSENT) is ABSENT:
            yield Slip(f"the state {name!r} has the type {quoted(kind)}{meant(kind or '', FIELDS)}", listed(FIELDS))
        return
    for way in ways_from(state):
        target = known(way)
        if target and target not in states:
            yield _lost(f"the state {name!r}", target, states)
    for slip in (*_fields(state, kind, language), *_whole(state, kind), *_tries(state), *_queries(state, language)):
        yield replace(slip, message=f"the state {name!r} {slip.message}")
    for part in (kind, language.lower()):
        yield from shape_mistakes(part, state, f"in the state {name!r}")
    for index, choice in entries(state.get("Choices")):
        if isinstance(choice, Mapping):
            yield from _rule("choice", choice, f"in choice {index + 1} of the state {name!r}", 0)
    if kind == "Task":
        yield from (replace(slip, message=f"the state {name!r} {slip.message}") for slip in task_mistakes(state, language))
    inner = [one for _, one in entries(state.get("Branches"))] + [state.get("ItemProcessor", state.get("Iterator", ABSENT))]
    for one in inner:
        if isinstance(one, Mapping):
            yield from _machine(one, f" in the state {name!r}", depth + 1, language)


def _fields(state: Mapping[str, Value], kind: str, language: str) -> Iterator[Slip]:
    """Fields that the type of a state or its query language does not have."""
    allowed = FIELDS[kind]
    for field in state:
        other = field in (OF_JSON_PATH if language == JSONATA else OF_JSONATA)
        if not is_open(field) and (other or field not in allowed):
            own = [one for one in allowed if one not in (OF_JSON_PATH if language == JSONATA else OF_JSONATA)]
            of = f"{kind} in {language}" if other else kind
            yield Slip(f"has the field {field}, which no {of} has{meant(field, own)}", listed(own))


def _whole(state: Mapping[str, Value], kind: str) -> Iterator[Slip]:
    """What a state of a type needs."""
    if kind in ("Task", "Pass", "Wait", "Parallel", "Map"):
        if "Next" not in state and state.get("End", ABSENT) in (ABSENT, False):
            yield Slip("has neither Next nor End", "one of the two")
        elif "Next" in state and state.get("End") is True:
            yield Slip("has Next and End", "one of the two")
    if kind == "Choice" and not state.get("Choices"):
        yield Slip("has no Choices", "a list of choices")
    if kind == "Choice" and any(isinstance(one, Mapping) and "Next" not in one for _, one in entries(state.get("Choices"))):
        yield Slip("has a choice without Next", "the name of a state")
    resource = state.get("Resource", ABSENT)
    if kind == "Task" and resource is ABSENT:
        yield Slip("has no Resource", "the ARN of a task")
    if isinstance(resource, Reference) and resource.resource.type.startswith("AWS::") and resource.resource.type not in RUNNERS:
        yield Slip(
            f"runs {resource.resource.logical_id}, which is {resource.resource.type}", "a function, an activity or an integration"
        )
    for key in PATHS:
        path = state.get(key)
        if isinstance(path, str) and not is_open(path) and not path.startswith(("$", "States.")):
            yield Slip(f"has the {key} {quoted(path)}", "a path such as $.name")
    times = [one for one in ("Seconds", "SecondsPath", "Timestamp", "TimestampPath") if one in state]
    if kind == "Wait" and len(times) != 1:
        yield Slip(f"waits for {' and '.join(times) or 'nothing'}", "one of Seconds, SecondsPath, Timestamp and TimestampPath")
    for key in ("TimeoutSeconds", "HeartbeatSeconds"):
        seconds = as_int(state.get(key, ABSENT))
        if seconds is not None and not 1 <= seconds <= _MOST_SECONDS:
            yield Slip(f"has {key} {seconds}", f"1 to {_MOST_SECONDS}")
    beat, end = as_int(state.get("HeartbeatSeconds", ABSENT)), as_int(state.get("TimeoutSeconds", ABSENT))
    if beat is not None and end is not None and beat >= end:
        yield Slip(f"has HeartbeatSeconds {beat}, and ends after {end} seconds", f"less than {end}")


def _tries(state: Mapping[str, Value]) -> Iterator[Slip]:
    """Errors of retries and catches: known ones, and `States.ALL` alone and last."""
    for key in ("Retry", "Catch"):
        rules = [mapping(one) for _, one in entries(state.get(key))]
        for index, rule in enumerate(rules):
            errors = [known(one) for _, one in entries(rule.get("ErrorEquals", ABSENT))]
            yield from _errors(key, [one for one in errors if one])
            if "States.ALL" in errors and (len(errors) > 1 or index < len(rules) - 1):
                yield Slip(f"has States.ALL in {key} beside or before other errors", "States.ALL alone, in the last rule")
        if key == "Catch" and any(rule and "Next" not in rule for rule in rules):
            yield Slip("has a Catch without Next", "the name of a state")
        for rule in rules:
            rate, wait = rule.get("BackoffRate", 2), as_int(rule.get("IntervalSeconds", 1))
            if isinstance(rate, int | float) and not isinstance(rate, bool) and rate < 1:
                yield Slip(f"has the BackoffRate {rate}", "1 or more")
            if wait is not None and wait < 1:
                yield Slip(f"has IntervalSeconds {wait}", "1 or more")


def _errors(key: str, errors: list[str]) -> Iterator[Slip]:
    for error in errors:
        if error.startswith("States.") and error not in ERRORS and not error.startswith("States.Http.StatusCode."):
            yield Slip(f"has the error {error} in {key}, which no state has{meant(error, ERRORS)}", listed(ERRORS))
        elif error.startswith("Lambda.") and (near := typo_of(error, LAMBDA_ERRORS)) is not None:
            message = f"has the error {error} in {key}, which Lambda does not have; the nearest is {near}"
            yield Slip(message, listed(LAMBDA_ERRORS), dead=True)


def _queries(state: Mapping[str, Value], language: str) -> Iterator[Slip]:
    """Paths, functions and expressions."""
    if language == JSONATA:
        yield from (slip for _, text in expressions_of(state) for slip in mistakes_in_jsonata(text))
        if any("Condition" not in mapping(one) for _, one in entries(state.get("Choices")) if isinstance(one, Mapping)):
            yield Slip("has a choice without Condition, which JSONata needs", "Condition: {% expression %}")
        return
    for index, choice in entries(state.get("Choices")):
        yield from _choice(index, mapping(choice), 0)
    for key, text in expressions_of(state):
        found = mistake_in_path(key, text)
        if found is not None:
            yield found


def _rule(part: str, rule: Mapping[str, Value], whose: str, depth: int) -> Iterator[Slip]:
    """A rule of a choice, and the rules in it."""
    yield from shape_mistakes(part, rule, whose)
    for inner in _inner(rule) if depth < _DEEPEST else ():
        yield from _rule("nested", inner, whose, depth + 1)


def _inner(rule: Mapping[str, Value]) -> list[Mapping[str, Value]]:
    found = [one for key in ("And", "Or") for _, one in entries(rule.get(key))]
    return [one for one in (*found, rule.get("Not", ABSENT)) if isinstance(one, Mapping)]


def _choice(index: int, choice: Mapping[str, Value], depth: int) -> Iterator[Slip]:
    for inner in _inner(choice) if depth < _DEEPEST else ():
        yield from _choice(index, inner, depth + 1)
    variable = choice.get("Variable")
    if isinstance(variable, str) and not is_open(variable) and not variable.startswith("$"):
        yield Slip(f"has the Variable {quoted(variable)}", "a path such as $.name")
    names = [one for one in choice if one not in ("Variable", "Next", "Comment", "Assign", "Output", "Condition")]
    for name in names:
        if name not in COMPARISONS and not is_open(name):
            yield Slip(f"has the comparison {name}{meant(name, COMPARISONS)}", "such as StringEquals or IsPresent")
        elif (wrong := _wrong_kind(name, choice[name])) is not None:
            yield Slip(f"compares by {name} with {quoted(choice[name])}", wrong)
    if choice and not names:
        yield Slip(f"has no comparison in choice {index + 1}", "Variable, and a comparison such as StringEquals")


def _wrong_kind(name: str, value: Value) -> str | None:
    """The kind of value that a comparison takes, if it surely is another one."""
    if name.endswith("Path"):
        return None if not isinstance(value, str) or value.startswith("$") or is_open(value) else "a path such as $.name"
    if name.startswith("Numeric") and isinstance(value, str | bool) and not is_open(value):
        return "a number"
    if name.startswith(("String", "Timestamp")) and isinstance(value, int | float):
        return "a text"
    wants_truth = name.startswith(("Boolean", "Is"))
    return "true or false" if wants_truth and isinstance(value, str | int | float) and str(value).lower() not in _TRUTH else None


_TRUTH = ("true", "false", HOLE)


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {MACHINE: state_machine}
