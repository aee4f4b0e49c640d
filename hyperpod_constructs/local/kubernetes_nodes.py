"""Keeps a node in the control plane of its EKS cluster for every instance there is, of HyperPod and of node groups.

One thread does it, for all control planes. A control plane that does not answer, or that is gone, holds up nobody else: it is
asked again after a pause that grows.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPException

from hyperpod_constructs.local.aws_service import Caller
from hyperpod_constructs.local.kubernetes.client import KubernetesError
from hyperpod_constructs.local.kubernetes.interface import ObjectsApi
from hyperpod_constructs.local.kubernetes.nodes import FakeInstance, FakeNodes, Recovery

log = logging.getLogger(__name__)

LONGEST_PAUSE = 60.0
SEARCH_SECONDS = 5.0
"""The pause between two searches for nodes that somebody has deleted."""
SHARE = 10
"""A look at all pods is followed by a pause of so many times its length: a control plane with many costs a share of a core."""

_FAILURES = (OSError, HTTPException, KubernetesError, ValueError)


@dataclass(frozen=True, slots=True)
class Home:
    """An EKS cluster by its ARN, with a caller who sees it."""

    arn: str
    caller: Caller = field(compare=False)


Homes = Mapping[Home, Sequence[FakeInstance]]
"""Instances by the EKS cluster whose nodes they are."""
Marks = Mapping[str, Recovery]
Find = Callable[[str, Caller], ObjectsApi | None]
"""The API of the EKS cluster with an ARN; None while it has no control plane."""


@dataclass(eq=False)
class _ControlPlane:
    api: ObjectsApi
    nodes: FakeNodes
    failures: int = 0
    quiet_until: float = 0.0
    search_due: float = 0.0
    pods_due: float = 0.0


class KubernetesNodes:
    """Keeps the nodes. `clock` gives seconds since the epoch.

    :param find: finds a control plane.
    :param instances: takes what the nodes' labels ask for by instance id, acts on it, and answers the instances.
    """

    def __init__(self, find: Find, instances: Sequence[Callable[[Marks], Homes]], clock: Callable[[], float] = time.time) -> None:
        self._find, self._instances, self._clock = find, instances, clock
        self._planes: dict[Home, _ControlPlane] = {}

    def tend(self) -> None:
        """Bring every control plane into the state of the instances; returns when that is done, or must wait."""
        while self._pass():
            pass

    def _pass(self) -> bool:
        """One round, in which each control plane gets a batch; whether more is left."""
        marks: dict[str, Recovery] = {}
        for home, plane in self._awake():
            with self._guarded(home, plane):
                marks |= plane.nodes.marks()
        wanted: dict[Home, list[FakeInstance]] = {}
        for source in self._instances:
            for home, instances in source(marks).items():
                wanted.setdefault(home, []).extend(instances)
        self._meet(wanted)
        left = False
        for home, plane in self._awake():
            with self._guarded(home, plane):
                left |= self._keep(plane, wanted.get(home, ()))
            if home not in wanted and plane.nodes.empty:
                del self._planes[home]
        return left

    def _awake(self) -> list[tuple[Home, _ControlPlane]]:
        """The control planes that are not left alone after a failure."""
        now = self._clock()
        return [(home, plane) for home, plane in self._planes.items() if now >= plane.quiet_until]

    def _meet(self, wanted: Iterable[Home]) -> None:
        """Find the control planes; one that was started anew knows no nodes."""
        for home in {*wanted, *self._planes}:
            api, known = self._find(home.arn, home.caller), self._planes.get(home)
            if api is None:
                self._planes.pop(home, None)
            elif known is None or known.api is not api:
                self._planes[home] = _ControlPlane(api, FakeNodes(api, self._clock))

    def _keep(self, plane: _ControlPlane, instances: Sequence[FakeInstance]) -> bool:
        left = plane.nodes.hold(instances)
        plane.nodes.beat()
        now = self._clock()
        if now >= plane.search_due:
            plane.nodes.find_lost()
            plane.search_due = now + SEARCH_SECONDS
        if now >= plane.pods_due:
            began = time.monotonic()
            plane.nodes.run_pods()
            plane.pods_due = now + SHARE * (time.monotonic() - began)
        plane.failures = 0
        return left

    @contextmanager
    def _guarded(self, home: Home, plane: _ControlPlane) -> Iterator[None]:
        """Let a failure concern this control plane alone, which is then left alone for a while."""
        try:
            yield
        except _FAILURES as error:
            plane.failures += 1
            pause = min(LONGEST_PAUSE, 2.0 ** min(plane.failures, 10))
            plane.quiet_until = self._clock() + pause
            log.warning("the control plane of %s takes no nodes; the next try is in %.0f seconds: %s", home.arn, pause, error)
