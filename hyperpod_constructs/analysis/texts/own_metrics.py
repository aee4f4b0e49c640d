"""Metrics that filters of logs write: whether the alarm that asks for one names it as its filter does.

Source: https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/MonitoringLogData.html
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from hyperpod_constructs.analysis.schema.violation import listed
from hyperpod_constructs.analysis.texts.reading import known
from hyperpod_constructs.analysis.texts.slip import Slip, Slips, entries, mapping
from hyperpod_constructs.analysis.texts.typo import typo_of
from hyperpod_constructs.templates.model import Model, Resource
from hyperpod_constructs.templates.values import ABSENT

FILTER = "AWS::Logs::MetricFilter"


@dataclass(frozen=True, slots=True)
class Written:
    """A metric that a filter writes; what is not known is `None`.

    :param dimensions: their names.
    """

    filter: str
    namespace: str | None
    name: str | None
    dimensions: frozenset[str] | None


def written(alarm: Resource) -> Slips:
    """A metric of its own that an alarm asks for, and that no filter writes so."""
    space, name = known(alarm.get("Namespace")), known(alarm.get("MetricName"))
    found = metrics_of_filters(alarm.template.model)
    if not space or not name or space.startswith("AWS/") or any(None in (one.namespace, one.name) for one in found):
        return
    here = [one for one in found if one.namespace == space]
    same = [one for one in here if one.name == name]
    if same:
        yield from _dimensions(alarm, same)
    elif elsewhere := [one for one in found if one.name == name]:
        spaces = listed(sorted({one.namespace or "" for one in elsewhere}))
        message = f"{elsewhere[0].filter} writes {name} into {spaces}, and the alarm asks for it in {space}"
        yield Slip(message, spaces, ("Namespace",), space, dead=True)
    else:
        names = {one.name or "" for one in here}
        near = _beginning(name, names) or typo_of(name, names)
        if near:
            message = f"no filter writes {name} into {space}; the nearest is {near}"
            yield Slip(message, listed(sorted(names)), ("MetricName",), name, dead=True)


def metrics_of_filters(model: Model) -> tuple[Written, ...]:
    """The metrics that the filters of a model write; computed once."""
    return model.cached(metrics_of_filters, lambda: tuple(_written(model)))


def _written(model: Model) -> Iterator[Written]:
    for one in model.resources(FILTER):
        for _, each in entries(one.get("MetricTransformations")):
            namespace, name = (known(mapping(each).get(key, ABSENT)) for key in ("MetricNamespace", "MetricName"))
            names = [known(mapping(item).get("Key", ABSENT)) for _, item in entries(mapping(each).get("Dimensions", ABSENT))]
            whole = mapping(each).get("Dimensions", ()) == () or (None not in names and bool(names))
            whole = whole and not (names and "DefaultValue" in mapping(each))  # the two exclude each other
            yield Written(one.logical_id, namespace, name, frozenset(map(str, names)) if whole else None)


def _dimensions(alarm: Resource, same: list[Written]) -> Slips:
    """The dimensions of a filter and its alarm are the same: CloudWatch has a series for each set."""
    value = alarm.get("Dimensions")
    names = [known(mapping(item).get("Name", ABSENT)) for _, item in entries(value)]
    given = frozenset(map(str, names))
    if None in names or not (value is ABSENT or isinstance(value, tuple)) or any(one.dimensions in (None, given) for one in same):
        return
    wanted = listed(sorted(same[0].dimensions or ())) or "no dimensions"
    says = f"the dimensions {listed(sorted(given))}" if given else "no dimensions"
    message = f"{same[0].filter} writes the metric with {wanted}, and the alarm asks for it with {says}"
    path = ("Dimensions",) if given else ("MetricName",)
    yield Slip(message, wanted, path, dead=True)


def _beginning(name: str, names: Iterable[str]) -> str | None:
    """A name that begins with another, or that another begins with."""
    long = (one for one in sorted(names) if min(len(one), len(name)) > 5)
    return next((one for one in long if one.startswith(name) or name.startswith(one)), None)
