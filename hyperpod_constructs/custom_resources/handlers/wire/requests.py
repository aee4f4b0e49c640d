"""Requests: the form of parameters on the way to a service."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode, urlsplit

from botocore.exceptions import ParamValidationError

from . import times
from .models import Operation, Service, Shape
from .validation import problems

Naming = Callable[[Shape, str], str]

_FORM = "application/x-www-form-urlencoded; charset=utf-8"


class Request(NamedTuple):
    """An HTTP request."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes


def request(service: Service, operation: Operation, parameters: Mapping[str, Any], endpoint: str) -> Request:
    """The unsigned request of an operation.

    :param endpoint: the URL of the service.
    :raises ParamValidationError: for parameters that do not fit the model.
    """
    wrong = list(problems(operation.input_shape, parameters, "input"))
    if wrong:
        raise ParamValidationError(report="\n".join(wrong))
    headers, body = _content(service, operation, parameters)
    host = urlsplit(endpoint).netloc.rpartition("@")[2]
    url = endpoint.rstrip("/") + _path(operation, parameters)
    return Request(operation.method, url, {"Host": host, "User-Agent": "hyperpod-constructs", **headers}, body)


def _content(service: Service, operation: Operation, parameters: Mapping[str, Any]) -> tuple[dict[str, str], bytes]:
    shape = operation.input_shape
    if service.protocol == "json":
        target = f"{service.metadata['targetPrefix']}.{operation.name}"
        headers = {"X-Amz-Target": target, "Content-Type": f"application/x-amz-json-{service.metadata['jsonVersion']}"}
        return headers, json.dumps(_plain(shape, parameters)).encode()
    if service.protocol == "rest-xml":
        return _headers(shape, parameters), b""
    names = _ec2_name if service.protocol == "ec2" else _query_name
    form = [("Action", operation.name), ("Version", service.metadata["apiVersion"])]
    form += _members(shape, parameters, "", names)
    return {"Content-Type": _FORM}, urlencode(form).encode()


def _path(operation: Operation, parameters: Mapping[str, Any]) -> str:
    path = operation.path
    for name, shape in operation.input_shape.members.items():
        if shape.metadata.get("location") == "uri":
            path = path.replace(f"{{{shape.metadata['locationName']}}}", quote(parameters[name], safe="-._~"))
    return path


def _headers(shape: Shape, parameters: Mapping[str, Any]) -> dict[str, str]:
    places = {name: shape.members[name].metadata for name in parameters}
    return {place["locationName"]: parameters[name] for name, place in places.items() if place.get("location") == "header"}


def _plain(shape: Shape, value: Any) -> Any:
    """A value as JSON has it."""
    if shape.type_name == "structure":
        return {name: _plain(shape.members[name], item) for name, item in value.items()}
    if shape.type_name == "list":
        return [_plain(shape.member, item) for item in value]
    if shape.type_name == "map":
        return {name: _plain(shape.value, item) for name, item in value.items()}
    if shape.type_name == "timestamp":
        return times.epoch(value)
    return _base64(value) if shape.type_name == "blob" else value


def _members(shape: Shape, value: Mapping[str, Any], prefix: str, names: Naming) -> Iterator[tuple[str, str]]:
    for name, item in value.items():
        member = shape.members[name]
        yield from _pairs(member, item, prefix + names(member, name), names)


def _pairs(shape: Shape, value: Any, name: str, names: Naming) -> Iterator[tuple[str, str]]:
    """A value as fields of a form."""
    if shape.type_name == "structure":
        yield from _members(shape, value, f"{name}.", names)
    elif shape.type_name == "list":
        if not value and names is _query_name:
            yield name, ""
        above = name if names is _ec2_name else f"{name}.{names(shape.member, 'member')}"
        for number, item in enumerate(value, 1):
            yield from _pairs(shape.member, item, f"{above}.{number}", names)
    else:
        yield name, _text(shape, value)


def _text(shape: Shape, value: Any) -> str:
    if shape.type_name == "boolean":
        return "true" if value else "false"
    if shape.type_name == "timestamp":
        return times.iso(value)
    return _base64(value) if shape.type_name == "blob" else str(value)


def _query_name(shape: Shape, name: str) -> str:
    return str(shape.metadata.get("locationName", name))


def _ec2_name(shape: Shape, name: str) -> str:
    own = str(shape.metadata.get("locationName", name))
    return str(shape.metadata.get("queryName", own[0].upper() + own[1:]))


def _base64(value: bytes | bytearray | str) -> str:
    return base64.b64encode(value.encode() if isinstance(value, str) else value).decode()
