"""One page of CloudWatch for a cluster: its alarms, nodes, jobs, failures and file systems."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from hyperpod_constructs._support.arguments import checked
from hyperpod_constructs._support.deferred import deferred_text
from hyperpod_constructs._support.tree import placed, region_of, stack_of
from hyperpod_constructs.facts import file_system_metrics
from hyperpod_constructs.facts.metric_names import CLUSTER_DIMENSION, CLUSTERS
from hyperpod_constructs.observability.alarms import ClusterAlarms
from hyperpod_constructs.observability.cluster import MonitoredCluster, named
from hyperpod_constructs.observability.file_systems import MonitoredFileSystem, is_lustre
from hyperpod_constructs.observability.log_metrics import ClusterLogMetrics, FailureClass

_WIDTH, _HEIGHT, _IN_A_ROW = 8, 6, 3
_SLURM: Mapping[str, Sequence[str]] = {
    "Nodes": ("cluster_node_count", "cluster_idle_node_count", "cluster_failed_node_count"),
    "GPUs": ("cluster_gpu_count", "cluster_idle_gpu_count"),
    "Use of nodes (%)": (
        "node_gpu_utilization",
        "node_gpu_memory_utilization",
        "node_cpu_utilization",
        "node_memory_utilization",
    ),
    "Tasks": ("cluster_running_task_count", "cluster_pending_task_count", "cluster_preempted_task_count"),
    "Wait of tasks (s)": ("cluster_avg_task_wait_time", "cluster_max_task_wait_time"),
}
"""The metrics that the service publishes for a Slurm cluster, by graph."""

Widget = dict[str, Any]


class ClusterDashboard(Construct):
    """A dashboard of CloudWatch for a cluster. An account has three for nothing; each further one costs $3 a month."""

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster: MonitoredCluster,
        slurm_metrics: bool = True,
        alarms: ClusterAlarms | None = None,
        log_metrics: ClusterLogMetrics | None = None,
        file_systems: Mapping[str, MonitoredFileSystem] | None = None,
    ) -> None:
        """
        :param cluster: the cluster.
        :param slurm_metrics: whether there are graphs of nodes and tasks, whose metrics the service publishes for Slurm; yes unless
            given.
        :param alarms: the alarms, whose states are the first widget; none unless given.
        :param log_metrics: the failures in the log group; no graph unless given.
        :param file_systems: file systems by name; none unless given.
        """
        super().__init__(scope, id)
        placed(self, scope, id)
        self._cluster, self._alarms, self._region = cluster, alarms, region_of(self)
        self._slurm, self._log_metrics = slurm_metrics, log_metrics
        self._file_systems = {} if file_systems is None else dict(file_systems)
        #: The L1.
        self.resource = cloudwatch.CfnDashboard(
            self, "Resource", dashboard_body=deferred_text(lambda: stack_of(self).to_json_string(self._body()))
        )

    def _body(self) -> dict[str, Any]:
        graphs = [*self._own_graphs(), *self._file_system_graphs()]
        top = self._top()
        height = sum(widget["height"] for widget in top)
        placed_graphs = [
            {
                **widget,
                "x": position % _IN_A_ROW * _WIDTH,
                "y": height + position // _IN_A_ROW * _HEIGHT,
                "width": _WIDTH,
                "height": _HEIGHT,
            }
            for position, widget in enumerate(graphs)
        ]
        return {"widgets": [*top, *placed_graphs]}

    def _top(self) -> list[Widget]:
        """The name of the cluster, and the states of its alarms."""
        text = f"# HyperPod cluster {named(self._cluster)}"
        whole = {"x": 0, "width": _WIDTH * _IN_A_ROW}
        title = {"type": "text", **whole, "y": 0, "height": 1, "properties": {"markdown": text}}
        if self._alarms is None:
            return [title]
        arns = [alarm.alarm_ref.alarm_arn for alarm in self._alarms.alarms.values()]
        states = {"type": "alarm", **whole, "y": 1, "height": 3, "properties": {"title": "Alarms", "alarms": arns}}
        return [title, states] if arns else [title]

    def _own_graphs(self) -> Iterator[Widget]:
        dimension = (CLUSTER_DIMENSION, self._cluster.cluster_id)
        if self._slurm:
            for title, names in _SLURM.items():
                yield self._graph(title, [[CLUSTERS, name, *dimension] for name in names], "Average")
        if self._log_metrics is not None:
            yield self._graph("Failures", [[self._log_metrics.namespace, each.value] for each in FailureClass], "Sum")

    def _file_system_graphs(self) -> Iterator[Widget]:
        for name, file_system in self._file_systems.items():
            own = (file_system_metrics.DIMENSION, file_system.file_system_id)
            minute = file_system_metrics.PERIOD_SECONDS
            if is_lustre(file_system):
                metric, statistic = file_system_metrics.FREE_OF_LUSTRE, "Sum"
            else:
                metric, statistic = file_system_metrics.USED["OPENZFS"]
            yield self._graph(f"{name}: room (bytes)", [["AWS/FSx", metric, *own]], statistic, period=minute)
            moved = [["AWS/FSx", each, *own] for each in ("DataReadBytes", "DataWriteBytes")]
            yield self._graph(f"{name}: bytes read and written in a minute", moved, "Sum", period=minute)
            if is_lustre(file_system):
                ages = [["AWS/FSx", "AgeOfOldestQueuedMessage", *own, "Publisher", each] for each in ("AutoImport", "AutoExport")]
                yield self._graph(f"{name}: age of imports and exports (s)", ages, "Maximum")

    def _graph(self, title: str, metrics: list[list[str]], statistic: str, *, period: int = 300) -> Widget:
        properties = {"title": title, "region": self._region, "metrics": metrics, "stat": statistic, "period": period}
        return {"type": "metric", "properties": {**properties, "view": "timeSeries"}}
