"""The double of the health agent speaks with a Slurm that is too busy to answer."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from typing import Any, cast

import pytest

from hyperpod_constructs.local.nodes import NodesError, VirtualNode
from hyperpod_constructs.local.nodes.doubles import health_agent

TIMED_OUT = "slurm_update error: Unable to contact slurm controller (connect failure)"
REFUSED = "slurm_update error: Invalid node state specified"


class Controller:
    """Gives one answer after the other; the last one stays."""

    running = True

    def __init__(self, *answers: str | NodesError) -> None:
        self.answers = list(answers)
        self.asked: list[list[str]] = []

    def run(self, command: Sequence[str], **_: Any) -> subprocess.CompletedProcess[str]:
        self.asked.append(list(command))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, NodesError):
            raise answer
        return subprocess.CompletedProcess(command, 1 if answer else 0, "", answer)

    @property
    def node(self) -> VirtualNode:
        return cast(VirtualNode, self)


class Replaced:
    name, failure = "ip-10-77-1-4", None


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health_agent, "POLL_SECONDS", 0)


@pytest.mark.parametrize("last", ["", REFUSED])
def test_a_node_is_offered_until_slurm_answers(last: str) -> None:
    controller = Controller(TIMED_OUT, NodesError("no answer after 60 s"), last)
    health_agent.return_to_slurm(controller.node, cast(VirtualNode, Replaced()))
    assert controller.asked == [["scontrol", "update", "NodeName=ip-10-77-1-4", "State=RESUME"]] * 3


def test_a_node_is_not_offered_for_ever() -> None:
    controller = Controller(TIMED_OUT)
    health_agent.return_to_slurm(controller.node, cast(VirtualNode, Replaced()), seconds=0)
    assert len(controller.asked) == 1


def test_a_controller_that_is_off_is_not_asked() -> None:
    controller = Controller(NodesError("the controller is off"))
    controller.running = False
    health_agent.return_to_slurm(controller.node, cast(VirtualNode, Replaced()))
    assert controller.asked == []


def test_a_controller_without_an_answer_names_no_marks() -> None:
    assert health_agent.read_marks(Controller(NodesError("no answer after 20 s")).node) == []


SHOWN = """\
NodeName=ip-10-77-1-4 Arch=x86_64 CPUAlloc=1 State=MIXED ThreadsPerCore=1 Owner=N/A
NodeName=ip-10-77-1-5 Arch=x86_64 CPUAlloc=4 State=ALLOCATED*+DRAIN ThreadsPerCore=1 Owner=N/A Reason=x [root@2027-01-15]
NodeName=ip-10-77-1-6 Arch=x86_64 CPUAlloc=0 State=IDLE+COMPLETING ThreadsPerCore=1 Owner=N/A
NodeName=ip-10-77-1-7 Arch=x86_64 CPUAlloc=0 State=IDLE+DRAIN ThreadsPerCore=1 Owner=N/A
NodeName=ip-10-77-1-8 CPUAlloc=0 State=DOWN* ThreadsPerCore=1 Owner=N/A
"""


def test_nodes_with_jobs_are_busy() -> None:
    assert health_agent.busy(SHOWN) == {"ip-10-77-1-4", "ip-10-77-1-5", "ip-10-77-1-6"}


@pytest.mark.parametrize("answer", [TIMED_OUT, NodesError("no answer after 20 s")])
def test_a_controller_without_an_answer_does_not_know_who_is_busy(answer: str | NodesError) -> None:
    assert health_agent.read_busy(Controller(answer).node) is None
