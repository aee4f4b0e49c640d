"""Typed properties of a custom resource: CloudFormation sends every number and boolean as a string."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

T = TypeVar("T")


class PropertyError(ValueError):
    """A missing property, or one of the wrong type; the text gives its name, its value and the allowed ones."""


def parse(kind: type[T], raw: Mapping[str, Any], where: str = "") -> T:
    """Make a dataclass from a resource's properties.

    The field `cluster_arn` comes from the property `ClusterArn`. Other properties are ignored, so that a rollback to an older
    template keeps working.

    :param kind: the dataclass; its fields are of type str, int, bool, tuple of one type, dataclass, or a mapping, which is passed
        through as CloudFormation sent it.
    :param raw: the properties from CloudFormation.
    :param where: the path of the properties in the resource, for messages; by default the resource itself.
    :raises PropertyError: if a property is missing or has the wrong type.
    """
    hints = _hints(kind)  # type: ignore[arg-type]  # mypy takes a class of any type for unhashable
    values: dict[str, Any] = {}
    for item in fields(kind):  # type: ignore[arg-type]  # T is a dataclass: the annotation of dataclasses has no name for it
        key = "".join(word.capitalize() for word in item.name.split("_"))
        path = f"{where}.{key}" if where else key
        if key in raw:
            values[item.name] = _convert(raw[key], hints[item.name], path)
        elif item.default is MISSING and item.default_factory is MISSING:
            raise PropertyError(f"property {path} is missing; found: {', '.join(sorted(raw)) or 'none'}")
    return kind(**values)


@cache
def _hints(kind: type) -> Mapping[str, Any]:
    """The types of a dataclass; a list of a hundred properties asks a hundred times."""
    return get_type_hints(kind)


def _convert(value: Any, hint: Any, path: str) -> Any:
    if is_dataclass(hint) and isinstance(hint, type):
        if not isinstance(value, Mapping):
            raise _wrong(path, value, "an object")
        return parse(hint, value, path)
    if get_origin(hint) is Mapping:
        if not isinstance(value, Mapping):
            raise _wrong(path, value, "an object")
        return value
    if get_origin(hint) is tuple:
        if not isinstance(value, list):
            raise _wrong(path, value, "a list")
        element = get_args(hint)[0]
        return tuple(_convert(item, element, f"{path}[{index}]") for index, item in enumerate(value))
    return _scalar(value, hint, path)


def _scalar(value: Any, hint: Any, path: str) -> str | int | bool:
    if hint is bool:
        known = {"true": True, "false": False}.get(str(value).lower())
        if known is None:
            raise _wrong(path, value, '"true" or "false"')
        return known
    if hint is int:
        try:
            return int(str(value))
        except ValueError:
            raise _wrong(path, value, 'a whole number, for example "4"') from None
    if not isinstance(value, str) or not value:
        raise _wrong(path, value, "a text, not empty")
    return value


def _wrong(path: str, value: Any, allowed: str) -> PropertyError:
    return PropertyError(f"property {path} is {value!r}; allowed: {allowed}")
