"""Faults of AWS that pass, such as throttling: what a command that follows a cluster says of them, and how long it waits then."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from hyperpod_constructs.custom_resources.handlers.redaction import one_line

_T = TypeVar("_T")

LONGEST_SECONDS = 60.0
"""The longest pause after a fault, unless the command looks less often anyway."""

_THROTTLED = frozenset(
    {"ThrottlingException", "Throttling", "TooManyRequestsException", "RequestLimitExceeded", "RequestThrottled", "SlowDown"}
)
_FAULTS = frozenset(
    {"ServiceUnavailable", "ServiceUnavailableException", "InternalFailure", "InternalError", "InternalServerException"}
)
_SERVER_ERROR = 500
_CHARACTERS = 300


@dataclass(slots=True)
class Patience:
    """Looks that go on through faults that pass.

    :ivar every: seconds between two looks. Each fault in a row doubles them.
    :ivar passes: says a fault that passes as a sentence, and `None` for any other error.
    :ivar fault: what went wrong in the last look; `None` if nothing did.
    """

    every: float
    passes: Callable[[Exception], str | None] = field(default=lambda error: passing(error))
    fault: str | None = None
    _failed: int = field(default=0)

    def look(self, ask: Callable[[], _T]) -> _T | None:
        """The answer; `None` if a fault came in its place that passes. Any other error stays one."""
        try:
            answer = ask()
        except Exception as error:
            if (sentence := self.passes(error)) is None:
                raise
            self._failed += 1
            self.fault = f"{sentence}; the next look is in {self.pause:.0f} s"
            return None
        self._failed, self.fault = 0, None
        return answer

    @property
    def pause(self) -> float:
        """Seconds until the next look."""
        return self.every if not self._failed else min(self.every * 2**self._failed, max(self.every, LONGEST_SECONDS))


def passing(error: Exception) -> str | None:
    """A fault that passes by itself, as a sentence; `None` for any other error."""
    from botocore.exceptions import ClientError, ConnectionError, HTTPClientError, SSLError

    if isinstance(error, ClientError):
        return throttled(error) or _failing(error)
    if isinstance(error, (HTTPClientError, ConnectionError)) and not isinstance(error, SSLError):
        return f"AWS does not answer: {one_line(str(error), _CHARACTERS)}"
    return None


def not_taken(error: Exception) -> str | None:
    """A fault that passes, after which the request was surely not carried out; `None` for any other error."""
    from botocore.exceptions import ClientError

    return throttled(error) if isinstance(error, ClientError) else None


def throttled(error: Any) -> str | None:
    """Throttling as a sentence; `None` for any other answer of AWS."""
    code = error.response.get("Error", {}).get("Code")
    return None if code not in _THROTTLED else f"AWS throttles {error.operation_name}: the account sends too many requests ({code})"


def _failing(error: Any) -> str | None:
    code = error.response.get("Error", {}).get("Code")
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    return f"AWS fails at {error.operation_name} ({code})" if code in _FAULTS or status >= _SERVER_ERROR else None
