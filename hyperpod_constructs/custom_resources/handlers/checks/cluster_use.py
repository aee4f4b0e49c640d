"""Nodes that exist: those of the stack's own cluster count as granted, those of all clusters count against quotas."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from botocore.exceptions import ClientError

from .. import answers
from ..aws import Patient, code
from .wanted import Group, Wanted

ON_DEMAND, SPOT, PLAN = "on-demand", "spot", "plan"

_GONE = frozenset({"ResourceNotFound", "ResourceNotFoundException"})
_LISTS = ("InstanceGroups", "RestrictedInstanceGroups")


@dataclass
class ClusterUse:
    """Numbers of nodes that exist; every number is the smallest certain one."""

    markets: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Nodes of all clusters by instance type and market."""
    own: Counter[str] = field(default_factory=Counter)
    """Nodes of the stack's own cluster by group."""
    own_markets: Counter[tuple[str, str]] = field(default_factory=Counter)

    def more(self, group: Group) -> int:
        """The number of nodes that a group needs beside its existing ones."""
        return max(0, group.count - self.own[group.name])

    def in_market(self, market: str) -> int:
        """All nodes of a market."""
        return sum(count for (_, at), count in self.markets.items() if at == market)

    def add(self, cluster: Mapping[str, Any], *, own: bool) -> None:
        """Count a cluster, as DescribeCluster answers it."""
        for group in _groups(cluster):
            counts = _counts(group)
            self.markets.update(counts)
            if own:
                self.own_markets.update(counts)
                self.own[answers.text(group, "InstanceGroupName")] += counts.total()


def market_of(group: Group) -> str:
    """The market of a group's nodes."""
    if group.training_plan:
        return PLAN
    return SPOT if group.spot else ON_DEMAND


def own_cluster(cloudformation: Patient, sagemaker: Patient, stack: str, wanted: Wanted) -> Mapping[str, Any] | None:
    """The stack's cluster, as DescribeCluster answers it; `None` if it does not exist, or if this deployment replaces it."""
    arn = physical_id(cloudformation, stack, wanted.cluster_logical_id)
    if not arn:
        return None
    try:
        cluster = sagemaker.call("describe_cluster", ClusterName=arn)
    except ClientError as failure:
        if code(failure) in _GONE:
            return None
        raise
    return None if _replaced(cluster, wanted) else cluster


def physical_id(cloudformation: Patient, stack: str, logical_id: str) -> str:
    """The physical id of a resource of a stack; empty if it does not exist, and for an empty stack."""
    if not stack:
        return ""
    try:
        answer = cloudformation.call("describe_stack_resource", StackName=stack, LogicalResourceId=logical_id)
    except ClientError as failure:
        if missing(failure):
            return ""
        raise
    if answers.text(answer, "StackResourceDetail", "ResourceStatus") in ("DELETE_COMPLETE", "CREATE_FAILED"):
        return ""
    return answers.text(answer, "StackResourceDetail", "PhysicalResourceId")


def missing(failure: Exception) -> bool:
    """Whether CloudFormation says that a stack or a resource of one does not exist; it has no code for that."""
    return code(failure) == "ValidationError" and "not exist" in str(failure)


def other_clusters(sagemaker: Patient, own: str) -> Iterator[Mapping[str, Any]]:
    """The account's other clusters in this region, without those that are being deleted."""
    for page, _ in answers.pages(lambda more: sagemaker.call("list_clusters", MaxResults=100, **more)):
        for summary in answers.structures(page, "ClusterSummaries"):
            arn = answers.text(summary, "ClusterArn")
            if not arn or arn == own or answers.text(summary, "ClusterStatus") == "Deleting":
                continue
            try:
                yield sagemaker.call("describe_cluster", ClusterName=arn)
            except ClientError as failure:
                if code(failure) not in _GONE:
                    raise


def _replaced(cluster: Mapping[str, Any], wanted: Wanted) -> bool:
    """Whether the deployment makes another cluster beside this one."""
    name = answers.text(cluster, "ClusterName")
    if wanted.cluster_name and name and name != wanted.cluster_name:
        return True
    subnets = {text for text in answers.structure(cluster, "VpcConfig").get("Subnets") or () if isinstance(text, str)}
    known = {subnet for group in wanted.groups for subnet in group.subnets}
    return bool(subnets and known) and not subnets & known


def _groups(cluster: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for name in _LISTS:
        yield from answers.structures(cluster, name)


def _counts(group: Mapping[str, Any]) -> Counter[tuple[str, str]]:
    """The nodes of a group by type and market."""
    market = ON_DEMAND
    if answers.text(group, "TrainingPlanArn"):
        market = PLAN
    elif "Spot" in answers.structure(group, "CapacityRequirements"):
        market = SPOT
    parts = answers.structures(group, "InstanceTypeDetails") or [group]
    found: Counter[tuple[str, str]] = Counter()
    for part in parts:
        found[answers.text(part, "InstanceType"), market] += max(0, answers.number(part, "CurrentCount") or 0)
    return found
