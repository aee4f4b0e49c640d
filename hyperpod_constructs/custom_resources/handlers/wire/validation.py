"""Whether parameters fit the model, before they are sent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from . import times
from .models import Shape

_TYPES: Mapping[str, Any] = {
    "structure": (dict,),
    "map": (dict,),
    "list": (list, tuple),
    "string": (str,),
    "integer": (int,),
    "long": (int,),
    "boolean": (bool,),
    "double": (float, int),
    "blob": (bytes, bytearray, str),
}


def problems(shape: Shape, value: Any, where: str) -> Iterator[str]:
    """What is wrong with a value, as sentences.

    :param where: the value's name in them.
    """
    if shape.type_name == "timestamp":
        yield from _of_time(value, where)
    elif not isinstance(value, _TYPES[shape.type_name]):
        yield f"Invalid type for parameter {where}: {value!r}; allowed: {shape.type_name}"
    elif shape.type_name == "structure":
        yield from _of_structure(shape, value, where)
    elif shape.type_name == "map":
        yield from _of_map(shape, value, where)
    elif shape.type_name == "list":
        yield from _of_size(shape, len(value), value, where)
        for number, item in enumerate(value):
            yield from problems(shape.member, item, f"{where}[{number}]")
    elif shape.type_name == "string":
        yield from _of_size(shape, len(value), value, where)
    elif shape.type_name in ("integer", "long", "double"):
        yield from _of_size(shape, value, value, where)


def _of_structure(shape: Shape, value: Mapping[str, Any], where: str) -> Iterator[str]:
    if shape.metadata.get("union") and len(value) != 1:
        yield f"{len(value)} members in parameter {where}; write one of: {', '.join(shape.members)}"
    for name in shape.required_members:
        if name not in value:
            yield f"Missing required parameter in {where}: {name}"
    for name, item in value.items():
        if name in shape.members:
            yield from problems(shape.members[name], item, f"{where}.{name}")
        else:
            yield f"Unknown parameter in {where}: {name}; allowed: {', '.join(shape.members)}"


def _of_map(shape: Shape, value: Mapping[Any, Any], where: str) -> Iterator[str]:
    for name, item in value.items():
        yield from problems(shape.key, name, f"{where} (key {name!r})")
        yield from problems(shape.value, item, f"{where}.{name}")


def _of_size(shape: Shape, size: float, value: Any, where: str) -> Iterator[str]:
    if "min" in shape.metadata and size < shape.metadata["min"]:
        yield f"Invalid size of parameter {where}: {value!r}; the least is {shape.metadata['min']}"


def _of_time(value: object, where: str) -> Iterator[str]:
    try:
        times.moment(value)
    except ValueError:
        yield f"Invalid type for parameter {where}: {value!r}; allowed: timestamp"
