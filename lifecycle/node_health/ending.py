"""Ends the steps on a node with a mark for a fault.

The service acts only after the node's jobs have left, and a job resumes elsewhere only after its step has failed. So the processes
of the node's steps get SIGTERM, which lets a job save. The processes that live at the next check get SIGKILL. Batch scripts
continue, because they start the next attempt.
"""

from __future__ import annotations

import signal

from node_health.checks.context import process_start
from node_health.log import log
from node_health.memory import Memory
from node_health.slurm import Slurm
from node_health.system import System

ASKED = "asked_to_end"


def end_steps(system: System, memory: Memory, slurm: Slurm) -> None:
    """Send SIGTERM to processes at first sight and SIGKILL afterwards; a reused process id counts as first sight."""
    asked = memory.table(ASKED)
    steps = {step: pids for step, pids in (slurm.steps() or {}).items() if step.rpartition(".")[2].isdigit()}
    memory.values[ASKED] = {}
    for step, pids in sorted(steps.items()):
        log(system, f"step {step} is ended, since the node is marked: {len(pids)} processes")
        for pid in sorted(pids):
            start = process_start(system, pid)
            system.kill(pid, signal.SIGKILL if asked.get(str(pid)) == start else signal.SIGTERM)
            memory.table(ASKED)[str(pid)] = start
