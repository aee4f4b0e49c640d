from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from hyperpod_constructs.cli.console import CliError
from hyperpod_constructs.cli.operate.since import moment
from tests.cli.conftest import StubbedTarget
from tests.cli.operate.conftest import ARN, CLUSTER, run

ASKED = {"ClusterName": ARN, "SortBy": "EventTime", "SortOrder": "Descending", "MaxResults": 100}
NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)


def event(number: int, level: str = "Info", description: str = "Node started", **members: Any) -> dict[str, Any]:
    return {
        "EventId": f"{number:08x}-0000-4000-8000-000000000000",
        "ClusterArn": ARN,
        "ClusterName": "trainer",
        "ResourceType": "Instance",
        "EventTime": NOW,
        "EventLevel": level,
        "Description": description,
        **members,
    }


def answer(account: StubbedTarget, events: list[dict[str, Any]], following: str | None = None, **asked: Any) -> None:
    more = {"NextToken": following} if following is not None else {}
    account.answer("sagemaker", "list_cluster_events", {"Events": events, **more}, **ASKED, **asked)


def test_pages_are_asked_for_until_there_are_enough(account: StubbedTarget) -> None:
    account.answer("sagemaker", "describe_cluster", CLUSTER)
    answer(account, [event(number) for number in range(100)], "two")
    answer(account, [event(number) for number in range(100, 200)], "three", NextToken="two")
    result = run("events", "--cluster", "trainer", "--limit", "150", "-o", "json")
    account.assert_all_asked()
    assert len(json.loads(result.output)) == 150


def test_filters_reach_the_service_and_levels_are_chosen_here(account: StubbedTarget) -> None:
    account.answer("sagemaker", "describe_cluster", CLUSTER)
    warned = event(2, "Warn", "Unhealthy", InstanceGroupName="workers", InstanceId="i-00000000000000002")
    filters: dict[str, Any] = {"InstanceGroupName": "workers", "NodeId": "i-00000000000000002", "EventTimeAfter": NOW}
    answer(account, [event(1), warned], **filters)
    command = ["events", "--cluster", "trainer", "--group", "workers", "--node", "i-00000000000000002", "--level", "warn"]
    rows = json.loads(run(*command, "--since", "2026-11-23T12:00", "-o", "json").output)
    account.assert_all_asked()
    assert [(row["level"], row["node"], row["time"]) for row in rows] == [("Warn", "i-00000000000000002", "2026-11-23T12:00:00Z")]


def test_a_failure_has_its_cause_and_the_next_step(account: StubbedTarget) -> None:
    account.answer("sagemaker", "describe_cluster", CLUSTER)
    failed = event(7, "Error", "Scaling failed")
    answer(account, [failed, event(8)])
    cause = {"EventMetadata": {"Instance": {"FailureMessage": "Insufficient capacity\x1b[2J in usw2-az1"}}}
    details = {"EventDetails": {**failed, "EventDetails": cause}}
    account.answer("sagemaker", "describe_cluster_event", details, ClusterName=ARN, EventId=failed["EventId"])
    result = run("events", "--cluster", "trainer")
    account.assert_all_asked()
    assert "Scaling failed: Insufficient capacity" in result.output
    assert "hyperpod training-plan search" in result.output
    assert "\x1b" not in result.output


def test_events_are_listed_without_causes_that_may_not_be_read(account: StubbedTarget) -> None:
    account.answer("sagemaker", "describe_cluster", CLUSTER)
    answer(account, [event(7, "Error", "Scaling failed")])
    denied = "User: x is not authorized to perform: sagemaker:DescribeClusterEvent on resource: y"
    account.refuse("sagemaker", "describe_cluster_event", "AccessDeniedException", denied)
    result = run("events", "--cluster", "trainer", "-o", "json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)[0]["event"] == "Scaling failed"
    assert "sagemaker:DescribeClusterEvent is not allowed" in result.stderr


def test_a_page_that_comes_again_ends_the_list(account: StubbedTarget) -> None:
    account.answer("sagemaker", "describe_cluster", CLUSTER)
    answer(account, [event(1)], "two")
    answer(account, [event(2)], "two", NextToken="two")
    result = run("events", "--cluster", "trainer")
    assert result.exit_code == 1
    assert "the same page again and again" in " ".join(result.output.split())


def test_no_more_than_twenty_causes_are_asked_for(account: StubbedTarget) -> None:
    account.answer("sagemaker", "describe_cluster", CLUSTER)
    failed = [event(number, "Error", "Health check failed") for number in range(30)]
    answer(account, failed)
    for one in failed[:20]:
        account.answer("sagemaker", "describe_cluster_event", {"EventDetails": one}, ClusterName=ARN, EventId=one["EventId"])
    result = run("events", "--cluster", "trainer")
    account.assert_all_asked()
    assert result.exit_code == 0
    assert result.output.count("hyperpod replace NODE") == 1


def test_fails_for_a_cluster_without_events(account: StubbedTarget) -> None:
    account.answer("sagemaker", "describe_cluster", {key: CLUSTER[key] for key in CLUSTER if key != "NodeProvisioningMode"})
    result = run("events", "--cluster", "trainer")
    assert "trainer does not provision continuously" in result.output


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("30m", NOW - timedelta(minutes=30)),
        ("2h", NOW - timedelta(hours=2)),
        ("3d", NOW - timedelta(days=3)),
        ("2026-11-23", NOW.replace(hour=0)),
        ("2026-11-23T10:00+02:00", NOW.replace(hour=8)),
    ],
)
def test_moments(text: str, expected: datetime) -> None:
    assert moment(text, NOW) == expected


@pytest.mark.parametrize("text", ["", "yesterday", "0h", "-1h", "999999d", "2h30m", "2026-13-01"])
def test_fails_for_what_is_no_moment(text: str) -> None:
    with pytest.raises(CliError, match="write a time such as 30m"):
        moment(text, NOW)
