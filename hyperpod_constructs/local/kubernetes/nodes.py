"""Fake nodes: for every instance of a HyperPod cluster a Node and its Lease, and pods that run as soon as they are placed.

No containers run. The control plane's own scheduler places pods; the double has none. A node's resources are all that its type
has: what the kubelet and the system keep is not taken off.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from hyperpod_constructs.facts import kubernetes_nodes as facts
from hyperpod_constructs.facts.instance_types import InstanceType, instance_type, is_instance_type
from hyperpod_constructs.local.kubernetes.control_plane import KubernetesApi, Object

PODS = "110"
LEASES, LEASE_SECONDS = "kube-node-lease", 40
_VERSIONS = {"kubeletVersion": "v1.33.0-fake", "kubeProxyVersion": "", "containerRuntimeVersion": "fake://0"}
_RECOVERY: Mapping[str, Literal["Action:Replace", "Action:Reboot"]] = {
    facts.PENDING_REPLACEMENT: "Action:Replace",
    facts.PENDING_REBOOT: "Action:Reboot",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class FakeInstance:
    """An instance of a HyperPod cluster.

    :param address: its address in the subnet.
    :param zone: the name of its zone; the region is its beginning.
    :param labels: those of its group.
    :param taints: those of its group.
    """

    instance_id: str
    instance_type: str
    cluster: str
    group: str
    address: str
    zone: str
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Mapping[str, str], ...] = ()

    @property
    def node(self) -> str:
        """The name of its node."""
        return facts.node_name(self.instance_id)


class FakeNodes:
    """The nodes of one control plane. `clock` gives seconds since the epoch.

    Nothing happens by itself: `beat` is to be called more often than leases end.
    """

    def __init__(self, api: KubernetesApi, clock: Callable[[], float] = time.time) -> None:
        self._api, self._clock = api, clock
        self._joined: dict[str, FakeInstance] = {}

    def join(self, instances: Iterable[FakeInstance]) -> None:
        """Register nodes that are up: schedulable, ready, with a lease."""
        for instance in instances:
            self._register(instance)
            self._joined[instance.node] = instance

    def beat(self) -> None:
        """Renew leases and states, register nodes that somebody has deleted, and let placed pods run."""
        known = {node["metadata"]["name"] for node in self._api.list("v1", "Node")}
        for name, instance in self._joined.items():
            if name in known:
                self._report(instance, ready=True)
            else:
                self._register(instance)
        for pod in self._api.list("v1", "Pod"):
            if pod.get("spec", {}).get("nodeName") in self._joined and pod.get("status", {}).get("phase", "Pending") == "Pending":
                self._run(pod)

    def reboot(self, instances: Iterable[FakeInstance]) -> None:
        """Take nodes down: not ready, and without a beat until they join again."""
        for instance in instances:
            self._joined.pop(instance.node, None)
            self._report(instance, ready=False)
            self._fail_pods(instance, "NodeShutdown")

    def leave(self, instances: Iterable[FakeInstance]) -> None:
        """End nodes. Their pods fail first: a Job would wait for a pod without a node for ever."""
        for instance in instances:
            self._joined.pop(instance.node, None)
            self._fail_pods(instance, "NodeLost")
            self._api.delete("coordination.k8s.io/v1", "Lease", instance.node, LEASES)
            self._api.delete("v1", "Node", instance.node)

    def marks(self) -> Mapping[str, Literal["Action:Replace", "Action:Reboot"]]:
        """What the labels of health ask for, by instance id."""
        labels = {node["metadata"]["name"]: node["metadata"].get("labels", {}) for node in self._api.list("v1", "Node")}
        wanted = {instance.instance_id: labels.get(name, {}).get(facts.HEALTH) for name, instance in self._joined.items()}
        return {instance_id: _RECOVERY[health] for instance_id, health in wanted.items() if health in _RECOVERY}

    def _register(self, instance: FakeInstance) -> None:
        metadata = {"name": instance.node, "labels": _labels(instance)}
        spec = {"providerID": f"aws:///{instance.zone}/sagemaker/cluster/{instance.cluster}-{instance.instance_id}"}
        taints = [dict(taint) for taint in instance.taints]
        self._api.apply({"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": {**spec, "taints": taints}})
        self._report(instance, ready=True)

    def _report(self, instance: FakeInstance, *, ready: bool) -> None:
        now = datetime.fromtimestamp(self._clock(), UTC)
        self._api.patch("v1", "Node", instance.node, {"status": _status(instance, ready, now)}, subresource="status")
        if ready:
            lease = {"holderIdentity": instance.node, "leaseDurationSeconds": LEASE_SECONDS}
            renewed = {**lease, "renewTime": now.strftime("%Y-%m-%dT%H:%M:%S.%fZ")}
            metadata = {"name": instance.node, "namespace": LEASES}
            self._api.apply({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": renewed})

    def _fail_pods(self, instance: FakeInstance, reason: str) -> None:
        for pod in self._api.list("v1", "Pod"):
            ended = pod.get("status", {}).get("phase") in ("Succeeded", "Failed")
            if pod.get("spec", {}).get("nodeName") == instance.node and not ended:
                status = {"phase": "Failed", "reason": reason, "message": f"node {instance.node} is gone"}
                self._set_pod(pod, status)

    def _run(self, pod: Object) -> None:
        now = _second(datetime.fromtimestamp(self._clock(), UTC))
        conditions = [
            {"type": kind, "status": "True", "lastTransitionTime": now}
            for kind in ("PodScheduled", "Initialized", "ContainersReady", "Ready")
        ]
        containers = [
            {
                "name": container["name"],
                "image": container.get("image", ""),
                "imageID": "",
                "ready": True,
                "restartCount": 0,
                "started": True,
                "state": {"running": {"startedAt": now}},
            }
            for container in pod["spec"].get("containers", ())
        ]
        self._set_pod(pod, {"phase": "Running", "startTime": now, "conditions": conditions, "containerStatuses": containers})

    def _set_pod(self, pod: Object, status: Mapping[str, Any]) -> None:
        metadata = pod["metadata"]
        self._api.patch("v1", "Pod", metadata["name"], {"status": status}, metadata["namespace"], "status")


def _labels(instance: FakeInstance) -> dict[str, str]:
    return {
        **instance.labels,
        **facts.COMPUTE_TYPE,
        facts.CLUSTER: instance.cluster,
        facts.GROUP: instance.group,
        facts.HEALTH: facts.SCHEDULABLE,
        "kubernetes.io/arch": facts.architecture(instance.instance_type),
        "kubernetes.io/hostname": instance.node,
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": instance.instance_type,
        "topology.kubernetes.io/region": instance.zone[:-1],
        "topology.kubernetes.io/zone": instance.zone,
    }


def _status(instance: FakeInstance, ready: bool, now: datetime) -> dict[str, Any]:
    name = instance.instance_type
    kind = instance_type(name) if is_instance_type(name) else InstanceType(name=name)
    has = {**facts.resources(kind), "pods": PODS}
    second = _second(now)
    conditions = [("Ready", ready), ("MemoryPressure", False), ("DiskPressure", False), ("PIDPressure", False)]
    return {
        "allocatable": has,
        "capacity": has,
        "addresses": [{"type": "InternalIP", "address": instance.address}, {"type": "Hostname", "address": instance.node}],
        "conditions": [
            {"type": kind, "status": str(state), "reason": "FakeNode", "message": "no kubelet runs", "lastHeartbeatTime": second}
            for kind, state in conditions
        ],
        "nodeInfo": {
            **_VERSIONS,
            "architecture": facts.architecture(name),
            "bootID": instance.instance_id,
            "kernelVersion": "fake",
            "machineID": instance.instance_id,
            "operatingSystem": "linux",
            "osImage": "no image: a fake node of the embedded AWS",
            "systemUUID": instance.instance_id,
        },
    }


def _second(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
