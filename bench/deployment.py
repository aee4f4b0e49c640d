"""`cdk deploy` of a preset against a running, bootstrapped embedded AWS, beside `cdk synth` of the same app."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench import children
from bench.figures import Cost, Pairs, interleave
from bench.synthesis import SETTINGS, SLURM
from hyperpod_constructs.local import server

WORKERS = 1000
_STATUS = "CREATE_COMPLETE"
_STACKS = ("HyperPod-Foundation", "HyperPod-Cluster")


class DeploymentError(RuntimeError):
    """A deployment left other stacks than expected."""


def compare(directory: Path, runs: int, preset: str = SLURM) -> Pairs:
    """Costs of `cdk deploy --all` of a preset, synthesis included, and of `cdk synth`, in turns.

    Each deployment starts from an embedded AWS that knows only the bootstrap stack.

    :raises DeploymentError: for a stack that is not complete afterwards.
    """
    with _running(directory / "aws") as aws:
        run = _runner(aws, directory, SETTINGS[preset])
        return interleave(lambda: _deploy(aws, run), lambda: run("synth", "--quiet"), runs)


@dataclass(frozen=True, kw_only=True, slots=True)
class Large:
    """One deployment of many workers.

    :param command: the cost of `cdk deploy --all`, synthesis included.
    :param stacks: CloudFormation's own seconds, by stack; the stacks follow each other.
    :param server: the processor time of the embedded AWS, in seconds; none where `/proc` does not tell.
    """

    command: Cost
    stacks: dict[str, float]
    server: float | None


def large(directory: Path, workers: int = WORKERS) -> Large:
    """The deployment of the preset with this many workers, which are records and all awaited.

    :raises DeploymentError: for a stack that is not complete afterwards.
    """
    with _running(directory / "aws") as aws:
        run = _runner(aws, directory, {**SETTINGS[SLURM], "worker_count": f"{workers}", "min_running_workers": f"{workers}"})
        before = _processor_seconds(aws.pid)
        command = _deploy(aws, run)
        after = _processor_seconds(aws.pid)
        server_time = None if before is None or after is None else after - before
        return Large(command=command, stacks={name: _seconds(aws, name) for name in _STACKS}, server=server_time)


def _seconds(aws: server.LocalAws, stack: str) -> float:
    """The time from the first to the last event of a stack."""
    pages = aws.client("cloudformation").get_paginator("describe_stack_events").paginate(StackName=stack)
    times = [event["Timestamp"] for page in pages for event in page["StackEvents"]]
    seconds: float = (max(times) - min(times)).total_seconds()
    return seconds


def _processor_seconds(pid: int) -> float | None:
    """The processor time of a process, with its awaited children."""
    path = Path(f"/proc/{pid}/stat")
    if not path.is_file():
        return None
    fields = path.read_text("utf-8").rpartition(")")[2].split()
    return sum(int(field) for field in fields[11:15]) / os.sysconf("SC_CLK_TCK")


@contextmanager
def _running(directory: Path) -> Iterator[server.LocalAws]:
    models = Path(sys.prefix) / "models/botocore/data"
    try:
        yield server.start(directory, models=models if models.is_dir() else None)
    finally:
        server.stop(directory)


def _runner(aws: server.LocalAws, directory: Path, settings: Mapping[str, str]) -> Callable[..., Cost]:
    variables = children.environment(aws.environment())
    cli = Path(sys.executable).parent / "cdk"

    def run(command: str, *arguments: str) -> Cost:
        if command == "bootstrap":  # away from every app: it would be synthesized
            return children.timed([str(cli), command, *arguments, "--no-notices"], variables, directory)
        output = directory / "cdk.out"
        shutil.rmtree(output, ignore_errors=True)
        context = [part for key, value in settings.items() for part in ("--context", f"{key}={value}")]
        return children.timed([str(cli), command, *arguments, "--output", str(output), "--no-notices", *context], variables)

    return run


def _deploy(aws: server.LocalAws, run: Callable[..., Cost]) -> Cost:
    server.reset(aws)
    run("bootstrap", f"aws://{aws.account}/{aws.region}")
    cost = run("deploy", "--all", "--require-approval", "never")
    stacks = aws.client("cloudformation").describe_stacks()["Stacks"]
    found = {stack["StackName"]: stack["StackStatus"] for stack in stacks}
    if any(found.get(name) != _STATUS for name in _STACKS):
        raise DeploymentError(f"after the deployment the stacks are {found}; expected {', '.join(_STACKS)} as {_STATUS}")
    return cost
