"""The services that lifecycle scripts of nodes call by the CLI, by the names of their endpoints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs.analysis.cli_calls import calls_in
from hyperpod_constructs.analysis.clusters import Cluster, Group, clusters, given
from hyperpod_constructs.analysis.code_runs.service_calls import OTHERS
from hyperpod_constructs.analysis.scripts import scripts_for
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
    for group in (group for cluster in clusters(model) for group in cluster.groups):
        for script in (one for one in scripts_for(group) if not one.skipped or _are_alike(group.cluster)):
            for call in calls_in(script.run, script.resource) if script.run is not None else ():
                endpoint = ENDPOINTS.get(call.operation.action.partition(":")[0])
                if endpoint is not None and OTHERS not in call.parameters:
                    yield (group.resource, group.path), endpoint


def _are_alike(cluster: Cluster) -> bool:
    """Whether all groups are in one network, so that it does not matter which of them runs a script."""
    return all(given(group.get("OverrideVpcConfig")) is False for group in cluster.groups)
