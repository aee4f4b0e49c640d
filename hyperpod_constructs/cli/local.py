"""`hyperpod local`: start, show, reset and stop the embedded AWS of this directory, and copy files to its virtual nodes."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hyperpod_constructs.cli.console import CliError, reported, say, step
from hyperpod_constructs.cli.switches import switched
from hyperpod_constructs.cli.target import (
    LOCAL_STATE,
    embedded_aws,
    found_embedded_aws,
    reset_embedded_aws,
    running_embedded_aws,
    stop_embedded_aws,
)

if TYPE_CHECKING:
    from hyperpod_constructs.local.server import LocalAws, Silent

app = typer.Typer(no_args_is_help=True, help="Control the embedded AWS on this machine (127.0.0.1 only).")

_SHOWN = ("AWS_", "CDK_DEFAULT_")
_NOT_RUNNING = "the embedded AWS does not run"


@app.command()
@reported
def start(
    auth: Annotated[bool | None, typer.Option("--auth/--no-auth", help="Evaluate IAM policies; AUTH=1 says it too.")] = None,
    nodes: Annotated[
        bool | None,
        typer.Option("--nodes/--no-nodes", help="Boot a virtual node for every instance, as root; NODES=1 says it too."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="Repeat the order in which resources are created; a random one otherwise.")
    ] = None,
) -> None:
    """Start it, unless it runs."""
    aws = embedded_aws(auth=switched(auth, "AUTH"), nodes=switched(nodes, "NODES"), seed=seed)
    say(f"the embedded AWS is at {aws.endpoint} (account {aws.account}, region {aws.region}, process {aws.pid}, seed {aws.seed})")
    say(f'its state and log are in {LOCAL_STATE}; to use it from this shell: eval "$(hyperpod local env)"')


@app.command()
@reported
def status() -> None:
    """Show whether it runs: exit code 0 if it answers, 1 if not."""
    aws = _answering(found_embedded_aws())
    if isinstance(aws, str):
        say(aws)
        raise typer.Exit(1)
    say(f"running at {aws.endpoint} (account {aws.account}, region {aws.region}, process {aws.pid}, seed {aws.seed})")


@app.command()
@reported
def env() -> None:
    """Print the variables that point cdk, the AWS CLI and boto3 at it."""
    aws = _answering(found_embedded_aws())
    if isinstance(aws, str):
        say(f"false  # {aws}: hyperpod local start")
        raise typer.Exit(1)
    say("unset AWS_PROFILE AWS_SESSION_TOKEN")
    for name, value in sorted(aws.environment().items()):
        if name.startswith(_SHOWN):
            say(f"export {name}={shlex.quote(value)}")


@app.command()
@reported
def reset() -> None:
    """Delete everything in it, the bootstrap stack too. It keeps running."""
    found = found_embedded_aws()
    if found is None:
        say(f"{_NOT_RUNNING}, so there is nothing to delete")
        return
    aws = _answering(found)
    if isinstance(aws, str):
        raise CliError(f"{aws}; wait until it does, or end it: hyperpod local stop")
    with step("resetting the embedded AWS"):
        reset_embedded_aws(aws)


@app.command(epilog="Example: `hyperpod local copy examples corpus.txt /fsx`.")
@reported
def copy(
    paths: Annotated[
        list[Path], typer.Argument(metavar="SOURCE... DESTINATION", help="Files and directories; a path on the nodes.")
    ],
    cluster: Annotated[str | None, typer.Option("--cluster", help="Name or ARN; the deployed one unless given.")] = None,
) -> None:
    """Copy files to a virtual node; what goes to a shared file system, such as /fsx, is on all nodes."""
    from hyperpod_constructs.cli.copying import copy as run

    if len(paths) < 2:
        raise CliError("a copy needs SOURCE and DESTINATION, such as: hyperpod local copy examples /fsx")
    aws = running_embedded_aws()
    if aws is None:
        raise CliError(f"{_NOT_RUNNING}, so it has no nodes: deploy with nodes first (hyperpod deploy --nodes)")
    run(aws, paths[:-1], str(paths[-1]), cluster=cluster)


@app.command()
@reported
def stop() -> None:
    """Stop it, even if it does not answer, and remove what a crashed one left. Every deployment to it is lost."""
    if found_embedded_aws() is None:
        say(_NOT_RUNNING)
    with step("stopping the embedded AWS"):
        undone = stop_embedded_aws()
    if undone:
        say("removed the virtual nodes of a crashed one: machines, networks and mounts")


def _answering(found: LocalAws | Silent | None) -> LocalAws | str:
    """The embedded AWS, or the reason why it cannot be used."""
    if found is None:
        return _NOT_RUNNING
    return (
        f"the embedded AWS (process {found.pid}) starts, or is busy: it does not answer yet" if isinstance(found, tuple) else found
    )
