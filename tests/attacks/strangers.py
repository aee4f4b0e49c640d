"""Requests of strangers: a seeded generator that knows the services' models and breaks them in many ways."""

from __future__ import annotations

import json
import random
import string
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from botocore.loaders import Loader
from botocore.model import ListShape, MapShape, OperationModel, ServiceModel, Shape, StructureShape

SERVICES = (
    *("sagemaker", "fsx", "ec2", "s3", "cloudformation", "iam", "sts", "ssm", "lambda", "logs", "stepfunctions", "events", "kms"),
    *("secretsmanager", "sns", "cloudwatch"),
)
SERVED = {
    "sagemaker": ("Cluster", "Tags"),
    "fsx": ("FileSystem", "Association", "Resource"),
    "ec2": ("Vpc", "Subnet", "SecurityGroup", "Route", "Address", "Gateway", "NetworkInterface", "FlowLog", "Tags", "Zones"),
}
"""Parts of the names of most tested operations; the embedded AWS answers the others alike."""
ODD_NUMBERS = (0, -1, 2**31, -(2**63), 10**40, 1e308, float("nan"), float("inf"), float("-inf"))
ODD_TEXTS = (
    "",
    " ",
    "\x00",
    "\ud7ff\uffff",
    "ü" * 300,
    "../../etc/passwd",
    "arn:aws:iam::",
    "{{x}}",
    "%s%n",
    "a" * 5000,
    "<a>&b;",
    "🦄",
)
ODD_VALUES: tuple[Any, ...] = (None, True, [], {}, [[]], {"a": {"b": []}}, *ODD_NUMBERS, *ODD_TEXTS)
ODD_BODIES = (b"{", b"[]", b"null", b"\xff\xfe{}", b'{"a": ' * 3000, b"<a><b></a>", b"a=%zz&=&&b", b"\x00" * 64, b"NaN", b'"text"')


class Request(NamedTuple):
    """One request, unsigned; `attack` names it in a report."""

    attack: str
    service: str
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@cache
def model(service: str) -> ServiceModel:
    """botocore's model of a service."""
    return ServiceModel(Loader().load_service_model(service, "service-2"), service)


def requests(service: str, seed: int, of_each: int) -> Iterator[Request]:
    """A number of requests to a service, equal for equal seeds."""
    stranger = Stranger(service, random.Random(f"{seed} {service}"))
    for _ in range(of_each):
        yield stranger.request()


