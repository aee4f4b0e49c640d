"""`hyperpod export-logs`: one archive for a support case, without secrets."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import typer

from hyperpod_constructs.cli.console import CliError, if_interrupted, say
from hyperpod_constructs.cli.inputs import progress
from hyperpod_constructs.cli.operate.asking_again import patient
from hyperpod_constructs.cli.operate.batches import SOME_FAILED
from hyperpod_constructs.cli.operate.case_archive import Spool, check, writing
from hyperpod_constructs.cli.operate.case_parts import Case
from hyperpod_constructs.cli.operate.listing import As, ClusterName, Column, Output, print_json, show
from hyperpod_constructs.cli.operate.place import Place, placed
from hyperpod_constructs.cli.operate.reading import Cluster, read_cluster
from hyperpod_constructs.cli.operate.since import EXAMPLES, moment
from hyperpod_constructs.cli.tables import paragraph

app = typer.Typer(add_completion=False)

MANIFEST = "manifest.json"

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,62}")
_MEGABYTE = 1_000_000
_COLUMNS = (
    Column("name", "file"),
    Column("lines", "lines", number=True),
    Column("bytes", "bytes", number=True),
)
_STAYS = "Names, account ids and addresses stay in it, so look through it before you send it."


@app.command(
    "export-logs",
    epilog="Examples: `hyperpod export-logs`, `hyperpod export-logs --since 2h --file case.tar.gz`, "
    "`hyperpod export-logs -o json`. Exit codes: 0 everything is in it, 1 no archive, 3 a part could not be read, 130 interrupted.",
)
@placed
def export_logs(
    place: Place,
    cluster: ClusterName = None,
    since: Annotated[str, typer.Option("--since", metavar="TIME", help=f"Events and logs not before: {EXAMPLES}.")] = "3d",
    most: Annotated[
        int, typer.Option("--max-mb", min=1, metavar="MB", help="The most megabytes of each kind of log, the newest.")
    ] = 20,
    file: Annotated[
        Path | None, typer.Option("--file", metavar="FILE", help="The archive; named by cluster and time unless given.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file of this name.")] = False,
    output: As = Output.TABLE,
) -> None:
    """Pack the cluster, its nodes, events, logs and templates for a support case; secrets are masked and counted."""
    after, now = moment(since), datetime.now(UTC)
    if file is not None:
        check(file.expanduser().absolute(), replace=force)
    with if_interrupted("no archive was written"):
        named, manifest = _write(patient(place), cluster, after, now, most * _MEGABYTE, file, force=force)
    with if_interrupted(f"the archive is whole: {named}"):
        _say(named, manifest, output)
    raise typer.Exit(SOME_FAILED if any(one["failed"] for one in manifest["missing"]) else 0)


def _write(
    place: Place, cluster: str | None, after: datetime, now: datetime, most_bytes: int, file: Path | None, *, force: bool
) -> tuple[Path, dict[str, Any]]:
    """Read and pack everything: the archive, and its manifest."""
    found = read_cluster(place, cluster)
    if _NAME.fullmatch(found.name) is None:
        raise CliError(f"the service names {found.name!r}, which is no name of a cluster: nothing is written")
    named = file or Path(f"hyperpod-{found.name}-{now:%Y%m%dT%H%M%SZ}.tar.gz")
    path = named.expanduser().absolute()
    seconds = int(now.timestamp())
    with writing(path, folder=found.name, seconds=seconds, replace=force) as archive, progress("reading"):
        case = Case(place, found, archive, path.parent, after, most_bytes)
        case.write()
        manifest = _manifest(place, found, case, now)
        with Spool(path.parent) as spool:
            spool.add(json.dumps(manifest, indent=2))
            archive.add(MANIFEST, spool)
    return named, manifest


def _manifest(place: Place, cluster: Cluster, case: Case, now: datetime) -> dict[str, Any]:
    """What is in the archive, what was masked, and what is not in it."""
    return {
        "made": now.isoformat(timespec="seconds"),
        "made_by": f"hyperpod {version('hyperpod-constructs')}",
        "cluster": cluster.arn,
        "account": place.target.account,
        "region": place.target.region,
        "since": case.after.isoformat(timespec="seconds"),
        "files": [asdict(member) for member in case.members],
        "masked": dict(sorted(case.scrubber.counts.items())),
        "shortened": case.scrubber.shortened,
        "missing": [asdict(one) for one in case.missing],
    }


def _say(file: Path, manifest: Mapping[str, Any], output: Output) -> None:
    if output is Output.JSON:
        print_json({"file": str(file), **manifest})
        return
    show(_COLUMNS, manifest["files"], output)
    if output is Output.MARKDOWN:
        return
    say()
    for one in manifest["missing"]:
        paragraph(f"{'Could not be read' if one['failed'] else 'Not in it'}: {one['what']}: {one['why']}")
    counts = ", ".join(f"{number} x {kind}" for kind, number in manifest["masked"].items())
    paragraph(f"Masked: {counts or 'nothing, as no secret was found'}.")
    if manifest["shortened"]:
        paragraph(f"Lines that were too long to look through, and lost their middle: {manifest['shortened']}.")
    say(f"Written: {file}")
    paragraph(_STAYS)
