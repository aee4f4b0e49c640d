"""Thresholds of alarms that the values of a metric never cross, or always do.

Source: https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/AlarmThatSendsEmail.html
"""

from __future__ import annotations

from collections.abc import Mapping

from hyperpod_constructs.analysis.texts.callers import rare_callers
from hyperpod_constructs.analysis.texts.reading import known
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.analysis.texts.watched import Watched, quotient, watched
from hyperpod_constructs.facts.metric_names import MINUTE, namespaces
from hyperpod_constructs.facts.metric_ranges import (
    BELOW_NOTHING,
    BOUNDS,
    FAILURES,
    FREE,
    GOOD_NAMES,
    GOOD_STATES,
    IN_BYTES,
    LEAST_BYTES,
    LEAST_MICROSECONDS,
    LEVELS,
    LITTLE_IS_GOOD,
    MICROSECONDS,
    MUCH_IS_GOOD,
    OF_EACH_DISK,
    OF_VALUES,
    ONE_EACH,
    PARTS,
    PERCENTAGES,
    USED,
)
from hyperpod_constructs.facts.metric_units import UNITS
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource, target_of
from hyperpod_constructs.templates.values import ABSENT, Reference, alternatives_of, as_float, as_items, placed_leaves

_ALARM = "AWS::CloudWatch::Alarm"
_HUNDRED, _GIB, _OPENZFS = 100.0, 2**30, "OPENZFS"
_MESSAGES = ("ApproximateNumberOfMessagesNotVisible", "ApproximateNumberOfMessagesVisible")
_LETTERS = frozenset(("DeadLetterConfig", "OnFailure", "RedrivePolicy"))
"""Properties that name a queue for what could not be processed."""
_SCALING = "::ScalingPolicy"
_OF_AWS = ("AWS/", "/aws/")
_OPERATOR = "ComparisonOperator"
_GREATER, _LESS = "GreaterThanThreshold, GreaterThanOrEqualToThreshold", "LessThanThreshold, LessThanOrEqualToThreshold"


def threshold(alarm: Resource) -> Slips:
    """A threshold below nothing, or above all."""
    found, operator = watched(alarm), known(alarm.get(_OPERATOR)) or ""
    space = namespaces().get(found.namespace) if found is not None else None
    if found is None or found.limit is None or space is None or found.name not in space.metrics:
        return
    for check in _CHECKS:
        slips = [*check(alarm, found, operator)]
        if slips:
            yield slips[0]
            return


def _never_above(operator: str, limit: float, most: float) -> bool:
    """Whether nothing that is at most so large crosses a limit."""
    return (operator == "GreaterThanThreshold" and limit >= most) or (operator == "GreaterThanOrEqualToThreshold" and limit > most)


def _always_below(operator: str, limit: float, most: float) -> bool:
    """Whether all that is at most so large crosses a limit."""
    return (operator == "LessThanThreshold" and limit > most) or (operator == "LessThanOrEqualToThreshold" and limit >= most)


def _told(alarm: Resource, message: str, allowed: str) -> Slip:
    return Slip(message, allowed, ("Threshold",), alarm.get("Threshold"), dead=True)


def _below_nothing(alarm: Resource, found: Watched, operator: str) -> Slips:
    """A count or a size that is asked to be less than nothing, or at least nothing."""
    limit, missing = found.limit or 0.0, known(alarm.get("TreatMissingData"))
    if found.name in BELOW_NOTHING.get(found.namespace, ()):
        return
    if missing != "breaching" and (
        (operator == "LessThanThreshold" and limit <= 0) or (operator == "LessThanOrEqualToThreshold" and limit < 0)
    ):
        yield _told(alarm, f"{found.name} is never below {limit:g}", "a threshold above 0")
    elif (operator == "GreaterThanOrEqualToThreshold" and limit <= 0) or (operator == "GreaterThanThreshold" and limit < 0):
        yield _told(alarm, f"{found.name} is always {limit:g} or more", "a threshold above 0")


def _of_another_unit(alarm: Resource, found: Watched, operator: str) -> Slips:
    """A number of bytes or microseconds that is too small to be one."""
    limit, name = found.limit or 0.0, found.name
    bound = BOUNDS.get((found.namespace, name))
    if name in IN_BYTES.get(found.namespace, ()) and 1 < limit < LEAST_BYTES and found.statistic != "SampleCount":
        yield _told(alarm, f"{name} is in bytes, and the threshold is {limit:g}", "bytes, such as 500000000000")
    elif name in MICROSECONDS.get(found.namespace, ()) and 0 < limit <= LEAST_MICROSECONDS and operator.startswith("Greater"):
        yield _told(alarm, f"{name} is in microseconds, and the threshold is {limit:g}", "microseconds, such as 500000")
    elif bound is not None and bound.scale > 1 and operator.startswith("Greater"):
        holder = found.named(bound.dimension)
        most = as_float(holder.get(bound.property)) if holder is not None else None
        if most is not None and 1 <= limit <= most and limit < most * bound.scale:
            message = f"{name} is in milliseconds, and the threshold is {limit:g}"
            yield _told(alarm, message, f"milliseconds, such as {most * bound.scale * 0.8:.0f}")


