"""Boot of virtual nodes until Slurm calls them idle, beside a boot of the same nodes with an empty script."""

from __future__ import annotations

import re
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.figures import Cost, Pairs, interleave
from hyperpod_constructs.local.nodes import Image, NodeSpec, Rig, VirtualNode
from tests.nodes.configuration import LIFECYCLE, configuration

SIZES = (4, 16)
LOG = "/var/log/provision/provisioning.log"
_IDLE_SECONDS = 300.0
_EMPTY = "#!/bin/sh\n"
_CONFIG = configuration(
    ("controller", "workers"),
    homes="/fsx/home",
    users=[{"name": "alice", "uid": 10001, "gid": 10001}],
    accounting={"type": "local"},
    health={},
    log_rotation=True,
    motd=True,
)
# No agent mounts the file system of these nodes, so the scripts need not give it time.
_NO_GRACE = {"NODE_SETUP_GRACE_SECONDS": "0"}


class BootError(RuntimeError):
    """A node did not come up."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Boots:
    """Boots of one size in turns, with median seconds by phase or step, of the controller and of the slowest worker."""

    pairs: Pairs
    controller: Mapping[str, float]
    worker: Mapping[str, float]


def compare(directory: Path, size: int, pairs: int) -> Boots:
    """Boots of a controller and workers in the mode OnCreate, in which the scripts do everything.

    :raises BootError: for a node that does not boot.
    :raises NodesError: for a machine that cannot run virtual nodes.
    """
    image = Image.build()
    empty = directory / "empty"
    empty.mkdir(parents=True, exist_ok=True)
    (empty / "on_create.sh").write_text(_EMPTY)
    (empty / "on_create.sh").chmod(0o755)
    splits: list[tuple[dict[str, float], dict[str, float]]] = []

    def boot(scripts: Path, idle: bool) -> Cost:
        with Rig.create(directory / "rig", image=image) as rig:
            began, processor = time.monotonic(), time.process_time()
            specs = [NodeSpec("controller", "Controller", 1), NodeSpec("workers", "Compute", size - 1)]
            nodes = rig.boot(specs, scripts=scripts, config=_CONFIG, mode="on_create", environment=_NO_GRACE)
            _check(nodes)
            scripted = time.monotonic()
            if idle:
                rig.await_idle(seconds=_IDLE_SECONDS)
            cost = Cost(time.monotonic() - began, time.process_time() - processor)
            if idle:
                splits.append(_split(nodes, began + cost.wall - scripted))
            return cost

    measured = interleave(lambda: boot(LIFECYCLE, True), lambda: boot(empty, False), pairs)
    return Boots(pairs=measured, controller=_medians([first for first, _ in splits]), worker=_medians([last for _, last in splits]))


def _check(nodes: Sequence[VirtualNode]) -> None:
    failures = [f"{node.name}: {node.failure}" for node in nodes if node.failure is not None]
    if failures:
        raise BootError("; ".join(failures))


def _split(nodes: Sequence[VirtualNode], waited: float) -> tuple[dict[str, float], dict[str, float]]:
    slowest = max(nodes[1:], key=lambda node: sum(node.seconds.values()))
    controller, worker = ({**_phases(node), **_steps(node)} for node in (nodes[0], slowest))
    return controller, {**worker, "then idle": waited}


def _phases(node: VirtualNode) -> dict[str, float]:
    return {f"{name} (all of it)" if name == "scripts" else name: seconds for name, seconds in node.seconds.items()}


def _steps(node: VirtualNode) -> dict[str, float]:
    found = re.findall(r"end: (\w+): ok.* after ([0-9.]+) s$", node.read(LOG), re.MULTILINE)
    return {f"  {step}": float(seconds) for step, seconds in found if step != "on_create"}


def _medians(splits: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return {name: statistics.median(split.get(name, 0.0) for split in splits) for name in splits[0]}
