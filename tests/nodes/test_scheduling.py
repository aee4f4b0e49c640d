"""Partitions, QOS, accounts and elastic jobs on a real Slurm, as its users see them."""

from __future__ import annotations

import json
import re
import statistics
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from hyperpod_constructs import Account, Orchestrator, Partition, Qos
from hyperpod_constructs.local.nodes import Image, NodeSpec
from hyperpod_constructs.local.nodes.boot import STAGE
from tests.examples.jobs import GLOBAL_BATCH, assert_undisturbed
from tests.nodes.configuration import configuration
from tests.nodes.lifecycle import ENVIRONMENT, log, outcomes
from tests.nodes.training import CONFIG, USER, Training, TrainingJob, kill, ranks, training_cluster
from tests.patience import PATIENCE, until

Records = list[dict[str, Any]]
BOB = {"name": "bob", "uid": 10002, "gid": 10002}
CAROL = {"name": "carol", "uid": 10003, "gid": 10003}
URGENT = Qos(name="urgent", priority=100, preempt=["normal", "low"])
ORCHESTRATOR = Orchestrator.slurm(
    partitions=[Partition(name="shared", groups=["workers", "gpus"], max_time_minutes=120, default_time_minutes=60)],
    qos=[
        URGENT,
        Qos(name="normal", priority=10, grace_time_seconds=60),
        Qos(name="elastic", priority=10),
        Qos(name="low", priority=1),
        Qos(name="short", max_wall_minutes=10, max_tres_per_job={"node": 1}, max_submit_jobs_per_user=2),
    ],
    accounts=[
        Account(name="research", users=["alice"], fair_share=40),
        Account(name="product", users=["bob"], fair_share=10, qos=["normal", "urgent", "short"]),
    ],
)


def config() -> dict[str, Any]:
    software = CONFIG["software"]
    made = configuration(CONFIG["groups"], **{**software, "users": [*software["users"], BOB, CAROL]})
    return {**made, "scheduling": ORCHESTRATOR.scheduling.render()}


@pytest.fixture(scope="module")
def cluster(image: Image, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Training]:
    """Three workers of one group and one of another."""
    workers = (NodeSpec("workers", "Compute", 3), NodeSpec("gpus", "Compute", 1))
    with training_cluster(tmp_path_factory.mktemp("rig"), image, *workers, config=config()) as made:
        await_partition(made)
        yield made


@pytest.fixture
def training(cluster: Training) -> Iterator[Training]:
    yield cluster
    cluster.rig.controller.run(["sh", "-c", "squeue --noheader --format=%A | xargs --no-run-if-empty scancel"])
    cluster.rest()
    await_partition(cluster)


@pytest.fixture(scope="module")
def undisturbed(cluster: Training) -> Records:
    return cluster.undisturbed()


def ask(training: Training, *command: str, user: str = "root", check: bool = True) -> subprocess.CompletedProcess[str]:
    return training.rig.node("login", 0).run(list(command), user=user, check=check)


def submit(training: Training, user: str, *options: str, sleep: float = 600, check: bool = True) -> str:
    """The number of a job that sleeps; without `check`, the words of a refusal."""
    command = ["sbatch", "--parsable", "--output=/dev/null", "--chdir=/tmp", *options, f"--wrap=sleep {sleep}"]
    done = ask(training, *command, user=user, check=check)
    return (done.stdout or done.stderr).strip()


def field(training: Training, job: str, form: str) -> str:
    return ask(training, "squeue", "--noheader", "--states=all", f"--jobs={job}", f"--format={form}").stdout.strip()


def await_partition(training: Training) -> None:
    """A slurmctld that has read its files gives the partition its nodes again."""
    until(lambda: len(ask(training, "sinfo", "--noheader", "--Node", "--partition=shared").stdout.split("\n")) == 5, "4 nodes")


def config_of(training: Training) -> dict[str, str]:
    return dict(re.findall(r"^(\w+)\s*= (.*?)\s*$", ask(training, "scontrol", "show", "config").stdout, re.MULTILINE))


