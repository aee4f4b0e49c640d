"""Checkpoints beside the file system's: nearer ones in the memory of this node and its neighbour, farther ones in S3.

Each rank keeps its shard, so only as many ranks can restore it as have written it; another number takes that of the file system.
A step is whole where every rank's shard of it is found, all from the same start of the job.
"""

from __future__ import annotations

import logging
import os
import secrets
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple, Protocol

from torch import Tensor

from common.bucket import Bucket
from common.shard_memory import Shard, ShardClient
from common.tensors import pack, unpack
from common.wire import token
from common.world import World

FIND_SECONDS = 10.0
ON_DISK = 1
# Gives this rank's tensors by name, which a later step changes.
State = Callable[[], dict[str, Tensor]]


class Tier(Protocol):
    """A place of shards; `hold` and `fetch` raise OSError when it cannot be reached."""

    name: str

    def hold(self, shard: Shard, data: bytearray) -> None: ...

    def fetch(self, shard: Shard, holder: Any) -> bytearray: ...

    def holders(self, world: World) -> dict[Shard, list[Any]]:
        """Where the shards are, as every rank sees it."""
        ...


class Found(NamedTuple):
    """A whole step. The nearer a tier, the higher its rank; the file system's is `ON_DISK`."""

    step: int
    rank: int
    life: int
    tier: Tier
    holders: dict[int, list[Any]]


class Neighbours:
    """The memory of this node and the next one. The last node's next is the first."""

    name = "memory"

    def __init__(self, world: World, address: str, port: int) -> None:
        self.address = address
        self.port = port
        hosts = [text(row[0]) for row in world.gather([[number(address)]])]
        nodes = list(dict.fromkeys(hosts))
        following = nodes[(nodes.index(address) + 1) % len(nodes)]
        self.clients = {host: ShardClient((host, port), token()) for host in dict.fromkeys([address, following])}

    def hold(self, shard: Shard, data: bytearray) -> None:
        failed = [
            f"{host}: {error}" for host, client in self.clients.items() if (error := attempt(client, shard, data)) is not None
        ]
        if failed:
            raise OSError("; ".join(failed))

    def fetch(self, shard: Shard, holder: str) -> bytearray:
        with ShardClient((holder, self.port), token()) as client:
            return client.get(shard)

    def holders(self, world: World) -> dict[Shard, list[str]]:
        rows = [[number(self.address), *shard] for shard in self.held()]
        found: dict[Shard, list[str]] = {}
        for host, *shard in world.gather(rows):
            found.setdefault(Shard(*shard), []).append(text(host))
        return {shard: sorted(hosts, key=lambda host: host != self.address) for shard, hosts in found.items()}

    def held(self) -> list[Shard]:
        """What this node holds; nothing if its agent does not answer in time."""
        deadline = time.monotonic() + FIND_SECONDS
        while True:
            try:
                return self.clients[self.address].held()
            except OSError as error:
                if time.monotonic() > deadline:
                    logging.warning("the memory of this node does not answer: %s", error)
                    return []
                time.sleep(0.2)


def attempt(client: ShardClient, shard: Shard, data: bytearray) -> OSError | None:
    try:
        client.put(shard, data)
    except OSError as error:
        return error
    return None


