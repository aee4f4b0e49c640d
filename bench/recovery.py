"""Recovery of a training job on virtual nodes: healed from a replica's memory, beside torchrun's restart from a checkpoint.

Both jobs train the same model with two ranks on two of three nodes, save a checkpoint every few steps, and notice a silent peer
after the same time. The third node is a spare group of the first job; for the second it is idle until the step is retried. Recovery
is the longest gap between newly committed steps, minus the median step.
"""

from __future__ import annotations

import re
import shutil
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

from bench.figures import Estimate, estimate
from hyperpod_constructs.local.nodes import Image, NodeSpec, VirtualNode
from hyperpod_constructs.local.nodes.doubles.health_agent import HealthAgent
from tests.nodes.training import Training, TrainingJob, kill, ranks, training_cluster

PHASES = ("detect", "start", "connect", "restore", "redo")
STATE_MEGABYTES = 304
_CHECKPOINT_EVERY = 6
_FAULT_AFTER = 9
_NEW_STEPS = 3
_COLLECTIVE_SECONDS = "6"
_PYTHON = Path(__file__).parents[1] / ".venv-examples" / "bin" / "python"
_SETTINGS = {
    "MODEL": "small",
    "STEPS": "1000",
    "GLOBAL_BATCH": "4",
    "CHECKPOINT_EVERY": str(_CHECKPOINT_EVERY),
    "COLLECTIVE_SECONDS": _COLLECTIVE_SECONDS,
    "ARGUMENTS": f"--collective-seconds {_COLLECTIVE_SECONDS}",
    "BATCH_HOST_SECONDS": "600",
}
_LOG_TIME = re.compile(r"^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d),(\d{3}) (.*)$")
_TORCH_TIME = re.compile(r"^[EW](\d\d)(\d\d) (\d\d:\d\d:\d\d\.\d+) .*\] (failed .*|Sending process .*)$")


class RecoveryError(RuntimeError):
    """A job did not run or did not recover."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Recovery:
    """Seconds of one recovery; the phases count from the fault to the first new step."""

    seconds: float
    phases: Mapping[str, float]
    full_strength: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Recoveries:
    """The same fault, of both jobs in turns."""

    fault: str
    memory: tuple[Recovery, ...]
    restart: tuple[Recovery, ...]

    @property
    def ratio(self) -> Estimate:
        return estimate([ours.seconds / theirs.seconds for ours, theirs in zip(self.memory, self.restart, strict=True)])


Fault = Callable[[VirtualNode, str], None]
FAULTS: Mapping[str, Fault] = {
    "process death": lambda node, script: kill(node, ranks(node, script)),
    "power-off": lambda node, script: node.power_off(),
}


def compare(directory: Path, fault: str, pairs: int) -> Recoveries:
    """Recoveries of both jobs from the same fault.

    :raises RecoveryError: for a job that does not recover.
    :raises NodesError: for a machine that cannot run virtual nodes.
    """
    if not _PYTHON.exists():
        raise RecoveryError(f"{_PYTHON}: not there; make it with tools/setup_nodes.sh")
    memory: list[Recovery] = []
    restart: list[Recovery] = []
    with training_cluster(directory / "rig", Image.build(), NodeSpec("workers", "Compute", 3)) as training:
        for number in range(pairs):
            for job in (_memory, _restart) if number % 2 == 0 else (_restart, _memory):
                (memory if job is _memory else restart).append(job(training, FAULTS[fault]))
    return Recoveries(fault=fault, memory=tuple(memory), restart=tuple(restart))


def _memory(training: Training, fault: Fault) -> Recovery:
    script = "train_checkpointless.py"
    job = training.submit("checkpointless/checkpointless.sbatch", **_SETTINGS)
    with HealthAgent(training.rig):
        # Spares log nothing: the lost group must be a training one.
        await_step(job, _FAULT_AFTER, "samples-group-1.jsonl")
        healed = job.text.count("healed at step")
        fell = time.time()
        fault(job.nodes()[1], script)
        await_new_steps(job, fell)
        _until(lambda: job.text.count("healed at step") > healed, "the healing of the lost group", job)
    return ended(training, job, recovery_of(job, fell, full=_last(_events(job.text, fell), "healed at step")))


def _restart(training: Training, fault: Fault) -> Recovery:
    job = training.submit("ddp/ddp.sbatch", **_SETTINGS)
    with HealthAgent(training.rig):
        await_step(job, _FAULT_AFTER, "samples.jsonl")
        fell = time.time()
        fault(job.nodes()[1], "train_ddp.py")
        await_new_steps(job, fell)
    return ended(training, job, recovery_of(job, fell, full=None))


def ended(training: Training, job: TrainingJob, found: Recovery) -> Recovery:
    """Leaves idle nodes and room for the next job's checkpoints."""
    training.rest()
    shutil.rmtree(job.directory)
    return found


