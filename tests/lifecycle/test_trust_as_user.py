"""A child that runs as a user: its ids, its limits and its end."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import pytest
from node_trust.as_user import EXPIRED, Identity, Limits, python, run_as_user

ME = Identity(os.getuid(), os.getgid(), tuple(os.getgroups()))
USER = Identity(54321, 54322, (54323, 54324))
SHOW = """
import json, os, resource, sys
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
names = ("RLIMIT_AS", "RLIMIT_CORE", "RLIMIT_FSIZE", "RLIMIT_NOFILE")
print(json.dumps({
    "ids": [*os.getresuid(), *os.getresgid()], "groups": sorted(os.getgroups()), "cwd": os.getcwd(),
    "environment": sorted(os.environ), "files": sorted(int(name) for name in os.listdir("/proc/self/fd"))[:-1],
    "limits": {name: resource.getrlimit(getattr(resource, name)) for name in names}, "session": os.getsid(0) == os.getpid(),
    "new privileges": status["NoNewPrivs"].strip(), "capabilities": status["CapEff"].strip(), "input": sys.stdin.read(),
}))
"""
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


def test_a_child_has_its_limits_and_nothing_of_its_parents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    with (tmp_path / "file").open("w", encoding="utf-8") as file:
        os.set_inheritable(file.fileno(), True)
        answer = run_as_user(ME, [sys.executable, "-I", "-c", SHOW], b"given", Limits(memory=2**30), {"HOME": "/x"})
    said = json.loads(answer.output)
    assert said["input"] == "given"
    assert said["cwd"] == "/"
    assert said["files"] == [0, 1, 2]
    assert set(said["environment"]) <= {"PATH", "LC_ALL", "HOME", "LC_CTYPE"}
    assert said["limits"] == {
        "RLIMIT_AS": [2**30] * 2,
        "RLIMIT_CORE": [0, 0],
        "RLIMIT_FSIZE": [2**20] * 2,
        "RLIMIT_NOFILE": [64, 64],
    }
    assert said["session"]
    assert said["new privileges"] == "1"


@as_root
def test_a_child_is_the_user_with_his_groups_only() -> None:
    answer = run_as_user(USER, python("-c", SHOW))
    said = json.loads(answer.output)
    assert said["ids"] == [54321] * 3 + [54322] * 3
    assert said["groups"] == [54323, 54324]
    assert int(said["capabilities"], 16) == 0


@as_root
def test_a_folder_is_entered_as_the_user(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    answer = run_as_user(USER, python("-c", SHOW), folder=str(tmp_path))
    assert answer.code == 125
    assert "Permission denied" in answer.error


def test_fails_to_be_another_without_root() -> None:
    if os.geteuid() == 0:
        pytest.skip("root can become anybody")
    assert "cannot become 54321" in run_as_user(USER, ["/bin/true"]).error


@pytest.mark.parametrize(
    ("program", "limits"),
    [
        ("x = bytearray(2**30)", Limits(memory=2**28)),
        ("import os; os.write(1, b'x' * 2**16)", Limits(output=2**15)),
        ("open('big', 'wb', buffering=0).write(b'x' * 2**16) == 2**16 or 1/0", Limits(file_size=2**15)),
        ("files = [open('/dev/null') for _ in range(100)]", Limits()),
    ],
    ids=["memory", "output", "file", "open files"],
)
def test_a_child_beyond_its_limits_fails(tmp_path: Path, program: str, limits: Limits) -> None:
    answer = run_as_user(ME, [sys.executable, "-I", "-c", program], limits=limits, folder=str(tmp_path))
    assert answer.code != 0
    assert answer.output == b""


def test_a_child_and_what_it_started_end_at_the_deadline(tmp_path: Path) -> None:
    """Its child shares the pipe, so the pipe ends only with both."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    command = ["/bin/sh", "-c", f"exec 3>{pipe}; sleep 600 & sleep 600"]
    answer = run_as_user(ME, command, limits=Limits(seconds=1))
    assert (answer.code, answer.output, answer.left) == (EXPIRED, b"", 0)
    assert wait_for_end(reader)


def test_what_a_child_leaves_behind_ends_with_it(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    assert run_as_user(ME, ["/bin/sh", "-c", f"exec 3>{pipe}; sleep 600 & exit 7"]).code == 7
    assert wait_for_end(reader)


def wait_for_end(reader: int) -> bool:
    """Whether no process has the pipe open for writing; a killed process takes a moment to end."""
    try:
        for _ in range(500):
            try:
                if os.read(reader, 1) == b"":
                    return True
            except BlockingIOError:
                pass
            time.sleep(0.01)
        return False
    finally:
        os.close(reader)
