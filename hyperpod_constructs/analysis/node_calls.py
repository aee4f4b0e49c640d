"""The services that lifecycle scripts of nodes call by the CLI, by the names of their endpoints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs.analysis.cli_calls import calls_in
from hyperpod_constructs.analysis.clusters import Group
from hyperpod_constructs.analysis.code_runs.service_calls import OTHERS
from hyperpod_constructs.analysis.scripts import with_runners
from hyperpod_constructs.facts.interfaces import ENDPOINTS
from hyperpod_constructs.templates.model import Model, Resource

_Place: TypeAlias = tuple[Resource, tuple[str | int, ...]]


def services_called(group: Group) -> frozenset[str]:
    """The services of the own region that scripts of a group surely call."""
    model = group.resource.template.model
    found = model.cached(services_called, lambda: _called(model))
    return found.get((group.resource, group.path), frozenset())


def _called(model: Model) -> Mapping[_Place, frozenset[str]]:
    return {place: frozenset(names) for place, names in grouped(_calls(model)).items()}


def _calls(model: Model) -> Iterator[tuple[_Place, str]]:
    for script, runner in with_runners(model):
        for call in calls_in(script.run, script.resource) if script.run is not None and runner.groups else ():
            endpoint = ENDPOINTS.get(call.operation.action.partition(":")[0])
            if endpoint is not None and OTHERS not in call.parameters:
                yield from (((group.resource, group.path), endpoint) for group in runner.groups)
