"""A pause of the ranks while the batch script changes the job's nodes: they save, and wait for the new world."""

from __future__ import annotations

import os
import time
from pathlib import Path

PAUSE_SECONDS = 0.2


class Pause:
    """The request is a file, so a rank that is started again meanwhile finds it too; another file answers it.

    The ranks of the next world end the pause. A batch script that takes nodes away ends it before: then the waiting ranks end
    themselves, and their agents start them again.
    """

    def __init__(self, run_directory: Path) -> None:
        job, restart = os.environ.get("SLURM_JOB_ID", "local"), os.environ.get("SLURM_RESTART_COUNT", "0")
        self.request = run_directory / f"pause-{job}-{restart}"
        self.answer = self.request.with_name(f"{self.request.name}.done")

    def requested(self) -> bool:
        return self.request.exists()

    def end(self) -> None:
        """Remove the request first: a batch script that still waits must not take the next answer for this one."""
        self.request.unlink(missing_ok=True)
        self.answer.unlink(missing_ok=True)

    def hold(self, *, answering: bool) -> None:
        """Wait until the pause ends.

        :raises SystemExit: then, so that the agents start the ranks again.
        """
        if answering:
            self.answer.touch()
        while self.request.exists():
            time.sleep(PAUSE_SECONDS)
        raise SystemExit("the job's nodes have changed: saved, and started again")
