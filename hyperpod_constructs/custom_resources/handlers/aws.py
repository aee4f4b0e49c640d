"""Clients of AWS services, with patience for throttling and for new policies."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    FlexibleChecksumError,
    HTTPClientError,
    IncompleteReadError,
    ReadTimeoutError,
)
from botocore.exceptions import ConnectionError as NoConnectionError

from .service import Client
from .wire.connections import CONNECT_SECONDS, READ_SECONDS, UnreadableAnswerError

T = TypeVar("T")

# Longest time of one client call: two attempts, each with a connection and a read, and the pause between them.
CALL_SECONDS = 35.0

# Time in which one look at a service repeats throttled calls.
LOOK_SECONDS = 45.0

# Time until every endpoint knows a new IAM policy or a new resource.
SETTLE_SECONDS = 180.0

_BUSY = frozenset(
    {
        "InternalError",
        "LimitExceededException",
        "PriorRequestNotComplete",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "RequestThrottled",
        "RequestThrottledException",
        "ServiceUnavailable",
        "SlowDown",
        "ThrottledException",
        "Throttling",
        "ThrottlingException",
        "TooManyRequestsException",
    }
)
_UNSETTLED = frozenset({"AccessDenied", "AccessDeniedException", "ResourceNotFound", "ResourceNotFoundException"})
# Botocore's first two stand for all that a connection, a proxy or TLS can do; a body that is read in parts raises Python's own.
_NETWORK = (
    NoConnectionError,
    HTTPClientError,
    ConnectionError,
    FlexibleChecksumError,
    IncompleteReadError,
    ReadTimeoutError,
    UnreadableAnswerError,
)


def client(service: str) -> Client:
    """A client with the vendored model of a service; it retries a call once and gives up within half a minute."""
    return Client(service, transient)


def whole_client(service: str) -> Any:
    """A client of botocore, for operations that send and receive files; it takes long to load."""
    import botocore.session
    from botocore.config import Config

    config = Config(
        retries={"mode": "standard", "total_max_attempts": 2}, connect_timeout=CONNECT_SECONDS, read_timeout=READ_SECONDS
    )
    made = botocore.session.get_session().create_client(service, config=config)
    made.meta.events.register("needs-retry", _name)
    return made


def _name(operation: Any, caught_exception: Exception | None, **_: Any) -> None:
    """Note the operation in an error that came without an answer; see `errors.describe`."""
    if caught_exception is not None:
        caught_exception.operation_name = operation.name  # type: ignore[attr-defined]  # ClientError has it by itself


def transient(error: Exception) -> bool:
    """Whether the same call may succeed later: after throttling, a service fault, or a broken connection or answer."""
    if not isinstance(error, ClientError):
        return isinstance(error, (*_NETWORK, NoTimeLeftError)) or _unreadable(error)
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    return _code(error) in _BUSY or status >= 500 or status == 429


def _unreadable(error: Exception) -> bool:
    """Whether a whole client could not read an answer; only such a client loads botocore's parsers."""
    parsers = sys.modules.get("botocore.parsers")
    return parsers is not None and isinstance(error, parsers.ResponseParserError)


def unsettled(error: Exception) -> bool:
    """Whether a very new policy or resource may explain the error."""
    return isinstance(error, ClientError) and _code(error) in _UNSETTLED


def patiently(
    call: Callable[[], T],
    *,
    until: float,
    again: Callable[[Exception], bool] = transient,
    clock: Callable[[], float] = time.time,
    sleep: Callable[[float], None] = time.sleep,
) -> T:
    """Make a call and repeat it with growing pauses.

    :param until: the time after which no attempt starts, in epoch seconds.
    :param again: whether an error deserves another attempt; by default, whether it is transient.
    :raises Exception: the last error of the call.
    """
    pause = 1.0
    while True:
        try:
            return call()
        except Exception as error:
            if not again(error) or clock() + pause > until:
                raise
        sleep(pause)
        pause = min(pause * 2, 15.0)


class NoTimeLeftError(BotoCoreError):
    """The time of one look at the service is over; the next look continues."""

    fmt = "{operation}: no time is left in this look at the service"


class Patient:
    """A client that repeats calls until a point in time: throttled ones, unless `again` finds more errors that pass."""

    def __init__(
        self,
        service: Any,
        until: float,
        clock: Callable[[], float],
        sleep: Callable[[float], None],
        again: Callable[[Exception], bool] = transient,
    ) -> None:
        self._service, self._until, self._clock, self._sleep, self._again = service, until, clock, sleep, again

    def call(self, operation: str, **arguments: Any) -> dict[str, Any]:
        """The answer of one operation.

        :raises ClientError: the error of the last attempt.
        :raises NoTimeLeftError: if the time is over before the first attempt. Otherwise Lambda would stop the look, and its
            findings would be lost.
        """
        if self._clock() > self._until:
            raise NoTimeLeftError(operation=operation)
        method: Callable[..., dict[str, Any]] = getattr(self._service, operation)
        return patiently(lambda: method(**arguments), until=self._until, again=self._again, clock=self._clock, sleep=self._sleep)

    def listed(self, operation: str, more: Mapping[str, str], **arguments: Any) -> dict[str, Any]:
        """One page of a listing, for `answers.pages`; see `call`."""
        return self.call(operation, **arguments, **more)


def code(error: Exception) -> str:
    """The service's code of an error; empty for an error that is not the service's."""
    return _code(error) if isinstance(error, ClientError) else ""


def _code(error: ClientError) -> str:
    return str(error.response.get("Error", {}).get("Code", ""))
