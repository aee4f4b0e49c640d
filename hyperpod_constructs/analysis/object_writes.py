"""Single objects that a deployment writes into buckets: by custom resources with a bucket and a key, and by commands of builds.

>>> [(one.resource.logical_id, one.key) for one in writes(model)]
[('HeadScript', 'v3/head/on_create.sh')]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from hyperpod_constructs.analysis.api_calls import program_calls
from hyperpod_constructs.analysis.arns import arn_matches, bucket_arn
from hyperpod_constructs.analysis.build_commands import PROJECT
from hyperpod_constructs.analysis.code_runs.runs import CREATE, Run
from hyperpod_constructs.analysis.custom_resources import PREFIXES, made_by, makers
from hyperpod_constructs.analysis.function_code import FUNCTION, runs_of
from hyperpod_constructs.analysis.uploads import writes_by_resources, written_object
from hyperpod_constructs.templates.model import Model, Resource
from hyperpod_constructs.templates.values import ABSENT, Reference, Text, Value, joined, parts_of

_PUT = "putobject"
_FILLING = (_PUT, "copyobject", "completemultipartupload")


class Write(NamedTuple):
    """An object that a resource writes."""

    resource: Resource
    bucket: Value
    key: Value

    def is_in(self, bucket: Value) -> bool | None:
        """Whether the object is in a bucket; `None` if that is not known."""
        return arn_matches(bucket_arn(self.bucket), bucket_arn(bucket))

    def is_at(self, key: Value) -> bool | None:
        """Whether the object has a key; `None` if that is not known."""
        return arn_matches(_object(self.key), _object(key))


def writes(model: Model) -> tuple[Write, ...]:
    """The objects that a deployment of a model surely writes; computed once."""
    return model.cached(writes, lambda: tuple(_writes(model)))


def writers(found: Iterable[Write]) -> set[Resource]:
    """The resources that write some objects and surely no others, with the functions that do it for them."""
    by_writer = {one.resource: makers(one.resource.template.model).get(one.resource, one.resource) for one in found}
    known = {one for one in by_writer.values() if one.type == FUNCTION and _writes_known_objects(one)}
    own = {one for one, maker in by_writer.items() if maker in (one, *known) or written_object(one) is not None}
    return own.union(known, *map(made_by, known))


def _writes_known_objects(function: Resource) -> bool:
    calls = [one for one in program_calls(function) if one.operation.name.lower() in _FILLING]
    puts = [one for one in calls if one.operation.name.lower() == _PUT and isinstance(one.parameters.get("key"), str | Text)]
    return len(puts) == len(calls) > 0 and not writes_by_resources(function)


def _object(key: Value) -> Value:
    return joined(["arn:aws:s3:::any/", *parts_of(key)])


def _writes(model: Model) -> Iterator[Write]:
    for resource in model.resources():
        if resource.type.startswith(PREFIXES):
            yield from _of_custom(resource)
    for program in model.resources(FUNCTION, PROJECT):
        made = [(one.resource, call) for one in _creations(program) for call in one.calls if one.resource is not None]
        for writer, call in made or [(program, call) for call in program_calls(program)]:
            bucket, key = (call.parameters.get(name, ABSENT) for name in ("bucket", "key"))
            if call.operation.name.lower() == _PUT and isinstance(bucket, str | Text | Reference) and isinstance(key, str | Text):
                yield Write(writer, bucket, key)


def _creations(program: Resource) -> Iterator[Run]:
    """What a function does to create its custom resources."""
    return (one for one in (runs_of(program) if program.type == FUNCTION else ()) if one.request == CREATE)


def _of_custom(resource: Resource) -> Iterator[Write]:
    place = written_object(resource)
    bucket, key = map(resource.get, place) if place is not None else (ABSENT, ABSENT)
    if isinstance(key, str | Text):
        yield Write(resource, bucket, key)
