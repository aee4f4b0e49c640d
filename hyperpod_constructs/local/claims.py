"""The claim to have signed a request, in each way that AWS accepts; an ambiguous claim is refused."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from datetime import datetime

from hyperpod_constructs.local.legacy_signatures import LegacyClaim, legacy_claim
from hyperpod_constructs.local.signatures import Claim, Received, Refused, check_mechanisms, check_target, claim


def claim_in(received: Received, now: datetime) -> Claim | LegacyClaim:
    """The one claim of a request, checked as far as possible without its key.

    :raises Refused: without one.
    """
    with refusing_nonsense():
        check_target(received)
        check_mechanisms(received)
        found: Claim | LegacyClaim = legacy_claim(received) or claim(received)
        found.check(received, now)
        return found


@contextlib.contextmanager
def refusing_nonsense() -> Iterator[None]:
    """Refuse unreadable values: dates beyond the calendar, malformed addresses."""
    try:
        yield
    except (ValueError, OverflowError) as error:
        raise Refused("IncompleteSignature", "the signature, its date or the request target cannot be read") from error
