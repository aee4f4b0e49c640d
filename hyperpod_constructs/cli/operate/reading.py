"""Clusters, instance groups and nodes as SageMaker describes them: one call for a cluster, one for each 100 nodes."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from hyperpod_constructs.cli.console import CliError
from hyperpod_constructs.cli.deployed import deployed_cluster
from hyperpod_constructs.cli.operate.place import Place
from hyperpod_constructs.custom_resources.handlers.answers import pages
from hyperpod_constructs.facts.node_permissions import LOG_GROUPS

PAGE = 100
"""The most entries that one call lists."""

MOST_NAMED = 20
"""The most clusters that a message names."""

RUNNING = "Running"

SAME_PAGE = "AWS answers with the same page again and again, so the list is not complete: try again later"


@dataclass(frozen=True, slots=True)
class Group:
    """An instance group. `None` stands for what the service does not say."""

    name: str
    instance_type: str
    status: str
    current: int
    target: int
    node_type: str | None
    plan: str | None
    subnets: tuple[str, ...]
    software_update: str | None
    description: Mapping[str, Any]

    @classmethod
    def of(cls, description: Mapping[str, Any], cluster: Mapping[str, Any]) -> Group:
        """The group as DescribeCluster has it."""
        network = description.get("OverrideVpcConfig") or cluster.get("VpcConfig") or {}
        types = description.get("InstanceRequirements", {}).get("CurrentInstanceTypes", [])
        plan = description.get("TrainingPlanArn")
        return cls(
            name=description["InstanceGroupName"],
            instance_type=description.get("InstanceType") or ", ".join(types),
            status=description.get("Status", ""),
            current=description.get("CurrentCount", 0),
            target=description.get("TargetCount", 0),
            node_type=description.get("SlurmConfig", {}).get("NodeType"),
            plan=None if plan is None else plan.rpartition("/")[2],
            subnets=tuple(network.get("Subnets", ())),
            software_update=description.get("SoftwareUpdateStatus"),
            description=description,
        )


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster."""

    name: str
    arn: str
    status: str
    failure: str | None
    groups: tuple[Group, ...]
    description: Mapping[str, Any]

    @property
    def id(self) -> str:
        """The last part of the ARN: log groups and session targets have it."""
        return self.arn.rpartition("/")[2]

    @property
    def log_group(self) -> str:
        """The CloudWatch log group of its nodes."""
        return f"{LOG_GROUPS}/{self.name}/{self.id}"

    @property
    def kubernetes(self) -> str | None:
        """The name of its EKS cluster; `None` for Slurm."""
        arn = self.description.get("Orchestrator", {}).get("Eks", {}).get("ClusterArn")
        return None if arn is None else str(arn).rpartition("/")[2]

    @property
    def pages(self) -> int:
        """The calls that list all of its nodes."""
        return -(-sum(group.current for group in self.groups) // PAGE) or 1

    @property
    def continuous(self) -> bool:
        """Whether nodes are provisioned continuously; only then does the cluster have events."""
        return bool(self.description.get("NodeProvisioningMode") == "Continuous")

    def group(self, name: str) -> Group:
        """The group of this name.

        :raises CliError: if there is none.
        """
        for group in self.groups:
            if group.name == name:
                return group
        names = ", ".join(group.name for group in self.groups)
        raise CliError(f"there is no instance group {name!r} in {self.name}; it has {names}")


@dataclass(frozen=True, slots=True)
class Node:
    """A node. `id` is empty until the instance exists."""

    id: str
    group: str
    instance_type: str
    status: str
    message: str
    launched: datetime | None
    updated: datetime | None
    image: str | None
    image_status: str | None
    host_name: str | None
    zone: str | None

    @classmethod
    def of(cls, summary: Mapping[str, Any]) -> Node:
        """The node as ListClusterNodes or DescribeClusterNode has it; only the latter names the zone."""
        status = summary["InstanceStatus"]
        return cls(
            id=summary.get("InstanceId", ""),
            group=summary["InstanceGroupName"],
            instance_type=summary.get("InstanceType", ""),
            status=status["Status"],
            message=status.get("Message", ""),
            launched=summary.get("LaunchTime"),
            updated=summary.get("LastSoftwareUpdateTime"),
            image=summary.get("CurrentImageReleaseVersion"),
            image_status=summary.get("ImageVersionStatus"),
            host_name=summary.get("PrivateDnsHostname"),
            zone=summary.get("Placement", {}).get("AvailabilityZoneId"),
        )


def list_clusters(place: Place, *, limit: int | None = None) -> Iterator[Mapping[str, Any]]:
    """The clusters of the account in the region, by name; one call for each 100."""
    request: dict[str, Any] = {"SortBy": "NAME", "SortOrder": "Ascending", "MaxResults": min(limit or PAGE, PAGE)}
    left = limit
    for answer in sound_pages(lambda more: place.client("sagemaker").list_clusters(**request, **more)):
        yield from answer["ClusterSummaries"][:left]
        left = None if left is None else left - len(answer["ClusterSummaries"])
        if left is not None and left <= 0:
            return


def sound_pages(ask: Callable[[Mapping[str, str]], Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """The pages of a listing; none is asked for before it is needed.

    :raises CliError: if the service repeats a page.
    """
    for page, sound in pages(ask):
        yield page
        if not sound:
            raise CliError(SAME_PAGE)


def read_cluster(place: Place, name: str | None) -> Cluster:
    """One cluster.

    :param name: name or ARN; unless given, that of the last deployment, else the only one of the account.
    :raises CliError: if it is not there, or if there are several to choose from.
    """
    wanted = name or _only_cluster(place)
    sagemaker = place.client("sagemaker")
    try:
        description = sagemaker.describe_cluster(ClusterName=wanted)
    except sagemaker.exceptions.ResourceNotFound:
        known = [summary["ClusterName"] for summary in list_clusters(place, limit=20)]
        has = f"it has {', '.join(known)}" if known else "it has none"
        raise CliError(f"there is no cluster {wanted!r} in account {place.target.account}, {place.target.region}; {has}") from None
    listed = [*description.get("InstanceGroups", ()), *description.get("RestrictedInstanceGroups", ())]
    return Cluster(
        name=description["ClusterName"],
        arn=description["ClusterArn"],
        status=description["ClusterStatus"],
        failure=description.get("FailureMessage") or None,
        groups=tuple(Group.of(group, description) for group in listed),
        description=description,
    )


def list_nodes(place: Place, cluster: Cluster, group: str | None = None) -> Iterator[Node]:
    """The current nodes of a cluster, the oldest first; no page is asked for before it is needed.

    :param group: only the nodes of this group.
    :raises CliError: if the cluster has no such group.
    """
    named = None if group is None else cluster.group(group).name
    found = map(Node.of, node_summaries(place, cluster, named))
    yield from (node for node in found if group in (None, node.group))


def read_nodes(place: Place, cluster: Cluster, group: str | None = None) -> list[Node]:
    """All nodes as `list_nodes` has them, those of a group together."""
    order = {known.name: position for position, known in enumerate(cluster.groups)}
    return sorted(list_nodes(place, cluster, group), key=lambda node: order.get(node.group, len(order)))


def read_members(place: Place, cluster: Cluster, groups: Collection[str]) -> list[Node]:
    """The nodes of these groups; of a single one no others are listed."""
    known = [group.name for group in cluster.groups if group.name in groups]
    listed = read_nodes(place, cluster, known[0] if len(known) == len(groups) == 1 else None)
    return [node for node in listed if node.group in groups]


def describe_node(place: Place, cluster: Cluster, id: str) -> Node | None:
    """The node with this id; `None` if it is gone."""
    sagemaker = place.client("sagemaker")
    try:
        return Node.of(sagemaker.describe_cluster_node(ClusterName=cluster.arn, NodeId=id)["NodeDetails"])
    except sagemaker.exceptions.ResourceNotFound:
        return None


def node_summaries(place: Place, cluster: Cluster, group: str | None = None) -> Iterator[Mapping[str, Any]]:
    """The current nodes as ListClusterNodes has them, the oldest first; one call for each 100.

    :param group: only groups whose name contains this.
    """
    request: dict[str, Any] = {"ClusterName": cluster.arn, "MaxResults": PAGE, "SortBy": "CREATION_TIME", "SortOrder": "Ascending"}
    if group is not None:
        request["InstanceGroupNameContains"] = group
    for page in sound_pages(lambda more: place.client("sagemaker").list_cluster_nodes(**request, **more)):
        yield from page["ClusterNodeSummaries"]


@contextmanager
def unless_denied() -> Iterator[None]:
    """Go on after the block if a permission is missing for what it looks up."""
    from botocore.exceptions import ClientError

    from hyperpod_constructs.cli.operate.denied import explained

    try:
        yield
    except ClientError as error:
        if explained(error) is None:
            raise


def _only_cluster(place: Place) -> str:
    """The cluster of the last deployment, else the only one of the account."""
    with contextlib.suppress(CliError), unless_denied():
        return deployed_cluster(place.target, place.where)
    known = [summary["ClusterName"] for summary in list_clusters(place, limit=MOST_NAMED + 1)]
    if len(known) == 1:
        return str(known[0])
    account = f"account {place.target.account}, {place.target.region}"
    if not known:
        raise CliError(f"there is no cluster in {account}: deploy one (hyperpod deploy)")
    more = " and more (hyperpod clusters)" if len(known) > MOST_NAMED else ""
    raise CliError(f"name the cluster with --cluster: {account} has {', '.join(known[:MOST_NAMED])}{more}")
