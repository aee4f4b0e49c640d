"""Alarms of a cluster, each by its own name, and one over all."""

from __future__ import annotations

from collections.abc import Mapping

from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_sns as sns
from aws_cdk.interfaces.aws_cloudwatch import IAlarmRef
from constructs import Construct

from hyperpod_constructs._support.arguments import checked
from hyperpod_constructs._support.deferred import deferred_text
from hyperpod_constructs._support.tree import placed, stack_of
from hyperpod_constructs._support.values import Percent, Positive
from hyperpod_constructs.facts.metric_names import CLUSTER_DIMENSION, CLUSTERS
from hyperpod_constructs.observability.cluster import MonitoredCluster, named
from hyperpod_constructs.observability.events import ClusterEvents
from hyperpod_constructs.observability.file_systems import MonitoredFileSystem, Watched, watched
from hyperpod_constructs.observability.log_metrics import ClusterLogMetrics, FailureClass
from hyperpod_constructs.observability.topic import let_publish

_PERIOD_SECONDS = 300
_ABOVE, _BELOW = "GreaterThanOrEqualToThreshold", "LessThanOrEqualToThreshold"

FAILED_NODES, FAILED_OPERATIONS = "FailedNodes", "FailedOperations"

_RUNBOOKS: Mapping[str, str] = {
    FAILED_NODES: "Nodes are down. See which and why: hyperpod status --cluster {cluster}. The service replaces a faulty node in "
    "20 to 30 minutes by itself; after that: hyperpod replace NODE --cluster {cluster}",
    FAILED_OPERATIONS: "An operation on the cluster failed, such as the start of a node. "
    "Read why: hyperpod events --cluster {cluster}",
    FailureClass.LIFECYCLE: "The set-up of a node failed. Read the end of its log: hyperpod logs --cluster {cluster}",
    FailureClass.CAPACITY: "AWS has no capacity for a node. See which group waits: hyperpod status --cluster {cluster}; "
    "reserve capacity: hyperpod training-plan search",
    FailureClass.PERMISSIONS: "A node lacks a permission. Read which: hyperpod logs --cluster {cluster}; "
    "give it to the execution role",
    FailureClass.HEALTH: "The health agent found a fault. Read it: hyperpod logs --kind health --cluster {cluster}; "
    "see whether the node is replaced: hyperpod events --cluster {cluster}",
}
"""What an alarm means, and what to do."""


