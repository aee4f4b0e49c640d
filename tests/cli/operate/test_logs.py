from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.cli.conftest import StubbedTarget
from tests.cli.operate.conftest import ASKED, CLUSTER, NODES, looked_up, run
from tests.sleeping import replace_sleep

GROUP = "/aws/sagemaker/Clusters/trainer/abcde01234yz"
NODE = "i-00000000000000002"
START = int(datetime(2026, 11, 23, 10, tzinfo=UTC).timestamp() * 1000)
SINCE = ("--since", "2026-11-23T10:00")


def line(number: int, message: str, stream: str = f"LifecycleConfig/workers/{NODE}", later: int = 0) -> dict[str, Any]:
    return {"eventId": str(number), "logStreamName": stream, "timestamp": START + later, "message": message}


def written(account: StubbedTarget, lines: list[dict[str, Any]], prefix: str, **asked: Any) -> None:
    following = {"nextToken": asked.pop("following")} if "following" in asked else {}
    request = {"logGroupName": GROUP, "logStreamNamePrefix": prefix, "startTime": START, **asked}
    account.answer("logs", "filter_log_events", {"events": lines, **following}, **request)


def test_the_newest_lines_over_all_pages(account: StubbedTarget) -> None:
    account.answer("sagemaker", "describe_cluster", CLUSTER)
    written(account, [line(1, "one"), line(2, "two")], "LifecycleConfig/", following="more")
    written(account, [line(3, "three\x1b[2J\n", later=1500)], "LifecycleConfig/", nextToken="more")
    result = run("logs", "--cluster", "trainer", "--limit", "2", *SINCE)
    account.assert_all_asked()
    first, second = result.output.splitlines()
    assert first == f"2026-11-23 10:00:00 {NODE} two"
    assert second.startswith(f"2026-11-23 10:00:01 {NODE} three")
    assert "\x1b" not in second


@pytest.mark.parametrize(
    ("arguments", "prefix"),
    [
        (("--group", "workers"), "LifecycleConfig/workers/"),
        (("--group", "workers", "--node", NODE, "--kind", "health"), f"SagemakerHealthMonitoringAgent/workers/{NODE}"),
        (("--kind", "deep-check"), "DeepHealthCheckResults/"),
        (("--kind", "deep-check", "--node", NODE), f"DeepHealthCheckResults/{NODE}"),
    ],
)
def test_only_the_chosen_streams_are_read(account: StubbedTarget, arguments: tuple[str, ...], prefix: str) -> None:
    account.answer("sagemaker", "describe_cluster", CLUSTER)
    written(account, [], prefix)
    result = run("logs", "--cluster", "trainer", *arguments, *SINCE)
    account.assert_all_asked()
    assert result.output == "Nothing was written since 2026-11-23 10:00 (UTC); look further back with --since.\n"


def test_a_node_is_found_with_its_group(account: StubbedTarget) -> None:
    account.answer("sagemaker", "describe_cluster", CLUSTER)
    looked_up(account, NODES[0])
    written(account, [line(1, "hello")], f"LifecycleConfig/workers/{NODE}")
    assert run("logs", "--cluster", "trainer", "--node", NODE, *SINCE).output.endswith("hello\n")


def test_a_host_name_stands_for_its_node(account: StubbedTarget) -> None:
    named = [{**found, "PrivateDnsHostname": f"ip-10-1-2-{number}.internal"} for number, found in enumerate(NODES)]
    account.answer("sagemaker", "describe_cluster", CLUSTER)
    account.answer("sagemaker", "list_cluster_nodes", {"ClusterNodeSummaries": named}, **ASKED)
    written(account, [line(1, "hello")], f"LifecycleConfig/workers/{NODE}")
    assert run("logs", "--cluster", "trainer", "--group", "workers", "--node", "ip-10-1-2-0", *SINCE).output.endswith("hello\n")


GONE = "i-00000000000000099"
LAST_WORDS = f"2026-11-23 10:00:00 {GONE} last words\n"


