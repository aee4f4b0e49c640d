"""File systems beyond a temporary root: one hangs, and one comes late."""

from __future__ import annotations

import importlib
import subprocess
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from .conftest import LIFECYCLE, LUSTRE, MOUNTED
from .machine import TestClock


@pytest.fixture
def mounts(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(LIFECYCLE))
    return importlib.import_module("node_setup.mounts")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "proc").mkdir()
    (tmp_path / "fsx").mkdir()
    (tmp_path / "proc/mounts").write_text(MOUNTED, encoding="utf-8")
    return tmp_path


def lustre(mounts: ModuleType) -> Any:
    return mounts.Mount("lustre", LUSTRE["path"], LUSTRE["dns_name"], LUSTRE["mount_name"])


class Hung:
    """A child in uninterruptible sleep: it ignores a kill, and any wait for it hangs too."""

    killed = False

    def __init__(self, *arguments: object, **options: object) -> None: ...

    def wait(self, timeout: float | None = None) -> int:
        assert timeout is not None, "waited without a deadline"
        assert not self.killed, "waited after the kill"
        raise subprocess.TimeoutExpired("stat", timeout)

    def kill(self) -> None:
        Hung.killed = True


def test_fails_for_a_file_system_that_hangs_without_waiting_for_the_child(
    mounts: ModuleType, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mounts.subprocess, "Popen", Hung)
    with pytest.raises(mounts.NodeSetupError, match=r"/fsx: the lustre file system fs-0123.* does not answer"):
        mounts.await_mount(lustre(mounts), str(root), 0.0, TestClock())
    assert Hung.killed


def test_a_file_system_that_comes_late_is_awaited(mounts: ModuleType, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = TestClock()
    clock.now = 0.0
    looks = iter(["", "systemd-1 /fsx autofs rw 0 0\n", MOUNTED])
    monkeypatch.setattr(mounts, "read_text", lambda path: next(looks))
    mounts.await_mount(lustre(mounts), str(root), 30.0, clock)
    assert next(looks, None) is None
    assert clock.now == 2 * mounts.PAUSE_SECONDS


@pytest.mark.parametrize(
    ("source", "kind", "expected"),
    [
        ("10.1.0.99@tcp:/abcd1234", "lustre", True),
        ("10.1.0.99@tcp:10.1.0.98@tcp:/abcd1234", "lustre", True),
        ("10.1.0.99@tcp,10.1.0.98@efa:/abcd1234", "lustre", True),
        (f"{LUSTRE['dns_name']}@tcp:/abcd1234", "lustre", True),
        ("fs-0.fsx.example@tcp:/abcd1234", "lustre", False),
        ("10.1.0.99@tcp:/abcd1235", "lustre", False),
        ("10.1.0.99@tcp:/abcd1234", "nfs4", False),
        ("tmpfs", "tmpfs", False),
    ],
)
def test_which_entry_is_the_file_system(mounts: ModuleType, source: str, kind: str, expected: bool) -> None:
    assert mounts.is_mount(mounts.Entry(source, kind), lustre(mounts)) is expected
