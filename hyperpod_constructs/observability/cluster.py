"""A cluster, as alarms and dashboards see it."""

from __future__ import annotations

from typing import Protocol


class MonitoredCluster(Protocol):
    """A cluster: a `HyperPodCluster`, or an imported one."""

    @property
    def cluster_name(self) -> str | None: ...
    @property
    def cluster_arn(self) -> str: ...
    @property
    def cluster_id(self) -> str: ...


def named(cluster: MonitoredCluster) -> str:
    """What names the cluster in a command: the name, or the ARN of a cluster that CloudFormation names."""
    return cluster.cluster_arn if cluster.cluster_name is None else cluster.cluster_name
