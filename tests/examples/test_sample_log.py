"""The record of committed steps survives a writer that dies in the middle of a line."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from common.sample_log import BLOCK, SampleLog, merge, progress, records
from common.signals import StopRequest, requeue


def test_a_torn_line_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "samples.jsonl"
    SampleLog(path).append(0, [1, 2], 0.5)
    with path.open("a") as file:
        file.write('{"step": 1, "sam')
    assert [record["step"] for record in records(path)] == [0]
    SampleLog(path).append(1, [3, 4], 0.25)
    assert [(record["step"], record["samples"]) for record in records(path)] == [(0, [1, 2]), (1, [3, 4])]


@pytest.mark.parametrize("torn", ["", "x" * 10, "x" * (BLOCK + 10)])
@pytest.mark.parametrize("whole", [0, 1, 3])
def test_any_length_of_torn_line(tmp_path: Path, whole: int, torn: str) -> None:
    path = tmp_path / "samples.jsonl"
    path.write_text("{}\n" * whole + torn)
    SampleLog(path)
    assert path.read_text() == "{}\n" * whole


def test_progress_and_merge_of_several_writers(tmp_path: Path) -> None:
    paths = [tmp_path / "a", tmp_path / "b"]
    logs = [SampleLog(path) for path in paths]
    logs[0].append(0, [1], 0.5)
    logs[1].append(0, [1], 0.5)
    logs[1].append(1, [2], 0.4)
    assert progress(paths) == 2
    assert progress([tmp_path / "none"]) == 0
    assert [record["step"] for record in merge(paths)] == [0, 1]


def test_sigusr1_is_noted() -> None:
    before = signal.getsignal(signal.SIGUSR1)
    try:
        stop = StopRequest()
        assert not stop.requested
        os.kill(os.getpid(), signal.SIGUSR1)
        assert stop.requested
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_requeue_asks_slurm_and_leaves_a_mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[list[str]] = []

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        commands.append(command)
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    requeue(tmp_path)
    assert commands == []
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    monkeypatch.setenv("SLURM_RESTART_COUNT", "2")
    requeue(tmp_path)
    assert commands == [["scontrol", "--oneliner", "show", "job", "7"], ["scontrol", "requeue", "7"]]
    assert [path.name for path in tmp_path.iterdir()] == ["stopped-7-2"]


@pytest.mark.parametrize(
    ("shown", "preempted"),
    [
        (" StartTime=2026-11-24T15:43:01 PreemptEligibleTime=2026-11-24T15:43:01 PreemptTime=2026-11-24T15:43:12 x", True),
        (" StartTime=2026-11-24T15:43:01 PreemptEligibleTime=2026-11-24T15:43:01 PreemptTime=None x", False),
        (" StartTime=2026-11-24T16:00:00 PreemptTime=2026-11-24T15:43:12 of an earlier run", False),
        ("", False),
    ],
)
def test_a_preempted_job_is_requeued_by_slurm_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shown: str, preempted: bool
) -> None:
    commands: list[str] = []

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        commands.append(command[1])
        return subprocess.CompletedProcess(command, 0, shown, "")

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    requeue(tmp_path)
    assert ("requeue" in commands) is not preempted
    assert [path.name for path in tmp_path.iterdir()] == [f"stopped-7-{os.environ.get('SLURM_RESTART_COUNT', '0')}"]


def test_no_heartbeat_module_is_no_error() -> None:
    code = "from common import heartbeat; heartbeat.INSTALLED = '/nonexistent'; heartbeat.find().before(1)"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[2] / "examples")  # noqa: S603
