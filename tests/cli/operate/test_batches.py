from __future__ import annotations

import json
from typing import Any

import pytest
from botocore.exceptions import ReadTimeoutError
from typer.testing import CliRunner

from hyperpod_constructs.cli.commands import app
from hyperpod_constructs.cli.operate.jobs import Job, Jobs
from hyperpod_constructs.cli.target import AwsAccount
from tests.cli.conftest import StubbedTarget
from tests.cli.operate.conftest import ARN, ASKED, CLUSTER, NODES, looked_up, node, run

FIRST = "i-00000000000000002"
CONTROLLER = "i-00000000000000001"


def there_are(account: StubbedTarget, nodes: list[dict[str, Any]], **asked: str) -> None:
    account.answer("sagemaker", "describe_cluster", CLUSTER, ClusterName="trainer")
    account.answer("sagemaker", "list_cluster_nodes", {"ClusterNodeSummaries": nodes}, **ASKED, **asked)


def there_is(account: StubbedTarget, found: dict[str, Any]) -> None:
    account.answer("sagemaker", "describe_cluster", CLUSTER, ClusterName="trainer")
    looked_up(account, found)


def ids(count: int) -> list[str]:
    return [f"i-{number:017x}" for number in range(100, 100 + count)]


def many(count: int) -> list[dict[str, Any]]:
    return [node(number) for number in range(100, 100 + count)]


@pytest.mark.parametrize(
    ("command", "operation", "most"),
    [("reboot", "batch_reboot_cluster_nodes", 25), ("replace", "batch_replace_cluster_nodes", 25)],
)
def test_a_group_goes_in_batches_of_what_one_call_takes(account: StubbedTarget, command: str, operation: str, most: int) -> None:
    names = ids(most + 1)
    there_are(account, many(most + 1), InstanceGroupNameContains="workers")
    account.answer("sagemaker", operation, {"Successful": names[:most]}, ClusterName=ARN, NodeIds=names[:most])
    account.answer("sagemaker", operation, {"Successful": names[most:]}, ClusterName=ARN, NodeIds=names[most:])
    result = run(command, "--group", "workers", "--cluster", "trainer", "--yes", "-o", "json")
    account.assert_all_asked()
    assert result.exit_code == 0
    assert [row["result"] for row in json.loads(result.output)] == ["started"] * (most + 1)


def test_one_call_removes_99_nodes(account: StubbedTarget) -> None:
    there_are(account, many(99), InstanceGroupNameContains="workers")
    account.answer("sagemaker", "batch_delete_cluster_nodes", {"Successful": ids(99)}, ClusterName=ARN, NodeIds=ids(99))
    assert run("remove", "--group", "workers", "--cluster", "trainer", "--yes").exit_code == 0
    account.assert_all_asked()


@pytest.mark.parametrize(("refused", "code"), [(1, 3), (2, 1)])
def test_each_refused_node_has_its_reason_and_the_exit_code_says_how_many(account: StubbedTarget, refused: int, code: int) -> None:
    there_are(account, many(2))
    failed = [{"NodeId": one, "ErrorCode": "InvalidInstanceStatus", "Message": "busy\x1b[2J"} for one in ids(refused)]
    taken = {"Successful": ids(2)[refused:]} if refused < 2 else {}
    account.answer("sagemaker", "batch_reboot_cluster_nodes", {**taken, "Failed": failed})
    result = run("reboot", *ids(2), "--cluster", "trainer", "--yes", "-o", "json")
    rows = json.loads(result.output)
    assert result.exit_code == code
    assert rows[0]["result"] == "refused"
    assert rows[0]["reason"].startswith("InvalidInstanceStatus: busy")
    assert rows[1]["result"] == ("started" if refused == 1 else "refused")


