"""Recovery from the memory of healthy groups, and the cases left to checkpoints."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.examples.conftest import STEPS, Job
from tests.examples.jobs import assert_undisturbed, variables

Records = list[dict[str, Any]]
RANKS = "train_checkpointless.py"


@pytest.fixture
def job(make_job: Callable[..., Job], tmp_path: Path) -> Job:
    """Two groups that train and a spare; every use of the checkpoint directory is noted."""
    guard = Path(__file__).parent / "guard"
    job = make_job("checkpointless/checkpointless.sbatch", 3, ARGUMENTS="--pause-seconds 0.3", PYTHONPATH=str(guard))
    job.environment.update(GUARDED_DIRECTORY=str(job.checkpoints), GUARD_FILE=str(tmp_path / "guard"))
    return job


def logs(job: Job) -> list[Records]:
    return [job.records(f"samples-group-{group}.jsonl") for group in range(3)]


def until_step(job: Job, step: int) -> None:
    job.until(lambda: any(record["step"] >= step for log in logs(job) for record in log), f"step {step}")


def rank_of(job: Job, group: int) -> int:
    (pid,) = [pid for pid in job.pids(RANKS) if f"REPLICA_GROUP={group}" in variables(pid) and "bash" not in command(pid)]
    return pid


def command(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_text().split("\0")[0]


def healed_after_restart(job: Job) -> list[int]:
    _, restarted, text = job.text().partition("ended, started again")
    return [int(step) for step in re.findall(r"healed at step (\d+)", text)] if restarted else []


def uses_of_checkpoints(tmp_path: Path, after: float, before: float) -> list[str]:
    path = tmp_path / "guard"
    lines = path.read_text().splitlines() if path.exists() else []
    return [line for line in lines if after < float(line.split()[0]) < before]


def test_a_lost_group_heals_without_a_checkpoint(job: Job, tmp_path: Path, undisturbed: Records) -> None:
    # On a busy machine the lost group takes half a minute to come back, and the job must not be over by then.
    job.environment.update(CHECKPOINT_EVERY="1000", COLLECTIVE_SECONDS="60", ARGUMENTS="--pause-seconds 1")
    job.start()
    job.until(lambda: all(log for log in logs(job)[:2]) and max(r["step"] for log in logs(job) for r in log) >= 5, "step 5")
    survivors = [rank_of(job, 0), rank_of(job, 2)]
    lost = rank_of(job, 1)
    killed = time.time()
    os.kill(lost, signal.SIGKILL)
    job.until(lambda: healed_after_restart(job), "the recovery")
    assert [rank_of(job, 0), rank_of(job, 2)] == survivors
    assert job.wait() == 0, job.text()

    assert_undisturbed(job.records(), undisturbed)
    (healed,) = healed_after_restart(job)
    assert healed > 5, "healed from a state without progress"
    for log in logs(job):
        steps = [record["step"] for record in log]
        assert len(steps) == len(set(steps)), "a step was committed twice"
    committed = sorted(record["time"] for log in logs(job) for record in log)
    assert {record["pid"] for record in logs(job)[0]} == {survivors[0]}
    assert uses_of_checkpoints(tmp_path, killed, committed[-1]) == []
    for earlier, later in pairwise(committed):
        assert later - earlier < 30, "the others waited for the lost group, or for each other"


def test_the_loss_of_the_batch_host_is_recovered_from_a_checkpoint(job: Job, undisturbed: Records) -> None:
    job.start()
    until_step(job, 12)
    job.kill()
    job.start(restarts=1)
    assert job.wait() == 0, job.text()
    assert_undisturbed([record for log in logs(job) for record in log], undisturbed)
    assert re.search(r"restored step 1\d from the checkpoint", job.text())
    assert min(record["step"] for log in logs(job) for record in log if record["attempt"] == 1) >= 10


def test_the_loss_of_all_groups_but_the_lighthouse(job: Job, undisturbed: Records) -> None:
    job.start()
    until_step(job, 12)
    for group in range(3):
        os.kill(rank_of(job, group), signal.SIGKILL)
    assert job.wait() == 0, job.text()
    assert_undisturbed(job.records(), undisturbed)
    assert len(job.records()) == STEPS
    assert re.search(r"restored step 1\d from the checkpoint", job.text())


def test_the_loss_of_the_lighthouse_while_slurmctld_is_busy(job: Job, undisturbed: Records) -> None:
    job.start()
    until_step(job, 7)
    (job.directory / "double" / "busy").touch()
    for pid in job.pids("torchft_lighthouse"):
        os.kill(pid, signal.SIGKILL)
    assert job.wait() == 0, job.text()
    assert_undisturbed([record for log in logs(job) for record in log], undisturbed)
    assert re.search(r"restored step [1-9]\d* from the checkpoint", job.text())
    assert not (job.directory / "double" / "busy").exists()


def test_the_time_limit_saves_and_requeues(job: Job, undisturbed: Records) -> None:
    job.environment["CHECKPOINT_EVERY"] = "1000"
    job.start()
    until_step(job, 8)
    assert job.process is not None
    job.process.send_signal(signal.SIGUSR1)
    assert job.wait() == 0, job.text()
    assert (job.directory / "double" / "requeued").read_text().split() == [job.environment["SLURM_JOB_ID"]]
    job.start(restarts=1)
    assert job.wait() == 0, job.text()
    assert_undisturbed(job.records(), undisturbed)
    assert re.search(r"restored step \d+ from the checkpoint", job.text())
