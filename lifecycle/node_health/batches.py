"""Jobs that have left this node while its slurmd still believes that their batch script runs here.

A job with `--no-kill` loses a batch host that Slurm calls down, and goes on. slurmd forgets a batch script only when the job ends,
which Slurm tells to the nodes that the job has then. If the lost node comes back by itself and is given the job again, its slurmd
refuses the script. Slurm then drains the node (`Duplicate jobid`) and holds the job. After a restart, slurmd knows only what runs.

Source: _rpc_batch_job, _launch_complete_rm and record_launched_jobs in src/slurmd/slurmd/req.c, _notify_slurmctld_nodes in
src/slurmctld/agent.c of Slurm 24.11 (https://github.com/SchedMD/slurm/tree/slurm-24.11)
"""

from __future__ import annotations

from typing import Mapping

from node_health.log import log
from node_health.slurm import Slurm
from node_health.system import System

RESTART = ("systemctl", "restart", "slurmd")
RESTART_SECONDS = 60.0


class Batches:
    """The batch scripts of this node, from one look to the next."""

    def __init__(self, system: System, slurm: Slurm) -> None:
        self._system = system
        self._slurm = slurm
        self._running: set[str] = set()
        self._ended: set[str] = set()

    def look(self, steps: Mapping[str, set[int]]) -> None:
        """Ask for the jobs of scripts that have ended. slurmd starts again if one has left the node, which has no work then."""
        running = {step.partition(".")[0] for step in steps if step.endswith(".batch")}
        ended = sorted((self._ended | self._running) - running)
        self._running = running
        left = {job: self._slurm.has_left(job) for job in ended}
        self._ended = {job for job in ended if left[job] is not False}
        known = [job for job in ended if left[job]]
        if known and not steps and self._is_idle():
            log(self._system, f"slurmd starts again: it still knows jobs that have left this node, {', '.join(known)}")
            if self._system.run(RESTART, RESTART_SECONDS).code == 0:
                self._ended.clear()

    def _is_idle(self) -> bool:
        own = self._slurm.own()
        return own is not None and own.state.startswith("IDLE")
