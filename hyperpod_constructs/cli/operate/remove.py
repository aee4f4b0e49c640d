"""`hyperpod remove`: nodes taken out of their groups."""

from __future__ import annotations

from hyperpod_constructs.cli.operate.batches import Operation, command
from hyperpod_constructs.facts.clusters import MOST_DELETED

app = command(
    Operation(
        verb="remove",
        summary="Remove nodes, and lower the counts of their groups.",
        call="batch_delete_cluster_nodes",
        most=MOST_DELETED,
        spares_controllers=True,
        loses=(
            "The jobs on these nodes end. Every volume of the nodes is lost; file systems stay. The groups shrink. "
            "Where a stack owns the count, lower it in the code too, or the next deployment adds nodes again."
        ),
    )
)
