"""`hyperpod preflight`: the looks of the construct `Preflight`, from this machine and before anything is deployed.

Exit codes: 0 no proven mistake, 1 proven mistakes, 2 unusable input.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hyperpod_constructs.cli.console import CliError
from hyperpod_constructs.cli.inputs import progress, standard_input, usable_input
from hyperpod_constructs.cli.operate.listing import As, Column, Output, show
from hyperpod_constructs.cli.operate.place import Place, placed
from hyperpod_constructs.cli.tables import paragraph
from hyperpod_constructs.cli.target import TargetName

if TYPE_CHECKING:
    from botocore.exceptions import ClientError

    from hyperpod_constructs.analysis.clusters import Cluster
    from hyperpod_constructs.cli.preflight_wanted import Reading
    from hyperpod_constructs.custom_resources.handlers.aws import Patient
    from hyperpod_constructs.custom_resources.handlers.checks.findings import Finding
    from hyperpod_constructs.custom_resources.handlers.checks.wanted import FileSystem
    from hyperpod_constructs.templates.model import Model, Template

app = typer.Typer(add_completion=False)

MISTAKEN = 1
_ERROR, _WARNING, _SKIPPED = "error", "warning", "skipped"
_COLUMNS = (Column("level", "LEVEL"), Column("cluster", "CLUSTER"), Column("finding", "FINDING", long=True))
_PASSED = "no proven mistake; AWS may still lack free instances: capacity is not a quota, and no API tells"


@app.command(
    "preflight",
    epilog="Examples: `hyperpod preflight cdk.out --target aws`, `hyperpod preflight cluster.yaml --stack training --region "
    "us-west-2 --output json`. Exit codes: 0 no proven mistake, 1 proven mistakes, 2 unusable input.",
)
@placed
def preflight(
    place: Place,
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="PATH...", help="Templates or assemblies (cdk.out) of one deployment; - for standard input."),
    ],
    stack: Annotated[
        str | None,
        typer.Option("--stack", help="The deployed stack that a template updates; that of the assembly, or none, unless given."),
    ] = None,
    output: As = Output.TABLE,
) -> None:
    """Look whether quotas, network, training plans, role and bucket of the account allow a deployment, before it starts."""
    with standard_input(paths), usable_input(), progress("reading"):
        from hyperpod_constructs.analysis.clusters import clusters
        from hyperpod_constructs.templates.model import load

        model = load(paths)
        found = clusters(model)
        _check_input(place, found, paths, stack)
    account = _Account(place)
    with progress("looking at the account"):
        rows = [row for index, cluster in enumerate(found) for row in _rows(account, model, cluster, stack, first=not index)]
    rows += [{"level": _WARNING, "cluster": None, "finding": text} for text in account.permissions()]
    rows.sort(key=lambda row: (_ERROR, _WARNING, _SKIPPED).index(row["level"]))
    mistaken = any(row["level"] == _ERROR for row in rows)
    if rows or output is not Output.TABLE:
        show(_COLUMNS, rows, output)
    if output is Output.TABLE and not mistaken:
        paragraph(_PASSED)
    if mistaken:
        raise typer.Exit(MISTAKEN)


def _check_input(place: Place, found: Sequence[Cluster], paths: Sequence[Path], stack: str | None) -> None:
    """Refuse input that says nothing about this account.

    :raises CliError: without a cluster, for another account or region, and for one stack name with several clusters.
    """
    if not found:
        raise CliError(
            f"{', '.join(map(str, paths))}: no HyperPod cluster (AWS::SageMaker::Cluster); name the template that has one"
        )
    if stack is not None and len({cluster.resource.template for cluster in found}) > 1:
        raise CliError(
            f"--stack {stack} is one stack, and the clusters are in several templates; name one template, or an assembly"
        )
    if place.where is not TargetName.AWS:
        return
    for cluster in found:
        environment = cluster.resource.template.root.environment
        for what, wanted, here in (
            ("region", environment.region, place.target.region),
            ("account", environment.account, place.target.account),
        ):
            if wanted not in (None, here):
                option = f"--region {wanted}" if what == "region" else "--profile with a profile of that account"
                raise CliError(
                    f"{cluster.resource.template.name} is for {what} {wanted}, and this is {here}: write {option}, "
                    "or synthesize the app for this one"
                )


@dataclass
class _Account:
    """The account, with every refusal of a call."""

    place: Place
    refusals: list[ClientError] = field(default_factory=list)

    def patient(self, service: str) -> Patient:
        """A client that repeats throttled calls for the time of one look."""
        from hyperpod_constructs.custom_resources.handlers.aws import Patient
        from hyperpod_constructs.custom_resources.handlers.preflight import LOOK_SECONDS

        return Patient(_Heard(self.place.client(service), self.refusals), time.time() + LOOK_SECONDS, time.time, time.sleep)

    def permissions(self) -> list[str]:
        """What to grant, each permission once."""
        from hyperpod_constructs.cli.operate.denied import explained

        return list(dict.fromkeys(text for text in map(explained, self.refusals) if text is not None))


@dataclass(frozen=True, slots=True)
class _Heard:
    """A client whose refusals are kept: a look turns them into a sentence."""

    client: Any
    refusals: list[ClientError]

    def __getattr__(self, operation: str) -> Callable[..., Any]:
        from botocore.exceptions import ClientError

        method = getattr(self.client, operation)

        def call(**arguments: Any) -> Any:
            try:
                return method(**arguments)
            except ClientError as refusal:
                self.refusals.append(refusal)
                raise

        return call


def _rows(account: _Account, model: Model, cluster: Cluster, stack: str | None, *, first: bool) -> Iterator[dict[str, Any]]:
    """The findings about a cluster; file systems of other stacks are looked at with the first one."""
    from hyperpod_constructs.cli.preflight_wanted import Reading
    from hyperpod_constructs.custom_resources.handlers.redaction import redact

    reading = Reading(model, cluster, account.place.target.region)
    name = reading.wanted().cluster_name or cluster.resource.logical_id
    if stack is None and cluster.resource.template.root.environment.stack_name is None:
        reading.skipped.append(
            "nodes that the cluster has already not counted: name the deployed stack with --stack, if there is one"
        )
    for finding in _findings(account, reading, stack, first=first):
        yield {"level": _ERROR if finding.proven else _WARNING, "cluster": name, "finding": redact(finding.text)}
    for sentence in reading.skipped:
        yield {"level": _SKIPPED, "cluster": name, "finding": redact(sentence)}


def _findings(account: _Account, reading: Reading, stack: str | None, *, first: bool) -> list[Finding]:
    from hyperpod_constructs.custom_resources.handlers.checks.access import check_bucket
    from hyperpod_constructs.custom_resources.handlers.checks.findings import as_warnings, guarded
    from hyperpod_constructs.custom_resources.handlers.preflight import Look

    template = reading.cluster.resource.template
    names: list[str] = []
    systems: list[FileSystem] = []

    def read_stack() -> Iterator[Finding]:
        names.append(stack or _stack(account, template))
        yield from ()

    def read_file_systems() -> Iterator[Finding]:
        systems.extend(_file_systems(account, reading, first=first))
        yield from ()

    failures = guarded("the stack", read_stack)
    certain = reading.cluster.resource.exists is True and not failures
    failures += guarded("file systems of other stacks", read_file_systems)
    found = Look(reading.wanted(systems), names[0] if names else "", account.patient, time.time()).findings()
    for bucket in reading.buckets[1:]:
        found += guarded(f"bucket {bucket}", lambda bucket=bucket: check_bucket(account.patient("s3"), bucket))  # type: ignore[misc]
    return failures + (found if certain else as_warnings(found))


def _stack(account: _Account, template: Template) -> str:
    """The name or id of a template's stack; empty for one that is not known, and for a nested one that does not exist."""
    from hyperpod_constructs.custom_resources.handlers.checks.cluster_use import physical_id

    if template.parent is None:
        return template.environment.stack_name or ""
    parent = template.parent
    return physical_id(account.patient("cloudformation"), _stack(account, parent.template), parent.logical_id)


def _file_systems(account: _Account, reading: Reading, *, first: bool) -> Iterator[FileSystem]:
    """The file systems that this deployment makes: those of the cluster's stack, and with the first cluster all others."""
    from hyperpod_constructs.cli.preflight_wanted import file_systems
    from hyperpod_constructs.custom_resources.handlers.checks.cluster_use import physical_id

    own = reading.cluster.resource.template
    several = {cluster.template for cluster in reading.model.resources(reading.cluster.resource.type)}
    for resource, system in file_systems(reading.model):
        if resource.template is own:
            yield system
        elif first and resource.template not in several:
            stack = _stack(account, resource.template)
            if not physical_id(account.patient("cloudformation"), stack, resource.logical_id):
                yield system
