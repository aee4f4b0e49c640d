"""The whole of it for one cluster: log metrics, events, alarms and a dashboard."""

from __future__ import annotations

from collections.abc import Mapping

from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from constructs import Construct

from hyperpod_constructs._support.arguments import checked
from hyperpod_constructs._support.tree import placed
from hyperpod_constructs.custom_resources.cluster_log_group import ClusterLogGroup
from hyperpod_constructs.observability.alarms import ClusterAlarms
from hyperpod_constructs.observability.cluster import MonitoredCluster
from hyperpod_constructs.observability.dashboard import ClusterDashboard
from hyperpod_constructs.observability.events import ClusterEvents, EventLevel
from hyperpod_constructs.observability.file_systems import MonitoredFileSystem
from hyperpod_constructs.observability.log_metrics import ClusterLogMetrics


class ClusterMonitoring(Construct):
    """Watches a cluster: failures in its log group, events, alarms and a dashboard, all of which go to one topic.

    The short way is `SlurmCluster(alarms_topic=...)` or `EksCluster(alarms_topic=...)`. Its parts are constructs of their own, with
    more parameters.
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster: MonitoredCluster,
        topic: sns.ITopic,
        slurm: bool = True,
        file_systems: Mapping[str, MonitoredFileSystem] | None = None,
        level: EventLevel = EventLevel.ERROR,
        retention_days: int | None = None,
        encryption_key: kms.IKey | None = None,
    ) -> None:
        """
        :param cluster: a `HyperPodCluster`, or an imported one.
        :param topic: receives alarms and events; `alarms_topic` makes one.
        :param slurm: whether Slurm orchestrates it; yes unless given. Then the service counts failed nodes, and the health agent's
            lines become events, which on EKS it sends itself.
        :param file_systems: file systems by a name of letters and digits, such as `{"Lustre": file_system}`; none unless given.
        :param level: the lowest level of events that the topic receives; errors alone unless given.
        :param retention_days: days that the cluster's log group keeps events, as in `ClusterLogGroup`; as it is unless given.
        :param encryption_key: encrypts the cluster's log group; a key of AWS unless given.
        """
        super().__init__(scope, id)
        placed(self, scope, id)
        #: The cluster's log group.
        self.log_group = ClusterLogGroup(
            self, "LogGroup", cluster=cluster, retention_days=retention_days, encryption_key=encryption_key
        )
        #: The failures in the log group.
        self.log_metrics = ClusterLogMetrics(self, "LogMetrics", cluster=cluster, log_group=self.log_group)
        #: The rules of events.
        self.events = ClusterEvents(
            self, "Events", cluster=cluster, level=level, topics=[topic], log_group=self.log_group if slurm else None
        )
        #: The alarms.
        self.alarms = ClusterAlarms(
            self,
            "Alarms",
            cluster=cluster,
            topic=topic,
            slurm_metrics=slurm,
            log_metrics=self.log_metrics,
            events=self.events,
            file_systems=file_systems,
        )
        #: The dashboard.
        self.dashboard = ClusterDashboard(
            self,
            "Dashboard",
            cluster=cluster,
            slurm_metrics=slurm,
            alarms=self.alarms,
            log_metrics=self.log_metrics,
            file_systems=file_systems,
        )
