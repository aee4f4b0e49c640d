"""Waiting for a resource to become stable, as the handlers of CloudFormation do."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from hyperpod_constructs.local.aws_service import AwsError

POLL_SECONDS = 0.2
T = TypeVar("T")


def wait(describe: Callable[[], T | None], timeout: float, what: str) -> T:
    """Ask until `describe` gives something else than None, and return it.

    :raises AwsError: after `timeout` seconds.
    """
    deadline = time.monotonic() + timeout
    while True:
        answer = describe()
        if answer is not None:
            return answer
        if time.monotonic() > deadline:
            raise AwsError("NotStabilized", f"{what} did not become stable within {timeout:.0f} seconds")
        time.sleep(POLL_SECONDS)
