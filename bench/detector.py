"""The cost of one poll of the hang detector on the shared file system, on simulated nodes of one job."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lifecycle"))

from node_health.watch import Watch

from tests.node_health.doubles import SETTINGS, Cluster

NODES = (10, 100, 1_000, 10_000)
STEP = "7.0"
_SETTLED, _POLLS = 2, 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Load:
    """File operations of one poll: on the leading node, on the busiest other node, and on all together."""

    nodes: int
    leader: float
    other: float
    total: float


def measure(nodes: int) -> Load:
    """The load of a job with one rank per node."""
    cluster = Cluster([f"w{number}" for number in range(nodes)])
    watches = [Watch(machine, SETTINGS, name) for name, machine in cluster.machines.items()]
    for rank, machine in enumerate(cluster.machines.values()):
        machine.live(STEP, rank)
        machine.beat(STEP, rank, 10, world=nodes)
    _poll(cluster, watches, _SETTLED)
    before = dict(cluster.operations)
    _poll(cluster, watches, _POLLS)
    leader, *others = [(count - before[name]) / _POLLS for name, count in cluster.operations.items()]
    return Load(nodes=nodes, leader=leader, other=max(others), total=leader + sum(others))


def _poll(cluster: Cluster, watches: list[Watch], times: int) -> None:
    for _ in range(times):
        for watch in watches:
            watch.poll()
        cluster.time += watches[0].poll_seconds
