"""Budgets: notifications that differ, with one topic each, and forecasts that there are.

Sources: https://docs.aws.amazon.com/cost-management/latest/userguide/management-limits.html and
https://docs.aws.amazon.com/cost-management/latest/userguide/create-cost-budget.html
"""

from __future__ import annotations

from collections.abc import Mapping

from hyperpod_constructs.analysis.texts.reading import known
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge, entries, mapping
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.values import ABSENT, Value, as_float, as_str

BUDGET, _LIST = "AWS::Budgets::Budget", "NotificationsWithSubscribers"
_MOST_MAILS = 10


def notifications(budget: Resource) -> Slips:
    """The notifications of a budget."""
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
        for slip in _subscribers(mapping(one)):
            yield slip.below(_LIST, index, "Subscribers")


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
