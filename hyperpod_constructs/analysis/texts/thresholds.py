"""Thresholds of alarms that the values of a metric never cross, or always do.

Source: https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/AlarmThatSendsEmail.html
"""

from __future__ import annotations

from collections.abc import Mapping

from hyperpod_constructs.analysis.texts.reading import known
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.facts.metric_names import namespaces
from hyperpod_constructs.facts.metric_ranges import BELOW_NOTHING, FREE, IN_BYTES, LEAST_BYTES, OF_VALUES, PERCENTAGES
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, as_float, as_items, at

_ALARM = "AWS::CloudWatch::Alarm"
_HUNDRED, _GIB = 100.0, 2**30


def threshold(alarm: Resource) -> Slips:
    """A threshold below nothing, or above all."""
    namespace, name = known(alarm.get("Namespace")) or "", known(alarm.get("MetricName")) or ""
    limit, operator = as_float(alarm.get("Threshold")), known(alarm.get("ComparisonOperator")) or ""
    space = namespaces().get(namespace)
    if limit is None or space is None or name not in space.metrics or name in BELOW_NOTHING.get(namespace, ()):
        return
    missing = known(alarm.get("TreatMissingData"))
    if missing != "breaching" and (
        (operator == "LessThanThreshold" and limit <= 0) or (operator == "LessThanOrEqualToThreshold" and limit < 0)
    ):
        yield Slip(f"{name} is never below {limit:g}", "a threshold above 0", ("Threshold",), alarm.get("Threshold"), dead=True)
    elif (operator == "GreaterThanOrEqualToThreshold" and limit <= 0) or (operator == "GreaterThanThreshold" and limit < 0):
        yield Slip(f"{name} is always {limit:g} or more", "a threshold above 0", ("Threshold",), alarm.get("Threshold"), dead=True)
    elif name in IN_BYTES.get(namespace, ()) and 1 < limit < LEAST_BYTES and known(alarm.get("Statistic")) != "SampleCount":
        message = f"{name} is in bytes, and the threshold is {limit:g}"
        yield Slip(message, "bytes, such as 500000000000", ("Threshold",), alarm.get("Threshold"), dead=True)
    elif name in PERCENTAGES.get(namespace, ()) and known(alarm.get("Statistic")) in OF_VALUES:
        never = (operator == "GreaterThanThreshold" and limit >= _HUNDRED) or (
            operator == "GreaterThanOrEqualToThreshold" and limit > _HUNDRED
        )
        if never:
            message = f"{name} is a percentage, and never above {limit:g}"
            yield Slip(message, "a threshold below 100", ("Threshold",), alarm.get("Threshold"), dead=True)
    yield from _of_a_size(alarm, namespace, name, limit)


def _of_a_size(alarm: Resource, namespace: str, name: str, limit: float) -> Slips:
    """An alarm of free space that is more than there is."""
    dimension, keys = FREE.get((namespace, name), ("", ()))
    named = (at(one, "Value") for one in as_items(alarm.get("Dimensions")) or () if at(one, "Name") == dimension)
    store = next((found for one in named if (found := resource_of(one)) is not None), None)
    sizes = [as_float(store.get(key)) for key in keys if store.get(key) is not ABSENT] if store is not None else []
    if store is None or not sizes or None in sizes:
        return
    most, operator = max(size for size in sizes if size is not None) * _GIB, known(alarm.get("ComparisonOperator")) or ""
    if limit > most and operator.startswith("LessThan"):
        message = f"{store.logical_id} has {most / _GIB:g} GiB, and always less than {limit:g} bytes free"
        yield Slip(message, f"less than {most:.0f}", ("Threshold",), alarm.get("Threshold"), dead=True)
    elif limit < most / 2 and operator.startswith("GreaterThan"):
        message = f"{store.logical_id} has {most / _GIB:g} GiB: the alarm rings while more than {limit:g} bytes of them are free"
        yield Slip(message, "LessThanThreshold, LessThanOrEqualToThreshold", ("ComparisonOperator",), operator)


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {_ALARM: threshold}
