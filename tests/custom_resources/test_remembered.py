"""The memory of clients: an answer is asked for again as soon as it may have changed, and no reader changes another's."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tests.custom_resources.remembered import Memory


class Service:
    """Counts how often each method is called."""

    meta = SimpleNamespace()

    def __init__(self) -> None:
        self.looks = 0

    def list_things(self) -> dict[str, Any]:
        self.looks += 1
        return {"Things": [{"Look": self.looks}]}

    def create_thing(self) -> dict[str, Any]:
        return {}


class Account:
    """A service of ours and two of moto's."""

    def __init__(self) -> None:
        self.now = 0.0
        memory = Memory(lambda: self.now)
        self.clients = {name: memory.client(name, Service(), timed=name == "ours") for name in ("ours", "first", "second")}

    def looks(self) -> list[int]:
        return [client.list_things()["Things"][0]["Look"] for client in self.clients.values()]


@pytest.mark.parametrize(("changed", "again"), [("first", [2, 2, 1]), ("second", [2, 1, 2]), ("ours", [2, 1, 1])])
def test_a_change_forgets_its_service_and_ours(changed: str, again: list[int]) -> None:
    account = Account()
    assert account.looks() == account.looks() == [1, 1, 1]
    account.clients[changed].create_thing()
    assert account.looks() == again


def test_time_changes_ours_alone() -> None:
    account = Account()
    account.looks()
    account.now = 1.0
    assert account.looks() == [2, 1, 1]


def test_each_reader_has_a_copy() -> None:
    client = Account().clients["first"]
    client.list_things()["Things"].clear()
    assert client.list_things() == {"Things": [{"Look": 1}]}
