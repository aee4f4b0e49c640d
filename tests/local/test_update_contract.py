"""The plan and the embedded AWS, two judges, say the same of a change of every property that the resource schemas have."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

from hyperpod_constructs.local.application import PROVIDERS
from hyperpod_constructs.local.audit import RecordingDict, audited
from hyperpod_constructs.local.aws_service import AwsError
from hyperpod_constructs.local.provider import ResourceProvider, updated
from hyperpod_constructs.plan.difference import changes
from hyperpod_constructs.plan.effect import Effect
from hyperpod_constructs.plan.equality import same
from hyperpod_constructs.plan.pairs import Pairs
from hyperpod_constructs.plan.table import row_of
from hyperpod_constructs.plan.updates import Updates
from hyperpod_constructs.templates.model import Model
from tests.local import update_values, update_values_eks
from tests.local.moto_cloud import CALLER, moto_cloud
from tests.local.schemas import properties
from tests.local.update_values import Properties, Values, World

ITEM = "workers"
IN_PLACE, REPLACED, REFUSED = "in place", "replaced", "refused"
BASES = update_values.BASES | update_values_eks.BASES
VALUES = update_values.VALUES | update_values_eks.VALUES
UNSERVED_VALUES = update_values.UNSERVED | update_values_eks.UNSERVED
IN_A_SERVER = frozenset({"AWS::Budgets::Budget", "AWS::CloudWatch::CompositeAlarm"})
"""Types over services of ministack, which no test has in its process: `test_monitoring.py` changes them in a stack."""
KINDS = {provider.type_name: provider for provider in PROVIDERS if provider.type_name not in IN_A_SERVER}  # type: ignore[attr-defined]
CASES = [(kind, "/".join(path)) for kind in sorted(KINDS) for path in properties(kind, ITEM)]
SERVED = [(kind, path) for kind, path in CASES if path in VALUES[kind]]
UNSERVED = [(kind, path) for kind, path in CASES if path not in VALUES[kind]]


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    """One account for all: every test deletes what it has made."""
    with moto_cloud("10.1.64.0/18") as account:
        yield World(account)


def put(holder: Any, path: str, value: Any) -> None:
    """Set a property, or remove it by None; an item of a list is found by its name."""
    *parents, last = path.split("/")
    for part in parents:
        if isinstance(holder, list):
            holder = next(item for item in holder if item["InstanceGroupName"] == part)
        else:
            holder = holder.setdefault(part, {})
    if value is None:
        holder.pop(last, None)
    else:
        holder[last] = value


def both(world: World, kind: str, values: Values) -> tuple[Properties, Properties]:
    old = copy.deepcopy((values.base or BASES[kind])(world))
    for path, value in values.old(world).items():
        put(old, path, copy.deepcopy(value))
    new = copy.deepcopy(old)
    for path, value in values.new(world).items():
        put(new, path, copy.deepcopy(value))
    return old, new


def planned(kind: str, old: Properties, new: Properties) -> str:
    """The plan's verdict on all changes together: a replacement includes them all."""
    pairs = Pairs(*(Model.of({"t": {"Resources": {"Thing": {"Type": kind, "Properties": each}}}}) for each in (old, new)))
    (pair,) = pairs.common
    found = [row_of(change) for change in changes(pair.old, pair.new, lambda one, other: same(one, other, pairs.key_of))]
    assert found
    effects = {row.effect for row in found if not row.part}
    if Effect.REPLACE in effects:
        verdicts = {update.verdict.effect for update in Updates(pairs).found()}
        return REFUSED if Effect.REFUSED in verdicts else REPLACED  # the old resource may still hold the name
    return REFUSED if Effect.REFUSED in effects else IN_PLACE


def done(provider: ResourceProvider, old: Properties, new: Properties) -> str:
    """The effect in the embedded AWS."""
    made: dict[str, Properties] = {}

    def create(logical_id: str, properties: Properties, stack: str) -> tuple[str, Any]:
        found = provider.create(properties, logical_id, stack, CALLER)
        made[found.physical_id] = properties
        return found.physical_id, found.attributes

    def update(physical_id: str, before: Properties, after: Properties, stack: str, logical_id: str) -> tuple[str, Any]:
        found = updated(provider, physical_id, before, after, logical_id=logical_id, stack=stack, caller=CALLER)
        made[found.physical_id] = after
        return found.physical_id, found.attributes

    handlers = {"create": create, "update": update, "update_with_logical_id": True}
    handler = audited(provider.type_name, handlers, during_update=lambda: True)
    physical_id, _ = handler["create"]("Thing", copy.deepcopy(old), "Stack")
    try:
        after, _ = handler["update"](physical_id, copy.deepcopy(old), copy.deepcopy(new), "Stack", "Thing")
    except (AwsError, ClientError):
        return REFUSED
    finally:
        for identifier, properties in made.items():
            with contextlib.suppress(ClientError):  # moto keeps access logs, and routes of endpoints
                provider.delete(identifier, properties, CALLER)
    return IN_PLACE if after == physical_id else REPLACED


def provider_of(kind: str, world: World) -> ResourceProvider:
    return KINDS[kind](world.clients)


@pytest.mark.parametrize(("kind", "path"), SERVED)
def test_the_plan_says_what_the_embedded_aws_does(world: World, kind: str, path: str) -> None:
    old, new = both(world, kind, VALUES[kind][path])
    assert done(provider_of(kind, world), old, new) == planned(kind, old, new)


@pytest.mark.parametrize(("kind", "words", "values"), update_values_eks.SECOND)
def test_the_plan_says_what_the_embedded_aws_does_with_other_values(world: World, kind: str, words: str, values: Values) -> None:
    old, new = both(world, kind, values)
    assert done(provider_of(kind, world), old, new) == planned(kind, old, new), words


@pytest.mark.parametrize(("kind", "path"), UNSERVED)
def test_the_embedded_aws_says_what_it_does_not_serve(world: World, kind: str, path: str) -> None:
    """No handler reads a property without values above: a template with it fails by name."""
    wanted = copy.deepcopy(BASES[kind](world))
    first = path.partition("/")[0]
    refused = UNSERVED_VALUES.get((kind, first))
    put(wanted, first if refused else path, refused(world) if refused else "x")
    recorder, provider = RecordingDict(wanted), provider_of(kind, world)
    if refused is not None:
        with pytest.raises((AwsError, ClientError), match="the embedded AWS does not serve"):
            provider.create(recorder, "Thing", "Stack", CALLER)
        return
    made = provider.create(recorder, "Thing", "Stack", CALLER)
    provider.delete(made.physical_id, wanted, CALLER)
    assert any(path.replace("/", ".").startswith(unread) for unread in recorder.unread())


def test_every_value_is_of_a_property() -> None:
    assert {(kind, path) for kind, values in VALUES.items() for path in values} <= set(CASES)
