"""What HyperPod leaves in the user's account: network interfaces in the subnets, and log streams.

One interface stands for a node, whatever the number of its network cards, so that a large cluster starts in seconds;
the addresses of all cards are counted (see `addresses`). The cluster's log group stays after the cluster, as
on AWS.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

from botocore.exceptions import ClientError

from hyperpod_constructs.local.clients import Clients
from hyperpod_constructs.local.hyperpod.state import Cluster, Interface, Node


class World:
    """The side effects of a cluster's nodes, over boto3."""

    def __init__(self, clients: Clients) -> None:
        self._clients = clients

    def enter_network(self, cluster: Cluster, node: Node) -> None:
        """Give the node an interface in its subnet, unless it has one or the cluster has no VPC of the user."""
        if node.place is None or node.interface is not None:
            return
        answer = self._clients("ec2", cluster.caller).create_network_interface(
            SubnetId=node.place.subnet,
            Groups=list(node.place.security_groups),
            Description=f"[embedded AWS] SageMaker HyperPod {cluster.arn} {node.instance_id}",
        )["NetworkInterface"]
        node.interface = Interface(answer["NetworkInterfaceId"], answer["PrivateIpAddress"])

    def leave_network(self, cluster: Cluster, nodes: Iterable[Node]) -> None:
        """Delete the interfaces of the nodes; one that is gone already is fine."""
        for node in nodes:
            if node.interface is None:
                continue
            try:
                self._clients("ec2", cluster.caller).delete_network_interface(NetworkInterfaceId=node.interface.interface_id)
            except ClientError as error:
                if error.response["Error"]["Code"] != "InvalidNetworkInterfaceID.NotFound":
                    raise
            node.interface = None

    def log_script(self, cluster: Cluster, node: Node, lines: Sequence[str]) -> None:
        """Write the node's lifecycle log. Without scripts there is none."""
        if "LifeCycleConfig" in node.spec and lines:
            self._put(cluster, f"LifecycleConfig/{node.group}/{node.instance_id}", lines)

    def _put(self, cluster: Cluster, stream: str, lines: Sequence[str]) -> None:
        logs = self._clients("logs", cluster.caller)
        _create(logs.create_log_group, logGroupName=cluster.log_group)
        _create(logs.create_log_stream, logGroupName=cluster.log_group, logStreamName=stream)
        now = int(time.time() * 1000)
        events = [{"timestamp": now, "message": line} for line in lines]
        logs.put_log_events(logGroupName=cluster.log_group, logStreamName=stream, logEvents=events)


def _create(operation: Any, **parameters: str) -> None:
    try:
        operation(**parameters)
    except ClientError as error:
        if error.response["Error"]["Code"] != "ResourceAlreadyExistsException":
            raise
