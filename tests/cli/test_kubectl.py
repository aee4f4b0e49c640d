"""The shell with kubectl and Helm."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hyperpod_constructs.cli import kubectl as module
from hyperpod_constructs.cli.console import CliError
from hyperpod_constructs.cli.kubectl import enter, programs

LINUX = (sys.platform, platform.machine()) == ("linux", "x86_64")


@pytest.mark.skipif(not LINUX, reason="the layer's programs are for Linux on x86-64")
def test_the_layer_is_unpacked_once(tmp_path: Path) -> None:
    folder = programs(tmp_path / "build")
    assert folder is not None
    assert sorted(path.name for path in folder.iterdir()) == ["helm", "kubectl"]
    done = subprocess.run([str(folder / "kubectl"), "version", "--client"], capture_output=True, text=True, check=True)  # noqa: S603
    assert "Client Version: v1.35" in done.stdout
    (folder / "kubectl").write_text("kept")
    assert programs(tmp_path / "build") == folder
    assert (folder / "kubectl").read_text() == "kept"
    assert [path.name for path in (tmp_path / "build").iterdir()] == [folder.name]


def _without_layer(monkeypatch: pytest.MonkeyPatch, *, kubectl: str | None) -> None:
    def missing(name: str) -> Any:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "distribution", missing)
    monkeypatch.setattr(shutil, "which", lambda name: kubectl)


def test_without_the_extra_the_path_has_kubectl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _without_layer(monkeypatch, kubectl="/usr/bin/kubectl")
    assert programs(tmp_path) is None


def test_fails_without_any_kubectl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _without_layer(monkeypatch, kubectl=None)
    with pytest.raises(CliError, match=r"kubectl is not installed: pip install 'hyperpod-constructs\[eks\]'"):
        programs(tmp_path)


def test_another_machine_has_no_use_for_the_layer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "arm64")
    monkeypatch.setattr(shutil, "which", lambda name: "/usr/bin/kubectl")
    assert programs(tmp_path) is None


@pytest.mark.parametrize(("terminal", "command"), [(True, ["bash"]), (False, ["bash", "-s"])])
def test_a_shell_finds_cluster_and_programs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, terminal: bool, command: list[str]
) -> None:
    became: list[Any] = []
    monkeypatch.setattr(module, "programs", lambda parent: tmp_path / "programs")
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: terminal))
    monkeypatch.setattr(os, "execvpe", lambda *arguments: became.append(arguments))
    enter(tmp_path / "config", {"PATH": "/usr/bin", "MARK": "kept"}, tmp_path, only_print=False)
    path = f"{tmp_path / 'programs'}{os.pathsep}/usr/bin"
    assert became == [("bash", command, {"PATH": path, "MARK": "kept", "KUBECONFIG": str(tmp_path / "config")})]


def test_the_lines_of_a_shell_are_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "programs", lambda parent: tmp_path / "programs")
    enter(tmp_path / "config", {}, tmp_path, only_print=True)
    assert capsys.readouterr().out.splitlines() == [
        f"export KUBECONFIG={tmp_path / 'config'}",
        f"export PATH={tmp_path / 'programs'}:$PATH",
    ]
