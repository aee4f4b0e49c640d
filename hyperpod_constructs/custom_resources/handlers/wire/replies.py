"""Replies: what an answer says, in the types of the model."""

from __future__ import annotations

import base64
import http.client
import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from . import times
from .connections import Answer, UnreadableAnswerError
from .models import Operation, Service, Shape

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

# Most characters of an error's message; longer ones go to a log and to CloudFormation nowhere.
_MESSAGE = 20_000

_WHOLE = ("integer", "long")


def reply(service: Service, operation: Operation, answer: Answer) -> dict[str, Any]:
    """The members of an answer, or of an error, with `ResponseMetadata`.

    :raises UnreadableAnswerError: for an answer that does not fit the model.
    """
    try:
        found = _error_of(service, answer) if answer.status >= 300 else _RESULTS[service.protocol](operation, answer)
    except (ValueError, TypeError, RecursionError) as error:
        reason = f"the answer with status {answer.status} cannot be read: {str(error)[:200]}"
        raise UnreadableAnswerError(reason=reason) from None
    known = {"HTTPStatusCode": answer.status, "HTTPHeaders": dict(answer.headers)}
    identity = answer.headers.get("x-amzn-requestid") or answer.headers.get("x-amz-request-id")
    return {**found, "ResponseMetadata": {**_identified(identity), **found.get("ResponseMetadata", {}), **known}}


def _identified(identity: str | None) -> dict[str, str]:
    return {"RequestId": identity} if identity else {}


def _error(code: str, message: str) -> dict[str, Any]:
    return {"Error": {"Code": code, "Message": message[:_MESSAGE]}}


def _error_of(service: Service, answer: Answer) -> dict[str, Any]:
    text = answer.body.strip()
    if answer.status >= 500 and (not text or text.startswith(b"<html>")):  # of a load balancer, say
        return _plain_error(answer.status)
    found: dict[str, Any] = _ERRORS[service.protocol](answer)
    return found


def _plain_error(status: int) -> dict[str, Any]:
    return _error(str(status), http.client.responses.get(status, ""))


# JSON


def _json_error(answer: Answer) -> dict[str, Any]:
    text = answer.body.decode(errors="replace")
    try:
        said = json.loads(text or "{}")
    except ValueError:
        said = {"message": text}
    said = said if isinstance(said, dict) else {"message": text}
    code = str(said.get("__type") or answer.status).partition(":")[0].rpartition("#")[2]
    return _error(code, str(said.get("message", said.get("Message")) or ""))


def _json_result(operation: Operation, answer: Answer) -> dict[str, Any]:
    if operation.output_shape is None or not answer.body:
        return {}
    found: dict[str, Any] = _of_json(operation.output_shape, json.loads(answer.body))
    return found


def _of_json(shape: Shape, value: Any) -> Any:
    """A value of JSON; members that are null or unknown are left out."""
    if shape.type_name == "structure":
        known = [name for name in shape.members if _expected(dict, value).get(name) is not None]
        return {name: _of_json(shape.members[name], value[name]) for name in known}
    if shape.type_name == "list":
        return [None if item is None else _of_json(shape.member, item) for item in _expected(list, value)]
    if shape.type_name == "map":
        return {name: None if item is None else _of_json(shape.value, item) for name, item in _expected(dict, value).items()}
    if shape.type_name == "timestamp":
        return times.moment(value)
    return base64.b64decode(value) if shape.type_name == "blob" else value


def _expected(kind: type, value: Any) -> Any:
    if not isinstance(value, kind):
        raise TypeError(f"a {kind.__name__} was expected, and {type(value).__name__} was found")
    return value


# XML


def _xml_error(answer: Answer) -> dict[str, Any]:
    root = _root(answer.body)
    found = next((part for part in root.iter() if _tag(part) == "Error"), root)
    said = {_tag(part): part.text or "" for part in found}
    identity = next((part.text or "" for part in root.iter() if _tag(part) in ("RequestId", "RequestID")), "")
    return {**_error(said.get("Code", str(answer.status)), said.get("Message", "")), "ResponseMetadata": _identified(identity)}


def _rest_error(answer: Answer) -> dict[str, Any]:
    return _xml_error(answer) if answer.body else _plain_error(answer.status)


def _xml_result(operation: Operation, answer: Answer) -> dict[str, Any]:
    root = _root(answer.body)
    start = next((part for part in root if _tag(part) == operation.wrapper), None) if operation.wrapper else root
    if start is None:
        raise ValueError(f"it has no {operation.wrapper}")
    found: dict[str, Any] = _of_xml(operation.output_shape, start) if operation.output_shape else {}
    identity = next((part.text or "" for part in _identities(root)), "")
    return {**found, "ResponseMetadata": _identified(identity)}


def _identities(root: Element) -> Iterator[Element]:
    for part in root:
        if _tag(part) == "requestId":
            yield part
        elif _tag(part) == "ResponseMetadata":
            yield from (inner for inner in part if _tag(inner) == "RequestId")


def _rest_result(operation: Operation, answer: Answer) -> dict[str, Any]:
    found = {}
    for name, shape in operation.output_shape.members.items() if operation.output_shape else ():
        text = answer.headers.get(shape.metadata["locationName"].lower())
        if text is not None:
            found[name] = _of_text(shape, text)
    return found


def _root(body: bytes) -> Element:
    from xml.etree import ElementTree

    # Without a document type there are no entities. No encoding can hide one: UTF-16 has zeros, and others are not taken.
    if b"<!DOCTYPE" in body or b"\0" in body:
        raise ValueError("it declares a document type, or is not in UTF-8")
    try:
        return ElementTree.fromstring(body, ElementTree.XMLParser(encoding="utf-8"))
    except ElementTree.ParseError as error:
        raise ValueError(f"it is no XML: {error}") from None


def _of_xml(shape: Shape, part: Element) -> Any:
    if shape.type_name == "structure":
        parts = {_tag(inner): inner for inner in reversed(part)}
        places = {name: member.metadata.get("locationName", name) for name, member in shape.members.items()}
        return {name: _of_xml(shape.members[name], parts[place]) for name, place in places.items() if place in parts}
    if shape.type_name == "list":
        return [_of_xml(shape.member, inner) for inner in part]
    return _of_text(shape, part.text or "")


def _of_text(shape: Shape, text: str) -> Any:
    if shape.type_name in _WHOLE:
        return int(text)
    if shape.type_name == "boolean":
        return text == "true"
    return times.moment(text) if shape.type_name == "timestamp" else text


def _tag(part: Element) -> str:
    return part.tag.rpartition("}")[2]


_ERRORS: Mapping[str, Any] = {"json": _json_error, "query": _xml_error, "ec2": _xml_error, "rest-xml": _rest_error}
_RESULTS: Mapping[str, Any] = {"json": _json_result, "query": _xml_result, "ec2": _xml_result, "rest-xml": _rest_result}
