"""Fake nodes: for every instance a Node and its Lease, and pods that run as soon as they are placed.

No containers run. The control plane's own scheduler places pods; the double has none. A node's resources are all that its type
has: what the kubelet and the system keep is not taken off. What becomes of pods is told by `fake_pods`.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any, Literal

from hyperpod_constructs.facts import kubernetes_nodes as facts
from hyperpod_constructs.facts.instance_types import InstanceType, instance_type, is_instance_type
from hyperpod_constructs.local.kubernetes.client import KubernetesError
from hyperpod_constructs.local.kubernetes.fake_pods import FakePods
from hyperpod_constructs.local.kubernetes.interface import ObjectsApi

log = logging.getLogger(__name__)

PODS = "110"
LEASES, LEASE_SECONDS = "kube-node-lease", 40
RENEWAL_SECONDS = 20.0
"""The age at which a lease is renewed: a control plane takes a node for lost after 40 seconds without, 50 since 1.32."""
RETRY_SECONDS = 30.0
"""How long a node rests that the API has refused."""
BATCH = 200
"""The most nodes that one call registers or ends, so that leases are renewed in between."""

Recovery = Literal["Action:Replace", "Action:Reboot"]
_RECOVERY: Mapping[str, Recovery] = {
    facts.PENDING_REPLACEMENT: "Action:Replace",
    facts.PENDING_REBOOT: "Action:Reboot",
}
_MARKED = f"{facts.HEALTH} in ({','.join(_RECOVERY)})"
_LEASE = "coordination.k8s.io/v1"
_NUMBERS = re.compile(r"v\d+\.\d+\.\d+")


@dataclass(frozen=True, kw_only=True, slots=True)
class FakeInstance:
    """An instance that is a node.

    :param node: the name of its node.
    :param instance_type: with the prefix `ml.`, or one of EC2.
    :param address: its address in the subnet; empty if it has none.
    :param zone: the name of its zone; empty if it is unknown.
    :param provider_id: what the node says of where it runs.
    :param labels: those of the service and of its group. Those that every node has win over them.
    :param taints: those of its group.
    :param boots: how often it has booted: after another boot it is registered anew.
    :param up: whether it runs; False while it reboots.
    """

    node: str
    instance_id: str
    instance_type: str
    address: str
    zone: str
    region: str
    provider_id: str
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Mapping[str, str], ...] = ()
    boots: int = 0
    up: bool = True


class FakeNodes:
    """The nodes of one control plane. `clock` gives seconds since the epoch.

    Nothing happens by itself: `hold` and `beat` are to be called more often than leases end. What the API refuses of one node
    is logged, and tried again later; the others go on. An API that does not answer is an exception.
    """

    def __init__(self, api: ObjectsApi, clock: Callable[[], float] = time.time) -> None:
        self._api, self._clock = api, clock
        self._pods = FakePods(api, clock)
        self._nodes: dict[str, FakeInstance] = {}
        self._renewed: dict[str, float] = {}
        self._resting: dict[str, float] = {}
        self._kubelet = ""

    @property
    def empty(self) -> bool:
        """Whether there are no nodes."""
        return not self._nodes

    def hold(self, instances: Iterable[FakeInstance]) -> bool:
        """Bring the nodes into the state of these instances; whether more is left than one call does.

        Nodes of other instances end. An instance that does not run and was no node before becomes none.
        """
        wanted = {instance.node: instance for instance in instances}
        now = self._clock()
        self._resting = {name: until for name, until in self._resting.items() if until > now}
        gone = [instance for name, instance in self._nodes.items() if name not in wanted and name not in self._resting]
        changed = [
            instance
            for name, instance in wanted.items()
            if self._nodes.get(name) != instance and (instance.up or name in self._nodes) and name not in self._resting
        ]
        self._leave(gone[:BATCH])
        for instance in changed[:BATCH]:
            with self._alone(instance.node):
                self._enter(instance)
        return len(gone) > BATCH or len(changed) > BATCH

    def beat(self) -> None:
        """Renew the leases that are due, the oldest first."""
        due = self._clock() - RENEWAL_SECONDS
        old = sorted((at, name) for name, at in self._renewed.items() if at <= due and name not in self._resting)
        for _, name in old[:BATCH]:
            with self._alone(name):
                self._renew(name)

    def find_lost(self) -> None:
        """Register nodes that somebody has deleted, as a kubelet does."""
        known = {node["metadata"]["name"] for node in self._api.list("v1", "Node")}
        for name, instance in list(self._nodes.items()):
            if name not in known and instance.up and name not in self._resting:
                with self._alone(name):
                    self._register(instance)

    def run_pods(self) -> None:
        """Let placed pods run, and end those that are to end."""
        self._pods.run({name for name, instance in self._nodes.items() if instance.up})

    def marks(self) -> dict[str, Recovery]:
        """What the labels of health ask for, by instance id."""
        found: dict[str, Recovery] = {}
        for node in self._api.list("v1", "Node", label_selector=_MARKED) if self._nodes else ():
            instance = self._nodes.get(node["metadata"]["name"])
            if instance is not None and instance.up:
                found[instance.instance_id] = _RECOVERY[node["metadata"]["labels"][facts.HEALTH]]
        return found

    def _enter(self, instance: FakeInstance) -> None:
        old = self._nodes.get(instance.node)
        if old is not None and old.up and (not instance.up or instance.boots != old.boots):
            self._go_down(old)
        if instance.up and (old is None or not old.up or instance.boots != old.boots):
            self._register(instance)
        if old is not None and (old.labels, old.taints) != (instance.labels, instance.taints):
            with _ignoring(HTTPStatus.NOT_FOUND):
                self._change(old, instance)
        self._nodes[instance.node] = instance

    def _go_down(self, instance: FakeInstance) -> None:
        self._renewed.pop(instance.node, None)
        with _ignoring(HTTPStatus.NOT_FOUND):
            self._report(instance, ready=False)
        self._pods.fail({instance.node}, "NodeShutdown")

    def _leave(self, instances: Collection[FakeInstance]) -> None:
        """End nodes. Their pods fail first: a Job would wait for a pod without a node for ever."""
        if not instances:
            return
        for instance in instances:
            self._renewed.pop(instance.node, None)
            with self._alone(instance.node), _ignoring(HTTPStatus.NOT_FOUND):
                self._api.patch("v1", "Node", instance.node, {"spec": {"unschedulable": True}})
        self._pods.fail({instance.node for instance in instances}, "NodeLost")
        for instance in instances:
            with self._alone(instance.node):
                self._api.delete(_LEASE, "Lease", instance.node, LEASES)
                self._api.delete("v1", "Node", instance.node)
                del self._nodes[instance.node]

    def _register(self, instance: FakeInstance) -> None:
        metadata = {"name": instance.node, "labels": _labels(instance)}
        spec = {"providerID": instance.provider_id, "taints": [dict(taint) for taint in instance.taints]}
        self._api.apply({"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": spec})
        self._report(instance, ready=True)
        self._renew(instance.node)

    def _change(self, old: FakeInstance, new: FakeInstance) -> None:
        """Bring labels and taints of the group to a node that goes on. What others have set stays."""
        before, after = _labels(old), _labels(new)
        changed: dict[str, str | None] = {key: value for key, value in after.items() if before.get(key) != value}
        changed |= dict.fromkeys(before.keys() - after.keys())
        patch: dict[str, Any] = {"metadata": {"labels": changed}}
        if old.taints != new.taints:
            found = self._api.get("v1", "Node", new.node).get("spec", {}).get("taints", ())
            ours = {_of(taint) for taint in (*old.taints, *new.taints)}
            patch["spec"] = {"taints": [*(taint for taint in found if _of(taint) not in ours), *map(dict, new.taints)]}
        self._api.patch("v1", "Node", new.node, patch)

    def _report(self, instance: FakeInstance, *, ready: bool) -> None:
        self._kubelet = self._kubelet or _kubelet(self._api.version())
        status = _status(instance, ready, datetime.fromtimestamp(self._clock(), UTC), self._kubelet)
        self._api.patch("v1", "Node", instance.node, {"status": status}, subresource="status")

    def _renew(self, name: str) -> None:
        now = self._clock()
        renewed = datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        spec = {"holderIdentity": name, "leaseDurationSeconds": LEASE_SECONDS, "renewTime": renewed}
        try:
            if name not in self._renewed:
                raise KubernetesError(HTTPStatus.NOT_FOUND, {})
            self._api.patch(_LEASE, "Lease", name, {"spec": spec}, LEASES)
        except KubernetesError as error:
            if error.code != HTTPStatus.NOT_FOUND:
                raise
            metadata = {"name": name, "namespace": LEASES}
            self._api.apply({"apiVersion": _LEASE, "kind": "Lease", "metadata": metadata, "spec": spec})
        self._renewed[name] = now

    @contextmanager
    def _alone(self, name: str) -> Iterator[None]:
        """Let a refusal concern this node alone. One that says that the server cannot answer now is passed on."""
        try:
            yield
        except KubernetesError as error:
            if error.code >= HTTPStatus.INTERNAL_SERVER_ERROR or error.code == HTTPStatus.TOO_MANY_REQUESTS:
                raise
            log.warning("the node %s is refused, and tried again in %d seconds: %s", name, RETRY_SECONDS, error)
            self._resting[name] = self._clock() + RETRY_SECONDS


@contextmanager
def _ignoring(code: int) -> Iterator[None]:
    try:
        yield
    except KubernetesError as error:
        if error.code != code:
            raise


def _of(taint: Mapping[str, str]) -> tuple[str | None, str | None]:
    """What taints of a node differ by."""
    return taint.get("key"), taint.get("effect")


def _in_hyperpod(instance_type: str) -> str:
    """The name of a type in HyperPod."""
    return instance_type if instance_type.startswith("ml.") else f"ml.{instance_type}"


def _labels(instance: FakeInstance) -> dict[str, str]:
    place = {facts.ZONE: instance.zone} if instance.zone else {}
    return {
        **instance.labels,
        facts.ARCHITECTURE: facts.architecture(_in_hyperpod(instance.instance_type)),
        "kubernetes.io/hostname": instance.node,
        facts.SYSTEM: "linux",
        facts.INSTANCE_TYPE: instance.instance_type,
        facts.REGION: instance.region,
        **place,
    }


def _kubelet(server: str) -> str:
    """The version of a node: its server's, with a word behind the plus sign, which does not count in comparisons."""
    found = _NUMBERS.match(server)
    return f"{found[0] if found else 'v0.0.0'}+fake-node"


