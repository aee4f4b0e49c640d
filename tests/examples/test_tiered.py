"""Checkpoints in tiers: the nearest one that is whole is restored."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from typing import Any

from tests.examples.conftest import Job
from tests.examples.jobs import assert_undisturbed, variables

SETTINGS = {
    "MEMORY_EVERY": "2",
    "CHECKPOINT_EVERY": "8",
    "MICRO_BATCH": "2",
    "ARGUMENTS": "--pause-seconds 0.3 --collective-seconds 10",
    "BUCKET": "s3://bucket/runs/first",
    "BUCKET_EVERY": "5",
    "MAX_FAILURES": "200",
}


def restored(job: Job) -> list[tuple[int, str]]:
    """The steps and tiers of all ranks so far."""
    return [(int(step), tier) for step, tier in re.findall(r"restored step (\d+) from (\w+)", job.text())]


def lose(job: Job, node: int) -> None:
    """Power off, and on again: its step starts anew, with an empty memory."""
    mark = job.directory / "double" / "down" / f"node-{node}"
    mark.touch()
    name = f"SLURMD_NODENAME=node-{node}"
    job.until(lambda: not any(name in variables(pid) for pid in job.pids("train_fsdp2.py")), "the loss")
    mark.unlink()


def test_nearest_whole_tier_is_restored(make_job: Callable[..., Job], undisturbed: list[dict[str, Any]]) -> None:
    """The neighbour's memory after the loss of a node, and S3 after the loss of all memory and of the file system's checkpoints."""
    job = make_job("tiered/tiered.sbatch", 2, **SETTINGS)
    job.start()
    job.until_step(9)
    lose(job, 1)
    job.until(lambda: len(restored(job)) == 2, "the recovery from memory")
    ((step, tier),) = set(restored(job))
    assert step >= 8
    assert tier == "memory"
    job.until_step(max(step, 18))
    job.kill()
    shutil.rmtree(job.checkpoints)
    job.start(restarts=1)
    assert job.wait() == 0, job.text()
    assert restored(job)[2:] == [(15, "S3")] * 2
    assert_undisturbed(job.records(), undisturbed)
