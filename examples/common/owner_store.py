"""A store for `torch.distributed` without one root: each rank owns a part of the keys and serves it, so no host is needed by all.

`TCPStore` keeps every key on one host; when that host is lost, so is the store. Here a lost owner takes only its own keys with it.
Its replacement publishes another address for the same slot, and the others go on there. A group that lost an owner must be formed
again under a new prefix, as after the loss of any rank.
"""

from __future__ import annotations

import json
import logging
import os
import time
import uuid
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from threading import Condition, Lock
from typing import Any
from zlib import crc32

from torch.distributed import DistStoreError, Store

from common.wire import Address, Peer, Port, WireError, dial

MOST_BYTES = 1 << 28
MOST_ADDRESS = 200
POLL_SECONDS = 1.0
RETRY_SECONDS = 0.05
DIAL_SECONDS = 5.0
# How long an owner's answer may take beyond the wait that was asked for.
PATIENCE_SECONDS = 30.0


class Slots:
    """The addresses of the owners, one small file each, on the shared file system."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        directory.mkdir(parents=True, exist_ok=True)

    def publish(self, slot: int, address: Address) -> None:
        """Not flushed to the disk: after a loss of power, every owner has another address."""
        partial = self.directory / f".{slot}.{os.getpid()}"
        partial.write_text(json.dumps(address), encoding="utf-8")
        partial.replace(self.directory / str(slot))

    def find(self, slot: int) -> Address:
        """:raises LookupError: for a slot without an address."""
        try:
            with (self.directory / str(slot)).open(encoding="utf-8") as file:
                host, port = json.loads(file.read(MOST_ADDRESS))
            return str(host), int(port)
        except (OSError, ValueError, TypeError) as error:
            raise LookupError(f"slot {slot} of {self.directory}: {error}") from None


class Owner:
    """The keys of one rank. The reply to a client's last request is kept: one that is sent again is not carried out twice."""

    def __init__(self, host: str, key: bytes, *, port: int = 0) -> None:
        self.values: dict[str, bytes] = {}
        self.replies: dict[str, tuple[int, Any, list[bytes]]] = {}
        self.changed = Condition()
        self.port = Port(host, key, self.answer, port=port)
        self.address = self.port.address

    def answer(self, peer: Peer) -> None:
        while True:
            head, body = peer.receive(MOST_BYTES)
            result, values = self.once(head, split(body, head.get("sizes", [])))
            peer.send({"result": result, "sizes": [len(value) for value in values]}, b"".join(values))

    def once(self, head: dict[str, Any], values: list[bytes]) -> tuple[Any, list[bytes]]:
        client, number, keys = str(head["client"]), int(head["number"]), [str(key) for key in head["keys"]]
        with self.changed:
            seen = self.replies.get(client)
            if seen is not None and seen[0] == number:
                return seen[1:]
            result, found = self.perform(str(head["do"]), keys, values, float(head.get("seconds", 0)))
            self.replies[client] = (number, result, found)
            self.changed.notify_all()
            return result, found

    def perform(self, do: str, keys: list[str], values: list[bytes], seconds: float) -> tuple[Any, list[bytes]]:
        held = self.values
        match do:
            case "set":
                self.write(dict(zip(keys, values, strict=True)))
            case "get":
                there = self.changed.wait_for(lambda: all(key in held for key in keys), min(seconds, POLL_SECONDS))
                return there, [held[key] for key in keys] if there and values == [] else []
            case "wait":
                return self.changed.wait_for(lambda: all(key in held for key in keys), min(seconds, POLL_SECONDS)), []
            case "check":
                return all(key in held for key in keys), []
            case "add":
                total = int(held.get(keys[0], b"0")) + int(values[0])
                self.write({keys[0]: b"%d" % total})
                return total, []
            case "append":
                self.write({keys[0]: held.get(keys[0], b"") + values[0]})
            case "compare_set":
                return None, [self.compare_set(keys[0], *values)]
            case "delete":
                return held.pop(keys[0], None) is not None, []
            case "count":
                return len(held), []
            case _:
                raise WireError(f"unknown operation {do[:50]}")
        return None, []

    def write(self, values: dict[str, bytes]) -> None:
        held = sum(map(len, self.values.values())) if any(len(value) > 1 << 16 for value in values.values()) else 0
        if held + sum(map(len, values.values())) > MOST_BYTES:
            raise WireError(f"more than {MOST_BYTES} bytes in one owner")
        self.values.update(values)

    def compare_set(self, key: str, expected: bytes, desired: bytes) -> bytes:
        current = self.values.get(key)
        if current is None and expected:
            return expected
        if current is not None and current != expected:
            return current
        self.write({key: desired})
        return desired

    def close(self) -> None:
        self.port.close()


