"""Faults of jobs that restart from checkpoints: each goes on by itself, with the samples and the loss of an undisturbed run."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from hyperpod_constructs.cli.commands import app
from hyperpod_constructs.cli.target import AwsAccount
from hyperpod_constructs.local.nodes import File, VirtualNode
from hyperpod_constructs.local.nodes.doubles.health_agent import HealthAgent
from tests.cli.conftest import StubbedTarget
from tests.cli.operate.conftest import CLUSTER
from tests.examples.jobs import assert_undisturbed
from tests.nodes.configuration import CLUSTER_FOLDER
from tests.nodes.training import (
    CHECKS,
    HEALTH_CHECK,
    NODE_CONFIG,
    USER,
    Training,
    TrainingJob,
    complete_without_power,
    kill,
    ranks,
    replaced,
    stop_between_steps,
)

Records = list[dict[str, Any]]
DEVICE = "/dev/neuron0"
NEURON = Path(__file__).parents[1] / "examples" / "neuron"
CONTROLLER = CLUSTER["InstanceGroups"][0]
WORKERS = {
    "InstanceGroupName": "workers",
    "InstanceType": "ml.c5.xlarge",
    "Status": "InService",
    "CurrentCount": 4,
    "TargetCount": 4,
    "SlurmConfig": {"NodeType": "Compute", "PartitionNames": ["training"]},
}
SLOW = "--pause-seconds 0.2 --collective-seconds 15"


@pytest.fixture(scope="module")
def undisturbed(training_workers: Training) -> Records:
    return training_workers.undisturbed()


def test_dead_process_is_restarted_in_place(training: Training, undisturbed: Records) -> None:
    job = training.submit("ddp/ddp.sbatch", ARGUMENTS=SLOW)
    job.until_step(12)
    worker = job.nodes()[1]
    kill(worker, ranks(worker, "train_ddp.py"))

    records = job.complete()
    assert_undisturbed(records, undisturbed)
    assert len(records) > len(undisturbed), "no step was done again: was there a fault?"
    assert job.restarts() == 0
    assert "Auto Resume" not in job.text


def test_node_without_power_is_replaced_and_the_step_retried(training: Training, undisturbed: Records) -> None:
    job = training.submit("fsdp2/fsdp2.sbatch", ARGUMENTS="--pause-seconds 0.2 --collective-seconds 5")
    records = complete_without_power(job, node=1)

    assert_undisturbed(records, undisturbed)
    assert "Retrying step. Attempt number: 1" in job.text
    assert "starting at step 10" in job.text
    assert job.restarts() == 0


def test_the_folder_of_a_new_job_is_ready_to_submit(training: Training, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What `hyperpod job new` writes for this cluster, submitted as its message says."""
    monkeypatch.chdir(tmp_path)
    account = StubbedTarget()
    account.answer("sagemaker", "describe_cluster", {**CLUSTER, "InstanceGroups": [CONTROLLER, WORKERS]}, ClusterName="trainer")
    monkeypatch.setattr(AwsAccount, "of_caller", lambda **options: account)
    result = CliRunner().invoke(app, ["job", "new", "first", "--nodes", "3", "--cluster", "trainer", "--target", "aws"])
    assert "cd first && PYTHON=/fsx/venv/bin/python sbatch first.sbatch" in " ".join(result.output.split())

    folder = training.rig.shared / "runs" / "first"
    shutil.copytree("first", folder)
    (folder / "runs").mkdir()
    login = training.rig.node("login", 0)
    login.run(["chown", "--recursive", USER, "/fsx/runs/first"])
    settings = {"PYTHON": "/fsx/venv/bin/python", "MODEL": "tiny", "STEPS": "6", "GLOBAL_BATCH": "12"}
    command = "cd /fsx/runs/first && sbatch --parsable --output=runs/first.out first.sbatch"
    asked = login.run(["sh", "-c", command], user=USER, environment=settings)
    job = TrainingJob(training.rig, int(asked.stdout), folder / "runs" / "first")
    training.jobs.append(job)
    records = job.complete()

    assert [(record["step"], record["ranks"]) for record in records] == [(step, 3) for step in range(6)]
    assert {node.group for node in job.nodes()} == {"workers"}
    assert (folder / "tokens.npy").exists()
    assert job.restarts() == 0


