"""Calls of services as the role of a resource: on the queues, topics, functions, streams and secrets that it names, and others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from hyperpod_constructs.analysis.clusters import given
from hyperpod_constructs.analysis.deliveries import Path, filled
from hyperpod_constructs.analysis.iam import ROLE
from hyperpod_constructs.analysis.node_places import arn_at
from hyperpod_constructs.analysis.schema.words import place_in
from hyperpod_constructs.analysis.service_keys import key_named
from hyperpod_constructs.facts.permissions import SERVICES, Place, Task
from hyperpod_constructs.facts.receivers import ARN_SOURCES
from hyperpod_constructs.facts.role_calls import RoleCall, role_calls
from hyperpod_constructs.templates.model import Model, Resource, resource_of, target_of
from hyperpod_constructs.templates.values import ABSENT, UNKNOWN, Reference, Value, as_items, as_str, joined, parts_of

_FUNCTION = "AWS::Lambda::Function"
_QUEUE = "AWS::SQS::Queue"
_READS = "sqs:ReceiveMessage"
_WORKSPACE = "AWS::APS::Workspace"
_SETTINGS: Mapping[Place, tuple[str, ...]] = {
    Place.IN_VPC: ("VpcConfig", "SubnetIds", "Subnets"),
    Place.LOG_DELIVERY: ("LoggingConfiguration", "Destinations"),
}
"""A setting and the lists in it of which one has items, by the place of tasks that come with it; they are on all resources."""
_SERVICES = {"bucket": "s3"}
"""Services of targets by another name, where calls are on the whole or on its parts."""


@dataclass(frozen=True, slots=True)
class Called:
    """A task of a resource's role, and the ARN on which it works.

    :param tested: whether AWS tries it when the resource is made.
    """

    resource: Resource
    role: Resource
    task: Task
    arn: Value
    tested: bool


def called(model: Model) -> tuple[Called, ...]:
    """The calls of a model whose roles and targets it has; computed once."""
    return model.cached(called, lambda: tuple(_called(model)))


def _called(model: Model) -> Iterator[Called]:
    for type_, facts in role_calls().items():
        for resource in model.resources(type_):
            for one in facts:
                yield from _of_resource(resource, one)
    for type_, (key, tasks) in SERVICES.items():
        for resource in model.resources(type_):
            role = resource_of(resource.get(key), ROLE)
            for task in (task for task in tasks if role is not None and _asks(resource, task)):
                if role is not None:
                    yield Called(resource, role, task, _object(resource, task.on), task.fatal)


def _asks(resource: Resource, task: Task) -> bool:
    """Whether a resource surely has its role do a task: by a word in a list, or by a setting that its place belongs to."""
    if task.on in _SETTINGS:
        key, *items = _SETTINGS[task.on]
        return given(resource.get(key)) is True and any(as_items(resource.get(key, one)) for one in items)
    return not task.setting or task.setting[1] in map(as_str, as_items(resource.get(task.setting[0])) or ())


def _object(resource: Resource, place: Place) -> Value:
    """The resource on which a service acts for one of the model."""
    if place in _SETTINGS:
        return "*"
    name = resource.get("LogGroupName")
    if place is Place.LOG_GROUP and given(name):
        return arn_at(resource, "logs", joined(["log-group:", *parts_of(name), ":log-stream:", UNKNOWN]))
    spaces = resource.template.model.resources(_WORKSPACE) if place is Place.WORKSPACE else ()
    return Reference(spaces[0], "Arn") if len(spaces) == 1 else UNKNOWN


def _of_resource(resource: Resource, facts: RoleCall) -> Iterator[Called]:
    for path, value in _targets(resource, facts.target):
        role = _role(resource, facts.role, path)
        if role is None or not isinstance(value, Reference):
            continue
        target = target_of(value)
        service, given = ARN_SOURCES.get(target.type, ("", ()))
        if service == _SERVICES.get(facts.service, facts.service) and (value.attribute or "Ref") in given:
            yield Called(resource, role, _task(facts, facts.words, facts.actions), _arn(facts, value), facts.tested)
            key = key_named(target.get("KmsMasterKeyId")) if target.type == _QUEUE else None
            if key is not None and _READS in facts.actions:
                task = _task(facts, f"decrypt the messages of {target.logical_id}", ("kms:Decrypt",))
                yield Called(resource, role, task, Reference(key, "Arn"), facts.tested)


def _targets(resource: Resource, path: str) -> Iterable[tuple[Path, Value]]:
    """The places of targets; `.` is the resource itself."""
    return [((), Reference(resource, "Arn"))] if path == "." else place_in(resource.get(), path)


def _task(facts: RoleCall, words: str, actions: tuple[str, ...]) -> Task:
    return Task(words=words, actions=actions, on=Place.ANYWHERE, source=facts.source, fatal=facts.tested, by_service=True)


def _arn(facts: RoleCall, value: Reference) -> Value:
    if facts.service == "s3":
        return joined([value, "/", UNKNOWN])
    return joined([value, UNKNOWN]) if facts.service == "logs" else value


def _role(resource: Resource, place: str, path: Path) -> Resource | None:
    """The role of a resource, or that of the function that it names."""
    value = resource.get(*filled(place, path))
    function = resource_of(value, _FUNCTION)
    return resource_of(value if function is None else function.get("Role"), ROLE) if value is not ABSENT else None
