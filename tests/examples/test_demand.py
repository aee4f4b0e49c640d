"""What the elastic job gives to the queue, and what it takes, under doubles of Slurm's commands."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.examples.jobs import EXAMPLES

SQUEUE = """#!/bin/sh
case "$*" in
*PENDING*) cat "$STATE/waiting" ;;
*--format=%Q) echo 100 ;;
*) cat "$STATE/nodes" ;;
esac
"""
SINFO = '#!/bin/sh\ncase "$*" in *idle*) cat "$STATE/idle" ;; *) echo shared ;; esac\n'
SCONTROL = """#!/bin/sh
case "$1 $2" in "show hostnames") echo "$3" | tr , '\\n'; exit ;; esac
echo "scontrol $*" >>"$STATE/asked"
case "$*" in *NumNodes=0) [ ! -e "$STATE/merges" ] || cat "$STATE/merges" >"$STATE/nodes" ;; esac
! grep -qsF -- "$4" "$STATE/unanswered"
"""
SALLOC = '#!/bin/sh\necho "salloc $*" >>"$STATE/asked"\necho "salloc: Granted job allocation 9" >&2\n'
SCANCEL = '#!/bin/sh\necho "scancel $*" >>"$STATE/asked"\n'
PROGRAMS = {"squeue": SQUEUE, "sinfo": SINFO, "scontrol": SCONTROL, "salloc": SALLOC, "scancel": SCANCEL}
OWN = "node-0,node-1,node-2,node-3"
LARGER = f"{OWN},free-0,free-1"
# The ranks answer a pause at once.
SOURCES = """set -euo pipefail
for part in slurm supervise elastic; do source "$EXAMPLES/common/$part.sh"; done
pause_ranks() { touch "$(pause_file)"; }
"""


class Queue:
    def __init__(self, directory: Path) -> None:
        self.directory = directory
        for name, text in PROGRAMS.items():
            (directory / name).write_text(text)
            (directory / name).chmod(0o755)
        self.fill([], idle=0)
        self.give(nodes=f"{OWN}\n")

    def give(self, **files: str) -> None:
        for name, text in files.items():
            (self.directory / name).write_text(text)

    def fill(self, waiting: list[str], *, idle: int) -> None:
        """:param waiting: the priority, the nodes and the reason of each job."""
        (self.directory / "waiting").write_text("".join(f"{line}\n" for line in waiting))
        (self.directory / "idle").write_text("".join(f"free-{number}\n" for number in range(idle)))

    def run(self, program: str) -> str:
        given = {
            "EXAMPLES": str(EXAMPLES),
            "PATH": f"{self.directory}:/usr/bin:/bin",
            "STATE": str(self.directory),
            "RUN_DIR": str(self.directory),
            "COMPLETE": str(self.directory / "complete"),
            "SLURM_JOB_ID": "7",
            "SLURM_JOB_PARTITION": "shared",
            "SLURM_JOB_QOS": "elastic",
            "SLURMD_NODENAME": "node-2",
            "MIN_NODES": "2",
            "MAX_NODES": "6",
            "RESTART_SECONDS": "0.1",
        }
        done = subprocess.run(  # noqa: S603
            ["bash", "-c", SOURCES + program], env=given, capture_output=True, text=True, timeout=60, check=False
        )
        return done.stdout.strip()

    @property
    def asked(self) -> list[str]:
        path = self.directory / "asked"
        return path.read_text().splitlines() if path.exists() else []


@pytest.fixture
def queue(tmp_path: Path) -> Queue:
    return Queue(tmp_path)


@pytest.mark.parametrize(
    ("waiting", "idle", "given"),
    [
        ([], 0, 0),
        (["200 2 Resources"], 0, 2),
        (["200 2 Resources"], 1, 1),
        (["200 2 Priority"], 2, 0),
        (["100 2 Resources", "50 1 Resources"], 0, 0),
        (["200 2 Dependency", "200 2 BeginTime", "200 1 QOSGrpNodeLimit"], 0, 0),
        (["200 3 Resources"], 0, 0),
        (["150 2 Priority", "200 1 Resources"], 0, 1),
        (["150 1 Priority", "200 1 None"], 0, 2),
        (["200 2 Resources"], 3, 0),
    ],
)
def test_waiting_jobs_of_a_higher_priority_get_what_lets_them_start(
    queue: Queue, waiting: list[str], idle: int, given: int
) -> None:
    queue.fill(waiting, idle=idle)
    assert queue.run("nodes_in_demand 4") == str(given)


def test_the_batch_host_stays(queue: Queue) -> None:
    assert queue.run("give_nodes 4 2 && echo given") == "given"
    assert queue.asked == ["scontrol update JobId=7 NodeList=node-0,node-2"]
    assert not list(queue.directory.glob("pause-*")), "the ranks would wait for ever"


def test_idle_nodes_are_taken_up_to_the_limit(queue: Queue) -> None:
    queue.fill([], idle=5)
    queue.give(merges=LARGER)
    assert queue.run("take_nodes 4 && echo taken") == "taken"
    salloc, *merged = queue.asked
    assert "--nodes=2 --partition=shared --dependency=expand:7 --qos=elastic --immediate=10" in salloc
    assert merged == ["scontrol update JobId=9 NumNodes=0", "scontrol update JobId=7 NumNodes=ALL"]


@pytest.mark.parametrize("unanswered", ["NumNodes=0", "NumNodes=ALL", "NumNodes=0 NumNodes=ALL"])
def test_nodes_that_came_without_an_answer_are_taken(queue: Queue, unanswered: str) -> None:
    """The ranks stay in their pause: they would lose steps when the agents of the new nodes join them."""
    queue.fill([], idle=2)
    queue.give(merges=LARGER, unanswered=unanswered.replace(" ", "\n"))
    assert queue.run("take_nodes 4 && echo taken") == "taken"
    assert [line for line in queue.asked if line.startswith("scancel")] == []
    assert list(queue.directory.glob("pause-*")), "the ranks went on without the new nodes"


def test_nodes_that_did_not_come_are_given_up(queue: Queue) -> None:
    queue.fill([], idle=2)
    assert queue.run("take_nodes 4 || echo none") == "none"
    assert queue.asked[-1] == "scancel 9"
    assert not list(queue.directory.glob("pause-*")), "the ranks would wait for ever"


@pytest.mark.parametrize(("waiting", "idle", "count"), [(["1 1 Resources"], 2, 4), ([], 0, 4), ([], 2, 6)])
def test_nothing_is_taken_from_those_who_wait(queue: Queue, waiting: list[str], idle: int, count: int) -> None:
    queue.fill(waiting, idle=idle)
    assert queue.run(f"take_nodes {count} || echo none") == "none"
    assert queue.asked == []
