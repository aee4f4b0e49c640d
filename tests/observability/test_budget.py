"""Budgets by a tag, and the tags."""

from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import Stack
from aws_cdk import aws_s3 as s3

from hyperpod_constructs import ClusterBudget, alarms_topic, cost_tags
from tests.conftest import only


def test_messages_come_before_the_budget_is_used_up(stack: Stack) -> None:
    ClusterBudget(stack, "Budget", monthly_usd=50_000, tag_values=["trainer"], emails=["team@example.com"])
    properties = only(stack, "AWS::Budgets::Budget")["Properties"]
    assert properties["Budget"]["BudgetLimit"] == {"Amount": 50_000, "Unit": "USD"}
    assert properties["Budget"]["CostFilters"] == {"TagKeyValue": ["user:hyperpod:cluster$trainer"]}
    told = [each["Notification"] for each in properties["NotificationsWithSubscribers"]]
    assert [(each["NotificationType"], each["Threshold"]) for each in told] == [
        ("ACTUAL", 80),
        ("ACTUAL", 100),
        ("FORECASTED", 100),
    ]


def test_a_topic_receives_them(stack: Stack) -> None:
    topic = alarms_topic(stack, "Topic")
    ClusterBudget(
        stack, "Budget", monthly_usd=10, tag_key="team", tag_values=["a", "b"], percents=(50,), forecast=False, topic=topic
    )
    (notification,) = only(stack, "AWS::Budgets::Budget")["Properties"]["NotificationsWithSubscribers"]
    assert notification["Subscribers"] == [{"SubscriptionType": "SNS", "Address": stack.resolve(topic.topic_arn)}]
    senders = only(stack, "AWS::SNS::TopicPolicy")["Properties"]["PolicyDocument"]["Statement"]
    assert {"Service": "budgets.amazonaws.com"} in [statement["Principal"] for statement in senders]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"tag_values": []}, "tag_values is empty"),
        ({"emails": []}, "emails and topic are missing"),
        ({"emails": [f"a{number}@example.com" for number in range(11)]}, "emails has 11 items; allowed: at most 10"),
        ({"percents": range(1, 11)}, "the budget has 11 messages; allowed: at most 10"),
        ({"monthly_usd": 0}, "monthly_usd is 0; allowed: 1 or more"),
    ],
)
def test_fails(stack: Stack, given: dict[str, Any], message: str) -> None:
    plain: dict[str, Any] = {"monthly_usd": 100, "tag_values": ["trainer"], "emails": ["team@example.com"]}
    if "percents" in given:
        given = {"percents": list(given["percents"])}
    with pytest.raises(ValueError, match=message):
        ClusterBudget(stack, "Budget", **{**plain, **given})


def test_tags_of_the_bill(stack: Stack) -> None:
    s3.Bucket(stack, "Bucket")
    cost_tags(stack, cluster="trainer", team="research")
    tags = only(stack, "AWS::S3::Bucket")["Properties"]["Tags"]
    assert tags == [{"Key": "hyperpod:cluster", "Value": "trainer"}, {"Key": "hyperpod:team", "Value": "research"}]
    with pytest.raises(ValueError, match="cost_tags without a value; give cluster, team or group"):
        cost_tags(stack)
