"""The parts of a support case: what AWS says of a cluster, its nodes, events, logs and stacks.

All of it is a stranger's: scrubbed, bounded, and on disk before it is packed. A part that cannot be read does not keep the others.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from hyperpod_constructs.cli.cloudformation import template_body
from hyperpod_constructs.cli.console import CliError
from hyperpod_constructs.cli.operate.case_archive import CaseArchive, Member, Spool
from hyperpod_constructs.cli.operate.events import NEWEST_FIRST, cluster_events
from hyperpod_constructs.cli.operate.log_streams import Kind, written
from hyperpod_constructs.cli.operate.owner import owner_of
from hyperpod_constructs.cli.operate.place import Place
from hyperpod_constructs.cli.operate.reading import RUNNING, Cluster, node_summaries
from hyperpod_constructs.cli.operate.scrubbing import Lines, Scrubber
from hyperpod_constructs.custom_resources.handlers.redaction import one_line

_T = TypeVar("_T")

MOST_EVENTS = 10_000
MOST_EXPLAINED = 100
"""The most warnings and errors whose details are asked for: each takes a call."""
MOST_NODES = 20
"""The most nodes that are not Running whose details are asked for."""
MOST_STACKS = 20

_STREAM = 200
_STACK = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,127}")
_WORD = re.compile(r"[A-Za-z0-9]+")
_SECTIONS = ("Parameters", "Mappings", "Conditions", "Resources", "Outputs")
_SERIOUS = ("Warn", "Error")


@dataclass(frozen=True, slots=True)
class Missing:
    """What is not in the archive, and why. Only with `failed` it should be."""

    what: str
    why: str
    failed: bool = True


@dataclass(slots=True)
class Case:
    """A support case that is being written.

    :ivar after: events and logs are not older.
    :ivar most_bytes: the most bytes of each kind of log, the newest.
    :ivar directory: where what is read is kept until it is packed.
    :ivar exports: by export, the name of its stack; `None` until a template imports one.
    """

    place: Place
    cluster: Cluster
    archive: CaseArchive
    directory: Path
    after: datetime
    most_bytes: int
    scrubber: Scrubber = field(default_factory=Scrubber)
    members: list[Member] = field(default_factory=list)
    missing: list[Missing] = field(default_factory=list)
    exports: Mapping[str, str] | None = None

    def write(self) -> None:
        """Read and pack all parts."""
        description = {key: value for key, value in self.cluster.description.items() if key != "ResponseMetadata"}
        self._document("cluster.json", description)
        self._nodes()
        self._events()
        for kind in Kind:
            self._log(kind)
        self._templates()

    def _nodes(self) -> None:
        unwell: list[str] = []

        def rows() -> Iterator[str]:
            for summary in node_summaries(self.place, self.cluster):
                if summary["InstanceStatus"]["Status"] != RUNNING and summary.get("InstanceId") and len(unwell) < MOST_NODES:
                    unwell.append(summary["InstanceId"])
                yield self._row(summary)

        whole = self._lines("nodes.jsonl", rows())
        self._details("node-details.jsonl", unwell, self._node, whole=whole)

    def _node(self, id: str) -> Mapping[str, Any]:
        client = self.place.client("sagemaker")
        details: Mapping[str, Any] = client.describe_cluster_node(ClusterName=self.cluster.arn, NodeId=id)["NodeDetails"]
        return details

    def _events(self) -> None:
        if not self.cluster.continuous:
            why = "the service records events only for clusters that provision continuously"
            self.missing.append(Missing("events.jsonl", why, failed=False))
            return
        serious: list[str] = []

        def rows() -> Iterator[str]:
            found = cluster_events(self.place, self.cluster, {**NEWEST_FIRST, "EventTimeAfter": self.after})
            for event in islice(found, MOST_EVENTS):
                if event["EventLevel"] in _SERIOUS and len(serious) < MOST_EXPLAINED:
                    serious.append(event["EventId"])
                yield self._row(event)
            if next(found, None) is not None:
                self.missing.append(Missing("events.jsonl", f"older events than the newest {MOST_EVENTS:,}", failed=False))

        whole = self._lines("events.jsonl", rows())
        self._details("event-details.jsonl", serious, self._event, whole=whole)

    def _event(self, id: str) -> Mapping[str, Any]:
        client = self.place.client("sagemaker")
        details: Mapping[str, Any] = client.describe_cluster_event(ClusterName=self.cluster.arn, EventId=id)["EventDetails"]
        return details

    def _log(self, kind: Kind) -> None:
        """Read a kind of log, then scrub and pack what is kept of it: to look through a line takes longer than to read it."""
        name, start = f"logs/{kind}.log", int(self.after.timestamp() * 1000)
        found = written(self.place, self.cluster, kind.prefix, start)
        with Spool(self.directory, self.most_bytes) as raw, Spool(self.directory) as spool:
            events = (json.dumps([event["timestamp"], event["logStreamName"], event["message"]]) for event in found)
            if self._tried(name, lambda: raw.fill(events)) is None and not raw.lines:
                return
            if raw.dropped:
                why = f"{raw.dropped:,} older lines than the newest {self.most_bytes // 1_000_000} MB (--max-mb)"
                self.missing.append(Missing(name, why, failed=False))
            lines = Lines(self.scrubber)
            spool.fill(_logged(lines, *json.loads(event)) for event in raw.content())
            self.members.append(self.archive.add(name, spool))

    def _templates(self) -> None:
        before = len(self.missing)
        owner = self._tried("templates", lambda: owner_of(self.place, self.cluster))
        if owner is None:
            if len(self.missing) == before:
                self.missing.append(Missing("templates", "no stack has the cluster", failed=False))
            return
        stacks = [owner.stack]
        for number, stack in enumerate(stacks):
            imported = [one for one in self._template(stack, number) if one not in stacks]
            stacks += imported[: MOST_STACKS - len(stacks)]

    def _template(self, stack: str, number: int) -> list[str]:
        """Pack the template of a stack, and return the stacks whose exports it imports."""
        name = f"templates/{stack if _STACK.fullmatch(stack) else f'stack-{number}'}.json"
        template = self._tried(name, lambda: template_body(self.place.target, stack))
        if template is None:
            return []
        imported = set(_imports(template))
        self._document(name, template, {*_declared(template), *(word for one in imported for word in _WORD.findall(one))})
        if imported and self.exports is None:
            self.exports = self._tried("templates of imported stacks", self._exported) or {}
        return sorted({found for one in imported if (found := (self.exports or {}).get(one)) is not None})

    def _exported(self) -> dict[str, str]:
        """By export: the name of its stack."""
        pages = self.place.client("cloudformation").get_paginator("list_exports").paginate()
        return {one["Name"]: one["ExportingStackId"].split("/")[1] for page in pages for one in page["Exports"]}

    def _document(self, name: str, value: object, names: Collection[str] = ()) -> None:
        with Spool(self.directory) as spool:
            spool.fill(json.dumps(self.scrubber.data(value, names), indent=2, ensure_ascii=False).split("\n"))
            self.members.append(self.archive.add(name, spool))

    def _details(self, name: str, ids: Collection[str], read: Callable[[str], Mapping[str, Any]], *, whole: bool) -> None:
        """Pack the details of what a list has; `whole` says whether the list came to its end."""
        if ids:
            self._lines(name, (self._row(read(id)) for id in ids))
        if not whole:
            self.missing.append(Missing(name, "the list is not complete, so details of what follows in it are missing too"))

    def _lines(self, name: str, lines: Iterable[str]) -> bool:
        """Pack lines as they come. Those before an error are kept; false after one."""
        with Spool(self.directory) as spool:
            whole = self._tried(name, lambda: spool.fill(lines)) is not None
            if whole or spool.lines:
                self.members.append(self.archive.add(name, spool))
        return whole

    def _row(self, value: Mapping[str, Any]) -> str:
        return json.dumps(self.scrubber.data(value), ensure_ascii=False)

    def _tried(self, what: str, read: Callable[[], _T]) -> _T | None:
        """What is read; `None` if it cannot be, with the reason noted."""
        from botocore.exceptions import BotoCoreError, ClientError

        from hyperpod_constructs.cli.operate.denied import in_words

        try:
            return read()
        except (BotoCoreError, ClientError, CliError) as error:
            self.missing.append(Missing(what, in_words(error)))
        return None


def _logged(lines: Lines, timestamp: int, stream: str, message: str) -> str:
    """An event with its time and its stream; the lines of its message that follow are indented."""
    moment = datetime.fromtimestamp(timestamp / 1000, UTC)
    text = lines.scrubbed(stream, message).strip("\n").replace("\n", "\n    ")
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{timestamp % 1000:03d}Z {one_line(stream, _STREAM)} {text}"


def _declared(template: Mapping[str, Any]) -> Iterator[str]:
    """The names that a template declares. Those that the CDK makes are long and end with a hash."""
    for section in _SECTIONS:
        if isinstance(declared := template.get(section), Mapping):
            yield from declared


def _imports(value: object) -> Iterator[str]:
    """The exports that a template imports by their names."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            if key == "Fn::ImportValue" and isinstance(item, str):
                yield item
            else:
                yield from _imports(item)
    elif isinstance(value, list):
        for item in value:
            yield from _imports(item)
