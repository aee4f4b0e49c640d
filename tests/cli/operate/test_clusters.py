from __future__ import annotations

import json
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from hyperpod_constructs.cli.console import CliError
from hyperpod_constructs.cli.operate import reading
from hyperpod_constructs.cli.operate.place import Place, chosen
from hyperpod_constructs.cli.operate.reading import read_cluster
from hyperpod_constructs.cli.target import TargetName
from tests.cli.conftest import StubbedTarget
from tests.cli.operate.conftest import CLUSTER, run

ORDER = {"SortBy": "NAME", "SortOrder": "Ascending"}


def summary(name: str) -> dict[str, Any]:
    arn = f"arn:aws:sagemaker:us-west-2:111122223333:cluster/{name.ljust(12, '0')}"
    plan = "arn:aws:sagemaker:us-west-2:111122223333:training-plan/spring"
    created = datetime(2026, 11, 1, 12, tzinfo=UTC)
    return {
        "ClusterArn": arn,
        "ClusterName": name,
        "CreationTime": created,
        "ClusterStatus": "InService",
        "TrainingPlanArns": [plan],
    }


def test_a_hundred_clusters_and_one_more_take_two_calls(account: StubbedTarget) -> None:
    names = [f"c{number:03}" for number in range(101)]
    first = {"ClusterSummaries": [summary(name) for name in names[:100]], "NextToken": "more"}
    account.answer("sagemaker", "list_clusters", first, MaxResults=100, **ORDER)
    account.answer("sagemaker", "list_clusters", {"ClusterSummaries": [summary("c100")]}, MaxResults=100, NextToken="more", **ORDER)
    rows = json.loads(run("clusters", "-o", "json").output)
    account.assert_all_asked()
    assert [row["cluster"] for row in rows] == names
    assert (rows[0]["plans"], rows[0]["created"]) == ("spring", "2026-11-01T12:00:00Z")


def test_no_cluster_says_how_to_deploy_one(account: StubbedTarget) -> None:
    account.answer("sagemaker", "list_clusters", {"ClusterSummaries": []})
    result = run("clusters")
    assert result.output == "There is no cluster in account 111122223333, us-west-2. Deploy one: hyperpod deploy\n"


def test_the_only_cluster_needs_no_name(account: StubbedTarget, workdir: Path) -> None:
    account.answer("sagemaker", "list_clusters", {"ClusterSummaries": [summary("trainer")]}, MaxResults=21, **ORDER)
    account.answer("sagemaker", "describe_cluster", CLUSTER, ClusterName="trainer")
    assert read_cluster(Place(account, TargetName.AWS), None).id == "abcde01234yz"


@pytest.mark.parametrize("code", ["AccessDenied", "InternalFailure"])
def test_a_stack_that_may_not_be_read_leaves_the_only_cluster(
    account: StubbedTarget, workdir: Path, monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    """Another error is not passed over."""
    denied = "User: x is not authorized to perform: cloudformation:DescribeStacks on resource: y"
    message = denied if code == "AccessDenied" else "try again"

    def deployed(*_: object) -> str:
        raise ClientError({"Error": {"Code": code, "Message": message}}, "DescribeStacks")

    monkeypatch.setattr(reading, "deployed_cluster", deployed)
    account.answer("sagemaker", "list_clusters", {"ClusterSummaries": [summary("trainer")]}, MaxResults=21, **ORDER)
    account.answer("sagemaker", "describe_cluster", CLUSTER, ClusterName="trainer")
    with nullcontext() if code == "AccessDenied" else pytest.raises(ClientError):
        assert read_cluster(Place(account, TargetName.AWS), None).id == "abcde01234yz"


def test_fails_without_a_name_where_there_are_several(account: StubbedTarget, workdir: Path) -> None:
    account.answer("sagemaker", "list_clusters", {"ClusterSummaries": [summary("one"), summary("two")]})
    with pytest.raises(CliError, match="name the cluster with --cluster: account 111122223333, us-west-2 has one, two"):
        read_cluster(Place(account, TargetName.AWS), None)


def test_options_of_an_account_choose_the_account(account: StubbedTarget) -> None:
    assert chosen(None, region="us-west-2").where is TargetName.AWS
    with pytest.raises(CliError, match="--profile is for your account: write --target aws, or leave it out"):
        chosen(TargetName.LOCAL, profile="research")


def test_fails_where_the_embedded_aws_does_not_run(workdir: Path) -> None:
    with pytest.raises(CliError, match="the embedded AWS does not run"):
        chosen(None)
