"""The one metric behind an alarm: its own, the one that its list returns, or that of a sum such as `free / 1000000000`.

Source: https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from hyperpod_constructs.analysis.schema.violation import Path
from hyperpod_constructs.analysis.texts.reading import known
from hyperpod_constructs.analysis.texts.slip import entries, mapping
from hyperpod_constructs.templates.model import Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, Value, as_bool, as_float, as_int

_FACTOR = r"\d+(?:\.\d+)?(?:[eE]\d+)?"
_LINEAR = re.compile(rf"\s*(?:(?P<before>{_FACTOR})\s*\*\s*)?(?P<id>[a-z]\w*)(?:\s*(?P<operator>[*/])\s*(?P<factor>{_FACTOR}))?\s*")
"""A metric, times or by a number."""
_QUOTIENT = re.compile(r"(?:(?P<before>100)\*)?(?P<part>[a-z]\w*)/(?P<whole>[a-z]\w*)(?:\*(?P<behind>100))?")
"""A metric by another one, or 100 times that, without spaces and parentheses."""


@dataclass(frozen=True, slots=True)
class Watched:
    """The metric that an alarm watches; what is not known is `None`, or empty.

    :param limit: the threshold in the unit of the metric.
    :param path: the place of the metric.
    """

    namespace: str
    name: str
    dimensions: Value
    statistic: str
    period: int | None
    limit: float | None
    path: Path = ()

    def beside(self, key: str) -> Path:
        """The place of a property beside the metric: in its MetricStat, or in the alarm."""
        return (*self.path[:-1], key)

    def named(self, dimension: str) -> Resource | None:
        """The resource that a dimension names."""
        values = (mapping(one).get("Value", ABSENT) for _, one in entries(self.dimensions) if mapping(one).get("Name") == dimension)
        return next((found for one in values if (found := resource_of(one)) is not None), None)


def watched(alarm: Resource) -> Watched | None:
    """The metric of an alarm; `None` if it is not known, or if there are several."""
    limit, metrics = as_float(alarm.get("Threshold")), alarm.get("Metrics")
    if metrics is ABSENT:
        statistic = known(alarm.get("Statistic")) or known(alarm.get("ExtendedStatistic"))
        return _of(alarm.properties, statistic, as_int(alarm.get("Period")), limit, ())
    stats = dict(_stats(metrics))
    for id, expression in _returned(metrics):
        found = _LINEAR.fullmatch(expression or id)
        if found is None or found["id"] not in stats:
            return None
        index, stat = stats[found["id"]]
        path: Path = ("Metrics", index, "MetricStat", "Metric")
        scaled = None if limit is None else limit / _scale(found)
        return _of(mapping(stat.get("Metric")), known(stat.get("Stat")), as_int(stat.get("Period", ABSENT)), scaled, path)
    return None


def quotient(alarm: Resource) -> tuple[Watched, Watched, float] | None:
    """The two metrics of an alarm on `a / b`, or 100 times that, and the number before them; `None` for another alarm."""
    stats = dict(_stats(alarm.get("Metrics")))
    texts = [re.sub(r"[\s()]", "", text or "") for _, text in _returned(alarm.get("Metrics"))]
    found = [_QUOTIENT.fullmatch(text) for text in texts]
    if len(found) != 1 or found[0] is None or {found[0]["part"], found[0]["whole"]} - set(stats):
        return None
    pair = []
    for id in (found[0]["part"], found[0]["whole"]):
        index, stat = stats[id]
        path: Path = ("Metrics", index, "MetricStat", "Metric")
        pair.append(
            _of(
                mapping(stat.get("Metric")),
                known(stat.get("Stat")),
                as_int(stat.get("Period", ABSENT)),
                as_float(alarm.get("Threshold")),
                path,
            )
        )
    part, whole = pair
    times = float(found[0]["before"] or found[0]["behind"] or 1)
    return None if part is None or whole is None else (part, whole, times)


def _of(metric: Mapping[str, Value], statistic: str | None, period: int | None, limit: float | None, path: Path) -> Watched | None:
    namespace, name = (known(metric.get(key, ABSENT)) for key in ("Namespace", "MetricName"))
    if not namespace or not name:
        return None
    return Watched(namespace, name, metric.get("Dimensions", ABSENT), statistic or "", period, limit, path)


def _stats(metrics: Value) -> Iterator[tuple[str, tuple[int, Mapping[str, Value]]]]:
    """The metrics of a list by their ids."""
    for index, one in entries(metrics):
        id, stat = known(mapping(one).get("Id", ABSENT)), mapping(one).get("MetricStat", ABSENT)
        if id and isinstance(stat, Mapping):
            yield id, (index, stat)


def _returned(metrics: Value) -> list[tuple[str, str | None]]:
    """The id and the expression of the one metric that returns data; none if that is not known."""
    found = [mapping(one) for _, one in entries(metrics) if as_bool(mapping(one).get("ReturnData", True)) is not False]
    read = [(known(one.get("Id", ABSENT)), known(one.get("Expression", ABSENT))) for one in found]
    return [(id, expression) for id, expression in read if id] if len(read) == 1 else []


def _scale(found: re.Match[str]) -> float:
    """What a value is multiplied by; a factor of nothing counts as none."""
    before, factor = float(found["before"] or 1) or 1.0, float(found["factor"] or 1) or 1.0
    return before / factor if found["operator"] == "/" else before * factor
