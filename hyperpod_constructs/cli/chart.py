"""`hyperpod chart`: gets the service's Helm chart, and writes the one that stands in for it on the embedded AWS."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer

from hyperpod_constructs.cli.console import CliError, reported, say

app = typer.Typer(no_args_is_help=True, help="Get the Helm chart that HyperPod needs in a Kubernetes cluster.")


@app.command(
    epilog="The chart is a pinned commit of AWS's Git repository with the charts that it declares. Their hashes are kept in "
    "hyperpod-chart.lock: commit it, and everybody gets the same bytes or an error."
)
@reported
def fetch(
    revision: Annotated[
        str | None,
        typer.Option("--revision", metavar="COMMIT", help="Another commit than AWS's templates install, by its 40 digits."),
    ] = None,
    lock: Annotated[
        Path | None, typer.Option("--lock", metavar="FILE", help="Lock file of the project; hyperpod-chart.lock unless given.")
    ] = None,
    update: Annotated[bool, typer.Option("--update", help="Record hashes anew, over those in the lock file.")] = False,
    frozen: Annotated[bool, typer.Option("--frozen", help="Take nothing whose hash is not recorded, as in CI.")] = False,
    gpu_operator: Annotated[bool, typer.Option("--gpu-operator", help="Get the GPU operator too, which MIG needs.")] = False,
) -> None:
    """Put the service's chart into your cache, checked and complete."""
    from hyperpod_constructs.cli.chart_project import fetch_for_project

    fetch_for_project(revision, lock, update=update, frozen=frozen, gpu_operator=gpu_operator)


@app.command("stand-in")
@reported
def stand_in(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A new directory.")],
) -> None:
    """Write a small chart with the service's value keys, for the embedded AWS only. Nothing in it runs on nodes."""
    from hyperpod_constructs import local

    if directory.exists():
        raise CliError(f"{directory} exists; name a new directory")
    try:
        shutil.copytree(Path(local.__file__).parent / "kubernetes_chart", directory)
    except OSError as error:
        raise CliError(f"{directory}: {error.strerror or error}") from error
    say(f"a stand-in for the service's chart is in {directory}; use it by HyperPodChart.from_directory({str(directory)!r})")
