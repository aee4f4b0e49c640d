"""Single objects that a deployment writes into buckets: by custom resources with a bucket and a key, and by commands of builds.

>>> [(one.resource.logical_id, one.key) for one in writes(model)]
[('HeadScript', 'v3/head/on_create.sh')]
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from hyperpod_constructs.analysis.api_calls import program_calls
from hyperpod_constructs.analysis.arns import arn_matches, bucket_arn
from hyperpod_constructs.analysis.build_commands import PROJECT
from hyperpod_constructs.analysis.custom_resources import PREFIXES, makers
from hyperpod_constructs.analysis.function_code import FUNCTION
from hyperpod_constructs.templates.model import Model, Resource
from hyperpod_constructs.templates.values import ABSENT, Reference, Text, Value, joined, parts_of

_BUCKET, _KEY = (
    re.compile(rf"(?:destination|target|dest|script|s3)?_?{word}_?(?:name)?", re.IGNORECASE)
    for word in ("bucket", "(?:object)?_?key")
)
_BODY = re.compile(r"body|contents?|text|script|data", re.IGNORECASE)
_PUT = "putobject"


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


def _object(key: Value) -> Value:
    return joined(["arn:aws:s3:::any/", *parts_of(key)])


def _writes(model: Model) -> Iterator[Write]:
    for resource in model.resources():
        if resource.type.startswith(PREFIXES):
            yield from _of_custom(resource)
    for program in model.resources(FUNCTION, PROJECT):
        for call in program_calls(program):
            bucket, key = (call.parameters.get(name, ABSENT) for name in ("bucket", "key"))
            if call.operation.name.lower() == _PUT and isinstance(bucket, str | Text | Reference) and isinstance(key, str | Text):
                yield Write(program, bucket, key)


def _of_custom(resource: Resource) -> Iterator[Write]:
    """The object of a custom resource, if its code puts objects, or the text of one is beside its key."""
    buckets, keys, bodies = (
        [value for name, value in resource.properties.items() if one.fullmatch(name)] for one in (_BUCKET, _KEY, _BODY)
    )
    maker = makers(resource.template.model).get(resource)
    puts = bool(bodies) or (maker is not None and any(one.operation.name.lower() == _PUT for one in program_calls(maker)))
    if len(buckets) == 1 and len(keys) == 1 and isinstance(keys[0], str | Text) and puts:
        yield Write(resource, buckets[0], keys[0])
