"""`cdk deploy` of the announcement preset against a running, bootstrapped embedded AWS, beside `cdk synth` of the same app."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bench import children
from bench.figures import Cost, Pairs, interleave
from bench.synthesis import ZONE
from hyperpod_constructs.local import server

_STATUS = "CREATE_COMPLETE"
_STACKS = ("HyperPod-Foundation", "HyperPod-Cluster")


class DeploymentError(RuntimeError):
    """A deployment left other stacks than expected."""


def compare(directory: Path, runs: int) -> Pairs:
    """Costs of `cdk deploy --all`, synthesis included, and of `cdk synth`, in turns.

    Each deployment starts from an embedded AWS that knows only the bootstrap stack.

    :raises DeploymentError: for a stack that is not complete afterwards.
    """
    with _running(directory / "aws") as aws:
        run = _runner(aws, directory)
        return interleave(lambda: _deploy(aws, run), lambda: run("synth", "--quiet"), runs)


@contextmanager
def _running(directory: Path) -> Iterator[server.LocalAws]:
    models = Path(sys.prefix) / "models/botocore/data"
    try:
        yield server.start(directory, models=models if models.is_dir() else None)
    finally:
        server.stop(directory)


def _runner(aws: server.LocalAws, directory: Path) -> Callable[..., Cost]:
    variables = children.environment(aws.environment())
    cli = Path(sys.executable).parent / "cdk"

    def run(command: str, *arguments: str) -> Cost:
        if command == "bootstrap":  # away from every app: it would be synthesized
            return children.timed([str(cli), command, *arguments, "--no-notices"], variables, directory)
        output = directory / "cdk.out"
        shutil.rmtree(output, ignore_errors=True)
        context = ["--context", "preset=announcement", "--context", f"availability_zone_id={ZONE}"]
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
