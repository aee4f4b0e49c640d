"""The commands of `hyperpod`: options and their help. Each command has a module of its name."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hyperpod_constructs.cli.assembly import ALL
from hyperpod_constructs.cli.cdk import App
from hyperpod_constructs.cli.cdk_cli import CLI_VERSION
from hyperpod_constructs.cli.check import FailOn, FindingFormat
from hyperpod_constructs.cli.console import CliError, reported
from hyperpod_constructs.cli.inputs import STANDARD_INPUT, Format, check_threshold, standard_input, usable_input
from hyperpod_constructs.cli.lazy import LazyCommands
from hyperpod_constructs.cli.operate.place import EndpointUrl, Profile, Region, Where
from hyperpod_constructs.cli.reach import ReachFormat
from hyperpod_constructs.cli.switches import switched
from hyperpod_constructs.cli.target import AwsAccount, Target, TargetName, running_embedded_aws
from hyperpod_constructs.facts.cost_explorer import MOST_DAYS
from hyperpod_constructs.facts.prices import MOST_SERIES


def _named_as_in_hyp(option: str) -> str:
    """The name of an option here; `hyp`, the CLI of AWS for Kubernetes, has `--cluster-name`."""
    return "cluster" if option == "cluster-name" else option


app = typer.Typer(
    cls=LazyCommands,
    context_settings={"token_normalize_func": _named_as_in_hyp},
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Check, plan, price, deploy and operate SageMaker HyperPod clusters, on this machine's embedded AWS or in your account.",
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"hyperpod {version('hyperpod-constructs')} (made for the CDK CLI {CLI_VERSION})")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version, and end.")
    ] = False,
) -> None:
    """Options of every command."""


_Where = Annotated[TargetName, typer.Option("--target", help="The embedded AWS or your account.")]
_Yes = Annotated[bool, typer.Option("--yes", help="Do not ask (with --target aws); YES=1 says it too.")]
_Context = Annotated[
    list[str] | None, typer.Option("--context", "-c", metavar="KEY=VALUE", help="A setting of the app; repeatable.")
]
_App = Annotated[str | None, typer.Option("--app", help="Command of the app; the one in cdk.json unless given.")]
_Stacks = Annotated[
    list[str] | None,
    typer.Option("--stack", metavar="ID", help="Deploy this stack and those that it needs; repeatable; all unless given."),
]
_Format = Annotated[
    Format,
    typer.Option("--format", metavar="FORMAT", help="text for a person, json for a program, markdown for a pull request."),
]


def _series(count: int | None) -> int | None:
    """Check a count. A range of typer takes so much room in the help that the option's name has none."""
    if count is not None and not 0 <= count <= MOST_SERIES:
        raise typer.BadParameter(f"{count} is not in the range 0 to {MOST_SERIES}")
    return count


_Prices = Annotated[Path | None, typer.Option("--prices", metavar="FILE", help="Your own prices, as JSON.")]
_FailAbove = Annotated[
    float | None,
    typer.Option("--fail-above", metavar="USD", help="Exit with 1 above this sum a month; a plan: above this increase."),
]


@app.command()
@reported
def deploy(
    where: _Where = TargetName.LOCAL,
    yes: _Yes = False,
    context: _Context = None,
    command: _App = None,
    stacks: _Stacks = None,
    auth: Annotated[
        bool | None, typer.Option("--auth/--no-auth", help="Evaluate IAM policies (embedded AWS); AUTH=1 says it too.")
    ] = None,
    nodes: Annotated[
        bool | None,
        typer.Option(
            "--nodes/--no-nodes", help="Boot a virtual node for every instance (embedded AWS, as root); NODES=1 says it too."
        ),
    ] = None,
) -> None:
    """Deploy the app with the real CDK CLI, then show the cluster, its nodes and its file systems."""
    from hyperpod_constructs.cli.deploy import deploy as run

    run(
        where,
        App(command, tuple(context or ())),
        stacks=stacks or (ALL,),
        yes=switched(yes or None, "YES") is True,
        auth=switched(auth, "AUTH"),
        nodes=switched(nodes, "NODES"),
    )


