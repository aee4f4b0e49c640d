"""What HyperPod tells the user's account of a cluster: events, and with Slurm the metrics of its nodes.

They go out when the state changes; the metrics also once a minute. A node that is being replaced or rebooted counts as failed, as
Slurm has it down.

Sources: https://docs.aws.amazon.com/sagemaker/latest/dg/automating-sagemaker-with-eventbridge.html and
https://docs.aws.amazon.com/sagemaker/latest/dg/smcluster-slurm-metrics.html
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hyperpod_constructs.facts.events import CLUSTER_EVENT, CLUSTER_STATE, NODE_HEALTH, UNHEALTHY
from hyperpod_constructs.facts.metric_names import CLUSTER_DIMENSION, CLUSTERS
from hyperpod_constructs.local.aws_service import Caller
from hyperpod_constructs.local.clients import Clients
from hyperpod_constructs.local.hyperpod.background import Tasks
from hyperpod_constructs.local.hyperpod.fleet import Recovery
from hyperpod_constructs.local.hyperpod.state import Cluster, Node
from hyperpod_constructs.local.hyperpod.views import describe_cluster, summarize_event

SendEvent = Callable[[Caller, str, Mapping[str, Any], Sequence[str]], None]
"""Sends an event of SageMaker to the caller's account: its type, its detail, and the ARNs of its resources."""

METRICS_SECONDS = 60.0
_UP = ("Running", "SystemUpdating")


@dataclass(slots=True)
class _Told:
    """What was told of a cluster."""

    status: str = ""
    events: int = 0
    counts: tuple[int, int] | None = None
    second: float = 0.0


class Announcements:
    """Tells of clusters what has changed since the last look. Both ways are tasks; without `send` nothing is told."""

    def __init__(self, clients: Clients, tasks: Tasks, send: SendEvent | None = None) -> None:
        self._clients = clients
        self._tasks = tasks
        self._send = send
        self._told: dict[str, _Told] = {}

    def look(self, cluster: Cluster, now: float) -> None:
        """Tell of the cluster's status, its new events, and its nodes."""
        if self._send is None:
            return
        told = self._told.setdefault(cluster.arn, _Told())
        if cluster.status != told.status:
            told.status = cluster.status
            self._event(cluster, CLUSTER_STATE, describe_cluster(cluster))
        new, told.events = cluster.events[told.events :], len(cluster.events)
        for event in new:
            details = {**summarize_event(cluster, event), "EventTime": int(event.time * 1000)}
            if event.metadata:
                details["EventDetails"] = {"EventMetadata": event.metadata}
            self._event(cluster, CLUSTER_EVENT, {"EventDetails": details})
        if "Eks" not in cluster.settings.get("Orchestrator", {}):
            self._count(cluster, told, now)

    def fault(self, cluster: Cluster, node: Node, recovery: Recovery) -> None:
        """Tell of a broken node; on Slurm the health agent sends no event."""
        if self._send is None or "Eks" not in cluster.settings.get("Orchestrator", {}):
            return
        action = recovery.partition(":")[2]
        health = {
            "HealthStatus": UNHEALTHY,
            "HealthStatusReason": "the node was marked",
            "RepairAction": action,
            "Recommendation": "",
        }
        detail = {
            "ClusterArn": cluster.arn,
            "ClusterName": cluster.name,
            "InstanceId": node.instance_id,
            "Tags": {},
            "HealthSummary": health,
        }
        self._event(cluster, NODE_HEALTH, detail)

    def forget(self, arn: str | None = None) -> None:
        """Forget a cluster, or all."""
        if arn is None:
            self._told.clear()
        else:
            self._told.pop(arn, None)

    def _event(self, cluster: Cluster, kind: str, detail: Mapping[str, Any]) -> None:
        send = self._send
        assert send is not None
        self._tasks.begin(lambda: send(cluster.caller, kind, detail, [cluster.arn]))

    def _count(self, cluster: Cluster, told: _Told, now: float) -> None:
        failed = sum(map(_down, cluster.nodes()))
        counts = sum(node.status in _UP for node in cluster.nodes()) + failed, failed
        if counts != told.counts or now - told.second >= METRICS_SECONDS:
            told.counts, told.second = counts, now
            self._publish(cluster, {"cluster_node_count": counts[0], "cluster_failed_node_count": failed})

    def _publish(self, cluster: Cluster, values: Mapping[str, int]) -> None:
        dimensions = [{"Name": CLUSTER_DIMENSION, "Value": cluster.cluster_id}]
        data = [{"MetricName": name, "Value": value, "Dimensions": dimensions} for name, value in values.items()]

        def publish() -> None:
            self._clients("cloudwatch", cluster.caller).put_metric_data(Namespace=CLUSTERS, MetricData=data)

        self._tasks.begin(publish)


def _down(node: Node) -> bool:
    """Whether a node has failed, or is on its way back: it had booted once before its present instance, or this boot."""
    again = node.boots > 1 or (node.boots == 1 and not node.instance_id)
    return node.status == "Failure" or (node.status == "Pending" and again)
