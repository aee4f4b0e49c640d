"""`hyperpod destroy`: take a stack down, then list what stays and its cost."""

from __future__ import annotations

import re
from collections.abc import Sequence

import typer

from hyperpod_constructs.cli.assembly import Assembly, SynthesizedStack
from hyperpod_constructs.cli.cdk import App, check_app, run, synthesize
from hyperpod_constructs.cli.cdk_cli import check_cli
from hyperpod_constructs.cli.console import CliError, say, step
from hyperpod_constructs.cli.cost import say_hourly_cost
from hyperpod_constructs.cli.kept import KINDS, LOG_GROUP_TYPE, history, removal, service_logs
from hyperpod_constructs.cli.last_deployment import last_assembly
from hyperpod_constructs.cli.local_defaults import with_local_defaults
from hyperpod_constructs.cli.stacks import CLUSTER_TYPE, DeployedStack, Resource, deployed, first_failure, latest_event
from hyperpod_constructs.cli.tables import table
from hyperpod_constructs.cli.target import AwsAccount, Target, TargetName, running_embedded_aws

PARTS = ("AWS::EC2::SecurityGroup", "AWS::EC2::Subnet")
"""Types that a stack has several of. They are listed once no stack holds them any more."""
NOTABLE = {
    **{type: kind.noun for type, kind in KINDS.items() if type not in PARTS},
    "AWS::EC2::EIP": "elastic ip",
    "AWS::EC2::NatGateway": "nat gateway",
    CLUSTER_TYPE: "cluster",
}
NO_STACK = "(none)"


def destroy(where: TargetName, app: App, *, stack: str | None, yes: bool) -> None:
    """Take stacks down.

    :param where: the embedded AWS or the caller's account.
    :param app: the app and its settings.
    :param stack: the id of a stack, which goes with the stacks that depend on it; or `all`. The stacks with a cluster unless given.
    :param yes: do not ask before stacks of the account go.
    :raises CliError: if a stack is protected or cannot be deleted, with the cause.
    """
    target: Target
    if where is TargetName.LOCAL:
        aws = running_embedded_aws()
        if aws is None:
            say("the embedded AWS does not run, so nothing is deployed to it")
            return
        target = aws
    else:
        target = AwsAccount.of_caller()
    assembly = _assembly(app, target, where)
    named = () if stack is None else assembly.named([stack])
    existing = [found for entry in assembly.stacks if (found := deployed(target, entry.name)) is not None]
    chosen = named or _with_cluster(assembly, existing)
    doomed = {entry.name for entry in assembly.needing(chosen)}
    going = [found for found in existing if found.name in doomed]
    if not going:
        say(_nothing_to_do(assembly, named, existing))
        _say_what_stays(target, where, assembly, (), existing)
        return
    staying = [found for found in existing if found not in going]
    _refuse_protected(going, target)
    if where is TargetName.AWS:
        _ask(target, going, staying, yes=yes)
    _destroy_stacks(target, assembly, chosen, going)
    _say_what_stays(target, where, assembly, going, staying)


def _assembly(app: App, target: Target, where: TargetName) -> Assembly:
    """The assembly of the last deployment. Without one, or for another app or context, the app is synthesized."""
    check_cli()
    last = last_assembly(app, where)
    if last is not None:
        return last
    check_app(app)
    with step("synthesizing the app"):
        return synthesize(with_local_defaults(app, target) if where is TargetName.LOCAL else app, target, where.assembly)


def _with_cluster(assembly: Assembly, existing: Sequence[DeployedStack]) -> tuple[SynthesizedStack, ...]:
    """The stacks whose deployed template has a cluster."""
    names = {stack.name for stack in existing if stack.declares(CLUSTER_TYPE)}
    return tuple(entry for entry in assembly.stacks if entry.name in names)


def _nothing_to_do(assembly: Assembly, named: Sequence[SynthesizedStack], existing: Sequence[DeployedStack]) -> str:
    if named or not existing:
        return f"no such stack is deployed: {', '.join(entry.name for entry in named or assembly.stacks)}"
    ids = {entry.name: entry.id for entry in assembly.stacks}
    found = ", ".join(ids[stack.name] for stack in existing)
    return f"no deployed stack of the app has a cluster, so nothing is taken down; name another with --stack: {found}, or all"


