"""The double of a Kubernetes control plane: objects a second over its API, and memory."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hyperpod_constructs.local.kubernetes.double import Double, start_double
from hyperpod_constructs.local.kubernetes.interface import KubernetesApi

VERSION = "1.34"
OBJECTS = 2000


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
