"""The vendored models: operations, and the shapes of what they take and answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

# Service models that are newer than boto3 in AWS Lambda.
MODELS = Path(__file__).parents[1] / "models"


class Shape:
    """The type of a value, where a member, a list or an operation uses it.

    The attributes have the names of botocore's shapes, so that a function can take both.

    :ivar type_name: such as `structure`.
    :ivar metadata: what the model says of the type, and of its use in this place.
    """

    def __init__(self, shapes: Mapping[str, Any], use: Mapping[str, Any]) -> None:
        self._shapes = shapes
        self.metadata: Mapping[str, Any] = {**shapes[use["shape"]], **use}
        self.type_name: str = self.metadata["type"]

    @cached_property
    def members(self) -> Mapping[str, Shape]:
        """The members of a structure."""
        return {name: Shape(self._shapes, use) for name, use in self.metadata["members"].items()}

    @property
    def required_members(self) -> list[str]:
        """The members that a structure must have."""
        required: list[str] = self.metadata.get("required", [])
        return required

    @cached_property
    def member(self) -> Shape:
        """The items of a list."""
        return Shape(self._shapes, self.metadata["member"])

    @cached_property
    def key(self) -> Shape:
        """The keys of a map."""
        return Shape(self._shapes, self.metadata["key"])

    @cached_property
    def value(self) -> Shape:
        """The values of a map."""
        return Shape(self._shapes, self.metadata["value"])


@dataclass(frozen=True, kw_only=True, slots=True)
class Operation:
    """One operation.

    :param path: the path of its requests, with names of members in braces.
    :param wrapper: the element of an XML answer that holds the result; empty if the answer itself does.
    """

    name: str
    method: str
    path: str
    input_shape: Shape
    output_shape: Shape | None
    wrapper: str

    @property
    def tokens(self) -> list[str]:
        """The members that make a repeated request harmless."""
        return [name for name, shape in self.input_shape.members.items() if shape.metadata.get("idempotencyToken")]


@dataclass(frozen=True, kw_only=True)
class Service:
    """A service, with its operations by their names."""

    name: str
    metadata: Mapping[str, str]
    operations: Mapping[str, Operation]

    @property
    def protocol(self) -> str:
        """How it speaks: `json`, `query`, `ec2` or `rest-xml`."""
        return self.metadata["protocol"]

    @property
    def signing_name(self) -> str:
        """Its name in signatures."""
        return self.metadata.get("signingName", self.metadata["endpointPrefix"])


@cache
def model(service: str) -> Service:
    """The vendored model of a service."""
    [path] = (MODELS / service).glob("*/service-2.json")
    found = json.loads(path.read_bytes())
    shapes = found["shapes"]
    operations = {name: _operation(shapes, each) for name, each in found["operations"].items()}
    return Service(name=service, metadata=found["metadata"], operations=operations)


def _operation(shapes: Mapping[str, Any], found: Mapping[str, Any]) -> Operation:
    answer = found.get("output")
    return Operation(
        name=found["name"],
        method=found["http"]["method"],
        path=found["http"]["requestUri"],
        input_shape=Shape(shapes, found["input"]),
        output_shape=Shape(shapes, answer) if answer else None,
        wrapper=(answer or {}).get("resultWrapper", ""),
    )
