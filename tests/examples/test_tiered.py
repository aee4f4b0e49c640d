"""Checkpoints in tiers: the nearest one that is whole is restored."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.examples.conftest import Job
from tests.examples.jobs import EXAMPLES, assert_undisturbed, variables
from tests.patience import until

SETTINGS = {
    "MEMORY_EVERY": "2",
    "CHECKPOINT_EVERY": "8",
    "MICRO_BATCH": "2",
    "ARGUMENTS": "--pause-seconds 0.3 --collective-seconds 10",
    "BUCKET": "s3://bucket/runs/first",
    "BUCKET_EVERY": "5",
    "MAX_FAILURES": "200",
}


def restored(job: Job) -> list[tuple[int, str]]:
    """The steps and tiers of all ranks so far."""
    return [(int(step), tier) for step, tier in re.findall(r"restored step (\d+) from (\w+)", job.text())]


def lose(job: Job, node: int) -> None:
    """Power off, and on again: its step starts anew, with an empty memory."""
    mark = job.directory / "double" / "down" / f"node-{node}"
    mark.touch()
    name = f"SLURMD_NODENAME=node-{node}"
    job.until(lambda: not any(name in variables(pid) for pid in job.pids("train_fsdp2.py")), "the loss")
    mark.unlink()


def test_nearest_whole_tier_is_restored(make_job: Callable[..., Job], undisturbed: list[dict[str, Any]]) -> None:
    """The neighbour's memory after the loss of a node, and S3 after the loss of all memory and of the file system's checkpoints."""
    job = make_job("tiered/tiered.sbatch", 2, **SETTINGS)
    job.start()
    job.until_step(9)
    lose(job, 1)
    job.until(lambda: len(restored(job)) == 2, "the recovery from memory")
    ((step, tier),) = set(restored(job))
    assert step >= 8
    assert tier == "memory"
    job.until_step(max(step, 18))
    job.kill()
    shutil.rmtree(job.checkpoints)
    job.start(restarts=1)
    assert job.wait() == 0, job.text()
    assert restored(job)[2:] == [(15, "S3")] * 2
    assert_undisturbed(job.records(), undisturbed)


AGENT = "import os, pathlib, signal; pathlib.Path(os.environ['RUN_DIR'], 'agent').write_text(f'{os.getpid()}\\n'); signal.pause()"
LAUNCHER = "until [[ -s $RUN_DIR/agent ]]; do sleep 0.05; done\n"


def test_the_memory_of_a_node_ends_with_its_launcher(tmp_path: Path) -> None:
    """Slurm waits for what a step has left behind, where no control group names it."""
    scripts = {"common/task.sh": "", "common/torchrun.sh": LAUNCHER, "tiered/memory_agent.py": AGENT}
    for name, text in {**scripts, "common/slurm.sh": (EXAMPLES / "common" / "slurm.sh").read_text()}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    given = {"EXAMPLES": str(tmp_path), "RUN_DIR": str(tmp_path), "PYTHON": sys.executable, "SLURM_JOB_ID": "7"}
    environment = {**given, "COMPLETE": str(tmp_path / "complete"), "PATH": os.environ["PATH"]}
    subprocess.run(["bash", str(EXAMPLES / "tiered" / "node.sh")], env=environment, check=True, timeout=60)  # noqa: S603
    agent = int((tmp_path / "agent").read_text())
    try:
        until(lambda: not Path(f"/proc/{agent}").exists(), "the end of the agent")
    finally:
        with suppress(ProcessLookupError):
            os.kill(agent, signal.SIGKILL)
