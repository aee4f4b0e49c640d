"""Metrics that filters of logs and the code of functions write: whether the alarm that asks for one names it as they do.

Sources: https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/MonitoringLogData.html and
https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricData.html
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from hyperpod_constructs.analysis.alone import types_of_users
from hyperpod_constructs.analysis.function_code import FUNCTION, calls_of
from hyperpod_constructs.analysis.schema.violation import listed
from hyperpod_constructs.analysis.texts.reading import known
from hyperpod_constructs.analysis.texts.slip import Slip, Slips, entries, mapping
from hyperpod_constructs.analysis.texts.typo import typo_of
from hyperpod_constructs.templates.dependencies import references
from hyperpod_constructs.templates.model import Model, Resource
from hyperpod_constructs.templates.values import ABSENT, Value, as_str

FILTER = "AWS::Logs::MetricFilter"
_PUT = "cloudwatch:PutMetricData"
_SWITCHES: Mapping[str, tuple[str, str]] = dict.fromkeys(("AWS::Events::Rule", "AWS::Scheduler::Schedule"), ("State", "DISABLED"))
"""What calls functions, with the property and the value that keep it from doing so."""
_NO_CALLERS = {"AWS::CloudWatch::Alarm", "AWS::Lambda::EventInvokeConfig", "AWS::Lambda::Permission", "AWS::Logs::LogGroup"}
"""What names a function and calls none."""


@dataclass(frozen=True, slots=True)
class Written:
    """A metric that a filter or a function writes; what is not known is `None`.

    :param dimensions: their names.
    """

    writer: Resource
    namespace: str | None
    name: str | None
    dimensions: frozenset[str] | None


def written(alarm: Resource) -> Slips:
    """A metric of its own that an alarm asks for, and that nothing writes so."""
    space, name = known(alarm.get("Namespace")), known(alarm.get("MetricName"))
    found = own_metrics(alarm.template.model)
    if not space or not name or space.startswith("AWS/"):
        return
    here = [one for one in found if one.namespace in (space, None)]
    if any(None in (one.namespace, one.name) for one in here):
        return
    same = [one for one in here if one.name == name]
    if same:
        yield from _dimensions(alarm, same) or _asleep(same)
    elif elsewhere := [one for one in found if one.name == name]:
        spaces = listed(sorted({one.namespace or "" for one in elsewhere}))
        message = f"{elsewhere[0].writer.logical_id} writes {name} into {spaces}, and the alarm asks for it in {space}"
        yield Slip(message, spaces, ("Namespace",), space, dead=True)
    else:
        names = {one.name or "" for one in here}
        near = _beginning(name, names) or typo_of(name, names)
        if near:
            message = f"nothing writes {name} into {space}; the nearest is {near}"
            yield Slip(message, listed(sorted(names)), ("MetricName",), name, dead=True)


def own_metrics(model: Model) -> tuple[Written, ...]:
    """The metrics that the filters and the functions of a model write; computed once."""
    return model.cached(own_metrics, lambda: (*_of_filters(model), *_of_functions(model)))


def _of_filters(model: Model) -> Iterator[Written]:
    for one in model.resources(FILTER):
        for _, each in entries(one.get("MetricTransformations")):
            namespace, name = (known(mapping(each).get(key, ABSENT)) for key in ("MetricNamespace", "MetricName"))
            names = _names(mapping(each).get("Dimensions", ABSENT), "Key")
            exclusive = bool(names) and "DefaultValue" in mapping(each)
            yield Written(one, namespace, name, None if exclusive else names)


def _of_functions(model: Model) -> Iterator[Written]:
    for function in model.resources(FUNCTION):
        for call in calls_of(function) if "put_metric_data" in str(function.get("Code", "ZipFile")) else ():
            if call.operation.action == _PUT:
                namespace, data = (call.parameters.get(key, ABSENT) for key in ("namespace", "metricdata"))
                found = [mapping(one) for _, one in entries(data)] or [{}]
                for each in found:
                    names = _names(each.get("Dimensions", ABSENT), "Name")
                    yield Written(function, known(namespace), known(each.get("MetricName", ABSENT)), names)


def _names(dimensions: Value, key: str) -> frozenset[str] | None:
    """The names of dimensions; `None` if they are not all known."""
    found = [known(mapping(one).get(key, ABSENT)) for _, one in entries(dimensions)]
    whole = isinstance(dimensions, tuple) or dimensions is ABSENT
    return frozenset(map(str, found)) if whole and None not in found else None


def _asleep(same: list[Written]) -> list[Slip]:
    """The functions that write a metric, where nothing calls them but what is off."""
    off = [caller for one in same for caller in _sleeping_callers(one.writer)]
    if not off or not all(_sleeping_callers(one.writer) for one in same):
        return []
    message = f"{same[0].writer.logical_id} writes the metric, and {off[0].logical_id}, which calls it, is off"
    return [Slip(message, "State: ENABLED there", ("MetricName",), same[0].name, dead=True)]


def _sleeping_callers(function: Resource) -> list[Resource]:
    """What calls a function, if all of it is off."""
    callers = [one for one in function.template.model.resources(*_SWITCHES) if function in references(one.get())]
    others = types_of_users(function) - _SWITCHES.keys() - _NO_CALLERS
    off = all(as_str(one.get(name)) == value for one in callers for name, value in (_SWITCHES[one.type],))
    return callers if function.type == FUNCTION and off and not others else []


def _dimensions(alarm: Resource, same: list[Written]) -> list[Slip]:
    """The dimensions of what writes and of its alarm are the same: CloudWatch has a series for each set."""
    given = _names(alarm.get("Dimensions"), "Name")
    if given is None or any(one.dimensions in (None, given) for one in same):
        return []
    wanted = listed(sorted(same[0].dimensions or ())) or "no dimensions"
    says = f"the dimensions {listed(sorted(given))}" if given else "no dimensions"
    message = f"{same[0].writer.logical_id} writes the metric with {wanted}, and the alarm asks for it with {says}"
    path = ("Dimensions",) if given else ("MetricName",)
    return [Slip(message, wanted, path, dead=True)]


def _beginning(name: str, names: Iterable[str]) -> str | None:
    """A name that begins with another, or that another begins with."""
    long = (one for one in sorted(names) if min(len(one), len(name)) > 5)
    return next((one for one in long if one.startswith(name) or name.startswith(one)), None)
