"""The choice between the two control planes, and their end."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from hyperpod_constructs.local.kubernetes.control_plane import BINARIES, ControlPlaneError, start_control_plane
from tests.local.kubernetes.conftest import VERSION


def test_a_double_says_that_it_is_one_and_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """In its kind and at its start; its keys are its owner's, and a second stop does nothing."""
    monkeypatch.delenv(BINARIES, raising=False)
    directory = tmp_path / "cluster"
    found = start_control_plane(name="demo", version=VERSION, token_webhook="", directory=directory)
    try:
        assert found.kind == "double"
        assert "control plane of demo: double" in capfd.readouterr().out
        assert stat.S_IMODE((directory / "apiserver.key").stat().st_mode) == 0o600
        assert found.api.get("v1", "Namespace", "default")["status"] == {"phase": "Active"}
    finally:
        found.stop()
        found.stop()
    for _ in range(2):
        with pytest.raises(OSError, match="refused"):
            found.api.get("v1", "Namespace", "default")


def test_a_version_without_schemas_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With those that there are."""
    monkeypatch.delenv(BINARIES, raising=False)
    with pytest.raises(ControlPlaneError, match=r"version 1\.99: the double has schemas of .*1\.34"):
        start_control_plane(name="demo", version="1.99", token_webhook="", directory=tmp_path)


def test_missing_binaries_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is started."""
    (tmp_path / "kube-apiserver").touch()
    monkeypatch.setenv(BINARIES, str(tmp_path))
    monkeypatch.setenv("PATH", os.devnull)
    with pytest.raises(ControlPlaneError, match="kube-controller-manager, kube-scheduler, etcd not found"):
        start_control_plane(name="demo", version=VERSION, token_webhook="", directory=tmp_path / "cluster")
    assert not (tmp_path / "cluster").exists()


def test_a_server_that_ends_is_an_error_with_its_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And what was started before it is ended."""
    for name in ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "etcd"):
        program = tmp_path / name
        program.write_text(
            f"#!/bin/sh\necho $$ > {tmp_path}/{name}.pid\n" + ("exec sleep 60\n" if name == "etcd" else "sleep 0.5\necho broken\n")
        )
        program.chmod(0o700)
    monkeypatch.setenv(BINARIES, str(tmp_path))
    with pytest.raises(ControlPlaneError, match=r"kube-apiserver is not ready(.|\n)*broken"):
        start_control_plane(name="demo", version=VERSION, token_webhook="http://127.0.0.1:1/x", directory=tmp_path / "cluster")
    if (tmp_path / "etcd.pid").exists():
        with pytest.raises(ProcessLookupError):
            os.kill(int((tmp_path / "etcd.pid").read_text()), 0)
