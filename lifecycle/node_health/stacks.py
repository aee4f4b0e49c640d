"""Stack dumps of a rank that hangs, taken before anything is killed: Python's frames, the kernel's, and NCCL's Flight Recorder.

Paths are those of the node: a Flight Recorder that writes within a container is found only where its folder is mounted alike.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from node_health.beats import Beat
from node_health.heartbeat import DIRECTORY
from node_health.system import PYTHON, System

SECONDS = 20.0
SIGNAL_SECONDS = 3.0
PAUSE_SECONDS = 0.2
THREADS = 64


class Dump(NamedTuple):
    """``flight`` is the Flight Recorder's file in base64, empty where there is none."""

    text: str
    flight: str


def dump(system: System, step: str, beat: Beat) -> Dump:
    """What one rank is doing."""
    python = _py_spy(system, beat) or _faulthandler(system, step, beat)
    return Dump(
        f"rank {beat.rank}, process {beat.pid}\n\n{python}\n\n{_kernel(system, beat.pid)}\n", _flight_recorder(system, beat)
    )


def _py_spy(system: System, beat: Beat) -> str:
    program = system.find("py-spy")
    if program is None:
        return ""
    result = system.run([program, "dump", "--nonblocking", "--pid", str(beat.pid)], SECONDS)
    return result.output if result.code == 0 else ""


def _faulthandler(system: System, step: str, beat: Beat) -> str:
    """The stacks that the job's own heartbeat prints at its signal; without a handler the signal would kill, so it is not sent."""
    path = f"{DIRECTORY}/{step}/{beat.rank}.stack"
    if not catches(system, beat.pid, beat.signal):
        return "no Python stacks: py-spy is not installed, and the process handles no dump signal"
    before = system.read(path) or ""
    system.kill(beat.pid, beat.signal)
    deadline = system.monotonic() + SIGNAL_SECONDS
    text = shown = ""
    while system.monotonic() < deadline:
        system.sleep(PAUSE_SECONDS)
        shown, text = text, (system.read(path) or "")[len(before) :]
        if text and text == shown:
            return text
    return text or "no Python stacks: the process did not answer its dump signal, so it is stopped or deep in the kernel"


def catches(system: System, pid: int, number: int) -> bool:
    """Whether the process has a handler for that signal."""
    for line in (system.read(f"/proc/{pid}/status") or "").splitlines():
        if line.startswith("SigCgt:"):
            return bool(int(line.split()[1], 16) >> (number - 1) & 1)
    return False


def _kernel(system: System, pid: int) -> str:
    lines = []
    for thread in system.names(f"/proc/{pid}/task")[:THREADS]:
        base = f"/proc/{pid}/task/{thread}"
        name = (system.read(f"{base}/comm") or "").strip()
        state = (system.read(f"{base}/stat") or "").rpartition(")")[2].split()[:1]
        waits = (system.read(f"{base}/wchan") or "").strip()
        lines.append(f"thread {thread} {name}: state {''.join(state)}, waits in {waits or '?'}")
        lines += [f"    {frame}" for frame in (system.read(f"{base}/stack") or "").splitlines()]
    return "\n".join(lines)


def _flight_recorder(system: System, beat: Beat) -> str:
    """Asks for a dump through the pipe and waits for the file, in a child: both may be on a file system that hangs."""
    if not beat.flight_dump:
        return ""
    pipe = f"{beat.flight_pipe}{beat.rank}.pipe" if beat.flight_pipe else ""
    program = str(Path(__file__).with_name("flight_child.py"))
    command = [PYTHON, "-S", program, pipe, f"{beat.flight_dump}{beat.rank}", str(beat.owner)]
    result = system.run(command, SECONDS)
    return result.output.strip() if result.code == 0 else ""