def test_hanging_rank_is_found_and_its_node_replaced(training: Training, undisturbed: Records) -> None:
    job = training.submit("ddp/ddp.sbatch", ARGUMENTS="--pause-seconds 0.2")
    with HealthAgent(training.rig, find_dead=False) as agent:
        job.until_step(12)
        worker = job.nodes()[1]
        (rank,) = ranks(worker, "train_ddp.py")
        stop_between_steps(worker, rank)
        records = job.complete()
        assert replaced(agent) == [worker.name]

    assert_undisturbed(records, undisturbed)
    assert "Retrying step. Attempt number: 1" in job.text
    dumps = training.rig.shared / CLUSTER_FOLDER / "hang"
    verdicts = [path.read_text() for path in dumps.glob(f"{job.number}.*/*/verdict.txt")]
    assert {f"rank 1 on {worker.name} lag" in verdict for verdict in verdicts} == {True}
    stacks = [path.read_text() for path in dumps.glob(f"{job.number}.*/*/rank-0.txt")]
    assert ["train_ddp.py" in stack for stack in stacks] == [True]


def test_flagged_node_is_replaced_when_its_task_has_died(training: Training, undisturbed: Records) -> None:
    # Two checks on a busy machine take longer than the whole job would.
    pace = training.pace(2)
    job = training.submit("deepspeed/deepspeed.sbatch", ARGUMENTS=f"{pace.argument} --collective-seconds 15", **pace.settings)
    with HealthAgent(training.rig, find_dead=False) as agent:
        job.until_step(3)
        worker = job.nodes()[1]
        flag = "#!/bin/sh\necho Action:Replace the flag is up\nexit 1\n"
        worker.put({f"{CHECKS}/flag": File(content=flag, mode=0o755)})
        check_often(worker)
        job.until(lambda: marked_after_a_check(training, worker), "the mark")
        assert job.state() == "RUNNING"
        assert agent.actions == []
        worker.run(["pkill", "-KILL", "-f", "[t]rain_deepspeed.py"])
        pace.set(0)
        records = job.complete()
        assert replaced(agent) == [worker.name]

    assert_undisturbed(records, undisturbed)
    assert "Retrying step. Attempt number: 1" in job.text
    assert job.restarts() == 0


def check_often(worker: VirtualNode) -> None:
    """From now on two checks one second apart confirm a fault."""
    config = json.loads(worker.read(NODE_CONFIG))
    config["software"]["health"]["interval_seconds"] = 1
    worker.put({NODE_CONFIG: File(content=json.dumps(config))})


def marked_after_a_check(training: Training, worker: VirtualNode) -> bool:
    worker.run([HEALTH_CHECK])
    shown = training.rig.controller.run(["scontrol", "--oneliner", "show", "node", worker.name]).stdout
    return "Reason=Action:Replace" in shown


def test_job_is_requeued_when_its_batch_host_is_lost(training: Training, undisturbed: Records) -> None:
    settings = {"BATCH_HOST_SECONDS": "5", "PULSE_SECONDS": "1"}
    job = training.submit("fsdp2/fsdp2.sbatch", ARGUMENTS="--pause-seconds 0.2 --collective-seconds 5", **settings)
    records = complete_without_power(job, node=0)

    assert_undisturbed(records, undisturbed)
    assert {record["attempt"] for record in records} == {0, 1}
    assert job.restarts() == 1
    assert min(record["step"] for record in records if record["attempt"] == 1) == 10


def test_signal_before_the_time_limit_saves_and_requeues(training: Training, undisturbed: Records) -> None:
    job = training.submit("ddp/ddp.sbatch", ARGUMENTS=SLOW, CHECKPOINT_EVERY="1000")
    job.until_step(12)
    training.rig.controller.run(["scancel", "--batch", "--signal=USR1", str(job.number)])
    records = job.complete()

    assert_undisturbed(records, undisturbed)
    assert {record["attempt"] for record in records} == {0, 1}
    assert len(records) == len(undisturbed), "a step was done again although the state was saved"


def test_elastic_job_goes_on_with_three_of_four_nodes_and_takes_the_fourth_back(training: Training, undisturbed: Records) -> None:
    pace = training.pace(2)
    settings = {"MIN_NODES": "3", "LAST_CALL_SECONDS": "20", **pace.settings}
    job = training.submit("elastic/elastic.sbatch", ARGUMENTS=f"{pace.argument} --collective-seconds 10", **settings)
    # Three nodes are enough to begin: on a busy machine the fourth may come when the others have begun.
    job.until(lambda: sizes(job.records())[-1] == 4, "four nodes")
    pace.set(0.5)
    job.until_step(6)
    job.nodes()[3].power_off()
    job.until(lambda: sizes(job.records())[-1] == 3, "the shrink")
    pace.set(5)
    with HealthAgent(training.rig):
        job.until(lambda: sizes(job.records())[-1] == 4, "the growth")
        pace.set(0)
        records = job.complete()

    assert sizes(records) in ([4, 3, 4], [3, 4, 3, 4])
    assert_undisturbed(records, undisturbed)
    assert job.restarts() == 0


