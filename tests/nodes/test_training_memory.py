"""Jobs that go on from what others hold in memory; a checkpoint is for what is lost with all of them."""

from __future__ import annotations

import os
import re
import shutil
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from hyperpod_constructs.local.nodes.doubles.health_agent import HealthAgent
from tests.examples.conftest import DOUBLES
from tests.examples.jobs import assert_undisturbed
from tests.nodes.training import USER, USER_ID, Opens, Training, TrainingJob, kill, ranks, replaced

Records = list[dict[str, Any]]
SCRIPT = "checkpointless/checkpointless.sbatch"
RANKS = "train_checkpointless.py"
LOGS = "samples-group-*.jsonl"
# More than a job makes before its test is over.
STEPS = 600


@pytest.fixture(scope="module")
def undisturbed(training_workers: Training) -> Records:
    return training_workers.undisturbed()


def submit(training: Training, **settings: str) -> TrainingJob:
    """Two groups that train and a spare."""
    return training.submit(SCRIPT, COLLECTIVE_SECONDS="5", **settings)


def healed(job: TrainingJob) -> list[int]:
    """The steps at which groups were healed, also at the start, where they take over the first weights."""
    return [int(step) for step in re.findall(r"healed at step (\d+)", job.text)]


def test_groups_are_healed_from_memory_after_a_dead_process_and_a_node_without_power(training: Training) -> None:
    job = submit(training, STEPS=str(STEPS), CHECKPOINT_EVERY="1000", ARGUMENTS="--pause-seconds 0.2")
    job.until_step(20, LOGS)
    first, second, spare = job.nodes()
    job.checkpoints.mkdir()
    os.chown(job.checkpoints, USER_ID, USER_ID)
    at_start = len(healed(job))
    with closing(Opens(job.checkpoints)) as opens, HealthAgent(training.rig) as agent:
        survivors = [ranks(node, RANKS) for node in (first, spare)]
        kill(second, ranks(second, RANKS))
        job.until(lambda: len(healed(job)) == at_start + 1, "the recovery of the process")
        assert [ranks(node, RANKS) for node in (first, spare)] == survivors

        second.power_off()
        job.until(lambda: len(healed(job)) == at_start + 2, "the recovery of the node")
        assert [ranks(node, RANKS) for node in (first, spare)] == survivors
        assert replaced(agent) == [second.name]
        job.until_step(healed(job)[-1] + 5, LOGS)
        assert not opens.seen()

    records = job.records(LOGS)
    assert_undisturbed(records, training.undisturbed(1 + max(record["step"] for record in records)))
    assert min(healed(job)[at_start:]) >= 20
    assert job.restarts() == 0
    for group in range(3):
        steps = [record["step"] for record in job.records(LOGS.replace("*", str(group)))]
        assert len(steps) == len(set(steps)), "a step was committed twice"
    assert {record["participant"] for record in records} == {0, 1}


def test_lost_lighthouse_and_batch_host_are_what_checkpoints_are_for(training: Training, undisturbed: Records) -> None:
    settings = {"BATCH_HOST_SECONDS": "5", "PULSE_SECONDS": "1"}
    job = submit(training, ARGUMENTS="--pause-seconds 0.3", **settings)
    with HealthAgent(training.rig):
        job.until_step(7, LOGS)
        host = job.nodes()[0]
        kill(host, [int(pid) for pid in host.run(["pgrep", "--full", "torchft_[l]ighthouse"]).stdout.split()])
        job.until_step(17, LOGS)
        host.power_off()
        records = job.complete()

    assert_undisturbed(records, undisturbed[: len(records)])
    assert_undisturbed(job.records(LOGS), undisturbed[: len(records)])
    assert job.restarts() == 1
    assert re.search(r"restored step [1-9]\d* from the checkpoint", job.text)
    assert min(record["step"] for record in job.records(LOGS) if record["attempt"] == 1) >= 15


def restored(job: TrainingJob, tier: str = "memory") -> list[int]:
    """The steps that ranks have taken from a tier."""
    return [int(step) for step in re.findall(rf"restored step (\d+) from {tier} ", job.text)]