def test_a_refused_batch_does_not_hide_those_before(account: StubbedTarget) -> None:
    there_are(account, many(26))
    account.answer("sagemaker", "batch_reboot_cluster_nodes", {"Successful": ids(26)[:25]})
    account.refuse("sagemaker", "batch_reboot_cluster_nodes", "ThrottlingException", "Rate exceeded")
    result = run("reboot", *ids(26), "--cluster", "trainer", "--yes", "-o", "json")
    rows = json.loads(result.output)
    assert result.exit_code == 3
    assert [row["result"] for row in rows] == ["started"] * 25 + ["refused"]
    assert "Rate exceeded" in rows[25]["reason"]


def test_an_interruption_says_which_nodes_were_asked_for(account: StubbedTarget, monkeypatch: pytest.MonkeyPatch) -> None:
    there_are(account, many(51))
    client, calls = account.client("sagemaker"), []

    def reboot(**request: Any) -> dict[str, Any]:
        calls.append(request)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return {"Successful": request["NodeIds"]}

    monkeypatch.setattr(client, "batch_reboot_cluster_nodes", reboot)
    result = run("reboot", *ids(51), "--cluster", "trainer", "--yes", "-o", "json")
    assert result.exit_code == 130
    assert "interrupted: 25 of 51 nodes were answered for" in result.stderr
    results = [row["result"] for row in json.loads(result.stdout)]
    assert results == ["started"] * 25 + ["perhaps started"] * 25 + ["not asked for"]


@pytest.mark.parametrize(("before", "code"), [(0, 1), (1, 3)])
def test_a_lost_answer_hides_none_before_it(
    account: StubbedTarget, monkeypatch: pytest.MonkeyPatch, before: int, code: int
) -> None:
    there_are(account, many(51))
    calls: list[dict[str, Any]] = []

    def reboot(**request: Any) -> dict[str, Any]:
        calls.append(request)
        if len(calls) > before:
            raise ReadTimeoutError(endpoint_url="https://sagemaker")
        return {"Successful": request["NodeIds"]}

    monkeypatch.setattr(account.client("sagemaker"), "batch_reboot_cluster_nodes", reboot)
    result = run("reboot", *ids(51), "--cluster", "trainer", "--yes", "-o", "json")
    assert result.exit_code == code
    assert f"{25 * before} of 51 nodes were answered for, then the answer was lost: Read timeout" in " ".join(result.stderr.split())
    results = [row["result"] for row in json.loads(result.stdout)]
    rest = 26 - 25 * before
    assert results == ["started"] * 25 * before + ["perhaps started"] * 25 + ["not asked for"] * rest


@pytest.mark.parametrize("command", ["replace", "remove"])
def test_fails_for_the_controller(account: StubbedTarget, command: str) -> None:
    there_is(account, NODES[2])
    result = run(command, CONTROLLER, "--cluster", "trainer", "--yes")
    assert result.exit_code == 1
    assert f"{CONTROLLER} is the Slurm controller, and the service does not {command} it" in result.output


def test_the_controller_is_rebooted(account: StubbedTarget) -> None:
    there_is(account, NODES[2])
    account.answer("sagemaker", "batch_reboot_cluster_nodes", {"Successful": [CONTROLLER]}, ClusterName=ARN, NodeIds=[CONTROLLER])
    assert run("reboot", CONTROLLER, "--cluster", "trainer", "--yes").exit_code == 0


def test_fails_for_an_unknown_node_with_the_nearest(account: StubbedTarget) -> None:
    account.answer("sagemaker", "describe_cluster", CLUSTER, ClusterName="trainer")
    account.refuse("sagemaker", "describe_cluster_node", "ResourceNotFound", "not found")
    account.answer("sagemaker", "list_cluster_nodes", {"ClusterNodeSummaries": NODES}, **ASKED)
    result = run("replace", "i-00000000000000022", "--cluster", "trainer", "--yes")
    assert "trainer has no node 'i-00000000000000022'; the nearest are i-0000000000000000" in result.output


