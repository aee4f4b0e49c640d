"""An account that is asked again where AWS throttles or fails for a moment, for commands that send many requests."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import typer

from hyperpod_constructs.cli.operate.patience import Patience, not_taken, passing
from hyperpod_constructs.cli.operate.place import Place
from hyperpod_constructs.cli.target import Target

MOST_SECONDS = 120.0
"""How long a command waits for faults altogether. Then the next one is an error."""

_EVERY = 1.0
_READING = ("describe_", "filter_", "get_", "head_", "list_")


def patient(place: Place) -> Place:
    """The same place, which is asked again after faults that pass."""
    return Place(_PatientTarget(place.target), place.where)


@dataclass(slots=True)
class _PatientTarget:
    """A target whose clients ask again.

    A call that changes something is repeated only where AWS did not take it: after another fault it may have been carried out.
    """

    target: Target
    _left: float = MOST_SECONDS

    @property
    def account(self) -> str:
        return self.target.account

    @property
    def region(self) -> str:
        return self.target.region

    def client(self, service: str) -> Any:
        return _PatientClient(self.target.client(service), self.answer)

    def environment(self) -> dict[str, str]:
        return self.target.environment()

    def answer(self, name: str, ask: Callable[[], Any]) -> Any:
        """The answer to a call, by the name of boto3's method."""
        patience = Patience(_EVERY, passes=passing if name.startswith(_READING) else not_taken)
        while self._left > 0:
            answer = patience.look(ask)
            if patience.fault is None:
                return answer
            typer.echo(f"hyperpod: {patience.fault}", err=True)
            self._left -= patience.pause
            time.sleep(patience.pause)
        return ask()


class _PatientClient:
    """A boto3 client whose operations, and whose pages, are asked for again."""

    def __init__(self, client: Any, answer: Callable[[str, Callable[[], Any]], Any]) -> None:
        self._client, self._answer = client, answer

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._client, name)
        if name not in self._client.meta.method_to_api_mapping:
            return found
        return lambda **request: self._answer(name, lambda: found(**request))

    def get_paginator(self, name: str) -> Any:
        paginator = self._client.get_paginator(name)
        # A paginator calls the method of the client that made it.
        paginator._method = getattr(self, name)
        return paginator
