"""Waits in a deployment until the necessary nodes of a cluster are Running."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from aws_cdk import ArnFormat, CustomResource, Duration
from constructs import Construct

from hyperpod_constructs._support.arguments import checked
from hyperpod_constructs._support.cluster_arn import cluster_id
from hyperpod_constructs._support.deferred import check_at_synthesis, deferred_value, warn_at_synthesis
from hyperpod_constructs._support.statements import Statement
from hyperpod_constructs._support.tokens import is_unknown
from hyperpod_constructs._support.tree import placed, stack_of
from hyperpod_constructs.custom_resources.provider import HandlerProvider
from hyperpod_constructs.facts.clusters import CHECK_TIME
from hyperpod_constructs.facts.node_permissions import LOG_GROUPS

_ALWAYS = ("Controller", "Login")


class GatedGroup(Protocol):
    """An instance group, as the gate reads it."""

    @property
    def name(self) -> str:
        """Its name in the cluster."""
        ...

    @property
    def node_type(self) -> str | None:
        """Controller, Login or Compute; `None` in a cluster without Slurm."""
        ...

    @property
    def count(self) -> int:
        """The wanted number of nodes."""
        ...

    @property
    def deep_health_checks(self) -> Sequence[object]:
        """The checks of its nodes before they take work."""
        ...


class GatedCluster(Protocol):
    """A cluster, as the gate reads it. Groups that are added after the gate count too."""

    @property
    def cluster_name(self) -> str | None:
        """Its name, if it is known at synthesis."""
        ...

    @property
    def cluster_arn(self) -> str:
        """Its ARN."""
        ...

    @property
    def instance_groups(self) -> Sequence[GatedGroup]:
        """Its groups."""
        ...


class ReadinessGate(Construct):
    """Complete when enough nodes of a cluster are Running; the cluster itself is complete before its nodes are.

    It waits for every node of the controller and login groups, and for the workers in `min_running`. On EKS, where no group is of
    these kinds, it waits for one node unless `min_running` says otherwise: add-ons can start then.

    A creation fails with the service's cause (events, the failed node, the end of its lifecycle log), and CloudFormation rolls the
    stack back. It fails early only if waiting cannot help: the cluster failed; or a node of a group failed, and for 15 minutes the
    service had neither another node on its way nor any news of the group. One failed node is not enough, because the service may
    replace it.

    An update never fails, because a rollback would take nodes away: `ready`, `message` and the log tell of missing nodes. (A gate
    that an update adds is a creation.) A deletion does nothing.

    A change of `min_running` or of any group's count makes the next deployment look again.
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster: GatedCluster,
        min_running: Mapping[str, int] | None = None,
        timeout: Duration | None = None,
    ) -> None:
        """Make a gate behind a cluster.

        :param cluster: the cluster of the awaited nodes.
        :param min_running: number of nodes that must be Running, by name of the group. By default all nodes of controller and login
            groups, and no others; on EKS one node of the first group that has nodes and no deep health checks, and an error at
            synthesis if there is none. `{}` waits for no worker. An unknown name, or more nodes than the group's count, is an
            error at synthesis. A group with deep health checks is a warning: they take longer than a deployment waits.
        :param timeout: time for one deployment, 5 minutes to 1 hour; 1 hour unless given. The answer comes three minutes earlier.
        :raises ValueError: for a timeout out of these limits or a negative `min_running`.
        """
        super().__init__(scope, id)
        placed(self, scope, id)
        self._cluster = cluster
        self._given = min_running is not None
        self._min_running = dict(min_running or {})
        self._check_numbers()
        provider = HandlerProvider.of(scope, "HyperPodReadinessGateProvider", module="readiness_gate")
        #: The custom resource, to make other resources wait for the nodes.
        self.resource: CustomResource = provider.add_resource(
            self,
            resource_type="Custom::HyperPodReadinessGate",
            properties={
                "ClusterArn": cluster.cluster_arn,
                "Groups": deferred_value(self._render_groups),
            },
            statements=self._statements(),
            timeout=timeout,
            deletes=False,
        )
        check_at_synthesis(self, self._mistakes, resource=self.resource)
        if any(self._min_running.values()):
            warn_at_synthesis(self, self._warnings, resource=self.resource)

    @property
    def ready(self) -> str:
        """Whether every awaited node was Running at the gate's last look: "true" or "false"."""
        return self.resource.get_att_string("Ready")

    @property
    def message(self) -> str:
        """The running and the missing nodes, with the cause."""
        return self.resource.get_att_string("Message")

    def _render_groups(self) -> list[dict[str, Any]]:
        """The property `Groups`, sorted by name: each group's count, and the number of its nodes that must be Running."""
        awaited = self._awaited()
        return [
            {"Name": group.name, "Minimum": awaited.get(group.name, 0), "Count": group.count}
            for group in sorted(self._cluster.instance_groups, key=lambda group: group.name)
        ]

    def _awaited(self) -> Mapping[str, int]:
        """The number of nodes to wait for, by group; groups without one are not awaited."""
        groups = self._cluster.instance_groups
        always = {group.name: group.count for group in groups if group.node_type in _ALWAYS}
        first = None if self._given or always else first_node(groups)
        return {**always, **self._min_running, **({} if first is None else {first: 1})}

    def _mistakes(self) -> list[str]:
        """Mistakes in `min_running`, now that the cluster's groups are known."""
        groups = self._cluster.instance_groups
        counts = {group.name: group.count for group in groups}
        if any(is_unknown(name) for name in counts):
            return []
        if not self._given and not self._awaited():
            return [
                f"the gate waits for no node: {without_node(groups)}; write min_running with the nodes to wait for, "
                "add a group of one node without checks, or write min_running={} to wait for none"
            ]
        found = []
        for name, minimum in self._min_running.items():
            if is_unknown(name):
                continue
            if name not in counts:
                found.append(
                    f"min_running names the group {name!r}; the cluster has "
                    f"{', '.join(map(repr, counts)) or 'no groups'}; write one of these names"
                )
            elif not _unknown(minimum, counts[name]) and minimum > counts[name]:
                found.append(
                    f"min_running of {name!r} is {minimum}; allowed: 0 to {counts[name]}, the count of the group; "
                    f"write {{{name!r}: {counts[name]}}}"
                )
        return found

    def _warnings(self) -> Mapping[str, str]:
        """Nodes that cannot be there in time, if the deployment makes them."""
        late = [
            group.name for group in self._cluster.instance_groups if group.deep_health_checks and self._min_running.get(group.name)
        ]
        if not late:
            return {}
        return {
            "gate-deep-health-checks": f"min_running awaits {' and '.join(late)}, whose deep health checks take {CHECK_TIME}; "
            "a deployment waits for one hour at most, and fails if it made these nodes; await a group without such checks"
        }

    def _check_numbers(self) -> None:
        for name, minimum in self._min_running.items():
            if not _unknown(minimum) and minimum < 0:
                raise ValueError(
                    f"{self.node.path}: min_running of {name!r} is {minimum!r}; allowed: a whole number from 0; "
                    f"write min_running={{{name!r}: 1}}"
                )

    def _statements(self) -> list[Statement]:
        stack, cluster = stack_of(self), self._cluster
        id = cluster_id(cluster.cluster_arn)
        name = "*" if cluster.cluster_name is None else cluster.cluster_name
        return [
            Statement(
                actions=[
                    "sagemaker:DescribeCluster",
                    "sagemaker:DescribeClusterEvent",
                    "sagemaker:ListClusterEvents",
                    "sagemaker:ListClusterNodes",
                ],
                resources=[cluster.cluster_arn],
            ),
            Statement(
                actions=["logs:GetLogEvents"],
                resources=[
                    stack.format_arn(
                        service="logs",
                        resource="log-group",
                        resource_name=f"{LOG_GROUPS}/{name}/{id}:log-stream:LifecycleConfig/*",
                        arn_format=ArnFormat.COLON_RESOURCE_NAME,
                    )
                ],
            ),
        ]


def first_node(groups: Sequence[GatedGroup]) -> str | None:
    """The first group whose nodes come within a deployment; `None` if there is none."""
    return next((group.name for group in groups if group.count and not group.deep_health_checks), None)


def without_node(groups: Sequence[GatedGroup]) -> str:
    """Why no node comes within a deployment."""
    if any(group.count for group in groups):
        return f"every group with nodes has deep_health_checks, which take {CHECK_TIME}"
    return "no group has a node"


def _unknown(*numbers: Any) -> bool:
    return any(is_unknown(number) for number in numbers)
