"""Errors of the API as `Status` objects, worded as the API server words them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any


@dataclass(frozen=True, slots=True)
class Cause:
    """One wrong field: its path, what is wrong by the API's word for it, and the sentence."""

    field: str
    reason: str
    message: str

    def render(self) -> dict[str, str]:
        """As a cause of a `Status`."""
        return {"reason": self.reason, "message": self.message, "field": self.field}

    def __str__(self) -> str:
        return f"{self.field}: {self.message}" if self.field else self.message


def shown(value: Any) -> str:
    """A value as it stands in a message."""
    return json.dumps(value, ensure_ascii=False)


def required(path: str, detail: str = "") -> Cause:
    """A field that is missing."""
    return Cause(path, "FieldValueRequired", "Required value" + (f": {detail}" if detail else ""))


def invalid_value(path: str, value: Any, detail: str) -> Cause:
    """A value that is not allowed."""
    return Cause(path, "FieldValueInvalid", f"Invalid value: {shown(value)}: {detail}")


def wrong_type(path: str, found: Any, detail: str) -> Cause:
    """A value of another type."""
    return Cause(path, "FieldValueTypeInvalid", f"Invalid value: {shown(found)}: {detail}")


def unsupported(path: str, value: Any, supported: Iterable[Any]) -> Cause:
    """A value outside a list."""
    listed = ", ".join(shown(one) for one in supported)
    return Cause(path, "FieldValueNotSupported", f"Unsupported value: {shown(value)}: supported values: {listed}")


def duplicate(path: str, value: Any) -> Cause:
    """A value that a list has twice."""
    return Cause(path, "FieldValueDuplicate", f"Duplicate value: {shown(value)}")


def forbidden_field(path: str, detail: str) -> Cause:
    """A field that may not be set."""
    return Cause(path, "FieldValueForbidden", f"Forbidden: {detail}")


def too_long(path: str, limit: int) -> Cause:
    """A string over its length."""
    return Cause(path, "FieldValueTooLong", f"Too long: may not be more than {limit} bytes")


def too_many(path: str, found: int, limit: int) -> Cause:
    """A list over its length."""
    return Cause(path, "FieldValueTooMany", f"Too many: {found}: must have at most {limit} items")


@dataclass
class ApiError(Exception):
    """A refusal, which `render` turns into a `Status`."""

    code: int
    reason: str
    message: str
    details: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.message

    def render(self) -> dict[str, Any]:
        """The `Status` object."""
        status = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
            "reason": self.reason,
            "code": self.code,
        }
        if self.details:
            status["details"] = dict(self.details)
        return status


@dataclass(frozen=True, slots=True)
class Named:
    """What an error is about: a resource such as `deployments.apps`, its parts, and the object's name."""

    group: str
    plural: str
    kind: str
    name: str = ""

    @property
    def resource(self) -> str:
        """The resource with its group."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def qualified_kind(self) -> str:
        """The kind with its group."""
        return f"{self.kind}.{self.group}" if self.group else self.kind

    def details(self, *, kind: bool = False) -> dict[str, Any]:
        """The details of a `Status`."""
        found = {"name": self.name, "group": self.group, "kind": self.kind if kind else self.plural}
        return {key: value for key, value in found.items() if value}


def bad_request(message: str) -> ApiError:
    """400: the request cannot be understood."""
    return ApiError(HTTPStatus.BAD_REQUEST, "BadRequest", message)


def unauthorized() -> ApiError:
    """401: a token of nobody."""
    return ApiError(HTTPStatus.UNAUTHORIZED, "Unauthorized", "Unauthorized")


def forbidden(named: Named, detail: str, causes: Sequence[Mapping[str, str]] = ()) -> ApiError:
    """403: somebody without the right."""
    subject = f'{named.resource} "{named.name}"' if named.name else named.resource
    details = {**named.details(), **({"causes": list(causes)} if causes else {})}
    return ApiError(HTTPStatus.FORBIDDEN, "Forbidden", f"{subject} is forbidden: {detail}", details)


def forbidden_path(user: str, verb: str, path: str) -> ApiError:
    """403 for a path that is no resource."""
    return ApiError(HTTPStatus.FORBIDDEN, "Forbidden", f'forbidden: User "{user}" cannot {verb} path "{path}"')


def not_found(named: Named) -> ApiError:
    """404 for an object."""
    return ApiError(HTTPStatus.NOT_FOUND, "NotFound", f'{named.resource} "{named.name}" not found', named.details())


def no_such_path() -> ApiError:
    """404 for a path."""
    return ApiError(HTTPStatus.NOT_FOUND, "NotFound", "the server could not find the requested resource")


def not_allowed() -> ApiError:
    """405: the resource has no such verb."""
    return ApiError(
        HTTPStatus.METHOD_NOT_ALLOWED, "MethodNotAllowed", "the server does not allow this method on the requested resource"
    )


def not_acceptable(offered: str) -> ApiError:
    """406: none of the wanted formats."""
    message = f"only the following media types are accepted: {offered}"
    return ApiError(HTTPStatus.NOT_ACCEPTABLE, "NotAcceptable", message)


def exists(named: Named) -> ApiError:
    """409: the name is taken."""
    return ApiError(HTTPStatus.CONFLICT, "AlreadyExists", f'{named.resource} "{named.name}" already exists', named.details())


def conflict(named: Named, detail: str, causes: Sequence[Mapping[str, str]] = ()) -> ApiError:
    """409: somebody else was faster."""
    message = f'Operation cannot be fulfilled on {named.resource} "{named.name}": {detail}'
    details = {**named.details(), **({"causes": list(causes)} if causes else {})}
    return ApiError(HTTPStatus.CONFLICT, "Conflict", message, details)


MODIFIED = "the object has been modified; please apply your changes to the latest version and try again"


def expired(message: str) -> ApiError:
    """410: older than what is kept."""
    return ApiError(HTTPStatus.GONE, "Expired", message)


def too_large(limit: int) -> ApiError:
    """413: more than the server reads."""
    message = f"Request entity too large: limit is {limit}"
    return ApiError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "RequestEntityTooLarge", message)


def unsupported_media(offered: str) -> ApiError:
    """415: a body in another format."""
    message = f"the body of the request was in an unknown format - accepted media types include: {offered}"
    return ApiError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "UnsupportedMediaType", message)


def invalid(named: Named, causes: Sequence[Cause]) -> ApiError:
    """422: fields that are wrong."""
    texts = [str(cause) for cause in causes]
    listed = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    details = {**named.details(kind=True), "causes": [cause.render() for cause in causes]}
    message = f'{named.qualified_kind} "{named.name}" is invalid: {listed}'
    return ApiError(HTTPStatus.UNPROCESSABLE_ENTITY, "Invalid", message, details)


def too_many_requests(message: str) -> ApiError:
    """429: a bound is reached."""
    return ApiError(HTTPStatus.TOO_MANY_REQUESTS, "TooManyRequests", message, {"retryAfterSeconds": 1})


def timed_out() -> ApiError:
    """408: the client was too slow."""
    return ApiError(HTTPStatus.REQUEST_TIMEOUT, "Timeout", "the request's body did not arrive in time")
