"""Faults of a node, and the cluster's reaction."""

from __future__ import annotations

import time

import pytest

from hyperpod_constructs.local.nodes import NodesError, Rig, VirtualNode
from hyperpod_constructs.local.nodes.doubles.health_agent import HealthAgent
from tests.patience import until

PING = "import socket, sys; socket.create_connection((sys.argv[1], 22), timeout=2).close()"


@pytest.fixture
def worker(rig: Rig) -> VirtualNode:
    return rig.node("workers", 1)


def answers(login: VirtualNode, worker: VirtualNode) -> bool:
    return login.run(["python3", "-c", PING, worker.name], check=False).returncode == 0


def resume(rig: Rig, node: VirtualNode) -> None:
    """Slurm may not have noticed the fault, and then has nothing to resume."""
    rig.controller.run(["scontrol", "update", f"NodeName={node.name}", "State=RESUME"], check=False)
    rig.await_idle([node])


def test_cut_network_is_silence(rig: Rig, login: VirtualNode, worker: VirtualNode) -> None:
    worker.cut()
    assert not answers(login, worker)
    assert worker.run(["hostname"]).stdout.strip() == worker.name
    worker.restore()
    until(lambda: answers(login, worker))
    resume(rig, worker)


def test_frozen_node_does_not_answer(rig: Rig, login: VirtualNode, worker: VirtualNode) -> None:
    worker.freeze()
    with pytest.raises(NodesError, match="no answer after 1 s"):
        worker.run(["true"], timeout=1)
    worker.thaw()
    assert worker.run(["hostname"]).stdout.strip() == worker.name
    resume(rig, worker)


def test_process_death_resets_peers_and_power_loss_does_not(rig: Rig, login: VirtualNode, worker: VirtualNode) -> None:
    serve = "import socket, time; s = socket.create_server(('', 7777)); c = s.accept()[0]; time.sleep(60)"
    ask = "import socket, sys; s = socket.create_connection((sys.argv[1], 7777), timeout=4); print(s.recv(1))"

    def seen(fault: str) -> str:
        worker.run(["sh", "-c", f'setsid python3 -c "{serve}" >/dev/null 2>&1 & sleep 0.5'])
        login.run(["sh", "-c", f'setsid python3 -c "{ask}" {worker.name} >/root/seen 2>&1 & sleep 1'])
        getattr(worker, fault)()
        assert not worker.running
        time.sleep(5)
        worker.power_on()
        resume(rig, worker)
        return login.run(["sh", "-c", "cat /root/seen; rm /root/seen"]).stdout

    assert "TimeoutError" not in seen("kill")
    assert "TimeoutError" in seen("power_off")


def test_full_disk(worker: VirtualNode) -> None:
    worker.fill_disk()
    assert "No space left" in worker.run(["tee", "/var/more"], input="more", check=False).stderr
    worker.empty_disk()
    worker.run(["tee", "/var/more"], input="more")


def test_mount_fails_then_hangs_then_works(rig: Rig, login: VirtualNode) -> None:
    command = ["mount", "-t", "lustre", "fs-1@tcp:/abcd1234", "/mnt"]
    rig.fail_mount("fail")
    assert "Connection timed out" in login.run(command, check=False).stderr
    rig.fail_mount("hang")
    try:
        with pytest.raises(NodesError, match="not done after 1 s"):
            login.run(command, timeout=1)
    finally:
        rig.fail_mount(None)
    login.run(command)
    assert "fs-1@tcp:/abcd1234 /mnt lustre " in login.read("/proc/mounts")
    login.run(["umount", "/mnt"])
    until(lambda: " /mnt " not in login.read("/proc/mounts"))


def test_reboot_keeps_the_disk_and_brings_everything_back(rig: Rig, worker: VirtualNode) -> None:
    assert " /opt/dlami/nvme tmpfs " in worker.read("/proc/mounts")
    worker.run(["touch", "/var/kept", "/opt/dlami/nvme/lost", "/tmp/lost"])
    worker.reboot()
    assert worker.run(["ls", "/var/kept", "/opt/dlami/nvme", "/tmp/lost"], check=False).stdout.split() == [
        "/var/kept",
        "/opt/dlami/nvme:",
    ]
    assert " /fsx lustre " in worker.read("/proc/mounts")
    resume(rig, worker)


