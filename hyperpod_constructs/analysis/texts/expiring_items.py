"""The time to live of a table is an attribute that its items have, where the templates have everybody who writes them.

Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/time-to-live-ttl-before-you-start.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from hyperpod_constructs.analysis.alone import is_handed_on, types_of_users
from hyperpod_constructs.analysis.by_name import named_resource
from hyperpod_constructs.analysis.clusters import clusters
from hyperpod_constructs.analysis.code_runs.service_calls import OTHERS
from hyperpod_constructs.analysis.function_code import FUNCTION, calls_of
from hyperpod_constructs.analysis.iam import ROLE
from hyperpod_constructs.analysis.policy_document import Call
from hyperpod_constructs.analysis.schema.violation import listed, meant
from hyperpod_constructs.analysis.state_machines import STATE_MACHINE, definition, states
from hyperpod_constructs.analysis.texts.integrations import integration_of
from hyperpod_constructs.analysis.texts.reading import HOLE, known, spelled
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge, mapping
from hyperpod_constructs.analysis.texts.writers import has_code, may_call, roles_elsewhere
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, Reference, Value, as_bool, leaves

_TABLE, _PATH = "AWS::DynamoDB::Table", ("TimeToLiveSpecification", "AttributeName")
_PUT, _UPDATE = "dynamodb:PutItem", "dynamodb:UpdateItem"
_WRITING = (_PUT, _UPDATE, "dynamodb:BatchWriteItem", "dynamodb:PartiQLInsert", "dynamodb:PartiQLUpdate", "dynamodb:ImportTable")
"""The actions that write items."""
_OTHER_WAYS = re.compile(r"batch_?write|transact|execute_?statement", re.IGNORECASE)
"""Calls in code that write items in other ways than those which are followed."""
_WORD, _ANY_WORD = re.compile(r"[A-Za-z_]\w*"), re.compile(r"\w+")
_MOST_TABLES = 50
"""In a model with more tables, nobody asks who writes them."""


def table(resource: Resource) -> Slips:
    """A time to live is an attribute that something writes."""
    name = known(resource.get(*_PATH))
    enabled = as_bool(resource.get("TimeToLiveSpecification", "Enabled"))
    many = len(resource.template.model.resources(_TABLE)) > _MOST_TABLES
    if not name or not enabled or many or _is_named(resource, name) or _has_other_writers(resource):
        return
    items = [one for writer in _writers(resource) for one in _items(resource, writer)]
    written = dict.fromkeys(key for one in items if one is not None for key in one)
    if None not in items and written and name not in written:
        says = f"items of {resource.logical_id} expire by {name}, which nothing writes{meant(name, written)}"
        yield Slip(says, listed(written), _PATH, name, dead=True)


def _is_named(table: Resource, name: str) -> bool:
    """Whether a name stands in a text of another resource, so that something may write it in a way that is not followed."""
    model = table.template.model
    return model.cached(_is_named, lambda: frozenset(_words(model))).issuperset(_ANY_WORD.findall(name))


def _words(model: Model) -> Iterator[str]:
    """The words in the texts of all resources but tables."""
    for one in model.resources():
        for leaf in leaves(one.get()) if one.type != _TABLE else ():
            yield from _ANY_WORD.findall(spelled(leaf) or "")


def _has_other_writers(table: Resource) -> bool:
    """Whether something may write items that is no function or state machine of the templates, or whose calls are not known."""
    model = table.template.model
    handed = is_handed_on(table) or "AWS::SSM::Parameter" in types_of_users(table) or "ResourcePolicy" in table.properties
    if handed or not clusters(model) or not model.complete:
        return True
    machines = [role for one in _machines(model) if (role := resource_of(one.get("RoleArn"), ROLE)) is not None]
    return any(role is None or _may_write(role, table) for role in roles_elsewhere(model, machines))


def _machines(model: Model) -> Iterator[Resource]:
    return (one for one in model.resources(STATE_MACHINE) if isinstance(definition(one), Mapping))


def _may_write(role: Resource, table: Resource) -> bool:
    return any(may_call(role, Call(action, Reference(table, "Arn"))) for action in _WRITING)


def _writers(table: Resource) -> Iterator[Resource]:
    """The functions and state machines that may write items, by their roles."""
    model = table.template.model
    for one in (*filter(has_code, model.resources(FUNCTION)), *_machines(model)):
        role = resource_of(one.get("RoleArn" if one.type == STATE_MACHINE else "Role"), ROLE)
        if role is None or _may_write(role, table):
            yield one


def _items(table: Resource, writer: Resource) -> Iterator[tuple[str, ...] | None]:
    """The attributes that a writer writes, item by item; `None` for an item that is not known, and if there is none."""
    is_other = writer.get("Layers") is not ABSENT or _OTHER_WAYS.search(spelled(writer.get("Code", "ZipFile")) or "")
    calls = [(action, given) for action, given in _calls(writer) if action in _WRITING and _is_on(table, writer, given)]
    yield from (_attributes(action, given) for action, given in calls)
    if is_other or not calls:
        yield None


def _calls(writer: Resource) -> Iterator[tuple[str, Mapping[str, Value]]]:
    """The calls of a function or a state machine, each with its action and its parameters in small letters."""
    yield from ((one.operation.action, one.parameters) for one in calls_of(writer) if writer.type == FUNCTION)
    for state in states(definition(writer)) if writer.type == STATE_MACHINE else ():
        call = integration_of(state.value.get("Resource", ABSENT))
        given = {**mapping(state.value.get("Parameters", ABSENT)), **mapping(state.value.get("Arguments", ABSENT))}
        if call is not None and call.operation is not None:
            yield call.operation.action, {name.lower(): value for name, value in given.items()}


def _is_on(table: Resource, writer: Resource, given: Mapping[str, Value]) -> bool:
    """Whether a call may be on a table."""
    name = given.get("tablename", ABSENT)
    found = named_resource(writer, name, _TABLE)
    return found is table if found is not None else not isinstance(name, str | Reference)


def _attributes(action: str, given: Mapping[str, Value]) -> tuple[str, ...] | None:
    """The attributes that a call writes; `None` if they are not known."""
    item, expression, names = (given.get(one, ABSENT) for one in ("item", "updateexpression", "expressionattributenames"))
    if OTHERS in given or action not in (_PUT, _UPDATE):
        return None
    if action == _PUT:
        found = [*item] if isinstance(item, Mapping) else None
    else:
        others = [known(one) for one in mapping(names).values()] if names is ABSENT or isinstance(names, Mapping) else [None]
        text = known(expression)
        found = None if text is None or None in others else [*_WORD.findall(text), *filter(None, others)]
    return None if found is None or any(HOLE in one for one in found) else tuple(one.removesuffix(".$") for one in found)


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {_TABLE: table}
