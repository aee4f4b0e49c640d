"""Nodes of EKS: the data of containerd and the kubelet on a local disk, once, twice, after kills and after boots."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from node_setup.errors import NodeSetupError

from .conftest import Node as Programs
from .conftest import instances
from .machine import TYPES, Killed, Machine

CONFIG: dict[str, Any] = {
    "version": 1,
    "cluster": {"node_recovery": "Automatic", "orchestrator": "eks"},
    "groups": {"workers": {}},
    "software": {"containers": True},
}
NVME, VOLUME = "/opt/dlami/nvme", "/opt/sagemaker"
BOTH = {"containerd.service", "kubelet.service"}
IMAGE = "/var/lib/containerd/pause"


def make_node(root: Path, *disks: str, active: set[str] = BOTH) -> Machine:
    machine = Machine(root, "hyperpod-i-1", "Compute", json.loads(json.dumps(CONFIG)))
    assert TYPES["Compute"][0] in CONFIG["groups"]
    for script in ("node_setup/__main__.py", "node_health/__main__.py", "node_trust/way.py", "own/first"):
        (machine.source / script).parent.mkdir(parents=True, exist_ok=True)
        (machine.source / script).write_text(f"# {script}\n", encoding="utf-8")
    (machine.source / "config.json").write_text(json.dumps(CONFIG), encoding="utf-8")
    for program in ("systemctl", "mount", "cp", "rm", "containerd", "kubelet"):
        machine.write(f"/usr/bin/{program}", "#!/bin/sh\n", 0o755)
    machine.write("/etc/passwd", "root:x:0:0:root:/root:/bin/bash\n")
    machine.write("/proc/mounts", "/dev/root / xfs rw 0 0\n" + "".join(f"/dev/x {disk} xfs rw 0 0\n" for disk in disks))
    for disk in disks:
        machine.path(disk).mkdir(parents=True)
        machine.path(disk).chmod(0o755)
    machine.write(IMAGE, "image")
    machine.active |= active
    return machine


@pytest.mark.parametrize(("disks", "chosen"), [((NVME,), NVME), ((VOLUME,), VOLUME), ((VOLUME, NVME), NVME)])
def test_the_data_moves_to_the_largest_disk(tmp_path: Path, disks: tuple[str, ...], chosen: str) -> None:
    node = make_node(tmp_path / "node", *disks)
    node.set_up("on_create")
    assert node.skipped() == []
    assert node.bound == {
        "/var/lib/containerd": f"{chosen}/hyperpod/containerd",
        "/var/lib/kubelet": f"{chosen}/hyperpod/kubelet",
    }
    assert node.text(f"{chosen}/hyperpod/containerd/pause") == "image"
    assert node.path(f"{chosen}/hyperpod").stat().st_mode & 0o777 == 0o700
    assert node.active == BOTH
    assert node.commands.index("systemctl stop kubelet.service") < node.commands.index("systemctl stop containerd.service")
    assert max(index for index, one in enumerate(node.commands) if one.startswith("mount")) < node.commands.index(
        "systemctl start containerd.service"
    )


def test_a_second_run_has_no_effect(tmp_path: Path) -> None:
    node = make_node(tmp_path / "node", NVME)
    node.set_up("on_create")
    before = node.snapshot()
    assert node.set_up("on_create") == []
    assert node.snapshot() == before


def test_services_that_did_not_run_are_not_started(tmp_path: Path) -> None:
    node = make_node(tmp_path / "node", VOLUME, active=set())
    node.set_up("on_create")
    assert node.bound
    assert node.active == set()


def test_a_kill_before_any_effect_leads_to_the_same_state(tmp_path: Path) -> None:
    whole = make_node(tmp_path / "node", NVME)
    states: list[tuple[dict[str, Any], dict[str, str]]] = []

    def go_on_from_here() -> None:
        node = whole.copy(tmp_path / str(len(states)) / "node")
        node.set_up("on_create")
        states.append((node.snapshot(), node.bound))

    whole.before_effect = go_on_from_here
    effects = whole.set_up("on_create")
    expected = whole.snapshot(), whole.bound
    assert len(states) == len(effects) > 10
    for effect, state in zip(effects, states):  # noqa: B905  # Python 3.8
        assert state == expected, f"killed before {effect}"


def reboot(node: Machine, *disks: str) -> None:
    """The bind mounts are gone, and systemd starts the services after the program."""
    node.bound = {}
    node.active = set()
    node.write("/proc/mounts", "".join(f"/dev/x {disk} xfs rw 0 0\n" for disk in disks))
    node.set_up("boot")


def test_a_boot_mounts_the_data_again_and_leaves_the_services_to_systemd(tmp_path: Path) -> None:
    node = make_node(tmp_path / "node", VOLUME)
    node.set_up("on_create")
    node.write(f"{VOLUME}/hyperpod/containerd/pulled", "later")
    node.path(NVME).mkdir(parents=True)
    bound = dict(node.bound)
    reboot(node, NVME, VOLUME)
    assert node.bound == bound
    assert node.text(f"{VOLUME}/hyperpod/containerd/pulled") == "later"
    assert node.active == set()


def test_a_boot_after_a_kill_starts_no_service_itself(tmp_path: Path) -> None:
    node = make_node(tmp_path / "node", NVME)
    whole = make_node(tmp_path / "whole", NVME)
    node.kill_at = whole.set_up("on_create").index("run systemctl start containerd.service")
    with pytest.raises(Killed):
        node.set_up("on_create")
    node.kill_at = None
    node.commands.clear()
    reboot(node, NVME)
    assert "systemctl start containerd.service" not in node.commands
    assert node.set_up("on_create") == []


def test_an_emptied_disk_gets_the_copy_of_the_root_volume(tmp_path: Path) -> None:
    node = make_node(tmp_path / "node", NVME)
    node.set_up("on_create")
    shutil.rmtree(node.path(f"{NVME}/hyperpod"))
    reboot(node, NVME)
    assert node.text(f"{NVME}/hyperpod/containerd/pause") == "image"
    assert set(node.bound) == {"/var/lib/containerd", "/var/lib/kubelet"}


def test_a_new_root_volume_replaces_what_is_on_the_disk(tmp_path: Path) -> None:
    node = make_node(tmp_path / "node", VOLUME)
    node.write(f"{VOLUME}/hyperpod/containerd/old", "of another image")
    node.path(f"{VOLUME}/hyperpod").chmod(0o700)
    node.set_up("on_create")
    assert node.skipped() == []
    assert not node.path(f"{VOLUME}/hyperpod/containerd/old").exists()
    assert node.path(f"{VOLUME}/hyperpod/containerd/pause").exists()


def test_without_a_disk_the_data_stays(tmp_path: Path) -> None:
    node = make_node(tmp_path / "node")
    node.set_up("on_create")
    assert node.bound == {}
    assert node.active == BOTH
    assert "the data of containers stays on the root volume" in node.log.getvalue()


def test_a_disk_that_does_not_come_back_is_reported_and_fails_no_boot(tmp_path: Path) -> None:
    node = make_node(tmp_path / "node", VOLUME)
    node.set_up("on_create")
    reboot(node, NVME)
    assert node.bound == {}
    assert node.skipped() == [f"container_data: {VOLUME}: is not mounted, so the data of containers begins anew on the root volume"]


def test_pods_that_run_already_are_not_moved(tmp_path: Path) -> None:
    node = make_node(tmp_path / "node", VOLUME)
    node.write("/var/lib/kubelet/pods/one/file", "")
    node.set_up("on_create")
    assert node.bound == {}
    assert node.active == BOTH
    assert "holds pods, and moving their files would break them" in node.skipped()[0]


def test_a_tree_of_a_tenant_of_any_depth_is_replaced(tmp_path: Path) -> None:
    node = make_node(tmp_path / "node", VOLUME)
    node.path(f"{VOLUME}/hyperpod/containerd" + "/deep" * 80).mkdir(parents=True)
    node.path(f"{VOLUME}/hyperpod").chmod(0o700)
    node.set_up("on_create")
    assert node.skipped() == []
    assert node.names(f"{VOLUME}/hyperpod") == {"containerd", "kubelet"}
    assert node.names(f"{VOLUME}/hyperpod/containerd") == {"pause"}


def test_what_an_unfinished_removal_left_aside_is_removed(tmp_path: Path) -> None:
    node = make_node(tmp_path / "node", VOLUME)
    node.write(f"{VOLUME}/hyperpod/containerd.old/file", "")
    node.path(f"{VOLUME}/hyperpod").chmod(0o700)
    node.set_up("on_create")
    assert node.skipped() == []
    assert node.names(f"{VOLUME}/hyperpod") == {"containerd", "kubelet"}


@pytest.mark.parametrize("program", ["cp", "mount", "rm"])
def test_a_failed_move_leaves_the_services_running(tmp_path: Path, program: str) -> None:
    node = make_node(tmp_path / "node", VOLUME)
    node.path(f"/usr/bin/{program}").unlink()
    node.set_up("on_create")
    assert f"{program} is not installed" in node.skipped()[0]
    assert node.bound == {}
    assert node.active == BOTH
    assert node.text(IMAGE) == "image"


def test_a_killed_run_is_resumed_though_the_disk_is_gone(tmp_path: Path) -> None:
    node = make_node(tmp_path / "node", VOLUME)
    whole = make_node(tmp_path / "whole", VOLUME)
    node.kill_at = next(index for index, one in enumerate(whole.set_up("on_create")) if one.startswith("run cp"))
    with pytest.raises(Killed):
        node.set_up("on_create")
    assert node.active == set()
    node.kill_at = None
    node.write("/proc/mounts", "")
    node.set_up("on_create")
    assert "is not mounted" in node.skipped()[0]
    assert node.active == BOTH


@pytest.mark.parametrize(("mode", "owner"), [(0o777, 0), (0o775, 0), (0o757, 0), (0o1777, 1000), (0o755, 1000)])
@pytest.mark.parametrize("when", ["first", "boot"])
def test_a_disk_that_others_can_change_is_not_used(tmp_path: Path, mode: int, owner: int, when: str) -> None:
    node = make_node(tmp_path / "node", VOLUME)
    if when == "boot":
        node.set_up("on_create")
    status = node.path(VOLUME).stat()
    node.owners.by_inode[(status.st_dev, status.st_ino)] = (owner, owner)
    node.path(VOLUME).chmod(mode)
    if when == "boot":
        reboot(node, VOLUME)
    else:
        node.set_up("on_create")
    assert node.bound == {}
    assert f"{VOLUME}: belongs to uid {owner} and has mode {mode:04o}" in node.skipped()[0]
    assert node.active == (set() if when == "boot" else BOTH)


def test_a_disk_where_nobody_can_rename_what_is_another_s_is_used(tmp_path: Path) -> None:
    node = make_node(tmp_path / "node", VOLUME)
    node.path(VOLUME).chmod(0o1777)
    node.set_up("on_create")
    assert node.skipped() == []
    assert set(node.bound) == {"/var/lib/containerd", "/var/lib/kubelet"}


@pytest.mark.parametrize("trap", ["link", "owner"])
def test_a_folder_of_somebody_else_on_the_disk_is_not_mounted(tmp_path: Path, trap: str) -> None:
    node = make_node(tmp_path / "node", VOLUME)
    node.set_up("on_create")
    folder = node.path(f"{VOLUME}/hyperpod/containerd")
    if trap == "link":
        folder.rename(tmp_path / "elsewhere")
        folder.symlink_to(tmp_path / "elsewhere")
    else:
        status = folder.stat()
        node.owners.by_inode[(status.st_dev, status.st_ino)] = (1000, 1000)
    reboot(node, VOLUME)
    assert node.bound == {}
    assert "is not a folder of root" in node.skipped()[0]


def test_the_owner_can_switch_the_move_off(tmp_path: Path) -> None:
    node = make_node(tmp_path / "node", NVME)
    node.config["software"]["containers"] = False
    node.set_up("on_create")
    assert node.bound == {}
    assert "container_data" not in node.log.getvalue()


def test_the_boot_comes_before_containerd_and_the_kubelet(tmp_path: Path) -> None:
    node = make_node(tmp_path / "node", NVME)
    node.set_up("on_create")
    unit = node.text("/etc/systemd/system/hyperpod-boot.service")
    assert "Before=containerd.service kubelet.service\n" in unit
    assert "network" not in unit
    assert "slurm" not in unit


def test_steps_of_the_owner_run(tmp_path: Path) -> None:
    node = make_node(tmp_path / "node", NVME)
    node.config["steps"] = [{"name": "first", "when": "before", "node_types": [], "mandatory": True, "seconds": 60}]
    node.set_up("on_create")
    assert node.path("/ran/opt/hyperpod/own/first").exists()


def test_fails_for_a_moment_of_slurm(tmp_path: Path) -> None:
    node = make_node(tmp_path / "node", NVME)
    with pytest.raises(NodeSetupError, match="on_init_complete is for nodes of Slurm; on EKS these scripts run on_create and boot"):
        node.set_up("on_init_complete")


def test_the_entry_script_needs_no_resource_config(node: Programs) -> None:
    node.config(CONFIG)
    (node.root / "opt/ml/config/resource_config.json").unlink()
    assert node.run("on_create.sh") == 0
    assert "start: boot" in "\n".join(node.log)
    assert not (node.root / "var/lib/hyperpod/role.json").exists()


def test_the_role_is_known_where_the_service_names_it(node: Programs) -> None:
    node.config(CONFIG)
    node.resources([instances("workers", "10.1.0.5")])
    assert node.run("on_create.sh") == 0
    assert re.search(r"role: node in group workers, instance i-workers", "\n".join(node.log))
