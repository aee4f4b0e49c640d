"""Health on a cluster that the real lifecycle scripts have set up: slurmd runs the checks, systemd the detector of hangs."""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hyperpod_constructs.local.nodes import File, Image, NodeSpec, Rig, VirtualNode
from hyperpod_constructs.local.nodes.doubles.health_agent import HealthAgent
from tests.nodes.configuration import CLUSTER_FOLDER, LIFECYCLE, WAIT_SECONDS, configuration
from tests.patience import until

INTERVAL, HANG = 2, 6
CHECKS = "/opt/hyperpod/checks.d"
STATE = "/var/lib/hyperpod/health"
HEARTBEATS = "/run/hyperpod/heartbeat"
DETECTOR = "hyperpod-hang.service"
CONFIG = configuration(
    ("controller", "workers"),
    health={"interval_seconds": INTERVAL, "hang_seconds": HANG, "max_marks_per_cluster_per_hour": 2},
)
JOB = """#!/bin/sh
#SBATCH --nodes=3 --ntasks=3 --partition=training --output=/fsx/jobs/log
srun --auto-resume=1 --kill-on-bad-exit env PYTHONPATH=/opt/hyperpod python3 -B /fsx/jobs/train.py {hanging}
echo the step has ended with $?
"""
TRAIN = """
import os, sys, time
from pathlib import Path
from node_health.heartbeat import Heartbeat

rank, world, step = int(os.environ["SLURM_PROCID"]), int(os.environ["SLURM_NTASKS"]), os.environ["SLURM_STEP_ID"]
beat = Heartbeat.from_environment()
assert beat.active


def stand_still():
    time.sleep(600)


def collective(number):
    for peer in range(world):
        (Path("/fsx/jobs") / f"{step}-{number}-{rank}").touch()
        while not (Path("/fsx/jobs") / f"{step}-{number}-{peer}").exists():
            time.sleep(0.02)


for number in range(10):
    if step == "0" and number == 5 and str(rank) in sys.argv[1:]:
        stand_still()
    beat.before(number)
    collective(number)
    beat.after(number)
print(f"rank {rank} is done in step {step}", flush=True)
"""