def test_llama_that_was_killed_goes_on_under_another_mesh(training: Training) -> None:
    script, steps = "llama/llama.sbatch", 14
    expected = training.undisturbed(steps, "llama/train_llama.py")
    settings = {"STEPS": str(steps), "ARGUMENTS": "--pause-seconds 0.2"}
    killed = training.submit(script, "--nodes=2", PP="2", **settings)
    killed.until_step(7)
    killed.cancel()
    resumed = training.submit(script, "--nodes=2", TP="2", RUN_DIR=f"/fsx/runs/{killed.directory.name}", **settings)
    resumed.complete()

    records = killed.records()
    assert_undisturbed(records, expected)
    assert "starting at step 5" in resumed.text
    assert {record["ranks"] for record in records} == {2}
    assert [job.text.count("communication by gloo: this node has no GPU") for job in (killed, resumed)] == [1, 1]


def test_prompts_of_a_lost_node_are_done_again_and_each_is_in_the_result_once(training: Training) -> None:
    shared = training.rig.shared
    prompts = [{"id": f"prompt-{number}", "tokens": [number, 1 + number % 3]} for number in range(24)]
    (shared / "prompts.jsonl").write_text("".join(json.dumps(prompt) + "\n" for prompt in prompts))
    job = training.submit(
        "lz_penalty/submit.sh",
        "--array=0-2",
        by=["bash"],
        PROMPTS="/fsx/prompts.jsonl",
        NEW_TOKENS="24",
        BATCH="2",
        ARGUMENTS="--pause-seconds 2 --window 16 --buffer 4",
    )
    results = job.directory / "results"
    with HealthAgent(training.rig) as agent:
        job.until(lambda: len(done_by(results)) == 3, "a result of each task")
        share, (lost,) = 1, job.nodes(task=1)
        before = len(done_by(results)[share])
        lost.power_off()
        job.until(lambda: (job.directory / "results.jsonl").exists(), "the end", 240, pause=1)
        assert replaced(agent) == [lost.name]

    gathered = [json.loads(line) for line in (job.directory / "results.jsonl").read_text().splitlines()]
    assert [record["id"] for record in gathered] == [prompt["id"] for prompt in prompts]
    again = [record for record in gathered if record["attempt"] > 0]
    assert {record["share"] for record in again} == {share}
    assert 0 < len(again) <= len(prompts) // 3 - before
    done = [name for names in done_by(results).values() for name in names]
    assert len(done) == len(prompts), "what was done before the fault was done again"
    assert len({tuple(record["tokens"]) for record in gathered}) > 1
    assert {len(record["tokens"]) for record in gathered} == {24}


def test_trainium_job_stops_without_a_device_and_trains_after_its_trial_with_doubles_of_the_software(
    training: Training, undisturbed: Records
) -> None:
    shutil.copytree(NEURON, training.rig.shared / "neuron", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(NEURON / "neuron_parallel_compile", training.rig.shared / "venv" / "bin")
    settings = {"INSTANCE_FAMILY": "trn1", "PYTHONPATH": "/fsx/neuron", "RANKS_PER_NODE": "2", "TRIAL_STEPS": "2"}
    refused = training.submit("trainium/trainium.sbatch", "--nodes=1", **settings)
    refused.until(lambda: refused.state() == "FAILED", "the refusal", pause=1)
    assert "this node has no Neuron device (/dev/neuron0): submit the job to a partition of trn1 nodes" in refused.text
    assert "this job is for Neuron 2.28 or older" in refused.text

    worker = training.rig.node("workers", 0)
    worker.run(["touch", DEVICE])
    try:
        job = training.submit("trainium/trainium.sbatch", "--nodes=1", f"--nodelist={worker.name}", STEPS="8", **settings)
        records = job.complete()
    finally:
        worker.run(["rm", DEVICE])

    assert_undisturbed(records, undisturbed[:8])
    assert {record["ranks"] for record in records} == {2}
    assert "--model-type=transformer" in (job.directory / "neuron-cache" / "flags").read_text()
    assert len(list(job.directory.glob("compiled-*"))) == 1
    assert list(job.directory.glob("trial-*")) == []


def done_by(results: Path) -> dict[int, list[str]]:
    """The prompts that each share has done."""
    found: dict[int, list[str]] = {}
    for path in results.glob("*.jsonl"):
        for line in path.read_text().splitlines(keepends=True):
            if line.endswith("\n"):
                record = json.loads(line)
                found.setdefault(record["share"], []).append(record["id"])
    return found


def sizes(records: Records) -> list[int]:
    """The numbers of ranks, one after the other, without repetitions."""
    found = [0]
    for record in records:
        if record["ranks"] != found[-1]:
            found.append(record["ranks"])
    return found[1:] or found
