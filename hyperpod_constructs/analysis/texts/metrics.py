"""Metrics of CloudWatch: whether a service publishes them, under these dimensions, and as often as they are asked for.

Sources: https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/aws-services-cloudwatch-metrics.html and
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/cloudwatch_concepts.html
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from hyperpod_constructs.analysis.paths import place_in
from hyperpod_constructs.analysis.schema.violation import Path, listed, nearest, quoted
from hyperpod_constructs.analysis.texts.dimension_kinds import name_key, of_another_kind
from hyperpod_constructs.analysis.texts.own_names import nobodys
from hyperpod_constructs.analysis.texts.reading import HOLE, known, spelled
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge, entries, mapping
from hyperpod_constructs.analysis.typo import typo_of
from hyperpod_constructs.facts.metric_names import (
    DIMENSION_VALUES,
    EACH_MINUTE,
    ID_STARTS,
    KINDS,
    MINUTE,
    OTHER_NAMESPACES,
    PART_NAMES,
    VALUES,
    WHOLE_FAMILIES,
    Metric,
    Namespace,
    PartName,
    namespaces,
)
from hyperpod_constructs.facts.property_schemas import property_schema
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Model, Resource, resource_of, target_of
from hyperpod_constructs.templates.values import ABSENT, Reference, Value, as_int, as_str

_QUEUE = "AWS::SQS::Queue"
STREAM, DETECTOR = "AWS::CloudWatch::MetricStream", "AWS::CloudWatch::AnomalyDetector"
_SHOWN = 5
_NO_NAME = ("\0",)
"""No name of a metric begins so."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A metric that somebody asks for.

    :param dimensions: objects with Name and Value, as alarms have them.
    :param path: the place of the object with the metric.
    :param period: the seconds of a value, with the path of the period.
    :param model: the resources that dimensions may name by their names, if they are known.
    """

    namespace: str | None
    name: str | None
    dimensions: Value
    path: Path = ()
    period: tuple[int | None, Path] = (None, ())
    model: Model | None = None


def asked_of(
    metric: Mapping[str, Value], *path: str | int, period: Value = ABSENT, at: Path = (), model: Model | None = None
) -> Asked:
    """The metric of an object with Namespace, MetricName and Dimensions."""
    namespace, name = (known(metric.get(key, ABSENT)) for key in ("Namespace", "MetricName"))
    return Asked(namespace, name, metric.get("Dimensions", ABSENT), path, (as_int(period), at), model)


def published(asked: Asked) -> Slips:
    """Why a metric has no values for ever: one reason."""
    space = namespaces().get(asked.namespace or "")
    if space is None:
        yield from _namespace(asked)
        yield from _values(asked)[:1] if asked.namespace in OTHER_NAMESPACES else ()
        return
    reasons = (
        *(_name(asked, space), _names(asked, space), _values(asked), _set(asked, space)),
        *(_file_system(asked, space), _moved(asked)),
    )
    yield from (slip for reason in (*reasons, _period(asked, space)) for slip in reason[:1])


def _namespace(asked: Asked) -> Slips:
    near = typo_of(asked.namespace or "", (*namespaces(), *OTHER_NAMESPACES))
    service = namespaces().get(f"AWS/{asked.namespace}")
    if near is None and service is not None and asked.name in service.metrics:
        near = f"AWS/{asked.namespace}"
    if near:
        message = f"no service has the namespace {asked.namespace}; the nearest is {near}"
        yield Slip(message, near, (*asked.path, "Namespace"), asked.namespace, dead=True)
    else:
        yield from _elsewhere(asked)


def _elsewhere(asked: Asked) -> Iterator[Slip]:
    """A metric that is in another namespace; names such as cluster_node_count are of agents, and of no service."""
    of_aws = (asked.namespace or "").lower().startswith(("aws/", "/aws/"))
    own = namespaces().get(asked.namespace or "")
    owners = [name for name, space in namespaces().items() if asked.name in space.metrics]
    is_other = (own is not None and own.most) or (of_aws and re.fullmatch(r"[a-z]+(_[a-z]+)+", asked.name or ""))
    if own is None and of_aws and asked.namespace not in OTHER_NAMESPACES and not is_other:
        owners = [name for name in owners if _is_asked_of(namespaces()[name], asked)]
        is_other = bool(owners)
    if is_other and owners and asked.namespace not in owners:
        message = f"{asked.namespace} has no metric {asked.name}, which is in {' or '.join(owners)}"
        yield Slip(message, " or ".join(owners), (*asked.path, "Namespace"), asked.namespace, dead=True)


def _is_asked_of(space: Namespace, asked: Asked) -> bool:
    """Whether a service publishes a metric under the dimensions with which it is asked for."""
    given, metric = _given(asked.dimensions), space.metrics.get(asked.name or "")
    if not given or metric is None:
        return given is not None and metric is not None and any(_fits(given, *one) for one in metric.sets)
    return any(_fits(given, *one) for one in metric.sets) if metric.sets else given <= {*space.dimensions}


def _name(asked: Asked, space: Namespace) -> list[Slip]:
    name = asked.name
    if not name or name in space.metrics:
        return []
    near = typo_of(name, space.metrics) or _part_of(name, space.metrics)
    if near is None and not space.whole and not name.startswith(WHOLE_FAMILIES.get(asked.namespace or "", ())):
        return list(_elsewhere(asked))
    near = near or nearest(name, space.metrics)
    message = f"{asked.namespace} has no metric {name}{f'; the nearest is {near}' if near else ''}"
    return [Slip(message, _some(space.metrics), (*asked.path, "MetricName"), name, dead=True)]


def _part_of(name: str, names: Iterable[str]) -> str | None:
    """The metric of which a name is only the beginning."""
    return next((one for one in names if len(name) > 5 and one.startswith(name)), None)


def _some(names: Iterable[str]) -> str:
    """Some of many names."""
    found = list(names)
    return listed(found) if len(found) <= _SHOWN else f"{listed(found[:_SHOWN])} and others"


def _names(asked: Asked, space: Namespace) -> list[Slip]:
    """Dimensions of a namespace that has no others."""
    found = []
    for index, one in entries(asked.dimensions) if space.dimensions else ():
        name = known(mapping(one).get("Name", ABSENT))
        if name and name not in space.dimensions:
            message = f"metrics of {asked.namespace} have no dimension {name}"
            place = (*asked.path, "Dimensions", index, "Name")
            found.append(Slip(message, listed(space.dimensions), place, name, dead=True))
    return found


def _set(asked: Asked, space: Namespace) -> list[Slip]:
    """The dimensions of a metric together: CloudWatch has a series for each set, and none for a part of it."""
    metric = space.metrics.get(asked.name or "")
    given = _given(asked.dimensions)
    if metric is None or not metric.sets or given is None or any(_fits(given, *one) for one in metric.sets):
        return []
    if not given and not space.whole and not (asked.name or "").startswith(WHOLE_FAMILIES.get(asked.namespace or "", _NO_NAME)):
        return []
    wanted = " or ".join(" and ".join(sorted(names)) for names, _ in metric.sets)
    says = f"the dimensions {listed(sorted(given))}" if given else "no dimensions"
    message = f"{asked.namespace} publishes {asked.name} for {wanted}, and it is asked for with {says}"
    return [Slip(message, wanted, (*asked.path, "Dimensions") if given else (*asked.path, "MetricName"), dead=True)]


def _fits(given: frozenset[str], names: frozenset[str], more: bool) -> bool:
    return names <= given if more else names == given


def _given(dimensions: Value) -> frozenset[str] | None:
    """The names of dimensions; `None` if they are not all known."""
    if dimensions is not ABSENT and not isinstance(dimensions, tuple):
        return None
    found = [known(mapping(one).get("Name", ABSENT)) for _, one in entries(dimensions)]
    return None if None in found else frozenset(one for one in found if one)


def _values(asked: Asked) -> list[Slip]:
    """Dimensions whose value is a reference to another thing than is counted."""
    found = []
    for index, one in entries(asked.dimensions):
        name, given = known(mapping(one).get("Name", ABSENT)) or "", mapping(one).get("Value", ABSENT)
        if isinstance(given, Reference):
            message = _wrong(asked.namespace or "", name, given)
        else:
            message = (
                _no_value(asked, name, known(given))
                or _no_form(name, spelled(given))
                or _no_part(asked, name, known(given))
                or of_another_kind(asked.namespace or "", name, known(given), asked.model)
                or _no_name(asked, name, known(given))
            )
        if message is not None:
            says, meant = message
            place = (*asked.path, "Dimensions", index, "Value")
            found.append(Slip(f"the dimension {name} is {quoted(given)}, {says}", meant, place, given, dead=True))
    return found


def _no_value(asked: Asked, name: str, given: str | None) -> tuple[str, str] | None:
    """The value of a dimension that is for another metric, or misspelled."""
    metrics = VALUES.get((asked.namespace or "", name), {})
    values = metrics.get(asked.name or "", ())
    if not given or not values or given in values:
        return None
    others = {one for found in metrics.values() for one in found}
    near = values[0] if given in others else typo_of(given, values)
    return None if near is None else (f"under which {asked.name} is not published; it is under {near}", _some(values))


def _no_form(name: str, given: str | None) -> tuple[str, str] | None:
    """The beginning of a value, where that of a name, an id or an ARN is another."""
    if not given or given.startswith(HOLE):
        return None
    start = "arn:" if name.endswith("Arn") else ID_STARTS.get(name)
    if start is not None and not given.startswith(start):
        return f"which does not begin with {start}", f"{start}…"
    if start is None and name in DIMENSION_VALUES and given.startswith("arn:"):
        return "an ARN", f"the {'id' if name.endswith('Id') else 'name'} of {listed(DIMENSION_VALUES[name])}"
    return None


def _no_part(asked: Asked, name: str, given: str | None) -> tuple[str, str] | None:
    """The names of the parts of a resource, where a dimension is none of them."""
    part = PART_NAMES.get((asked.namespace or "", name))
    every = {known(mapping(one).get("Name", ABSENT)): mapping(one).get("Value", ABSENT) for _, one in entries(asked.dimensions)}
    whole = _whole(part, every.get(part.beside, ABSENT), asked.model) if part is not None else None
    holder = resource_of(whole.get(part.config)) if whole is not None and part is not None and part.config else whole
    if given is None or holder is None or part is None:
        return None
    names = [known(one) for place in part.places for _, one in place_in(holder.get(), place)]
    return None if None in names or not names or given in names else (f"which {holder.logical_id} does not have", listed(names))


def _no_name(asked: Asked, name: str, given: str | None) -> tuple[str, str] | None:
    """The name of the resource that is meant, where a dimension has its logical id or only the beginning or the end of it."""
    types = DIMENSION_VALUES.get(name, {})
    others = asked.model.resources(*types) if asked.model is not None and given and types else ()
    named = [(one, known(one.get(key)) if key else None) for one in others for key in (name_key(one),)]
    same = next((one for one, own in named if own == given), None)
    if not given or same is not None:
        is_other = same is not None and name.endswith("Id") and not types[same.type]
        return (f"the name of {same.logical_id}", "its id") if same is not None and is_other else None
    for one, own in named:
        if one.logical_id == given and name_key(one) and (own or one.get(name_key(one)) is ABSENT):
            right = (types[one.type] or ("Ref",))[0]
            return "the logical id of a resource", f"!Ref {given}" if right == "Ref" else f"!GetAtt {given}.{right}"
    names = [own for _, own in named if own]
    near = typo_of(given, names) or next((own for own in names if own.startswith(f"{given}-") or own.endswith(f"-{given}")), None)
    if near is not None:
        return f"and the nearest name is {near}", near
    if asked.model is None or not nobodys(asked.model, given, (one.get(name_key(one)) for one in others)):
        return None
    return f"which no {' or '.join(dict.fromkeys(one.type for one in others))} of the templates is called", listed(names)


def _whole(part: PartName, value: Value, model: Model | None) -> Resource | None:
    """The resource that a dimension names, by a reference or by its name."""
    name, others = known(value), () if model is None else model.resources(part.type)
    return resource_of(value, part.type) or next((one for one in others if name and known(one.get(part.beside)) == name), None)


def _wrong(namespace: str, name: str, given: Reference) -> tuple[str, str] | None:
    """What a reference gives that is not the value of its dimension, and what does; `None` if it may be right."""
    target, kinds = target_of(given), DIMENSION_VALUES.get(name, {})
    wanted = KINDS.get((namespace, name))
    if not kinds or property_schema(target.type) is None or target.type in _OF_OTHERS:
        return None
    if target.type not in kinds or wanted not in (None, target.type):
        return f"of {target.type}", f"a reference to {wanted or listed(kinds)}"
    right = kinds[target.type]
    if (given.attribute or "Ref") in right:
        return None
    if not right:
        return "and not its id", f"the last part of the ARN of {target.logical_id}, by Fn::Select of a Fn::Split at '/'"
    meant = f"!Ref {target.logical_id}" if right[0] == "Ref" else f"!GetAtt {target.logical_id}.{right[0]}"
    return f"which is another value than {meant}", meant


_OF_OTHERS = ("AWS::CloudFormation::Stack", "AWS::CloudFormation::CustomResource", "AWS::SSM::Parameter")
"""Types whose attributes give values of other things."""


def _file_system(asked: Asked, space: Namespace) -> list[Slip]:
    """A metric of other file systems than the one that is asked for."""
    metric = space.metrics.get(asked.name or "")
    for _, one in entries(asked.dimensions) if metric is not None and metric.of else ():
        given = mapping(one).get("Value", ABSENT)
        kind = as_str(target_of(given).get("FileSystemType")) if isinstance(given, Reference) else None
        if kind and metric is not None and kind not in metric.of:
            message = f"a file system of the type {kind} has no metric {asked.name}, which is of {listed(metric.of)}"
            others = [name for name, other in space.metrics.items() if kind in (other.of or (kind,))]
            near = nearest(asked.name or "", others)
            where = (*asked.path, "MetricName")
            return [Slip(message + (f"; the nearest is {near}" if near else ""), _some(others), where, asked.name, dead=True)]
    return []


def _moved(asked: Asked) -> list[Slip]:
    """A queue for messages that other queues move to it: these are not sent.

    Source: https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-dead-letter-queues-cloudwatch-metrics.html
    """
    queue = next((resource_of(mapping(one).get("Value", ABSENT), _QUEUE) for _, one in entries(asked.dimensions)), None)
    if asked.name != "NumberOfMessagesSent" or queue is None:
        return []
    others = (one.get("RedrivePolicy", "deadLetterTargetArn") for one in queue.template.model.resources(_QUEUE))
    if all(resource_of(one) is not queue for one in others):
        return []
    message = f"other queues move messages to {queue.logical_id}, and {asked.name} counts none of them"
    return [Slip(message, "ApproximateNumberOfMessagesVisible", (*asked.path, "MetricName"), asked.name, dead=True)]


def _period(asked: Asked, space: Namespace) -> list[Slip]:
    metric, (seconds, path) = space.metrics.get(asked.name or ""), asked.period
    least = _least(metric) or (MINUTE if metric is not None and asked.namespace in EACH_MINUTE else 0)
    if seconds is None or seconds >= least:
        return []
    message = f"{asked.name} has a value each {least:,} seconds, and it is asked for each {seconds:,}"
    return [Slip(message, f"{least:,} or more", path, seconds, dead=True)]


def _least(metric: Metric | None) -> int:
    return 0 if metric is None else metric.least_period


def stream(resource: Resource) -> Slips:
    """The namespaces and metrics that a stream is for, or not for."""
    for key in ("IncludeFilters", "ExcludeFilters"):
        for index, one in entries(resource.get(key)):
            yield from _filter(mapping(one), (key, index))


def _filter(one: Mapping[str, Value], path: Path) -> Iterator[Slip]:
    namespace = known(one.get("Namespace", ABSENT))
    yield from _namespace(Asked(namespace, None, ABSENT, path)) if namespace not in namespaces() else ()
    for index, name in entries(one.get("MetricNames", ABSENT)):
        for slip in published_name(namespace, known(name)):
            yield Slip(slip.message, slip.allowed, (*path, "MetricNames", index), slip.found, dead=True)


def published_name(namespace: str | None, name: str | None) -> Slips:
    """A name that is none of the metrics of its namespace."""
    space = namespaces().get(namespace or "")
    return () if space is None else _name(Asked(namespace, name, ABSENT), space)


def detector(resource: Resource) -> Slips:
    """The metric whose values a detector learns."""
    single = mapping(resource.get("SingleMetricAnomalyDetector"))
    yield from published(asked_of(resource.properties))
    yield from published(asked_of(single, "SingleMetricAnomalyDetector"))
    for index, query in entries(resource.get("MetricMathAnomalyDetector", "MetricDataQueries")):
        stat = mapping(mapping(query).get("MetricStat", ABSENT))
        path = ("MetricMathAnomalyDetector", "MetricDataQueries", index, "MetricStat")
        asked = asked_of(mapping(stat.get("Metric")), *path, "Metric", period=stat.get("Period", ABSENT), at=(*path, "Period"))
        yield from published(asked)


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {DETECTOR: detector, STREAM: stream}