def test_a_node_that_is_gone_is_looked_for_in_each_group(account: StubbedTarget) -> None:
    own = f"LifecycleConfig/workers/{GONE}"
    account.answer("sagemaker", "describe_cluster", CLUSTER)
    account.refuse("sagemaker", "describe_cluster_node", "ResourceNotFound", "not found")
    written(account, [], f"LifecycleConfig/controller/{GONE}")
    for _ in range(2):
        written(account, [line(1, "last words", own)], own)
    result = run("logs", "--cluster", "trainer", "--node", GONE, *SINCE)
    account.assert_all_asked()
    assert result.output == LAST_WORDS


def test_a_node_that_is_gone_with_its_group_keeps_its_log(account: StubbedTarget) -> None:
    account.answer("sagemaker", "describe_cluster", CLUSTER)
    account.refuse("sagemaker", "describe_cluster_node", "ResourceNotFound", "not found")
    for group in ("controller", "workers"):
        written(account, [], f"LifecycleConfig/{group}/{GONE}")
    gone = line(1, "last words", f"LifecycleConfig/former/{GONE}")
    written(account, [gone, line(2, "another's")], "LifecycleConfig/")
    assert run("logs", "--cluster", "trainer", "--node", GONE, *SINCE).output == LAST_WORDS


def test_following_prints_each_line_once_until_ctrl_c(account: StubbedTarget, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = []

    def look(seconds: float) -> None:
        looks.append(seconds)
        if len(looks) == 3:
            raise KeyboardInterrupt

    replace_sleep(monkeypatch, look)
    account.answer("sagemaker", "describe_cluster", CLUSTER)
    written(account, [line(1, "one")], "LifecycleConfig/")
    written(account, [line(1, "one"), line(2, "two"), line(3, "three", later=10)], "LifecycleConfig/")
    written(account, [line(3, "three", later=10)], "LifecycleConfig/", startTime=START + 10)
    result = run("logs", "--cluster", "trainer", "--follow", *SINCE)
    account.assert_all_asked()
    assert result.exit_code == 130
    assert [text.rpartition(" ")[2] for text in result.output.splitlines()] == ["one", "two", "three"]


def test_a_fault_in_the_middle_of_a_look_loses_no_line(account: StubbedTarget, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = []

    def look(seconds: float) -> None:
        looks.append(seconds)
        if len(looks) == 2:
            raise KeyboardInterrupt

    replace_sleep(monkeypatch, look)
    account.answer("sagemaker", "describe_cluster", CLUSTER)
    written(account, [line(1, "one"), line(2, "two", later=5)], "LifecycleConfig/", following="more")
    account.refuse("logs", "filter_log_events", "ThrottlingException", "Rate exceeded")
    written(account, [line(2, "two", later=5), line(3, "three", later=9)], "LifecycleConfig/", startTime=START + 5)
    result = run("logs", "--cluster", "trainer", "--follow", *SINCE)
    account.assert_all_asked()
    assert [text.rpartition(" ")[2] for text in result.stdout.splitlines()] == ["one", "two", "three"]
    assert "AWS throttles FilterLogEvents" in result.stderr
    assert looks == [4.0, 2.0]


def test_fails_before_a_node_has_written(account: StubbedTarget) -> None:
    account.answer("sagemaker", "describe_cluster", CLUSTER)
    account.refuse("logs", "filter_log_events", "ResourceNotFoundException", "no such group")
    result = run("logs", "--cluster", "trainer")
    assert result.exit_code == 1
    assert f"there is no log group {GROUP}: no node has written anything yet" in result.output


def test_a_missing_permission_is_named(account: StubbedTarget) -> None:
    account.answer("sagemaker", "describe_cluster", CLUSTER)
    resource = f"arn:aws:logs:us-west-2:111122223333:log-group:{GROUP}:log-stream:"
    message = f"User: x is not authorized to perform: logs:FilterLogEvents on resource: {resource} because no policy allows it"
    account.refuse("logs", "filter_log_events", "AccessDeniedException", message)
    output = run("logs", "--cluster", "trainer").output
    assert json.loads(output[output.index("{") :])["Resource"] == resource
