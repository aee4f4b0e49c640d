"""Judges requests by botocore's model of their service, before a handler sees them.

A request that the model forbids is the caller's mistake: an unknown operation, a missing member, another type, an unreadable body.
The answer is 4xx in the protocol's shape. An allowed request goes on to the handler; an error there stays an error of ours.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import parse_qsl
from xml.sax.saxutils import escape

from botocore.model import ListShape, MapShape, OperationModel, ServiceModel, Shape, StructureShape
from botocore.validate import ParamValidator

from hyperpod_constructs.local.aws_service import AwsError

Response = tuple[int, dict[str, str], bytes]
Request = tuple[str, str, Mapping[str, str], bytes, Mapping[str, list[str]]]

PROTOCOLS = frozenset({"json", "query", "ec2"})
"""The protocols with judged requests. Other protocols spread a request over path, headers and body; only failures are judged."""
_NUMBERS = {"integer": int, "long": int, "float": float, "double": float}
_BOOLEANS = {"true": True, "false": False}


def target(headers: Mapping[str, str]) -> str:
    """The operation that a request of the JSON protocol names."""
    return headers.get("x-amz-target", "").rpartition(".")[2]


class Judge:
    """Judges the requests to one service in `protocol`; by default, the protocol of the model."""

    def __init__(self, model: ServiceModel, protocol: str | None = None) -> None:
        self._model = model
        self.protocol = str(model.metadata["protocol"]) if protocol is None else protocol

    def reads(self, request: Request) -> bool:
        """Whether the request comes in a protocol that is judged: a service may have others beside."""
        _, _, headers, _, query = request
        if self.protocol in ("query", "ec2"):
            return "Action" in query or "form-urlencoded" in headers.get("content-type", "form-urlencoded")
        return self.protocol in PROTOCOLS

    def refusal(self, request: Request) -> Response | None:
        """The answer to a forbidden request; None for an allowed one."""
        _, _, headers, body, query = request
        try:
            if self.protocol == "json":
                read_parameters(self._operation(target(headers)), read_json(body))
            else:
                self._read_fields(fields(body, query))
        except AwsError as error:
            return answered(self.protocol, error)
        return None

    def excuse(self, request: Request) -> Response | None:
        """The answer to a failed request of another protocol: 4xx for an unreadable body, else None."""
        _, _, headers, body, _ = request
        try:
            if self.protocol == "rest-json" and body and "json" in headers.get("content-type", "json"):
                read_json(body)
        except AwsError as error:
            return answered(self.protocol, error)
        return None

    def _operation(self, name: str) -> OperationModel:
        if name not in self._model.operation_names:
            raise AwsError(_code(self.protocol, "unknown"), f"The action {name[:100]!r} is not valid for this service")
        return self._model.operation_model(name)

    def _read_fields(self, found: Mapping[str, str]) -> None:
        operation = self._operation(found.get("Action", ""))
        if operation.input_shape is None:
            return
        problems: list[str] = []
        value = _FieldReader(self.protocol == "ec2", problems).read(operation.input_shape, _tree(found), "")
        problems += problems_of(operation.input_shape, value)
        if problems:
            raise AwsError(_code(self.protocol, "invalid"), summary(problems))


def fields(body: bytes, query: Mapping[str, list[str]]) -> dict[str, str]:
    """The flat fields of a request of the query protocols.

    :raises AwsError: for a body that is no text.
    """
    try:
        pairs = parse_qsl(body.decode(), keep_blank_values=True)
    except (UnicodeDecodeError, ValueError) as error:
        raise AwsError("MalformedQueryString", f"the body is not form-encoded text: {error}") from error
    return {**{name: values[-1] for name, values in query.items()}, **dict(pairs)}


def read_json(body: bytes) -> dict[str, Any]:
    """The object that a JSON body holds.

    :raises AwsError: for anything else, also for NaN, half characters and endless nesting.
    """
    try:
        found = json.loads(body or b"{}", parse_constant=_refuse_constant)
        if b"\\u" in body:
            json.dumps(found, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise AwsError("SerializationException", f"the body is not json: {error}") from error
    if not isinstance(found, dict):
        raise AwsError("SerializationException", "the body is not a json object")
    return found


def read_parameters(operation: OperationModel, members: dict[str, Any], code: str = "ValidationException") -> dict[str, Any]:
    """The members without those that are null, which count as absent.

    :raises AwsError: if the model forbids them.
    """
    given = {name: value for name, value in members.items() if value is not None}
    if operation.input_shape is not None and (problems := problems_of(operation.input_shape, given)):
        raise AwsError(code, summary(problems))
    return given


def problems_of(shape: Shape, value: Mapping[str, Any]) -> list[str]:
    """What botocore's validator finds wrong with the types and the required members of a value."""
    try:
        found = ParamValidator().validate(value, shape)
    except (ArithmeticError, ValueError, TypeError, OSError, RecursionError) as error:
        return [f"a value is out of range: {error}"]
    return [found.generate_report()] if found.has_errors() else []


