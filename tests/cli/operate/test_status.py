from __future__ import annotations

import json

from tests.cli.conftest import StubbedTarget
from tests.cli.operate.conftest import ARN, ASKED, CLUSTER, NODES, SUBNETS, node, run


def answer(account: StubbedTarget, nodes: list[dict[str, object]], **members: object) -> None:
    account.answer("sagemaker", "describe_cluster", {**CLUSTER, **members}, ClusterName="trainer")
    account.answer("sagemaker", "list_cluster_nodes", {"ClusterNodeSummaries": nodes}, **ASKED)
    account.answer("ec2", "describe_subnets", SUBNETS)


def test_a_cluster_its_groups_and_the_nodes_that_need_a_look(account: StubbedTarget) -> None:
    answer(account, NODES, FailureMessage="no capacity\x1b[2J")
    result = run("status", "--cluster", "trainer")
    account.assert_all_asked()
    lines = [line.split() for line in result.output.splitlines()]
    assert ["arn", ARN] in lines
    assert ["workers", "ml.p5.48xlarge", "Degraded", "1", "2"] in lines
    assert "i-00000000000000003" in result.output
    assert "i-00000000000000002" not in result.output
    assert "no capacity" in result.output
    assert "\x1b" not in result.output


def test_many_broken_nodes_are_counted(account: StubbedTarget) -> None:
    answer(account, [node(number, status="Failure") for number in range(30)])
    result = run("status", "--cluster", "trainer")
    assert "and 10 more that need a look: hyperpod nodes --unhealthy --cluster trainer" in result.output


def test_json_for_a_program(account: StubbedTarget) -> None:
    answer(account, NODES)
    found = json.loads(run("status", "--cluster", "trainer", "-o", "json").output)
    assert (found["cluster"], found["orchestrator"], found["provisioning"]) == ("trainer", "slurm", "continuous")
    assert [(group["group"], group["running"], group["target"]) for group in found["groups"]] == [
        ("controller", 1, 1),
        ("workers", 1, 2),
    ]
    assert [one["node"] for one in found["need_a_look"]] == ["i-00000000000000003"]


def test_fails_for_an_unknown_cluster_with_those_that_exist(account: StubbedTarget) -> None:
    account.refuse("sagemaker", "describe_cluster", "ResourceNotFound", "not found")
    summary = {"ClusterArn": ARN, "ClusterName": "trainer", "CreationTime": 0, "ClusterStatus": "InService"}
    account.answer("sagemaker", "list_clusters", {"ClusterSummaries": [summary]})
    result = run("status", "--cluster", "trianer")
    assert result.exit_code == 1
    assert "there is no cluster 'trianer' in account 111122223333, us-west-2; it has trainer" in result.output


def test_the_cluster_may_be_named_as_in_hyp(account: StubbedTarget) -> None:
    answer(account, NODES)
    assert run("status", "--cluster-name", "trainer").exit_code == 0
    account.assert_all_asked()
