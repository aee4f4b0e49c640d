"""Budgets: notifications that differ, with one topic each, thresholds in the right unit, and forecasts that there are.

Sources: https://docs.aws.amazon.com/aws-cost-management/latest/APIReference/API_budgets_Notification.html,
https://docs.aws.amazon.com/cost-management/latest/userguide/management-limits.html and
https://docs.aws.amazon.com/cost-management/latest/userguide/create-cost-budget.html
"""

from __future__ import annotations

from collections.abc import Mapping

from hyperpod_constructs.analysis.paths import place_in
from hyperpod_constructs.analysis.schema.violation import listed
from hyperpod_constructs.analysis.texts.reading import known
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge, entries, mapping
from hyperpod_constructs.analysis.typo import typo_of
from hyperpod_constructs.facts.cost_explorer import FILTERS, NO_SERVICES
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.values import ABSENT, Value, as_float, as_str

BUDGET, _LIST = "AWS::Budgets::Budget", "NotificationsWithSubscribers"
_MOST_MAILS, _HUNDRED = 10, 100.0
_MOST_PERCENT, _LEAST_PART = 1000.0, 1000.0
"""A percentage above the first is an amount, and an amount below such a part of the budget is a percentage."""


def notifications(budget: Resource) -> Slips:
    """The filters and the notifications of a budget."""
    yield from _filters(budget)
    daily = as_str(budget.get("Budget", "TimeUnit")) == "DAILY"
    seen: set[tuple[object, ...]] = set()
    for index, one in entries(budget.get(_LIST)):
        notification = mapping(mapping(one).get("Notification", ABSENT))
        kind, operator = (known(notification.get(key, ABSENT)) for key in ("NotificationType", "ComparisonOperator"))
        what = (kind, operator, as_float(notification.get("Threshold", ABSENT)), notification.get("ThresholdType", "PERCENTAGE"))
        if None not in what[:3] and what in seen:
            yield Slip(f"two notifications are for {kind} {operator} {what[2]:g}", "different ones", (_LIST, index, "Notification"))
        seen.add(what)
        if daily and kind == "FORECASTED":
            yield Slip("a daily budget has no forecasts", "ACTUAL", (_LIST, index, "Notification", "NotificationType"), kind)
        for slip in (*_limit(budget, notification), *_fraction(budget, notification)):
            yield slip.below(_LIST, index, "Notification")
        for slip in _subscribers(mapping(one)):
            yield slip.below(_LIST, index, "Subscribers")


def _filters(budget: Resource) -> Slips:
    """Filters are called as the dimensions of costs, and services as in a bill."""
    for name, value in mapping(budget.get("Budget", "CostFilters")).items():
        near = typo_of(name, FILTERS)
        if near is not None:
            message = f"costs have no dimension {name}; the nearest is {near}"
            yield Slip(message, listed(FILTERS), ("Budget", "CostFilters", name), value)
    for path, value in place_in(budget.get("Budget"), "CostFilters/Service/*"):
        text = known(value) or ""
        right = next((one for pattern, one in NO_SERVICES.items() if pattern.fullmatch(text)), None)
        if right is not None:
            yield Slip(f"a bill has no service {text}; these costs are of {right}", right, ("Budget", *path), value, dead=True)


def _limit(budget: Resource, notification: Mapping[str, Value]) -> Slips:
    """A notification of spending comes above its threshold, which is a part of the budget."""
    kind, threshold = known(notification.get("ThresholdType", "PERCENTAGE")), as_float(notification.get("Threshold", ABSENT))
    whole, operator = as_float(budget.get("Budget", "BudgetLimit", "Amount")), known(notification.get("ComparisonOperator", ABSENT))
    if known(budget.get("Budget", "BudgetType")) not in ("COST", "USAGE") or threshold is None:
        return
    if operator == "LESS_THAN":
        message = "the notification comes while less is spent than the threshold"
        yield Slip(message, "GREATER_THAN", ("ComparisonOperator",), operator)
    elif kind == "PERCENTAGE" and threshold > _MOST_PERCENT:
        message = f"the notification comes above {threshold:g} percent of the budget"
        yield Slip(message, "a percentage such as 80, or ThresholdType: ABSOLUTE_VALUE", ("Threshold",), threshold, dead=True)
    elif kind == "ABSOLUTE_VALUE" and whole is not None and threshold <= whole / _LEAST_PART and threshold <= _MOST_PERCENT:
        message = f"the notification comes above {threshold:g} of {whole:g}"
        yield Slip(message, "an amount, or ThresholdType: PERCENTAGE", ("ThresholdType",), kind)


def _fraction(budget: Resource, notification: Mapping[str, Value]) -> Slips:
    """A part of one where a percentage is meant: no notification of the budget has a percentage above one.

    One that comes with the first dollar may be meant.
    """
    threshold, most = _percentage(notification), _highest_percentage(budget)
    whole = as_float(budget.get("Budget", "BudgetLimit", "Amount"))
    little = whole is not None and threshold is not None and whole * threshold / _HUNDRED <= 1.0
    if threshold is None or most is None or threshold <= 0 or most > 1.0 or little:
        return
    if known(budget.get("Budget", "BudgetType")) in ("COST", "USAGE"):
        message = f"the threshold is in percent: the notification comes above {threshold:g} percent of the budget"
        yield Slip(message, f"a percentage such as {threshold * _HUNDRED:g}", ("Threshold",), threshold, dead=True)


def _highest_percentage(budget: Resource) -> float | None:
    """The highest threshold of a budget in percent; `None` if one is not known, or there is none."""
    notifications = [mapping(mapping(one).get("Notification", ABSENT)) for _, one in entries(budget.get(_LIST))]
    relative = [one for one in notifications if known(one.get("ThresholdType", "PERCENTAGE")) != "ABSOLUTE_VALUE"]
    found = [_percentage(one) for one in relative]
    return None if None in found else max((one for one in found if one is not None), default=None)


def _percentage(notification: Mapping[str, Value]) -> float | None:
    is_relative = known(notification.get("ThresholdType", "PERCENTAGE")) == "PERCENTAGE"
    return as_float(notification.get("Threshold", ABSENT)) if is_relative else None


def _subscribers(notification: Mapping[str, Value]) -> Slips:
    """One topic and ten mail addresses at most."""
    subscribers = notification.get("Subscribers")
    found = [mapping(one) for one in subscribers] if isinstance(subscribers, tuple) else []
    kinds = [known(one.get("SubscriptionType", ABSENT)) for one in found]
    for kind, most in (("SNS", 1), ("EMAIL", _MOST_MAILS)):
        if kinds.count(kind) > most:
            yield Slip(f"the notification has {kinds.count(kind)} subscribers of the type {kind}", f"at most {most}")


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {BUDGET: notifications}
