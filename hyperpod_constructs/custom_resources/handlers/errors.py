"""Error texts: the service's own cause, without secrets, short enough for CloudFormation."""

from __future__ import annotations

import json

from botocore.exceptions import ClientError

from .redaction import CUT, one_line, redact

#: Bytes of a message as JSON. CloudFormation takes 4096 for the whole response, and the Provider framework adds the
#: stack id, the physical id and a stack trace of up to ten lines.
MESSAGE_LIMIT = 2200


class OperationError(Exception):
    """An operation that cannot succeed; its text becomes the reason that CloudFormation shows."""


def describe(error: BaseException) -> str:
    """The innermost cause in one redacted line: `Operation: Code: message` for an error of a service.

    The text of OperationError stands as it is, whatever its own cause.
    """
    error = _innermost(error)
    if isinstance(error, OperationError):
        return redact(str(error))
    if isinstance(error, ClientError):
        detail = error.response.get("Error") or {}
        return one_line(f"{error.operation_name}: {detail.get('Code', 'Unknown')}: {detail.get('Message', '')}", MESSAGE_LIMIT)
    return one_line(error if isinstance(error, ValueError) else f"{type(error).__name__}: {error}", MESSAGE_LIMIT)


def _innermost(error: BaseException) -> BaseException:
    passed = {id(error)}
    while error.__cause__ is not None and not isinstance(error, OperationError) and id(error.__cause__) not in passed:
        error = error.__cause__
        passed.add(id(error))
    return error


def fit(text: str, limit: int = MESSAGE_LIMIT) -> str:
    """The text, cut in its middle until it takes at most `limit` bytes as a JSON string."""
    if _size(text) <= limit:
        return text
    keep = len(text)
    while True:
        keep = min(keep - 1, keep * limit // max(_size(_cut(text, keep)), limit + 1))
        shortened = _cut(text, keep)
        if _size(shortened) <= limit:
            return shortened


def _cut(text: str, keep: int) -> str:
    head = keep * 2 // 3
    return text[:head] + CUT + text[len(text) - (keep - head) :]


def _size(text: str) -> int:
    return len(json.dumps(text, ensure_ascii=False).encode(errors="surrogatepass"))
