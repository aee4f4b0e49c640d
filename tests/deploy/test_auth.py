"""Deployments under IAM's evaluation: every role has its permissions, and a role without them is refused."""

from __future__ import annotations

import json
import os
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from aws_cdk import App, Stack
from aws_cdk import aws_iam as iam
from aws_cdk.assertions import Template
from botocore.exceptions import ClientError
from typer.testing import CliRunner, Result

import app as reference
from hyperpod_constructs.cli.commands import app
from hyperpod_constructs.cli.target import AwsAccount
from hyperpod_constructs.cluster.grants import ClusterGrants
from hyperpod_constructs.facts.cluster_actions import READ, READ_LOGS
from hyperpod_constructs.facts.session_manager import session_target
from tests.cli.operate.entries import ENTRIES, NODE, Stage, once
from tests.deploy import people
from tests.deploy.conftest import BIN, CLUSTER, CLUSTER_NAME, FOUNDATION, Cloud, running_cloud, synthesize
from tests.local.administrator import without_permissions
from tests.local.hyperpod_requests import cluster, group
from tests.patience import PATIENCE, until


def _forbid_the_upload(_: reference.Foundation, cluster: reference.Cluster) -> None:
    """Take s3:PutObject from the function that uploads the lifecycle scripts."""
    policies = [found for found in cluster.node.find_all() if isinstance(found, iam.CfnPolicy) and "Upload" in found.node.path]
    found = 0
    for policy in policies:
        statements = cluster.resolve(policy.policy_document)["Statement"]
        for index, statement in enumerate(statements):
            if "s3:PutObject" in statement["Action"]:
                policy.add_property_override(f"PolicyDocument.Statement.{index}.Action", "s3:ListBucket")
                found += 1
    assert found == 1


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    with running_cloud(tmp_path_factory.mktemp("auth"), auth=True) as running:
        yield running


def test_fails_without_a_permission(cloud: Cloud, tmp_path: Path) -> None:
    run = cloud.deploy(synthesize(tmp_path / "forbidden", _forbid_the_upload))
    assert run.code == 1
    assert "is not authorized to perform: s3:PutObject" in cloud.cause(CLUSTER)
    assert "is not authorized to perform: s3:PutObject" in run.output
    assert cloud.status(FOUNDATION) == "CREATE_COMPLETE"
    assert cloud.status(CLUSTER) == "ROLLBACK_COMPLETE"


def test_create_with_the_permissions_of_the_app(cloud: Cloud, tmp_path: Path) -> None:
    run = cloud.run("hyperpod", "deploy", "--auth", "--app", str(synthesize(tmp_path / "app")))
    assert run.code == 0, run.output
    assert cloud.status(CLUSTER) == "CREATE_COMPLETE"
    cloud.running("controller", 1)
    cloud.running("workers", 4)


def test_an_operator_sees_and_mends_a_running_cluster(cloud: Cloud) -> None:
    rows = json.loads(cloud.run("hyperpod", "nodes", "-o", "json").output)
    assert {row["node"] for row in rows} == {node["InstanceId"] for node in cloud.nodes()}
    events = json.loads(cloud.run("hyperpod", "events", "--level", "info", "-o", "json").output)
    assert any(row["node"] == rows[0]["node"] for row in events)
    worker = next(row["node"] for row in rows if row["group"] == "workers")
    assert worker in cloud.run("hyperpod", "logs", "--node", worker).output
    cloud.client("sagemaker").update_cluster_software(ClusterName=CLUSTER_NAME)
    until(lambda: cloud.cluster()["ClusterStatus"] == "InService", "the cluster in service again")
    replaced = cloud.run("hyperpod", "replace", worker, "--yes")
    assert replaced.code == 0, replaced.output
    assert worker not in cloud.running("workers", 4)


