"""`hyperpod logs`: what nodes wrote to the log group of their cluster."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, NoReturn

import typer

from hyperpod_constructs.cli.console import INTERRUPTED, CliError, say
from hyperpod_constructs.cli.operate.choosing import node_id
from hyperpod_constructs.cli.operate.completion import group_names, node_ids
from hyperpod_constructs.cli.operate.listing import ClusterName
from hyperpod_constructs.cli.operate.log_streams import Kind, written
from hyperpod_constructs.cli.operate.patience import Patience
from hyperpod_constructs.cli.operate.place import Place, placed
from hyperpod_constructs.cli.operate.reading import Cluster, describe_node, read_cluster
from hyperpod_constructs.cli.operate.since import EXAMPLES, moment
from hyperpod_constructs.custom_resources.handlers.redaction import one_line

app = typer.Typer(add_completion=False)

LOOK_SECONDS = 2.0

_CHARACTERS = 8000


@app.command(
    epilog="Examples: `hyperpod logs --node i-0123456789abcdef0`, `hyperpod logs --group workers --follow`, "
    "`hyperpod logs --kind health --since 3d`."
)
@placed
def logs(
    place: Place,
    cluster: ClusterName = None,
    node: Annotated[
        str | None, typer.Option("--node", help="Only of this node, by id, gone or not, or host name.", autocompletion=node_ids)
    ] = None,
    group: Annotated[str | None, typer.Option("--group", help="Only of this group.", autocompletion=group_names)] = None,
    kind: Annotated[Kind, typer.Option("--kind", help="Lifecycle scripts, health agent or deep checks.")] = Kind.LIFECYCLE,
    since: Annotated[str, typer.Option("--since", metavar="TIME", help=f"Not before: {EXAMPLES}.")] = "1d",
    limit: Annotated[int, typer.Option("--limit", min=1, help="The most lines to begin with, the newest.")] = 200,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on with what is written, until Ctrl-C.")] = False,
) -> None:
    """Print what nodes wrote: lifecycle scripts, health agent, deep health checks."""
    after = moment(since)
    found = read_cluster(place, cluster)
    node = node_id(place, found, node)
    start = int(after.timestamp() * 1000)
    log = _Log(place, found, _Streams.chosen(place, found, kind, group, node, start), start)
    if follow:
        try:
            _follow(log, limit)
        except KeyboardInterrupt:
            raise typer.Exit(INTERRUPTED) from None
    lines = deque(log.lines(), maxlen=limit)
    if not lines:
        say(f"Nothing was written since {after:%Y-%m-%d %H:%M} (UTC); look further back with --since.")
    for line in lines:
        say(line)


def _follow(log: _Log, limit: int) -> NoReturn:
    """Print what is written until the user interrupts; faults of AWS that pass, such as throttling, do not end it."""
    patience, told = Patience(LOOK_SECONDS), None
    found = deque[str](maxlen=limit)
    while True:
        # Lines that came before a fault are not asked for again.
        patience.look(lambda lines=found: lines.extend(log.lines()))  # type: ignore[misc]
        for line in found:
            say(line)
        found = deque[str]()
        if patience.fault not in (None, told):
            typer.echo(f"hyperpod: {patience.fault}", err=True)
        told = patience.fault
        time.sleep(patience.pause)


@dataclass(frozen=True, slots=True)
class _Streams:
    """Streams by the beginning of their names, and by the last part where the beginning does not say it."""

    prefix: str
    last: str | None = None

    @classmethod
    def chosen(cls, place: Place, cluster: Cluster, kind: Kind, group: str | None, node: str | None, start: int) -> _Streams:
        prefix = kind.prefix
        if kind is Kind.DEEP_CHECK:
            if group is not None:
                raise CliError("logs of deep health checks do not name a group: leave --group out")
            return cls(prefix if node is None else f"{prefix}{node}")
        if group is None and node is not None:
            found = describe_node(place, cluster, node)
            return cls._of_gone(place, cluster, prefix, node, start) if found is None else cls(f"{prefix}{found.group}/{node}")
        if group is None:
            return cls(prefix)
        name = cluster.group(group).name
        return cls(f"{prefix}{name}/" if node is None else f"{prefix}{name}/{node}")

    @classmethod
    def _of_gone(cls, place: Place, cluster: Cluster, prefix: str, node: str, start: int) -> _Streams:
        """The streams of a node whose group nobody tells: it was in one of the cluster's groups, or its group is gone too."""
        for group in cluster.groups:
            own = f"{prefix}{group.name}/{node}"
            if next(written(place, cluster, own, start), None) is not None:
                return cls(own)
        return cls(prefix, node)

    def has(self, name: str) -> bool:
        return name.startswith(self.prefix) and self.last in (None, name.rpartition("/")[2])


class _Log:
    """The lines of streams, each once, the oldest first."""

    def __init__(self, place: Place, cluster: Cluster, streams: _Streams, start: int) -> None:
        self._place, self._cluster, self._streams = place, cluster, streams
        self._newest = start
        self._seen: set[str] = set()

    def lines(self) -> Iterator[str]:
        """The lines since the moment, or since the last look."""
        for event in written(self._place, self._cluster, self._streams.prefix, self._newest):
            # The next look begins with the newest millisecond again, because more lines of it may come.
            if event["eventId"] in self._seen or not self._streams.has(event["logStreamName"]):
                continue
            if event["timestamp"] > self._newest:
                self._newest, self._seen = event["timestamp"], set()
            self._seen.add(event["eventId"])
            yield _shown(event)


def _shown(event: Mapping[str, Any]) -> str:
    second = datetime.fromtimestamp(event["timestamp"] / 1000, UTC)
    node = event["logStreamName"].rpartition("/")[2]
    return f"{second:%Y-%m-%d %H:%M:%S} {node} {one_line(event['message'], _CHARACTERS)}"
