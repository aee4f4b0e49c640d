"""Shards of checkpoints in the memory of a node: the agent that holds them, and its clients. It starts at once, without torch."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from threading import Lock
from typing import Any, NamedTuple, Self

from common.wire import Address, Peer, Port, WireError, dial

PART = 1 << 26
SECONDS = 10.0


class Shard(NamedTuple):
    """One rank's part of the state after a step; `life` is the start of the job in which it was written."""

    rank: int
    size: int
    step: int
    life: int


class Held(NamedTuple):
    shard: Shard
    data: bytearray
    sha256: str


class ShardMemory:
    """Holds the newest shards of each rank that sends some, within a number of bytes: a whole one, and one that is on its way."""

    def __init__(self, host: str, key: bytes, budget: int, *, port: int = 0) -> None:
        self.budget = budget
        self.reserved = 0
        self.held: list[Held] = []
        self.lock = Lock()
        self.port = Port(host, key, self.answer, port=port)
        self.address = self.port.address

    def answer(self, peer: Peer) -> None:
        while True:
            head, _ = peer.receive(0)
            match head.get("do"):
                case "held":
                    with self.lock:
                        peer.send({"held": [one.shard for one in self.held]})
                case "put":
                    self.take(peer, parse(head), size_of(head, "bytes"), str(head.get("sha256")))
                case "get":
                    self.give(peer, parse(head))
                case other:
                    raise WireError(f"unknown operation {str(other)[:50]}")

    def take(self, peer: Peer, shard: Shard, size: int, sha256: str) -> None:
        with self.lock:
            self.make_room(shard)
            if self.reserved + size > self.budget:
                peer.send({"error": f"{size} bytes more than the {self.reserved} of {self.budget} in use: raise MEMORY_BYTES"})
                return
            self.reserved += size
        stays = False
        try:
            peer.send({})
            peer.connection.settimeout(SECONDS)
            data = join(peer, size)
            peer.connection.settimeout(None)
            if hashlib.sha256(data).hexdigest() != sha256:
                peer.send({"error": "the bytes do not have their checksum"})
                return
            with self.lock:
                self.held.append(Held(shard, data, sha256))
            stays = True
            peer.send({})
        finally:
            if not stays:
                with self.lock:
                    self.reserved -= size

    def make_room(self, shard: Shard) -> None:
        """A rank that sends a second step of one start knows that every rank has sent the first: older ones are needed no more."""
        whole = max(
            (one.shard.step for one in self.held if one.shard[:2] == shard[:2] and is_before(one.shard, shard)), default=None
        )
        if whole is None:
            return
        gone = [
            one for one in self.held if one.shard.life != shard.life or (one.shard.rank == shard.rank and one.shard.step < whole)
        ]
        self.held = [one for one in self.held if one not in gone]
        self.reserved -= sum(len(one.data) for one in gone)

    def give(self, peer: Peer, shard: Shard) -> None:
        with self.lock:
            found = next((one for one in self.held if one.shard == shard), None)
        if found is None:
            peer.send({"error": f"{shard} is not held here"})
            return
        peer.send({"bytes": len(found.data), "sha256": found.sha256})
        for part in parts(found.data):
            peer.send({}, part)

    def close(self) -> None:
        self.port.close()


class ShardClient:
    """A connection to an agent, made when it is needed and again after a failure."""

    def __init__(self, address: Address, key: bytes) -> None:
        self.address = address
        self.key = key
        self.peer: Peer | None = None

    def held(self) -> list[Shard]:
        return [Shard(*map(int, row)) for row in self.ask({"do": "held"})["held"]]

    def put(self, shard: Shard, data: bytearray) -> None:
        self.ask({"do": "put", **shard._asdict(), "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}, data)

    def get(self, shard: Shard, most: int = 1 << 40) -> bytearray:
        """:raises OSError: for a shard that is not there, or not as its checksum says."""
        head = self.ask({"do": "get", **shard._asdict()})
        assert self.peer is not None
        if size_of(head, "bytes") > most:
            raise WireError(f"{head['bytes']} bytes, expected are at most {most}")
        data = join(self.peer, size_of(head, "bytes"))
        if hashlib.sha256(data).hexdigest() != head.get("sha256"):
            raise WireError(f"{shard} does not have its checksum")
        return data

    def ask(self, head: dict[str, Any], data: bytearray | None = None) -> dict[str, Any]:
        try:
            if self.peer is None:
                self.peer = dial(self.address, self.key, SECONDS)
            self.peer.send(head)
            answer = self.answer()
            if data is not None:
                for part in parts(data):
                    self.peer.send({}, part)
                answer = self.answer()
        except (OSError, ValueError):
            self.close()
            raise
        return answer

    def answer(self) -> dict[str, Any]:
        assert self.peer is not None
        head, _ = self.peer.receive(0)
        if "error" in head:
            raise WireError(str(head["error"])[:300])
        return head

    def close(self) -> None:
        if self.peer is not None:
            self.peer.close()
            self.peer = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def is_before(earlier: Shard, later: Shard) -> bool:
    return earlier.life == later.life and earlier.step < later.step


def parse(head: dict[str, Any]) -> Shard:
    return Shard(*(size_of(head, name) for name in Shard._fields))


def size_of(head: dict[str, Any], name: str) -> int:
    value = head.get(name)
    if not isinstance(value, int) or not 0 <= value < 1 << 63:
        raise WireError(f"{name}: found {str(value)[:50]}, not a number")
    return value


def parts(data: bytearray) -> Iterator[memoryview]:
    view = memoryview(data)
    for start in range(0, len(data), PART):
        yield view[start : start + PART]


def join(peer: Peer, size: int) -> bytearray:
    data = bytearray(size)
    filled = 0
    while filled < size:
        _, part = peer.receive(min(PART, size - filled))
        if not part:
            raise WireError("an empty part")
        data[filled : filled + len(part)] = part
        filled += len(part)
    return data
