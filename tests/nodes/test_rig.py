"""A booted cluster: Slurm works on it, the scripts have run, and nothing of the host is in it."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from hyperpod_constructs.local.nodes import File, Image, NodesError, NodeSpec, Rig, VirtualNode, cgroups, slots
from hyperpod_constructs.local.nodes.container import Container
from tests.nodes.configuration import SLURM_CONF, WAIT_SECONDS
from tests.nodes.conftest import CONFIG, SCRIPTS
from tests.patience import PATIENCE

READER = """
import json, pathlib
place, seen = pathlib.Path("/run/read"), set()
while not (place / "stop").exists():
    text = (place / "file").read_text()
    seen.add((text[:1], len(text)))
print(json.dumps(sorted(seen)))
"""


def test_step_runs_on_every_worker(rig: Rig, login: VirtualNode) -> None:
    done = login.run(["srun", "--partition=training", "--nodes=2", "hostname"])

    assert sorted(done.stdout.split()) == sorted(node.name for node in rig.group("workers"))


def test_job_is_accounted(login: VirtualNode) -> None:
    login.run(["srun", "--job-name=accounted", "true"])

    done = login.run(["sacct", "--noheader", "--parsable2", "--allocations", "--name=accounted", "--format=State"])
    assert done.stdout.split() == ["COMPLETED"]


def test_user_submits_a_job(login: VirtualNode) -> None:
    assert login.run(["srun", "id", "-un"], user="ubuntu").stdout == "ubuntu\n"


def test_gpus_are_devices_that_slurm_gives_out(rig: Rig, login: VirtualNode) -> None:
    done = login.run(
        ["srun", "--partition=gpus", "--gres=gpu:8", "sh", "-c", "ls /dev/nvidia? | wc -l; echo $CUDA_VISIBLE_DEVICES"]
    )

    assert done.stdout.split() == ["8", "0,1,2,3,4,5,6,7"]
    assert "CPUTot=192" in login.run(["scontrol", "show", "node", rig.node("gpus", 0).name]).stdout


def test_scripts_have_run_on_every_node(rig: Rig) -> None:
    for node in rig.nodes:
        log = node.read("/var/log/provision/provisioning.log")
        assert log == "on_init_complete as root in /tmp/lifecycle, HOME unset, config.json\n"


def test_resource_config_lists_every_node(rig: Rig, login: VirtualNode) -> None:
    groups = json.loads(login.read("/opt/ml/config/resource_config.json"))["InstanceGroups"]

    ids = {instance["InstanceId"] for group in groups for instance in group["Instances"]}
    assert ids == {node.instance_id for node in rig.nodes}


def test_shared_file_system_is_the_same_everywhere(rig: Rig) -> None:
    rig.node("workers", 0).run(["tee", "/fsx/note"], input="from a worker")

    assert rig.node("login", 0).read("/fsx/note") == "from a worker"
    assert (rig.shared / "note").read_text() == "from a worker"
    assert " /fsx lustre " in rig.node("login", 0).read("/proc/mounts")


def test_nothing_of_the_host_is_visible(rig: Rig, login: VirtualNode) -> None:
    files = login.run(["find", "/root", "/home", "-type", "f"]).stdout.split()
    assert {Path(file).name for file in files} <= {".bashrc", ".profile", ".bash_logout"}
    assert login.run(["env"]).stdout.split("\n")[0].startswith("PATH=")
    assert set(login.run(["env"]).stdout.replace("\n", "=").split("=")[::2]) <= {"PATH", ""}
    devices = login.run(["sh", "-c", "grep -o 'eth0\\|docker\\|ens' /proc/net/dev"]).stdout.split()
    assert devices == ["eth0"]


def test_node_may_not_load_modules_or_set_the_clock(login: VirtualNode) -> None:
    ours = int(login.run(["sh", "-c", "grep CapEff /proc/self/status"]).stdout.split()[1], 16)
    init = int(login.run(["sh", "-c", "grep CapEff /proc/1/status"]).stdout.split()[1], 16)

    for capability in (16, 17, 25, 34, 39):  # sys_module, sys_rawio, sys_time, syslog, bpf
        assert not ours >> capability & 1
        assert not init >> capability & 1


def test_fails_with_the_last_line_of_the_log_while_others_go_on(rig: Rig) -> None:
    scripts = rig.shared / "scripts"
    scripts.mkdir()
    entry = scripts / "on_init_complete.sh"
    entry.write_text("#!/bin/sh\necho the disk is on fire >> /var/log/provision/provisioning.log\nexit 1\n")
    entry.chmod(0o755)
    try:
        (node,) = rig.boot([NodeSpec("workers", "Compute", 1)], scripts=scripts, config=CONFIG)
        assert node.failure == "the disk is on fire"
        assert rig.node("workers", 0).failure is None
        rig.await_idle()
    finally:
        rig.remove(node)
        rig.await_idle()


def test_on_create_leaves_slurm_to_the_scripts_and_a_machine_may_come_late(rig: Rig) -> None:
    late = NodeSpec("workers", "Compute", 1, delay_seconds=1)
    started = time.monotonic()
    (node,) = rig.boot([late], scripts=SCRIPTS, config=CONFIG, mode="on_create")
    try:
        assert time.monotonic() - started > 1
        assert node.failure is None
        assert node.read("/var/log/provision/provisioning.log").startswith("on_create as root")
        assert node.run(["systemctl", "is-active", "slurmd", "munge"], check=False).stdout.split() == ["inactive", "inactive"]
        assert node.run(["stat", "-c", "%U %a", "/etc/munge/munge.key"]).stdout == "munge 400\n"
        assert " /fsx " not in node.read("/proc/mounts")
    finally:
        rig.remove(node)


def test_the_agent_that_writes_late_has_written_when_the_boot_returns(image: Image, tmp_path: Path) -> None:
    with Rig.create(tmp_path, image=image, wait_seconds=WAIT_SECONDS) as other:
        controller = [NodeSpec("controller", "Controller", 1)]
        (node,) = other.boot(controller, scripts=SCRIPTS, config=CONFIG, mode="on_create", agent_seconds=1)
        assert node.failure is None
        assert "SlurmctldHost" in node.read(SLURM_CONF)


def test_no_reader_meets_half_a_file(login: VirtualNode) -> None:
    contents = [letter * 1_000_000 for letter in "ab"]
    login.put({"/run/read/file": File(content=contents[0])})
    with subprocess.Popen(login.command("python3", "-c", READER), stdout=subprocess.PIPE) as reader:  # noqa: S603
        for content in contents * 20:
            login.put({"/run/read/file": File(content=content)})
        login.put({"/run/read/stop": File(content="")})
        said = reader.communicate(timeout=PATIENCE)[0]
    assert json.loads(said) == [["a", 1_000_000], ["b", 1_000_000]]
    assert login.run(["ls", "-A", "/run/read"]).stdout.split() == ["file", "stop"]


def test_a_system_that_has_just_ended_is_killed_without_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cgroups, "kill", lambda _: None)
    with subprocess.Popen(["true"]) as leader:
        leader.wait()
    with subprocess.Popen(["sleep", "0.2"]) as around:
        container = Container("gone", around, leader.pid)
        container.kill()
    assert not container.running


def test_command_that_does_not_end_is_named(login: VirtualNode) -> None:
    with pytest.raises(NodesError, match=r"sleep 60: not done after 0\.5 s"):
        login.run(["sleep", "60"], timeout=0.5)


def test_command_that_ends_before_a_busy_host_has_started_it_is_named_too(
    login: VirtualNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = subprocess.Popen

    def late(*arguments: Any, **options: Any) -> subprocess.Popen[bytes]:
        process = started(*arguments, **options)
        process.wait()
        return process

    monkeypatch.setattr(subprocess, "Popen", late)
    with pytest.raises(NodesError, match=r"sleep 60: not done after 0\.5 s"):
        login.run(["sleep", "60"], timeout=0.5)


def test_rigs_run_side_by_side(rig: Rig, image: Image, tmp_path: Path) -> None:
    with Rig.create(tmp_path, image=image, binds={SCRIPTS: "/opt/bound"}) as second:
        (other,) = second.boot([NodeSpec("controller", "Controller", 1)], scripts=SCRIPTS, config=CONFIG)

        assert other.failure is None
        assert other.address != rig.controller.address
        assert other.run(["ls", "/opt/bound"]).stdout.split() == sorted(path.name for path in SCRIPTS.iterdir())
        assert other.run(["touch", "/opt/bound/new"], check=False).returncode != 0
    rig.await_idle()


def test_no_more_rigs_than_slots(rig: Rig, image: Image, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slots, "SLOTS", 0)
    with pytest.raises(NodesError, match="rigs run on this machine"):
        Rig.create(tmp_path, image=image)


def test_unknown_mode_is_refused(rig: Rig) -> None:
    with pytest.raises(NodesError, match="mode is 'on_start', allowed are on_init_complete, on_create"):
        rig.boot([], scripts=SCRIPTS, config=CONFIG, mode="on_start")  # type: ignore[arg-type]


def test_switch_is_not_on_the_host(rig: Rig) -> None:
    assert not [*Path("/sys/class/net").glob("port-*"), *Path("/sys/class/net").glob("switch*")]
    assert [*Path("/run/netns").glob("hpn-switch-*")]