class OwnerStore(Store):
    """The store over the owners in these slots, which every rank must name in the same order."""

    def __init__(self, slots: Sequence[int], find: Callable[[int], Address], key: bytes, timeout: timedelta) -> None:
        super().__init__()
        self.set_timeout(timeout)
        self.slots = list(slots)
        self.find = find
        self.key = key
        self.client = uuid.uuid4().hex
        self.links = [Link(slot, find, key, self.client) for slot in self.slots]

    def set(self, key: str, value: str | bytes) -> None:
        self.ask(key, "set", [encoded(value)])

    def get(self, key: str) -> bytes:
        return self.multi_get([key])[0]

    def add(self, key: str, amount: int) -> int:
        return int(self.ask(key, "add", [b"%d" % amount])[0])

    def append(self, key: str, value: str | bytes) -> None:
        self.ask(key, "append", [encoded(value)])

    def compare_set(self, key: str, expected: str | bytes, desired: str | bytes) -> bytes:
        (value,) = self.ask(key, "compare_set", [encoded(expected), encoded(desired)])[1]
        return value

    def check(self, keys: list[str]) -> bool:
        return all(self.link(owner).ask("check", part, [], self.deadline())[0] for owner, part in self.parts(keys).items())

    def wait(self, keys: list[str], timeout: timedelta | None = None) -> None:
        deadline = self.deadline(timeout)
        for owner, part in self.parts(keys).items():
            self.link(owner).ask("wait", part, [], deadline, until_true=True)

    def multi_get(self, keys: list[str]) -> list[bytes]:
        deadline = self.deadline()
        found: dict[str, bytes] = {}
        for owner, part in self.parts(keys).items():
            found.update(zip(part, self.link(owner).ask("get", part, [], deadline, until_true=True)[1], strict=True))
        return [found[key] for key in keys]

    def multi_set(self, keys: list[str], values: list[str | bytes]) -> None:
        given = dict(zip(keys, values, strict=True))
        for owner, part in self.parts(keys).items():
            self.link(owner).ask("set", part, [encoded(given[key]) for key in part], self.deadline())

    def delete_key(self, key: str) -> bool:
        return bool(self.ask(key, "delete", [])[0])

    def num_keys(self) -> int:
        return sum(int(link.ask("count", [], [], self.deadline())[0]) for link in self.links)

    def has_extended_api(self) -> bool:
        return True

    def clone(self) -> OwnerStore:
        """Another client of the same keys, with connections of its own."""
        return OwnerStore(self.slots, self.find, self.key, self.timeout)

    # The names under which C++ looks for the methods.
    deleteKey = delete_key  # noqa: N815
    getNumKeys = num_keys  # noqa: N815
    compareSet = compare_set  # noqa: N815
    multiGet = multi_get  # noqa: N815
    multiSet = multi_set  # noqa: N815
    hasExtendedApi = has_extended_api  # noqa: N815

    def ask(self, key: str, do: str, values: list[bytes]) -> tuple[Any, list[bytes]]:
        return self.link(self.owner(key)).ask(do, [key], values, self.deadline())

    def owner(self, key: str) -> int:
        return crc32(key.encode()) % len(self.slots)

    def link(self, owner: int) -> Link:
        return self.links[owner]

    def parts(self, keys: Sequence[str]) -> dict[int, list[str]]:
        found: dict[int, list[str]] = {}
        for key in keys:
            found.setdefault(self.owner(key), []).append(key)
        return found

    def deadline(self, timeout: timedelta | None = None) -> float:
        return time.monotonic() + (self.timeout if timeout is None else timeout).total_seconds()


class Link:
    """The connection to the owner of one slot, made when it is needed, and again at the slot's address of the day."""

    def __init__(self, slot: int, find: Callable[[int], Address], key: bytes, client: str) -> None:
        self.slot = slot
        self.find = find
        self.key = key
        self.client = client
        self.number = 0
        self.peer: Peer | None = None
        self.turn = Lock()

    def ask(
        self, do: str, keys: list[str], values: list[bytes], deadline: float, *, until_true: bool = False
    ) -> tuple[Any, list[bytes]]:
        """The owner's answer; an owner that does not answer is asked again until the deadline, at its address of then."""
        while True:
            with self.turn:
                self.number += 1
                result, found = self.answered(do, keys, values, deadline)
            if result or not until_true:
                return result, found
            if time.monotonic() > deadline:
                raise DistStoreError(f"timeout: {keys[:4]} of slot {self.slot} were not set in time")

    def answered(self, do: str, keys: list[str], values: list[bytes], deadline: float) -> tuple[Any, list[bytes]]:
        while True:
            left = deadline - time.monotonic()
            try:
                return self.exchange(do, keys, values, max(left, 0.0))
            except (OSError, LookupError) as error:
                self.drop()
                if left < 0:
                    raise DistStoreError(f"timeout: the owner of slot {self.slot} does not answer: {error}") from None
                time.sleep(RETRY_SECONDS)

    def exchange(self, do: str, keys: list[str], values: list[bytes], seconds: float) -> tuple[Any, list[bytes]]:
        if self.peer is None:
            self.peer = dial(self.find(self.slot), self.key, min(DIAL_SECONDS, max(seconds, 1.0)))
            self.peer.connection.settimeout(PATIENCE_SECONDS)
        sizes = [len(value) for value in values]
        asked = {"client": self.client, "number": self.number, "do": do, "keys": keys, "sizes": sizes, "seconds": seconds}
        self.peer.send(asked, b"".join(values))
        head, body = self.peer.receive(MOST_BYTES)
        return head["result"], split(body, head["sizes"])

    def drop(self) -> None:
        if self.peer is not None:
            logging.info("the owner of slot %d is asked again", self.slot)
            self.peer.close()
            self.peer = None


def split(body: bytearray, sizes: list[int]) -> list[bytes]:
    if any(not isinstance(size, int) or size < 0 for size in sizes) or sum(sizes) != len(body):
        raise WireError(f"{len(body)} bytes for values of {sizes[:8]}")
    parts, start = [], 0
    for size in sizes:
        parts.append(bytes(body[start : start + size]))
        start += size
    return parts


def encoded(value: str | bytes) -> bytes:
    return value.encode() if isinstance(value, str) else bytes(value)
