"""The Kubernetes side of task governance, as the service sees it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from hyperpod_constructs.local.aws_service import Caller


@dataclass(frozen=True, kw_only=True, slots=True)
class Applied:
    """A policy or a quota with the settings that are to be in force, and with what the service fills in.

    :param kind: which of the two.
    :param policy_id: its id.
    :param eks_cluster_arn: the EKS cluster.
    :param caller: account and region of its cluster.
    :param settings: the members of its Describe operation that its creator sets, such as `ComputeQuotaTarget`.
    """

    kind: Literal["ClusterSchedulerConfig", "ComputeQuota"]
    policy_id: str
    eks_cluster_arn: str
    caller: Caller
    settings: Mapping[str, Any]


class Queues(Protocol):
    """Keeps namespaces, queues and priority classes of a Kubernetes cluster as policies and quotas want them.

    It is called outside the service's lock. An exception fails the creation, the update or the deletion: its text is the
    FailureReason.
    """

    def apply(self, applied: Applied) -> None:
        """Make the objects of a policy or a quota, or change them."""

    def remove(self, applied: Applied) -> None:
        """Delete the objects of a policy or a quota."""
