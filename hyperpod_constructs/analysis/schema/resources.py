"""The violations of the resources of a model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hyperpod_constructs.analysis.comparisons import may_be_empty
from hyperpod_constructs.analysis.schema.arns import arn_violations
from hyperpod_constructs.analysis.schema.judge import violations
from hyperpod_constructs.analysis.schema.violation import Path, Violation, alike, is_only_misspelled, meant_places
from hyperpod_constructs.facts.property_schemas import Schema, property_schema, request_limits
from hyperpod_constructs.templates.dependencies import parameter_at, raw_at
from hyperpod_constructs.templates.model import Model, Resource
from hyperpod_constructs.templates.raw import Raw
from hyperpod_constructs.templates.values import UNKNOWN, Text, Unknown, Value

Found = tuple[Resource, Violation]
_LISTS = ("Fn::Cidr", "Fn::GetAZs", "Fn::Split")


def schema_violations(model: Model) -> tuple[Found, ...]:
    """What CloudFormation's schemas refuse."""
    return model.cached(schema_violations, lambda: tuple(one for resource in model.resources() for one in _of_schema(resource)))


def request_violations(model: Model) -> Iterator[Found]:
    """What only the request to the service refuses, for types whose schema has no limits."""
    for resource, requested in ((resource, list(_requested(resource))) for resource in model.resources()):
        of_schema = [one for other, one in schema_violations(model) if other == resource] if requested else []
        said, misspelled = {one.path for one in of_schema}, meant_places(of_schema)
        yield from ((resource, one) for one in requested if one.path not in said and not is_only_misspelled(one, misspelled))


def _requested(resource: Resource) -> Iterator[Violation]:
    """What the request refuses by its limits, and else by the names of its properties."""
    limited, schema = list(_by(request_limits(resource.type), resource)), property_schema(resource.type)
    said = {one.path for one in limited}
    yield from limited
    for one in () if schema is None else arn_violations(schema, _properties(resource)):
        if one.path not in said:
            yield one


def _of_schema(resource: Resource) -> Iterator[Found]:
    return ((resource, violation) for violation in _by(property_schema(resource.type), resource))


def _by(schema: Schema | None, resource: Resource) -> Iterator[Violation]:
    found = (
        iter(())
        if schema is None or _is_misspelled(resource)
        else violations(schema, _properties(resource), conditional=resource.exists is None)
    )
    return alike(one for one in found if one.found != "" or _is_empty(resource, one.path))


def _is_misspelled(resource: Resource) -> bool:
    """Whether the key of the properties has another case, so that there are none."""
    return "Properties" not in resource.raw and any(key.casefold() == "properties" for key in resource.raw)


def _properties(resource: Resource) -> Value:
    """The properties; one that a dynamic reference gives is a text that nobody knows, and is there."""
    values, raw = resource.get(), resource.raw.get("Properties")
    if not isinstance(values, Mapping) or not isinstance(raw, dict):
        return values
    unknown = [name for name, value in values.items() if isinstance(value, Unknown)]
    written = dict.fromkeys((name for name in unknown if _is_written(raw.get(name))), Text((UNKNOWN,)))
    listed = {name: (UNKNOWN,) for name in unknown if _is_list_for_text(resource.type, name, raw.get(name))}
    return {**values, **written, **listed} if written or listed else values


def _is_written(raw: Raw) -> bool:
    """Whether a value is a text, or one that a function makes: a dynamic reference in it is there, whatever it gives."""
    if isinstance(raw, dict):
        joined = raw.get("Fn::Join")
        pieces = joined[1] if isinstance(joined, list) and len(joined) == 2 else None
        return isinstance(raw.get("Fn::Sub"), str) or (isinstance(pieces, list) and any(_is_dynamic(one) for one in pieces))
    return isinstance(raw, str)


def _is_list_for_text(resource_type: str, name: str, raw: Raw) -> bool:
    """Whether a function that gives a list, whatever it is given, stands in a property that is a text."""
    node = (property_schema(resource_type) or {}).get("properties", {}).get(name)
    is_text = isinstance(node, Mapping) and node.get("type") == "string"
    return is_text and isinstance(raw, dict) and len(raw) == 1 and next(iter(raw)) in _LISTS


def _is_dynamic(raw: Raw) -> bool:
    return isinstance(raw, str) and "{{resolve:" in raw


def _is_empty(resource: Resource, path: Path) -> bool:
    """Whether an empty text is meant: one of a parameter is yet to be given, unless a condition asks whether it is empty."""
    given = parameter_at(resource, path)
    return raw_at(resource, path) == "" or (given is not None and may_be_empty(*given))