def starts(job: TrainingJob) -> list[int]:
    return [int(step) for step in re.findall(r"starting at step (\d+)", job.text)]


def test_one_node_without_power_costs_steps_of_memory_and_two_neighbours_a_checkpoint(
    training: Training, undisturbed: Records
) -> None:
    settings = {"MEMORY_EVERY": "2", "CHECKPOINT_EVERY": "8", "ARGUMENTS": "--pause-seconds 0.3 --collective-seconds 5"}
    job = training.submit("tiered/tiered.sbatch", "--nodes=3", **settings)
    with HealthAgent(training.rig):
        job.until_step(12)
        job.nodes()[2].power_off()
        job.until(lambda: len(restored(job)) == 3, "the recovery from memory")
        (step,) = set(restored(job))
        assert step >= 12
        job.until_step(step + 4)
        for neighbour in job.nodes()[1:]:
            neighbour.power_off()
        records = job.complete()

    assert_undisturbed(records, undisturbed)
    assert starts(job)[:2] == [0, step]
    assert starts(job)[2] % 8 == 0
    assert len(restored(job)) == 3, "memory was restored that was not whole"
    assert job.restarts() == 0


@pytest.fixture
def bucket(training: Training) -> tuple[Path, dict[str, str]]:
    """A bucket in S3 and the settings with which a job finds it: a double of the AWS CLI keeps the objects."""
    double = training.rig.shared / "double"
    objects = double / "s3" / "bucket"
    objects.mkdir(parents=True)
    os.chown(objects, USER_ID, USER_ID)
    shutil.copy(DOUBLES / "aws", double)
    path = training.rig.node("login", 0).run(["printenv", "PATH"], user=USER).stdout.strip()
    return objects, {"PATH": f"/fsx/double:{path}", "DOUBLE_DIRECTORY": "/fsx/double", "BUCKET": "s3://bucket/runs/first"}


def copied(objects: Path) -> int:
    """The newest step of which the shards of both ranks are in S3."""
    shards = Counter(path.parents[1].name for path in objects.rglob("rank-*-of-2-*") if path.suffix != ".part")
    return max((int(step.removeprefix("step-")) for step, count in shards.items() if count == 2), default=0)


def test_a_second_submission_takes_from_s3_what_is_lost_in_memory_and_on_the_file_system(
    training: Training, undisturbed: Records, bucket: tuple[Path, dict[str, str]]
) -> None:
    objects, given = bucket
    settings = {"MEMORY_EVERY": "2", "CHECKPOINT_EVERY": "8", "BUCKET_EVERY": "5", **given}
    first = training.submit("tiered/tiered.sbatch", "--nodes=2", ARGUMENTS="--pause-seconds 0.3", **settings)
    first.until_step(12)
    first.until(lambda: copied(objects) and any(first.checkpoints.glob("*")), "a copy in S3 and one on the file system")
    nodes = first.nodes()
    assert all(ranks(node, "memory_agent.py") for node in nodes)
    first.cancel()
    first.until(lambda: first.state() == "CANCELLED", "the end of all its processes")
    assert not any(ranks(node, "memory_agent.py") for node in nodes)
    shutil.rmtree(first.checkpoints)
    step, done = copied(objects), first.records()

    second = training.submit("tiered/tiered.sbatch", "--nodes=2", RUN_DIR=f"/fsx/runs/{first.directory.name}", **settings)
    second.complete()
    records = first.records()
    assert restored(second, "S3") == [step] * 2
    assert starts(second) == [step]
    assert 0 < step <= done[-1]["step"] + 1
    assert [record["step"] for record in records[len(done) :]] == list(range(step, len(undisturbed)))
    assert_undisturbed(records, undisturbed)


def test_opening_a_directory_or_a_file_in_it_is_seen(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with closing(Opens(tmp_path)) as opens:
        assert (tmp_path / "file").exists()
        assert not opens.seen()
        assert (tmp_path / "file").read_bytes() == b""
        assert opens.seen()
        assert [path.name for path in tmp_path.iterdir()] == ["file"]
        assert opens.seen()
        assert not opens.seen()
