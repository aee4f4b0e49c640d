"""Deployments under IAM's evaluation: every role has its permissions, and a role without them is refused."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import aws_iam as iam
from typer.testing import CliRunner

import app as reference
from hyperpod_constructs.cli.main import app
from hyperpod_constructs.cli.target import AwsAccount
from hyperpod_constructs.facts.cluster_actions import READ
from hyperpod_constructs.local.waiting import wait
from tests.deploy import people
from tests.deploy.conftest import CLUSTER, CLUSTER_NAME, FOUNDATION, SECONDS, Cloud, running_cloud, synthesize


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
    wait(lambda: cloud.cluster()["ClusterStatus"] == "InService" or None, SECONDS, "the cluster in service again")
    replaced = cloud.run("hyperpod", "replace", worker, "--yes")
    assert replaced.code == 0, replaced.output
    assert worker not in cloud.running("workers", 4)


def test_a_reader_sees_and_is_told_what_mending_needs(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    role = _role(cloud, "reader", [f"sagemaker:{name}" for name in READ])
    reader = _Reader(people.clients(cloud, people.credentials(cloud, role)))
    monkeypatch.setattr(AwsAccount, "of_caller", lambda **options: reader)
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


@dataclass
class _Reader:
    """The account as a role sees it."""

    client: Callable[[str], Any]
    account: str = "123456789012"
    region: str = "us-west-2"


def _role(cloud: Cloud, name: str, actions: list[str]) -> str:
    """The ARN of a new role with these actions, for everybody of the account."""
    statement = {"Effect": "Allow", "Principal": {"AWS": "arn:aws:iam::123456789012:root"}, "Action": "sts:AssumeRole"}
    trust = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    made = cloud.client("iam").create_role(RoleName=name, AssumeRolePolicyDocument=trust)["Role"]
    policy = json.dumps({"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": actions, "Resource": "*"}]})
    cloud.client("iam").put_role_policy(RoleName=name, PolicyName="own", PolicyDocument=policy)
    return str(made["Arn"])