def _status(instance: FakeInstance, ready: bool, now: datetime, kubelet: str) -> dict[str, Any]:
    name = _in_hyperpod(instance.instance_type)
    kind = instance_type(name) if is_instance_type(name) else InstanceType(name=name)
    has = {**facts.resources(kind), "pods": PODS}
    second = now.strftime("%Y-%m-%dT%H:%M:%SZ")
    times = {"lastHeartbeatTime": second, "lastTransitionTime": second}
    conditions = [("Ready", ready), ("MemoryPressure", False), ("DiskPressure", False), ("PIDPressure", False)]
    address = [{"type": "InternalIP", "address": instance.address}] if instance.address else []
    return {
        "allocatable": has,
        "capacity": has,
        "addresses": [*address, {"type": "Hostname", "address": instance.node}],
        "conditions": [
            {"type": condition, "status": str(state), "reason": "FakeNode", "message": "no kubelet runs", **times}
            for condition, state in conditions
        ],
        "nodeInfo": {
            "kubeletVersion": kubelet,
            "kubeProxyVersion": "",
            "containerRuntimeVersion": "fake://0",
            "architecture": facts.architecture(name),
            "bootID": f"{instance.instance_id}-{instance.boots}",
            "kernelVersion": "fake",
            "machineID": instance.instance_id,
            "operatingSystem": "linux",
            "osImage": "no image: a fake node of the embedded AWS",
            "systemUUID": instance.instance_id,
        },
    }
