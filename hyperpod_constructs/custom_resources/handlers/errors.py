"""Error texts for CloudFormation: the service's own cause, short and without secrets."""

from __future__ import annotations

import json

from botocore.exceptions import ClientError

from .redaction import CUT, one_line, redact

# Most bytes of a message as JSON. CloudFormation accepts 4096 for the whole response, and the Provider framework adds the stack id,
# the physical id and a stack trace of up to ten lines.
MESSAGE_LIMIT = 2200


class OperationError(Exception):
    """A failed operation; CloudFormation shows its text as the reason."""


def describe(error: BaseException) -> str:
    """The innermost cause as one redacted line; for a service error, `Operation: Code: message`.

    A broken connection names its operation too. An `OperationError` keeps its own text.
    """
    error = _innermost(error)
    if isinstance(error, OperationError):
        return redact(str(error))
    if isinstance(error, ClientError):
        detail = error.response.get("Error") or {}
        return one_line(f"{error.operation_name}: {detail.get('Code', 'Unknown')}: {detail.get('Message', '')}", MESSAGE_LIMIT)
    operation = getattr(error, "operation_name", "")
    kind = f"{operation}: " if operation else ""
    return one_line(error if isinstance(error, ValueError) else f"{kind}{type(error).__name__}: {error}", MESSAGE_LIMIT)


def _innermost(error: BaseException) -> BaseException:
    passed = {id(error)}
    while error.__cause__ is not None and not isinstance(error, OperationError) and id(error.__cause__) not in passed:
        error = error.__cause__
        passed.add(id(error))
    return error


def fit(text: str, limit: int = MESSAGE_LIMIT) -> str:
    """The text, cut in the middle to at most `limit` bytes as a JSON string."""
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
