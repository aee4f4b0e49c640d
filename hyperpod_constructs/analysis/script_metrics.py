"""Metrics that scripts put by the CLI: `aws cloudwatch put-metric-data`.

A script that nobody is seen to start counts too: cron and services start some. What is not known is `None`.

Source: https://docs.aws.amazon.com/cli/latest/reference/cloudwatch/put-metric-data.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from hyperpod_constructs.analysis.build_commands import PROJECT, build_of
from hyperpod_constructs.analysis.cli_calls import Line, lines_in
from hyperpod_constructs.analysis.clusters import groups
from hyperpod_constructs.analysis.node_programs import programs_of
from hyperpod_constructs.analysis.regions import region_of
from hyperpod_constructs.analysis.scripts import TYPES, Script, scripts_for, scripts_in
from hyperpod_constructs.analysis.shell import Run
from hyperpod_constructs.analysis.written_texts import HOLE, text_of
from hyperpod_constructs.facts.cli import REGIONS
from hyperpod_constructs.templates.model import Model, Resource
from hyperpod_constructs.templates.values import as_str, leaves

_COMMAND = ("cloudwatch", "put-metric-data")
_WRITES = re.compile(r"put[_-]metric[_-]data|PutMetricData")
_ELSEWHERE, _NO_UNIT = frozenset({"endpoint-url", "profile"}), "None"
_PAIR = re.compile(r"([^=,]+)=([^=,]+)")


class Put(NamedTuple):
    """A metric that a script puts.

    :param dimensions: their values by their names.
    :param unit: the unit of its values.
    :param region: the region in which it is.
    """

    writer: Resource
    namespace: str | None = None
    name: str | None = None
    dimensions: Mapping[str, str | None] | None = None
    unit: str | None = None
    region: str | None = None


def metrics_put(model: Model) -> Iterator[Put]:
    """The metrics that the scripts of a model put, and one that is not known for each text that puts metrics otherwise."""
    for project in model.resources(PROJECT):
        text = " ".join(map(str, leaves(project.get("Source"))))
        yield from _of_text(project, text, build_of(project)) if _WRITES.search(text) else ()
    for script in (*_of_machines(model), *_of_nodes(model)):
        yield from _of_text(script.resource, script.text, script.run)
    yield from map(Put, _others(model))


def _of_text(resource: Resource, text: str, run: Run | None) -> Iterator[Put]:
    """The metrics of what runs in a text; one is not known where the text puts more than these."""
    found = list(_puts(resource, run)) if run is not None else []
    yield from found
    if len(found) < len(_WRITES.findall(text)):
        yield Put(resource)


def _of_machines(model: Model) -> Iterator[Script]:
    """The scripts of machines and containers that put metrics."""
    return (one for resource in model.resources(*TYPES) for one in scripts_in(resource) if _WRITES.search(one.text))


def _of_nodes(model: Model) -> Iterator[Script]:
    """The scripts of nodes that put metrics, each once."""
    found = {(one.resource, one.path): one for group in groups(model) for one in scripts_for(group) if _WRITES.search(one.text)}
    return iter(found.values())


def _others(model: Model) -> Iterator[Resource]:
    """The resources with programs of nodes that are no scripts of a shell, and put metrics."""
    own = {(one.resource, one.path) for one in _of_nodes(model)}
    for group in groups(model):
        for file in programs_of(group).files.values():
            if (file.resource, file.path) not in own and _WRITES.search(str(file.text)):
                yield file.resource


def _puts(resource: Resource, run: Run) -> Iterator[Put]:
    commands = tuple(one._replace(guarded=False) for one in run.called)
    for line in lines_in(commands, "aws"):
        if (line.word(0), line.word(1)) == _COMMAND:
            space, name, unit = (_option(line, run, key) for key in ("namespace", "metric-name", "unit"))
            dimensions = line.options.get("dimensions", ())
            if "metric-data" in line.options or not _ELSEWHERE.isdisjoint(line.options):
                yield Put(resource, space)
            else:
                pairs = _pairs(text_of(dimensions, run)) if isinstance(dimensions, tuple) else None
                given = unit if "unit" in line.options else _NO_UNIT
                yield Put(resource, space, name, pairs, given, _region(resource, line, run))


def _option(line: Line, run: Run, name: str) -> str | None:
    word = line.options.get(name)
    return as_str(run.value(word)) if isinstance(word, tuple) else None


def _region(resource: Resource, line: Line, run: Run) -> str | None:
    """The region of a command: its own, that of a variable, or that of the stack."""
    if "region" in line.options:
        return _option(line, run, "region")
    names = [run.values[name] for name in REGIONS if name in run.values]
    return as_str(names[0]) if names else region_of(resource)


def _pairs(written: str) -> Mapping[str, str | None] | None:
    """The dimensions of `Cluster=train,Node=a`; `None` if they are written otherwise."""
    parts = [one for one in written.split(",") if one]
    found = [match for one in parts if (match := _PAIR.fullmatch(one.strip())) is not None]
    values = {one[1]: one[2] if HOLE not in one[2] else None for one in found}
    return values if len(found) == len(parts) and not any(HOLE in name for name in values) else None
