"""Metrics that filters of logs, the code of functions and scripts write: whether the alarm that asks for one names it as they do.

Sources: https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/MonitoringLogData.html and
https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricData.html
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from hyperpod_constructs.analysis.function_code import FUNCTION, calls_of
from hyperpod_constructs.analysis.regions import region_of
from hyperpod_constructs.analysis.schema.violation import listed, meant, quoted
from hyperpod_constructs.analysis.script_metrics import metrics_put
from hyperpod_constructs.analysis.texts.callers import callers_of, timers_off
from hyperpod_constructs.analysis.texts.reading import known
from hyperpod_constructs.analysis.texts.slip import Slip, Slips, entries, mapping
from hyperpod_constructs.analysis.texts.watched import Watched, watched
from hyperpod_constructs.analysis.texts.writers import PUT, are_known
from hyperpod_constructs.analysis.typo import typo_of
from hyperpod_constructs.facts.arn_forms import FORMS
from hyperpod_constructs.facts.metric_names import OTHER_NAMESPACES, namespaces
from hyperpod_constructs.facts.metric_ranges import OF_VALUES
from hyperpod_constructs.templates.model import Model, Resource, target_of
from hyperpod_constructs.templates.values import ABSENT, Reference, Value, as_float, as_int

FILTER, _ALARM = "AWS::Logs::MetricFilter", "AWS::CloudWatch::Alarm"
_WRITES, _IN_LINES = re.compile(r"put_metric_data|PutMetricData"), re.compile(r"CloudWatchMetrics|put_data\(|aws_lambda_powertools")
"""Code that writes metrics by calls, and by lines of its log or otherwise."""
_WORD = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_RATE = re.compile(r"rate\((\d+) (minute|hour|day)s?\)")
_SECONDS: Mapping[str, int] = {"minute": 60, "hour": 3600, "day": 86_400}
_VARIABLES = ("Environment", "Variables")
_OF_AWS = "AWS/"
_LEAST_PERIOD, _NO_UNIT = 60, "None"
_FURTHER = 2
"""CloudWatch looks some periods further back than it evaluates, for values where some are missing."""


@dataclass(frozen=True, slots=True)
class Written:
    """A metric that a filter, a function or a script writes; what is not known is `None`.

    :param dimensions: their names.
    :param most: the largest of its values.
    :param otherwise: whether a value is written where nothing is counted.
    :param unit: the unit of its values.
    :param values: the values of its dimensions by their names.
    :param arns: the dimensions whose value is an ARN, each with its reference.
    :param region: the region in which it is, if a script says so.
    """

    writer: Resource
    namespace: str | None
    name: str | None
    dimensions: frozenset[str] | None
    most: float | None = None
    otherwise: bool = False
    unit: str | None = None
    values: Mapping[str, str] | None = None
    arns: Mapping[str, Reference] = field(default_factory=dict)
    region: str | None = None


def written(alarm: Resource) -> Slips:
    """A metric of its own that an alarm asks for, and that nothing writes so."""
    asked = watched(alarm)
    if asked is None:
        return
    found = list(unwritten(asked, alarm.template.model))
    same = [] if found or asked.namespace.startswith(_OF_AWS) else _same(asked, own_metrics(alarm.template.model))
    yield from found
    if same:
        judges = (_region, _unit, _values, _seldom, _silent)
        yield from next((slips for one in judges if (slips := one(alarm, asked, same))), ())


def unwritten(asked: Watched, model: Model, reader: str = "the alarm") -> Slips:
    """A metric of its own that somebody asks for, and that nothing writes into this namespace, by this name, with these dimensions.

    :param reader: who asks, in words.
    """
    space, name, found = asked.namespace, asked.name, own_metrics(model)
    if space.startswith(_OF_AWS):
        yield from _of_a_service(asked, found, reader)
        return
    here = [one for one in found if one.namespace in (space, None)]
    if any(None in (one.namespace, one.name) for one in here):
        return
    if same := _same(asked, found):
        yield from _dimensions(model, asked, same, reader)
    elif elsewhere := [one for one in found if one.name == name]:
        spaces = listed(sorted({one.namespace or "" for one in elsewhere}))
        message = f"{elsewhere[0].writer.logical_id} writes {name} into {spaces}, and {reader} asks for it in {space}"
        yield Slip(message, spaces, (*asked.path, "Namespace"), space, dead=True, beside=tuple(_variables(elsewhere)))
    else:
        names = {one.name or "" for one in here}
        near = _beginning(name, names) or _turned(name, names) or typo_of(name, names)
        if near or (names and are_known(model, space)):
            message = f"nothing writes {name} into {space}{f'; the nearest is {near}' if near else meant(name, names)}"
            yield Slip(message, listed(sorted(names)), (*asked.path, "MetricName"), name, dead=True)


def is_asked_by_an_alarm(asked: Watched, model: Model) -> bool:
    """Whether an alarm asks for the same metric, so that it tells of a mistake in it."""
    alarms = [one for one in map(watched, model.resources(_ALARM)) if one is not None]
    return any(_series(one) == _series(asked) for one in alarms)


def _series(asked: Watched) -> tuple[str, str, frozenset[str] | None]:
    return asked.namespace, asked.name, _names(asked.dimensions, "Name")


def _same(asked: Watched, found: Iterable[Written]) -> list[Written]:
    """Those who write a metric by its name; none if that is not known of all who write into its namespace."""
    here = [one for one in found if one.namespace in (asked.namespace, None)]
    unknown = any(None in (one.namespace, one.name) for one in here)
    return [] if unknown else [one for one in here if one.name == asked.name]


def _of_a_service(asked: Watched, found: Iterable[Written], reader: str) -> Slips:
    """A metric of a filter or a function that somebody asks a service for, which has none of this name."""
    space, writer = namespaces().get(asked.namespace), next((one for one in found if one.name == asked.name), None)
    is_other = space is None and asked.namespace in OTHER_NAMESPACES and asked.dimensions in (ABSENT, ())
    if writer is not None and (is_other or (space is not None and not space.whole and asked.name not in space.metrics)):
        own = writer.namespace or "a namespace of its own"
        message = f"{writer.writer.logical_id} writes {asked.name} into {own}, and {reader} asks for it in {asked.namespace}"
        yield Slip(message, own, (*asked.path, "Namespace"), asked.namespace, dead=True)


def _variables(found: Iterable[Written]) -> Iterator[tuple[Resource, tuple[str, ...]]]:
    """The variables of functions with the namespace into which they write, or their code: that may be the mistake instead."""
    for one in found:
        names = [name for name, value in mapping(one.writer.get(*_VARIABLES)).items() if known(value) == one.namespace]
        if one.writer.type == FUNCTION and one.namespace is not None:
            yield from ((one.writer, (*_VARIABLES, name)) for name in names)
            yield from () if names else [(one.writer, ("Code", "ZipFile"))]


def own_metrics(model: Model) -> tuple[Written, ...]:
    """The metrics that the filters, the functions and the scripts of a model write; computed once."""
    return model.cached(own_metrics, lambda: (*_of_filters(model), *_of_functions(model), *_of_scripts(model)))


def _of_filters(model: Model) -> Iterator[Written]:
    for one in model.resources(FILTER):
        for _, each in entries(one.get("MetricTransformations")):
            namespace, name = (known(mapping(each).get(key, ABSENT)) for key in ("MetricNamespace", "MetricName"))
            names = _names(mapping(each).get("Dimensions", ABSENT), "Key")
            otherwise = mapping(each).get("DefaultValue", ABSENT)
            values = [as_float(mapping(each).get("MetricValue", ABSENT)), 0.0 if otherwise is ABSENT else as_float(otherwise)]
            most = None if None in values else max(value for value in values if value is not None)
            exclusive = bool(names) and otherwise is not ABSENT
            unit = known(mapping(each).get("Unit", _NO_UNIT))
            yield Written(one, namespace, name, None if exclusive else names, most, otherwise is not ABSENT, unit)


def _of_functions(model: Model) -> Iterator[Written]:
    for function in model.resources(FUNCTION):
        code = str(function.get("Code", "ZipFile"))
        calls = [one for one in calls_of(function) if one.operation.action == PUT] if _WRITES.search(code) else []
        for call in calls:
            namespace, data = (call.parameters.get(key, ABSENT) for key in ("namespace", "metricdata"))
            for each in [mapping(one) for _, one in entries(data)] or [{}]:
                names = _names(each.get("Dimensions", ABSENT), "Name")
                values = _dimension_values(each.get("Dimensions", ABSENT))
                name, arns = known(each.get("MetricName", ABSENT)), _arns(each.get("Dimensions", ABSENT))
                yield Written(function, known(namespace), name, names, values=values, arns=arns)
        if _IN_LINES.search(code) or (_WRITES.search(code) and not calls):
            yield Written(function, None, None, None)


def _of_scripts(model: Model) -> Iterator[Written]:
    for one in metrics_put(model):
        names = None if one.dimensions is None else frozenset(one.dimensions)
        values = {name: value for name, value in (one.dimensions or {}).items() if value is not None}
        known_values = values if names == values.keys() else None
        yield Written(one.writer, one.namespace, one.name, names, unit=one.unit, values=known_values, region=one.region)


def _names(dimensions: Value, key: str) -> frozenset[str] | None:
    """The names of dimensions; `None` if they are not all known."""
    found = [known(mapping(one).get(key, ABSENT)) for _, one in entries(dimensions)]
    whole = isinstance(dimensions, tuple) or dimensions is ABSENT
    return frozenset(map(str, found)) if whole and None not in found else None


def _region(alarm: Resource, asked: Watched, same: list[Written]) -> list[Slip]:
    """An alarm sees the metrics of its own region alone."""
    own, regions = region_of(alarm), {one.region for one in same}
    if own is None or None in regions or own in regions:
        return []
    message = f"{same[0].writer.logical_id} writes the metric in {same[0].region}, and the alarm is in {own}"
    return [Slip(message, own, (*asked.path, "MetricName"), asked.name, dead=True)]


def _unit(alarm: Resource, asked: Watched, same: list[Written]) -> list[Slip]:
    """An alarm with a unit sees the values of this unit alone."""
    path = asked.beside("Unit")
    unit, units = known(alarm.get(*path)), {one.unit for one in same}
    if unit is None or unit in units or None in units:
        return []
    message = f"{same[0].writer.logical_id} writes the metric with the unit {same[0].unit}, and the alarm asks for {unit}"
    return [Slip(message, "no Unit, or the unit of the filter", path, unit, dead=True)]


def _values(alarm: Resource, asked: Watched, same: list[Written]) -> list[Slip]:
    """Filters write the same value for each event: only a sum tells how many there are."""
    writer, limit, operator = same[0].writer.logical_id, asked.limit, known(alarm.get("ComparisonOperator")) or ""
    place = asked.beside("Stat" if asked.path else "Statistic")
    if asked.period is not None and asked.period < _LEAST_PERIOD and all(one.writer.type == FILTER for one in same):
        message = f"{writer} writes a value each minute, and the alarm asks for one each {asked.period} seconds"
        return [Slip(message, "60 or more", asked.beside("Period"), asked.period, dead=True)]
    if asked.statistic == "SampleCount" and any(one.otherwise for one in same):
        return [Slip(f"{writer} writes a value for nothing too, which SampleCount counts", "Sum", place, "SampleCount", dead=True)]
    if asked.statistic not in OF_VALUES or limit is None or any(one.most is None for one in same):
        return []
    most = max(one.most or 0.0 for one in same)
    if (operator == "GreaterThanThreshold" and limit >= most) or (operator == "GreaterThanOrEqualToThreshold" and limit > most):
        message = f"{writer} writes values of at most {most:g}, and their {asked.statistic} is never above {limit:g}"
        return [Slip(message, "Sum", place, asked.statistic, dead=True)]
    return []


def _seldom(alarm: Resource, asked: Watched, same: list[Written]) -> list[Slip]:
    """A function that writes more seldom than the alarm looks: missing values then decide alone."""
    periods, missing = as_int(alarm.get("EvaluationPeriods")), known(alarm.get("TreatMissingData"))
    hits, interval = as_int(alarm.get("DatapointsToAlarm")) or periods, _interval(same)
    if periods is None or hits is None or not asked.period or interval is None or interval < 2 * asked.period:
        return []
    reach = (periods + _FURTHER) * asked.period
    most, least = -(-reach // interval), reach // interval
    rings, never = missing == "breaching" and periods - least >= hits, missing == "notBreaching" and most < hits
    if not rings and not never:
        return []
    message = (
        f"{same[0].writer.logical_id} writes a value each {interval:,} seconds, and the alarm asks for one each {asked.period}"
    )
    how = "never rings" if never else "always rings" if periods - most >= hits else "rings between two values"
    says = f"{message}: it {how}"
    return [Slip(says, f"{interval} or more", asked.beside("Period"), asked.period, dead=True)]


def _silent(alarm: Resource, asked: Watched, same: list[Written]) -> list[Slip]:
    """A metric of functions that the clock no longer calls, of which an alarm misses every value."""
    writers = list(dict.fromkeys(one.writer for one in same))
    timers = [timers_off(one) if one.type == FUNCTION and callers_of(one) is None else [] for one in writers]
    if known(alarm.get("TreatMissingData")) != "breaching" or not all(timers):
        return []
    rule = timers[0][0]
    message = f"{rule.logical_id}, which has {writers[0].logical_id} write the metric, is off, and the alarm rings without values"
    return [Slip(message, f"State: ENABLED of {rule.logical_id}", ("TreatMissingData",), dead=True, beside=((rule, ("State",)),))]


def _interval(same: list[Written]) -> int | None:
    """The seconds between two values of the one function that writes a metric, if one rate calls it."""
    writers = {one.writer for one in same}
    if len(writers) != 1 or same[0].writer.type != FUNCTION:
        return None
    callers = callers_of(same[0].writer) or []
    rate = _RATE.fullmatch(known(callers[0].get("ScheduleExpression")) or "") if len(callers) == 1 else None
    return int(rate[1]) * _SECONDS[rate[2]] if rate is not None else None


def _dimensions(model: Model, asked: Watched, same: list[Written], reader: str) -> list[Slip]:
    """The dimensions of what writes and of who asks are the same: CloudWatch has a series for each set."""
    given = _names(asked.dimensions, "Name")
    if given is None or any(one.dimensions in (None, given) for one in same):
        return _names_of_arns(asked, same, reader) or _other_values(model, asked, same, reader)
    wanted = listed(sorted(same[0].dimensions or ())) or "no dimensions"
    says = f"the dimensions {listed(sorted(given))}" if given else "no dimensions"
    message = f"{same[0].writer.logical_id} writes the metric with {wanted}, and {reader} asks for it with {says}"
    return [Slip(message, wanted, (*asked.path, "Dimensions" if given else "MetricName"), dead=True)]


def _names_of_arns(asked: Watched, same: list[Written], reader: str) -> list[Slip]:
    """Dimensions with a name, where all who write the metric have the ARN."""
    for index, one in entries(asked.dimensions):
        name, value = known(mapping(one).get("Name", ABSENT)) or "", mapping(one).get("Value", ABSENT)
        text = known(value)
        is_name = (bool(text) and not str(text).startswith("arn:")) or _is_name(value)
        if is_name and all(name in each.arns for each in same):
            writer, arn = same[0].writer, same[0].arns[name]
            message = f"{writer.logical_id} writes the metric with {name} {quoted(arn)}, and {reader} asks for {quoted(value)}"
            names = [key for key, given in mapping(writer.get(*_VARIABLES)).items() if given == arn]
            beside = tuple((writer, (*_VARIABLES, key)) for key in names)
            place = (*asked.path, "Dimensions", index, "Value")
            return [Slip(message, "the same value for both", place, value, dead=True, beside=beside)]
    return []


def _arns(dimensions: Value) -> Mapping[str, Reference]:
    """The dimensions whose value is surely an ARN."""
    pairs = [(known(mapping(one).get("Name", ABSENT)), mapping(one).get("Value", ABSENT)) for _, one in entries(dimensions)]
    return {name: value for name, value in pairs if name and isinstance(value, Reference) and _is_arn(value)}


def _is_arn(value: Reference) -> bool:
    form = FORMS.get(target_of(value).type)
    return form is not None and value.attribute in form.arns and value.attribute not in form.names


def _is_name(value: Value) -> bool:
    form = FORMS.get(target_of(value).type) if isinstance(value, Reference) else None
    return form is not None and isinstance(value, Reference) and value.attribute in form.names and value.attribute not in form.arns


def _other_values(model: Model, asked: Watched, same: list[Written], reader: str) -> list[Slip]:
    """Values of dimensions with which nobody writes the metric."""
    given, written_ = _dimension_values(asked.dimensions), [one.values for one in same]
    if not given or None in written_ or given in written_ or not are_known(model, asked.namespace):
        return []
    wanted = next((one for one in written_ if one is not None and one.keys() == given.keys()), {})
    name = next((key for key in wanted if wanted[key] != given[key]), None)
    if name is None:
        return []
    message = f"{same[0].writer.logical_id} writes the metric with {name} {wanted[name]}, and {reader} asks for {given[name]}"
    return [Slip(message, wanted[name], (*asked.path, "Dimensions"), dead=True)]


def _dimension_values(dimensions: Value) -> Mapping[str, str] | None:
    """The values of dimensions by their names; `None` if they are not all known."""
    pairs = [tuple(known(mapping(one).get(key, ABSENT)) for key in ("Name", "Value")) for _, one in entries(dimensions)]
    found = {name: value for name, value in pairs if name is not None and value is not None}
    return found if len(found) == len(pairs) and (isinstance(dimensions, tuple) or dimensions is ABSENT) else None


def _beginning(name: str, names: Iterable[str]) -> str | None:
    """A name that begins with another, or that another begins with."""
    long = (one for one in sorted(names) if min(len(one), len(name)) > 5)
    return next((one for one in long if one.startswith(name) or name.startswith(one)), None)


def _turned(name: str, names: Iterable[str]) -> str | None:
    """A name of the same words in another order, as `NodesDown` for `DownNodes`."""
    words = sorted(_WORD.findall(name))
    return next((one for one in sorted(names) if len(words) > 1 and one != name and sorted(_WORD.findall(one)) == words), None)
