"""`hyperpod status`: a cluster, its instance groups, and the nodes that need a look."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import typer

from hyperpod_constructs.cli.console import say
from hyperpod_constructs.cli.operate import nodes
from hyperpod_constructs.cli.operate.kubernetes_health import KubernetesHealth
from hyperpod_constructs.cli.operate.listing import As, ClusterName, Column, Output, Wide, print_json, show
from hyperpod_constructs.cli.operate.place import Place, placed
from hyperpod_constructs.cli.operate.reading import RUNNING, Cluster, Node, read_cluster, read_nodes
from hyperpod_constructs.cli.operate.watch import EVERY, Every, Watch
from hyperpod_constructs.cli.operate.watch import show as watched
from hyperpod_constructs.cli.operate.zones import Zones
from hyperpod_constructs.cli.tables import paragraph
from hyperpod_constructs.custom_resources.handlers.redaction import one_line

app = typer.Typer(add_completion=False)

MOST = 20
"""The most nodes that are listed one by one."""

_COLUMNS = (
    Column("group", "group"),
    Column("role", "role", wide=True),
    Column("type", "type"),
    Column("zone", "zone", wide=True),
    Column("status", "status"),
    Column("plan", "plan", wide=True),
    Column("software_update", "software update", wide=True),
    Column("running", "running", number=True),
    Column("target", "target", number=True),
)


@app.command(epilog="Examples: `hyperpod status`, `hyperpod status --watch`, `hyperpod status --cluster trainer --wide -o json`.")
@placed
def status(
    place: Place,
    cluster: ClusterName = None,
    wide: Wide = False,
    output: As = Output.TABLE,
    watch: Watch = False,
    every: Every = EVERY,
) -> None:
    """Show a cluster, its instance groups, and the nodes that are not Running or unhealthy."""
    health = KubernetesHealth(place)

    def draw() -> None:
        found = read_cluster(place, cluster)
        listed = read_nodes(place, found)
        zones = Zones.of(place, found.groups)
        groups = _group_rows(found, listed, zones)
        labels = health.of(found)
        others = nodes.rows(found, [node for node in listed if nodes.needs_look(node, labels)], zones, labels)
        if output is Output.JSON:
            keys = [column.key for column in nodes.COLUMNS]
            print_json({**_facts(found), "groups": groups, "need_a_look": [{key: row[key] for key in keys} for row in others]})
            return
        _print(found, groups, others, output, wide=wide)

    watched(draw, watch=watch, every=every)


def _facts(cluster: Cluster) -> dict[str, Any]:
    return {
        "cluster": cluster.name,
        "arn": cluster.arn,
        "status": cluster.status,
        "failure": None if cluster.failure is None else one_line(cluster.failure, nodes.MESSAGE_CHARACTERS),
        "orchestrator": "slurm" if cluster.kubernetes is None else f"eks {cluster.kubernetes}",
        "provisioning": "continuous" if cluster.continuous else "all at once",
        "node_recovery": cluster.description.get("NodeRecovery"),
        "created": cluster.description.get("CreationTime"),
    }


def _print(
    cluster: Cluster,
    groups: Sequence[Mapping[str, Any]],
    others: Sequence[Mapping[str, Any]],
    output: Output,
    *,
    wide: bool,
) -> None:
    facts = _facts(cluster)
    for key in ("cluster", "arn", "status", "orchestrator", "node_recovery"):
        if facts[key] is not None:
            paragraph(f"{key.replace('_', ' '):<14}{facts[key]}", hanging=" " * 14, breaks=True)
    if facts["failure"] is not None:
        paragraph(f"{'failure':<14}{facts['failure']}", hanging=" " * 14, breaks=True)
    say()
    show(_COLUMNS, groups, output, wide=wide)
    if not others:
        return
    say()
    show(nodes.COLUMNS, others[:MOST], output, wide=wide)
    if len(others) > MOST:
        say(f"and {len(others) - MOST} more that need a look: hyperpod nodes --unhealthy --cluster {cluster.name}")


def _group_rows(cluster: Cluster, listed: Sequence[Node], zones: Zones) -> list[dict[str, Any]]:
    running = Counter(node.group for node in listed if node.status == RUNNING)
    return [
        {
            "group": group.name,
            "role": group.node_type,
            "type": group.instance_type,
            "zone": zones.of_group(group.name),
            "status": group.status,
            "plan": group.plan,
            "software_update": group.software_update,
            "running": running[group.name],
            "target": group.target,
        }
        for group in cluster.groups
    ]
