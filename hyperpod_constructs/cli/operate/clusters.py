"""`hyperpod clusters`: the clusters of an account in a region."""

from __future__ import annotations

from datetime import UTC, datetime

import typer

from hyperpod_constructs.cli.console import say
from hyperpod_constructs.cli.operate.listing import As, Column, Output, Wide, show
from hyperpod_constructs.cli.operate.place import Place, placed
from hyperpod_constructs.cli.operate.reading import list_clusters
from hyperpod_constructs.cli.operate.watch import EVERY, Every, Watch
from hyperpod_constructs.cli.operate.watch import show as watched

app = typer.Typer(add_completion=False)

_COLUMNS = (
    Column("cluster", "cluster"),
    Column("status", "status"),
    Column("image_status", "image", wide=True),
    Column("plans", "training plans", wide=True),
    Column("arn", "arn", wide=True),
    Column("created", "created"),
    Column("age_seconds", "age", number=True),
)


@app.command(epilog="Examples: `hyperpod clusters --target aws --region us-west-2`, `hyperpod clusters -o json`.")
@placed
def clusters(place: Place, wide: Wide = False, output: As = Output.TABLE, watch: Watch = False, every: Every = EVERY) -> None:
    """List the clusters of the account in the region."""

    def draw() -> None:
        rows = [
            {
                "cluster": summary["ClusterName"],
                "status": summary["ClusterStatus"],
                "image_status": summary.get("ImageVersionStatus"),
                "plans": ", ".join(arn.rpartition("/")[2] for arn in summary.get("TrainingPlanArns", ())) or None,
                "created": summary["CreationTime"],
                "age_seconds": datetime.now(UTC) - summary["CreationTime"],
                "arn": summary["ClusterArn"],
            }
            for summary in list_clusters(place)
        ]
        if not rows and output is Output.TABLE:
            say(f"There is no cluster in account {place.target.account}, {place.target.region}. Deploy one: hyperpod deploy")
            return
        show(_COLUMNS, rows, output, wide=wide)

    watched(draw, watch=watch, every=every)