@pytest.fixture(scope="module")
def rig(image: Image, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    directory = tmp_path_factory.mktemp("health")
    shutil.copytree(LIFECYCLE, directory / "scripts", ignore=shutil.ignore_patterns("__pycache__", ".mypy_cache"))
    with Rig.create(directory / "rig", image=image, wait_seconds=WAIT_SECONDS) as made:
        specs = [NodeSpec("controller", "Controller", 1), NodeSpec("workers", "Compute", 3)]
        nodes = made.boot(specs, scripts=directory / "scripts", config=CONFIG)
        assert {node.name: node.failure for node in nodes if node.failure} == {}
        made.await_idle()
        yield made


@pytest.fixture(autouse=True)
def workers(rig: Rig) -> Iterator[list[VirtualNode]]:
    """The healthy workers. The fixture undoes a test's faults, and clears the record as if a day had passed."""
    yield rig.group("workers")
    controller = rig.controller
    controller.run(["scancel", "--partition=training"])
    nodes = rig.group("workers")
    for node in nodes:
        node.run(["sh", "-euc", f"mountpoint -q /fsx || mount /fsx; rm -rf {CHECKS}/*"])
    # A check that has begun sees the fault still, and would mark its node once the record is gone.
    await_checks(nodes)
    for node in nodes:
        node.run(["sh", "-euc", f"rm -rf {STATE} /fsx/{CLUSTER_FOLDER}/health; systemctl restart {DETECTOR}"])
        controller.run(["scontrol", "update", f"NodeName={node.name}", "Extra="])
        if "Reason=" in show(rig, node):
            controller.run(["scontrol", "update", f"NodeName={node.name}", "State=RESUME"])
    rig.await_idle()


def show(rig: Rig, node: VirtualNode) -> str:
    return rig.controller.run(["scontrol", "--oneliner", "show", "node", node.name]).stdout


def marked(rig: Rig) -> list[str]:
    """The nodes that carry exactly the mark for replacement."""
    return [node.name for node in rig.group("workers") if " Reason=Action:Replace [" in show(rig, node)]


def report(node: VirtualNode) -> dict[str, Any]:
    said = node.run(["cat", f"{STATE}/report.json"], check=False).stdout
    found: dict[str, Any] = json.loads(said) if said else {}
    return found


def await_checks(nodes: list[VirtualNode], count: int = 1) -> None:
    """As many checks on each of the nodes as begin from now on."""
    for _ in range(count):
        before = {node: report(node).get("time", 0) for node in nodes}
        until(lambda before=before: all(report(node).get("time", 0) > before[node] for node in nodes))  # type: ignore[misc]


def fail_check(node: VirtualNode, name: str, said: str) -> None:
    node.put({f"{CHECKS}/{name}": File(content=f"#!/bin/sh\necho '{said}'\nexit 1\n", mode=0o755)})


def log(node: VirtualNode) -> str:
    return node.run(["cat", "/var/log/hyperpod/node_health.log"], check=False).stdout


@pytest.fixture
def submit(rig: Rig) -> Callable[..., Path]:
    """Submits a job of three ranks, of which some hang in its first step; gives the path of its log."""

    def submitted(*hanging: int) -> Path:
        jobs = rig.shared / "jobs"
        shutil.rmtree(jobs, ignore_errors=True)
        jobs.mkdir()
        jobs.chmod(0o777)
        (jobs / "train.py").write_text(TRAIN)
        (jobs / "job.sh").write_text(JOB.format(hanging=" ".join(map(str, hanging))))
        rig.controller.run(["sbatch", "--chdir=/fsx/jobs", "/fsx/jobs/job.sh"], user="ubuntu")
        return jobs / "log"

    return submitted


def beat_of(rig: Rig, rank: int) -> tuple[str, str] | None:
    """Path and text of the rank's heartbeat, where there is one."""
    for node in rig.group("workers"):
        path = node.run(["sh", "-c", f"ls {HEARTBEATS}/*.0/{rank}"], check=False).stdout.strip()
        if path:
            return path, node.read(path)
    return None


def test_slurmd_runs_the_checks_and_finds_nothing(rig: Rig, workers: list[VirtualNode]) -> None:
    said = rig.controller.run(["scontrol", "show", "config"]).stdout
    assert "HealthCheckProgram      = /opt/hyperpod/bin/health_check" in said
    await_checks(workers)
    workers[0].run(["mountpoint", "-q", HEARTBEATS])
    assert {node.name: report(node)["findings"] for node in workers} == {node.name: [] for node in workers}
    assert "no faults, checked" in workers[0].run(["sh", "-c", "cd /opt/hyperpod && python3 -B -m node_health status"]).stdout


def test_a_program_that_slurm_conf_names_runs_too(rig: Rig, workers: list[VirtualNode]) -> None:
    site = "/usr/local/sbin/site_check"
    for node in workers:
        node.put({site: File(content="#!/bin/sh\necho $SLURMD_NODENAME >>/var/site\n", mode=0o755)})
    conf = "/opt/slurm/etc/slurm.conf"
    rig.controller.run(["sed", "-i", f"/^include accounting/i HealthCheckProgram={site}", conf])
    rig.controller.run(["scontrol", "reconfigure"])
    try:
        until(lambda: all(node.run(["test", "-e", "/var/site"], check=False).returncode == 0 for node in workers))
        await_checks(workers)
    finally:
        rig.controller.run(["sed", "-i", f"\\|^HealthCheckProgram={site}|d", conf])
        rig.controller.run(["scontrol", "reconfigure"])
    assert workers[0].read("/var/site").split()[0] == workers[0].name


def test_a_check_that_fails_replaces_its_node_alone_and_once_a_day(rig: Rig, workers: list[VirtualNode]) -> None:
    broken = workers[1]
    job = ["sbatch", "--partition=training", f"--nodelist={broken.name}", "--output=/fsx/ended", "--wrap"]
    rig.controller.run([*job, "srun sleep 600; echo the step has ended with $?"])
    until(lambda: "sleep" in broken.run(["ps", "-eo", "comm"]).stdout)
    fail_check(broken, "cable", "Action:Replace the cable is loose")
    until(lambda: marked(rig) != [])
    assert marked(rig) == [broken.name]
    until(lambda: "the step has ended with" in (rig.shared / "ended").read_text())
    until(lambda: "marked Action:Replace for check:cable" in log(broken))
    with HealthAgent(rig) as agent:
        agent.await_actions(1)
        new = rig.node("workers", 1)
        assert new.instance_id != broken.instance_id
        rig.await_idle()
        fail_check(new, "cable", "Action:Replace the cable is loose again")
        new.run(["umount", "--lazy", "/fsx"])
        until(lambda: "1 marks in a day, allowed are 1" in report(new).get("why", ""))
        assert [action.node for action in agent.actions] == [broken.name]
    assert marked(rig) == []


def test_what_all_nodes_lost_marks_none_and_limits_need_no_shared_file_system(rig: Rig, workers: list[VirtualNode]) -> None:
    await_checks(workers)
    for node in workers:
        node.run(["umount", "--lazy", "/fsx"])
    until(lambda: all("other nodes have the same fault" in report(node).get("why", "") for node in workers))
    await_checks(workers, 2)
    assert marked(rig) == []
    for number, node in enumerate(workers):
        fail_check(node, f"cable-{number}", "Action:Replace each has a fault of its own")
    until(lambda: any("the cluster has 2 marks" in report(node).get("why", "") for node in workers))
    until(lambda: len(marked(rig)) == 2)
    await_checks(workers, 2)
    assert len(marked(rig)) == 2


def test_without_node_recovery_faults_are_only_reported(rig: Rig, workers: list[VirtualNode]) -> None:
    node, path = workers[2], "/opt/hyperpod/config.json"
    node.put({path: File(content=json.dumps({**CONFIG, "cluster": {"node_recovery": "None"}}))})
    try:
        fail_check(node, "cable", "Action:Replace the cable is loose")
        until(lambda: "node_recovery is None" in report(node).get("why", ""))
        await_checks([node], 2)
        assert [found[:2] for found in report(node)["findings"]] == [["check:cable", "the cable is loose"]]
        assert marked(rig) == []
    finally:
        node.run(["rm", f"{CHECKS}/cable"])
        node.put({path: File(content=json.dumps(CONFIG))})


def test_a_rank_that_hangs_is_named_and_its_step_resumes_on_a_new_node(rig: Rig, submit: Callable[..., Path]) -> None:
    output, dumps = submit(1), rig.shared / CLUSTER_FOLDER / "hang"
    until(lambda: beat_of(rig, 1) is not None)
    stale = beat_of(rig, 1)
    until(lambda: marked(rig) != [])
    (name,) = marked(rig)
    culprit = next(node for node in rig.group("workers") if node.name == name)
    assert f"rank 1 on {name} lag after the collective of step 4, the others wait" in log(culprit)
    texts = {path.stem: path.read_text() for path in dumps.glob("*/*/rank-*.txt")}
    assert sorted(texts) == ["rank-0", "rank-1", "rank-2"]
    assert "in stand_still" in texts["rank-1"]
    assert all("in collective" in texts[rank] for rank in ("rank-0", "rank-2"))
    with HealthAgent(rig) as agent:
        agent.await_actions(1)
        new = next(node for node in rig.group("workers") if node.name == name)
        assert stale is not None
        new.put({stale[0]: File(content=stale[1])})
        until(lambda: "the step has ended with 0" in output.read_text())
        time.sleep(2 * HANG)
        assert [action.node for action in agent.actions] == [name]
    assert sorted(line for line in output.read_text().splitlines() if "is done" in line) == [
        f"rank {rank} is done in step 1" for rank in range(3)
    ]
    assert marked(rig) == []


def test_a_hang_whose_culprit_cannot_be_told_replaces_nobody(rig: Rig, submit: Callable[..., Path]) -> None:
    workers = rig.group("workers")
    dumps = rig.shared / CLUSTER_FOLDER / "hang"
    shutil.rmtree(dumps, ignore_errors=True)
    submit(1, 2)
    until(lambda: len(list(dumps.glob("*/*/rank-*.txt"))) == 3)
    time.sleep(HANG)
    assert marked(rig) == []
    assert all("culprit unknown: ranks 1, 2 of 2 nodes lag" in log(node) for node in workers)
    assert all("python3" in node.run(["ps", "-eo", "comm"]).stdout for node in workers)


def test_a_batch_host_that_comes_back_by_itself_takes_its_job_again(rig: Rig) -> None:
    controller, output = rig.controller, rig.shared / "again"
    script = "echo start ${SLURM_RESTART_COUNT:-0}; srun sleep 600"
    options = ["--parsable", "--no-kill", "--requeue", "--nodes=3", "--partition=training", "--output=/fsx/again"]
    job = controller.run(["sbatch", *options, "--wrap", script]).stdout.strip()
    until(lambda: output.exists() and "start 0" in output.read_text())
    (name,) = re.findall(r" BatchHost=(\S+)", controller.run(["scontrol", "--oneliner", "show", "job", job]).stdout)
    host = next(node for node in rig.group("workers") if node.name == name)
    time.sleep(HANG)
    controller.run(["scontrol", "update", f"NodeName={name}", "State=DOWN", "Reason=cable"])
    until(lambda: "No job steps" in host.run(["scontrol", "listpids"], check=False).stderr)
    controller.run(["scontrol", "update", f"NodeName={name}", "State=RESUME"])
    until(lambda: f"jobs that have left this node, {job}" in log(host))

    controller.run(["scontrol", "requeue", job])
    until(lambda: controller.run(["scontrol", "update", f"JobId={job}", "StartTime=now"], check=False).returncode == 0)
    until(lambda: "start 1" in output.read_text())
    assert f" BatchHost={name} " in controller.run(["scontrol", "--oneliner", "show", "job", job]).stdout
    assert "Reason=" not in show(rig, host)
