"""Reinforcement learning: the policy learns, and neither lost nor slow workers stop the trainer."""

from __future__ import annotations

import os
import signal
import statistics
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.examples.conftest import Job
from tests.examples.jobs import EXAMPLES

UPDATES = 100
PROMPTS = 12
CHANCE = 1 / 8
LEARNT = 0.6
SETTINGS = {
    "STEPS": str(UPDATES),
    "GLOBAL_BATCH": str(PROMPTS),
    "MICRO_BATCH": "4",
    "CHECKPOINT_EVERY": "20",
    "LEASE_SECONDS": "20",
    "ALONE_SECONDS": "5",
    "ARGUMENTS": "--pause-seconds 0.05",
}

# A worker that sends something else than answers loses its connection, and its prompts go to another one.
STRANGE = """
import sys
from pathlib import Path

import torch
from common.settings import parse
from common.tensors import pack
from common.wire import dial, token
from policy import ANSWER, NUMBERS, Policy
from train_rl import Trainer

directory, data = sys.argv[1:]
policy = Policy()
optimizer = torch.optim.Adam(policy.parameters())
settings = parse(["--run-directory", directory, "--data", data, "--global-batch", "4", "--micro-batch", "4"])
trainer = Trainer(settings, 0, policy, optimizer)
right = {"answers": torch.zeros(4, 8, ANSWER, dtype=torch.int64), "chances": torch.full((4, 8, ANSWER), -1.0)}
wrong = {
    "no tensors": b"x" * 100,
    "too many": pack({name: torch.cat([tensor, tensor]) for name, tensor in right.items()}),
    "another shape": pack({name: tensor[:, :3] for name, tensor in right.items()}),
    "another type": pack(right | {"answers": right["answers"].float()}),
    "no chances": pack({"answers": right["answers"]}),
    "a number beyond": pack(right | {"answers": right["answers"] + NUMBERS}),
    "a negative number": pack(right | {"answers": right["answers"] - 1}),
    "no chance": pack(right | {"chances": right["chances"] * float("nan")}),
    "an impossible answer": pack(right | {"chances": right["chances"] * float("inf")}),
    "more than certain": pack(right | {"chances": -right["chances"]}),
}
first = None
for what, body in wrong.items():
    with dial(trainer.port.address, token(), 20) as peer:
        peer.send({})
        head, weights = peer.receive(1 << 24)
        assert weights and head["version"] == 0
        first = first or head["ids"]
        assert head["ids"] == first, (what, head)
        peer.send({}, body)
        try:
            peer.receive(1 << 24)
        except ConnectionError:
            continue
        raise AssertionError(what)
with dial(trainer.port.address, token(), 20) as peer:
    peer.send({})
    assert peer.receive(1 << 24)[0]["ids"] == first
    peer.send({}, pack(right))
    head, weights = peer.receive(1 << 24)
    assert head["ids"] != first and not weights
assert trainer.board.batch(0) == first
"""


@pytest.fixture
def trainer(make_job: Callable[..., Job]) -> Job:
    return make_job("rl/rl.sbatch", 1, **SETTINGS)


@pytest.fixture
def add_worker(make_job: Callable[..., Job], trainer: Job) -> Callable[..., Job]:
    def add(**settings: str) -> Job:
        job = make_job("rl/rollouts.sbatch", 1, **{**SETTINGS, "RUN_DIR": str(trainer.run_directory), **settings})
        job.start()
        return job

    return add


def rewards(updates: list[dict[str, Any]]) -> float:
    return statistics.mean(float(update["reward"]) for update in updates)


def assert_each_prompt_once(records: list[dict[str, Any]]) -> None:
    """The first epoch: no prompt is used twice, whatever became of the workers that had it first."""
    used = [id for record in records for id in record["samples"]]
    assert len(used) == len(set(used)) == UPDATES * PROMPTS


def test_workers_come_and_go_and_the_policy_learns(trainer: Job, add_worker: Callable[..., Job]) -> None:
    trainer.start()
    first, second = add_worker(), add_worker(ROLLOUT_PAUSE_SECONDS="0.3")
    trainer.until_step(15)
    for pid in first.pids("rollout.py"):
        os.kill(pid, signal.SIGKILL)
    trainer.until_step(30)
    first.kill()
    second.kill()
    trainer.until_step(len(trainer.records()) + 3)
    add_worker()
    assert trainer.wait() == 0, trainer.text()

    updates = trainer.records("rollouts.jsonl")
    assert [update["step"] for update in updates] == list(range(UPDATES))
    assert len({update["pid"] for update in updates}) == 1, "the trainer was started again"
    assert_each_prompt_once(trainer.records())
    assert rewards(updates[:5]) < 2 * CHANCE
    assert rewards(updates[-10:]) > LEARNT
    assert sum(update["lost"] for update in updates) > 0, "nothing was lost: was a worker killed?"
    assert max(update["staleness"] for update in updates) == 2
    workers = [set(update["workers"]) for update in updates]
    assert {"trainer"} in workers, "nobody generated while there was no worker"
    assert len(set.union(*workers)) == 5


def test_answers_of_another_form_are_refused(torch_python: Path, data: Path, tmp_path: Path) -> None:
    environment = {"PYTHONPATH": f"{EXAMPLES}:{EXAMPLES / 'rl'}", "JOB_TOKEN": "t" * 32, "ADDRESS": "127.0.0.1"}
    done = subprocess.run(  # noqa: S603
        [torch_python, "-c", STRANGE, tmp_path, data], env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
