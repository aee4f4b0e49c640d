"""The supervisors of steps, under a Slurm that answers late, wrongly or not at all."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.examples.jobs import EXAMPLES

NODES = [f"node-{number}" for number in range(10000)]
# Each answers from a file of its name, which a test may change; without one it fails, as without slurmctld.
SQUEUE = '#!/bin/sh\ncat "$STATE/nodes"\n'
SCONTROL = """#!/bin/sh
echo "scontrol $*" >>"$STATE/asked"
case $1 in
show) echo "$3" | tr , '\\n' ;;
*) [ ! -e "$STATE/merges" ] || cat "$STATE/merges" >"$STATE/nodes" ;;
esac
"""
SALLOC = """#!/bin/sh
echo "salloc $*" >>"$STATE/asked"
cat "$STATE/granted" >&2
"""
SCANCEL = '#!/bin/sh\necho "scancel $*" >>"$STATE/asked"\n'
# The step completes the job.
SRUN = """#!/bin/sh
for argument; do case $argument in --nodelist=*) echo "srun $argument" >>"$STATE/asked" ;; esac; done
touch "$COMPLETE"
"""
PROGRAMS = {"squeue": SQUEUE, "scontrol": SCONTROL, "salloc": SALLOC, "scancel": SCANCEL, "srun": SRUN}


class Slurm:
    """Doubles of its commands, on the path of shell programs that have sourced the supervisors."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.give(nodes="node-0,node-1,node-2")
        for name, text in PROGRAMS.items():
            (directory / name).write_text(text)
            (directory / name).chmod(0o755)

    def give(self, **files: str) -> None:
        for name, text in files.items():
            (self.directory / name).write_text(text + "\n")

    def run(self, program: str, **environment: str) -> subprocess.CompletedProcess[str]:
        source = 'set -euo pipefail; source "$EXAMPLES/common/slurm.sh"; source "$EXAMPLES/common/supervise.sh"\n'
        given = {
            "EXAMPLES": str(EXAMPLES),
            "PATH": f"{self.directory}:/usr/bin:/bin",
            "STATE": str(self.directory),
            "RUN_DIR": str(self.directory),
            "COMPLETE": str(self.directory / "complete"),
            "SLURM_JOB_ID": "7",
            "SLURM_JOB_PARTITION": "dev",
            "RESTART_SECONDS": "0.1",
            **environment,
        }
        command = ["bash", "-c", source + program]
        return subprocess.run(command, env=given, capture_output=True, text=True, timeout=300, check=False)  # noqa: S603

    def asked(self, *programs: str) -> list[str]:
        lines = (self.directory / "asked").read_text().splitlines()
        return [line for line in lines if line.split()[0] in programs]


@pytest.fixture
def slurm(tmp_path: Path) -> Slurm:
    return Slurm(tmp_path)


def test_a_slurmctld_that_does_not_answer_costs_no_node(slurm: Slurm) -> None:
    """A supervisor that took its node for lost would wait for another one while its own stands idle."""
    nodes = slurm.directory / "nodes"
    nodes.rename(slurm.directory / "later")
    again = '(sleep 1; mv "$STATE/later" "$STATE/nodes") & supervise agent node-1 true; wait'
    done = slurm.run(again)
    assert done.returncode == 0, done.stderr
    assert "slurmctld does not tell which nodes the job has" in done.stderr
    assert slurm.asked("salloc", "srun") == ["srun --nodelist=node-1"]


def test_a_node_is_found_among_thousands(slurm: Slurm) -> None:
    """`grep -q` leaves at the first hit, and with pipefail the listing that it cuts off would count as a miss."""
    slurm.give(nodes=",".join(NODES))
    done = slurm.run("supervise agent node-0 true")
    assert done.returncode == 0, done.stderr
    assert slurm.asked("salloc", "srun") == ["srun --nodelist=node-0"]


def test_the_node_that_the_second_job_brings_is_the_new_one(slurm: Slurm) -> None:
    slurm.give(granted="salloc: Granted job allocation 9", merges="node-0,node-1,node-2,node-3")
    done = slurm.run("regain_node")
    assert (done.returncode, done.stdout) == (0, "node-3\n")
    assert slurm.asked("scancel") == []


def test_a_second_job_that_brings_no_node_is_given_up(slurm: Slurm) -> None:
    slurm.give(granted="salloc: Granted job allocation 9")
    done = slurm.run("regain_node || exit 3")
    assert (done.returncode, done.stdout) == (3, "")
    assert slurm.asked("scancel") == ["scancel 9"]


def test_an_allocation_that_is_refused_changes_no_job(slurm: Slurm) -> None:
    slurm.give(granted="salloc: error: Unable to contact slurm controller")
    done = slurm.run("regain_node || exit 3")
    assert (done.returncode, done.stdout) == (3, "")
    assert [line for line in slurm.asked("scontrol") if "update" in line] == []


def test_no_node_is_regained_while_slurmctld_does_not_tell_the_others(slurm: Slurm) -> None:
    """Compared with nothing, every node of the job would look new, and a second agent would start beside the first."""
    (slurm.directory / "nodes").unlink()
    slurm.give(granted="salloc: Granted job allocation 9", merges="node-0,node-1")
    done = slurm.run("regain_node || exit 3")
    assert (done.returncode, done.stdout) == (3, "")


def test_a_slurmctld_that_does_not_answer_requeues_no_job(slurm: Slurm) -> None:
    (slurm.directory / "nodes").unlink()
    done = slurm.run("run_until_complete false || exit 3", SLURM_JOB_NUM_NODES="3", ATTEMPTS="2")
    assert done.returncode == 3
    assert "not complete after 2 attempts" in done.stderr
    assert "requeue" not in done.stderr