class Stranger:
    """Makes requests to one service."""

    def __init__(self, service: str, source: random.Random) -> None:
        self._service = service
        self._model = model(service)
        self._random = source
        names = list(self._model.operation_names)
        parts = SERVED.get(service, ("",))
        self._names = [name for name in names if any(part in name for part in parts)]
        self._attacks: tuple[Callable[[], Request], ...] = (
            *(self._complete,) * 3,
            *(self._lacking,) * 3,
            *(self._mistyped,) * 3,
            self._empty,
            self._unknown,
            self._broken,
        )

    def request(self) -> Request:
        """The next request."""
        return self._random.choice(self._attacks)()

    def _operation(self) -> OperationModel:
        return self._model.operation_model(self._random.choice(self._names))

    def _complete(self) -> Request:
        """A valid request about things that do not exist."""
        operation = self._operation()
        return self._write("complete", operation, self._value(operation.input_shape))

    def _empty(self) -> Request:
        return self._write("empty", self._operation(), {})

    def _lacking(self) -> Request:
        operation = self._operation()
        members = self._value(operation.input_shape)
        for name in self._random.sample(sorted(members), min(len(members), self._random.randint(1, 3))):
            del members[name]
        return self._write("lacking", operation, members)

    def _mistyped(self) -> Request:
        operation = self._operation()
        members = self._value(operation.input_shape)
        known = sorted(operation.input_shape.members) if operation.input_shape is not None else []
        for name in self._random.sample(known, min(len(known), self._random.randint(1, 3))):
            members[name] = self._random.choice(ODD_VALUES)
        return self._write("mistyped", operation, members)

    def _unknown(self) -> Request:
        operation = self._operation()
        request = self._write("unknown", operation, self._value(operation.input_shape), name=f"{operation.name}Nowhere")
        return request._replace(path=request.path + "/nowhere") if self._rest else request

    def _broken(self) -> Request:
        request = self._write("broken", self._operation(), {})
        return request._replace(body=self._random.choice(ODD_BODIES))

    @property
    def _rest(self) -> bool:
        return self._protocol.startswith("rest")

    @property
    def _protocol(self) -> str:
        protocol = str(self._model.metadata["protocol"])
        return "query" if self._service == "cloudwatch" else protocol

    def _value(self, shape: Shape | None, depth: int = 0) -> Any:
        """A value of the shape: every required member, and now and then another."""
        if shape is None:
            return {}
        if isinstance(shape, StructureShape):
            optional = 0.25 if depth < 3 else 0.0
            names = [name for name in shape.members if name in shape.required_members or self._random.random() < optional]
            return {name: self._value(shape.members[name], depth + 1) for name in names}
        if isinstance(shape, ListShape):
            return [self._value(shape.member, depth + 1) for _ in range(self._random.randint(1, 2))] if depth < 6 else []
        if isinstance(shape, MapShape):
            return {self._text(shape.key): self._value(shape.value, depth + 1)} if depth < 6 else {}
        return self._scalar(shape)

    def _scalar(self, shape: Shape) -> Any:
        kind = shape.type_name
        if kind == "boolean":
            return self._random.random() < 0.5
        if kind in ("integer", "long", "float", "double"):
            low = int(shape.metadata.get("min", 0))
            return self._random.randint(low, min(int(shape.metadata.get("max", 100)), low + 100))
        if kind == "timestamp":
            return self._random.choice((0, 1_700_000_000, 1.5e9))
        return self._text(shape)

    def _text(self, shape: Shape) -> str:
        enum = shape.metadata.get("enum")
        if enum:
            return str(self._random.choice(enum))
        arn = f"arn:aws:{self._model.signing_name}:us-west-2:123456789012:thing/{self._random.randint(1, 9)}"
        word = "".join(self._random.choices(string.ascii_lowercase, k=max(3, int(shape.metadata.get("min", 3)))))
        return self._random.choice((word, arn, f"id-0{word}", "10.0.0.0/16", "{}", self._random.choice(ODD_TEXTS)))

    def _write(self, attack: str, operation: OperationModel, members: Mapping[str, Any], name: str | None = None) -> Request:
        action = operation.name if name is None else name
        label = f"{attack} {self._service} {action} {members!r:.200}"
        if self._rest:
            return self._write_rest(label, operation, members)
        if self._protocol == "json":
            version = self._model.metadata["jsonVersion"]
            target = f"{self._model.metadata['targetPrefix']}.{action}"
            headers = {"content-type": f"application/x-amz-json-{version}", "x-amz-target": target}
            return Request(label, self._service, "POST", "/", headers, json.dumps(members).encode())
        fields = [("Action", action), ("Version", self._model.api_version), *_flat("", members, self._protocol == "ec2")]
        body = urlencode([(key, value.encode("utf-8", "surrogatepass")) for key, value in fields]).encode()
        return Request(label, self._service, "POST", "/", {"content-type": "application/x-www-form-urlencoded"}, body)

    def _write_rest(self, label: str, operation: OperationModel, members: Mapping[str, Any]) -> Request:
        shape = operation.input_shape
        known = shape.members if shape is not None else {}
        path, query, headers, body = operation.http["requestUri"], [], {}, dict(members)
        for name, member in known.items():
            place, wire = member.serialization.get("location"), member.serialization.get("name", name)
            if place == "uri":
                value = quote(str(body.pop(name, "nothing")).encode("utf-8", "surrogatepass"), safe="") or "%20"
                path = path.replace(f"{{{wire}}}", value).replace(f"{{{wire}+}}", value)
            elif place in ("querystring", "header", "headers") and name in body:
                value = body.pop(name)
                if place == "querystring":
                    query.append((wire, str(value).encode("utf-8", "surrogatepass")))
                elif place == "header" and _is_header(str(value)):
                    headers[wire] = str(value)
        content = json.dumps(body) if self._protocol == "rest-json" else _xml("Body", body)
        joined = "&" if "?" in path else "?"
        path += joined + urlencode(query) if query else ""
        return Request(label, self._service, operation.http["method"], path, headers, content.encode("utf-8", "surrogatepass"))


def _is_header(value: str) -> bool:
    return value.isascii() and value.isprintable()


def _flat(prefix: str, value: Any, ec2: bool) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _flat(f"{prefix}.{key}" if prefix else str(key), item, ec2)
    elif isinstance(value, list):
        for number, item in enumerate(value, 1):
            yield from _flat(f"{prefix}.{number}" if ec2 else f"{prefix}.member.{number}", item, ec2)
    elif value is not None:
        yield prefix, str(value)


def _xml(name: str, value: Any) -> str:
    if isinstance(value, Mapping):
        return f"<{name}>" + "".join(_xml(key, item) for key, item in value.items()) + f"</{name}>"
    if isinstance(value, list):
        return "".join(_xml(name, item) for item in value)
    return f"<{name}>{value}</{name}>"
