"""The ledger of a crashed rig: its owner, and a last line that the crash cut short."""

from __future__ import annotations

import fcntl
from pathlib import Path

import pytest

from hyperpod_constructs.local.nodes import container, slots
from hyperpod_constructs.local.nodes.errors import NodesError
from hyperpod_constructs.local.nodes.ledger import Ledger


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place for slots, apart from the machine's own."""
    place = tmp_path / "slots"
    place.mkdir()
    for module in (container, slots):
        monkeypatch.setattr(module, "STATE", place)
    monkeypatch.setattr(slots, "_undo_shared", lambda free: None)
    return place


def _crashed(state: Path, number: int, directory: Path) -> Ledger:
    ledger = Ledger(state / str(number) / "made")
    ledger.directory(directory / "shared")
    return ledger


def test_a_line_that_a_crash_cut_short_does_not_stop_the_undo(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "made")
    made = ledger.directory(tmp_path / "made-by-the-rig")
    with (tmp_path / "made").open("a") as file:
        file.write('["directory", "/hom')
    ledger.undo()
    assert not made.exists()
    assert ledger.entries() == []


def test_only_rigs_of_the_directory_that_crashed_are_undone(state: Path, tmp_path: Path) -> None:
    ours, others, alive = tmp_path / "ours", tmp_path / "others", tmp_path / "ours" / "alive"
    _crashed(state, 0, ours)
    _crashed(state, 1, others)
    _crashed(state, 2, alive)
    with (state / "2" / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert slots.undo_crashed(ours) == 1
    assert not (ours / "shared").exists()
    assert (others / "shared").exists()
    assert (alive / "shared").exists()
    assert slots.undo_crashed(ours) == 1
    assert slots.undo_crashed(ours) == 0
    assert (others / "shared").exists()


def test_who_may_not_look_is_told_to_be_root(state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise PermissionError

    monkeypatch.setattr(slots, "_alone", refuse)
    with pytest.raises(NodesError, match="sudo hyperpod local stop"):
        slots.undo_crashed(tmp_path)


def test_a_machine_without_slots_has_nothing_to_undo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slots, "STATE", tmp_path / "nowhere")
    assert slots.undo_crashed(tmp_path) == 0
    assert not (tmp_path / "nowhere").exists()
