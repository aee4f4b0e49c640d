"""Work of the service that a command follows: software updates and scaling, node by node, to their end."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

import typer

from hyperpod_constructs._support.printable import printable
from hyperpod_constructs.cli.console import CliError, say, stdout
from hyperpod_constructs.cli.operate.denied import explained
from hyperpod_constructs.cli.operate.patience import Patience
from hyperpod_constructs.cli.operate.place import Place
from hyperpod_constructs.cli.operate.reading import RUNNING, Cluster, Node, read_cluster, read_members
from hyperpod_constructs.custom_resources.handlers.redaction import one_line

BUSY = frozenset({"Updating", "SystemUpdating", "RollingBack"})
"""States of a cluster in which the update may go on."""

START_SECONDS = 120.0
"""The time in which an update shows itself. One that does not had nothing to do."""

_UNDER_WAY = frozenset({"Pending", "InProgress", "RollbackInProgress"})
_ROLLED_BACK = frozenset({"RollbackInProgress", "RollbackComplete"})
_CHARACTERS = 1000


class Followed(Protocol):
    """Work of the service on nodes, which goes on without the command."""

    what: str
    counts: dict[str, tuple[int, int]]
    seen: bool

    @property
    def groups(self) -> Collection[str]:
        """The instance groups whose nodes are looked at."""

    @property
    def done(self) -> int:
        """The nodes that are done."""

    @property
    def total(self) -> int:
        """The nodes that are wanted."""

    def look(self, cluster: Cluster, nodes: Sequence[Node]) -> bool:
        """Note what the service says now; whether the work goes on."""

    def sentence(self) -> str:
        """Where it is."""


@dataclass(slots=True)
class Progress:
    """The nodes of an update. `before` tells when each had its last one, because clocks of two machines differ."""

    groups: Collection[str]
    before: Mapping[str, datetime | None]
    counts: dict[str, tuple[int, int]] = field(default_factory=dict)
    states: dict[str, str] = field(default_factory=dict)
    away: int = 0
    seen: bool = False
    cause: str | None = None
    what: str = "the update"

    @classmethod
    def begin(cls, groups: Iterable[str], nodes: Sequence[Node]) -> Progress:
        """The progress before the first look."""
        return cls(frozenset(groups), {node.id: node.updated for node in nodes})

    @property
    def done(self) -> int:
        """The nodes with their new root volume that run."""
        return sum(done for done, _ in self.counts.values())

    @property
    def total(self) -> int:
        """The nodes of the groups."""
        return sum(total for _, total in self.counts.values())

    @property
    def rolled_back(self) -> bool:
        """Whether the service took a group back."""
        return not _ROLLED_BACK.isdisjoint(self.states.values())

    def look(self, cluster: Cluster, nodes: Sequence[Node]) -> bool:
        """Note what the service says now; whether the update goes on."""
        mine = [node for node in nodes if node.group in self.groups]
        fresh = {node.id for node in mine if node.status == RUNNING and node.updated != self.before.get(node.id)}
        self.away = sum(node.status != RUNNING for node in mine)
        groups = [group for group in cluster.groups if group.name in self.groups]
        self.states = {group.name: group.software_update or "" for group in groups}
        for group in groups:
            members = [node for node in mine if node.group == group.name]
            self.counts[group.name] = (sum(node.id in fresh for node in members), len(members))
        under_way = cluster.status in BUSY or not _UNDER_WAY.isdisjoint(self.states.values())
        self.seen = self.seen or under_way or bool(fresh)
        if under_way or not self.seen:
            return True
        if cluster.status != "InService" or not {"Failed", *_ROLLED_BACK}.isdisjoint(self.states.values()):
            self.cause = one_line(cluster.failure or "the service gives no reason; see hyperpod events", _CHARACTERS)
        return False

    def rows(self) -> list[dict[str, Any]]:
        """What became of each group."""
        return [
            {"group": name, "result": self.states.get(name) or None, "updated": done, "nodes": total}
            for name, (done, total) in self.counts.items()
        ]

    def sentence(self) -> str:
        """Where the update is."""
        back = "rolling back; " if "RollbackInProgress" in self.states.values() else ""
        return f"{back}{self.done} of {self.total} nodes updated, {self.away} away"


def watch(
    place: Place,
    cluster: Cluster,
    progress: Followed,
    every: float,
    *,
    most_unseen: float = START_SECONDS,
    quiet: bool = False,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Look until the update has ended; in a terminal a bar, in a pipe a line for each change.

    Faults of AWS that pass, such as throttling, do not end it.

    :param most_unseen: seconds after which work that does not show itself is not waited for.
    :param quiet: whether to show nothing but faults, because a program reads the result.
    :raises CliError: if the service cannot be asked any more.
    """
    started, patience = clock(), Patience(every)
    with _Lines(quiet=True) if quiet else _bar() as shown:
        while True:
            try:
                goes_on = patience.look(lambda: _look(place, cluster, progress))
            except Exception as error:
                raise CliError(f"{progress.what} goes on, but nobody can follow it: {_why(error)}") from error
            shown(progress, patience.fault)
            if goes_on is False or (goes_on and not progress.seen and clock() - started > most_unseen):
                return
            sleep(patience.pause)


def _look(place: Place, cluster: Cluster, progress: Followed) -> bool:
    now = read_cluster(place, cluster.arn)
    return progress.look(now, read_members(place, now, progress.groups))


def _why(error: Exception) -> str:
    from botocore.exceptions import ClientError

    return (explained(error) if isinstance(error, ClientError) else None) or one_line(str(error), _CHARACTERS)


class _Lines:
    """A line for each change; faults go to standard error."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._last = ""

    def __enter__(self) -> _Lines:
        return self

    def __exit__(self, *_: object) -> None: ...

    def __call__(self, progress: Followed, fault: str | None) -> None:
        said = fault or (progress.sentence() if progress.counts and not self._quiet else self._last)
        if said != self._last:
            if fault is None:
                say(said)
            else:
                typer.echo(f"hyperpod: {fault}", err=True)
            self._last = said


class _Bar:
    """A bar in a terminal."""

    def __init__(self) -> None:
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as RichProgress

        columns = (BarColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
        self._drawn = RichProgress(*columns, console=stdout())
        self._task = self._drawn.add_task("asking", total=None)

    def __enter__(self) -> _Bar:
        self._drawn.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._drawn.stop()

    def __call__(self, progress: Followed, fault: str | None) -> None:
        if fault is not None:
            self._drawn.update(self._task, description=printable(fault))
        elif progress.counts:
            self._drawn.update(self._task, completed=progress.done, total=progress.total, description=progress.sentence())


def _bar() -> _Bar | _Lines:
    return _Bar() if stdout().is_terminal else _Lines()
