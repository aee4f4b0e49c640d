"""All steps of a mode on each type of node: once, twice, and killed before every effect."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from .conftest import MOUNTED
from .machine import Machine, make_machine

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
    states: list[dict[str, Any]] = []

    def go_on_from_here() -> None:
        folder = tmp_path / str(len(states))
        machine = whole.copy(folder / "node")
        machine.set_up(mode)
        states.append(machine.snapshot())
        shutil.rmtree(folder)

    whole.before_effect = go_on_from_here
    effects = whole.set_up(mode)
    expected = whole.snapshot()
    assert len(states) == len(effects)
    for effect, state in zip(effects, states):  # noqa: B905  # Python 3.8
        assert state == expected, f"killed before {effect}"


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