@pytest.mark.parametrize("arguments", [(), (FIRST, "--group", "workers")])
def test_fails_unless_nodes_or_a_group_are_named(account: StubbedTarget, arguments: tuple[str, ...]) -> None:
    account.answer("sagemaker", "describe_cluster", CLUSTER)
    result = run("reboot", *arguments, "--cluster", "trainer", "--yes")
    assert "name the nodes to reboot, or one group of them with --group" in result.output


def test_fails_where_nobody_can_be_asked(account: StubbedTarget) -> None:
    there_is(account, NODES[0])
    result = run("replace", FIRST, "--cluster", "trainer")
    assert result.exit_code == 1
    assert "this would replace 1 node of trainer, and nobody is there to ask: add --yes" in result.output


@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("n\n", 1)])
def test_it_says_what_is_lost_and_asks(target: StubbedTarget, monkeypatch: pytest.MonkeyPatch, answer: str, code: int) -> None:
    monkeypatch.setattr(AwsAccount, "of_caller", lambda **options: target)
    there_is(target, NODES[0])
    target.answer("sagemaker", "batch_replace_cluster_nodes", {"Successful": [FIRST]})
    monkeypatch.setattr("hyperpod_constructs.cli.operate.batches.somebody_is_there", lambda: True)
    result = CliRunner().invoke(app, ["replace", FIRST, "--cluster", "trainer", "--target", "aws"], input=answer)
    assert result.exit_code == code
    assert "Every volume of the nodes is lost" in result.output
    assert ("nothing was done" in result.output) == (code == 1)
    assert ("started" in result.output) == (code == 0)


def test_it_shows_the_jobs_before_it_asks(account: StubbedTarget, monkeypatch: pytest.MonkeyPatch) -> None:
    there_is(account, NODES[0])
    monkeypatch.setattr("hyperpod_constructs.cli.operate.batches.somebody_is_there", lambda: True)
    found = Jobs(tuple(Job(str(number), "ada", "train", "ip-10-1-0-4") for number in range(22)))
    monkeypatch.setattr("hyperpod_constructs.cli.operate.batches.jobs_on", lambda *asked: found)
    output = CliRunner().invoke(app, ["reboot", FIRST, "--cluster", "trainer", "--target", "aws"], input="n\n").output
    assert "0    ada   train  ip-10-1-0-4" in output
    assert "and 2 more jobs" in output
    assert output.index("and 2 more jobs") < output.index("Reboot 1 node of trainer?")


def test_it_shows_twenty_of_many_nodes_before_it_asks(account: StubbedTarget, monkeypatch: pytest.MonkeyPatch) -> None:
    there_are(account, many(100), InstanceGroupNameContains="workers")
    monkeypatch.setattr("hyperpod_constructs.cli.operate.batches.somebody_is_there", lambda: True)
    monkeypatch.setattr("hyperpod_constructs.cli.operate.batches.jobs_on", lambda *asked: Jobs())
    asked = ["reboot", "--group", "workers", "--cluster", "trainer", "--target", "aws"]
    output = CliRunner().invoke(app, asked, input="n\n").output
    assert output.count("i-0") == 20
    assert "and 80 more nodes" in output


def test_a_cluster_that_was_never_updated_is_pointed_to_the_update(account: StubbedTarget) -> None:
    there_is(account, NODES[0])
    account.refuse("sagemaker", "batch_reboot_cluster_nodes", "ValidationException", "needs a cluster that was patched")
    result = run("reboot", FIRST, "--cluster", "trainer", "--yes")
    assert result.exit_code == 1
    assert "None of these nodes shows a software update, and the service wants one first: hyperpod update-software" in result.output


def test_an_operation_without_that_condition_is_not_pointed_there(account: StubbedTarget) -> None:
    there_is(account, NODES[0])
    account.refuse("sagemaker", "batch_delete_cluster_nodes", "ValidationException", "no such thing")
    assert "update-software" not in run("remove", FIRST, "--cluster", "trainer", "--yes").output
