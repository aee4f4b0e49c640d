"""The providers of workspaces."""

from __future__ import annotations

from hyperpod_constructs.local.clients import Clients
from hyperpod_constructs.local.metrics import grafana, prometheus
from hyperpod_constructs.local.provider import ResourceProvider


def providers(clients: Clients) -> list[ResourceProvider]:
    """The provider of each type; those of Prometheus share their workspaces."""
    workspaces = prometheus.Workspaces()
    return [prometheus.Workspace(clients, workspaces), prometheus.RuleGroups(workspaces), grafana.Workspace(clients)]
