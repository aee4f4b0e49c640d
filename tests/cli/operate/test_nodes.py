from __future__ import annotations

import json
from typing import Any

import pytest

from tests.cli.conftest import StubbedTarget
from tests.cli.operate.conftest import ARN, ASKED, CLUSTER, NODES, SUBNETS, looked_up, node, run


def describe(account: StubbedTarget, *pages: list[dict[str, object]], **asked: object) -> None:
    """Answers for the cluster, its nodes page by page, and its subnets."""
    account.answer("sagemaker", "describe_cluster", CLUSTER, ClusterName="trainer")
    for number, page in enumerate(pages):
        following = {"NextToken": f"page {number + 1}"} if number < len(pages) - 1 else {}
        token = {"NextToken": f"page {number}"} if number else {}
        account.answer("sagemaker", "list_cluster_nodes", {"ClusterNodeSummaries": page, **following}, **ASKED, **asked, **token)
    account.answer("ec2", "describe_subnets", SUBNETS, SubnetIds=["subnet-1", "subnet-2"])


def test_nodes_stand_by_group_with_zone_health_and_age(account: StubbedTarget) -> None:
    describe(account, NODES)
    result = run("nodes", "--cluster", "trainer")
    account.assert_all_asked()
    rows = [line.split(maxsplit=3) for line in result.output.splitlines()]
    assert [row[:3] for row in rows] == [
        ["node", "group", "zone"],
        ["i-00000000000000001", "controller", "usw2-az2"],
        ["i-00000000000000002", "workers", "usw2-az1"],
        ["i-00000000000000003", "workers", "usw2-az1"],
    ]
    assert rows[1][3].split() == ["Running", "3d4h"]
    assert rows[3][3].startswith("Failure: lifecycle script failed")
    assert "\x1b" not in result.output
    assert result.exit_code == 0


def test_a_thousand_nodes_take_ten_calls_for_the_nodes_and_two_more(account: StubbedTarget) -> None:
    describe(account, *([node(first + one) for one in range(100)] for first in range(0, 1000, 100)))
    result = run("nodes", "--cluster", "trainer", "-o", "json")
    account.assert_all_asked()
    assert len({row["node"] for row in json.loads(result.output)}) == 1000


def test_json_has_every_column_and_null_for_the_unknown(account: StubbedTarget) -> None:
    describe(account, [node(2, CurrentImageReleaseVersion="1.2.3"), node(4, InstanceId="")])
    first, second = json.loads(run("nodes", "--cluster", "trainer", "--output", "json").output)
    assert (first["zone"], first["plan"], first["image"], first["host_name"]) == ("usw2-az1", "spring", "1.2.3", None)
    assert first["launched"].endswith("Z")
    assert first["age_seconds"] // 3600 == 76
    assert second["node"] == "(none yet)"


def test_only_a_group_and_only_the_unhealthy(account: StubbedTarget) -> None:
    describe(account, [*NODES, node(9, "workers-b", "Failure")], InstanceGroupNameContains="workers")
    result = run("nodes", "--cluster", "trainer", "--group", "workers", "--unhealthy", "-o", "markdown")
    assert "i-00000000000000003" in result.output
    assert not any(f"i-{number:017x}" in result.output for number in (1, 2, 9))


def in_two_zones(account: StubbedTarget, nodes: list[dict[str, Any]]) -> None:
    """The workers are in two subnets, with a block of addresses each."""
    controller, workers = CLUSTER["InstanceGroups"]
    both = {**workers, "OverrideVpcConfig": {"Subnets": ["subnet-1", "subnet-2"], "SecurityGroupIds": ["sg-1"]}}
    account.answer("sagemaker", "describe_cluster", {**CLUSTER, "InstanceGroups": [controller, both]})
    if nodes:
        account.answer("sagemaker", "list_cluster_nodes", {"ClusterNodeSummaries": nodes}, **ASKED)
    blocks = [{**one, "CidrBlock": f"10.1.{place}.0/24"} for place, one in enumerate(SUBNETS["Subnets"])]
    account.answer("ec2", "describe_subnets", {"Subnets": blocks})


