"""Creation of large clusters in this process: whether it is linear, and how long an answer takes meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from hyperpod_constructs.local.hyperpod.background import InThread
from hyperpod_constructs.local.hyperpod.service import HyperPod
from tests.local.hyperpod_requests import cluster
from tests.local.moto_cloud import CALLER, Cloud, moto_cloud

SIZES = (100, 1000, 6000)
_PAUSE_SECONDS = 0.05
_SECONDS = 1800.0


class FleetError(RuntimeError):
    """The nodes did not come to run."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Creation:
    """The cost of so many nodes: seconds on the clock and of processors, and the longest answer of `DescribeCluster`."""

    nodes: int
    wall: float
    processor: float
    longest_answer: float

    @property
    def per_node(self) -> float:
        """Processor seconds of one node."""
        return self.processor / self.nodes


def grow(sizes: Sequence[int] = SIZES) -> list[Creation]:
    """A cluster of each size, in an account of its own.

    :raises FleetError: for a cluster that cannot be made.
    """
    found = []
    for size in sizes:
        with moto_cloud("10.1.0.0/16") as cloud:
            found.append(_create(cloud, size))
    return found


def _create(cloud: Cloud, size: int) -> Creation:
    cloud.faults.slow_creation = 0.0
    service = HyperPod(cloud.faults, cloud.client, tasks=InThread())

    def call(operation: str, **parameters: Any) -> dict[str, Any]:
        return service.call(operation, parameters, CALLER)

    began, processor = time.monotonic(), time.process_time()
    call("CreateCluster", **cluster(cloud, workers=size))
    longest = 0.0
    while True:
        asked = time.monotonic()
        groups = call("DescribeCluster", ClusterName="demo")["InstanceGroups"]
        longest = max(longest, time.monotonic() - asked)
        if sum(group["CurrentCount"] for group in groups) == size + 1:
            break
        if time.monotonic() - began > _SECONDS:
            raise FleetError(f"{size} nodes do not all run after {_SECONDS:.0f} s: {groups}")
        time.sleep(_PAUSE_SECONDS)
    wall = time.monotonic() - began
    return Creation(nodes=size, wall=wall, processor=time.process_time() - processor, longest_answer=longest)


def table(creations: Sequence[Creation], seconds: Callable[[float], str] = "{:.2f} s".format) -> list[str]:
    """The lines to print; ratios compare the processor time per node with the smallest cluster's."""
    first = creations[0].per_node
    return [
        f"{one.nodes:>6} nodes       {seconds(one.wall)}; one node {one.per_node * 1000:.2f} ms of processor time, "
        f"{one.per_node / first:.2f} times that of {creations[0].nodes}; longest DescribeCluster {seconds(one.longest_answer)}"
        for one in creations
    ]
