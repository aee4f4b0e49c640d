"""`hyperpod reboot`: start nodes again."""

from __future__ import annotations

import typer

from hyperpod_constructs.cli.operate import batches
from hyperpod_constructs.cli.operate.listing import As, ClusterName, Output
from hyperpod_constructs.cli.operate.place import Place, placed
from hyperpod_constructs.facts import clusters

app = typer.Typer(add_completion=False)

_OPERATION = batches.Operation(
    verb="reboot",
    call="batch_reboot_cluster_nodes",
    most=clusters.MOST_RESTARTED,
    spares_controllers=False,
    loses=(
        "The jobs on these nodes end. Root volume, added volumes and file systems stay; "
        "the instance store (/opt/dlami/nvme) is emptied."
    ),
)


@app.command(epilog=f"Examples: `hyperpod reboot i-0123456789abcdef0`, `hyperpod reboot --group workers --yes`. {batches.CODES}")
@placed
def reboot(
    place: Place,
    nodes: batches.Nodes = None,
    group: batches.WholeGroup = None,
    cluster: ClusterName = None,
    yes: batches.Yes = False,
    output: As = Output.TABLE,
) -> None:
    """Reboot nodes; they keep their volumes."""
    batches.carry_out(_OPERATION, place, cluster=cluster, ids=nodes or (), group=group, yes=yes, output=output)
