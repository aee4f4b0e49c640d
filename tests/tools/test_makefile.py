"""What the targets run, as `make --dry-run` says."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def _planned(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [shutil.which("make") or "make", "--dry-run", "--assume-old=.venv/.ready", *arguments]
    environment = {"PATH": os.environ["PATH"]}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)  # noqa: S603


@pytest.mark.parametrize(
    ("variable", "option", "installs"),
    [
        ("NODES=1", " --nodes", True),
        ("NODES=yes", " --nodes", True),
        ("NODES=0", " --no-nodes", False),
        ("NODES=", "", False),
        ("YES=true", " --yes", False),
        ("YES=0", "", False),
        ("STACK=Foundation", ' --stack "Foundation"', False),
    ],
)
def test_variables_become_options(variable: str, option: str, installs: bool) -> None:
    planned = _planned("deploy", variable).stdout
    words = {" --nodes", " --no-nodes", " --yes", ' --stack "Foundation"'}
    assert {word for word in words if f"{word} " in f"{planned.splitlines()[-1]} "} == ({option} - {""})
    assert ("setup_nodes.sh nodes" in planned) == installs


@pytest.mark.parametrize("variable", ["NODES=2", "NODES=ja", "YES=2"])
def test_fails_for_a_word_that_says_neither_yes_nor_no(variable: str) -> None:
    done = _planned("deploy", variable)
    assert done.returncode != 0
    assert f"{variable} is not known: write one of 1 yes true on 0 no false off" in done.stderr
    assert "hyperpod" not in done.stdout


@pytest.mark.parametrize("target", ["deploy", "destroy"])
def test_an_orchestrator_is_a_setting_and_kubernetes_needs_more_programs(target: str) -> None:
    planned = _planned(target, "ORCHESTRATOR=eks", "VENV=fresh").stdout.splitlines()
    assert ' --context "orchestrator=eks"' in planned[-1]
    assert [line.partition('"fresh"')[2] for line in planned if "setup.sh" in line] == ["", " eks"]
    slurm = _planned(target, "ORCHESTRATOR=slurm", "VENV=fresh").stdout.splitlines()
    assert ' --context "orchestrator=slurm"' in slurm[-1]
    assert [line.partition('"fresh"')[2] for line in slurm if "setup.sh" in line] == [""]


@pytest.mark.parametrize("target", ["deploy", "destroy"])
def test_fails_for_an_unknown_orchestrator(target: str) -> None:
    done = _planned(target, "ORCHESTRATOR=k8s")
    assert done.returncode != 0
    assert "ORCHESTRATOR=k8s is not known: write one of slurm eks" in done.stderr
    assert "hyperpod" not in done.stdout


@pytest.mark.parametrize(
    ("target", "parts"),
    [(target, [""]) for target in ("deploy", "destroy", "connect", "shell")]
    + [(target, ["", " dev"]) for target in ("test", "test-fast", "coverage", "bench", "lint", "freeze")],
)
def test_a_target_installs_what_it_needs(target: str, parts: list[str]) -> None:
    planned = _planned(target, "VENV=fresh").stdout
    assert [
        line.partition('"fresh"')[2] for line in planned.splitlines() if line.startswith("PYTHON=") and "setup.sh" in line
    ] == parts