def test_slurm_has_the_settings_and_the_agents_stay(training: Training) -> None:
    assert [line for line in log(training.rig.controller) if "skipped: " in line] == []
    found = config_of(training)
    expected = {
        "PriorityType": "priority/multifactor",
        "PriorityWeightQOS": "100000",
        "PreemptType": "preempt/qos",
        "PreemptMode": "REQUEUE",
        "AccountingStorageEnforce": "associations,limits,qos",
        "SchedulerParameters": "permit_job_expansion",
        "TopologyPlugin": "topology/default",
    }
    assert {key: found[key] for key in expected} == expected
    whole = training.rig.controller.read("/opt/slurm/etc/slurm.conf")
    assert "hyperpod-constructs" not in whole
    assert "shared" not in whole
    shown = ask(training, "sinfo", "--noheader", "--format=%P %D %l").stdout.split("\n")[:-1]
    assert sorted(shown) == ["dev* 4 infinite", "gpus 1 infinite", "shared 4 2:00:00", "training 3 infinite"]


def test_a_partition_follows_its_groups_after_slurmctld_read_its_files(training: Training) -> None:
    job = submit(training, "alice", "--partition=shared", "--nodes=4", "--exclusive")
    until(lambda: field(training, job, "%T") == "RUNNING", "the job", lambda: field(training, job, "%T %r"))
    training.rig.controller.run(["scontrol", "reconfigure"])
    await_partition(training)
    assert field(training, job, "%T %D") == "RUNNING 4"


def test_another_run_changes_nothing_and_repairs_what_differs(training: Training) -> None:
    controller = training.rig.controller

    def run() -> str:
        before = len(log(controller))
        controller.run(
            [f"{STAGE}/on_init_complete.sh"], environment={"NODE_SETUP_UPLOAD_SECONDS": "0", **ENVIRONMENT}, timeout=PATIENCE
        )
        return outcomes(log(controller)[before:])["scheduling"]

    assert run() == "ok, nothing to change"
    controller.run(["sacctmgr", "--immediate", "modify", "qos", "short", "set", "GrpTRES=node=7", "MaxWall=5", "Flags=NoReserve"])
    controller.run(["sacctmgr", "--immediate", "modify", "account", "research", "set", "Fairshare=3", "QOS=normal"])
    assert run() == "ok, 2 changes"
    assert run() == "ok, nothing to change"


@pytest.mark.parametrize(
    ("user", "options", "reason"),
    [
        ("alice", ["--qos=short", "--nodes=2"], "QOSMaxNodePerJobLimit"),
        ("alice", ["--qos=short", "--time=20"], "QOSMaxWallDurationPerJobLimit"),
        ("alice", ["--account=product"], "Invalid account or account/partition combination specified"),
        ("bob", ["--qos=elastic"], "Invalid qos specification"),
    ],
)
def test_fails_beyond_a_limit(training: Training, user: str, options: list[str], reason: str) -> None:
    assert reason in submit(training, user, *options, check=False)


def test_a_user_without_an_account_of_the_settings_has_the_common_one(training: Training) -> None:
    job = submit(training, "carol", "--hold")
    assert field(training, job, "%a %q") == "hyperpod normal"
    assert field(training, submit(training, "ubuntu", "--hold"), "%a") == "hyperpod"
    assert field(training, submit(training, "alice", "--hold"), "%a") == "research"


def test_a_user_has_no_more_jobs_than_the_limit(training: Training) -> None:
    for _ in range(2):
        submit(training, "alice", "--qos=short", "--time=1", "--hold")
    assert "QOSMaxSubmitJobPerUserLimit" in submit(training, "alice", "--qos=short", "--time=1", "--hold", check=False)


def test_who_has_used_less_of_the_share_comes_first(training: Training) -> None:
    spent = submit(training, "bob", "--nodes=4", "--exclusive", sleep=5)
    until(lambda: field(training, spent, "%T") == "COMPLETED", "bob's usage", lambda: field(training, spent, "%T %r"))
    # Slurm counts usage every five minutes, and when it starts.
    training.rig.controller.run(["scontrol", "reconfigure"])
    filler = submit(training, "bob", "--qos=urgent", "--nodes=4", "--exclusive")
    until(lambda: field(training, filler, "%T") == "RUNNING", "the filler", lambda: field(training, filler, "%T %r"))
    late = [submit(training, user, "--nodes=4", "--exclusive") for user in ("bob", "alice")]
    until(lambda: int(field(training, late[1], "%Q")) > int(field(training, late[0], "%Q")) > 1, "alice's priority")
    ask(training, "scancel", filler)
    until(lambda: field(training, late[1], "%T") == "RUNNING", "alice's job", lambda: field(training, late[1], "%T %r"))
    assert field(training, late[0], "%T") == "PENDING"


