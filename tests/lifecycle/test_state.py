"""The controller's state across a software update: a new root volume, the same shared file system."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from node_setup import __main__, state, systemd
from node_setup.errors import NodeSetupError

from .machine import Machine, make_machine

COPY = "/fsx/.hyperpod/abc123/state/state.tar.gz"


def controller(tmp_path: Path, name: str, mode: str) -> Machine:
    (tmp_path / "shared").mkdir(exist_ok=True)
    machine = make_machine(tmp_path / name, "Controller", mode, tmp_path / "shared")
    return machine


def used(tmp_path: Path, mode: str) -> Machine:
    """A controller with a stored history."""
    machine = controller(tmp_path, "first", mode)
    machine.set_up(mode)
    machine.database.content = "rows of a year"
    machine.write("/var/spool/slurmctld/clustername", "demo of a year ago")
    machine.write("/var/spool/slurmctld/hash.1/job.11/script", "#!/bin/sh\n", 0o600)
    assert state.keep(machine.node("keep"))
    return machine


@pytest.mark.parametrize("mode", ["on_init_complete", "on_create"])
def test_a_new_root_volume_takes_over_accounting_and_jobs(tmp_path: Path, mode: str) -> None:
    used(tmp_path, mode)
    machine = controller(tmp_path, "second", mode)
    machine.write("/var/spool/slurmctld/job_state.old", "of the image")
    machine.set_up(mode)
    assert machine.skipped() == []
    assert machine.database.content == "rows of a year"
    assert machine.text("/var/spool/slurmctld/clustername") == "demo of a year ago"
    assert machine.text("/var/spool/slurmctld/hash.1/job.11/script") == "#!/bin/sh\n"
    assert machine.owners.of(machine.path("/var/spool/slurmctld/hash.1/job.11").lstat()) == (64030, 64030)
    assert not machine.path("/var/spool/slurmctld/job_state.old").exists()
    assert not machine.path("/var/lib/hyperpod/restore").exists()
    assert {"slurmctld.service", "slurmdbd.service"} <= machine.active
    assert machine.set_up(mode) == []


def test_daemons_of_the_image_are_stopped_for_it(tmp_path: Path) -> None:
    used(tmp_path, "on_init_complete")
    machine = controller(tmp_path, "second", "on_init_complete")
    machine.set_up("on_init_complete")
    order = [command for command in machine.commands if command.startswith(("systemctl stop", "mariadb ", "systemctl start slurm"))]
    assert [command.split(" --execute")[0] for command in order] == [
        "systemctl stop slurmctld.service",
        "systemctl stop slurmdbd.service",
        "mariadb --batch --binary-mode --local-infile=0 --user=slurm slurm_acct_db",
        "systemctl start slurmdbd.service",
        "systemctl start slurmctld.service",
    ]


def test_a_broken_copy_yields_to_the_one_before(tmp_path: Path) -> None:
    machine = used(tmp_path, "on_create")
    machine.database.content = "rows of a day later"
    state.keep(machine.node("keep"))
    copy = machine.path(COPY)
    copy.write_bytes(copy.read_bytes()[:100])
    machine = controller(tmp_path, "second", "on_create")
    machine.set_up("on_create")
    assert machine.database.content == "rows of a year"
    assert "cannot be read" in machine.log.getvalue()


def test_fails_when_no_copy_can_be_read(tmp_path: Path) -> None:
    machine = used(tmp_path, "on_create")
    machine.path(COPY).write_bytes(b"nothing")
    machine = controller(tmp_path, "second", "on_create")
    with pytest.raises(NodeSetupError, match=r"restore: .*state.tar.gz: no copy can be read; to start without it, move it away"):
        machine.set_up("on_create")
    assert machine.path(COPY).read_bytes() == b"nothing"


def test_fails_for_a_copy_of_another_cluster(tmp_path: Path) -> None:
    used(tmp_path, "on_create")
    machine = controller(tmp_path, "second", "on_create")
    machine.write("/opt/slurm/etc/slurm.conf", machine.text("/opt/slurm/etc/slurm.conf").replace("=demo", "=other"))
    with pytest.raises(NodeSetupError, match=r"is of the cluster 'demo', and slurm.conf names 'other'"):
        machine.set_up("on_create")


def test_a_volume_that_took_over_nothing_yet_overwrites_no_copy(tmp_path: Path) -> None:
    """The timer must not replace the cluster's state by the empty state of a fresh volume."""
    used(tmp_path, "on_create")
    machine = controller(tmp_path, "second", "on_create")
    machine.kill_at = 10
    with pytest.raises(BaseException, match=r"\w"):
        machine.set_up("on_create")
    assert not state.is_ready(machine.node("keep"))


def test_nothing_is_kept_before_slurmctld_has_written(tmp_path: Path) -> None:
    machine = controller(tmp_path, "first", "on_create")
    assert not state.keep(machine.node("keep"))
    assert not machine.path(COPY).exists()


def test_a_file_system_that_is_not_mounted_is_not_written_to(tmp_path: Path) -> None:
    """The mount may end first at shutdown; the copy would then land in the folder below it and look stored."""
    machine = used(tmp_path, "on_create")
    machine.path("/fsx").unlink()
    machine.path("/fsx").mkdir()
    machine.write("/proc/mounts", "")
    with pytest.raises(NodeSetupError, match=r"/fsx: the lustre file system fs-0123.* is not mounted"):
        __main__.keep(machine.node("keep"))
    assert list(machine.path("/fsx").iterdir()) == []


def test_the_copy_at_shutdown_is_made_before_the_file_system_goes(tmp_path: Path) -> None:
    machine = used(tmp_path, "on_create")
    unit = machine.text("/etc/systemd/system/hyperpod-keep-at-shutdown.service")
    assert re.search(r"^After=.* fsx\.mount$", unit, re.MULTILINE)


@pytest.mark.parametrize(
    ("path", "unit"), [("/fsx", "fsx.mount"), ("/data/my-fsx", "data-my\\x2dfsx.mount"), ("/.a/.b", "\\x2ea-.b.mount")]
)
def test_a_mount_has_the_name_that_systemd_gives_it(path: str, unit: str) -> None:
    assert systemd.mount_unit(path) == unit
