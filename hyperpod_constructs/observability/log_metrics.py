"""Failures in a cluster's log group as metrics, by class."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from aws_cdk import aws_logs as logs
from constructs import Construct

from hyperpod_constructs._support.arguments import checked
from hyperpod_constructs._support.tree import placed
from hyperpod_constructs.custom_resources.cluster_log_group import ClusterLogGroup
from hyperpod_constructs.facts import log_failures
from hyperpod_constructs.observability.cluster import MonitoredCluster


class FailureClass(StrEnum):
    """A class of failures that nodes write to the cluster's log group."""

    LIFECYCLE = "LifecycleFailures"
    """A lifecycle script of this library failed, or a program in Python ended with a traceback."""
    CAPACITY = "CapacityFailures"
    """AWS had no capacity for a request that a node made."""
    PERMISSIONS = "PermissionFailures"
    """AWS refused a request of a node, because its role lacks a permission."""
    HEALTH = "HealthFaults"
    """The health agent found a fault."""


_PATTERNS: Mapping[FailureClass, str] = {
    FailureClass.LIFECYCLE: log_failures.LIFECYCLE,
    FailureClass.CAPACITY: log_failures.CAPACITY,
    FailureClass.PERMISSIONS: log_failures.PERMISSIONS,
    FailureClass.HEALTH: log_failures.HEALTH,
}


class ClusterLogMetrics(Construct):
    """Counts the log lines of each class of failures, by metric filters.

    Only lines that arrive after the deployment count. The namespace holds the cluster's id, because a filter of plain text can give
    its metric no dimension.

    The four metrics cost $0.30 a month each, in the hours in which they have values.
    """

    @checked
    def __init__(self, scope: Construct, id: str, *, cluster: MonitoredCluster, log_group: ClusterLogGroup) -> None:
        """
        :param cluster: the cluster of the log group.
        :param log_group: its log group, which the filters await.
        """
        super().__init__(scope, id)
        placed(self, scope, id)
        #: The namespace of the metrics, whose names are those of the classes.
        self.namespace = f"HyperPod/Clusters/{cluster.cluster_id}"
        #: The filters.
        self.filters: Mapping[FailureClass, logs.CfnMetricFilter] = {
            failure: logs.CfnMetricFilter(
                self,
                failure.value,
                log_group_name=log_group.log_group_name,
                filter_pattern=pattern,
                metric_transformations=[
                    logs.CfnMetricFilter.MetricTransformationProperty(
                        metric_name=failure.value, metric_namespace=self.namespace, metric_value="1", unit="Count"
                    )
                ],
            )
            for failure, pattern in _PATTERNS.items()
        }