@pytest.mark.parametrize(
    ("host_name", "zone"),
    [
        ("ip-10-1-0-7.us-west-2.compute.internal", "usw2-az2"),
        ("ip-10-1-1-7", "usw2-az1"),
        ("ip-10-9-0-7", "usw2-az1 or usw2-az2"),
        ("ip-10-1-0-700", "usw2-az1 or usw2-az2"),
        ("hyperpod-i-00000000000000002", "usw2-az1 or usw2-az2"),
        (None, "usw2-az1 or usw2-az2"),
    ],
)
def test_the_address_of_a_node_tells_its_zone_of_several(account: StubbedTarget, host_name: str | None, zone: str) -> None:
    named = {} if host_name is None else {"PrivateDnsHostname": host_name}
    in_two_zones(account, [node(2, **named)])
    (row,) = json.loads(run("nodes", "--cluster", "trainer", "-o", "json").output)
    assert row["zone"] == zone


@pytest.mark.parametrize("name", ["i-00000000000000002", "ip-10-9-0-7"])
def test_the_service_tells_the_zone_of_a_named_node(account: StubbedTarget, name: str) -> None:
    found = node(2, PrivateDnsHostname="ip-10-9-0-7.internal")
    in_two_zones(account, [] if name.startswith("i-") else [node(3), found])
    placed = {"AvailabilityZone": "us-west-2b", "AvailabilityZoneId": "usw2-az1"}
    looked_up(account, {**found, "Placement": placed})
    (row,) = json.loads(run("nodes", name, "--cluster", "trainer", "-o", "json").output)
    assert (row["node"], row["zone"]) == ("i-00000000000000002", "usw2-az1")


def test_fails_for_nodes_and_a_group(account: StubbedTarget) -> None:
    result = run("nodes", "i-00000000000000002", "--group", "workers")
    assert (result.exit_code, "name nodes, or a group with --group, not both" in result.output) == (1, True)


def test_zones_are_unknown_without_the_permission(account: StubbedTarget) -> None:
    account.answer("sagemaker", "describe_cluster", CLUSTER, ClusterName="trainer")
    account.answer("sagemaker", "list_cluster_nodes", {"ClusterNodeSummaries": NODES[:1]}, **ASKED)
    account.refuse("ec2", "describe_subnets", "UnauthorizedOperation", "You are not authorized.")
    result = run("nodes", "--cluster", "trainer", "-o", "json")
    assert json.loads(result.output)[0]["zone"] is None


def test_fails_for_an_unknown_group(account: StubbedTarget) -> None:
    account.answer("sagemaker", "describe_cluster", CLUSTER, ClusterName="trainer")
    result = run("nodes", "--cluster", "trainer", "--group", "gpu")
    assert result.exit_code == 1
    assert "there is no instance group 'gpu' in trainer; it has controller, workers" in result.output


def test_a_missing_permission_is_named_with_statement_and_grant(account: StubbedTarget) -> None:
    message = (
        f"User: arn:aws:iam::111122223333:user/ada is not authorized to perform: sagemaker:ListClusterNodes on resource: {ARN}."
    )
    account.answer("sagemaker", "describe_cluster", CLUSTER, ClusterName="trainer")
    account.refuse("sagemaker", "list_cluster_nodes", "AccessDeniedException", message)
    result = run("nodes", "--cluster", "trainer")
    assert result.exit_code == 1
    assert "sagemaker:ListClusterNodes is not allowed" in result.output
    assert "cluster.grants.read(role)" in result.output
    statement = json.loads(result.output[result.output.index("{") :])
    assert statement == {"Effect": "Allow", "Action": "sagemaker:ListClusterNodes", "Resource": ARN}
