from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from typer.testing import CliRunner

from hyperpod_constructs.cli.commands import app
from hyperpod_constructs.cli.console import CliError
from hyperpod_constructs.cli.operate.jobs import Jobs
from hyperpod_constructs.cli.operate.place import Place
from hyperpod_constructs.cli.operate.progress import Progress, watch
from hyperpod_constructs.cli.operate.reading import Node, read_cluster
from hyperpod_constructs.cli.target import TargetName
from tests.cli.conftest import StubbedTarget
from tests.cli.operate.conftest import ARN, ASKED, CLUSTER, node, run

EKS: dict[str, Any] = {"Orchestrator": {"Eks": {"ClusterArn": "arn:aws:eks:us-west-2:111122223333:cluster/k"}}}
NOW = datetime.now(UTC)
OLD = [node(2, LastSoftwareUpdateTime=NOW - timedelta(days=1)), node(3), node(1, "controller")]
NEW = [node(2, LastSoftwareUpdateTime=NOW), node(3, LastSoftwareUpdateTime=NOW), node(1, "controller")]
ROLLING = ("--batch-size", "1", "--wait", "60", "--alarm", "errors")


def described(status: str = "InService", update: str | None = None, **members: Any) -> dict[str, Any]:
    """The cluster, with the state of the workers' update."""
    controller, workers = CLUSTER["InstanceGroups"]
    workers = {**workers, "SoftwareUpdateStatus": update} if update is not None else workers
    return {**CLUSTER, "ClusterStatus": status, "InstanceGroups": [controller, workers], **members}


def there_is(
    account: StubbedTarget, cluster: dict[str, Any] = CLUSTER, nodes: list[dict[str, Any]] = OLD, group: str | None = "workers"
) -> None:
    asked = ASKED if group is None else {**ASKED, "InstanceGroupNameContains": group}
    account.answer("sagemaker", "describe_cluster", cluster)
    account.answer("sagemaker", "list_cluster_nodes", {"ClusterNodeSummaries": nodes}, **asked)


def update(*arguments: str) -> Any:
    return run("update-software", "--group", "workers", "--cluster", "trainer", *arguments)


def test_it_asks_for_the_groups_and_follows_them_to_the_end(account: StubbedTarget) -> None:
    there_is(account)
    asked = {"ClusterName": ARN, "InstanceGroups": [{"InstanceGroupName": "workers"}]}
    account.answer("sagemaker", "update_cluster_software", {"ClusterArn": ARN}, **asked)
    there_is(account, described(update="Succeeded"), NEW)
    result = update("--yes")
    account.assert_all_asked()
    assert result.exit_code == 0
    assert result.output.splitlines() == [
        "2 of 2 nodes updated, 0 away",
        "group    result     updated  nodes",
        "workers  Succeeded        2      2",
    ]


def test_batches_waits_and_alarms_are_those_of_the_request(account: StubbedTarget) -> None:
    there_is(account, described(**EKS))
    config = {
        "RollingUpdatePolicy": {"MaximumBatchSize": {"Type": "CAPACITY_PERCENTAGE", "Value": 25}},
        "WaitIntervalInSeconds": 600,
        "AutoRollbackConfiguration": [{"AlarmName": "errors"}],
    }
    groups = [{"InstanceGroupName": "workers", "ImageReleaseVersion": "1.0.12"}]
    asked = {"ClusterName": ARN, "InstanceGroups": groups, "DeploymentConfig": config}
    account.answer("sagemaker", "update_cluster_software", {"ClusterArn": ARN}, **asked)
    result = update("--batch-size", "25%", "--wait", "600", "--alarm", "errors", "--release", "1.0.12", "--yes", "--no-watch")
    account.assert_all_asked()
    assert result.exit_code == 0
    assert "The update of trainer goes on; follow it with: hyperpod status --watch" in result.output


@pytest.mark.parametrize(
    ("cluster", "arguments", "message"),
    [
        (CLUSTER, ROLLING, "they are available only with EKS: leave out --batch-size, --wait and --alarm"),
        (CLUSTER, ("--release", "1.0.1"), "a Slurm cluster takes the newest release"),
        (described("SystemUpdating"), (), "trainer is SystemUpdating, and its software is updated only InService"),
        (described(**EKS), ("--batch-size", "0"), "--batch-size 0: write a number of nodes such as 2"),
        (described(**EKS), ("--batch-size", "101%"), "a batch of 101 % of the nodes"),
        (described(**EKS), ("--wait", "60"), "there is one batch: add --batch-size"),
        (described(**EKS), ("--alarm", "errors"), "add --batch-size and --wait, or leave --alarm out"),
        (described(**EKS), ("--release", "newest"), "--release newest: write three numbers"),
        (CLUSTER, ("--image", "mine"), "--image mine: write the id of an image"),
        (CLUSTER, ("--group", "none"), "there is no instance group 'none' in trainer"),
    ],
)
def test_fails_before_it_asks_the_service(
    account: StubbedTarget, cluster: dict[str, Any], arguments: tuple[str, ...], message: str
) -> None:
    account.answer("sagemaker", "describe_cluster", cluster)
    result = update(*arguments, "--yes")
    assert result.exit_code == 1
    assert message in result.output


