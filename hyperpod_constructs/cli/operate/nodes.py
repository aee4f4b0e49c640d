"""`hyperpod nodes`: the nodes of a cluster."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from hyperpod_constructs.cli.console import CliError, say
from hyperpod_constructs.cli.operate.choosing import named_nodes
from hyperpod_constructs.cli.operate.completion import group_names, node_ids
from hyperpod_constructs.cli.operate.kubernetes_health import KubernetesHealth
from hyperpod_constructs.cli.operate.listing import As, ClusterName, Column, Output, Wide, show
from hyperpod_constructs.cli.operate.place import Place, placed
from hyperpod_constructs.cli.operate.reading import RUNNING, Cluster, Node, describe_node, read_cluster, read_nodes
from hyperpod_constructs.cli.operate.watch import EVERY, Every, Watch
from hyperpod_constructs.cli.operate.watch import show as watched
from hyperpod_constructs.cli.operate.zones import Zones
from hyperpod_constructs.custom_resources.handlers.redaction import one_line

app = typer.Typer(add_completion=False)

MESSAGE_CHARACTERS = 1000
"""Limit for the message of a node."""

MOST_DESCRIBED = 20
"""The most nodes that are asked for one by one."""

COLUMNS = (
    Column("node", "node"),
    Column("group", "group"),
    Column("zone", "zone"),
    Column("status", "health", long=True),
    Column("kubernetes", "in Kubernetes", wide=True),
    Column("type", "type", wide=True),
    Column("image", "image", wide=True),
    Column("image_status", "image is", wide=True),
    Column("plan", "plan", wide=True),
    Column("host_name", "host name", wide=True),
    Column("launched", "since", wide=True),
    Column("age_seconds", "age", number=True),
)
Names = Annotated[
    list[str] | None, typer.Argument(metavar="[NODE]...", help="Only these, by id or host name.", autocompletion=node_ids)
]
GroupName = Annotated[
    str | None, typer.Option("--group", help="Only the nodes of this instance group.", autocompletion=group_names)
]


@app.command(
    epilog="Examples: `hyperpod nodes`, `hyperpod nodes --group workers --wide`, `hyperpod nodes --unhealthy -o json`, "
    "`hyperpod nodes --watch`, `hyperpod nodes i-0123456789abcdef0`."
)
@placed
def nodes(
    place: Place,
    names: Names = None,
    cluster: ClusterName = None,
    group: GroupName = None,
    unhealthy: Annotated[
        bool, typer.Option("--unhealthy", help="Only those that are not Running, or unhealthy in Kubernetes.")
    ] = False,
    wide: Wide = False,
    output: As = Output.TABLE,
    watch: Watch = False,
    every: Every = EVERY,
) -> None:
    """List the nodes of a cluster, or some of them."""
    if names and group is not None:
        raise CliError("name nodes, or a group with --group, not both")

    health = KubernetesHealth(place)

    def draw() -> None:
        found = read_cluster(place, cluster)
        present = _named(place, found, names) if names else read_nodes(place, found, group)
        labels = health.of(found)
        listed = [node for node in present if not unhealthy or needs_look(node, labels)]
        if not listed and output is Output.TABLE:
            say("Every node is Running." if unhealthy else f"{found.name} has no nodes.")
            return
        show(COLUMNS, rows(found, listed, Zones.of(place, found.groups), labels), output, wide=wide)

    watched(draw, watch=watch, every=every)


def _named(place: Place, cluster: Cluster, names: list[str]) -> list[Node]:
    """The nodes of these names; of a few the service is asked for more, such as the zone."""
    found = named_nodes(place, cluster, names)
    if len(found) > MOST_DESCRIBED:
        return found
    return [node if node.zone is not None else describe_node(place, cluster, node.id) or node for node in found]


def rows(cluster: Cluster, listed: list[Node], zones: Zones, labels: Mapping[str, str]) -> list[Mapping[str, Any]]:
    """A row for each node, by the keys of `COLUMNS`.

    :param labels: what Kubernetes says of unhealthy nodes, by id.
    """
    now = datetime.now(UTC)
    plans = {group.name: group.plan for group in cluster.groups}
    return [
        {
            "node": node.id or "(none yet)",
            "group": node.group,
            "zone": zones.of_node(node),
            "status": _health(node, labels),
            "kubernetes": labels.get(node.id),
            "type": node.instance_type,
            "image": node.image,
            "image_status": node.image_status,
            "plan": plans.get(node.group),
            "host_name": node.host_name,
            "launched": node.launched,
            "age_seconds": None if node.launched is None else now - node.launched,
        }
        for node in listed
    ]


def needs_look(node: Node, labels: Mapping[str, str]) -> bool:
    """Whether a node is not Running, or Kubernetes calls it unhealthy."""
    return node.status != RUNNING or node.id in labels


def _health(node: Node, labels: Mapping[str, str]) -> str:
    said = f"{node.status}: {one_line(node.message, MESSAGE_CHARACTERS)}" if node.message else node.status
    return f"{said}; in Kubernetes {labels[node.id]}" if node.id in labels else said
