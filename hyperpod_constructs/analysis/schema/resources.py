"""The violations of the resources of a model."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_constructs.analysis.schema.judge import violations
from hyperpod_constructs.analysis.schema.violation import Violation
from hyperpod_constructs.facts.property_schemas import property_schema, request_limits
from hyperpod_constructs.templates.model import Model, Resource

Found = tuple[Resource, Violation]


def schema_violations(model: Model) -> tuple[Found, ...]:
    """What CloudFormation's schemas refuse."""
    return model.cached(schema_violations, lambda: tuple(one for resource in model.resources() for one in _of_schema(resource)))


def request_violations(model: Model) -> Iterator[Found]:
    """What only the request to the service refuses, for types whose schema has no limits."""
    said = {(resource, violation.path) for resource, violation in schema_violations(model)}
    for resource in model.resources():
        limits = request_limits(resource.type)
        for violation in () if limits is None else violations(limits, resource.get()):
            if (resource, violation.path) not in said:
                yield resource, violation


def _of_schema(resource: Resource) -> Iterator[Found]:
    schema = property_schema(resource.type)
    return iter(()) if schema is None else ((resource, violation) for violation in violations(schema, resource.get()))
