"""The instances of HyperPod's clusters that are nodes of EKS clusters.

Decided here: a node joins when its instance is Running; it is not ready while its instance reboots; it ends with its instance, and
when its software is updated, which gives it a new root volume. The labels and taints are those that its group has now.
AWS does not say what becomes of an instance whose role has an access entry of another type than HyperPod's: here it runs, it never
joins, and its message tells why.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from hyperpod_constructs.facts import kubernetes_nodes as facts
from hyperpod_constructs.facts.health_checks import IN_PROGRESS
from hyperpod_constructs.facts.kubernetes import NODE_ENTRY
from hyperpod_constructs.local.hyperpod.state import Cluster, Node
from hyperpod_constructs.local.kubernetes.nodes import FakeInstance
from hyperpod_constructs.local.kubernetes_nodes import Home, Homes

_STATES: Mapping[str, bool] = {"Running": True, "Pending": False, IN_PROGRESS: True}


def nodes_of(clusters: Iterable[Cluster]) -> Homes:
    """The nodes by EKS cluster."""
    found: dict[Home, list[FakeInstance]] = {}
    for cluster in clusters:
        arn = cluster.settings.get("Orchestrator", {}).get("Eks", {}).get("ClusterArn")
        if arn is not None:
            here = found.setdefault(Home(str(arn), cluster.caller), [])
            here += [_instance(cluster, node) for node in cluster.nodes() if _joins(cluster, node)]
    return found


def why_outside(cluster: Cluster, node: Node) -> str:
    """What keeps an instance that runs from becoming a node; empty if nothing does."""
    role = str(node.spec["ExecutionRole"])
    kind = cluster.outsiders.get(role)
    if kind is None or node.status != "Running":
        return ""
    return (
        f"The instance does not join the EKS cluster: the role {role} has an access entry of the type {kind}, and nodes join by"
        f" {NODE_ENTRY}. Delete the entry and update the cluster, which makes its own; or give the instance group a role of its own"
    )


def _joins(cluster: Cluster, node: Node) -> bool:
    return bool(node.instance_id) and node.status in _STATES and node.spec["ExecutionRole"] not in cluster.outsiders


def _instance(cluster: Cluster, node: Node) -> FakeInstance:
    spec = cluster.groups[node.group].spec
    wanted: Mapping[str, Any] = spec.get("KubernetesConfig", {})
    checking = node.status == IN_PROGRESS
    passed = {facts.DEEP_HEALTH: facts.PASSED} if node.checked else {}
    checked = {facts.DEEP_HEALTH: facts.CHECKING} if checking else passed
    zone = "" if node.placement is None else node.placement.zone
    return FakeInstance(
        node=facts.node_name(node.instance_id),
        instance_id=node.instance_id,
        instance_type=node.instance_type,
        address="" if node.interface is None else node.interface.address,
        zone=zone,
        region=cluster.caller.region,
        provider_id=f"aws:///{zone}/sagemaker/cluster/{cluster.cluster_id}-{node.instance_id}",
        labels={
            **wanted.get("Labels", {}),
            **facts.COMPUTE_TYPE,
            facts.CLUSTER: cluster.name,
            facts.GROUP: node.group,
            facts.HEALTH: facts.UNSCHEDULABLE if checking else facts.SCHEDULABLE,
            **checked,
        },
        taints=(*(_taint(taint) for taint in wanted.get("Taints", ())), *((facts.UNHEALTHY_TAINT,) if checking else ())),
        boots=node.boots,
        up=_STATES[node.status],
    )


def _taint(given: Mapping[str, str]) -> Mapping[str, str]:
    """A taint as Kubernetes writes it."""
    return {name.lower(): value for name, value in given.items()}
