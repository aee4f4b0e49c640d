"""Budgets and cost anomalies: each mistake is one finding, and correct ones have none."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.catalogue.cases import REMOVED, edited
from tests.rules.catalogue.templates import findings
from tests.rules.catalogue.text_bases import resource

TOPIC = "arn:aws:sns:us-east-1:123456789012:costs"
MAIL = {"SubscriptionType": "EMAIL", "Address": "a@example.org"}


def notification(kind: str, threshold: float, **more: Any) -> dict[str, Any]:
    given = {"NotificationType": kind, "ComparisonOperator": "GREATER_THAN", "Threshold": threshold, **more}
    return {"Notification": given, "Subscribers": [MAIL, {"SubscriptionType": "SNS", "Address": TOPIC}]}


LIMIT = {"Amount": 1, "Unit": "USD"}
BASE = {
    "Resources": {
        "Cost": resource(
            "AWS::Budgets::Budget",
            Budget={"BudgetType": "COST", "TimeUnit": "MONTHLY", "BudgetLimit": LIMIT},
            NotificationsWithSubscribers=[notification("ACTUAL", 80), notification("FORECASTED", 80), notification("ACTUAL", 90)],
        ),
        "Odd": resource("AWS::CE::AnomalyMonitor", MonitorName="m", MonitorType="DIMENSIONAL", MonitorDimension="SERVICE"),
        "Told": resource(
            "AWS::CE::AnomalySubscription",
            SubscriptionName="s",
            Frequency="IMMEDIATE",
            MonitorArnList=[{"Ref": "Odd"}],
            Subscribers=[{"Type": "SNS", "Address": TOPIC}],
            ThresholdExpression='{"Dimensions": {"Key": "ANOMALY_TOTAL_IMPACT_ABSOLUTE", "Values": ["100"]}}',
        ),
    }
}
SENT = "Cost/NotificationsWithSubscribers"


def test_correct_budgets_have_no_finding() -> None:
    assert findings(BASE) == []


@pytest.mark.parametrize("name", ["Amazon SageMaker", "AmazonSageMaker", "Amazon FSx", "EC2 - Other", "Tax"])
def test_services_of_a_bill(name: str) -> None:
    assert findings(edited(BASE, {"Cost/Budget/CostFilters": {"Service": [name]}})) == []


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("Cost/Budget/CostFilters", {"Services": ["Amazon SageMaker"]}, "costs have no dimension Services; the nearest is Service"),
        (
            "Cost/Budget/CostFilters",
            {"Service": ["SageMaker HyperPod"]},
            "no service SageMaker HyperPod; these costs are of Amazon Sag",
        ),
        ("Cost/Budget/CostFilters", {"Service": ["Amazon S3", "FSx"]}, "a bill has no service FSx; these costs are of Amazon FSx"),
        (f"{SENT}/2/Notification/Threshold", 80, "two notifications are for ACTUAL GREATER_THAN 80"),
        (f"{SENT}/0/Subscribers/2", {"SubscriptionType": "SNS", "Address": TOPIC}, "2 subscribers of the type SNS"),
        ("Cost/Budget/TimeUnit", "DAILY", "a daily budget has no forecasts"),
        ("Cost/Budget/BudgetLimit/Unit", "Dollars", "costs are counted in a currency"),
        ("Cost/Budget/BudgetLimit/Unit", "EUR", "costs are counted in a currency"),
        ("Told/Frequency", "DAILY", "what is sent at once goes to topics"),
        ("Told/Threshold", 100, "a subscription has one threshold"),
        ("Told/ThresholdExpression", REMOVED, "a subscription has one threshold"),
        ("Told/ThresholdExpression", '{"Dimensions": {"Key": "IMPACT"}}', "a threshold is for the total impact"),
        ("Odd/MonitorType", "CUSTOM", "one of your own has a specification"),
    ],
)
def test_fails_mistake(path: str, value: Any, message: str) -> None:
    (found,) = findings(edited(BASE, {path: value}))
    assert found.resource == path.partition("/")[0]
    assert message in found.message


@pytest.mark.parametrize(
    ("thresholds", "amount", "kind", "is_named"),
    [
        ([1], 400000, "COST", True),
        ([1], {"Ref": "Limit"}, "COST", True),
        ([0.8], 5000, "USAGE", True),
        ([0.5, 0.9], 5000, "COST", True),
        ([1, 80], 5000, "COST", False),
        ([1], 1, "COST", False),
        ([1], 5000, "RI_UTILIZATION", False),
        ([5], 5000, "COST", False),
    ],
)
def test_a_threshold_in_percent_is_no_part_of_one(thresholds: list[float], amount: Any, kind: str, is_named: bool) -> None:
    changes = {
        SENT: [notification("ACTUAL", one) for one in thresholds],
        "Cost/Budget/BudgetLimit/Amount": amount,
        "Cost/Budget/BudgetType": kind,
    }
    template = {**edited(BASE, changes), "Parameters": {"Limit": {"Type": "Number"}}}
    found = [one for one in findings(template, rules="HP-TXT") if "the threshold is in percent" in one.message]
    assert bool(found) is is_named
