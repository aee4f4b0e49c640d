"""`hyperpod remove`: nodes taken out of their groups."""

from __future__ import annotations

import typer

from hyperpod_constructs.cli.operate import batches
from hyperpod_constructs.cli.operate.listing import As, ClusterName, Output
from hyperpod_constructs.cli.operate.place import Place, placed
from hyperpod_constructs.facts import clusters

app = typer.Typer(add_completion=False)

_OPERATION = batches.Operation(
    verb="remove",
    call="batch_delete_cluster_nodes",
    most=clusters.MOST_DELETED,
    spares_controllers=True,
    loses=(
        "The jobs on these nodes end. Every volume of the nodes is lost; file systems stay. The groups shrink. "
        "Where a stack owns the count, lower it in the code too, or the next deployment adds nodes again."
    ),
)


@app.command(epilog=f"Examples: `hyperpod remove i-0123456789abcdef0`, `hyperpod remove --group workers --yes`. {batches.CODES}")
@placed
def remove(
    place: Place,
    nodes: batches.Nodes = None,
    group: batches.WholeGroup = None,
    cluster: ClusterName = None,
    yes: batches.Yes = False,
    output: As = Output.TABLE,
) -> None:
    """Remove nodes, and lower the counts of their groups."""
    batches.carry_out(_OPERATION, place, cluster=cluster, ids=nodes or (), group=group, yes=yes, output=output)
