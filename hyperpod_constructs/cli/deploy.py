"""`hyperpod deploy`: synthesize, bootstrap the embedded AWS, run the real `cdk deploy`, and show the result."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import typer

from hyperpod_constructs.cli.assembly import ALL, Assembly, SynthesizedStack
from hyperpod_constructs.cli.cdk import App, bootstrap, check_app, run, synthesize
from hyperpod_constructs.cli.cdk_cli import check_cli
from hyperpod_constructs.cli.console import CliError, say, step
from hyperpod_constructs.cli.cost import say_hourly_cost
from hyperpod_constructs.cli.last_deployment import record
from hyperpod_constructs.cli.local_defaults import with_local_defaults
from hyperpod_constructs.cli.readback import show
from hyperpod_constructs.cli.stacks import DeployedStack, deployed, first_failure, latest_event
from hyperpod_constructs.cli.target import LOCAL_STATE, AwsAccount, Target, TargetName, embedded_aws


def deploy(
    where: TargetName, app: App, *, stacks: Sequence[str] = (ALL,), yes: bool, auth: bool | None, nodes: bool | None
) -> None:
    """Deploy the app.

    :param where: the embedded AWS or the caller's account.
    :param app: the app and its settings.
    :param stacks: ids of stacks, which are deployed with the stacks that they need; all unless given.
    :param yes: do not ask before a deployment to the account.
    :param auth: whether the embedded AWS evaluates IAM policies; as it runs when None.
    :param nodes: whether it boots virtual nodes; as it runs when None.
    :raises CliError: if the deployment fails, with the first cause.
    """
    check_app(app)
    check_cli()
    target: Target
    shell = None
    if where is TargetName.LOCAL:
        local = target = embedded_aws(auth=auth, nodes=nodes)
        shell = "hyperpod connect" if local.nodes else None
        completed = with_local_defaults(app, target)
    else:
        target = AwsAccount.of_caller()
        completed = app
    with step("synthesizing the app"):
        assembly = synthesize(completed, target, where.assembly)
    if not assembly.stacks:
        raise CliError("the app has no stacks, so there is nothing to deploy")
    if app.assembly is None:
        record(app, where)
    wanted = assembly.named(stacks)
    entries = assembly.needed_by(wanted)
    missing = _missing_bootstrap(target, entries)
    if where is TargetName.LOCAL:
        if missing:
            with step("bootstrapping the embedded AWS"):
                bootstrap(target, LOCAL_STATE)
    else:
        _refuse_without_bootstrap(target, missing)
        _ask(target, entries, yes=yes)
    _deploy_stacks(target, assembly, wanted, entries)
    found = [stack for entry in entries if (stack := deployed(target, entry.name)) is not None]
    show(target, [resource for stack in found for resource in stack.resources], shell=shell, where=where)


def _missing_bootstrap(target: Target, entries: Sequence[SynthesizedStack]) -> bool:
    client = target.client("ssm")
    parameters = {stack.bootstrap_parameter for stack in entries if stack.bootstrap_parameter is not None}
    for name in sorted(parameters):
        try:
            client.get_parameter(Name=name)
        except client.exceptions.ParameterNotFound:
            return True
    return False


def _refuse_without_bootstrap(target: Target, missing: bool) -> None:
    if missing:
        raise CliError(
            f"account {target.account} is not bootstrapped for the CDK in {target.region}, and this command does not "
            "bootstrap it, because that creates roles and a bucket: run this, then deploy again: "
            f"cdk bootstrap aws://{target.account}/{target.region}"
        )


def _ask(target: Target, entries: Sequence[SynthesizedStack], *, yes: bool) -> None:
    say(f"account  {target.account}")
    say(f"region   {target.region}")
    say(f"stacks   {', '.join(stack.name for stack in entries)}")
    say_hourly_cost("cost   ", [json.loads(stack.template.read_text("utf-8")) for stack in entries])
    if not yes and not typer.confirm("deploy?", default=False):
        raise CliError("not deployed: nothing was changed")


def _deploy_stacks(
    target: Target, assembly: Assembly, wanted: Sequence[SynthesizedStack], entries: Sequence[SynthesizedStack]
) -> None:
    marks = {stack.name: latest_event(target, stack.name) for stack in entries}
    selection = ["--all"] if len(wanted) == len(assembly.stacks) else [stack.id for stack in wanted]
    arguments = ["deploy", *selection, "--require-approval", "never", "--app", str(assembly.directory)]
    if run(arguments, target) != 0:
        raise CliError(_cause(target, marks))


def _cause(target: Target, marks: Mapping[str, str | None]) -> str:
    failures = {name: first_failure(target, name, mark) for name, mark in marks.items()}
    stacks = {name: deployed(target, name) for name in marks}
    message = "the deployment failed, and no resource names a cause: see the message of the CDK CLI above"
    for name, failure in failures.items():
        if failure is not None:
            stack = stacks[name]
            status = "gone" if stack is None else stack.status
            message = f"the deployment failed, and stack {name} is {status}. The cause: {failure}"
            break
    return message + "".join(_way_out(stack, target) for stack in stacks.values() if stack is not None)


def _way_out(stack: DeployedStack, target: Target) -> str:
    """The command that lets CDK delete a protected stack after its creation was rolled back."""
    if not stack.protected or stack.status != "ROLLBACK_COMPLETE":
        return ""
    return (
        f"\nstack {stack.name} is empty but protected against termination; before the next deployment: "
        "aws cloudformation update-termination-protection --no-enable-termination-protection "
        f"--stack-name {stack.name} --region {target.region}"
    )
