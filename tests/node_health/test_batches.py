"""A job that has left a node, whose slurmd still knows it: squeue's answers are doubles, in its own format."""

from __future__ import annotations

import pytest
from node_health.system import Result
from node_health.watch import Watch

from .doubles import SETTINGS, Cluster, Machine

RESTART = ["systemctl", "restart", "slurmd"]
WITHOUT_US = Result(0, "7 RUNNING w1,w2\n")


class Host:
    """A batch host whose script of job 7 has ended, and its detector of hangs."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.machine: Machine = cluster["w0"]
        self.machine.programs["systemctl"] = lambda command, text: Result(0)
        self.watch = Watch(self.machine, SETTINGS, "w0")
        self.machine.pids["7.batch"] = {1000}
        self.poll()
        del self.machine.pids["7.batch"]

    def poll(self, answer: Result | None = None, times: int = 1) -> None:
        if answer is not None:
            self.machine.programs["squeue"] = lambda command, text: answer
        for _ in range(times):
            self.watch.poll()

    @property
    def restarts(self) -> int:
        return self.machine.commands.count(RESTART)


@pytest.fixture
def host(cluster: Cluster) -> Host:
    return Host(cluster)


def test_slurmd_starts_again_once_for_a_job_that_goes_on_without_the_node(host: Host) -> None:
    host.poll(WITHOUT_US, times=3)
    assert host.restarts == 1
    assert "jobs that have left this node, 7" in host.machine.log


@pytest.mark.parametrize(
    "answer",
    [
        Result(0, ""),
        Result(1, error="slurm_load_jobs error: Invalid job id specified\n"),
        Result(0, "7 PENDING \n"),
        Result(0, "7 COMPLETING w1,w2\n"),
        Result(0, "8 RUNNING w1,w2\n7 COMPLETING w0\n"),
    ],
)
def test_a_job_that_ends_needs_nothing_and_is_asked_for_once(host: Host, answer: Result) -> None:
    host.poll(answer)
    host.poll(WITHOUT_US, times=2)
    assert host.restarts == 0


@pytest.mark.parametrize("answer", [Result(0, "7 RUNNING w0,w1\n"), Result(1, error="Unable to contact slurm controller\n")])
def test_what_is_not_known_yet_is_asked_again(host: Host, answer: Result) -> None:
    host.poll(answer, times=3)
    assert host.restarts == 0
    host.poll(WITHOUT_US)
    assert host.restarts == 1


def test_nobody_is_asked_about_a_script_that_runs(host: Host) -> None:
    host.machine.pids["7.batch"] = {1000}
    host.poll(times=2)
    assert "squeue" not in [command[0] for command in host.machine.commands]


def test_slurmd_of_a_node_with_work_starts_again_afterwards(host: Host) -> None:
    host.machine.pids["8.0"] = {1001}
    host.poll(WITHOUT_US)
    del host.machine.pids["8.0"]
    host.cluster.nodes["w0"]["state"] = "ALLOCATED"
    host.poll()
    assert host.restarts == 0
    host.cluster.nodes["w0"]["state"] = "IDLE"
    host.poll()
    assert host.restarts == 1


def test_a_slurmd_that_does_not_start_is_asked_again(host: Host) -> None:
    host.machine.programs["systemctl"] = lambda command, text: Result(1)
    host.poll(WITHOUT_US, times=2)
    assert host.restarts == 2