class Tiers:
    """Keeps shards in the background. All ranks keep a step or none does, so the previous one stays whole until this one is."""

    def __init__(
        self, world: World, state: State, memory: Neighbours | None, bucket: Bucket | None, every: tuple[int, int]
    ) -> None:
        self.world = world
        self.state = state
        candidates: list[tuple[Tier | None, int, int]] = [(memory, every[0], ON_DISK + 1), (bucket, every[1], ON_DISK - 1)]
        self.tiers = [(tier, steps, rank) for tier, steps, rank in candidates if tier is not None]
        self.life = int(world.from_first(secrets.randbits(62)))
        self.executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="tiers")
        self.keeping: Future[None] | None = None
        self.found: dict[str, Tensor] | None = None

    @classmethod
    def from_environment(cls, world: World, state: State) -> Tiers:
        """As the batch script has set it: without MEMORY_EVERY no memory, without BUCKET no S3."""
        memory_every, bucket_every = int(os.environ.get("MEMORY_EVERY", "0")), int(os.environ.get("BUCKET_EVERY", "0"))
        memory = Neighbours(world, os.environ["ADDRESS"], int(os.environ["MEMORY_PORT"])) if memory_every else None
        bucket = Bucket(os.environ["BUCKET"]) if os.environ.get("BUCKET") and bucket_every else None
        return cls(world, state, memory, bucket, (memory_every, bucket_every))

    def committed(self, step: int) -> None:
        """Keep the state after `step` steps where it is due, unless a rank is still busy with the last one."""
        due = [tier for tier, every, _ in self.tiers if step % every == 0]
        if not due:
            return
        (busy,) = self.world.sum([float(self.keeping is not None and not self.keeping.done())])
        if busy:
            logging.info("step %d is not kept: the last one is still on its way", step)
            return
        copy = {name: tensor.detach().to("cpu", copy=True) for name, tensor in self.state().items()}
        self.keeping = self.executor.submit(self.keep, due, step, copy)

    def keep(self, due: list[Tier], step: int, copy: dict[str, Tensor]) -> None:
        data = pack(copy)
        shard = Shard(self.world.rank, self.world.size, step, self.life)
        for tier in due:
            try:
                tier.hold(shard, data)
            except OSError as error:
                logging.warning("step %d is not kept in %s: %s", step, tier.name, error)

    def newest(self, than: int) -> int:
        """The newest whole step beyond `than`, which is the file system's; it is read and checked. Otherwise `than`."""
        for found in sorted(self.whole(), key=lambda found: found[:3], reverse=True):
            if (found.step, found.rank) < (than, ON_DISK):
                break
            self.found = self.read(found)
            if self.found is not None:
                return found.step
        return than

    def whole(self) -> Iterator[Found]:
        for tier, _, rank in self.tiers:
            steps: dict[tuple[int, int], dict[int, list[Any]]] = {}
            for shard, holders in tier.holders(self.world).items():
                if shard.size == self.world.size:
                    steps.setdefault((shard.step, shard.life), {})[shard.rank] = holders
            for (step, life), by_rank in steps.items():
                if set(by_rank) == set(range(self.world.size)):
                    yield Found(step, rank, life, tier, by_rank)

    def read(self, found: Found) -> dict[str, Tensor] | None:
        """This rank's shard, if every rank has got its own."""
        tensors = self.fetch(found)
        (missing,) = self.world.sum([float(tensors is None)])
        return None if missing else tensors

    def fetch(self, found: Found) -> dict[str, Tensor] | None:
        shard = Shard(self.world.rank, self.world.size, found.step, found.life)
        for holder in found.holders[self.world.rank]:
            try:
                tensors = unpack(found.tier.fetch(shard, holder))
                logging.info("restored step %d from %s (%s)", found.step, found.tier.name, holder)
                return tensors
            except (OSError, ValueError) as error:
                logging.warning("step %d of %s (%s) is not whole: %s", found.step, found.tier.name, holder, error)
        return None

    def load(self, state: dict[str, Tensor]) -> None:
        """Write what was found into these tensors.

        :raises SystemExit: for shards of another model.
        """
        assert self.found is not None
        ours, theirs = ({name: (one.shape, one.dtype) for name, one in tensors.items()} for tensors in (state, self.found))
        if ours != theirs:
            raise SystemExit("the kept shards are of another model: take another RUN_DIR and BUCKET, or the model of before")
        for name, tensor in state.items():
            tensor.detach().copy_(self.found[name])
        self.found = None

    def close(self) -> None:
        self.executor.shutdown(wait=True)


def number(address: str) -> int:
    return int.from_bytes(bytes(map(int, address.split("."))))


def text(address: int) -> str:
    return ".".join(map(str, address.to_bytes(4)))
