"""SIGUSR1, sent before the time limit: save and go back to the queue."""

from __future__ import annotations

import logging
import os
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
    result = subprocess.run(["scontrol", "requeue", job], capture_output=True, text=True, check=False)  # noqa: S603
    if result.returncode:
        logging.error("scontrol requeue %s failed: %s; submit the job again to continue", job, result.stderr.strip())
