from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import ClientError, ReadTimeoutError

from hyperpod_constructs.cli.operate import asking_again
from hyperpod_constructs.cli.operate.asking_again import patient
from hyperpod_constructs.cli.operate.place import Place
from hyperpod_constructs.cli.target import TargetName
from tests.cli.conftest import StubbedTarget
from tests.sleeping import replace_sleep

LOST = ReadTimeoutError(endpoint_url="https://logs.us-west-2.amazonaws.com/")


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    found: list[float] = []
    replace_sleep(monkeypatch, found.append)
    return found


def throttle(target: StubbedTarget, service: str, operation: str, times: int = 1) -> None:
    for _ in range(times):
        target.refuse(service, operation, "ThrottlingException", "Rate exceeded")


def logs(target: StubbedTarget) -> Any:
    return patient(Place(target, TargetName.AWS)).client("logs")


def failing_once(target: StubbedTarget, monkeypatch: pytest.MonkeyPatch, operation: str) -> list[str]:
    """An operation whose first answer is lost."""
    asked: list[str] = []

    def answer(**request: Any) -> dict[str, Any]:
        asked.append(operation)
        if len(asked) == 1:
            raise LOST
        return {}

    monkeypatch.setattr(target.client("logs"), operation, answer)
    return asked


def test_a_throttled_call_is_made_again_and_says_so(
    target: StubbedTarget, pauses: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    throttle(target, "logs", "delete_log_group", 2)
    target.answer("logs", "delete_log_group", {}, logGroupName="one")
    logs(target).delete_log_group(logGroupName="one")
    target.assert_all_asked()
    assert pauses == [2, 4]
    assert "hyperpod: AWS throttles DeleteLogGroup" in capsys.readouterr().err


def test_a_throttled_page_is_asked_for_again(target: StubbedTarget, pauses: list[float]) -> None:
    target.answer("logs", "describe_log_groups", {"logGroups": [{"logGroupName": "one"}], "nextToken": "two"})
    throttle(target, "logs", "describe_log_groups")
    target.answer("logs", "describe_log_groups", {"logGroups": [{"logGroupName": "two"}]}, nextToken="two")
    pages = logs(target).get_paginator("describe_log_groups").paginate()
    assert [group["logGroupName"] for page in pages for group in page["logGroups"]] == ["one", "two"]
    assert pauses == [2]


def test_a_lost_answer_is_asked_for_again(target: StubbedTarget, pauses: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    asked = failing_once(target, monkeypatch, "describe_log_groups")
    assert logs(target).describe_log_groups() == {}
    assert (len(asked), pauses) == (2, [2])


def test_a_change_whose_answer_is_lost_is_not_repeated(
    target: StubbedTarget, pauses: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = failing_once(target, monkeypatch, "delete_log_group")
    with pytest.raises(ReadTimeoutError):
        logs(target).delete_log_group(logGroupName="one")
    assert (len(asked), pauses) == (1, [])


def test_all_calls_wait_no_longer_than_the_most_together(target: StubbedTarget, pauses: list[float]) -> None:
    client = logs(target)
    throttle(target, "logs", "describe_log_groups", 7)
    with pytest.raises(ClientError):
        client.describe_log_groups()
    assert asking_again.MOST_SECONDS <= sum(pauses) < asking_again.MOST_SECONDS + 60
    pauses.clear()
    throttle(target, "logs", "describe_log_groups")
    with pytest.raises(ClientError):
        client.describe_log_groups()
    assert pauses == []


def test_any_other_error_is_one_at_once(target: StubbedTarget, pauses: list[float]) -> None:
    target.refuse("logs", "describe_log_groups", "AccessDeniedException", "no")
    with pytest.raises(ClientError):
        logs(target).describe_log_groups()
    assert pauses == []
