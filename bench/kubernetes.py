"""The double of a Kubernetes control plane: objects a second over its API, and memory; and fake nodes on it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hyperpod_constructs.local.kubernetes.double import Double, start_double
from hyperpod_constructs.local.kubernetes.interface import KubernetesApi
from hyperpod_constructs.local.kubernetes.nodes import BATCH, RENEWAL_SECONDS, FakeInstance, FakeNodes

VERSION = "1.34"
OBJECTS = 2000
NODES = 1000


@dataclass(frozen=True, kw_only=True, slots=True)
class Work:
    """One kind of work over HTTPS by one client: how many objects, and the seconds on the clock."""

    name: str
    objects: int
    seconds: float

    @property
    def rate(self) -> float:
        """Objects a second."""
        return self.objects / self.seconds


@dataclass(frozen=True, kw_only=True, slots=True)
class Load:
    """A double at work: seconds until it answers, its work, and its memory in MiB before and after (0 where it cannot be read)."""

    ready: float
    works: tuple[Work, ...]
    memory: tuple[float, float]


def measure(directory: Path, objects: int = OBJECTS) -> Load:
    """Start a double, and create, apply, read, list and delete objects."""
    began = time.monotonic()
    double = start_double(name="bench", version=VERSION, token_webhook="", directory=directory)
    ready = time.monotonic() - began
    try:
        before = _memory(double)
        works = _work(double.api, objects)
        return Load(ready=ready, works=works, memory=(before, _memory(double)))
    finally:
        double.stop()


def _work(api: KubernetesApi, objects: int) -> tuple[Work, ...]:
    names = [f"object-{number}" for number in range(objects)]

    def each(action: Callable[[str], Any]) -> Callable[[], None]:
        def step() -> None:
            for name in names:
                action(name)

        return step

    steps: Sequence[tuple[str, Callable[[], Any]]] = (
        ("create ConfigMaps", each(lambda name: api.create(_config_map(name)))),
        ("apply Deployments", each(lambda name: api.apply(_deployment(name)))),
        ("apply them again", each(lambda name: api.apply(_deployment(name)))),
        ("get", each(lambda name: api.get("apps/v1", "Deployment", name, "default"))),
        ("list", lambda: api.list("apps/v1", "Deployment", "default")),
        ("delete", each(lambda name: api.delete("apps/v1", "Deployment", name, "default"))),
    )
    return tuple(_timed(name, step, objects) for name, step in steps)


def _timed(name: str, step: Callable[[], Any], objects: int) -> Work:
    began = time.monotonic()
    step()
    return Work(name=name, objects=objects, seconds=time.monotonic() - began)


def _config_map(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "default"}, "data": {"key": "value"}}


def _deployment(name: str) -> dict[str, Any]:
    labels = {"app": name}
    pod = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "main", "image": "image:1"}]}}
    metadata = {"name": name, "namespace": "default"}
    spec = {"replicas": 2, "selector": {"matchLabels": labels}, "template": pod}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}


def _memory(double: Double) -> float:
    """The resident memory of the double."""
    try:
        status = Path(f"/proc/{double.pid}/status").read_text()
    except OSError:
        return 0.0
    return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmRSS:"))


def table(load: Load) -> list[str]:
    """The lines to print."""
    works = [f"{work.name:<18}{work.rate:,.0f} objects a second" for work in load.works]
    before, after = load.memory
    return [f"{'ready':<18}{load.ready:.2f} s", *works, f"{'memory':<18}{before:.0f} MiB empty, {after:.0f} MiB after all"]


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeLoad:
    """Fake nodes on a double, with times of both processes together.

    :param seconds: on the clock, until the API lists all as Ready.
    :param processor: processor time until then.
    :param objects: what was written for that: nodes, their states and leases.
    :param renewal: processor time in which every lease is renewed once.
    :param marks: processor time of a look for marked nodes.
    :param memory: of the double, in MiB before and after (0 where it cannot be read).
    """

    nodes: int
    seconds: float
    processor: float
    objects: int
    renewal: float
    marks: float
    memory: tuple[float, float]


def measure_nodes(directory: Path, count: int = NODES) -> NodeLoad:
    """Start a double, let the nodes of one cluster join, renew their leases and look for marks."""
    double = start_double(name="bench", version=VERSION, token_webhook="", directory=directory)
    ahead = 0.0
    nodes = FakeNodes(double.api, lambda: time.time() + ahead)
    wanted = [_instance(number) for number in range(count)]
    try:
        memory, began, spent = _memory(double), time.monotonic(), _processor(double)
        while nodes.hold(wanted):
            pass
        while sum(map(_is_ready, double.api.list("v1", "Node"))) < count:
            pass
        seconds, joined = time.monotonic() - began, _processor(double)
        ahead = RENEWAL_SECONDS
        for _ in range(0, count, BATCH):
            nodes.beat()
        renewed = _processor(double)
        nodes.marks()
        return NodeLoad(
            nodes=count,
            seconds=seconds,
            processor=joined - spent,
            objects=3 * count,
            renewal=renewed - joined,
            marks=_processor(double) - renewed,
            memory=(memory, _memory(double)),
        )
    finally:
        double.stop()


def node_table(load: NodeLoad) -> list[str]:
    """The lines to print."""
    before, after = load.memory
    return [
        f"{'joined':<18}{load.seconds:.1f} s until all are listed as Ready, {load.processor:.1f} s of processor time",
        f"{'written':<18}{load.objects / load.processor:,.0f} objects a second of processor time",
        f"{'leases':<18}{load.renewal:.2f} s of processor time for all, {load.renewal / RENEWAL_SECONDS:.1%} of a core",
        f"{'marks':<18}{load.marks * 1000:.0f} ms of processor time for a look, once a second",
        f"{'memory':<18}{before:.0f} MiB empty, {after:.0f} MiB with the nodes",
    ]


def _instance(number: int) -> FakeInstance:
    return FakeInstance(
        node=f"hyperpod-i-{number:017x}",
        instance_id=f"i-{number:017x}",
        instance_type="ml.p5.48xlarge",
        address=f"10.{number // 65536}.{number // 256 % 256}.{number % 256}",
        zone="us-west-2b",
        region="us-west-2",
        provider_id=f"aws:///us-west-2b/sagemaker/cluster/bench-i-{number:017x}",
        labels={"sagemaker.amazonaws.com/node-health-status": "Schedulable", "team": "a"},
    )


def _is_ready(node: dict[str, Any]) -> bool:
    conditions = node.get("status", {}).get("conditions", ())
    return any(condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions)


def _processor(double: Double) -> float:
    """Processor time of this process and of the double; of this one alone where the other's cannot be read."""
    try:
        fields = Path(f"/proc/{double.pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return time.process_time()
    return time.process_time() + (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
