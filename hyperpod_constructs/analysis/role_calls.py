"""Calls of services as the role of a resource, on what the resource names: queues, topics, functions, streams, secrets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from hyperpod_constructs.analysis.deliveries import Path, filled
from hyperpod_constructs.analysis.iam import ROLE
from hyperpod_constructs.analysis.schema.words import place_in
from hyperpod_constructs.analysis.service_keys import key_named
from hyperpod_constructs.facts.permissions import Place, Task
from hyperpod_constructs.facts.receivers import ARN_SOURCES
from hyperpod_constructs.facts.role_calls import RoleCall, role_calls
from hyperpod_constructs.templates.model import Model, Resource, resource_of, target_of
from hyperpod_constructs.templates.values import ABSENT, UNKNOWN, Reference, Value, joined

_FUNCTION = "AWS::Lambda::Function"
_QUEUE = "AWS::SQS::Queue"
_READS = "sqs:ReceiveMessage"
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