def test_an_urgent_job_preempts_a_normal_one_which_goes_on_from_its_checkpoint(training: Training, undisturbed: Records) -> None:
    job = training.submit(
        "ddp/ddp.sbatch",
        "--partition=shared",
        "--time=60",
        ARGUMENTS="--pause-seconds 0.2 --collective-seconds 30",
        CHECKPOINT_EVERY="1000",
    )
    job.until_step(12)
    urgent = submit(training, "bob", "--qos=urgent", "--partition=shared", "--nodes=4", "--exclusive", sleep=1)
    job.until(lambda: field(training, urgent, "%T") == "COMPLETED", "the urgent job")
    assert job.state() == "PENDING"
    before = job.records()
    records = job.complete()

    assert job.restarts() == 1, job.picture()
    assert_undisturbed(records, undisturbed)
    assert len(records) == len(undisturbed), "a step was done again although the state was saved"
    assert {record["attempt"] for record in records} == {0, 1}
    assert 12 <= len(before) < len(undisturbed), "it was not preempted on the way"


def test_an_elastic_job_takes_idle_nodes_and_gives_them_to_urgent_work(training: Training, undisturbed: Records) -> None:
    pace = training.pace(0.5)
    filler = submit(training, "bob", "--partition=shared", "--nodes=2", "--exclusive")
    until(lambda: field(training, filler, "%T") == "RUNNING", "the filler", lambda: field(training, filler, "%T %r"))
    settings = {"LAST_CALL_SECONDS": "10", "POLL_SECONDS": "1", **pace.settings}
    arguments = f"{pace.argument} --collective-seconds 30"
    job = training.submit(
        "elastic/elastic.sbatch",
        "--partition=shared",
        "--qos=elastic",
        "--time=60",
        ARGUMENTS=arguments,
        CHECKPOINT_EVERY="1000",
        **settings,
    )
    job.until_step(3)
    ask(training, "scancel", filler)
    await_size(job, 4)
    urgent = submit(training, "bob", "--qos=urgent", "--partition=shared", "--nodes=2", "--exclusive")
    job.until(lambda: field(training, urgent, "%T") == "RUNNING", "the urgent job")
    await_size(job, 2)
    ask(training, "scancel", urgent)
    await_size(job, 4)
    pace.set(0)
    records = job.complete()

    assert sizes(records) == [2, 4, 2, 4]
    assert_undisturbed(records, undisturbed)
    assert len(records) == len(undisturbed), "a step was done again although the state was saved"
    assert job.restarts() == 0, job.picture()
    assert field(training, str(job.number), "%u") == USER


def test_policy_learns_while_its_workers_are_killed_preempted_and_added(training: Training) -> None:
    """The workers are in a QOS that urgent work preempts, the trainer is in one that nobody does."""
    settings = {"STEPS": "100", "MICRO_BATCH": "4", "LEASE_SECONDS": "20", "ALONE_SECONDS": "10"}
    pace = training.pace(0.5)
    given = {"ARGUMENTS": pace.argument, "CHECKPOINT_EVERY": "50", **settings, **pace.settings}
    trainer = training.submit("rl/rl.sbatch", "--qos=elastic", **given)
    run = {"RUN_DIR": f"/fsx/runs/{trainer.directory.name}", **settings}
    training.submit("rl/rollouts.sbatch", "--array=0-1", "--qos=low", **run)
    trainer.until(lambda: len(brought(updates(trainer))) == 2, "answers of both workers")
    pace.set(2)
    node = next(node for node in training.rig.nodes if node not in trainer.nodes() and ranks(node, "rollout.py"))
    kill(node, ranks(node, "rollout.py"))
    await_workers(trainer, 2, "the killed worker's return")
    training.submit("rl/rollouts.sbatch", "--array=0", "--qos=low", **run)
    await_workers(trainer, 3, "the added worker")
    urgent = submit(training, "bob", "--qos=urgent", "--nodes=1", "--exclusive")
    trainer.until(lambda: field(training, urgent, "%T") == "RUNNING", "the urgent job")
    await_workers(trainer, 2, "answers of the others")
    assert field(training, str(trainer.number), "%T") == "RUNNING"
    ask(training, "scancel", urgent)
    await_workers(trainer, 3, "the preempted worker's return")
    pace.set(0)
    records = trainer.complete()

    ends = ask(training, "sacct", "--allusers", "--allocations", "--duplicates", "--noheader", "--parsable2", "--format=QOS,State")
    assert [end for end in ends.stdout.split() if end.endswith("|PREEMPTED") and end.startswith(("low", "elastic"))] == [
        "low|PREEMPTED"
    ]
    found = updates(trainer)
    assert [update["step"] for update in found] == [record["step"] for record in records] == list(range(100))
    assert len({update["pid"] for update in found}) == 1, "the trainer was started again"
    assert trainer.restarts() == 0
    used = [id for record in records for id in record["samples"]]
    assert len(used) == len(set(used)) == 100 * GLOBAL_BATCH, "a prompt was used twice"
    assert statistics.mean(update["reward"] for update in found[:5]) < 0.25
    assert statistics.mean(update["reward"] for update in found[-10:]) > 0.6
    assert max(update["staleness"] for update in found) <= 2


