"""What HyperPod leaves in the user's account: network interfaces in the subnets, and log streams.

One interface stands for a node, whatever the number of its network cards, so that a large cluster starts in seconds;
the addresses of all cards are counted (see `addresses`). The cluster's log group stays after the cluster, as
on AWS.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from hyperpod_constructs.facts.log_groups import DEEP_HEALTH_CHECKS, LIFECYCLE
from hyperpod_constructs.local.clients import Clients, ignoring
from hyperpod_constructs.local.hyperpod.background import Task, Tasks
from hyperpod_constructs.local.hyperpod.checks import script_problem
from hyperpod_constructs.local.hyperpod.state import Cluster, Interface, Node, Outcome


class SideEffects:
    """The side effects of a cluster's nodes, over boto3. They are tasks: a node says by itself what became of it."""

    def __init__(self, clients: Clients, tasks: Tasks) -> None:
        self._clients = clients
        self._tasks = tasks

    def enter_network(self, cluster: Cluster, nodes: Sequence[Node], refused: dict[Node, str]) -> Task:
        """Give each node an interface in its subnet, unless it has one, has gone, or the cluster has no VPC of the user.

        `refused` takes the cause by node.
        """

        def enter() -> None:
            for node in nodes:
                if node.placement is not None and node.interface is None and node.status == "Pending":
                    try:
                        node.interface = self._new_interface(cluster, node)
                    except ClientError as error:
                        refused[node] = error.response["Error"]["Message"]
                    except BotoCoreError as error:
                        refused[node] = str(error)

        return self._tasks.begin(enter)

    def leave_network(self, cluster: Cluster, nodes: Sequence[Node]) -> Task:
        """Delete the interfaces of the nodes; one that is gone already is fine."""

        def leave() -> None:
            ec2 = self._clients("ec2", cluster.caller)
            for node in nodes:
                if node.interface is not None:
                    with ignoring("InvalidNetworkInterfaceID.NotFound"):
                        ec2.delete_network_interface(NetworkInterfaceId=node.interface.interface_id)
                    node.interface = None

        return self._tasks.begin(leave)

    def log_scripts(self, cluster: Cluster, logs: Mapping[Node, Sequence[str]]) -> Task:
        """Write the nodes' lifecycle logs; a node without scripts has no log."""

        def write() -> None:
            for node, lines in logs.items():
                if "LifeCycleConfig" in node.spec and lines and node.status != "ShuttingDown":
                    self._put(cluster, f"{LIFECYCLE}/{node.group}/{node.instance_id}", lines)

        return self._tasks.begin(write)

    def log_checks(self, cluster: Cluster, logs: Mapping[str, Sequence[str]]) -> Task:
        """Write what deep health checks say of instances, each in a stream of its own."""

        def write() -> None:
            for instance_id, lines in logs.items():
                self._put(cluster, f"{DEEP_HEALTH_CHECKS}/{instance_id}", lines)

        return self._tasks.begin(write)

    def fetch_scripts(self, cluster: Cluster, nodes: Sequence[Node]) -> Task:
        """Look whether the nodes can have their scripts; one that cannot gets the failure as its outcome."""

        def fetch() -> None:
            found: dict[str, str | None] = {}
            for node in nodes:
                if "LifeCycleConfig" not in node.spec:
                    continue
                key = repr((node.spec["LifeCycleConfig"], node.spec["ExecutionRole"]))
                if key not in found:
                    found[key] = script_problem(node.spec, self._clients, cluster.caller)
                if (problem := found[key]) is not None:
                    node.outcome = Outcome(problem, (problem,))

        return self._tasks.begin(fetch)

    def forget(self, nodes: Iterable[Node]) -> None:
        """Do no more for these nodes; returns when nothing is under way."""
        for node in nodes:
            node.status, node.interface = "ShuttingDown", None
        self._tasks.wait()

    def _new_interface(self, cluster: Cluster, node: Node) -> Interface:
        assert node.placement is not None
        answer = self._clients("ec2", cluster.caller).create_network_interface(
            SubnetId=node.placement.subnet,
            Groups=list(node.placement.security_groups),
            Description=f"[embedded AWS] SageMaker HyperPod {cluster.arn} {node.instance_id}",
        )["NetworkInterface"]
        return Interface(answer["NetworkInterfaceId"], answer["PrivateIpAddress"])

    def _put(self, cluster: Cluster, stream: str, lines: Sequence[str]) -> None:
        logs = self._clients("logs", cluster.caller)
        place = {"logGroupName": cluster.log_group, "logStreamName": stream}
        if not _create(logs.create_log_stream, **place):
            _create(logs.create_log_group, logGroupName=cluster.log_group)
            _create(logs.create_log_stream, **place)
        now = int(time.time() * 1000)
        logs.put_log_events(**place, logEvents=[{"timestamp": now, "message": line} for line in lines])


def _create(operation: Any, **parameters: str) -> bool:
    """Create a resource that may exist already; False if its parent is missing."""
    try:
        operation(**parameters)
    except ClientError as error:
        if error.response["Error"]["Code"] not in ("ResourceAlreadyExistsException", "ResourceNotFoundException"):
            raise
        return error.response["Error"]["Code"] == "ResourceAlreadyExistsException"
    return True