def _of_a_fraction(alarm: Resource, found: Watched, operator: str) -> Slips:
    """A part of one where a percentage is meant."""
    if found.name in PERCENTAGES.get(found.namespace, ()) and 0 < (found.limit or 0.0) < 1 and operator.startswith("Greater"):
        message = f"{found.name} is in percent, and the threshold is {found.limit:g}"
        yield _told(alarm, message, f"a percentage, such as {_HUNDRED * (found.limit or 0.0):g}")


def _above_all(alarm: Resource, found: Watched, operator: str) -> Slips:
    """A limit that no value reaches, or that a percentage always keeps."""
    limit, name, of_values = found.limit or 0.0, found.name, found.statistic in OF_VALUES or found.statistic.startswith("p")
    in_percent = of_values and name in PERCENTAGES.get(found.namespace, ())
    if in_percent and _never_above(operator, limit, _HUNDRED):
        yield _told(alarm, f"{name} is a percentage, and never above {limit:g}", "a threshold below 100")
    elif in_percent and _always_below(operator, limit, _HUNDRED):
        yield _told(alarm, f"{name} is a percentage, and always below {limit:g}", "a threshold of at most 100")
    elif name in ONE_EACH.get(found.namespace, ()) and of_values and _never_above(operator, limit, 1.0):
        message = f"{name} is 1 or 0 for each call: the statistic {found.statistic} is never above {limit:g}"
        yield _told(alarm, message, "the statistic Sum")
    elif bound := BOUNDS.get((found.namespace, name)) if of_values else None:
        holder = found.named(bound.dimension)
        value = ABSENT if holder is None else holder.get(bound.property)
        most = bound.otherwise if value is ABSENT else as_float(value)
        if holder is not None and most is not None and operator.startswith("Greater") and limit > most * bound.scale:
            message = f"{name} of {holder.logical_id} is never above {limit:g}, as its {bound.property} is {most:g}"
            yield _told(alarm, message, f"less than {most * bound.scale:g}")


def _rings_when_well(alarm: Resource, found: Watched, operator: str) -> Slips:
    """An alarm that rings while few things go wrong."""
    if _counts_failures(found.name) and operator.startswith("LessThan") and _tells_somebody(alarm):
        message = f"{found.name} counts what goes wrong: the alarm rings while it is less than {found.limit:g}"
        yield Slip(message, _GREATER, (_OPERATOR,), operator)


def _counts_failures(name: str) -> bool:
    return any(word in name.lower() for word in FAILURES)


def _tells_somebody(alarm: Resource) -> bool:
    """Whether an alarm has actions, and none that takes away what is too much: that is for the good side."""
    actions = alarm.get("AlarmActions")
    scaling = any(target_of(one).type.endswith(_SCALING) for one in as_items(actions) or () if isinstance(one, Reference))
    return actions not in (ABSENT, ()) and not scaling


def _on_the_good_side(alarm: Resource, found: Watched, operator: str) -> Slips:
    """An alarm that rings while little is used up or lost, or while much is left."""
    little = operator.startswith("LessThan") and (
        found.name in LITTLE_IS_GOOD.get(found.namespace, ()) or (found.name in _MESSAGES and _is_for_letters(found))
    )
    if little:
        says, allowed = f"little {found.name} is good: the alarm rings while it is less than", _GREATER
    elif operator.startswith("GreaterThan") and found.name in MUCH_IS_GOOD.get(found.namespace, ()):
        says, allowed = f"much {found.name} is good: the alarm rings while it is more than", _LESS
    else:
        return
    if found.limit and _tells_somebody(alarm):
        yield Slip(f"{says} {found.limit:g}", allowed, (_OPERATOR,), operator)


def _is_for_letters(found: Watched) -> bool:
    """Whether a queue is for the messages that nothing could process."""
    queue = found.named("QueueName")
    users = queue.template.model.resources() if queue is not None else ()
    leaves = (leaf for one in users for leaf in placed_leaves(one.get()))
    return any(
        _LETTERS & set(map(str, path)) for path, value in leaves if isinstance(value, Reference) and target_of(value) is queue
    )