@pytest.mark.parametrize(("status", "word"), [("RollbackComplete", "was rolled back"), ("Failed", "failed")])
def test_a_rollback_is_told_with_its_reason(account: StubbedTarget, status: str, word: str) -> None:
    there_is(account, described(**EKS))
    account.answer("sagemaker", "update_cluster_software", {"ClusterArn": ARN})
    there_is(account, described(update=status, FailureMessage="the alarm errors is in ALARM\x1b[2J", **EKS), NEW)
    result = update(*ROLLING, "--yes", "-o", "json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)[0]["result"] == status
    assert f"the update {word}: the alarm errors is in ALARM" in result.stderr


@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("n\n", 1)])
def test_it_says_what_each_role_loses_and_asks(
    account: StubbedTarget, monkeypatch: pytest.MonkeyPatch, answer: str, code: int
) -> None:
    there_is(account, group=None)
    account.answer("sagemaker", "update_cluster_software", {"ClusterArn": ARN}, ClusterName=ARN)
    monkeypatch.setattr("hyperpod_constructs.cli.operate.update_software.somebody_is_there", lambda: True)
    monkeypatch.setattr("hyperpod_constructs.cli.operate.update_software.jobs_on", lambda *asked: Jobs())
    asked = ["update-software", "--cluster", "trainer", "--no-watch", "--target", "aws"]
    result = CliRunner().invoke(app, asked, input=answer)
    assert result.exit_code == code
    assert "root volume with Slurm's queue and the accounting records; no job starts until it is back" in result.output
    assert "Update the software of 3 nodes of trainer?" in result.output


def test_fails_where_nobody_can_be_asked(account: StubbedTarget) -> None:
    there_is(account)
    assert "renew the root volumes of 2 nodes of trainer, and nobody is there to ask: add --yes" in update().output


def test_a_missing_permission_is_named_with_the_grant(account: StubbedTarget) -> None:
    there_is(account)
    sentence = f"not authorized to perform: sagemaker:UpdateClusterSoftware on resource: {ARN}"
    account.refuse("sagemaker", "update_cluster_software", "AccessDeniedException", sentence)
    assert "cluster.grants.manage_nodes(role)" in update("--yes").output


def test_an_interruption_leaves_the_update_running_and_says_so(account: StubbedTarget, monkeypatch: pytest.MonkeyPatch) -> None:
    there_is(account)
    account.answer("sagemaker", "update_cluster_software", {"ClusterArn": ARN})

    def interrupted(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("hyperpod_constructs.cli.operate.update_software.watch", interrupted)
    result = update("--yes")
    assert result.exit_code == 130
    assert "interrupted; the update goes on: hyperpod status --watch --cluster trainer" in result.output


class Following:
    """A look at the update after another, without time between."""

    def __init__(self, target: StubbedTarget) -> None:
        self.target = target
        self.place = Place(target, TargetName.AWS)
        there_is(target)
        self.cluster = read_cluster(self.place, ARN)
        target.client("sagemaker").list_cluster_nodes(**ASKED, InstanceGroupNameContains="workers")
        self.progress = Progress.begin({"workers"}, [Node.of(one) for one in OLD])
        self.seconds = 0.0

    def run(self) -> None:
        watch(self.place, self.cluster, self.progress, 60.0, clock=lambda: self.seconds, sleep=self.sleep)

    def sleep(self, seconds: float) -> None:
        self.seconds += seconds


@pytest.fixture
def following(target: StubbedTarget) -> Following:
    return Following(target)


def test_a_pipe_has_a_line_for_each_change(following: Following, capsys: pytest.CaptureFixture[str]) -> None:
    half = [NEW[0], node(3, status="SystemUpdating"), OLD[2]]
    going = described("SystemUpdating", "InProgress")
    for nodes in (OLD, half, half):
        there_is(following.target, going, nodes)
    there_is(following.target, described(update="Succeeded"), NEW)
    following.run()
    assert capsys.readouterr().out.splitlines() == [
        "0 of 2 nodes updated, 0 away",
        "1 of 2 nodes updated, 1 away",
        "2 of 2 nodes updated, 0 away",
    ]


def test_a_throttled_look_is_passed_over(following: Following, capsys: pytest.CaptureFixture[str]) -> None:
    following.target.refuse("sagemaker", "describe_cluster", "ThrottlingException", "Rate exceeded")
    there_is(following.target, described(update="Succeeded"), NEW)
    following.run()
    assert following.progress.done == 2
    assert "AWS throttles DescribeCluster: the account sends too many requests" in capsys.readouterr().err


def test_fails_if_nobody_can_look_any_more(following: Following) -> None:
    sentence = f"not authorized to perform: sagemaker:DescribeCluster on resource: {ARN}"
    following.target.refuse("sagemaker", "describe_cluster", "AccessDeniedException", sentence)
    with pytest.raises(CliError, match=r"the update goes on, but nobody can follow it: .*cluster\.grants\.read"):
        following.run()
    following.target.assert_all_asked()


def test_an_update_that_does_not_show_itself_is_not_waited_for(following: Following) -> None:
    for _ in range(4):
        there_is(following.target)
    following.run()
    assert (following.progress.seen, following.seconds) == (False, 180.0)


def test_a_terminal_has_a_bar(following: Following, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    there_is(following.target, described(update="Succeeded"), NEW)
    following.run()
    assert "2 of 2 nodes updated, 0 away" in capsys.readouterr().out


def test_the_clock_of_this_machine_does_not_matter(following: Following) -> None:
    past = NOW - timedelta(days=400)
    there_is(following.target, described(update="Succeeded"), [node(2, LastSoftwareUpdateTime=past), *NEW[1:]])
    following.run()
    assert following.progress.done == 2
