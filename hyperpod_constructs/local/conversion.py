"""CloudFormation properties as parameters of an API operation: the same names, with the types of the service's model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from botocore.model import Shape

from hyperpod_constructs.local.aws_service import AwsError


def parameters(shape: Shape, properties: Mapping[str, Any]) -> dict[str, Any]:
    """The properties that are members of a structure, converted; others are not looked at.

    CloudFormation hands numbers and booleans over as strings when a template has them so.

    :raises AwsError: for a value that is not of the member's type.
    """
    answer: dict[str, Any] = converted(shape, properties, "")
    return answer


def converted(shape: Any, value: Any, at: str) -> Any:
    """One value with the type of its shape."""
    if shape.type_name == "structure" and isinstance(value, Mapping):
        return {
            name: converted(member, value[name], f"{at}.{name}" if at else name)
            for name, member in shape.members.items()
            if value.get(name) is not None
        }
    if shape.type_name == "list" and isinstance(value, list | tuple):
        return [converted(shape.member, item, f"{at}[{index}]") for index, item in enumerate(value)]
    if shape.type_name == "map" and isinstance(value, Mapping):
        return {key: converted(shape.value, value[key], f"{at}.{key}") for key in value}
    return _scalar(shape.type_name, value, at)


def _scalar(type_name: str, value: Any, at: str) -> Any:
    if type_name == "string" and isinstance(value, str | int | float):
        return str(value).lower() if isinstance(value, bool) else str(value)
    if type_name == "boolean" and str(value).lower() in ("true", "false"):
        return str(value).lower() == "true"
    if type_name in ("integer", "long") and not isinstance(value, bool):
        try:
            return int(value)
        except (TypeError, ValueError):
            pass
    elif type_name in ("float", "double") and not isinstance(value, bool):
        try:
            return float(value)
        except (TypeError, ValueError):
            pass
    elif type_name == "timestamp":
        return value
    raise AwsError("ValidationError", f"property {at}: found {value!r}; it must be a {type_name}")
