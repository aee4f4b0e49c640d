"""`hyperpod reach`: the ways of nodes to what they need, hop by hop. It reads templates only, and asks no account.

Exit codes for CI: 0 all ways pass or may, 1 one surely ends, 2 unusable input.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from hyperpod_constructs.cli.console import CliError, say
from hyperpod_constructs.cli.inputs import progress, usable_input
from hyperpod_constructs.cli.tables import paragraph

if TYPE_CHECKING:
    from hyperpod_constructs.analysis.reachability import Connection
    from hyperpod_constructs.analysis.ways import Way
    from hyperpod_constructs.rules.formats.text import Paragraph

ENDED = 1
_MARKS = {True: "+", False: "x", None: "?"}
_ANSWERS = {True: "yes", False: "no", None: "perhaps"}
_STYLES = {True: None, False: "bold red", None: "yellow"}
_ANY = "*"


class ReachFormat(StrEnum):
    """The format of ways."""

    TEXT = "text"
    JSON = "json"


def reach(path: Path, group: str | None, target: str | None, *, form: ReachFormat) -> None:
    """Print whether nodes reach what they need; for one target, each hop of the way.

    :param group: the name of a group, with `*` for any piece; all groups by default.
    :param target: the name of what they reach for, with `*` for any piece; by default everything that they need.
    :raises typer.Exit: with code 1 if the way to something that nodes need, or to the one target asked for, surely ends.
    """
    from hyperpod_constructs.analysis.reachability import connections
    from hyperpod_constructs.templates.model import load

    with usable_input(), progress("reading"):
        found = _chosen(connections(load([path])), group or _ANY, target)
        if form is ReachFormat.JSON:
            typer.echo(json.dumps([_as_json(one) for one in found], indent=2))
        else:
            _print(found, whole=target is not None)
    if any(one.passes is False and (one.target.wanted or one.target.name == target) for one in found):
        raise typer.Exit(ENDED)


def _chosen(known: Sequence[Connection], group: str, target: str | None) -> list[Connection]:
    """The connections asked for.

    :raises CliError: if there is none.
    """
    from hyperpod_constructs.templates.globs import glob

    if not known:
        raise CliError(
            "this input has no group whose nodes are in a VPC: give the template or the assembly of a cluster with VpcConfig"
        )
    of_group = [one for one in known if glob(group, one.group.label)]
    if not of_group:
        raise CliError(f"no group {group!r}; this input has {_names(one.group.label for one in known)}")
    found = [one for one in of_group if one.target.wanted] if target is None else _to(of_group, target)
    if not found:
        raise CliError(f"no target {target!r}; these nodes reach for {_names(one.target.name for one in of_group)}")
    return found


def _to(known: Sequence[Connection], target: str) -> list[Connection]:
    from hyperpod_constructs.templates.globs import glob

    return [one for one in known if glob(target.lower(), one.target.name.lower())]


def _names(names: Iterator[str]) -> str:
    from hyperpod_constructs._support.words import listed

    return listed(dict.fromkeys(names), most=20)


def _print(found: Sequence[Connection], *, whole: bool) -> None:
    """Print each place once, with all groups whose nodes fare the same there."""
    from hyperpod_constructs._support.grouping import grouped
    from hyperpod_constructs.analysis.clusters import labels

    groups = grouped(((one.group.resource, one.group.path, one.subnet), one) for one in found).values()
    alike = grouped((tuple(_lines(connections, whole=whole)), connections[0]) for connections in groups)
    for position, (lines, members) in enumerate(alike.items()):
        if position:
            say()
        say(f"{labels(one.group for one in members)}{_place(members[0])}", style="bold")
        for line in lines:
            paragraph(line.text, indent=line.indent, hanging=line.hanging, style=line.style, breaks=True)


def _place(one: Connection) -> str:
    return "" if one.subnet is None else f" in {one.subnet.resource.logical_id}"


def _lines(found: Sequence[Connection], *, whole: bool) -> Iterator[Paragraph]:
    """A line for each target; below it each hop, or the one at which the way ends."""
    from hyperpod_constructs.rules.formats.text import Paragraph

    for one in found:
        yield Paragraph(f"{one.target.name:<24}  {_ANSWERS[one.passes]}", "  ", "  ", _STYLES[one.passes])
        for way in one.ways:
            if whole:
                yield Paragraph(f"{way.traffic} from {way.source} to {way.target}", "    ", "      ")
            for hop in way.hops if whole else way.hops[-1:] if way.end is not None else ():
                yield Paragraph(f"{hop.resource.logical_id} {hop.says}", f"    {_MARKS[hop.passes]} ", "      ")


def _as_json(one: Connection) -> dict[str, object]:
    return {
        "template": one.group.resource.template.name,
        "cluster": one.group.resource.logical_id,
        "group": one.group.label,
        "subnet": None if one.subnet is None else one.subnet.resource.logical_id,
        "target": one.target.name,
        "fatal": one.target.fatal,
        "reached": one.passes,
        "ways": [_way_as_json(way) for way in one.ways],
    }


def _way_as_json(way: Way) -> dict[str, object]:
    hops = [{"resource": hop.resource.logical_id, "says": hop.says, "passes": hop.passes} for hop in way.hops]
    return {"from": way.source, "to": way.target, "traffic": str(way.traffic), "passes": way.passes, "hops": hops}
