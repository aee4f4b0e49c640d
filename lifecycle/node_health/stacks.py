"""Stack dumps of a hanging rank, taken before any kill: Python's frames, the kernel's frames, and NCCL's Flight Recorder.

A child that runs as the rank's user asks the process and reads its files; root reads `/proc` only. If py-spy is installed, it runs
as that user too. If the kernel forbids users to inspect their own processes (Yama's `ptrace_scope` of 1 or more, as on Ubuntu), the
job's heartbeat answers instead. Root would see more, but would parse the memory of an untrusted process.

Paths are the node's: a Flight Recorder in a container is found only if its folder is mounted at the same path.
"""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path
from typing import NamedTuple

from node_trust.as_user import Identity

from node_health.beats import Beat
from node_health.bounds import load, page, shown
from node_health.checks.context import process_start
from node_health.heartbeat import DIRECTORY, DUMP_SIGNAL
from node_health.system import System

CHILD = str(Path(__file__).with_name("rank_child.py"))
SECONDS = 30.0
PY_SPY_SECONDS = 10.0
SIGNAL_SECONDS = 3.0
THREADS = 64
STACKS_LIMIT = 256 * 1024
ANSWER_LIMIT = 24 * 1024 * 1024
GONE = "no stacks: the process is gone, or another process has its number now"
BASE64 = re.compile(r"[A-Za-z0-9+/]*={0,2}")
IDS = re.compile(r"^Uid:\s+(\d+)\s+(\d+)\s+(\d+).*\nGid:\s+(\d+)\s+(\d+)", re.MULTILINE)
GROUPS = re.compile(r"^Groups:([ \t\d]*)$", re.MULTILINE)


class Dump(NamedTuple):
    """The dump of a rank.

    :param owner: the rank's user; `None` if the process is gone.
    :param flight: the Flight Recorder's file in base64.
    """

    text: str
    flight: str = ""
    owner: Identity | None = None


def dump(system: System, step: str, beat: Beat) -> Dump:
    """The dump of one rank. Only the heartbeat's owner touches the paths in the heartbeat."""
    owner = identity(system, beat.pid)
    if owner is None or owner.uid != beat.owner or process_start(system, beat.pid) != beat.start:
        return Dump(f"rank {beat.rank}, process {beat.pid}\n\n{GONE}\n")
    answer = _ask(system, owner, step, beat)
    stacks, flight = str(answer.get("stacks", GONE)), str(answer.get("flight", ""))
    kernel = _kernel(system, beat.pid) if process_start(system, beat.pid) == beat.start else GONE
    text = f"rank {beat.rank}, process {beat.pid}\n\n{page(stacks, STACKS_LIMIT)}\n\n{kernel}\n"
    return Dump(text, flight if BASE64.fullmatch(flight) else "", owner)


def identity(system: System, pid: int) -> Identity | None:
    """The owner of a process, from the kernel; `None` if the process is gone or has several users."""
    text = system.read(f"/proc/{pid}/status") or ""
    ids, groups = IDS.search(text), GROUPS.search(text)
    if ids is None or groups is None or len({ids.group(1), ids.group(2), ids.group(3)}) > 1:
        return None
    return Identity(int(ids.group(1)), int(ids.group(4)), tuple(int(group) for group in groups.group(1).split()))


def _ask(system: System, owner: Identity, step: str, beat: Beat) -> dict[str, object]:
    number = signal.SIGRTMIN + DUMP_SIGNAL
    asked = {
        "pid": beat.pid,
        "py_spy": system.find("py-spy"),
        "py_spy_seconds": PY_SPY_SECONDS,
        "signal": number if catches(system, beat.pid, number) else 0,
        "signal_seconds": SIGNAL_SECONDS,
        "stack": f"{DIRECTORY}/{step}/{beat.rank}.stack",
        "flight_pipe": f"{beat.flight_pipe}{beat.rank}.pipe" if beat.flight_pipe else "",
        "flight_dump": f"{beat.flight_dump}{beat.rank}" if beat.flight_dump else "",
    }
    result = system.run_as(owner, [CHILD, json.dumps(asked)], SECONDS, ANSWER_LIMIT)
    answer = load(result.output, ANSWER_LIMIT) if result.code == 0 else None
    return answer if isinstance(answer, dict) else {"stacks": f"no Python stacks: {result.last_line}"}


def catches(system: System, pid: int, number: int) -> bool:
    """Whether the process handles a signal."""
    for line in (system.read(f"/proc/{pid}/status") or "").split("\n"):
        if line.startswith("SigCgt:"):
            return bool(int(line.split()[1], 16) >> (number - 1) & 1)
    return False


def _kernel(system: System, pid: int) -> str:
    lines = []
    for thread in system.names(f"/proc/{pid}/task")[:THREADS]:
        base = f"/proc/{pid}/task/{thread}"
        name = shown((system.read(f"{base}/comm") or "").strip())
        state = (system.read(f"{base}/stat") or "").rpartition(")")[2].split()[:1]
        waits = (system.read(f"{base}/wchan") or "").strip()
        lines.append(f"thread {thread} {name}: state {''.join(state)}, waits in {waits or '?'}")
        lines += [f"    {frame}" for frame in (system.read(f"{base}/stack") or "").splitlines()]
    return "\n".join(lines)
