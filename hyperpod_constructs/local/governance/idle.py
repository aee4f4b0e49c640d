"""The queue that lends what no quota holds: the capacity of nodes that are ready and take pods, less the quotas of all teams.

The service follows its nodes at all times, and makes several queues where there are many types. Here one queue is calculated anew
with every change of a policy or a quota.

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-operate-console-ui-governance-policies.html
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from hyperpod_constructs.facts import governance as facts
from hyperpod_constructs.facts import kubernetes_nodes
from hyperpod_constructs.facts.instance_types import is_instance_type
from hyperpod_constructs.local.governance.amounts import Resources, read, total
from hyperpod_constructs.local.governance.manifests import CLUSTER_QUEUE, Object, flavor, groups, pool

NAME = facts.IDLE_QUEUE.format(number=1)

_OFFERED = {
    **{resource: facts.QUOTA_ACCELERATORS[kind] for kind, resource in kubernetes_nodes.ACCELERATORS.items()},
    **{name: name for name in facts.COVERED},
}
"""The resource that a queue counts, by the resource that a node offers."""


def objects(
    policy_id: str, nodes: Iterable[Mapping[str, Any]], queues: Iterable[Mapping[str, Any]], version: str
) -> Iterator[Object]:
    """The queue, with its flavors.

    :param nodes: all nodes.
    :param queues: all cluster queues.
    """
    free = _free(nodes, queues)
    for name in free:
        yield flavor(name, version)
    spec = {**pool(version), "resourceGroups": groups(free, {}, lends=True)}
    labels = {facts.MANAGED: "true", facts.ALLOCATION: policy_id}
    yield {"apiVersion": version, "kind": CLUSTER_QUEUE, "metadata": {"name": NAME, "labels": labels}, "spec": spec}


def _free(nodes: Iterable[Mapping[str, Any]], queues: Iterable[Mapping[str, Any]]) -> dict[str, Resources]:
    capacity: dict[str, Resources] = {}
    for node in nodes:
        name = node["metadata"].get("labels", {}).get(kubernetes_nodes.INSTANCE_TYPE, "")
        if is_instance_type(name) and _takes_pods(node):
            capacity[name] = total((capacity.get(name, {}), _offered(node.get("status", {}).get("allocatable", {}))))
    held = _held(queues)
    return {
        name: {resource: max(0, amount - held.get((name, resource), 0)) for resource, amount in there.items()}
        for name, there in sorted(capacity.items())
    }


def _takes_pods(node: Mapping[str, Any]) -> bool:
    conditions = {one.get("type"): one.get("status") for one in node.get("status", {}).get("conditions", ())}
    return conditions.get("Ready") == "True" and not node.get("spec", {}).get("unschedulable")


def _offered(allocatable: Mapping[str, Any]) -> Resources:
    return {_OFFERED[name]: read(name, quantity) for name, quantity in allocatable.items() if name in _OFFERED}


def _held(queues: Iterable[Mapping[str, Any]]) -> Mapping[tuple[str, str], int]:
    """What teams hold, by type and resource; parts of GPUs count as none."""
    found: dict[tuple[str, str], int] = {}
    for queue in queues:
        if queue["metadata"]["name"] == NAME or queue["metadata"].get("labels", {}).get(facts.MANAGED) != "true":
            continue
        for group in queue.get("spec", {}).get("resourceGroups", ()):
            for each in group["flavors"]:
                for resource in each["resources"]:
                    key = (each["name"], resource["name"])
                    found[key] = found.get(key, 0) + read(resource["name"], resource["nominalQuota"])
    return found
