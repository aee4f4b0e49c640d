"""Bodies in Kubernetes' protobuf: typed clients of kubectl and Helm send a few kinds so, whatever the server offers.

The schemas say the types, `protobuf_fields` the numbers of the fields. A client whose protobuf is refused does not try JSON, so
what `kubectl create` sends must be read.
"""

from __future__ import annotations

import base64
import datetime
import json
from collections.abc import Iterator
from typing import Any

from hyperpod_constructs.local.kubernetes import status
from hyperpod_constructs.local.kubernetes.protobuf_fields import FIELDS, UNSET_ZEROS
from hyperpod_constructs.local.kubernetes.schemas import Schema, Schemas

MEDIA = "application/vnd.kubernetes.protobuf"
_MAGIC = b"k8s\x00"
_META = "io.k8s.apimachinery.pkg.apis.meta.v1."
_TIMES = (_META + "Time", _META + "MicroTime")
_QUANTITY = "io.k8s.apimachinery.pkg.api.resource.Quantity"
_INT_OR_STRING = "io.k8s.apimachinery.pkg.util.intstr.IntOrString"


def read(schemas: Schemas, body: bytes) -> dict[str, Any]:
    """The object of a body.

    :raises ApiError: 400 for what is broken, 415 for a kind whose numbers are not known here.
    """
    if not body.startswith(_MAGIC):
        raise status.bad_request("the body is no kubernetes protobuf: its first bytes are others")
    try:
        envelope = dict(_pairs(body[len(_MAGIC) :]))
        names = dict(_pairs(_bytes(envelope.get(1, b""))))
        api_version, kind = _bytes(names.get(1, b"")).decode(), _bytes(names.get(2, b"")).decode()
        name = _definition(schemas, api_version, kind)
        obj = _message(schemas, name, _bytes(envelope.get(2, b"")))
    except (IndexError, ValueError, OverflowError, RecursionError) as error:
        raise status.bad_request(f"the body is no kubernetes protobuf: {str(error)[:100]}") from None
    return {"apiVersion": api_version, "kind": kind, **obj}


def _definition(schemas: Schemas, api_version: str, kind: str) -> str:
    group, _, version = api_version.rpartition("/")
    name = _META + kind if kind == "DeleteOptions" else schemas.name(group, version, kind)
    if name is None or name not in FIELDS:
        raise _unread(kind or "body")
    return name


def _unread(what: str) -> status.ApiError:
    return status.ApiError(
        415,
        "UnsupportedMediaType",
        f"this double cannot read a {what} as protobuf; send json: kubectl create ... "
        "--dry-run=client -o json | kubectl apply -f -",
    )


def _message(schemas: Schemas, name: str, data: bytes) -> dict[str, Any]:
    fields, properties = FIELDS.get(name), schemas.definitions[name].get("properties", {})
    if fields is None:
        if not data:
            return {}
        raise _unread(name.rpartition(".")[2])
    found: dict[str, Any] = {}
    for number, value in _pairs(data):
        field = fields.get(number)
        if field is None or field not in properties or field == "status":
            continue  # Typed clients send an empty status with every object; the server writes its own.
        schema = properties[field]
        kind = _type(schema)
        if kind == "array":
            found.setdefault(field, []).append(_value(schemas, schema["items"], value))
        elif kind == "object" and "$ref" not in schema:
            entry = dict(_pairs(_bytes(value)))
            key = _bytes(entry.get(1, b"")).decode()
            found.setdefault(field, {})[key] = _value(schemas, schema["additionalProperties"], entry.get(2, b""))
        else:
            read = _value(schemas, schema, value)
            if field == "spec" or not (read in (None, {}, "") or (field in UNSET_ZEROS and not read)):
                found[field] = read
    return found


def _value(schemas: Schemas, schema: Schema, value: int | bytes) -> Any:
    reference = str(schema.get("$ref", "")).rpartition("/")[2]
    if reference in _TIMES:
        return _time(_bytes(value))
    if reference == _QUANTITY:
        return _bytes(dict(_pairs(_bytes(value))).get(1, b"")).decode()
    if reference == _INT_OR_STRING:
        either = dict(_pairs(_bytes(value)))
        return _bytes(either.get(3, b"")).decode() if either.get(1) else either.get(2, 0)
    if reference == _META + "FieldsV1":
        return json.loads(_bytes(dict(_pairs(_bytes(value))).get(1, b"{}")))
    if reference:
        return _message(schemas, reference, _bytes(value))
    kind = _type(schema)
    if kind == "boolean":
        return bool(value)
    if kind == "integer":
        if not isinstance(value, int):
            raise ValueError("a number is written as bytes")
        return value - 2**64 if value >= 2**63 else value
    return base64.b64encode(_bytes(value)).decode() if schema.get("format") == "byte" else _bytes(value).decode()


def _time(data: bytes) -> str | None:
    pairs = dict(_pairs(data))
    seconds = pairs.get(1, 0)
    if not isinstance(seconds, int) or not 0 < seconds < 2**36:
        return None
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _type(schema: Schema) -> str | None:
    kind = schema.get("type")
    return next((one for one in kind if one != "null"), None) if isinstance(kind, list) else kind


def _bytes(value: int | bytes) -> bytes:
    if not isinstance(value, bytes):
        raise ValueError("bytes are written as a number")
    return value


def _pairs(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Field numbers and values of a message."""
    position = 0
    while position < len(data):
        tag, position = _varint(data, position)
        number, wire = tag >> 3, tag & 7
        if wire == 0:
            value, position = _varint(data, position)
            yield number, value
            continue
        if wire == 2:
            length, position = _varint(data, position)
        elif wire in (1, 5):
            length = 8 if wire == 1 else 4
        else:
            raise ValueError(f"wire type {wire}")
        if position + length > len(data):
            raise ValueError("a field is longer than the body")
        yield number, data[position : position + length]
        position += length


def _varint(data: bytes, position: int) -> tuple[int, int]:
    found = shift = 0
    while True:
        byte = data[position]
        position += 1
        found |= (byte & 0x7F) << shift
        if byte < 0x80:
            return found, position
        shift += 7
        if shift > 63:
            raise ValueError("a number is too long")
