"""The trainer: it hands out prompts and weights, takes answers from whoever brings them, and updates the weights.

It never waits for a certain worker, and without any it generates by itself, so it goes on whatever becomes of them.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import torch
from board import Board, Limits
from common import eager
from common import world as ranks
from common.checkpoints import Store
from common.data import Plan, TokenFile, mix
from common.loop import train
from common.owner_store import Slots
from common.restore import start_step
from common.sample_log import merge
from common.saver import Saver
from common.settings import Settings, parse
from common.state import load_state, write_copy
from common.tensors import pack, unpack
from common.wire import Peer, Port, WireError, token
from policy import ANSWER, NUMBERS, PROMPT, Policy, objective, prompts_of
from torch import Tensor

MOST_BYTES = 1 << 24
SLOT = 0


class Trainer:
    def __init__(self, settings: Settings, start: int, policy: Policy, optimizer: torch.optim.Optimizer) -> None:
        self.group = int(os.environ.get("GROUP", "8"))
        self.alone_seconds = float(os.environ.get("ALONE_SECONDS", "20"))
        self.data = TokenFile(settings.data, PROMPT, 256)
        self.policy = policy
        self.optimizer = optimizer
        self.log = settings.run_directory / "rollouts.jsonl"
        self.seed = settings.seed
        limits = Limits(
            prompts=settings.global_batch,
            chunk=settings.micro_batch,
            staleness=int(os.environ.get("STALENESS", "2")),
            lease_seconds=float(os.environ.get("LEASE_SECONDS", "30")),
        )
        before = [record for record in merge([settings.sample_file]) if record["step"] < start]
        used = [id for record in before for id in record["samples"]]
        self.board = Board(Plan(self.data.samples, settings.global_batch, settings.seed).sample, limits, used)
        self.publish(start)
        self.port = Port(os.environ["ADDRESS"], token(), self.answer)
        Slots(settings.run_directory / ".trainer").publish(SLOT, self.port.address)

    def publish(self, version: int) -> None:
        self.board.publish(version, pack(self.policy.state_dict()))

    def answer(self, peer: Peer) -> None:
        """One worker, until it is gone; then others get what it has not finished."""
        host, port = peer.connection.getpeername()
        held: int | None = None
        known = -1
        try:
            while not self.board.over:
                _, body = peer.receive(MOST_BYTES)
                if held is not None:
                    self.hand_in(held, known, body)
                held = None
                given = self.board.hand_out(f"{host}:{port}")
                if given is None:
                    peer.send({"do": "wait"})
                    continue
                held, ids = given
                version, weights = self.board.version, self.board.weights
                seed = mix(self.seed, version, held) >> 1
                work = {"do": "generate", "version": version, "ids": ids, "seed": seed, "group": self.group}
                peer.send(work, weights if version != known else b"")
                known = version
            peer.receive(MOST_BYTES)
            peer.send({"do": "end"})
        finally:
            if held is not None:
                self.board.give_back(held)

    def hand_in(self, ticket: int, version: int, body: bytearray) -> None:
        """Answers of a worker: their form is checked, and the reward is found here."""
        try:
            found = unpack(body)
            answers, chances = found["answers"], found["chances"]
            shape = (answers.shape[0], self.group, ANSWER)
            if answers.dtype != torch.int64 or chances.dtype != torch.float32 or answers.shape != shape or chances.shape != shape:
                raise ValueError(f"answers {answers.dtype} {tuple(answers.shape)}, expected are int64 and {shape}")
            if not (bool(((answers >= 0) & (answers < NUMBERS)).all()) and bool((chances.isfinite() & (chances <= 0)).all())):
                raise ValueError("numbers or chances that no policy gives")
            self.board.hand_in(ticket, version, list(zip(answers, chances, strict=True)))
        except (ValueError, KeyError) as error:
            self.board.give_back(ticket)
            raise WireError(f"a worker's answers are refused: {error}") from None

    def batch(self, step: int) -> list[int]:
        """The prompts of the next update; the trainer generates itself when nobody has brought enough for a while."""
        while not self.board.await_ready(self.alone_seconds):
            given = self.board.hand_out("trainer")
            if given is None:
                continue
            ticket, ids = given
            prompts = self.prompts(ids)
            generator = torch.Generator().manual_seed(mix(self.seed, self.board.version, ticket) >> 1)
            answers, chances = (part.view(len(ids), self.group, ANSWER) for part in self.policy.generate(prompts, generator))
            self.board.hand_in(ticket, self.board.version, list(zip(answers, chances, strict=True)))
        return self.board.batch(step)

    def prompts(self, ids: list[int]) -> Tensor:
        """Each as often as it gets answers."""
        return prompts_of(self.data.read(ids)).repeat_interleave(self.group, dim=0)

    def update(self, samples: list[int], arrive: Callable[[], None]) -> Tensor:
        """The loss that is logged is the mean reward's negative."""
        arrive()
        step, taken = self.board.version, self.board.taken
        answers, chances = (torch.cat([sample.answers[part] for sample in taken]) for part in (0, 1))
        self.optimizer.zero_grad()
        loss, reward = objective(self.policy, self.prompts(samples), answers, chances, self.group)
        loss.backward()
        self.optimizer.step()
        self.publish(step + 1)
        self.record(step, reward.item(), [step - sample.version for sample in taken], sorted({sample.worker for sample in taken}))
        return -reward

    def record(self, step: int, reward: float, staleness: list[int], workers: list[str]) -> None:
        counts = self.board.counted()
        line: dict[str, Any] = {"step": step, "time": time.time(), "pid": os.getpid(), "reward": reward}
        line |= {"staleness": max(staleness), "stale": counts.stale, "late": counts.late, "lost": counts.lost, "workers": workers}
        with self.log.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


def main() -> None:
    eager.install()
    settings = parse()
    world = ranks.join(settings.join_seconds)
    if world.size > 1:
        raise SystemExit(f"{world.size} ranks: the trainer is one process, set RANKS_PER_NODE=1")
    torch.manual_seed(settings.seed)
    policy = Policy()
    optimizer = torch.optim.Adam(policy.parameters(), lr=settings.learning_rate)
    store = Store(settings.checkpoint_directory, settings.keep)
    start = start_step(settings, store, world)
    if start:
        load_state(store.path(start), policy, optimizer, world.device)
    trainer = Trainer(settings, start, policy, optimizer)

    def snapshot(directory: Path) -> Callable[[], Iterable[Path]]:
        return write_copy(directory, policy, optimizer)

    train(settings, world, trainer, Saver(store, world, snapshot), start=start, train_step=trainer.update)
    trainer.board.end()


if __name__ == "__main__":
    main()
    ranks.leave()
