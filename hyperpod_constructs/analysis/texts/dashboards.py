"""Dashboards of CloudWatch, as text in JSON.

Source: https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/CloudWatch-Dashboard-Body-Structure.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from hyperpod_constructs.analysis.embedded import values_in
from hyperpod_constructs.analysis.regions import region_of
from hyperpod_constructs.analysis.schema.violation import listed, nearest, quoted
from hyperpod_constructs.analysis.texts.alarms import period, statistic
from hyperpod_constructs.analysis.texts.arns import arn_of
from hyperpod_constructs.analysis.texts.log_queries import query
from hyperpod_constructs.analysis.texts.metrics import asked_of, published
from hyperpod_constructs.analysis.texts.own_metrics import is_asked_by_an_alarm, own_metrics, unwritten
from hyperpod_constructs.analysis.texts.reading import HOLE, from_json, known, spelled
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge, entries, mapping
from hyperpod_constructs.analysis.texts.watched import Watched
from hyperpod_constructs.facts.metric_names import GLOBAL_NAMESPACES
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Model, Resource, target_of
from hyperpod_constructs.templates.values import ABSENT, Reference, Value, as_items, at

_TYPES: Mapping[str, tuple[str, ...]] = {
    "metric": ("region",),
    "text": ("markdown",),
    "log": ("query", "region"),
    "alarm": ("alarms",),
    "explorer": ("metrics", "labels"),
    "custom": ("endpoint",),
}
"""The kinds of widgets, and what the properties of each need."""
_LIMITS = {"x": (0, 23), "y": (0, 100_000), "width": (1, 24), "height": (1, 1000)}
_MOST_WIDGETS, _BODY = 500, "DashboardBody"


def dashboard(value: Value) -> Slips:
    """The body of a dashboard."""
    body = from_json(value)
    if isinstance(body, Slip):
        yield body
    elif isinstance(body, Mapping):
        widgets = body.get("widgets")
        if _is_open(widgets):
            return
        if not isinstance(widgets, tuple):
            yield Slip("the dashboard has no list of widgets", "an object with the list widgets")
            return
        if len(widgets) > _MOST_WIDGETS:
            yield Slip(f"the dashboard has {len(widgets)} widgets", f"at most {_MOST_WIDGETS}")
        for index, widget in enumerate(widgets[:_MOST_WIDGETS]):
            if not _is_open(widget):
                yield from _widget(f"widgets/{index}", mapping(widget))
    elif body is not None:
        yield Slip(f"the dashboard is {quoted(body)}", "an object with the list widgets")


def board(resource: Resource) -> Slips:
    """The references in a body: alarms by their ARNs, and the values of dimensions."""
    widgets = at(values_in(resource.get(_BODY)), "widgets")
    for index, widget in entries(widgets):
        kind, properties = known(at(widget, "type")), at(widget, "properties")
        found = (
            _alarms(properties) if kind == "alarm" else (*_own(properties, resource.template.model), *_far(properties, resource))
        )
        for where, slip in found if kind in ("alarm", "metric") else ():
            message = f"{where} of widgets/{index}: {slip.message}"
            yield Slip(message, slip.allowed, (_BODY,), dead=True)
            return


def _alarms(properties: Value) -> Iterator[tuple[str, Slip]]:
    """The alarms of a widget that are given by another value than their ARN."""
    for place, one in entries(at(properties, "alarms")):
        yield from ((f"alarms/{place}", slip) for slip in arn_of(one, ("cloudwatch",)))


def _own(properties: Value, model: Model) -> Iterator[tuple[str, Slip]]:
    """Metrics that the templates do not write so, and dimensions whose value is a reference to another thing than is counted."""
    for place, one in entries(at(properties, "metrics")):
        parts = [part for part in as_items(one) or () if not isinstance(part, Mapping)]
        if len(parts) < 2 or len(parts) % 2 or any(part in (".", "...") for part in parts):
            continue
        given = tuple({"Name": name, "Value": value} for name, value in zip(parts[2::2], parts[3::2], strict=True))
        asked = asked_of({"Namespace": parts[0], "MetricName": parts[1], "Dimensions": given}, model=model)
        yield from ((f"metrics/{place}", slip) for slip in published(asked) if isinstance(slip.found, Reference))
        if asked.namespace and asked.name:
            watched = Watched(asked.namespace, asked.name, given, "", None, None)
            found = () if is_asked_by_an_alarm(watched, model) else unwritten(watched, model, "the widget")
            yield from ((f"metrics/{place}", slip) for slip in found)


def _far(properties: Value, board: Resource) -> Iterator[tuple[str, Slip]]:
    """Metrics of the templates' own resources, and those that they write, in another region than theirs."""
    region, home = known(at(properties, "region")), region_of(board)
    if not region or not home or region == home:
        return
    for place, one in entries(at(properties, "metrics")):
        parts = as_items(one) or ()
        options = parts[-1] if parts and isinstance(parts[-1], Mapping) else {}
        if "region" not in options and "accountId" not in options and _is_of(board, parts, home):
            message = f"the metric is in {home}, and the widget asks for it in {region}"
            yield f"metrics/{place}", Slip(message, home, found=region, dead=True)
            return


def _is_of(board: Resource, parts: Sequence[Value], home: str) -> bool:
    """Whether a resource of a region has a metric, or something of the templates writes it there."""
    if len(parts) < 2 or known(parts[0]) in GLOBAL_NAMESPACES:
        return False
    named = [target_of(one) for one in parts[2:] if isinstance(one, Reference)]
    written = any(known(parts[0]) == one.namespace and known(parts[1]) == one.name for one in own_metrics(board.template.model))
    return any(region_of(one) == home for one in named) if named else written and known(parts[0]) is not None


