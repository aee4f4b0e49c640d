"""SIGUSR1, sent before the time limit or at a preemption: save and go back to the queue."""

from __future__ import annotations

import logging
import os
import re
import signal
import subprocess
from pathlib import Path
from types import FrameType

# No handler for SIGTERM: torchrun stops its workers with it, and a worker that ignores it blocks an elastic restart.


class StopRequest:
    def __init__(self) -> None:
        self.requested = False
        signal.signal(signal.SIGUSR1, self.receive)

    def receive(self, number: int, frame: FrameType | None) -> None:
        self.requested = True


def requeue(run_directory: Path) -> None:
    """Put this job back into the queue; the mark stops its batch script from starting the step again meanwhile."""
    job = os.environ.get("SLURM_JOB_ID")
    if job is None:
        logging.info("stopped on request: not in a Slurm job, start it again to continue")
        return
    (run_directory / f"stopped-{job}-{os.environ.get('SLURM_RESTART_COUNT', '0')}").touch()
    shown = subprocess.run(["scontrol", "--oneliner", "show", "job", job], capture_output=True, text=True, check=False)  # noqa: S603
    if is_preempted(shown.stdout):
        logging.info("preempted: Slurm requeues the job when it ends")
        return
    result = subprocess.run(["scontrol", "requeue", job], capture_output=True, text=True, check=False)  # noqa: S603
    if result.returncode:
        logging.error("scontrol requeue %s failed: %s; submit the job again to continue", job, result.stderr.strip())


def is_preempted(shown: str) -> bool:
    """Whether Slurm has preempted this run of a job, and so requeues it by itself once it ends.

    A job that asks for a requeue as well would be requeued once more, when it is complete.
    """
    times: dict[str, str] = dict(re.findall(r" (StartTime|PreemptTime)=(\d\S+)", shown))
    return "PreemptTime" in times and times["PreemptTime"] >= times.get("StartTime", "")
