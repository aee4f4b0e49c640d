"""Objects of built-in kinds against their schemas: types, unknown fields, missing fields, quantities."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hyperpod_constructs.local.kubernetes import status
from hyperpod_constructs.local.kubernetes.schemas import Schema, Schemas
from hyperpod_constructs.local.kubernetes.status import ApiError, Cause

QUANTITY = "io.k8s.apimachinery.pkg.api.resource.Quantity"
INT_OR_STRING = "io.k8s.apimachinery.pkg.util.intstr.IntOrString"
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(([numkMGTPE]|[KMGTPE]i)|[eE][+-]?\d+)?", re.ASCII)
_QUANTITY_TEXT = (
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"  # the API server's sentence
)
_PYTHON = {"object": dict, "array": list, "string": str, "boolean": bool}
_JSON = ((dict, "object"), (list, "array"), (str, "string"))
_GO = {"boolean": "bool", "number": "float64", "object": "map[string]interface {}", "array": "[]interface {}"}


@dataclass
class Decoded:
    """An object with known fields only, the paths of those that were unknown, and what is missing."""

    value: dict[str, Any]
    unknown: list[str] = field(default_factory=list)
    missing: list[Cause] = field(default_factory=list)


class Decoder:
    """Reads one object of a built-in kind."""

    def __init__(self, schemas: Schemas, kind: str, version: str) -> None:
        self._schemas = schemas
        self._kind = kind
        self._version = version

    def decode(self, schema: Schema, value: Mapping[str, Any]) -> Decoded:
        """The object by its schema.

        :raises ApiError: 400 for a value of another type.
        """
        found = Decoded({})
        found.value = self._object(schema, value, "", self._kind, found)
        return found

    def _value(self, schema: Schema, value: Any, path: str, struct: str, found: Decoded) -> Any:
        reference = str(schema.get("$ref", "")).rpartition("/")[2]
        if reference == QUANTITY:
            return self._quantity(value, path, struct)
        if reference == INT_OR_STRING:
            if isinstance(value, bool) or not isinstance(value, (int, str)):
                raise self._mismatch(value, path, struct, "intstr.IntOrString")
            return value
        resolved = self._schemas.resolve(schema)
        kind = _type(resolved)
        if kind is None:
            return value
        if not _fits(kind, value):
            raise self._mismatch(value, path, struct, _go_type(kind, resolved, reference))
        if kind == "object":
            return self._object(resolved, value, path, reference.rpartition(".")[2] or struct, found)
        if kind == "array":
            items = resolved.get("items", {})
            return [self._value(items, item, f"{path}[{index}]", struct, found) for index, item in enumerate(value)]
        if resolved.get("format") == "byte":
            self._base64(value)
        return value

    def _object(self, schema: Schema, value: Mapping[str, Any], path: str, struct: str, found: Decoded) -> dict[str, Any]:
        properties = schema.get("properties")
        if properties is None:
            rest = schema.get("additionalProperties")
            if not isinstance(rest, Mapping):
                return dict(value)
            return {key: self._value(rest, item, f"{path}.{key}", struct, found) for key, item in value.items() if item is not None}
        read = {}
        for key, item in value.items():
            inner = f"{path}.{key}" if path else key
            if key not in properties:
                found.unknown.append(inner)
            elif item is not None:
                read[key] = self._value(properties[key], item, inner, struct, found)
        if path != "status" and not path.startswith("status."):
            names = [name for name in schema.get("required", ()) if name not in read]
            found.missing += [status.required(f"{path}.{name}" if path else name) for name in names]
        return read

    def _quantity(self, value: Any, path: str, struct: str) -> str:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            value = str(value)
        if not isinstance(value, str):
            raise self._mismatch(value, path, struct, "resource.Quantity")
        if _NUMBER.fullmatch(value) is None:
            raise self._unreadable(_QUANTITY_TEXT)
        return value

    def _base64(self, value: str) -> None:
        try:
            base64.b64decode(value, validate=True)
        except (binascii.Error, ValueError):
            raise self._unreadable("illegal base64 data at input byte 0") from None

    def _mismatch(self, value: Any, path: str, struct: str, wanted: str) -> ApiError:
        plain = re.sub(r"\[\d+\]", "", path)
        return self._unreadable(
            f"json: cannot unmarshal {_json_type(value)} into Go struct field {struct}.{plain} of type {wanted}"
        )

    def _unreadable(self, detail: str) -> ApiError:
        return status.bad_request(f'{self._kind} in version "{self._version}" cannot be handled as a {self._kind}: {detail}')


def _type(schema: Schema) -> str | None:
    kind = schema.get("type")
    if isinstance(kind, list):
        return next((one for one in kind if one != "null"), None)
    return kind


def _fits(kind: str, value: Any) -> bool:
    if kind in ("integer", "number"):
        wanted = int if kind == "integer" else (int, float)
        return isinstance(value, wanted) and not isinstance(value, bool)
    return isinstance(value, _PYTHON[kind])


def _go_type(kind: str, schema: Schema, reference: str) -> str:
    if kind == "integer":
        return str(schema.get("format", "int"))
    if reference and kind == "object":
        return ".".join(reference.split(".")[-2:])
    return _GO.get(kind, kind)


def _json_type(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, (int, float)):
        return "number"
    return next((word for kind, word in _JSON if isinstance(value, kind)), "null")