def summary(problems: list[str]) -> str:
    """The problems in one message."""
    plural = "" if len(problems) == 1 else "s"
    return f"{len(problems)} validation error{plural} detected: " + "; ".join(problems)


def answered(protocol: str, error: AwsError) -> Response:
    """The error as the protocol spells it."""
    if protocol in ("json", "rest-json"):
        headers = {"Content-Type": "application/x-amz-json-1.1", "x-amzn-ErrorType": error.code}
        return error.status, headers, json.dumps({"__type": error.code, "message": error.message}).encode()
    identifier = "00000000-0000-4000-8000-000000000000"
    code, message = escape(error.code), escape(_printable(error.message))
    inner = f"<Code>{code}</Code><Message>{message}</Message>"
    body = {
        "ec2": f"<Response><Errors><Error>{inner}</Error></Errors><RequestID>{identifier}</RequestID></Response>",
        "rest-xml": f"<Error>{inner}<RequestId>{identifier}</RequestId></Error>",
    }.get(
        protocol,
        f"<ErrorResponse><Error><Type>{'Sender' if error.status < 500 else 'Receiver'}</Type>{inner}</Error>"
        f"<RequestId>{identifier}</RequestId></ErrorResponse>",
    )
    return error.status, {"Content-Type": "text/xml"}, body.encode("utf-8", "replace")


def _printable(text: str) -> str:
    """The text without characters that XML cannot hold."""
    return "".join(character if character.isprintable() or character in "\n\t" else "�" for character in text)


def _code(protocol: str, problem: str) -> str:
    codes = {
        "json": {"unknown": "UnknownOperationException", "invalid": "ValidationException"},
        "query": {"unknown": "InvalidAction", "invalid": "ValidationError"},
        "ec2": {"unknown": "InvalidAction", "invalid": "InvalidParameterValue"},
    }
    return codes[protocol][problem]


def _refuse_constant(name: str) -> None:
    raise ValueError(f"found {name}, which json has not")


def _tree(found: Mapping[str, str]) -> dict[str, Any]:
    """The fields by the parts of their names: `A.member.1=x` is `{"A": {"member": {"1": {"": "x"}}}}`."""
    tree: dict[str, Any] = {}
    for name, value in found.items():
        node = tree
        for part in name.split(".", _DEEPEST):
            node = node.setdefault(part, {})
        node[""] = value
    return tree


_DEEPEST = 40
"""Parts of a field's name; a name with more is of no model."""


class _FieldReader:
    """Reads a tree of fields as the value of a shape, and notes what cannot be read."""

    def __init__(self, ec2: bool, problems: list[str]) -> None:
        self._ec2 = ec2
        self._problems = problems

    def read(self, shape: Shape, node: Mapping[str, Any], at: str) -> Any:
        if isinstance(shape, StructureShape):
            return self._structure(shape, node, at)
        if isinstance(shape, ListShape):
            return [self.read(shape.member, item, f"{at}.{number}") for number, item in self._items(shape, node, at)]
        return {} if isinstance(shape, MapShape) else self._scalar(shape, node, at)

    def _structure(self, shape: StructureShape, node: Mapping[str, Any], at: str) -> dict[str, Any]:
        found = {}
        for name, member in shape.members.items():
            wire = self._wire_name(name, member)
            if wire in node:
                found[name] = self.read(member, node[wire], f"{at}.{wire}" if at else wire)
        return found

    def _wire_name(self, name: str, member: Shape) -> str:
        written = member.serialization
        if not self._ec2:
            return str(written.get("name", name))
        plain = str(written.get("name", name))
        return str(written.get("queryName", plain[:1].upper() + plain[1:]))

    def _items(self, shape: ListShape, node: Mapping[str, Any], at: str) -> Iterable[tuple[str, Mapping[str, Any]]]:
        wrapped = node.get("member", node.get(shape.member.serialization.get("name", "member"), node))
        if not isinstance(wrapped, Mapping):
            return ()
        odd = [key for key in wrapped if key and not (key.isascii() and key.isdigit())]
        if odd or wrapped.get(""):
            self._problems.append(f"{at}: found {(odd or [wrapped['']])[0][:60]!r}; it must be a list, {at}.1 and so on")
            return ()
        return sorted(((key, item) for key, item in wrapped.items() if key), key=lambda pair: (len(pair[0]), pair[0]))

    def _scalar(self, shape: Shape, node: Mapping[str, Any], at: str) -> Any:
        text = node.get("")
        if text is None:
            self._problems.append(f"{at}: found members; it must be one value")
            return None
        try:
            if shape.type_name in _NUMBERS:
                return _NUMBERS[shape.type_name](text)
            return _BOOLEANS[text.lower()] if shape.type_name == "boolean" else text
        except (ValueError, KeyError):
            self._problems.append(f"{at}: found {text[:60]!r}; it must be of the type {shape.type_name}")
            return None
