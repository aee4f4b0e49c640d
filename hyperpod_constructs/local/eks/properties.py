"""CloudFormation properties of EKS as parameters of its API, whose names begin with a small letter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperpod_constructs.local.changes import mapped
from hyperpod_constructs.local.conversion import converted


def parameters(client: Any, operation: str, properties: Mapping[str, Any], without: str = "") -> dict[str, Any]:
    """The parameters of an operation that the properties set, without one; the tags are left to `tags`.

    :raises AwsError: for a value that is not of the member's type.
    """
    shape = client.meta.service_model.operation_model(operation).input_shape
    found = {
        name: _renamed(member, properties.get(_pascal(name)))
        for name, member in shape.members.items()
        if name not in ("tags", without)
    }
    answer: dict[str, Any] = converted(shape, {name: value for name, value in found.items() if value is not None}, "")
    return answer


def tags(properties: Mapping[str, Any]) -> dict[str, str]:
    """The tags by key; node groups have them so already."""
    given = properties.get("Tags") or {}
    return {key: str(given[key]) for key in given} if isinstance(given, Mapping) else mapped(given)


def _renamed(shape: Any, value: Any) -> Any:
    if shape.type_name == "structure" and isinstance(value, Mapping):
        found = {name: _renamed(member, value.get(_pascal(name))) for name, member in shape.members.items()}
        return {name: item for name, item in found.items() if item is not None}
    if shape.type_name == "list" and isinstance(value, list | tuple):
        return [_renamed(shape.member, item) for item in value]
    return value


def _pascal(name: str) -> str:
    return name[:1].upper() + name[1:]
