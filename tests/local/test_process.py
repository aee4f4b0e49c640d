"""The life of the process: the holder of the directory, a stop, and two starts at once."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hyperpod_constructs.local import process, server
from hyperpod_constructs.local.leftovers import STATE_FILE
from hyperpod_constructs.local.server import LocalAws, LocalAwsError, Silent
from tests.patience import PATIENCE

HOLD = """
import signal, sys, pathlib, time
from hyperpod_constructs.local import process
if sys.argv[2] == "deaf":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
lock = process.hold(pathlib.Path(sys.argv[1]))
print(lock is not None, flush=True)
time.sleep(600)
"""


class Holders:
    """Processes that hold a directory and answer nobody."""

    def __init__(self) -> None:
        self._started: list[subprocess.Popen[str]] = []

    def start(self, directory: Path, manner: str = "") -> subprocess.Popen[str]:
        started = subprocess.Popen([sys.executable, "-c", HOLD, str(directory), manner], stdout=subprocess.PIPE, text=True)  # noqa: S603
        assert started.stdout is not None
        assert started.stdout.readline() == "True\n"
        self._started.append(started)
        return started

    def end(self) -> None:
        for started in self._started:
            started.kill()
            started.communicate()


@pytest.fixture
def holders() -> Iterator[Holders]:
    made = Holders()
    yield made
    made.end()


def _state(directory: Path, pid: int) -> None:
    server.write_state(directory, LocalAws("http://127.0.0.1:1", "123456789012", "us-west-2", pid))


def test_the_kernel_names_the_holder_and_forgets_it_with_the_process(tmp_path: Path, holders: Holders) -> None:
    assert process.holder(tmp_path) is None
    other = holders.start(tmp_path)
    assert process.holder(tmp_path) == other.pid
    assert process.hold(tmp_path) is None
    other.kill()
    other.wait()
    assert process.holder(tmp_path) is None
    with process.held(tmp_path) as ours:
        assert ours


@pytest.mark.parametrize("damage", [None, b"", b'{"endpoint": "http://127', b"[]", b"\xff\xfe"])
def test_a_server_that_does_not_answer_is_known_and_stopped_whatever_its_state_file_says(
    tmp_path: Path, holders: Holders, damage: bytes | None
) -> None:
    other = holders.start(tmp_path)
    if damage is None:
        _state(tmp_path, other.pid)
    else:
        (tmp_path / STATE_FILE).write_bytes(damage)
    assert server.look(tmp_path) == Silent(other.pid)
    assert server.running(tmp_path) is None
    server.stop(tmp_path)
    assert other.wait(PATIENCE) == -signal.SIGTERM
    assert server.look(tmp_path) is None


def test_starting_beside_a_server_that_answers_late_waits_and_says_so(
    tmp_path: Path, holders: Holders, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "READY_SECONDS", 0.1)
    other = holders.start(tmp_path)
    _state(tmp_path, other.pid)
    with pytest.raises(LocalAwsError, match=rf"process {other.pid}\) holds .* has not answered .*hyperpod local stop"):
        server.start(tmp_path)
    assert (tmp_path / STATE_FILE).exists()
    assert process.holder(tmp_path) == other.pid


def test_a_process_that_ignores_the_request_to_end_is_killed(tmp_path: Path, holders: Holders) -> None:
    other = holders.start(tmp_path, "deaf")
    process.end(tmp_path, patience=0.1)
    assert other.wait(PATIENCE) == -signal.SIGKILL


def test_a_process_that_lives_on_is_a_failure_and_keeps_its_files(
    tmp_path: Path, holders: Holders, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = holders.start(tmp_path)
    _state(tmp_path, other.pid)
    monkeypatch.setattr(process, "_send", lambda pid, handle, number: None)
    monkeypatch.setattr(process, "KILL_SECONDS", 0.1)
    monkeypatch.setattr(server, "STOP_SECONDS", 0.1)
    with pytest.raises(LocalAwsError, match=f"process {other.pid} holds .* lives"):
        server.stop(tmp_path)
    assert (tmp_path / STATE_FILE).exists()


def test_a_recycled_process_id_is_never_signalled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The holder ends between the question who it is and the signal; its number means this test by then."""
    sent: list[int] = []
    answers = iter([os.getpid(), None, None, None])
    monkeypatch.setattr(process, "holder", lambda directory: next(answers))
    monkeypatch.setattr(process, "_send", lambda pid, handle, number: sent.append(number))
    process.end(tmp_path, patience=1)
    assert sent == []


def test_a_holder_that_this_namespace_does_not_see_is_not_signalled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Process 0 in a call of kill means the caller's whole process group."""
    monkeypatch.setattr(process, "holder", lambda directory: 0)
    monkeypatch.setattr(process, "_send", lambda pid, handle, number: pytest.fail("a signal was sent"))
    with pytest.raises(process.StillAliveError, match="container"):
        process.end(tmp_path, patience=0.1)


def test_two_cold_starts_at_once_return_one_aws_and_a_killed_one_leaves_nothing_in_the_way(tmp_path: Path) -> None:
    try:
        with ThreadPoolExecutor(2) as pool:
            first, second = pool.map(lambda _: server.start(tmp_path), range(2))
        assert first == second
        # A crash, with the state file left behind: it is no server, and the next start clears it away.
        os.kill(first.pid, signal.SIGKILL)
        while process.holder(tmp_path) is not None:
            time.sleep(process.PAUSE_SECONDS)
        assert server.look(tmp_path) is None
        (tmp_path / "tmp" / "left").touch()
        third = server.start(tmp_path)
        assert third.pid != first.pid
        assert not (tmp_path / "tmp" / "left").exists()
    finally:
        server.stop(tmp_path)
    assert not (tmp_path / STATE_FILE).exists()


def test_a_taken_port_is_a_sentence(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(LocalAwsError) as caught:
            server.start(tmp_path, port=port)
    said = str(caught.value)
    assert f"port {port} of 127.0.0.1: Address already in use" in said
    assert "Traceback" not in said
    assert server.look(tmp_path) is None


def test_a_port_out_of_range_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="port: found 65536"):
        server.start(tmp_path, port=65536)


def test_stopping_where_nothing_ever_ran_makes_nothing(tmp_path: Path) -> None:
    server.stop(tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()
