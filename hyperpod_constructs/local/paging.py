"""Pages of a list operation: `MaxResults` and `NextToken`, as the services of AWS have them."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from hyperpod_constructs.local.aws_service import AwsError

T = TypeVar("T")


def page(items: Sequence[T], parameters: Mapping[str, Any], size: int, invalid: str) -> tuple[list[T], dict[str, str]]:
    """One page of `items` and `{"NextToken": …}` if more follow; `size` is the page's length unless `MaxResults` says another.

    :raises AwsError: with the code `invalid` for a token that no earlier answer gave.
    """
    start = _offset(parameters.get("NextToken"), invalid)
    end = start + int(parameters.get("MaxResults") or size)
    following = {"NextToken": base64.b64encode(f"from {end}".encode()).decode()} if end < len(items) else {}
    return list(items[start:end]), following


def _offset(token: str | None, invalid: str) -> int:
    if not token:
        return 0
    try:
        return int(base64.b64decode(token, validate=True).decode().removeprefix("from "))
    except (binascii.Error, ValueError):
        raise AwsError(invalid, f"NextToken {token!r} is not a token of an earlier answer; leave it out to start") from None
