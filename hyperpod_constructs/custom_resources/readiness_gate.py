"""Waits in a deployment until the nodes that a cluster cannot work without are Running."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import jsii
from aws_cdk import (
    Annotations,
    ArnFormat,
    Aspects,
    CustomResource,
    Duration,
    Fn,
    IAspect,
    IStableAnyProducer,
    Lazy,
    Stack,
)
from aws_cdk import aws_iam as iam
from constructs import Construct, IConstruct

from hyperpod_constructs._arguments import checked
from hyperpod_constructs._tokens import is_unknown
from hyperpod_constructs.custom_resources.provider import LONGEST, HandlerProvider

_ALWAYS = ("Controller", "Login")


class GatedGroup(Protocol):
    """What the gate reads of an instance group."""

    @property
    def name(self) -> str:
        """Its name in the cluster."""
        ...

    @property
    def node_type(self) -> str | None:
        """Controller, Login, Compute, or None where the cluster has no Slurm."""
        ...

    @property
    def count(self) -> int:
        """How many nodes are wanted."""
        ...


class GatedCluster(Protocol):
    """What the gate reads of a cluster. Groups that are added after the gate was made count too."""

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

    It waits for every node of the controller and login groups, and for workers only as far as `min_running` says.

    At creation it fails with the cause that the service gives (events, the failed node, the end of its lifecycle log),
    and CloudFormation rolls the stack back. It fails before its time is over only when waiting cannot help: the cluster
    failed, or a node of a group failed and for 15 minutes the service has neither another node on its way nor any news
    of the group. One failed node is no reason, because the service may replace it.

    At update it never fails (a gate that an update adds is a creation), because a rollback would take nodes away: what is missing
    stands in `ready`, `message` and
    the log. Deletion does nothing.

    A change of what it waits for or of any group's count makes the next deployment look again.
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

        :param cluster: whose nodes to wait for.
        :param min_running: nodes that must be Running, by name of the group; wins over the default of the group, which
            is all nodes of controller and login groups and none of the others. A name that the cluster does not have,
            or more nodes than the group wants, is an error of the synthesis.
        :param timeout: time for one deployment, 5 minutes to 1 hour; 1 hour unless given. The answer comes three
            minutes earlier.
        :raises ValueError: for a timeout out of these limits or a negative `min_running`.
        """
        super().__init__(scope, id)
        self._cluster = cluster
        self._min_running = dict(min_running or {})
        self._check_numbers()
        provider = HandlerProvider.of(self, "HyperPodReadinessGateProvider", module="readiness_gate")
        #: The custom resource, to make other resources wait for the nodes.
        self.resource: CustomResource = provider.add_resource(
            self,
            resource_type="Custom::HyperPodReadinessGate",
            properties={
                "ClusterArn": cluster.cluster_arn,
                "Groups": Lazy.any(_Groups(self)),
            },
            statements=self._statements(),
            timeout=LONGEST if timeout is None else timeout,
        )
        Aspects.of(self.resource).add(_Check(self))

    @property
    def ready(self) -> str:
        """Whether every awaited node was Running when the gate last looked: "true" or "false"."""
        return self.resource.get_att_string("Ready")

    @property
    def message(self) -> str:
        """What is Running and what is missing, and why."""
        return self.resource.get_att_string("Message")

    def render(self) -> list[dict[str, Any]]:
        """The property `Groups`, by name: each group's count and how many of its nodes must be Running."""
        return [
            {"Name": group.name, "Minimum": self._minimum(group), "Count": group.count}
            for group in sorted(self._cluster.instance_groups, key=lambda group: group.name)
        ]

    def findings(self) -> list[str]:
        """What is wrong with `min_running`, now that the cluster's groups are known."""
        counts = {group.name: group.count for group in self._cluster.instance_groups}
        if any(is_unknown(name) for name in counts):
            return []
        found = []
        for name, minimum in self._min_running.items():
            if is_unknown(name):
                continue
            if name not in counts:
                found.append(
                    f"min_running names the group {name!r}; the cluster has "
                    f"{', '.join(map(repr, counts)) or 'no groups'}; write the name of one of them"
                )
            elif not _unknown(minimum, counts[name]) and minimum > counts[name]:
                found.append(
                    f"min_running of {name!r} is {minimum}; allowed: 0 to {counts[name]}, the count of the group; "
                    f"write {{{name!r}: {counts[name]}}}"
                )
        return found

    def _minimum(self, group: GatedGroup) -> int:
        return self._min_running.get(group.name, group.count if group.node_type in _ALWAYS else 0)

    def _check_numbers(self) -> None:
        for name, minimum in self._min_running.items():
            if not _unknown(minimum) and minimum < 0:
                raise ValueError(
                    f"{self.node.path}: min_running of {name!r} is {minimum!r}; allowed: a whole number from 0; "
                    f"write min_running={{{name!r}: 1}}"
                )

    def _statements(self) -> list[iam.PolicyStatement]:
        stack, cluster = Stack.of(self), self._cluster
        cluster_id = Fn.select(1, Fn.split("/", cluster.cluster_arn))
        name = "*" if cluster.cluster_name is None else cluster.cluster_name
        return [
            iam.PolicyStatement(
                actions=[
                    "sagemaker:DescribeCluster",
                    "sagemaker:DescribeClusterEvent",
                    "sagemaker:ListClusterEvents",
                    "sagemaker:ListClusterNodes",
                ],
                resources=[cluster.cluster_arn],
            ),
            iam.PolicyStatement(
                actions=["logs:GetLogEvents"],
                resources=[
                    stack.format_arn(
                        service="logs",
                        resource="log-group",
                        resource_name=f"/aws/sagemaker/Clusters/{name}/{cluster_id}:log-stream:LifecycleConfig/*",
                        arn_format=ArnFormat.COLON_RESOURCE_NAME,
                    )
                ],
            ),
        ]


@jsii.implements(IStableAnyProducer)
class _Groups:
    def __init__(self, gate: ReadinessGate) -> None:
        self._gate = gate

    def produce(self) -> Any:
        return self._gate.render()


@jsii.implements(IAspect)
class _Check:
    """Reports findings as errors of the synthesis: an exception here would reach the user as a stack trace of jsii."""

    def __init__(self, gate: ReadinessGate) -> None:
        self._gate = gate

    def visit(self, node: IConstruct) -> None:
        if node is self._gate.resource:
            for finding in self._gate.findings():
                Annotations.of(self._gate).add_error(finding)


def _unknown(*numbers: Any) -> bool:
    return any(is_unknown(number) for number in numbers)
