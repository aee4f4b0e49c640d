"""A HyperPod cluster on EKS in the embedded AWS, its policies and quotas, and a Kubernetes side that notes what it is told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hyperpod_constructs.local.governance.queues import Applied
from hyperpod_constructs.local.hyperpod.service import HyperPod
from tests.local.hyperpod_requests import checked, cluster, group
from tests.local.moto_cloud import Cloud

EKS_ARN = "arn:aws:eks:us-west-2:123456789012:cluster/one"
ON_EKS = {"Eks": {"ClusterArn": EKS_ARN}}
TYPE = "ml.p5.48xlarge"


class NotedQueues:
    """Notes each call, in the words `apply` and `remove`; `problems` are raised by the next calls, one each."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, Applied]] = []
        self.problems: list[Exception] = []

    def apply(self, applied: Applied) -> None:
        self._note("apply", applied)

    def remove(self, applied: Applied) -> None:
        self._note("remove", applied)

    def _note(self, word: str, applied: Applied) -> None:
        self.calls.append((word, applied))
        if self.problems:
            raise self.problems.pop(0)


class Governed:
    """The API, with a cluster of two nodes."""

    def __init__(self, cloud: Cloud, orchestrator: dict[str, Any] | None = None) -> None:
        self.cloud, self.queues = cloud, NotedQueues()
        self.call: Callable[..., dict[str, Any]] = checked(HyperPod(cloud.faults, cloud.client, cloud.clock, queues=self.queues))
        self.cluster = self.new_cluster("demo", orchestrator or ON_EKS)
        self.settle(10)

    def new_cluster(self, name: str, orchestrator: dict[str, Any]) -> str:
        """The ARN of a cluster that is being created."""
        kinds = [("controller", "Controller"), ("workers", "Compute")] if "Slurm" in orchestrator else [("workers", None)]
        groups = [group(self.cloud, *kind, InstanceType="ml.m5.xlarge") for kind in kinds]
        wanted = cluster(self.cloud, ClusterName=name, Orchestrator=orchestrator, InstanceGroups=groups)
        return str(self.call("CreateCluster", **wanted)["ClusterArn"])

    def settle(self, seconds: float = 2.0) -> None:
        """Let time pass, and look."""
        self.cloud.clock.tick(seconds)
        self.call("ListClusters")

    def quota(self, team: str = "research", **members: Any) -> str:
        """The id of a new quota of 4 GPUs."""
        return str(self.call("CreateComputeQuota", **self.quota_request(team, **members))["ComputeQuotaId"])

    def quota_request(self, team: str = "research", **members: Any) -> dict[str, Any]:
        """A request for a quota of 4 GPUs."""
        return {
            "Name": team,
            "ClusterArn": self.cluster,
            "ComputeQuotaConfig": {"ComputeQuotaResources": [{"InstanceType": TYPE, "Accelerators": 4}]},
            "ComputeQuotaTarget": {"TeamName": team},
            **members,
        }

    def policy(self, **members: Any) -> str:
        """The id of a new policy."""
        classes = [{"Name": "high", "Weight": 90}]
        wanted = {"Name": "ours", "ClusterArn": self.cluster, "SchedulerConfig": {"PriorityClasses": classes}, **members}
        return str(self.call("CreateClusterSchedulerConfig", **wanted)["ClusterSchedulerConfigId"])

    def described(self, quota: str, **members: Any) -> dict[str, Any]:
        """A quota."""
        return self.call("DescribeComputeQuota", ComputeQuotaId=quota, **members)

    def scheduled(self, policy: str, **members: Any) -> dict[str, Any]:
        """A policy."""
        return self.call("DescribeClusterSchedulerConfig", ClusterSchedulerConfigId=policy, **members)

    def update(self, quota: str, version: int = 1, **members: Any) -> dict[str, Any]:
        """Update a quota."""
        return self.call("UpdateComputeQuota", ComputeQuotaId=quota, TargetVersion=version, **members)
