"""Every shell script of the project, and those that its programs write on nodes: syntax, and what shellcheck finds."""

from __future__ import annotations

import importlib
import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from hyperpod_constructs.local.nodes.image import CUSTOMIZE
from tests.lint.tools import assert_succeeds
from tests.presets import ROOT

FOLDERS = (".ci", "bench", "examples", "hyperpod_constructs", "lifecycle", "tests", "tools")
SUFFIXES = (".sh", ".sbatch")
SHEBANGS = ("#!/bin/sh", "#!/bin/bash", "#!/usr/bin/env bash")
STEPS = ROOT / "lifecycle/node_setup/steps"
FIELD = re.compile(r"(?<!\$)\{(\w+)\}")
MISSING = "run tools/setup_nodes.sh, or install shellcheck: shell scripts are not checked without it"


def _is_script(path: Path) -> bool:
    if path.suffix in SUFFIXES:
        return True
    with path.open("rb") as file:
        return file.readline(80).decode(errors="replace").strip() in SHEBANGS


def _files() -> list[str]:
    paths = (path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*")))
    return [str(path.relative_to(ROOT)) for path in paths if path.is_file() and _is_script(path)]


def _written() -> dict[str, str]:
    """The scripts that steps of the programs for nodes hold as constants, by module and name, and the one that makes an image."""
    sys.path.insert(0, str(ROOT / "lifecycle"))
    try:
        modules = [importlib.import_module(f"node_setup.steps.{path.stem}") for path in sorted(STEPS.glob("[a-z]*.py"))]
    finally:
        sys.path.remove(str(ROOT / "lifecycle"))
    constants = {f"{module.__name__}.{name}": value for module in modules for name, value in vars(module).items()}
    scripts = {name: value for name, value in constants.items() if isinstance(value, str) and value.startswith(SHEBANGS)}
    return {name: FIELD.sub(r"/\1", script) for name, script in scripts.items()} | {"image.CUSTOMIZE": f"#!/bin/sh\n{CUSTOMIZE}"}


FILES = _files()
WRITTEN = _written()


@pytest.fixture(scope="module")
def shellcheck() -> str:
    program = shutil.which("shellcheck")
    if program is None:
        if os.environ.get("CI") == "true":
            pytest.fail(MISSING)
        pytest.skip(MISSING)
    return program


def test_scripts_are_found() -> None:
    assert {".ci/run", "lifecycle/on_create.sh", "tools/setup_nodes.sh", "examples/ddp/ddp.sbatch"} <= {*FILES}
    assert {"node_setup.steps.health.PROGRAM", "node_setup.steps.hooks.PROGRAM"} <= {*WRITTEN}


@pytest.mark.parametrize("script", FILES)
def test_a_script_is_valid(script: str) -> None:
    assert_succeeds("bash", "-n", script)


@pytest.mark.parametrize("name", WRITTEN)
def test_a_written_script_is_valid(name: str) -> None:
    assert_succeeds("sh", "-n", text=WRITTEN[name])


def test_shellcheck_finds_nothing(shellcheck: str) -> None:
    # Scripts of examples name each other by $EXAMPLES, their folder.
    assert_succeeds(shellcheck, "--external-sources", "--source-path=examples", *FILES)


@pytest.mark.parametrize("name", WRITTEN)
def test_shellcheck_finds_nothing_in_a_written_script(shellcheck: str, name: str) -> None:
    assert_succeeds(shellcheck, "-", text=WRITTEN[name])
