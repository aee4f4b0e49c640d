"""The uploaded files: line ends, shebangs, syntax of the oldest Python on a node, standard library only."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import LIFECYCLE

SCRIPTS = ("on_create.sh", "on_init_complete.sh")
FILES = sorted(path for path in LIFECYCLE.rglob("*") if path.suffix in (".py", ".sh"))
MODULES = [path for path in FILES if path.suffix == ".py"]


def name(path: Path) -> str:
    return str(path.relative_to(LIFECYCLE))


def test_the_entry_scripts_are_there() -> None:
    assert [path.name for path in FILES if path.suffix == ".sh"] == list(SCRIPTS)
    assert MODULES


@pytest.mark.parametrize("path", FILES, ids=name)
def test_lines_end_with_lf(path: Path) -> None:
    content = path.read_bytes()
    assert b"\r" not in content
    assert content.endswith(b"\n")


@pytest.mark.parametrize("script", SCRIPTS)
def test_an_entry_script_is_executable_with_shebang(script: str) -> None:
    path = LIFECYCLE / script
    assert path.read_text(encoding="utf-8").startswith("#!/bin/sh\n")
    assert path.stat().st_mode & 0o111 == 0o111
    assert "set -eu" in path.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("shell", ["bash", "sh"])
@pytest.mark.parametrize("script", SCRIPTS)
def test_an_entry_script_is_valid_shell(shell: str, script: str) -> None:
    command = [shell, "-n", str(LIFECYCLE / script)]
    assert subprocess.run(command, check=False).returncode == 0  # noqa: S603


def test_the_modules_compile(tmp_path: Path) -> None:
    shutil.copytree(LIFECYCLE, tmp_path / "lifecycle", ignore=shutil.ignore_patterns("__pycache__"))
    command = [sys.executable, "-W", "error", "-m", "compileall", "-q", str(tmp_path / "lifecycle")]
    assert subprocess.run(command, check=False).returncode == 0  # noqa: S603


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_a_module_has_the_syntax_of_python_3_8(path: Path) -> None:
    assert isinstance(ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 8)), ast.Module)


@pytest.mark.skipif(sys.version_info < (3, 10), reason="this Python does not list its standard library")
@pytest.mark.parametrize("path", MODULES, ids=name)
def test_a_module_imports_the_standard_library_only(path: Path) -> None:
    imported = set()
    for statement in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(statement, ast.Import):
            imported |= {alias.name.split(".")[0] for alias in statement.names}
        elif isinstance(statement, ast.ImportFrom):
            assert statement.module is not None
            imported.add(statement.module.split(".")[0])
    assert imported <= sys.stdlib_module_names | {"node_setup", "node_health", "node_metrics", "node_trust"}
