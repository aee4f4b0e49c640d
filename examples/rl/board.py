"""What is to be generated, by whom, and what has come back: each prompt is used once, in the order in which its answers arrive."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from threading import Condition
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """
    :param prompts: prompts of an update.
    :param chunk: prompts that a worker gets at once.
    :param staleness: updates by which the weights of an answer may be behind.
    :param lease_seconds: time after which prompts without an answer are given to another worker.
    """

    prompts: int
    chunk: int
    staleness: int
    lease_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """The answers to one prompt; `version` is the number of updates behind the weights that gave them."""

    id: int
    version: int
    worker: str
    answers: Any


@dataclass(frozen=True, slots=True)
class Ticket:
    ids: list[int]
    worker: str
    deadline: float


@dataclass(slots=True)
class Counts:
    """What became of answers since the last update."""

    stale: int = 0
    late: int = 0
    lost: int = 0
    workers: set[str] = field(default_factory=set)


class Board:
    """Shared by the trainer and the threads that answer its workers.

    :param sample: the prompt at a position, such as `Plan.sample`.
    :param used: prompts of the updates before this start of the trainer.
    """

    def __init__(
        self, sample: Callable[[int], int], limits: Limits, used: Iterable[int], *, now: Callable[[], float] = time.monotonic
    ) -> None:
        self.sample = sample
        self.limits = limits
        self.now = now
        self.used = Counter(used)
        self.position = 0
        self.again: deque[int] = deque()
        self.tickets: dict[int, Ticket] = {}
        self.handed = 0
        self.arrived: deque[Sample] = deque()
        self.taken: list[Sample] = []
        self.version = 0
        self.weights: bytes | bytearray = b""
        self.counts = Counts()
        self.over = False
        self.changed = Condition()

    def publish(self, version: int, weights: bytes | bytearray) -> None:
        with self.changed:
            self.version, self.weights = version, weights
            self.changed.notify_all()

    def hand_out(self, worker: str) -> tuple[int, list[int]] | None:
        """The number of a ticket and its prompts; `None` while answers on their way would be too old when they are used."""
        with self.changed:
            self.expire()
            waiting = len(self.arrived) + sum(len(ticket.ids) for ticket in self.tickets.values())
            room = self.limits.prompts * (1 + self.limits.staleness) - waiting
            if room <= 0:
                return None
            ids = [self.next() for _ in range(min(room, self.limits.chunk))]
            self.handed += 1
            self.tickets[self.handed] = Ticket(ids, worker, self.now() + self.limits.lease_seconds)
            self.counts.workers.add(worker)
            return self.handed, ids

    def next(self) -> int:
        if self.again:
            return self.again.popleft()
        while True:
            id = self.sample(self.position)
            self.position += 1
            if not self.used[id]:
                return id
            self.used[id] -= 1

    def expire(self) -> None:
        for number in [number for number, ticket in self.tickets.items() if ticket.deadline < self.now()]:
            self.give_back(number)

    def give_back(self, number: int) -> None:
        """A lost worker costs its unfinished prompts; another one gets them."""
        with self.changed:
            ticket = self.tickets.pop(number, None)
            if ticket is not None:
                self.again.extend(ticket.ids)
                self.counts.lost += len(ticket.ids)

    def hand_in(self, number: int, version: int, answers: list[Any]) -> None:
        """Answers in the order of the ticket's prompts. They are dropped if another worker has the prompts by now, or as stale.

        :raises ValueError: for another number of answers; the ticket stays.
        """
        with self.changed:
            ticket = self.tickets.get(number)
            if ticket is None:
                self.counts.late += len(answers)
                return
            if len(answers) != len(ticket.ids):
                raise ValueError(f"{len(answers)} answers to {len(ticket.ids)} prompts")
            del self.tickets[number]
            samples = [
                Sample(id=id, version=version, worker=ticket.worker, answers=answer)
                for id, answer in zip(ticket.ids, answers, strict=True)
            ]
            self.arrived.extend(samples)
            self.drop_stale()
            self.changed.notify_all()

    def drop_stale(self) -> None:
        stale = [sample for sample in self.arrived if self.version - sample.version > self.limits.staleness]
        if stale:
            self.arrived = deque(sample for sample in self.arrived if self.version - sample.version <= self.limits.staleness)
            self.again.extend(sample.id for sample in stale)
            self.counts.stale += len(stale)

    def batch(self, step: int) -> list[int]:
        """The prompts of an update, once enough answers are there; `taken` has them."""
        with self.changed:
            while not self.ready():
                self.changed.wait(1)
            self.taken = [self.arrived.popleft() for _ in range(self.limits.prompts)]
            return [sample.id for sample in self.taken]

    def ready(self) -> bool:
        self.drop_stale()
        return len(self.arrived) >= self.limits.prompts

    def await_ready(self, seconds: float) -> bool:
        """Whether there are answers for an update within this time."""
        with self.changed:
            return self.changed.wait_for(self.ready, seconds)

    def counted(self) -> Counts:
        """What became of answers since the last call."""
        with self.changed:
            counts, self.counts = self.counts, Counts()
            return counts

    def end(self) -> None:
        with self.changed:
            self.over = True