def _size(found: Watched, places: Mapping[tuple[str, str], tuple[str, tuple[str, ...]]]) -> tuple[Resource, float] | None:
    """The store of a metric with the bytes that it has at most; `None` if they are not known."""
    dimension, keys = places.get((found.namespace, found.name), ("", ()))
    store = found.named(dimension)
    given = [store.get(key) for key in keys if store.get(key) is not ABSENT] if store is not None else []
    sizes = [as_float(one) for value in given for one in alternatives_of(value)]
    if store is None or not sizes or None in sizes:
        return None
    return store, max(size for size in sizes if size is not None) * _GIB


def _of_a_size(alarm: Resource, found: Watched, operator: str) -> Slips:
    """An alarm of free space that is more than there is."""
    known_size, limit = _size(found, FREE), found.limit or 0.0
    if known_size is None:
        return
    store, most = known_size
    if limit > most and operator.startswith("LessThan"):
        yield _told(
            alarm,
            f"{store.logical_id} has {most / _GIB:g} GiB, and always less than {limit:g} bytes free",
            f"less than {most:.0f}",
        )
    elif limit < most / 2 and operator.startswith("GreaterThan"):
        message = f"{store.logical_id} has {most / _GIB:g} GiB: the alarm rings while more than {limit:g} bytes of them are free"
        yield Slip(message, _LESS, (_OPERATOR,), operator)


def _of_use(alarm: Resource, found: Watched, operator: str) -> Slips:
    """An alarm of used space that is more than there is."""
    known_size, limit = _size(found, USED) if found.statistic in OF_VALUES else None, found.limit or 0.0
    if known_size is not None and known(known_size[0].get("FileSystemType")) == _OPENZFS:
        store, most = known_size
        if _never_above(operator, limit, most):
            message = f"{store.logical_id} has {most / _GIB:g} GiB, of which never more than {limit:g} bytes are used"
            yield _told(alarm, message, f"less than {most:.0f}")


def _of_samples(alarm: Resource, found: Watched, operator: str) -> Slips:
    """A size that is compared with the number of values."""
    if found.statistic == "SampleCount" and found.name in IN_BYTES.get(found.namespace, ()) and (found.limit or 0.0) >= LEAST_BYTES:
        message = f"SampleCount is how many values of {found.name} there are, and the threshold is {found.limit:g} bytes"
        allowed = "Sum" if found.name in OF_EACH_DISK.get(found.namespace, ()) else "Average, Maximum or Minimum"
        yield Slip(message, allowed, found.beside("Stat") if found.path else ("Statistic",), "SampleCount", dead=True)


_CHECKS = (
    *(_of_samples, _below_nothing, _of_a_fraction, _of_another_unit, _above_all, _rings_when_well, _of_a_size, _of_use),
    _on_the_good_side,
)
"""The checks of a threshold, of which the first that finds something tells it."""

JUDGES: Mapping[Language, Judge] = {}


def unit(alarm: Resource) -> Slips:
    """A unit in which a service does not publish the metric: CloudWatch converts none."""
    found = watched(alarm)
    right = None if found is None else UNITS.get((found.namespace, found.name))
    path = () if found is None else found.beside("Unit")
    given = known(alarm.get(*path)) if path and found is not None and found.statistic != "SampleCount" else None
    if found is not None and right is not None and given is not None and given != right:
        yield Slip(
            f"{found.name} is published in {right}, and the alarm asks for {given}", f"no Unit, or {right}", path, given, dead=True
        )


def _rings_for_few_of_its_own(alarm: Resource) -> Slips:
    """An alarm on a metric of one's own that counts failures, which rings while there are few."""
    found, operator = watched(alarm), known(alarm.get(_OPERATOR)) or ""
    if found is None or found.limit is None or found.namespace in namespaces() or found.namespace.startswith(_OF_AWS):
        return
    if not any(word in found.name.lower() for word in GOOD_NAMES):
        yield from _rings_when_well(alarm, found, operator)


def _rings_for_good_states(alarm: Resource) -> Slips:
    """An alarm on a metric that is 1 while all is well, which rings then."""
    found, operator = watched(alarm), known(alarm.get(_OPERATOR)) or ""
    good = found is not None and found.name in GOOD_STATES.get(found.namespace, ()) and found.statistic != "SampleCount"
    if found is not None and good and operator.startswith("Greater") and alarm.get("AlarmActions") not in (ABSENT, ()):
        message = f"{found.name} is 1 while all is well: the alarm rings while it is more than {found.limit or 0:g}"
        yield Slip(message, "LessThanThreshold", (_OPERATOR,), operator)


