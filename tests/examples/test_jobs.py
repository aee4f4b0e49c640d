"""Faults of whole jobs: lost steps are repeated with the same samples, and the loss stays the same."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.examples.conftest import Job
from tests.examples.jobs import assert_undisturbed

MakeJob = Callable[..., Job]
Records = list[dict[str, Any]]
SLOW = "--pause-seconds 0.1"


def test_ddp_restarts_in_place_when_a_rank_dies(make_job: MakeJob, undisturbed: Records) -> None:
    job = make_job("ddp/ddp.sbatch", 2, ARGUMENTS=SLOW)
    job.start()
    job.until_step(12)
    os.kill(job.pids("train_ddp.py", "-u")[-1], signal.SIGKILL)
    assert job.wait() == 0, job.text()
    assert_undisturbed(job.records(), undisturbed)
    assert len(job.records()) > len(undisturbed), "no step was done again: was there a fault?"
    assert "starting at step 10" in job.text()


def test_fsdp2_goes_on_after_the_batch_host_is_lost(make_job: MakeJob, undisturbed: Records) -> None:
    job = make_job("fsdp2/fsdp2.sbatch", 2, ARGUMENTS=SLOW)
    job.start()
    job.until_step(12)
    job.kill()
    job.start(restarts=1)
    assert job.wait() == 0, job.text()
    assert_undisturbed(job.records(), undisturbed)
    assert {record["attempt"] for record in job.records()} == {0, 1}


def test_deepspeed_goes_on_after_its_step_failed(make_job: MakeJob, undisturbed: Records) -> None:
    job = make_job("deepspeed/deepspeed.sbatch", 2, ARGUMENTS=SLOW, MAX_RESTARTS="0")
    job.start()
    job.until_step(12)
    os.kill(job.pids("train_deepspeed.py", "-u")[-1], signal.SIGKILL)
    assert job.wait() == 0, job.text()
    assert_undisturbed(job.records(), undisturbed)
    assert "attempt 1 ended with status 1" in job.text()


def test_a_job_that_lost_a_node_for_good_goes_back_to_the_queue(make_job: MakeJob) -> None:
    job = make_job("ddp/ddp.sbatch", 2, ARGUMENTS=SLOW, MAX_RESTARTS="0")
    job.start()
    job.until_step(3)
    (job.directory / "double" / "left" / "node-1").touch()
    os.kill(job.pids("train_ddp.py", "-u")[-1], signal.SIGKILL)
    assert job.wait() == 1
    assert (job.directory / "double" / "requeued").read_text().split() == [job.environment["SLURM_JOB_ID"]]
    assert "attempt 2" not in job.text()


def test_the_time_limit_saves_and_requeues(make_job: MakeJob, undisturbed: Records) -> None:
    job = make_job("ddp/ddp.sbatch", 2, ARGUMENTS=SLOW, CHECKPOINT_EVERY="1000")
    job.start()
    job.until_step(12)
    assert job.process is not None
    job.process.send_signal(signal.SIGUSR1)
    assert job.wait() == 0, job.text()
    assert (job.directory / "double" / "requeued").read_text().split() == [job.environment["SLURM_JOB_ID"]]
    stopped_after = len(job.records())
    assert stopped_after < len(undisturbed)
    job.start(restarts=1)
    assert job.wait() == 0, job.text()
    assert_undisturbed(job.records(), undisturbed)
    assert len(job.records()) == len(undisturbed), "a step was done again although the state was saved"


@pytest.mark.parametrize("name", ["ddp", "fsdp2", "deepspeed"])
def test_a_full_disk_costs_one_checkpoint(make_job: MakeJob, undisturbed: Records, name: str) -> None:
    job = make_job(
        f"{name}/{name}.sbatch",
        1,
        RANKS_PER_NODE="2",
        PYTHONPATH=str(Path(__file__).parent / "full_disk"),
        FULL_AT=".step-0000000010.",
        STEPS="18",
    )
    job.start()
    assert job.wait() == 0, job.text()
    assert_undisturbed(job.records(), undisturbed[:18])
    assert "checkpoint of step 10 was not saved, the previous one stays" in job.text()
    assert "No space left on device" in job.text()
    assert sorted(path.name for path in job.checkpoints.iterdir()) == ["step-0000000015", "step-0000000018"]
    assert re.findall("rank with the compiler: (.*)", job.text()) == ["False", "False"]


def test_a_job_that_lost_its_checkpoints_is_refused(make_job: MakeJob) -> None:
    job = make_job("ddp/ddp.sbatch", 1, ARGUMENTS="--keep 1", STEPS="12")
    job.start()
    assert job.wait() == 0, job.text()
    job.checkpoints.rename(job.directory / "elsewhere")
    job.environment.update(STEPS="20", ATTEMPTS="1", MAX_RESTARTS="0")
    job.start()
    assert job.wait() == 1
    assert "no good checkpoint, but" in job.text()
    assert len(job.records()) == 12


def test_a_rank_that_loads_for_longer_than_a_step_may_last_is_waited_for(make_job: MakeJob, undisturbed: Records) -> None:
    late = str(Path(__file__).parent / "late")
    job = make_job("ddp/ddp.sbatch", 2, ARGUMENTS="--collective-seconds 2", PYTHONPATH=late, LATE_SECONDS="5", STEPS="3")
    job.start()
    assert job.wait() == 0, job.text()
    assert_undisturbed(job.records(), undisturbed[:3])
    assert job.text().count("rank 1 started") == 1
