"""Clients of AWS services, with patience for throttling and for new policies."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import boto3
import botocore.session
from botocore.config import Config
from botocore.exceptions import (
    ClientError,
    ConnectionClosedError,
    ConnectTimeoutError,
    EndpointConnectionError,
    FlexibleChecksumError,
    IncompleteReadError,
    ReadTimeoutError,
    ResponseStreamingError,
)
from botocore.parsers import ResponseParserError

T = TypeVar("T")

# Service models that are newer than boto3 in AWS Lambda.
MODELS = Path(__file__).parent / "models"

# Longest time of one client call: two attempts, each with a connection and a read, and the pause between them.
CALL_SECONDS = 35.0

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
_NETWORK = (
    ConnectionClosedError,
    ConnectionError,
    ConnectTimeoutError,
    EndpointConnectionError,
    FlexibleChecksumError,
    IncompleteReadError,
    ReadTimeoutError,
    ResponseParserError,
    ResponseStreamingError,
)


def client(service: str) -> Any:
    """A client with the vendored models; it retries a call once and gives up within half a minute."""
    session = botocore.session.get_session()
    session.set_config_variable("data_path", str(MODELS))
    config = Config(retries={"mode": "standard", "total_max_attempts": 2}, connect_timeout=5, read_timeout=10)
    return boto3.Session(botocore_session=session).client(service, config=config)  # type: ignore[call-overload]


def transient(error: Exception) -> bool:
    """Whether the same call may succeed later: after throttling, a service fault, or a broken connection or answer."""
    if not isinstance(error, ClientError):
        return isinstance(error, _NETWORK)
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    return _code(error) in _BUSY or status >= 500 or status == 429


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


def _code(error: ClientError) -> str:
    return str(error.response.get("Error", {}).get("Code", ""))
