"""`hyperpod replace`: other instances in the place of nodes."""

from __future__ import annotations

from hyperpod_constructs.cli.operate.batches import Operation, command
from hyperpod_constructs.facts.clusters import MOST_RESTARTED

app = command(
    Operation(
        verb="replace",
        summary="Replace nodes by other instances; their volumes are lost.",
        call="batch_replace_cluster_nodes",
        most=MOST_RESTARTED,
        spares_controllers=True,
        needs_update=True,
        loses=(
            "The jobs on these nodes end. Every volume of the nodes is lost; file systems stay. "
            "Without spare capacity the nodes stay away."
        ),
    )
)
