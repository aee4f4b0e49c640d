"""The input of every check: the system, the settings, the memory and the remaining time."""

from __future__ import annotations

from typing import Sequence

from node_health.finding import REBOOT, Finding
from node_health.memory import Memory
from node_health.settings import Settings
from node_health.slurm import Node
from node_health.system import Result, System

BLOCKED = "blocked"


class Context:
    def __init__(self, system: System, settings: Settings, memory: Memory, declared: Node | None, deadline: float) -> None:
        self.system = system
        self.settings = settings
        self.memory = memory
        self.declared = declared
        """slurmctld's declaration of the node; `None` if slurmctld did not answer."""
        self.deadline = deadline

    @property
    def left(self) -> float:
        return self.deadline - self.system.monotonic()

    def run(self, name: str, command: Sequence[str], seconds: float) -> Result:
        """Run a command that a broken device may block.

        A child that is stuck in the kernel is remembered under `name`, and no second one starts beside it. Otherwise a hanging file
        system would collect one with every check.
        """
        blocked = self.memory.table(BLOCKED)
        stuck = blocked.get(name)
        if isinstance(stuck, list) and self._lives(stuck):
            return Result(None, pid=int(stuck[0]))
        blocked.pop(name, None)
        left = self.left
        result = self.system.run(command, min(seconds, left))
        if result.code is None and result.pid:
            blocked[name] = [result.pid, process_start(self.system, result.pid)]
        return result._replace(hurried=left < seconds)

    def silence(self, fault: str, what: str, seconds: float, result: Result) -> Finding:
        """The finding for a command that did not end. It asks for a reboot only if the command had its full time."""
        if result.hurried:
            return Finding(fault, f"{what} does not answer in the time left by the checks before it")
        return Finding(fault, f"{what} does not answer in {seconds:.0f} s", REBOOT)

    def baseline(self, name: str, count: int) -> int:
        """The highest count that this node has ever seen, including this one."""
        highest = self.memory.table("baseline")
        highest[name] = max(count, int(highest.get(name, 0)))
        return int(highest[name])

    def _lives(self, process: list[int]) -> bool:
        return process[1] != 0 and process_start(self.system, int(process[0])) == process[1]


def process_start(system: System, pid: int) -> int:
    """The start time of a process in ticks since boot; 0 if it does not exist. With the pid, it identifies a process for good."""
    text = system.read(f"/proc/{pid}/stat") or ""
    fields = text.rpartition(")")[2].split()
    return int(fields[19]) if len(fields) > 19 else 0