class ClusterAlarms(Construct):
    """Alarms of a cluster. Each tells in its description what to do, and has an id of its own: another one renames none.

    Unless data says otherwise an alarm is OK: metrics of failures have no values while nothing fails.

    `composite` is in ALARM while one of them is. It sends nothing itself, since each alarm does. It fits where one alarm is asked
    for, such as `AutoRollbackConfiguration`, a pager or the state of a dashboard.

    An alarm costs $0.10 a month, the composite one $0.50.

    FSx calls a disk that is more than 85 % full too full for a rebalance; the other thresholds are this library's.

    Source: https://docs.aws.amazon.com/fsx/latest/LustreGuide/managing-storage-capacity.html
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster: MonitoredCluster,
        topic: sns.ITopic | None = None,
        slurm_metrics: bool = True,
        log_metrics: ClusterLogMetrics | None = None,
        events: ClusterEvents | None = None,
        file_systems: Mapping[str, MonitoredFileSystem] | None = None,
        used_percent: Percent | None = 85,
        throughput_percent: Percent | None = 90,
        queue_minutes: Positive | None = 30,
    ) -> None:
        """
        :param cluster: the cluster.
        :param topic: receives each alarm, and its end; nobody unless given. A topic with a key needs one that admits CloudWatch,
            see `alarms_topic`.
        :param slurm_metrics: whether the service counts failed nodes, as it does for Slurm; yes unless given. On EKS those counts
            come only from Container Insights.
        :param log_metrics: the failures in the log group, by class; no such alarms unless given.
        :param events: the rules of events, for an alarm on failed operations; none unless given.
        :param file_systems: file systems by a name of letters and digits, such as `{"Lustre": file_system}`; none unless given.
            Those of this app have alarms on capacity and throughput, Lustre ones also on the age of imports and exports.
        :param used_percent: full part of a file system that rings; 85 unless given, never with `None`.
        :param throughput_percent: part of a file system's throughput, read or written for half an hour; 90 unless given, never with
            `None`.
        :param queue_minutes: age of the oldest import or export; 30 unless given, never with `None`.
        """
        super().__init__(scope, id)
        placed(self, scope, id)
        self._cluster = cluster
        self._topic_arns = None if topic is None else [topic.topic_arn]
        self._alarms: dict[str, IAlarmRef] = {}
        if topic is not None:
            own = stack_of(self).format_arn(service="cloudwatch", resource="alarm:*")
            let_publish(topic, self, "cloudwatch.amazonaws.com", own)
        if slurm_metrics:
            own_metric = {CLUSTER_DIMENSION: cluster.cluster_id}
            self._failure(FAILED_NODES, CLUSTERS, "cluster_failed_node_count", own_metric, statistic="Maximum")
        if log_metrics is not None:
            for failure in FailureClass:
                self._failure(failure.value, log_metrics.namespace, failure.value, {})
        if events is not None:
            self._failure(FAILED_OPERATIONS, "AWS/Events", "Invocations", {"RuleName": events.operations.ref})
        for name, file_system in ({} if file_systems is None else file_systems).items():
            for each in watched(
                file_system,
                used_percent=used_percent,
                throughput_percent=throughput_percent,
                queue_minutes=queue_minutes,
            ):
                self._watch(name, each)
        #: The alarm over all.
        self.composite = cloudwatch.CfnCompositeAlarm(
            self,
            "Any",
            alarm_rule=deferred_text(self._rule),
            alarm_description=self._described(
                "An alarm of the cluster rings. See which: aws cloudwatch describe-alarms --state-value ALARM; "
                "then look: hyperpod status --cluster {cluster}"
            ),
        )

    @property
    def alarms(self) -> Mapping[str, IAlarmRef]:
        """The alarms by their ids, without the composite one."""
        return dict(self._alarms)

    @checked
    def include(self, name: str, alarm: IAlarmRef) -> None:
        """Let `composite` ring with an alarm of your own too. Who hears of that one is up to you.

        :raises ValueError: for a name that another alarm has.
        """
        if name in self._alarms:
            raise ValueError(f"{self.node.path}: an alarm {name!r} exists; the names are {', '.join(self._alarms)}; choose another")
        self._alarms[name] = alarm

    def _failure(self, id: str, namespace: str, metric: str, dimensions: Mapping[str, str], *, statistic: str = "Sum") -> None:
        """Ring at the first failure."""
        self._add(
            id,
            text=_RUNBOOKS[id],
            namespace=namespace,
            metric=metric,
            dimensions=dimensions,
            statistic=statistic,
            threshold=1,
            above=True,
            period=_PERIOD_SECONDS,
            periods=1,
            needed=1,
        )

    def _watch(self, name: str, each: Watched) -> None:
        self._add(
            f"{name}{each.id}",
            text=f"{name}: {each.text}",
            namespace="AWS/FSx",
            metric=each.metric,
            dimensions=each.dimensions,
            statistic=each.statistic,
            threshold=each.threshold,
            above=each.above,
            period=each.period,
            periods=each.periods,
            needed=each.needed,
        )

    def _add(
        self,
        id: str,
        *,
        text: str,
        namespace: str,
        metric: str,
        dimensions: Mapping[str, str],
        statistic: str,
        threshold: float,
        above: bool,
        period: int,
        periods: int,
        needed: int,
    ) -> None:
        self._alarms[id] = cloudwatch.CfnAlarm(
            self,
            id,
            alarm_description=self._described(text),
            namespace=namespace,
            metric_name=metric,
            dimensions=[cloudwatch.CfnAlarm.DimensionProperty(name=key, value=value) for key, value in dimensions.items()] or None,
            statistic=statistic,
            period=period,
            evaluation_periods=periods,
            datapoints_to_alarm=needed,
            threshold=threshold,
            comparison_operator=_ABOVE if above else _BELOW,
            treat_missing_data="notBreaching",
            alarm_actions=self._topic_arns,
            ok_actions=self._topic_arns,
        )

    def _described(self, text: str) -> str:
        return text.format(cluster=named(self._cluster))

    def _rule(self) -> str:
        return " OR ".join(f'ALARM("{alarm.alarm_ref.alarm_name}")' for alarm in self._alarms.values()) or "FALSE"