def _of_a_quotient(alarm: Resource) -> Slips:
    """A part of a whole, or a percentage, that is asked to be more than all, or to be a fraction."""
    found, operator = quotient(alarm), known(alarm.get(_OPERATOR)) or ""
    if found is None or found[0].limit is None:
        return
    part, whole, most = found
    limit, of = part.limit or 0.0, PARTS.get(part.namespace, {}).get(whole.name, ())
    if part.namespace != whole.namespace or part.name not in of:
        return
    if part.statistic != whole.statistic:
        yield from _of_two_statistics(part, whole)
        return
    if operator.startswith("LessThan"):
        yield from _of_little(alarm, part, most)
    elif operator.startswith("Greater") and most == _HUNDRED and 0 < limit < 1 and not _counts_failures(part.name):
        message = f"the expression is in percent, and the threshold is {limit:g}"
        yield _told(alarm, message, f"a percentage, such as {_HUNDRED * limit:g}")
    elif operator.startswith("Greater") and _never_above(operator, limit, most):
        yield _told(alarm, f"{part.name} is a part of {whole.name}: the expression is never above {limit:g}", f"less than {most:g}")


def _of_two_statistics(part: Watched, whole: Watched) -> Slips:
    """A sum over some minutes by a value of one of them, or the reverse."""
    known_ones = {part.statistic, whole.statistic} <= {"Sum", *OF_VALUES}
    if known_ones and "Sum" in (part.statistic, whole.statistic) and min(part.period or 0, whole.period or 0) > MINUTE:
        message = f"the expression divides the {part.statistic} of {part.name} by the {whole.statistic} of {whole.name}"
        yield Slip(message, f"{whole.statistic} for both", part.beside("Stat"), part.statistic, dead=True)


def _of_little(alarm: Resource, part: Watched, most: float) -> Slips:
    """A quotient of failures that rings while there are few, or of what is used while that is less than half of it or more."""
    limit = part.limit or 0.0
    is_used = part.name in LITTLE_IS_GOOD.get(part.namespace, ()) and most / 2 <= limit <= most
    if (is_used or _counts_failures(part.name)) and _tells_somebody(alarm):
        message = f"little {part.name} is good: the alarm rings while it is less than {limit:g}"
        yield Slip(message, _GREATER, (_OPERATOR,), known(alarm.get(_OPERATOR)))


def _of_a_sum(alarm: Resource) -> Slips:
    """A sum over some minutes of values that each say how things stand."""
    found = watched(alarm)
    if found is None or found.statistic != "Sum" or (found.period or 0) <= MINUTE:
        return
    if found.name in LEVELS.get(found.namespace, ()):
        allowed, path, given = "Average, Maximum or Minimum", found.beside("Stat") if found.path else ("Statistic",), "Sum"
    elif found.name in OF_EACH_DISK.get(found.namespace, ()):
        allowed, path, given = f"a Period of {MINUTE}", found.beside("Period"), f"{found.period}"
    else:
        return
    message = f"{found.name} has a value each minute, and Sum adds up those of {found.period} seconds"
    yield Slip(message, allowed, path, given, dead=True)


def _rings_without_calls(alarm: Resource) -> Slips:
    """An alarm of a function that takes missing values for bad ones, where only events call the function, and none may come."""
    found, operator = watched(alarm), known(alarm.get(_OPERATOR)) or ""
    of_calls = found is not None and found.namespace == "AWS/Lambda" and found.name in (*ONE_EACH["AWS/Lambda"], "Duration")
    function = found.named("FunctionName") if of_calls and found is not None else None
    if function is None or not operator.startswith("Greater") or known(alarm.get("TreatMissingData")) != "breaching":
        return
    callers = rare_callers(function)
    if callers and found is not None:
        message = (
            f"{function.logical_id} has values of {found.name} only when {callers[0].logical_id} calls it, and the alarm rings "
            "without values"
        )
        yield Slip(message, "notBreaching", ("TreatMissingData",), "breaching", dead=True)


def _threshold_and_unit(alarm: Resource) -> Slips:
    yield from threshold(alarm)
    yield from _of_a_quotient(alarm)
    yield from _of_a_sum(alarm)
    yield from _rings_for_good_states(alarm)
    yield from _rings_for_few_of_its_own(alarm)
    yield from unit(alarm)
    yield from _rings_without_calls(alarm)


WHOLES: Mapping[str, WholeJudge] = {_ALARM: _threshold_and_unit}
