"""Error texts: the service's own cause, without secrets, short enough for CloudFormation."""

from __future__ import annotations

import json
import re

from botocore.exceptions import ClientError

#: Bytes of a message as JSON. CloudFormation takes 4096 for the whole response, and the Provider framework adds the
#: stack id, the physical id and a stack trace of up to ten lines.
MESSAGE_LIMIT = 2200

_MARK = " [...] "
_SECRETS = (
    re.compile(r"https?://\S+[?&]X-Amz-\S+", re.IGNORECASE),
    re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    re.compile(r"(?i)(?<![a-z])\w*(?:password|passwd|secret|token|api[_-]?key|authorization)\w*\"?\s*[=:]\s*(?:bearer\s+)?\S+"),
)
_CONTROL = re.compile(r"\x1b\[[0-9;]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f]")


class OperationError(Exception):
    """An operation that cannot succeed; its text becomes the reason that CloudFormation shows."""


def describe(error: BaseException) -> str:
    """The innermost cause in one line: `Operation: Code: message` for an error of a service.

    The text of OperationError stands as it is, whatever its own cause.
    """
    while error.__cause__ is not None and not isinstance(error, OperationError):
        error = error.__cause__
    if isinstance(error, ClientError):
        detail = error.response.get("Error", {})
        return redact(f"{error.operation_name}: {detail.get('Code', 'Unknown')}: {detail.get('Message', '')}")
    if isinstance(error, OperationError | ValueError):
        return redact(str(error))
    return redact(f"{type(error).__name__}: {error}")


def redact(text: str) -> str:
    """The text without control characters, presigned URLs, access keys and `password=...`-like assignments."""
    text = _CONTROL.sub("", text)
    for secret in _SECRETS:
        text = secret.sub("***", text)
    return text


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
    return text[:head] + _MARK + text[len(text) - (keep - head) :]


def _size(text: str) -> int:
    return len(json.dumps(text, ensure_ascii=False).encode())
