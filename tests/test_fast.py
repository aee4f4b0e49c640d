"""`make test-fast` runs what it promises, and nothing that needs root or Debian packages."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from bench.suite import fast_options
from tests.conftest import GUARD
from tests.fast import PROGRAMS, SLOW, TESTS, is_fast

ROOT = TESTS.parent
# What a contributor works on.
UNITS = (
    "analysis",
    "cli",
    "cluster",
    "cost",
    "custom_resources",
    "handlers",
    "lifecycle",
    "node_health",
    "node_metrics",
    "plan",
    "rules",
    "storage",
    "templates",
)


def test_every_unit_is_among_the_fast_tests() -> None:
    assert [folder for folder in UNITS if not (TESTS / folder).is_dir() or not is_fast(TESTS / folder)] == []


def test_every_slow_file_or_folder_is_there() -> None:
    assert [place for place in SLOW if not (TESTS / place).exists()] == []


def test_only_whole_names_are_slow() -> None:
    assert not is_fast(TESTS / "local" / "test_server.py")
    assert is_fast(TESTS / "locality" / "test_server.py")


def test_make_test_fast_runs_fast_tests_only_and_installs_nothing() -> None:
    assert "--fast" in fast_options()
    recipe = (ROOT / "Makefile").read_text().partition("\ntest-fast:")[2].partition("\n\n")[0]
    assert "setup_nodes" not in recipe


def test_the_debian_programs_are_known() -> None:
    assert {"systemd-nspawn", "mmdebstrap", "chromium"} <= PROGRAMS


@pytest.mark.parametrize("program", ["/usr/bin/systemd-nspawn", "shellcheck", str(ROOT / ".venv-examples/bin/python")])
def test_a_program_that_setup_nodes_installs_is_noted(tmp_path: Path, program: str) -> None:
    with GUARD.watching() as found, pytest.raises(OSError, match="nowhere"):
        subprocess.Popen([program], cwd=tmp_path / "nowhere")  # noqa: S603
    assert found == [f"starts {program}, which tools/setup_nodes.sh installs"]


def test_a_file_for_another_user_is_noted(tmp_path: Path) -> None:
    with GUARD.watching() as found, pytest.raises(FileNotFoundError):
        os.chown(tmp_path / "nowhere", os.geteuid() + 1, -1)
    assert found == [f"gives {tmp_path / 'nowhere'} to another user or group, which only root may"]


def test_what_everybody_may_is_not_noted(tmp_path: Path) -> None:
    with GUARD.watching() as found:
        subprocess.run(["true"], check=True)
        os.chown(tmp_path, -1, -1)
    assert found == []


def test_what_nobody_watches_is_not_noted(tmp_path: Path) -> None:
    with GUARD.watching() as outer:
        with GUARD.watching() as inner, pytest.raises(FileNotFoundError):
            os.chown(tmp_path / "nowhere", os.geteuid() + 1, -1)
        assert (len(inner), outer) == (1, [])