def _is_open(value: Value) -> bool:
    return isinstance(value, str) and HOLE in value


def _widget(place: str, widget: Mapping[str, Value]) -> Slips:
    kind = widget.get("type")
    if _is_open(kind) or _is_open(widget.get("properties")):
        return
    if kind not in _TYPES:
        near = nearest(str(kind), _TYPES)
        yield Slip(f"{place} has the type {quoted(kind)}{f'; the nearest is {near}' if near else ''}", listed(_TYPES))
        return
    for name, (least, most) in _LIMITS.items():
        number = widget.get(name)
        if isinstance(number, int | float) and not least <= number <= most:
            yield Slip(f"{name} of {place} is {number}", f"{least} to {most}")
    properties = widget.get("properties")
    if not isinstance(properties, Mapping):
        yield Slip(f"{place} has no properties", "an object")
        return
    for name in _TYPES[str(kind)]:
        if name not in properties:
            yield Slip(
                f"{place}, of the type {kind}, has no {name} in its properties", f"{listed(_TYPES[str(kind)])} in its properties"
            )
    if kind == "metric":
        yield from _metrics(place, properties)
    text = spelled(properties.get("query", ABSENT)) if kind == "log" and properties.get("queryLanguage", "CWLI") == "CWLI" else None
    yield from (Slip(f"{slip.message} ({place})", slip.allowed, dead=True) for slip in query(text or ""))


def _metrics(place: str, properties: Mapping[str, Value]) -> Slips:
    metrics = properties.get("metrics", ())
    if _is_open(metrics):
        return
    if not isinstance(metrics, tuple):
        yield Slip(f"metrics of {place} are {quoted(metrics)}", "a list of lists")
        return
    yield from _expressions(place, metrics)
    for index, metric in enumerate(metrics):
        if _is_open(metric):
            continue
        if not isinstance(metric, tuple) or not metric:
            yield Slip(
                f"metrics/{index} of {place} is {quoted(metric)}", "a list: namespace, name, then names and values of dimensions"
            )
        elif _is_odd(metric):
            yield Slip(f"metrics/{index} of {place} has a dimension without a value", "pairs of names and values of dimensions")
        else:
            yield from _published(f"metrics/{index} of {place}", metric)
    view = properties.get("view")
    if view is not None and view not in _VIEWS and not _is_open(view):
        near = nearest(str(view), _VIEWS)
        yield Slip(f"the view of {place} is {quoted(view)}{f'; the nearest is {near}' if near else ''}", listed(_VIEWS))
    stats = [properties.get("stat"), *(mapping(one[-1]).get("stat") for one in metrics if isinstance(one, tuple) and one)]
    yield from (Slip(f"{slip.message} ({place})", slip.allowed) for one in stats if one is not None for slip in statistic(one))
    if isinstance(properties.get("period"), int):
        for slip in period(properties["period"]):
            yield Slip(f"{slip.message} ({place})", slip.allowed)


def _published(where: str, metric: tuple[Value, ...]) -> Slips:
    """A metric that its service does not publish; one that repeats parts of the metric before is believed."""
    parts = [part for part in metric if isinstance(part, str)]
    if len(parts) < 2 or any(part in (".", "...") for part in parts) or len(parts) % 2:
        return
    dimensions = tuple({"Name": name, "Value": value} for name, value in zip(parts[2::2], parts[3::2], strict=True))
    for slip in published(asked_of({"Namespace": parts[0], "MetricName": parts[1], "Dimensions": dimensions})):
        yield Slip(f"{where}: {slip.message}", slip.allowed, dead=True)


_OWN_ID = re.compile(r"[a-z]\d+")
"""An id that CloudWatch gives to a metric without one."""


def _expressions(place: str, metrics: tuple[Value, ...]) -> Slips:
    """Expressions over metrics of the same widget, by their ids."""
    options = [mapping(one[-1]) for one in metrics if isinstance(one, tuple) and one and isinstance(one[-1], Mapping)]
    ids = [one["id"] for one in options if isinstance(one.get("id"), str)]
    if any(_is_open(one) for one in (*ids, *metrics)):
        return
    for one in options:
        text = one.get("expression")
        for word in re.findall(r"(?<![\w'\"(])[a-z]\w*(?![\w(])", text) if isinstance(text, str) and _is_plain(text) else ():
            if word not in ids and not _OWN_ID.fullmatch(word):
                yield Slip(f"an expression of {place} names {word!r}, and no metric has this id", f"ids: {listed(ids)}", dead=True)
                return


def _is_plain(text: str) -> bool:
    """Whether an expression is arithmetic over ids: a search and a query have words of their own."""
    return re.fullmatch(r"[\w\s.+*/()-]+", text) is not None


_VIEWS = ("timeSeries", "singleValue", "gauge", "bar", "pie", "table")


def _is_odd(metric: tuple[Value, ...]) -> bool:
    """Whether a metric surely has a dimension without a value; `.` and `...` repeat those of the metric before."""
    texts = [part for part in metric if isinstance(part, str)]
    options = isinstance(metric[-1], Mapping)
    if len(texts) < len(metric) - options or any(part in (".", "...") or _is_open(part) for part in texts):
        return False
    return bool(texts) and len(texts) % 2 == 1


JUDGES: Mapping[Language, Judge] = {Language.DASHBOARD: dashboard}
WHOLES: Mapping[str, WholeJudge] = {"AWS::CloudWatch::Dashboard": board}
