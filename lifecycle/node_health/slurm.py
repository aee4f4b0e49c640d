"""The interface to Slurm: slurmctld's nodes, marks, and the live tasks of a step on this node."""

from __future__ import annotations

import re
from typing import NamedTuple

from node_health.finding import ACTIONS
from node_health.system import System

SECONDS = 5.0
NO_STEPS = ("No job steps exist", "does not exist")
"""scontrol's messages for a job without a task on this node; any other failure tells nothing about tasks."""
NO_JOB = "Invalid job id"
FIELD = re.compile(r"(?:^|\s)([A-Z]\w*)=")


class Node(NamedTuple):
    """A node in slurmctld; `action` is its mark, `extra` is the free text for its name."""

    name: str
    state: str
    reason: str
    extra: str
    gres: str

    @property
    def action(self) -> str | None:
        return self.reason if self.reason in ACTIONS else None

    @property
    def lives(self) -> bool:
        states = set(re.split(r"[+*~#!%$@^-]+", self.state))
        return "*" not in self.state and not states & {"DOWN", "FUTURE", "POWERED_DOWN", "POWERING_DOWN", "UNKNOWN"}

    def amount(self, resource: str) -> int:
        """The declared number of a generic resource."""
        return sum(int(number) for number in re.findall(rf"(?:^|,){resource}(?::[^:,(]+)?:(\d+)(?=[,(]|$)", self.gres))


def parse_nodes(text: str) -> list[Node]:
    """The nodes in the output of `scontrol --oneliner show nodes`. A value with blanks ends where the next field begins."""
    found = []
    for line in text.splitlines():
        marks = list(FIELD.finditer(line))
        ends = [mark.start() for mark in marks[1:]] + [len(line)]
        fields = {mark.group(1): line[mark.end() : end].strip() for mark, end in zip(marks, ends)}
        if "NodeName" in fields:
            reason = re.sub(r"\s*\[[^\]]*\]$", "", fields.get("Reason", ""))
            extra, gres = fields.get("Extra", ""), fields.get("Gres", "")
            found.append(Node(fields["NodeName"], fields.get("State", ""), reason, _given(extra), _given(gres)))
    return found


def _given(text: str) -> str:
    return "" if text == "(null)" else text


class Slurm:
    """The cluster, seen from one node."""

    def __init__(self, system: System, node: str) -> None:
        self._system = system
        self.node = node

    def nodes(self) -> list[Node] | None:
        """All nodes; `None` if slurmctld does not answer."""
        return self._show("nodes")

    def own(self) -> Node | None:
        shown = self._show("node", self.node)
        return shown[0] if shown else None

    def set_extra(self, text: str) -> bool:
        return self._update(f"extra={text}")

    def mark(self, action: str, extra: str) -> bool:
        """Ask HyperPod for the action and record it, in one update. The state keeps running jobs; the reason is the request."""
        if action not in ACTIONS:
            raise ValueError(f"mark {action!r}: allowed are {', '.join(ACTIONS)}")
        return self._update("state=fail", f"reason={action}", f"extra={extra}")

    def tasks(self, step: str) -> set[int] | None:
        """The live processes of `<job>.<step>` on this node; `None` if Slurm does not answer."""
        result = self._system.run(["scontrol", "listpids", step.partition(".")[0]], SECONDS)
        if result.code == 0:
            return parse_pids(result.output).get(step, set())
        return set() if any(sign in result.output + result.error for sign in NO_STEPS) else None

    def steps(self) -> dict[str, set[int]] | None:
        """The processes of every step on this node; `None` if Slurm does not answer."""
        result = self._system.run(["scontrol", "listpids"], SECONDS)
        if result.code == 0:
            return parse_pids(result.output)
        return {} if any(sign in result.output + result.error for sign in NO_STEPS) else None

    def has_left(self, job: str) -> bool | None:
        """Whether the job runs without this node. `None` if it may still end here, or if Slurm does not answer."""
        result = self._system.run(["squeue", "--noheader", f"--jobs={job}", "--format=%A %T %N"], SECONDS)
        if result.code != 0 and NO_JOB not in result.error:
            return None
        for row in (line.split() for line in result.output.splitlines()):
            if len(row) == 3 and row[:2] == [job, "RUNNING"]:
                names = self._system.run(["scontrol", "show", "hostnames", row[2]], SECONDS)
                return None if names.code != 0 or self.node in names.output.split() else True
        return False

    def _show(self, *what: str) -> list[Node] | None:
        result = self._system.run(["scontrol", "--oneliner", "show", *what], SECONDS)
        return parse_nodes(result.output) if result.code == 0 else None

    def _update(self, *changes: str) -> bool:
        return self._system.run(["scontrol", "update", f"node={self.node}", *changes], SECONDS).code == 0


def parse_pids(text: str) -> dict[str, set[int]]:
    """The processes in the output of `scontrol listpids`, by `<job>.<step>`."""
    steps: dict[str, set[int]] = {}
    for row in (line.split() for line in text.splitlines()):
        if len(row) >= 3 and row[0].isdigit():
            steps.setdefault(f"{row[1]}.{row[2]}", set()).add(int(row[0]))
    return steps