def test_a_reader_sees_and_is_told_what_mending_needs(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    _becomes(monkeypatch, cloud, _role(cloud, "reader", _allowed([f"sagemaker:{name}" for name in READ])))
    node = cloud.nodes()[-1]["InstanceId"]
    where = ["--target", "aws", "--cluster", CLUSTER_NAME]
    seen = CliRunner().invoke(app, ["nodes", *where, "-o", "json"])
    assert seen.exit_code == 0, seen.output
    assert node in seen.output
    refused = CliRunner().invoke(app, ["reboot", node, *where, "--yes"])
    assert refused.exit_code == 1
    assert "sagemaker:BatchRebootClusterNodes is not allowed" in refused.output
    assert "cluster.grants.manage_nodes(role)" in refused.output
    statement = json.loads(refused.output[refused.output.index("{") :])
    assert statement["Action"] == "sagemaker:BatchRebootClusterNodes"


OPERATED = [name for name, entry in ENTRIES.items() if entry.grant in ("read", "manage_nodes") and name != "scale"]
"""The commands whose permissions a grant gives; the count of this cluster is its stack's."""


@pytest.mark.parametrize("name", OPERATED)
def test_a_command_works_with_its_grant_and_names_each_action_that_is_taken_from_it(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    """What changes the cluster is not asked for with all permissions."""
    entry, stage = ENTRIES[name], Stage(tmp_path, monkeypatch)
    fleet = stage.fleet()
    assert CliRunner().invoke(app, once(name)).exit_code == 0
    needed = {call.action for call in fleet.calls} - entry.spared
    beyond = [{"Effect": "Allow", "Action": one, "Resource": "*"} for one in entry.beyond]
    role = _role(cloud, f"only-{name}", [*_granted(cloud.cluster()["ClusterArn"], str(entry.grant)), *beyond])
    _becomes(monkeypatch, cloud, role)
    worker = next(node["InstanceId"] for node in cloud.nodes() if node["InstanceGroupName"] == "workers")
    given = [worker if word == NODE else word for word in entry.arguments(name, cluster=CLUSTER_NAME)]
    for action in sorted(needed):
        with people.without(cloud, role, action):
            refused = CliRunner().invoke(app, given)
        assert (refused.exit_code, f"{action} is not allowed" in refused.output) == (1, True), refused.output
    if not entry.changes:
        done = CliRunner().invoke(app, given)
        assert done.exit_code == 0, done.output


FREE = "free"
"""A cluster of no stack, so its count may be changed."""
NO_SHELL = "this embedded AWS boots no nodes"
"""What a command says on records once its session has been started."""


@pytest.fixture(scope="module")
def free(cloud: Cloud) -> Iterator[str]:
    """The ARN of a cluster with one worker."""
    sagemaker, owned = cloud.client("sagemaker"), cloud.cluster()
    where = SimpleNamespace(
        role=owned["InstanceGroups"][0]["ExecutionRole"],
        subnet=owned["VpcConfig"]["Subnets"][0],
        security_group=owned["VpcConfig"]["SecurityGroupIds"][0],
    )
    scripts = owned["InstanceGroups"][0]["LifeCycleConfig"]
    groups = [group(where, "controller", "Controller", LifeCycleConfig=scripts)]
    groups += [group(where, "workers", "Compute", LifeCycleConfig=scripts)]
    arn = sagemaker.create_cluster(**cluster(where, ClusterName=FREE, InstanceGroups=groups))["ClusterArn"]

    def running() -> bool:
        nodes = sagemaker.list_cluster_nodes(ClusterName=FREE)["ClusterNodeSummaries"]
        return {node["InstanceStatus"]["Status"] for node in nodes} == {"Running"}

    until(running, "the nodes of the cluster of no stack")
    yield str(arn)
    sagemaker.delete_cluster(ClusterName=FREE)
    until(lambda: len(sagemaker.list_clusters()["ClusterSummaries"]) == 1, "the end of the cluster of no stack")


READS = ("sagemaker:DescribeCluster on the cluster", "sagemaker:ListClusterNodes on the cluster")
SCALES = ("cloudformation:DescribeStackResources on *", "sagemaker:UpdateCluster on the cluster", "iam:PassRole on its role")
STARTS = ("ssm:StartSession on the cluster", "ssm:StartSession on AWS-StartNonInteractiveCommand")


@pytest.mark.parametrize(
    ("command", "needed", "end"),
    [
        ("connect", {*READS, *STARTS}, NO_SHELL),
        ("connect --stdio 22", {*READS, STARTS[0], "ssm:StartSession on AWS-StartSSHSession"}, NO_SHELL),
        ("copy data :/fsx/data", {*READS, *STARTS}, NO_SHELL),
        ("ssh-config --nodes", set(READS), "ProxyCommand"),
        ("scale workers 2 --yes", {*READS, *SCALES}, "The service scales workers to 2"),
    ],
)
def test_who_gets_each_statement_that_a_refusal_names_is_let_through(
    cloud: Cloud, free: str, monkeypatch: pytest.MonkeyPatch, command: str, needed: set[str], end: str
) -> None:
    """No statement gives more than is needed, and without any single one the command is refused."""
    monkeypatch.chdir(cloud.directory)
    Path("data").touch()
    given = [*command.split(), "--cluster", FREE, "--target", "local"]
    found: list[dict[str, Any]] = []
    with without_permissions(cloud.aws) as allow:
        result = CliRunner().invoke(app, given)
        while (statement := _named(result)) is not None:
            assert statement not in found
            found.append(statement)
            allow(found)
            result = CliRunner().invoke(app, given)
    assert end in result.output
    role = cloud.cluster()["InstanceGroups"][0]["ExecutionRole"]
    short = {free: "the cluster", role: "its role"}
    told = {(one["Action"], one["Resource"]) for one in found}
    assert {f"{action} on {short.get(on, on.rpartition('/')[2])}" for action, on in told} == needed


def _named(result: Result) -> dict[str, Any] | None:
    """The statement that would grant what was refused; `None` if nothing was."""
    if "is not allowed; this statement grants it" not in result.output:
        return None
    assert result.exit_code == 1
    statement: dict[str, Any] = json.JSONDecoder().raw_decode(result.output, result.output.index("{"))[0]
    return statement


PLUGIN = """#!/bin/sh
[ "$1" != --version ] || exec echo 1.0.0.0
echo "$1" > started
echo "$5" > asked
"""
"""A double of the Session Manager plugin, which opens no channel: it notes the service's answer and the request."""


def test_the_aws_cli_starts_a_session_with_the_grant_alone(cloud: Cloud, tmp_path: Path) -> None:
    arn = cloud.cluster()["ClusterArn"]
    role = _role(cloud, "guests", _granted(arn, "connect"))
    node = cloud.nodes()[0]
    (tmp_path / "session-manager-plugin").write_text(PLUGIN)
    (tmp_path / "session-manager-plugin").chmod(0o755)

    def connect() -> subprocess.CompletedProcess[str]:
        path = os.pathsep.join([str(tmp_path), str(BIN), os.environ["PATH"]])
        environment = {**cloud.aws.environment(), **people.variables(people.credentials(cloud, role)), "PATH": path}
        command = [str(BIN / "hyperpod"), "connect", node["InstanceId"], "--stdio", "22"]
        command += ["--cluster", CLUSTER_NAME, "--target", "aws"]
        return subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False)  # noqa: S603

    allowed = connect()
    assert allowed.returncode == 0, allowed.stderr
    asked, started = (json.loads((tmp_path / name).read_text()) for name in ("asked", "started"))
    target = session_target(arn.rpartition("/")[2], node["InstanceGroupName"], node["InstanceId"])
    assert asked == {"Target": target, "DocumentName": "AWS-StartSSHSession", "Parameters": {"portNumber": ["22"]}}
    with people.without(cloud, role, "ssm:StartSession"):
        refused = connect()
    assert refused.returncode == 1
    assert "ssm:StartSession is not allowed; this statement grants it, or cluster.grants.connect(role)" in refused.stderr

    ssm = people.clients(cloud, people.credentials(cloud, role))("ssm")
    assert ssm.terminate_session(SessionId=started["SessionId"])["SessionId"] == started["SessionId"]
    with pytest.raises(ClientError, match="is not authorized to perform: ssm:TerminateSession"):
        ssm.terminate_session(SessionId="somebody-0123456789abcdef0")


def test_a_case_is_packed_with_all_that_its_role_may_read(cloud: Cloud, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    case = ("export-logs", "--target", "aws", "--cluster", CLUSTER_NAME, "-o", "json")
    _becomes(monkeypatch, cloud, _role(cloud, "first-line", _allowed([f"sagemaker:{name}" for name in READ])))
    partial = CliRunner().invoke(app, [*case, "--file", "partial.tar.gz"])
    assert partial.exit_code == 3, partial.output
    missing = {one["what"]: one["why"] for one in json.loads(partial.output)["missing"]}
    assert missing.keys() == {"logs/lifecycle.log", "logs/health.log", "logs/deep-check.log", "templates"}
    assert "cluster.grants.read_logs(role)" in missing["logs/lifecycle.log"]
    assert '"Action": "cloudformation:DescribeStackResources"' in missing["templates"]
    more = [READ_LOGS, *(f"cloudformation:{name}" for name in ("DescribeStackResources", "GetTemplate", "ListExports"))]
    _becomes(monkeypatch, cloud, _role(cloud, "second-line", _allowed([*more, *(f"sagemaker:{name}" for name in READ)])))
    whole = CliRunner().invoke(app, [*case, "--file", "whole.tar.gz"])
    assert whole.exit_code == 0, whole.output
    with tarfile.open("whole.tar.gz") as tar:
        files = {name.partition("/")[2]: tar.extractfile(name) for name in tar.getnames()}
        nodes = [json.loads(line) for line in files["nodes.jsonl"] or ()]
        log = (files["logs/lifecycle.log"] or BytesIO()).read().decode()
    assert {node["InstanceId"] for node in nodes} == {node["InstanceId"] for node in cloud.nodes()}
    assert nodes[0]["InstanceId"] in log
    assert {f"templates/{name}.json" for name in (FOUNDATION, CLUSTER)} < set(files)


def test_what_the_destroyed_cluster_left_is_cleaned_by_who_may(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    arn = cloud.cluster()["ClusterArn"]
    run = cloud.run("hyperpod", "destroy", "--app", str(synthesize(tmp_path / "app")))
    assert run.code == 0, run.output
    group = f"/aws/sagemaker/Clusters/{CLUSTER_NAME}/{arn.rpartition('/')[2]}"
    command = ["clean", "--target", "aws", "--stack", CLUSTER, "--delete", "log-groups", "--yes", "-o", "json"]
    looking = [f"cloudformation:{name}" for name in ("ListStacks", "DescribeStackEvents", "DescribeStackResources", "GetTemplate")]
    looking += ["logs:DescribeLogGroups", "logs:ListTagsForResource", "sagemaker:ListClusters", "sagemaker:DescribeCluster"]
    _becomes(monkeypatch, cloud, _role(cloud, "guest", _allowed(looking)))
    refused = CliRunner().invoke(app, command)
    assert refused.exit_code == 1
    (row,) = [found for found in json.loads(refused.output) if found["id"] == group]
    assert row["note"].startswith("logs:DeleteLogGroup is not allowed; this statement grants it: {")
    assert group in cloud.things()["log group"]
    _becomes(monkeypatch, cloud, _role(cloud, "janitor", _allowed([*looking, "logs:DeleteLogGroup"])))
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    assert group not in cloud.things()["log group"]


def _becomes(monkeypatch: pytest.MonkeyPatch, cloud: Cloud, role: str) -> None:
    """From now on the account is seen as the role with this ARN sees it."""
    reader = _Reader(people.clients(cloud, people.credentials(cloud, role)))
    monkeypatch.setattr(AwsAccount, "of_caller", lambda **options: reader)


def _granted(arn: str, grant: str) -> list[dict[str, Any]]:
    """The statements that a grant writes."""
    stack = Stack(App(), "Granted")
    role = iam.Role(stack, "Role", assumed_by=iam.AccountRootPrincipal())
    getattr(ClusterGrants(arn), grant)(role)
    (policy,) = Template.from_stack(stack).find_resources("AWS::IAM::Policy").values()
    statements: list[dict[str, Any]] = _resolved(policy["Properties"]["PolicyDocument"]["Statement"])
    return statements


def _resolved(value: Any) -> Any:
    """The value with joined texts, and the account and the partition in them."""
    match value:
        case {"Ref": name}:
            return {"AWS::AccountId": "123456789012", "AWS::Partition": "aws"}[name]
        case {"Fn::Join": [separator, parts]}:
            return separator.join(map(_resolved, parts))
        case dict():
            return {key: _resolved(one) for key, one in value.items()}
        case list():
            return [_resolved(one) for one in value]
        case _:
            return value


@dataclass
class _Reader:
    """The account as a role sees it."""

    client: Callable[[str], Any]
    account: str = "123456789012"
    region: str = "us-west-2"


def _role(cloud: Cloud, name: str, statements: list[dict[str, Any]]) -> str:
    """The ARN of a new role with these statements, for everybody of the account."""
    statement = {"Effect": "Allow", "Principal": {"AWS": "arn:aws:iam::123456789012:root"}, "Action": "sts:AssumeRole"}
    trust = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    made = cloud.client("iam").create_role(RoleName=name, AssumeRolePolicyDocument=trust)["Role"]
    policy = json.dumps({"Version": "2012-10-17", "Statement": statements})
    cloud.client("iam").put_role_policy(RoleName=name, PolicyName="own", PolicyDocument=policy)
    return str(made["Arn"])


def _allowed(actions: list[str]) -> list[dict[str, Any]]:
    """One statement with these actions on everything."""
    return [{"Effect": "Allow", "Action": actions, "Resource": "*"}]
