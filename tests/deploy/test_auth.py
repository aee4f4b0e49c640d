"""Deployments under IAM's evaluation: every role has its permissions, and a role without them is refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from aws_cdk import aws_iam as iam

import app as reference
from tests.deploy.conftest import CLUSTER, FOUNDATION, Cloud, running_cloud, synthesize


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
