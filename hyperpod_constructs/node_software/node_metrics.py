"""The figures that nodes tell: to CloudWatch, to a workspace of Prometheus, and to whoever scrapes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

from aws_cdk import Aws, Fn
from aws_cdk import aws_ec2 as ec2
from aws_cdk.interfaces.aws_aps import IWorkspaceRef

from hyperpod_constructs._support.arguments import checked_value
from hyperpod_constructs.facts import prometheus as facts

Interval = Annotated[int, facts.INTERVAL]
MetricsNamespace = Annotated[str, facts.NAMESPACE]
MetricsPort = Annotated[int, facts.PORT]


class NodeMetricSet(StrEnum):
    """A set of figures. A node without such devices tells none of it."""

    GPU = "gpu"
    """NVIDIA GPUs: utilization, memory, temperature, power, errors."""
    MEMORY = "memory"
    """The memory of the node."""
    NEURON = "neuron"
    """Neuron devices: utilization, memory, errors."""
    EFA = "efa"
    """EFA: bytes, packets, errors."""
    DISK = "disk"
    """Local disks: space and inodes. Shared file systems have metrics of their own in CloudWatch."""


@checked_value
@dataclass(frozen=True, kw_only=True, slots=True)
class NodeMetrics:
    """The figures of the nodes of a Slurm cluster.

    Every node serves them as Prometheus reads them, at `http://127.0.0.1:9190/metrics`, under the names of the usual exporters.
    CloudWatch gets a few of them, each as a metric of its own that costs by the month; a workspace of Prometheus gets all.

    :param interval_seconds: seconds between two looks, 15 to 3600; 60 unless given.
    :param sets: the sets of figures; all unless given.
    :param cloudwatch: whether CloudWatch gets the figures; yes unless given.
    :param namespace: their namespace in CloudWatch; `HyperPod/Nodes` unless given.
    :param per_node: whether the figures of each node are kept apart in CloudWatch; yes unless given. Otherwise each group has one
        metric of a name, with the lowest, highest and mean of its nodes: it costs as much for a thousand nodes as for one.
    :param remote_write: a workspace of Prometheus in the region of the cluster that gets every sample; none unless given. The nodes
        write by their role, and a closed network gets the endpoint that they need.
    :param port: of the page of figures, 1024 to 65535; 9190 unless given.
    :param scraper: the security group of a Prometheus of yours that may scrape the nodes over the network; nobody unless given, and
        the page is then on loopback only. With it the nodes listen on all their addresses, and their security group admits this
        one at the port; a group of nodes with a network of its own needs such a rule from you. The page has no login.
    :raises ValueError: for a number or a namespace beyond its limits, no set, or a set twice.
    """

    interval_seconds: Interval = 60
    sets: Sequence[NodeMetricSet] = tuple(NodeMetricSet)
    cloudwatch: bool = True
    namespace: MetricsNamespace = facts.NODE_NAMESPACE
    per_node: bool = True
    remote_write: IWorkspaceRef | None = None
    port: MetricsPort = facts.NODE_PORT
    scraper: ec2.ISecurityGroup | None = None

    def __post_init__(self) -> None:
        twice = sorted({str(name) for name in self.sets if list(self.sets).count(name) > 1})
        if twice or not self.sets:
            found = f"has {', '.join(twice)} twice" if twice else "is empty"
            raise ValueError(
                f"NodeMetrics: sets {found}; allowed: each of {', '.join(NodeMetricSet)} once; leave sets out for all of them, "
                "or leave the metrics out"
            )

    def render(self) -> dict[str, Any]:
        """The key `metrics` of `software` in `config.json`."""
        rendered: dict[str, Any] = {
            "interval_seconds": self.interval_seconds,
            "sets": [str(name) for name in self.sets],
            "port": self.port,
            "address": "127.0.0.1" if self.scraper is None else "0.0.0.0",  # the security group admits the scraper alone
        }
        if self.cloudwatch:
            rendered["cloudwatch"] = {"namespace": self.namespace, "region": Aws.REGION, "per_node": self.per_node}
        if self.remote_write is not None:
            rendered["remote_write"] = {"url": _write_url(self.remote_write), "region": Aws.REGION}
        return rendered


def _write_url(workspace: IWorkspaceRef) -> str:
    """Source: https://docs.aws.amazon.com/prometheus/latest/userguide/AMP-APIReference-RemoteWrite.html"""
    name = Fn.select(1, Fn.split("/", workspace.workspace_ref.workspace_arn))
    return f"https://{facts.WRITE_ENDPOINT}.{Aws.REGION}.{Aws.URL_SUFFIX}/workspaces/{name}/api/v1/remote_write"
