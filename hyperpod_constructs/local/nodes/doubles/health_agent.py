"""Double of the health agent and of what the service does on its marks.

Public protocol: a node whose reason in Slurm is exactly `Action:Replace` or `Action:Reboot` is replaced or rebooted
once its jobs have left; any other spelling is ignored; a controller is never replaced. How the service finds a broken
machine is closed: here a node that is off is marked for replacement.
"""

from __future__ import annotations

import contextlib
import re
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from hyperpod_constructs.local.nodes.errors import NodesError

if TYPE_CHECKING:
    from hyperpod_constructs.local.nodes.node import VirtualNode

REPLACE, REBOOT = "Action:Replace", "Action:Reboot"
POLL_SECONDS = 1.0
RETURN_SECONDS = 60.0
REFUSAL = "Invalid node state specified"
FREE_STATES = ("IDLE", "DOWN")
BUSY_STATES = frozenset({"ALLOCATED", "MIXED", "COMPLETING"})


class Mark(NamedTuple):
    node: str
    action: str
    free: bool


class Action(NamedTuple):
    """Something that the agent has done; `problem` says why it failed."""

    action: str
    node: str
    seconds: float
    problem: str | None


class Replacing(Protocol):
    """The nodes of a rig, as the agent sees and replaces them."""

    @property
    def controller(self) -> VirtualNode: ...

    @property
    def nodes(self) -> Sequence[VirtualNode]: ...

    def replace(self, node: VirtualNode) -> VirtualNode: ...


class HealthAgent:
    """Watches a rig's cluster in a thread while its `with` statement lasts; `actions` is what it has done.

    With `find_dead` it also marks nodes that are off.
    """

    def __init__(self, rig: Replacing, *, find_dead: bool = True) -> None:
        self.actions: list[Action] = []
        self._rig = rig
        self._find_dead = find_dead
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="health-agent")

    def __enter__(self) -> HealthAgent:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def await_actions(self, count: int, *, seconds: float = 600) -> list[Action]:
        """The actions, once there are that many."""
        deadline = time.monotonic() + seconds
        while len(self.actions) < count:
            if time.monotonic() > deadline:
                raise NodesError(f"after {seconds:.0f} s the health agent has done {self.actions}, expected are {count}")
            time.sleep(0.1)
        return self.actions

    def _watch(self) -> None:
        while not self._stop.wait(POLL_SECONDS):
            controller = self._rig.controller
            if not controller.running:
                continue
            nodes = {node.name: node for node in self._rig.nodes if node is not controller}
            found = {mark.node: mark for mark in read_marks(controller)}
            for name, node in nodes.items():
                if self._find_dead and not node.running and name not in found:
                    mark_dead(controller, name)
            for mark in found.values():
                if mark.free and mark.node in nodes:
                    self._act(mark, nodes[mark.node])

    def _act(self, mark: Mark, node: VirtualNode) -> None:
        started = time.monotonic()
        if mark.action == REPLACE:
            node = self._rig.replace(node)
        elif node.running:
            node.reboot()
        else:
            node.power_on()
        return_to_slurm(self._rig.controller, node)
        self.actions.append(Action(mark.action, mark.node, time.monotonic() - started, node.failure))


def read_marks(controller: VirtualNode) -> list[Mark]:
    """The marks that Slurm knows of; none while it does not answer."""
    try:
        return marks(controller.run(["scontrol", "--oneliner", "show", "nodes"], check=False, timeout=20).stdout)
    except NodesError:
        return []


def read_busy(controller: VirtualNode) -> frozenset[str] | None:
    """The names of the nodes with jobs; `None` while Slurm does not answer."""
    try:
        done = controller.run(["scontrol", "--oneliner", "show", "nodes"], check=False, timeout=20)
    except NodesError:
        return None
    return busy(done.stdout) if done.returncode == 0 else None


def return_to_slurm(controller: VirtualNode, node: VirtualNode, *, seconds: float = RETURN_SECONDS) -> None:
    """Gives a replaced or rebooted node back to the jobs, unless its scripts have failed.

    A busy Slurm is asked again for so many seconds: a mark that stays would replace the node once more. A controller that is off
    is not asked.
    """
    setting = "State=RESUME" if node.failure is None else "Reason=scripts failed"
    deadline = time.monotonic() + seconds
    while controller.running and not _update(controller, node.name, setting) and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)


def mark_dead(controller: VirtualNode, name: str) -> bool:
    """Marks a node that is off for replacement. Returns whether Slurm took the mark."""
    return _update(controller, name, "State=FAIL", f"Reason={REPLACE}")


def _update(controller: VirtualNode, name: str, *settings: str) -> bool:
    """Whether Slurm has answered. It refuses to resume a node whose fault it has not noticed, which is in service for it."""
    with contextlib.suppress(NodesError):
        done = controller.run(["scontrol", "update", f"NodeName={name}", *settings], check=False)
        return done.returncode == 0 or REFUSAL in done.stderr
    return False


def busy(nodes: str) -> frozenset[str]:
    """The nodes with jobs in the answer of `scontrol --oneliner show nodes`."""
    found = re.findall(r"^NodeName=(\S+) .* State=(\S+) ", nodes, re.MULTILINE)
    return frozenset(name for name, state in found if BUSY_STATES & {part.rstrip("*") for part in state.split("+")})


def marks(nodes: str) -> list[Mark]:
    """The marks in the answer of `scontrol --oneliner show nodes`."""
    found = []
    for line in nodes.splitlines():
        marked = re.search(r"^NodeName=(\S+) .* State=(\S+) .* Reason=(Action:Replace|Action:Reboot) \[", line)
        if marked is not None:
            name, state, action = marked.groups()
            base, *flags = state.split("+")
            found.append(Mark(name, action, base.rstrip("*") in FREE_STATES and "COMPLETING" not in flags))
    return found