@app.command()
@reported
def destroy(
    where: _Where = TargetName.LOCAL,
    stack: Annotated[
        str | None, typer.Option("--stack", metavar="ID", help="Id of a stack, or all; the stacks with a cluster unless given.")
    ] = None,
    yes: _Yes = False,
    context: _Context = None,
    command: _App = None,
) -> None:
    """Take the cluster down, then list what stays and its cost."""
    from hyperpod_constructs.cli.destroy import destroy as run

    run(where, App(command, tuple(context or ())), stack=stack, yes=switched(yes or None, "YES") is True)


@app.command(epilog='Examples: `eval "$(hyperpod kubeconfig)"` for the embedded AWS, `hyperpod kubeconfig --target aws`.')
@reported
def kubeconfig(
    where: _Where = TargetName.LOCAL,
    cluster: Annotated[
        str | None, typer.Option("--cluster", help="Name of the EKS cluster; the deployed one unless given.")
    ] = None,
    role: Annotated[
        str | None, typer.Option("--role", metavar="ARN", help="Role that kubectl takes; the app's administrators' unless given.")
    ] = None,
    file: Annotated[Path | None, typer.Option("--file", help="Where it is written; build/TARGET/kubeconfig unless given.")] = None,
) -> None:
    """Write a kubeconfig for the cluster on Kubernetes, and print the line that makes kubectl use it."""
    from hyperpod_constructs.cli.kubeconfig import kubeconfig as run

    run(_existing(where), where, cluster=cluster, role=role, file=file)


@app.command(
    epilog="Examples: `hyperpod check cdk.out`, `hyperpod check cluster.yaml network.yaml --fail-on warning`, "
    "`hyperpod check cdk.out --format sarif > findings.sarif`. Exit codes: 0 clean, 1 findings at or above --fail-on, "
    "2 unusable input."
)
@reported
def check(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="PATH...", help="Templates or assemblies (cdk.out) of one deployment; - for standard input."),
    ],
    form: Annotated[
        FindingFormat,
        typer.Option("--format", help="For a person, a program, code scanning or a GitHub workflow."),
    ] = FindingFormat.TEXT,
    fail_on: Annotated[FailOn, typer.Option("--fail-on", help="Lowest level that makes the exit code 1.")] = FailOn.ERROR,
) -> None:
    """Find mistakes in templates before they are deployed."""
    from hyperpod_constructs.cli.check import check as run

    with standard_input(paths):
        run(paths, form=form, fail_on=fail_on)


@app.command(
    epilog="Examples: `hyperpod reach cdk.out`, `hyperpod reach cluster.yaml workers s3`, `hyperpod reach cdk.out '*' ssm "
    "--format json`. Exit codes: 0 all ways pass or may, 1 one surely ends, 2 unusable input."
)
@reported
def reach(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A template or an assembly (cdk.out); - for standard input.")],
    group: Annotated[str | None, typer.Argument(metavar="FROM", help="A group of nodes; all unless given.")] = None,
    target: Annotated[
        str | None, typer.Argument(metavar="TO", help="A service (s3, ssm), eks, nodes, database, or a file system.")
    ] = None,
    form: Annotated[ReachFormat, typer.Option("--format", help="For a person, or for a program.")] = ReachFormat.TEXT,
) -> None:
    """Follow the ways of nodes to what they need, hop by hop."""
    from hyperpod_constructs.cli.reach import reach as run

    with standard_input([path]):
        run(path, group, target, form=form)


