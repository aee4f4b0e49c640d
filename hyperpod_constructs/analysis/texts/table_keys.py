"""Items that code and state machines write to tables of the app: each has the keys of its table.

Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_PutItem.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hyperpod_constructs.analysis.function_code import calls_of
from hyperpod_constructs.analysis.schema.violation import listed, meant
from hyperpod_constructs.analysis.state_machines import definition, definition_key, states
from hyperpod_constructs.analysis.texts.integrations import integration_of
from hyperpod_constructs.analysis.texts.reading import HOLE, known
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge, entries, mapping
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, Value

_FUNCTION, _MACHINE, _TABLE = "AWS::Lambda::Function", "AWS::StepFunctions::StateMachine", "AWS::DynamoDB::Table"
_ITEMS: Mapping[str, str] = {f"dynamodb:{name}Item": "key" for name in ("Delete", "Get", "Update")} | {"dynamodb:PutItem": "item"}
"""The parameter with the keys, by the action."""


def function(resource: Resource) -> Slips:
    """The items of the calls in the code of a function."""
    for call in calls_of(resource):
        for says, allowed in _lacking(call.operation.action, call.parameters):
            yield Slip(f"the code calls {says}", allowed, ("Code", "ZipFile"), dead=True)
            return


def machine(resource: Resource) -> Slips:
    """The items of the tasks of a state machine."""
    for state in states(definition(resource)):
        call = integration_of(state.value.get("Resource", ABSENT))
        given = {**mapping(state.value.get("Parameters", ABSENT)), **mapping(state.value.get("Arguments", ABSENT))}
        found = {name.lower(): value for name, value in given.items()}
        for says, allowed in () if call is None or call.operation is None else _lacking(call.operation.action, found):
            yield Slip(f"the state {state.name!r} calls {says}", allowed, (definition_key(resource),), dead=True)
            return


def _lacking(action: str, parameters: Mapping[str, Value]) -> Iterator[tuple[str, str]]:
    """The keys of a table that an item does not have, and what is no key, in words."""
    table, given = resource_of(parameters.get("tablename", ABSENT), _TABLE), parameters.get(_ITEMS.get(action, ""), ABSENT)
    if table is None or not isinstance(given, Mapping) or any(HOLE in name for name in given):
        return
    keys = [known(mapping(one).get("AttributeName", ABSENT)) for _, one in entries(table.get("KeySchema"))]
    names = [name.removesuffix(".$") for name in given]
    lacking = [one for one in keys if one is not None and one not in names]
    more = [name for name in names if name not in keys] if action != "dynamodb:PutItem" and None not in keys else []
    if lacking:
        yield f"{action} without {lacking[0]}, a key of {table.logical_id}{meant(lacking[0], names)}", listed(filter(None, keys))
    elif more:
        yield f"{action} with {more[0]}, which is no key of {table.logical_id}", listed(filter(None, keys))


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {_FUNCTION: function, _MACHINE: machine}
