"""`hyperpod replace`: other instances in the place of nodes."""

from __future__ import annotations

import typer

from hyperpod_constructs.cli.operate import batches
from hyperpod_constructs.cli.operate.listing import As, ClusterName, Output
from hyperpod_constructs.cli.operate.place import Place, placed
from hyperpod_constructs.facts import clusters

app = typer.Typer(add_completion=False)

_OPERATION = batches.Operation(
    verb="replace",
    call="batch_replace_cluster_nodes",
    most=clusters.MOST_RESTARTED,
    spares_controllers=True,
    loses=(
        "The jobs on these nodes end. Every volume of the nodes is lost; file systems stay. "
        "Without spare capacity the nodes stay away."
    ),
)


@app.command(epilog=f"Examples: `hyperpod replace i-0123456789abcdef0`, `hyperpod replace --group workers --yes`. {batches.CODES}")
@placed
def replace(
    place: Place,
    nodes: batches.Nodes = None,
    group: batches.WholeGroup = None,
    cluster: ClusterName = None,
    yes: batches.Yes = False,
    output: As = Output.TABLE,
) -> None:
    """Replace nodes by other instances; their volumes are lost."""
    batches.carry_out(_OPERATION, place, cluster=cluster, ids=nodes or (), group=group, yes=yes, output=output)
