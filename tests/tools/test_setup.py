"""What a machine lacks is named in one sentence before anything is installed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SHELL = shutil.which("sh") or "sh"


def _set_up(directory: Path, python: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": "/usr/bin:/bin", "PYTHON": python}
    command = [SHELL, str(ROOT / "tools/setup.sh"), ".venv", *arguments]
    return subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True, check=False)  # noqa: S603


def _python(directory: Path, script: str) -> str:
    program = directory / "python"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return str(program)


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ('[ "$1" = -V ] && echo Python 3.9.2; exit 1', "is Python 3.9.2, but 3.11 or newer is needed"),
        ('case "$2" in *ensurepip*) exit 1 ;; esac', "has no venv module: install it (Debian, Ubuntu: apt-get install"),
    ],
    ids=["too old", "no venv"],
)
def test_fails_for_an_unfit_python(tmp_path: Path, script: str, message: str) -> None:
    done = _set_up(tmp_path, _python(tmp_path, script))
    assert done.returncode == 1
    assert message in done.stderr
    assert not (tmp_path / ".venv").exists()


def test_fails_without_python(tmp_path: Path) -> None:
    done = _set_up(tmp_path, "python-that-is-not-there")
    assert done.returncode == 1
    assert done.stderr.startswith("setup: there is no python-that-is-not-there: install Python 3.11 or newer")


def test_fails_with_the_end_of_the_log_and_leaves_no_mark(tmp_path: Path) -> None:
    done = _set_up(tmp_path, _python(tmp_path, '[ "$1" = -m ] && { echo disk full; exit 1; }; exit 0'))
    assert done.returncode == 1
    assert "disk full" in done.stderr
    assert not (tmp_path / ".venv/.ready").exists()


PROGRAM = """#!/bin/sh
# Double of Python, pip and the CDK CLI: notes its calls; an environment has a double of its own.
echo "${0##*/} $*" >>calls
case "$1 $2" in
    "-m venv") mkdir -p "$4/bin" && cp "$0" "$4/bin/pip" ;;
    "--version ") echo "2.1148.1 (build 0)" ;;
esac
"""


@pytest.mark.parametrize(
    ("arguments", "extra", "mark"),
    [
        ((), ".[local,cli,node]", ".ready"),
        (("eks",), ".[local,cli,node,eks]", ".ready-eks"),
        (("dev",), ".[dev]", ".ready-dev"),
    ],
    ids=["deployment", "kubernetes", "tests"],
)
def test_a_deployment_installs_nothing_of_the_tests(tmp_path: Path, arguments: tuple[str, ...], extra: str, mark: str) -> None:
    binaries = tmp_path / ".venv/bin"
    binaries.mkdir(parents=True)
    for name in ("python", "pip", "cdk", "npm"):
        (binaries / name).write_text(PROGRAM)
        (binaries / name).chmod(0o755)
    (tmp_path / "tests/lint").mkdir(parents=True)
    (tmp_path / "tests/lint/checkov-requirements.txt").touch()
    done = _set_up(tmp_path, "python-that-is-not-asked", *arguments)
    assert done.returncode == 0, done.stderr
    calls = (tmp_path / "calls").read_text()
    assert [call.split()[-1] for call in calls.splitlines() if "--editable" in call] == [extra]
    assert [(tmp_path / f".venv-{name}").exists() for name in ("checkov", "aws")] == [arguments == ("dev",)] * 2
    assert ["checkov" in calls, "awscli==" in calls] == [arguments == ("dev",)] * 2
    assert [path.name for path in (tmp_path / ".venv").glob(".ready*")] == [mark]
