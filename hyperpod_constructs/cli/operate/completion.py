"""Completion of the names of clusters, instance groups and nodes. Without an answer it completes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice

import typer

from hyperpod_constructs.cli.operate.place import Place, chosen
from hyperpod_constructs.cli.operate.reading import list_clusters, list_nodes, read_cluster
from hyperpod_constructs.cli.target import TargetName

MOST = 1000
"""The most names that completion asks for."""


def _completing(names: Callable[[Place, str | None], Iterable[str]]) -> Callable[[typer.Context, str], list[str]]:
    def complete(context: typer.Context, incomplete: str) -> list[str]:
        given = context.params
        try:
            place = chosen(
                TargetName(given["where"]) if given.get("where") else None,
                given.get("profile"),
                given.get("region"),
                given.get("endpoint_url"),
            )
            return [name for name in names(place, given.get("cluster")) if name.startswith(incomplete)]
        except Exception:  # A shell that completes has no place for an error.
            return []

    return complete


@_completing
def cluster_names(place: Place, cluster: str | None) -> Iterable[str]:
    """The clusters of the account."""
    return (str(summary["ClusterName"]) for summary in list_clusters(place, limit=MOST))


@_completing
def group_names(place: Place, cluster: str | None) -> Iterable[str]:
    """The instance groups of the cluster."""
    return (group.name for group in read_cluster(place, cluster).groups)


@_completing
def node_ids(place: Place, cluster: str | None) -> Iterable[str]:
    """The oldest nodes of the cluster."""
    return (node.id for node in islice(list_nodes(place, read_cluster(place, cluster)), MOST) if node.id)
