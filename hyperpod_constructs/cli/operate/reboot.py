"""`hyperpod reboot`: start nodes again."""

from __future__ import annotations

from hyperpod_constructs.cli.operate.batches import Operation, command
from hyperpod_constructs.facts.clusters import MOST_RESTARTED

app = command(
    Operation(
        verb="reboot",
        summary="Reboot nodes; they keep their volumes.",
        call="batch_reboot_cluster_nodes",
        most=MOST_RESTARTED,
        spares_controllers=False,
        needs_update=True,
        loses=(
            "The jobs on these nodes end. Root volume, added volumes and file systems stay; "
            "the instance store (/opt/dlami/nvme) is emptied."
        ),
    )
)