def test_marked_nodes_are_replaced_or_rebooted(rig: Rig) -> None:
    replaced, rebooted = rig.group("workers")
    for node in (replaced, rebooted):
        node.run(["touch", "/var/trace"])
    with HealthAgent(rig) as agent:
        update = ["scontrol", "update", "State=FAIL"]
        rig.controller.run([*update, f"NodeName={rig.node('gpus', 0).name}", "Reason=Action: Replace"])
        rig.controller.run([*update, f"NodeName={replaced.name}", "Reason=Action:Replace"])
        rig.controller.run([*update, f"NodeName={rebooted.name}", "Reason=Action:Reboot"])
        actions = agent.await_actions(2)
    new = rig.node("workers", 0)
    assert {action.node: action.problem for action in actions} == {replaced.name: None, rebooted.name: None}
    assert (new.name, new.address) == (replaced.name, replaced.address)
    assert new.instance_id != replaced.instance_id
    assert new.instance_id in rig.node("login", 0).read("/opt/ml/config/resource_config.json")
    assert new.run(["ls", "/var/trace"], check=False).returncode != 0
    assert rebooted.run(["ls", "/var/trace"], check=False).returncode == 0
    resume(rig, rig.node("gpus", 0))
    rig.await_idle()


JOB = """#!/bin/sh
#SBATCH --nodes=2 --ntasks=2 --cpus-per-task=2 --partition=training --no-kill --output=/fsx/job.log
srun --auto-resume=1 --ntasks=2 sh -c '
    if [ "$SLURM_NODEID" = 1 ] && [ ! -e /fsx/tried ]; then
        touch /fsx/tried
        scontrol update NodeName=$SLURMD_NODENAME State=FAIL Reason=Action:Replace
        exit 9
    fi
    echo rank $SLURM_PROCID of $SLURM_NNODES done'
"""


def test_step_is_retried_on_a_replaced_node(rig: Rig, login: VirtualNode) -> None:
    before = {node.instance_id for node in rig.group("workers")}
    (rig.shared / "job.sh").write_text(JOB)
    with HealthAgent(rig) as agent:
        job = login.run(["sbatch", "--parsable", "/fsx/job.sh"]).stdout.strip()
        until(lambda: login.run(["squeue", "--noheader", f"--job={job}"], check=False).stdout == "")
        log = (rig.shared / "job.log").read_text()
        assert [action.problem for action in agent.actions] == [None], log
    expected = ["ResumeAction=RETRYSTEP", "Droping unhealthy nodes", "Job Expansion complete", "Retrying step. Attempt number: 1"]
    assert [line for line in expected if line not in log] == [], log
    assert log.count("of 2 done") == 3, log
    assert len({node.instance_id for node in rig.group("workers")} - before) == 1
    rig.await_idle()


GRES_JOB = """#!/bin/sh
#SBATCH --nodes=1 --gres=gpu:1 --partition=gpus --requeue --output=/fsx/gres-job.log --open-mode=append
srun --auto-resume=1 sh -c '
    if [ "${SLURM_RESTART_COUNT:-0}" = 0 ]; then
        scontrol update NodeName=$SLURMD_NODENAME State=FAIL Reason=Action:Replace
        exit 9
    fi
    echo restart $SLURM_RESTART_COUNT done'
"""


def test_job_with_gres_is_requeued(rig: Rig, login: VirtualNode) -> None:
    (rig.shared / "gres.sh").write_text(GRES_JOB)
    with HealthAgent(rig) as agent:
        job = login.run(["sbatch", "--parsable", "/fsx/gres.sh"]).stdout.strip()
        agent.await_actions(1)
        # Slurm holds a requeued job for two minutes.
        login.run(["scontrol", "update", f"JobId={job}", "StartTime=now"])
        until(lambda: login.run(["squeue", "--noheader", f"--job={job}"], check=False).stdout == "")
    log = (rig.shared / "gres-job.log").read_text()
    assert "ResumeAction=REQUEUE" in log
    assert "restart 1 done" in log
