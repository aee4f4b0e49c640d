"""`hyperpod events`: what happened to a cluster, the newest first, with the causes of failures and what to do next."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from itertools import islice
from typing import Annotated, Any

import typer

from hyperpod_constructs.cli.console import CliError, say
from hyperpod_constructs.cli.operate.choosing import node_id
from hyperpod_constructs.cli.operate.completion import group_names, node_ids
from hyperpod_constructs.cli.operate.listing import As, ClusterName, Column, Output, show
from hyperpod_constructs.cli.operate.place import Place, placed
from hyperpod_constructs.cli.operate.reading import Cluster, read_cluster, sound_pages, unless_denied
from hyperpod_constructs.cli.operate.since import EXAMPLES, moment
from hyperpod_constructs.cli.tables import paragraph
from hyperpod_constructs.custom_resources.handlers.redaction import one_line

app = typer.Typer(add_completion=False)

MOST_EXPLAINED = 20
"""The most failures whose cause is asked for: each takes a call."""

NEWEST_FIRST: Mapping[str, Any] = {"SortBy": "EventTime", "SortOrder": "Descending", "MaxResults": 100}
"""The order and the pages in which events are asked for."""

_CHARACTERS = 1000
_COLUMNS = (
    Column("time", "time (UTC)"),
    Column("level", "level"),
    Column("group", "group"),
    Column("node", "node"),
    Column("event", "event", long=True),
)
_NEXT = (
    (re.compile(r"capacity", re.I), "Wait, choose another zone, or reserve capacity: hyperpod training-plan search."),
    (re.compile(r"lifecycle|script", re.I), "Read what the scripts of the node wrote: hyperpod logs --node NODE."),
    (
        re.compile(r"not authorized|access ?denied|permission", re.I),
        "Give the group's execution role the permission that it names.",
    ),
    (re.compile(r"health", re.I), "With automatic recovery the service replaces the node; otherwise: hyperpod replace NODE."),
)


class Level(StrEnum):
    """How serious an event is, from the lowest."""

    INFO = "info"
    WARN = "warn"
    ERROR = "error"


@app.command(
    epilog="Examples: `hyperpod events --level error`, `hyperpod events --group workers --since 2h`, `hyperpod events -o json`. "
    "Only clusters that provision continuously have events."
)
@placed
def events(
    place: Place,
    cluster: ClusterName = None,
    group: Annotated[str | None, typer.Option("--group", help="Only of this group.", autocompletion=group_names)] = None,
    node: Annotated[
        str | None, typer.Option("--node", help="Only of this node, by id or host name.", autocompletion=node_ids)
    ] = None,
    level: Annotated[Level, typer.Option("--level", help="This level and those above.")] = Level.INFO,
    since: Annotated[str | None, typer.Option("--since", metavar="TIME", help=f"Not before: {EXAMPLES}.")] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="The most events to list.")] = 50,
    output: As = Output.TABLE,
) -> None:
    """List what happened to a cluster, the newest first, and explain what failed."""
    request = dict(NEWEST_FIRST)
    after = None if since is None else moment(since)
    found = read_cluster(place, cluster)
    if not found.continuous:
        raise CliError(f"{found.name} does not provision continuously, and only then does the service record events")
    node = node_id(place, found, node)
    filters = {"InstanceGroupName": group and found.group(group).name, "NodeId": node, "EventTimeAfter": after}
    request |= {key: value for key, value in filters.items() if value is not None}
    levels = [known.value for known in Level][list(Level).index(level) :]
    matching = (event for event in cluster_events(place, found, request) if event["EventLevel"].lower() in levels)
    listed = list(islice(matching, limit))
    if not listed and output is Output.TABLE:
        say(f"There is no such event of {found.name}.")
        return
    causes = _causes(place, found, listed)
    show(_COLUMNS, [_row(event, causes) for event in listed], output)
    if output is Output.TABLE:
        for advice in dict.fromkeys(_advice(cause) for cause in causes.values()):
            if advice is not None:
                say()
                paragraph(advice)


def cluster_events(place: Place, cluster: Cluster, request: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The events, page by page; no page is asked for before it is needed."""
    sagemaker = place.client("sagemaker")
    for page in sound_pages(lambda more: sagemaker.list_cluster_events(ClusterName=cluster.arn, **request, **more)):
        yield from page["Events"]


def _causes(place: Place, cluster: Cluster, listed: list[Mapping[str, Any]]) -> dict[str, str]:
    """The failures' causes by event; the description of an event does not always name them."""
    failed = [event for event in listed if event["EventLevel"] == "Error"][:MOST_EXPLAINED]
    causes: dict[str, str] = {}
    for event in failed:
        answer = {}
        with unless_denied():
            answer = place.client("sagemaker").describe_cluster_event(ClusterName=cluster.arn, EventId=event["EventId"])
        if not answer:
            typer.echo("The causes of failures are left out: sagemaker:DescribeClusterEvent is not allowed.", err=True)
            return causes
        metadata = answer.get("EventDetails", {}).get("EventDetails", {}).get("EventMetadata", {})
        messages = [part["FailureMessage"] for part in metadata.values() if isinstance(part, dict) and part.get("FailureMessage")]
        causes[event["EventId"]] = one_line(messages[0] if messages else event.get("Description", ""), _CHARACTERS)
    return causes


def _row(event: Mapping[str, Any], causes: Mapping[str, str]) -> dict[str, Any]:
    description = one_line(event.get("Description", ""), _CHARACTERS)
    cause = causes.get(event["EventId"], description)
    return {
        "time": event["EventTime"],
        "level": event["EventLevel"],
        "group": event.get("InstanceGroupName"),
        "node": event.get("InstanceId"),
        "event": description if cause == description else f"{description}: {cause}",
    }


def _advice(cause: str) -> str | None:
    return next((advice for words, advice in _NEXT if words.search(cause)), None)
