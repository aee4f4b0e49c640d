"""The batch operations on nodes: add, delete, reboot, replace. What cannot be done to a node is answered beside what
can.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hyperpod_constructs.facts import clusters
from hyperpod_constructs.local.aws_service import AwsError
from hyperpod_constructs.local.hyperpod.fleet import Recovery
from hyperpod_constructs.local.hyperpod.machine import Machine, NewNodes
from hyperpod_constructs.local.hyperpod.provisioner import Provisioner
from hyperpod_constructs.local.hyperpod.rules import refusal
from hyperpod_constructs.local.hyperpod.state import Cluster, Node, instance_types

AUTOMATIC = "Automatic"
REPLACE: Recovery = "Action:Replace"


class NodeOperations:
    """The four batch operations, and automatic recovery, of which `tell` hears. A request that was sent twice with one ClientToken
    adds nodes once.
    """

    def __init__(self, machine: Machine, provisioner: Provisioner, tell: Callable[[Cluster, Node, Recovery], None]) -> None:
        self._tell = tell
        self._machine = machine
        self._nodes = provisioner
        self._tokens: dict[tuple[str, str], list[Node]] = {}

    def forget(self) -> None:
        """Forget the client tokens."""
        self._tokens.clear()

    def add(
        self,
        cluster: Cluster,
        request: Mapping[str, Any],
        find: Callable[[Mapping[str, int]], NewNodes],
        now: float,
    ) -> dict[str, Any]:
        """BatchAddClusterNodes; `find` finds placements for new nodes by group."""
        if not cluster.continuous:
            raise refusal("BatchAddClusterNodes is only supported for clusters using Continuous as the NodeProvisioningMode")
        total = sum(item["IncrementTargetCountBy"] for item in request["NodesToAdd"])
        if total > clusters.MOST_ADDED:
            raise refusal(f"NodesToAdd asks for {total} nodes; one request adds at most {clusters.MOST_ADDED}")
        key = (cluster.arn, request.get("ClientToken", ""))
        if not key[1] or key not in self._tokens:
            wanted: dict[str, int] = {}
            failed = []
            for item in request["NodesToAdd"]:
                code = _unfit(cluster, item)
                if code is None:
                    wanted[item["InstanceGroupName"]] = wanted.get(item["InstanceGroupName"], 0) + item["IncrementTargetCountBy"]
                else:
                    name, count = item["InstanceGroupName"], item["IncrementTargetCountBy"]
                    failed.append({"InstanceGroupName": name, "ErrorCode": code, "FailedCount": count})
            placements = find(wanted)
            for name, count in wanted.items():
                group = cluster.groups[name]
                group.spec = {**group.spec, "InstanceCount": group.target + count}
            added = self._machine.grow(cluster, placements, now)
            if key[1]:
                self._tokens[key] = added
        else:
            added, failed = self._tokens[key], []
        found = [{"NodeLogicalId": node.logical_id, "InstanceGroupName": node.group, "Status": node.status} for node in added]
        return {"Successful": found, "Failed": failed}

    def delete(self, cluster: Cluster, request: Mapping[str, Any], now: float) -> dict[str, Any]:
        """BatchDeleteClusterNodes: the targets of the groups shrink with them. Controllers stay."""
        if len(request.get("NodeIds", ())) + len(request.get("NodeLogicalIds", ())) > clusters.MOST_DELETED:
            raise refusal(f"one request deletes at most {clusters.MOST_DELETED} nodes")
        nodes, answer = self._choose(cluster, request, ("NodeIdNotFound", "InvalidNodeStatus"), "Code", spare_controllers=True)
        for node in nodes:
            group = cluster.groups[node.group]
            group.spec = {**group.spec, "InstanceCount": group.target - 1}
        self._nodes.remove(cluster, nodes, now)
        return answer

    def reboot(self, cluster: Cluster, request: Mapping[str, Any], now: float) -> dict[str, Any]:
        """BatchRebootClusterNodes. The node is Pending while it reboots; the documentation does not name its status."""
        nodes, answer = self._choose(cluster, request, ("InstanceIdNotFound", "InvalidInstanceStatus"), "ErrorCode")
        _check_patched(cluster, "BatchRebootClusterNodes")
        self._restart(cluster, nodes, now)
        return answer

    def replace(self, cluster: Cluster, request: Mapping[str, Any], now: float) -> dict[str, Any]:
        """BatchReplaceClusterNodes: other instances with the same logical ids. Controllers stay."""
        codes = ("InstanceIdNotFound", "InvalidInstanceStatus")
        nodes, answer = self._choose(cluster, request, codes, "ErrorCode", spare_controllers=True, failed_too=True)
        _check_patched(cluster, "BatchReplaceClusterNodes")
        self.renew(cluster, nodes, now)
        return answer

    def recover(self, cluster: Cluster, marks: Mapping[str, Recovery], now: float) -> None:
        """Automatic node recovery: replace or reboot the marked nodes of a cluster in service. Controllers stay."""
        if cluster.status != "InService" or cluster.settings.get("NodeRecovery", AUTOMATIC) != AUTOMATIC:
            return
        marked = [node for node in cluster.nodes() if node.instance_id in marks and node.status == "Running"]
        for node in marked:
            cluster.record(now, "Instance", f"Automatic node recovery: {marks[node.instance_id]}", level="Warn", node=node)
            self._tell(cluster, node, marks[node.instance_id])
        replaced = [node for node in marked if marks[node.instance_id] == REPLACE and node.node_type != "Controller"]
        restarted = [node for node in marked if marks[node.instance_id] != REPLACE]
        if replaced:
            self.renew(cluster, replaced, now)
        if restarted:
            self._restart(cluster, restarted, now)

    def _restart(self, cluster: Cluster, nodes: Sequence[Node], now: float) -> None:
        self._nodes.restart(cluster, nodes, "Pending", now, lambda second: None)

    def renew(self, cluster: Cluster, nodes: Sequence[Node], now: float) -> None:
        """Give the nodes other instances."""
        self._nodes.replace(
            cluster, nodes, now, lambda second: self._machine.settle(cluster, second) if cluster.continuous else None
        )

    def _choose(
        self,
        cluster: Cluster,
        request: Mapping[str, Any],
        codes: tuple[str, str],
        code_member: str,
        *,
        spare_controllers: bool = False,
        failed_too: bool = False,
    ) -> tuple[list[Node], dict[str, Any]]:
        if "NodeIds" not in request and "NodeLogicalIds" not in request:
            raise refusal("either NodeIds or NodeLogicalIds must be provided")
        if cluster.status not in ("InService", "Failed"):
            raise AwsError("ConflictException", f"cluster {cluster.name} is {cluster.status}; wait until it is InService")
        if "NodeLogicalIds" in request and not cluster.continuous:
            raise refusal("NodeLogicalIds is only supported for clusters using Continuous as the NodeProvisioningMode; use NodeIds")
        statuses = ("Running", "Failure") if failed_too or code_member == "Code" else ("Running",)
        chosen: list[Node] = []
        answer: dict[str, Any] = {}
        for member, suffix, key in (("NodeIds", "", "NodeId"), ("NodeLogicalIds", "NodeLogicalIds", "NodeLogicalId")):
            for name in request.get(member, ()):
                node = next((node for node in cluster.nodes() if name in (node.instance_id, node.logical_id)), None)
                why = _objection(node, name, codes, statuses, spare_controllers)
                if why is None and node is not None:
                    chosen.append(node)
                    answer.setdefault(f"Successful{suffix}", []).append(name)
                elif why is not None:
                    answer.setdefault(f"Failed{suffix}", []).append({key: name, code_member: why[0], "Message": why[1]})
        return list(dict.fromkeys(chosen)), answer


def _check_patched(cluster: Cluster, operation: str) -> None:
    if not cluster.patched:
        raise refusal(
            f"{operation} needs a cluster that was patched at least once: run UpdateClusterSoftware on cluster {cluster.name} first"
        )


def _objection(
    node: Node | None, name: str, codes: tuple[str, str], statuses: tuple[str, ...], spare_controllers: bool
) -> tuple[str, str] | None:
    if node is None:
        return codes[0], f"the cluster has no node {name}"
    if spare_controllers and node.node_type == "Controller":
        return codes[1], f"{name} is a Slurm controller node, which cannot be deleted or replaced"
    if node.status not in statuses and not node.waiting:
        return codes[1], f"{name} is {node.status}; it must be {' or '.join(statuses)}"
    return None


def _unfit(cluster: Cluster, item: Mapping[str, Any]) -> str | None:
    group = cluster.groups.get(item["InstanceGroupName"])
    if group is None:
        return "InstanceGroupNotFound"
    if group.status == "Deleting" or cluster.status != "InService":
        return "InvalidInstanceGroupStatus"
    if not set(item.get("InstanceTypes", ())) <= set(instance_types(group.spec)):
        return "IncompatibleInstanceTypes"
    return None
