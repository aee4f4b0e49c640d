"""The entry point of `hyperpod`: options and their help. What a command does is in the module of its name."""

from __future__ import annotations

from typing import Annotated

import typer

from hyperpod_constructs.cli import local
from hyperpod_constructs.cli.cdk import App
from hyperpod_constructs.cli.console import CliError, reported
from hyperpod_constructs.cli.target import AwsAccount, Target, TargetName, running_embedded_aws

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Deploy SageMaker HyperPod clusters: to the embedded AWS on this machine, or to your account.",
)
app.add_typer(local.app, name="local")

_Where = Annotated[TargetName, typer.Option("--target", help="The embedded AWS, or your account.")]
_Yes = Annotated[bool, typer.Option("--yes", envvar="YES", help="Do not ask (with --target aws).")]
_Context = Annotated[
    list[str] | None, typer.Option("--context", "-c", metavar="KEY=VALUE", help="A setting of the app; repeatable.")
]
_App = Annotated[str | None, typer.Option("--app", help="The app's command, instead of the one in cdk.json.")]


@app.command()
@reported
def deploy(
    where: _Where = TargetName.LOCAL,
    yes: _Yes = False,
    context: _Context = None,
    command: _App = None,
    auth: Annotated[
        bool | None, typer.Option("--auth/--no-auth", envvar="AUTH", help="Evaluate IAM policies (embedded AWS).")
    ] = None,
    nodes: Annotated[
        bool | None,
        typer.Option("--nodes/--no-nodes", envvar="NODES", help="Boot a virtual node for every instance (embedded AWS, as root)."),
    ] = None,
) -> None:
    """Deploy the app with the real CDK CLI, then show what the service says exists."""
    from hyperpod_constructs.cli.deploy import deploy as run

    run(where, App(command, tuple(context or ())), yes=yes, auth=auth, nodes=nodes)


@app.command()
@reported
def destroy(
    where: _Where = TargetName.LOCAL,
    stack: Annotated[str, typer.Option("--stack", help="Cluster (the data stays), another stack's id, or all.")] = "Cluster",
    yes: _Yes = False,
    context: _Context = None,
    command: _App = None,
) -> None:
    """Take the cluster down, and list what stays and what that costs."""
    from hyperpod_constructs.cli.destroy import destroy as run

    run(where, App(command, tuple(context or ())), stack=stack, yes=yes)


@app.command()
@reported
def connect(
    where: _Where = TargetName.LOCAL,
    cluster: Annotated[str | None, typer.Option("--cluster", help="Name or ARN; else the deployed one.")] = None,
    group: Annotated[str | None, typer.Option("--group", help="Instance group; else the controller's.")] = None,
    only_print: Annotated[bool, typer.Option("--print", help="Print the command instead of running it.")] = False,
) -> None:
    """Open a shell on the controller, whichever node that is now."""
    from hyperpod_constructs.cli.connect import connect as run

    run(_existing(where), where, cluster=cluster, group=group, only_print=only_print)


def _existing(where: TargetName) -> Target:
    if where is TargetName.AWS:
        return AwsAccount.of_caller()
    aws = running_embedded_aws()
    if aws is None:
        raise CliError("the embedded AWS does not run, so there is no cluster in it: deploy one first (hyperpod deploy)")
    return aws


def main() -> None:
    """Run the command line."""
    app()
