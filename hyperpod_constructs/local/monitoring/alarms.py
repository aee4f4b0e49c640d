"""The state of a metric alarm, by its periods, its statistic and its treatment of missing data.

Each evaluation looks back from now over as many periods as the alarm has; older points count for nothing. CloudWatch looks somewhat
further back when the newest points are missing.

Source: https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarms-and-missing-data.html
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

ALARM, OK, UNKNOWN = "ALARM", "OK", "INSUFFICIENT_DATA"

Points = Sequence[Mapping[str, Any]]
Statistic = Callable[[Points], float | None]

_COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    "GreaterThanOrEqualToThreshold": operator.ge,
    "GreaterThanThreshold": operator.gt,
    "LessThanThreshold": operator.lt,
    "LessThanOrEqualToThreshold": operator.le,
}


class State(NamedTuple):
    """A state of an alarm, and its reason."""

    value: str
    reason: str


def evaluated(alarm: Mapping[str, Any], points: Points, now: float, statistic: Statistic) -> State | None:
    """The state that the points give an alarm; `None` if it stays as it is.

    :param points: those of the alarm's metric, with `Timestamp` and `Unit`.
    :param statistic: the alarm's statistic of the points of one period.
    """
    compare = _COMPARISONS.get(alarm["ComparisonOperator"])
    if compare is None:
        return None  # bands of anomaly detection need a model
    unit = alarm.get("Unit")
    used = [point for point in points if unit is None or point.get("Unit", "None") == unit]
    values = [statistic(period) for period in _periods(alarm, used, now)]
    present = [value for value in values if value is not None]
    breaching = [compare(value, alarm["Threshold"]) for value in present]
    missing = len(values) - len(present)
    needed = alarm.get("DatapointsToAlarm", len(values))
    treatment = alarm.get("TreatMissingData", "missing")
    if not present and treatment in ("missing", "ignore"):
        return State(UNKNOWN, f"Insufficient Data: {missing} datapoints were unknown.") if treatment == "missing" else None
    if treatment == "ignore" and missing and sum(breaching) < needed:
        return None
    least = min(needed, len(present)) if treatment == "missing" else needed
    count = sum(breaching) + (missing if treatment == "breaching" else 0)
    return State(ALARM if count >= least else OK, _reason(alarm, present, missing, count))


def _periods(alarm: Mapping[str, Any], points: Points, now: float) -> list[Points]:
    """The points of each period, the newest first. The newest period ends now."""
    seconds, count = alarm["Period"], alarm["EvaluationPeriods"]
    found: list[list[Mapping[str, Any]]] = [[] for _ in range(count)]
    for point in points:
        position = int((now - point["Timestamp"]) // seconds)
        if 0 <= position < count:
            found[position].append(point)
    return list(found)


def _reason(alarm: Mapping[str, Any], present: Sequence[float], missing: int, count: int) -> str:
    shown = ", ".join(f"{value:g}" for value in present) or "none"
    lacking = f", {missing} missing" if missing else ""
    return f"Threshold Crossed: {count} of [{shown}]{lacking}: {alarm['ComparisonOperator']} {alarm['Threshold']:g}"
