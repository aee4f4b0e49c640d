"""A program's output and time have a limit, and what it started ends with it."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from hyperpod_constructs.cli.chart_process import TooMuchError, run

ENVIRONMENT = {"PATH": os.defpath}


def shell(script: str, given: bytes = b"", seconds: float = 20) -> tuple[int, bytes, bytes]:
    return run(["/bin/sh", "-c", script], ENVIRONMENT, given, seconds=seconds, most_bytes=100_000)


def test_answers_what_it_wrote() -> None:
    """Input larger than a pipe holds does not block."""
    assert shell("cat; echo oops >&2; exit 3", b"x" * 99_000) == (3, b"x" * 99_000, b"oops\n")


@pytest.mark.parametrize("script", ["yes", "yes >&2", "head -c 100001 /dev/zero"])
def test_fails_for_too_much(script: str) -> None:
    """An endless output ends at the limit, not at the time."""
    before = time.process_time()
    with pytest.raises(TooMuchError):
        shell(script, seconds=600)
    assert time.process_time() - before < 2


@pytest.mark.parametrize(("script", "seconds"), [("sleep 30 & echo $! > child; wait", 0.2), ("sleep 30 & echo $! > child", 20)])
def test_nothing_outlives_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, seconds: float) -> None:
    """Neither when its time is over nor when it leaves somebody behind, who keeps its output open."""
    monkeypatch.chdir(tmp_path)
    if seconds < 1:
        with pytest.raises(TimeoutError):
            shell(script, seconds=seconds)
    else:
        assert shell(script, seconds=seconds)[0] == 0
    child = int((tmp_path / "child").read_text())
    for _ in range(200):
        if not Path(f"/proc/{child}").exists() or ") Z " in Path(f"/proc/{child}/stat").read_text():
            return
        time.sleep(0.01)
    pytest.fail(f"process {child} lives")
