from __future__ import annotations

import json
from typing import Any

import pytest

from tests.cli.conftest import StubbedTarget
from tests.cli.operate.conftest import ARN, ASKED, CLUSTER, looked_up, node, run

CONTROLLER = node(1, "controller")
WORKERS = [node(2), node(3)]


def there_are(account: StubbedTarget, nodes: list[dict[str, Any]], **asked: str) -> None:
    account.answer("sagemaker", "describe_cluster", CLUSTER, ClusterName="trainer")
    account.answer("sagemaker", "list_cluster_nodes", {"ClusterNodeSummaries": nodes}, **ASKED, **asked)


def there_is(account: StubbedTarget, found: dict[str, Any]) -> None:
    account.answer("sagemaker", "describe_cluster", CLUSTER, ClusterName="trainer")
    looked_up(account, found)


def checked(account: StubbedTarget, nodes: list[dict[str, Any]], *checks: str) -> None:
    wanted = {"InstanceGroupName": "workers", "InstanceIds": [one["InstanceId"] for one in nodes], "DeepHealthChecks": list(checks)}
    account.answer(
        "sagemaker", "start_cluster_health_check", {"ClusterArn": ARN}, ClusterName=ARN, DeepHealthCheckConfigurations=[wanted]
    )


def test_a_group_is_checked_by_one_request(account: StubbedTarget) -> None:
    there_are(account, WORKERS, InstanceGroupNameContains="workers")
    checked(account, WORKERS, "InstanceStress", "InstanceConnectivity")
    asked = ("--group", "workers", "--check", "stress", "--check", "connectivity", "--cluster", "trainer")
    result = run("health-check", *asked, "--yes", "-o", "json")
    account.assert_all_asked()
    assert result.exit_code == 0
    assert [row["result"] for row in json.loads(result.output)] == ["started", "started"]


def test_nodes_that_are_never_checked_are_left_out_with_the_reason(account: StubbedTarget) -> None:
    there_are(account, [CONTROLLER, *WORKERS])
    checked(account, WORKERS[:1], "InstanceStress")
    names = [CONTROLLER["InstanceId"], WORKERS[0]["InstanceId"]]
    result = run("health-check", *names, "--cluster", "trainer", "--yes", "-o", "json")
    rows = json.loads(result.output)
    assert result.exit_code == 3
    assert rows[0]["reason"] == "left out: deep health checks are for compute nodes, and this is a Controller node"
    assert rows[1]["result"] == "started"


def test_fails_if_no_node_can_be_checked(account: StubbedTarget) -> None:
    there_is(account, node(2, InstanceType="ml.m5.xlarge"))
    result = run("health-check", node(2)["InstanceId"], "--cluster", "trainer", "--yes")
    assert result.exit_code == 1
    assert "no node to health-check: left out: ml.m5.xlarge has no accelerator to check" in result.output


def test_fails_for_the_connections_of_one_node(account: StubbedTarget) -> None:
    there_is(account, WORKERS[0])
    result = run("health-check", WORKERS[0]["InstanceId"], "--check", "connectivity", "--cluster", "trainer", "--yes")
    assert "instance group workers: InstanceConnectivity needs two nodes or more, found count 1" in result.output


def test_a_missing_permission_is_named_with_the_grant(account: StubbedTarget) -> None:
    there_is(account, WORKERS[0])
    sentence = f"User: x is not authorized to perform: sagemaker:StartClusterHealthCheck on resource: {ARN}"
    account.refuse("sagemaker", "start_cluster_health_check", "AccessDeniedException", sentence)
    result = run("health-check", WORKERS[0]["InstanceId"], "--cluster", "trainer", "--yes")
    assert "cluster.grants.manage_nodes(role)" in result.output
    assert f'"Action": "sagemaker:StartClusterHealthCheck", "Resource": "{ARN}"' in result.output


def test_an_interruption_leaves_it_open(account: StubbedTarget, monkeypatch: pytest.MonkeyPatch) -> None:
    there_is(account, WORKERS[0])

    def interrupted(**request: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(account.client("sagemaker"), "start_cluster_health_check", interrupted)
    result = run("health-check", WORKERS[0]["InstanceId"], "--cluster", "trainer", "--yes", "-o", "json")
    assert result.exit_code == 130
    assert json.loads(result.stdout)[0]["result"] == "perhaps started"
