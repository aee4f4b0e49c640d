"""What every check gets: the system, the settings, the memory and the time that is left."""

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
        """The node as slurmctld declares it; ``None`` when it could not be asked."""
        self.deadline = deadline

    @property
    def left(self) -> float:
        return self.deadline - self.system.monotonic()

    def run(self, name: str, command: Sequence[str], seconds: float) -> Result:
        """Runs a command that a broken device may block.

        A child that did not come back from the kernel is remembered under ``name``, and no second one is started beside it: a
        node whose file system hangs would otherwise collect one with every check.
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
        """The finding of a command that did not end; a reboot is asked for only when it had all its time."""
        if result.hurried:
            return Finding(fault, f"{what} does not answer in the time that the checks before it have left")
        return Finding(fault, f"{what} does not answer in {seconds:.0f} s", REBOOT)

    def baseline(self, name: str, count: int) -> int:
        """The highest count that this node has seen, this one included."""
        highest = self.memory.table("baseline")
        highest[name] = max(count, int(highest.get(name, 0)))
        return int(highest[name])

    def _lives(self, process: list[int]) -> bool:
        return process[1] != 0 and process_start(self.system, int(process[0])) == process[1]


def process_start(system: System, pid: int) -> int:
    """When that process started, in ticks since boot; 0 when there is none. With the pid it names a process for good."""
    text = system.read(f"/proc/{pid}/stat") or ""
    fields = text.rpartition(")")[2].split()
    return int(fields[19]) if len(fields) > 19 else 0
