"""Recovery of a sharded job from a node without power: from the memory of its neighbour, beside the file system's checkpoint alone.

Both jobs run the same script over three of four nodes and save on the file system after the same number of steps; one of them also
keeps its shards in memory. A lost node's place is taken by the fourth. The fault comes well after the last checkpoint.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from bench.figures import Estimate, estimate
from bench.recovery import PHASES, STATE_MEGABYTES, Recovery, await_new_steps, await_step, ended, recovery_of
from hyperpod_constructs.local.nodes import Image, NodeSpec
from hyperpod_constructs.local.nodes.doubles.health_agent import HealthAgent
from tests.nodes.training import Training, training_cluster

MEMORY_EVERY = 2
CHECKPOINT_EVERY = 12
_FAULT_AFTER = 21
# Three ranks with this model share two processors.
_PATIENCE_SECONDS = 600
_SETTINGS = {
    "MODEL": "small",
    "STEPS": "1000",
    "GLOBAL_BATCH": "3",
    "MICRO_BATCH": "1",
    "CHECKPOINT_EVERY": str(CHECKPOINT_EVERY),
    "ARGUMENTS": "--collective-seconds 6",
    "BATCH_HOST_SECONDS": "600",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """One job with its fault: the recovery, the steps done again, and the mean seconds of a step before it."""

    recovery: Recovery
    again: int
    step_seconds: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Runs:
    """Both jobs in turns."""

    tiered: tuple[Run, ...]
    one_tier: tuple[Run, ...]

    @property
    def ratio(self) -> Estimate:
        return estimate([ours.recovery.seconds / theirs.recovery.seconds for ours, theirs in self.pairs()])

    @property
    def step_ratio(self) -> Estimate:
        return estimate([ours.step_seconds / theirs.step_seconds for ours, theirs in self.pairs()])

    def pairs(self) -> Iterator[tuple[Run, Run]]:
        return zip(self.tiered, self.one_tier, strict=True)


def compare(directory: Path, pairs: int) -> Runs:
    """Recoveries of both jobs from a node without power.

    :raises RecoveryError: for a job that does not recover.
    :raises NodesError: for a machine that cannot run virtual nodes.
    """
    found: dict[int, list[Run]] = {MEMORY_EVERY: [], 0: []}
    with training_cluster(directory / "rig", Image.build(), NodeSpec("workers", "Compute", 4)) as training:
        for number in range(pairs):
            for every in (MEMORY_EVERY, 0) if number % 2 == 0 else (0, MEMORY_EVERY):
                found[every].append(_run(training, every))
    return Runs(tiered=tuple(found[MEMORY_EVERY]), one_tier=tuple(found[0]))


def _run(training: Training, memory_every: int) -> Run:
    job = training.submit("tiered/tiered.sbatch", "--nodes=3", MEMORY_EVERY=str(memory_every), **_SETTINGS)
    with HealthAgent(training.rig):
        await_step(job, _FAULT_AFTER, "samples.jsonl", _PATIENCE_SECONDS)
        fell = time.time()
        job.nodes()[2].power_off()
        await_new_steps(job, fell, _PATIENCE_SECONDS)
    records = job.records()
    run = Run(recovery=recovery_of(job, fell, full=None), again=again(records), step_seconds=step_seconds(records, fell))
    ended(training, job, run.recovery)
    return run


def again(records: Sequence[Mapping[str, Any]]) -> int:
    """The number of steps that were done more than once."""
    steps = [record["step"] for record in records]
    return len(steps) - len(set(steps))


def step_seconds(records: Sequence[Mapping[str, Any]], before: float) -> float:
    """The mean, so that steps which wait for a copy count."""
    times = [float(record["time"]) for record in records if record["time"] < before]
    return statistics.mean(later - earlier for earlier, later in pairwise(times))


def report(found: Runs) -> Iterator[str]:
    """The lines of the benchmark."""
    yield (
        f"Recovery from power-off of one node of three, FSDP2, {STATE_MEGABYTES} MB of state, "
        f"memory every {MEMORY_EVERY} steps, file system every {CHECKPOINT_EVERY}"
    )
    for name, runs in (("in tiers", found.tiered), ("file system only", found.one_tier)):
        total = estimate([run.recovery.seconds for run in runs])
        yield f"  {name:<18}{total.median:.2f} s   95 % {total.low:.2f} to {total.high:.2f} s, {total.runs} runs"
        split = {phase: statistics.median(run.recovery.phases[phase] for run in runs) for phase in PHASES}
        yield "  " + " " * 18 + ", ".join(f"{phase} {seconds:.2f}" for phase, seconds in split.items())
        yield "  " + " " * 18 + f"{statistics.median(run.again for run in runs):.0f} steps done again"
        yield "  " + " " * 18 + f"{statistics.median(run.step_seconds for run in runs):.3f} s a step before the fault"
    for name, ratio in (("ratio", found.ratio), ("of a step", found.step_ratio)):
        yield f"  {name:<18}{ratio.median:.3f}    95 % {ratio.low:.3f} to {ratio.high:.3f}, {ratio.runs} pairs"
