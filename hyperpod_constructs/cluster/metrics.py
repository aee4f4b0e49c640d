"""What the network of a cluster needs for the figures of its nodes."""

from __future__ import annotations

from aws_cdk import aws_ec2 as ec2

from hyperpod_constructs.network import ClusterNetwork, NodeNetwork
from hyperpod_constructs.node_software.node_metrics import NodeMetrics


def serve_metrics(metrics: NodeMetrics, network: NodeNetwork) -> None:
    """Let the scraper reach the nodes, and the nodes reach the workspace of Prometheus where there is no internet."""
    if metrics.scraper is not None:
        network.security_group.connections.allow_from(metrics.scraper, ec2.Port.tcp(metrics.port), "Prometheus scrapes the nodes")
    if metrics.remote_write is not None and isinstance(network, ClusterNetwork):
        network.serve_metrics()
