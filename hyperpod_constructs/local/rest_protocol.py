"""The REST-JSON protocol: a request's method and path name the operation; its members lie in path, query and body."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple
from urllib.parse import unquote

from botocore.model import OperationModel, Shape

from hyperpod_constructs.local.aws_service import AwsError
from hyperpod_constructs.local.json_protocol import JsonService
from hyperpod_constructs.local.judging import Request, Response, read_json

_LABEL = re.compile(r"\{([A-Za-z]+)\}")
_BOOLEANS = {"true": True, "false": False}


class Route(NamedTuple):
    """An operation with the paths that name it."""

    operation: OperationModel
    method: str
    path: re.Pattern[str]
    literals: int
    """How many parts of the path are fixed: a path that two routes know belongs to the one with more."""


class RestService(JsonService):
    """One service on the wire."""

    def routed(self, method: str, path: str) -> tuple[str, dict[str, str]]:
        """The name of the operation, and the members in the path.

        :raises AwsError: for a path that names no operation.
        """
        operation, members = self._route(method, path)
        return operation.name, members

    def _operation(self, request: Request) -> OperationModel:
        method, path, *_ = request
        return self._route(method, path)[0]

    def _members(self, request: Request) -> dict[str, Any]:
        method, path, _, body, query = request
        operation, members = self._route(method, path)
        shape = operation.input_shape
        found: dict[str, Any] = dict(members)
        if shape is None:
            return found
        in_body = {name for name, member in shape.members.items() if "location" not in member.serialization}
        if in_body:
            found |= {name: value for name, value in read_json(body).items() if name in in_body or name not in shape.members}
        for name, member in shape.members.items():
            values = query.get(member.serialization.get("name", name))
            if member.serialization.get("location") == "querystring" and values:
                found[name] = _read_text(member, values, name)
        return found

    def _route(self, method: str, path: str) -> tuple[OperationModel, dict[str, str]]:
        for route in self._routes:
            if route.method == method and (match := route.path.fullmatch(path)):
                return route.operation, _by_member(route.operation, match.groupdict())
        raise AwsError("UnknownOperationException", f"the service has no operation at {method} {path[:200]}", 404)

    @cached_property
    def _routes(self) -> Sequence[Route]:
        routes = [_route(self._model.operation_model(name)) for name in self._model.operation_names]
        return sorted(routes, key=lambda route: -route.literals)

    def _error(self, error: AwsError) -> Response:
        known = self._model.shape_for(error.code) if error.code in self._model.shape_names else None
        status = error.status if known is None else known.metadata.get("error", {}).get("httpStatusCode", error.status)
        return super()._error(AwsError(error.code, error.message, status))


def _route(operation: OperationModel) -> Route:
    uri = operation.http["requestUri"]
    # A name has no slash; an ARN in a path has some.
    path = _LABEL.sub(lambda label: f"(?P<{label[1]}>{'.+?' if label[1].endswith('Arn') else '[^/]+'})", uri)
    literals = sum(1 for part in uri.split("/") if part and not _LABEL.fullmatch(part))
    return Route(operation, operation.http["method"], re.compile(path), literals)


def _by_member(operation: OperationModel, labels: Mapping[str, str]) -> dict[str, str]:
    assert operation.input_shape is not None
    return {
        name: unquote(labels[member.serialization["name"]])
        for name, member in operation.input_shape.members.items()
        if member.serialization.get("location") == "uri"
    }


def _read_text(shape: Shape, values: Sequence[str], name: str) -> Any:
    if shape.type_name == "list":
        return list(values)
    try:
        if shape.type_name == "integer":
            return int(values[-1])
        return _BOOLEANS[values[-1].lower()] if shape.type_name == "boolean" else values[-1]
    except (ValueError, KeyError):
        raise AwsError(
            "InvalidParameterException", f"{name}: found {values[-1][:60]!r}; it must be of the type {shape.type_name}"
        ) from None
