"""All steps of a mode on each type of node: once, twice, and killed before every effect."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from .conftest import MOUNTED
from .machine import Killed, Machine, make_machine

MODES = ("on_init_complete", "on_create")
TYPES = ("Controller", "Login", "Compute")


@pytest.fixture(params=[(mode, node_type) for mode in MODES for node_type in TYPES], ids="-".join)
def case(request: pytest.FixtureRequest) -> tuple[str, str]:
    mode, node_type = request.param
    return mode, node_type


def test_every_step_succeeds(tmp_path: Path, case: tuple[str, str]) -> None:
    mode, node_type = case
    machine = make_machine(tmp_path / "node", node_type, mode)
    assert machine.set_up(mode)
    assert machine.skipped() == []


def test_a_second_run_has_no_effect(tmp_path: Path, case: tuple[str, str]) -> None:
    mode, node_type = case
    machine = make_machine(tmp_path / "node", node_type, mode)
    machine.set_up(mode)
    state = machine.snapshot()
    assert machine.set_up(mode) == []
    assert machine.snapshot() == state


@pytest.mark.parametrize("node_type", ["Controller", "Compute"])
@pytest.mark.parametrize("mode", MODES)
def test_a_kill_before_any_effect_leads_to_the_same_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str, node_type: str
) -> None:
    monkeypatch.setattr("node_setup.mounts._touch", lambda path, deadline: True)
    whole = make_machine(tmp_path / "node", node_type, mode)
    effects = len(whole.set_up(mode))
    expected = whole.snapshot()
    for kill_at in range(effects):
        machine = make_machine(tmp_path / str(kill_at) / "node", node_type, mode)
        machine.kill_at = kill_at
        with pytest.raises(Killed):
            machine.set_up(mode)
        machine.kill_at = None
        machine.set_up(mode)
        assert machine.snapshot() == expected, f"killed before effect {kill_at}"
        shutil.rmtree(tmp_path / str(kill_at))


def test_a_boot_makes_again_what_was_lost(tmp_path: Path, case: tuple[str, str]) -> None:
    mode, node_type = case
    machine = make_machine(tmp_path / "node", node_type, mode)
    machine.set_up(mode)
    before = machine.snapshot()
    lose_what_a_reboot_loses(machine, mode)
    assert machine.snapshot() != before
    machine.set_up("boot")
    assert machine.skipped() == []
    assert machine.snapshot() == before
    assert machine.set_up("boot") == []


def lose_what_a_reboot_loses(machine: Machine, mode: str) -> None:
    if mode == "on_create":
        machine.write("/proc/mounts", machine.text("/proc/mounts").replace(MOUNTED, ""))
    disk = machine.path("/opt/dlami/nvme")
    for path in sorted(disk.rglob("*"), reverse=True):
        path.rmdir()