def await_step(job: TrainingJob, step: int, log: str, seconds: float = 180) -> None:
    _until(lambda: any(record["step"] >= step for record in job.records(log)), f"step {step}", job, seconds)


def await_new_steps(job: TrainingJob, fell: float, seconds: float = 180) -> None:
    _until(lambda: sum(when > fell for _, when in new_steps(job)) > _NEW_STEPS, "the recovery", job, seconds)


def _until(condition: Callable[[], bool], what: str, job: TrainingJob, seconds: float = 180) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise RecoveryError(f"{job.directory.name}: {what} did not happen in {seconds:.0f} s:\n{job.text[-2000:]}")
        time.sleep(0.2)


def new_steps(job: TrainingJob) -> list[tuple[int, float]]:
    """Steps with the time of their first commit, in that order."""
    found: list[tuple[int, float]] = []
    for record in job.records("samples*.jsonl"):
        if not found or record["step"] > found[-1][0]:
            found.append((record["step"], record["time"]))
    return found


def recovery_of(job: TrainingJob, fell: float, full: float | None) -> Recovery:
    times = [when for _, when in new_steps(job)]
    gaps = [later - earlier for earlier, later in pairwise(times)]
    around = [later - earlier for earlier, later in pairwise(times) if later > fell]
    events = _events(job.text, fell)
    resumed = next(later for earlier, later in pairwise(times) if later - earlier == max(around))
    ends = [
        _first(events, "failed", "Sending process", "was not committed"),
        _last(events, "started"),
        _last(events, "joined", "is done again"),
        _last(events, "ready for step"),
        resumed,
    ]
    spent: dict[str, float] = {}
    reached = fell
    for phase, end in zip(PHASES, ends, strict=True):
        now = reached if end is None else min(max(reached, end), resumed)
        spent[phase] = now - reached
        reached = now
    return Recovery(
        seconds=max(around) - statistics.median(gaps),
        phases=spent,
        full_strength=(full or resumed) - fell,
    )


def _events(text: str, after: float) -> list[tuple[float, str]]:
    """The logs of the ranks and their launchers since then. The nodes' clocks are the host's, in UTC."""
    return [event for line in text.splitlines() if (event := _event(line, after)) is not None and event[0] > after]


def _event(line: str, after: float) -> tuple[float, str] | None:
    if (found := _LOG_TIME.match(line)) is not None:
        moment = datetime.strptime(found[1], "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC)
        return moment.timestamp() + int(found[2]) / 1000, found[3]
    if (found := _TORCH_TIME.match(line)) is not None:
        year = datetime.fromtimestamp(after, UTC).year
        moment = datetime.strptime(f"{year}-{found[1]}-{found[2]} {found[3]}", "%Y-%m-%d %H:%M:%S.%f").replace(tzinfo=UTC)
        return moment.timestamp(), found[4]
    return None


def _first(events: Sequence[tuple[float, str]], *words: str) -> float | None:
    return min((when for when, said in events if any(word in said for word in words)), default=None)


def _last(events: Sequence[tuple[float, str]], *words: str) -> float | None:
    return max((when for when, said in events if any(word in said for word in words)), default=None)


def report(found: Recoveries) -> Iterator[str]:
    """The lines of the benchmark."""
    yield f"Recovery from {found.fault}, {STATE_MEGABYTES} MB of state, two ranks on virtual nodes"
    for name, runs in (("from memory", found.memory), ("from a checkpoint", found.restart)):
        total = estimate([run.seconds for run in runs])
        yield f"  {name:<18}{total.median:.2f} s   95 % {total.low:.2f} to {total.high:.2f} s, {total.runs} runs"
        split = {phase: statistics.median(run.phases[phase] for run in runs) for phase in PHASES}
        yield "  " + " " * 18 + ", ".join(f"{phase} {seconds:.2f}" for phase, seconds in split.items())
        yield "  " + " " * 18 + f"full strength {statistics.median(run.full_strength for run in runs):.2f} s after the fault"
    ratio = found.ratio
    yield f"  {'ratio':<18}{ratio.median:.3f}    95 % {ratio.low:.3f} to {ratio.high:.3f}, {ratio.runs} pairs"
    yield f"  {'goal':<18}" + ("a ratio of at most 1/3" if found.fault == "process death" else "none, for comparison")
