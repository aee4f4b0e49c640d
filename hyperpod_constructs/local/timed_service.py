"""A service that answers operations by name, and whose state moves when it is looked at, by the time that has passed."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

from hyperpod_constructs.local.aws_service import AwsError, Caller
from hyperpod_constructs.local.faults import Faults

Parameters = Mapping[str, Any]
Operation = Callable[[Parameters, Caller, float], dict[str, Any]]


class TimedService(ABC):
    """One AWS service. `clock` gives seconds since the epoch."""

    name: str

    def __init__(self, faults: Faults, clock: Callable[[], float], operations: Mapping[str, Operation]) -> None:
        self.faults = faults
        self._clock = clock
        self._operations = operations
        self._lock = threading.RLock()

    def call(self, operation: str, parameters: Parameters, caller: Caller) -> dict[str, Any]:
        """Answer one operation.

        :raises AwsError: with the cause of the refusal.
        """
        answer = self._operations.get(operation)
        if answer is None:
            raise AwsError("UnknownOperationException", f"the embedded AWS does not serve {self.name} {operation}")
        if self.faults.take_throttle(operation):
            raise AwsError("ThrottlingException", "Rate exceeded")
        with self._lock:
            now = self._clock()
            self._advance(now)
            return answer(deepcopy(dict(parameters)), caller, now)

    @abstractmethod
    def _advance(self, now: float) -> None: ...
