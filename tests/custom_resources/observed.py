"""Clients that record every call of a handler and what it reads of the answers, and that can fail one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from botocore import xform_name
from botocore.exceptions import ClientError, ReadTimeoutError
from botocore.model import ServiceModel

from tests.custom_resources.remembered import plain
from tests.custom_resources.world import InProcessWorld

Path = tuple[str, ...]
Intervene = Callable[["Call", Callable[[], dict[str, Any]]], dict[str, Any]]

CALL_SECONDS = 35.0
"""How long a call takes that is never answered: the handlers' clients try twice and wait for 10 seconds each time."""


class Killed(BaseException):
    """The process has ended: nothing catches this."""


@dataclass
class Call:
    """One call of the handler: its number in the operation, and the members of the answer that were read."""

    number: int
    service: str
    operation: str
    parameters: dict[str, Any]
    takes: Callable[[float], None]
    read: set[Path] = field(default_factory=set)

    @property
    def actions(self) -> frozenset[str]:
        """What IAM asks for."""
        own = f"{self.service}:{self.operation}"
        return ACTIONS.get(own, frozenset({f"{SIGNED_AS.get(self.service, self.service)}:{self.operation}"}))


ACTIONS = {
    "s3:DeleteObjects": frozenset({"s3:DeleteObject"}),
    "s3:HeadBucket": frozenset({"s3:ListBucket"}),
    "s3:HeadObject": frozenset({"s3:GetObject"}),
    "s3:ListBuckets": frozenset({"s3:ListAllMyBuckets"}),
    "s3:ListObjectsV2": frozenset({"s3:ListBucket"}),
}
"""Operations whose action has another name. Source: the Service Authorization Reference."""

SIGNED_AS = {"service-quotas": "servicequotas", "stepfunctions": "states", "resourcegroupstaggingapi": "tag"}
"""boto3's names of services whose actions have another prefix."""


def action_of(call: Call) -> str:
    """The one action of a call."""
    [action] = call.actions
    return action


class Observed:
    """A factory of clients, given to a handler."""

    def __init__(self, world: InProcessWorld) -> None:
        self._world = world
        self.calls: list[Call] = []
        self.intervene: Intervene | None = None
        self.granted: frozenset[str] | None = None

    def __call__(self, service: str) -> Any:
        return _Client(self, service)

    def begin(self) -> None:
        """Count from the start again, without a fault."""
        self.calls, self.intervene = [], None

    def call(self, service: str, method: str, parameters: dict[str, Any]) -> Any:
        """One call."""
        client = self._world.client(service)
        name = _operations(client.meta.service_model).get(method)
        assert name is not None, f"{service} has no operation {method}: a handler calls operations only"
        call = Call(len(self.calls), service, name, parameters, self._world.clock.tick)
        self.calls.append(call)
        self._authorize(call)

        def perform() -> dict[str, Any]:
            answer: dict[str, Any] = getattr(client, method)(**plain(parameters))
            return answer

        answer = perform() if self.intervene is None else self.intervene(call, perform)
        return Watched(answer, call.read) if isinstance(answer, dict) else answer

    def _authorize(self, call: Call) -> None:
        missing = sorted(call.actions - self.granted) if self.granted is not None else []
        if missing:
            raise denied(call, missing[0])


@cache
def _operations(model: ServiceModel) -> dict[str, str]:
    """The operations of a service by the names of a client's methods."""
    return {xform_name(name): name for name in model.operation_names}


class _Client:
    def __init__(self, observed: Observed, service: str) -> None:
        self._observed, self._service = observed, service

    def __getattr__(self, method: str) -> Callable[..., Any]:
        return lambda **parameters: self._observed.call(self._service, method, parameters)


class Watched(dict[str, Any]):
    """A structure of an answer that notes which members are read, by their path; the elements of a list share one."""

    def __init__(self, content: dict[str, Any], read: set[Path], path: Path = ()) -> None:
        super().__init__({key: _watched(value, read, (*path, key)) for key, value in content.items()})
        self._read, self._path = read, path

    def _note(self, key: str) -> None:
        if key != "ResponseMetadata":
            self._read.add((*self._path, key))

    def __getitem__(self, key: str) -> Any:
        self._note(key)
        return super().__getitem__(key)

    def get(self, key: str, default: Any = None) -> Any:
        self._note(key)
        return super().get(key, default)

    def __contains__(self, key: object) -> bool:
        self._note(str(key))
        return super().__contains__(key)

    def __iter__(self) -> Iterator[str]:
        for key in super().__iter__():
            self._note(key)
        return super().__iter__()

    def keys(self) -> Any:
        list(self)
        return super().keys()

    def items(self) -> Any:
        list(self)
        return super().items()

    def values(self) -> Any:
        list(self)
        return super().values()


def _watched(value: Any, read: set[Path], path: Path) -> Any:
    if isinstance(value, dict):
        return Watched(value, read, path)
    return [_watched(item, read, path) for item in value] if isinstance(value, list) else value


def without(answer: Any, path: Path, *, null: bool) -> Any:
    """An answer in which this member is missing, or null, wherever it is."""
    if isinstance(answer, list):
        return [without(item, path, null=null) for item in answer]
    if not isinstance(answer, dict) or path[0] not in answer:
        return answer
    if len(path) > 1:
        return {**answer, path[0]: without(answer[path[0]], path[1:], null=null)}
    rest = {key: value for key, value in answer.items() if key != path[0]}
    return {**rest, path[0]: None} if null else rest


def denied(call: Call, action: str) -> ClientError:
    code = {"s3": "AccessDenied", "ec2": "UnauthorizedOperation", "iam": "AccessDenied"}.get(call.service, "AccessDeniedException")
    text = f"User: arn:aws:sts::123456789012:assumed-role/handler/handler is not authorized to perform: {action}"
    return _error(call, code, text, 403)


def throttled(call: Call) -> ClientError:
    code, status = {"s3": ("SlowDown", 503), "ec2": ("RequestLimitExceeded", 503)}.get(call.service, ("ThrottlingException", 400))
    return _error(call, code, "Rate exceeded", status)


def failed(call: Call) -> ClientError:
    return _error(call, "InternalError" if call.service in ("s3", "ec2") else "InternalFailure", "We made an error", 500)


def unanswered(call: Call) -> ReadTimeoutError:
    """The handlers' clients note the operation in it."""
    error = ReadTimeoutError(endpoint_url=f"https://{call.service}.example")
    error.operation_name = call.operation  # type: ignore[attr-defined]  # noted as the clients of the handlers do
    return error


def _error(call: Call, code: str, message: str, status: int) -> ClientError:
    response: Any = {"Error": {"Code": code, "Message": message}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return ClientError(response, call.operation)