@app.command(
    epilog="Examples: `hyperpod plan cdk.out.before cdk.out`, `hyperpod plan old.yaml new.yaml --format json`, "
    "`hyperpod plan --deployed HyperPod-Foundation --target aws`. Exit codes: 0 nothing dangerous, 1 above --fail-above, "
    "2 unusable input, 3 replacement, 4 loss of data, 5 refused by the service."
)
@reported
def plan(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="OLD NEW",
            help="Templates or assemblies; - for standard input. With --deployed only NEW; the newest assembly unless given.",
        ),
    ] = None,
    deployed: Annotated[
        list[str] | None,
        typer.Option("--deployed", metavar="STACK", help="Compare with this deployed stack; repeatable."),
    ] = None,
    where: _Where = TargetName.LOCAL,
    form: _Format = Format.TEXT,
    prices: _Prices = None,
    fail_above: _FailAbove = None,
) -> None:
    """List what an update replaces, loses, interrupts and costs, before you deploy it."""
    from hyperpod_constructs.cli.plan import plan as run
    from hyperpod_constructs.cli.plan import plan_deployed

    given = paths or []
    with usable_input():
        check_threshold(fail_above)
        if deployed and len(given) > 1:
            raise CliError(f"--deployed takes the place of OLD, so {given[0]} is one path too many: write NEW alone")
        if not deployed and len(given) != 2:
            raise CliError(f"a plan needs two paths, OLD and NEW, found {len(given)}; or --deployed STACK and NEW")
        if given.count(STANDARD_INPUT) > 1:
            raise CliError("OLD and NEW are both -, and there is one standard input: write one of them into a file")
        target = _existing(where) if deployed else None
    with standard_input(given):
        if deployed and target is not None:
            plan_deployed(target, where, deployed, given[0] if given else None, form=form, prices=prices, fail_above=fail_above)
            return
        run(given[0], given[1], form=form, prices=prices, fail_above=fail_above)


@app.command(
    epilog="Examples: `hyperpod cost cdk.out`, `hyperpod cost template.yaml --prices mine.json --format json`, "
    "`hyperpod cost cdk.out --actual --target aws`. Exit codes: 0, 1 above --fail-above or if AWS refuses, 2 unusable input."
)
@reported
def cost(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", help="Templates or assemblies (cdk.out); - for standard input.")
    ],
    form: _Format = Format.TEXT,
    prices: _Prices = None,
    series_per_node: Annotated[
        int | None,
        typer.Option("--series-per-node", metavar="N", callback=_series, help="Series of metrics that a node sends to Prometheus."),
    ] = None,
    fail_above: _FailAbove = None,
    actual: Annotated[bool, typer.Option("--actual", help="Show what it really cost beside it, from Cost Explorer.")] = False,
    days: Annotated[int, typer.Option("--days", min=1, max=MOST_DAYS, metavar="N", help="Complete days, with --actual.")] = 7,
    stack: Annotated[
        list[str] | None, typer.Option("--stack", metavar="NAME", help="A stack, with --actual; those of cdk.out unless given.")
    ] = None,
    tag: Annotated[
        str | None, typer.Option("--tag", metavar="KEY=VALUE", help="Another cost allocation tag, with --actual.")
    ] = None,
    where: Where = None,
    profile: Profile = None,
    region: Region = None,
    endpoint_url: EndpointUrl = None,
) -> None:
    """List what templates cost by the hour and by the month, resource by resource."""
    from hyperpod_constructs.cli.cost import cost as run

    asked = None
    with usable_input():
        check_threshold(fail_above)
        if actual:
            from hyperpod_constructs.cli.operate.actual_cost import Asked, scope_of

            asked = Asked(scope_of(paths, stack or [], tag), days, where, profile, region, endpoint_url)
        elif stack or tag:
            raise CliError("--stack and --tag are for --actual: add it, or leave them out")
    with standard_input(paths):
        run(paths, form=form, prices=prices, series_per_node=series_per_node, fail_above=fail_above, asked=asked)


def _existing(where: TargetName) -> Target:
    if where is TargetName.AWS:
        return AwsAccount.of_caller()
    aws = running_embedded_aws()
    if aws is None:
        raise CliError("the embedded AWS does not run, so it has no cluster: deploy one first (hyperpod deploy)")
    return aws