def updates(job: TrainingJob) -> Records:
    path = job.directory / "rollouts.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines(keepends=True) if line.endswith("\n")] if path.exists() else []


def brought(found: Records) -> set[str]:
    """Who has brought answers, by address."""
    return {worker.partition(":")[0] for update in found for worker in update["workers"]} - {"trainer"}


def await_workers(trainer: TrainingJob, number: int, what: str) -> None:
    """So many have brought answers from now on."""
    before = len(updates(trainer))
    trainer.until(lambda: len(brought(updates(trainer)[before:])) >= number, what)


def await_size(job: TrainingJob, size: int) -> None:
    """The job has committed a step with this number of ranks."""
    job.until(lambda: sizes(job.records())[-1] == size, f"{size} ranks")


def sizes(records: Records) -> list[int]:
    """The numbers of ranks, one after the other, without repetitions."""
    found = [0]
    for record in records:
        if record["ranks"] != found[-1]:
            found.append(record["ranks"])
    return found[1:] or found


def test_a_replaced_controller_has_the_settings_again(training: Training) -> None:
    """The last test: the new controller makes requeued jobs wait as long as Slurm's default."""
    before = held_by_slurm(training)
    old = training.rig.controller
    old.run(["sacctmgr", "--immediate", "modify", "qos", "short", "set", "MaxWall=90", "GrpTRES=node=7"])
    old.run(["sacctmgr", "--immediate", "delete", "user", "bob", "account=product"])
    assert held_by_slurm(training) != before
    waiting = submit(training, "alice", "--hold", "--qos=elastic", "--job-name=waiting")
    # Slurm itself writes what has become of its jobs within seconds.
    until(lambda: old.run(["grep", "-q", "waiting", "/var/spool/slurmctld/job_state"], check=False).returncode == 0)
    old.run(["systemctl", "start", "hyperpod-keep.service"])
    new = training.rig.replace(old)
    assert new.failure is None
    training.rig.await_idle()
    await_partition(training)

    assert [line for line in log(new) if "skipped: " in line] == []
    assert held_by_slurm(training) == before
    assert field(training, waiting, "%T %a %q") == "PENDING research elastic"
    assert "QOSMaxWallDurationPerJobLimit" in submit(training, "alice", "--qos=short", "--time=20", check=False)
    job = submit(training, "bob", "--qos=urgent", "--partition=shared", "--nodes=4", sleep=1)
    until(lambda: field(training, job, "%T") == "COMPLETED", "bob's job", lambda: field(training, job, "%T %r"))
    assert field(training, job, "%a %q") == "product urgent"


def held_by_slurm(training: Training) -> list[object]:
    """The settings as slurmctld and the accounting database have them."""
    qos = "format=Name,Priority,Preempt,PreemptMode,GraceTime,MaxWall,GrpTRES,MaxTRES,MaxSubmitJobsPerUser"
    associations = "format=Account,User,ParentName,Fairshare,QOS,DefaultQOS"
    tables = [
        sorted(ask(training, "sacctmgr", "--noheader", "--parsable2", "show", *what).stdout.split("\n"))
        for what in (["qos", qos], ["associations", associations])
    ]
    keys = ("PriorityType", "PriorityWeightQOS", "PreemptType", "PreemptMode", "PreemptParameters", "AccountingStorageEnforce")
    shown = ask(training, "sinfo", "--noheader", "--format=%P %D %l").stdout.split("\n")
    found = config_of(training)
    return [{key: found[key] for key in keys}, sorted(shown), *tables]
