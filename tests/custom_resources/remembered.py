"""Clients that ask once for what cannot have changed: thousands of faults look at the same account."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn

from botocore.exceptions import ClientError

READS = ("describe_", "get_", "head_", "list_", "simulate_")
STREAMS = ("get_object",)
"""Reads whose answer can be read once only."""

Answer = Callable[[], Any]
"""Gives the answer again, or raises the error again."""


class Memory:
    """The answers to reads since the last change. Ours change while time passes, too, and with any other service; moto's services
    change by their own calls alone, and ours make those calls through this memory.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._moto: dict[str, dict[tuple[str, str], tuple[float, Answer]]] = {}
        self._ours: dict[str, dict[tuple[str, str], tuple[float, Answer]]] = {}

    def forget(self) -> None:
        """Anything may have changed."""
        self._moto.clear()
        self._ours.clear()

    def client(self, service: str, client: Any, *, timed: bool = False) -> Any:
        """The client with this memory.

        :param timed: whether answers change while time passes; by default they do not.
        """
        return _Client(self, service, client, timed=timed)

    def call(self, service: str, name: str, method: Callable[..., Any], parameters: dict[str, Any], *, timed: bool) -> Any:
        """One call."""
        if not name.startswith(READS):
            self._moto.pop(service, None)
            self._ours.clear()
        if not name.startswith(READS) or name in STREAMS:
            return method(**parameters)
        answers = (self._ours if timed else self._moto).setdefault(service, {})
        key, now = (name, repr(parameters)), self._now() if timed else 0.0
        if key not in answers or answers[key][0] != now:
            answers[key] = now, _answer(method, parameters)
        return answers[key][1]()


class _Client:
    def __init__(self, memory: Memory, service: str, client: Any, *, timed: bool) -> None:
        self._memory, self._service, self._client, self._timed = memory, service, client, timed
        self.meta = client.meta

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._client, name)
        return lambda **parameters: self._memory.call(self._service, name, method, parameters, timed=self._timed)


def _answer(method: Callable[..., Any], parameters: dict[str, Any]) -> Answer:
    try:
        answer = pickle.dumps(plain(method(**parameters)), pickle.HIGHEST_PROTOCOL)
    except ClientError as error:
        return partial(_fail, type(error), pickle.dumps(error.response), error.operation_name)
    return partial(pickle.loads, answer)  # ours, and by far the fastest copy


def _fail(kind: type[ClientError], response: bytes, operation: str) -> NoReturn:
    raise kind(pickle.loads(response), operation)


def plain(value: Any) -> Any:
    """A copy of structures and lists, of whatever class they are."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value