def _refuse_protected(going: Sequence[DeployedStack], target: Target) -> None:
    for stack in going:
        if stack.protected:
            raise CliError(
                f"stack {stack.name} is protected against termination, and nothing was changed; if its data may go: "
                f"aws cloudformation update-termination-protection --no-enable-termination-protection "
                f"--stack-name {stack.name} --region {target.region}"
            )


def _ask(target: Target, going: Sequence[DeployedStack], staying: Sequence[DeployedStack], *, yes: bool) -> None:
    say(f"account  {target.account}")
    say(f"region   {target.region}")
    say(f"stacks   {', '.join(stack.name for stack in going)}")
    say(f"stay     {', '.join(stack.name for stack in staying) or 'no other stack'}")
    if not yes and not typer.confirm("destroy?", default=False):
        raise CliError("not destroyed: nothing was changed")


def _destroy_stacks(target: Target, assembly: Assembly, chosen: Sequence[SynthesizedStack], going: Sequence[DeployedStack]) -> None:
    marks = {entry.name: latest_event(target, entry.name) for entry in going}
    selection = ["--all"] if len(chosen) == len(assembly.stacks) else [stack.id for stack in chosen]
    if run(["destroy", *selection, "--force", "--app", str(assembly.directory)], target) == 0:
        return
    for name, mark in marks.items():
        failure = first_failure(target, name, mark)
        if failure is not None:
            raise CliError(f"{name} is not destroyed. The cause: {failure}")
    raise CliError("the stacks are not destroyed: see the message of the CDK CLI above")


def _say_what_stays(
    target: Target,
    where: TargetName,
    assembly: Assembly,
    going: Sequence[DeployedStack],
    staying: Sequence[DeployedStack],
) -> None:
    """List what the stacks left behind, in earlier deployments too, with the commands that remove it, and what is in a stack."""
    others = [resource for stack in staying for resource in stack.resources]
    past = history(target, {entry.name for entry in assembly.stacks}, {resource.physical_id for resource in others})
    logs = [log.name for log in service_logs(target, past)]
    parts = [resource for stack in going for resource in stack.kept if resource.type not in KINDS]
    notable = [resource for resource in others if resource.type in NOTABLE]
    rows = [_row(resource, kept=True) for resource in (*past.kept, *parts)]
    rows += [_row(resource) for resource in notable] + [("log group", name, NO_STACK) for name in logs]
    say()
    if not rows:
        say("nothing stays")
        return
    say("what stays:", style="bold")
    table(("kind", "id", "stack"), rows)
    if len(others) > len(notable):
        say(f"and {len(others) - len(notable)} smaller ones in {', '.join(stack.name for stack in staying)}")
    if staying:
        say("everything in a stack goes with `hyperpod destroy --stack all`, except kept resources")
    left = [(one.type, one.physical_id) for one in past.kept] + [(LOG_GROUP_TYPE, name) for name in logs]
    _say_removal(target, where, left)
    if where is TargetName.AWS:
        say()
        say_hourly_cost("cost of that", [*past.templates(target), *(stack.template for stack in staying)])


def _say_removal(target: Target, where: TargetName, left: Sequence[tuple[str, str]]) -> None:
    """The commands that remove what no stack holds any more; nothing else ever removes it."""
    if not left:
        return
    say()
    say(
        "kept without a stack; hyperpod clean asks for each kind, or these commands delete it, with its data, in this order:",
        style="bold",
    )
    for type, id in left:
        say(f"  {removal(type, id, target.region)}")
    if where is TargetName.LOCAL:
        say('(on the embedded AWS: eval "$(hyperpod local env)" first; or delete everything in it: hyperpod local reset)')


def _row(resource: Resource, *, kept: bool = False) -> tuple[str, str, str]:
    kind = NOTABLE.get(resource.type) or re.sub(r"(?<=[a-z])(?=[A-Z])", " ", resource.type.split("::")[-1]).lower()
    stack = resource.stack.split("/")[1] if resource.stack.startswith("arn:") else resource.stack
    return kind, resource.physical_id, f"kept from {stack}" if kept else stack
