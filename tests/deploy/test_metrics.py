"""Workspaces of Prometheus and Grafana: the real CDK CLI deploys, changes and destroys them, and they outlive their stack."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from aws_cdk import App, Environment, RemovalPolicy, Stack
from aws_cdk import aws_sns as sns

from hyperpod_constructs import ManagedGrafana, ManagedPrometheus
from tests.deploy.conftest import Cloud, running_cloud

NAME = "Metrics"
MINE = "groups:\n  - name: mine\n    rules:\n      - {record: nodes, expr: count(node_memory_MemTotal_bytes)}\n"


@dataclass
class Story:
    """The cloud, and the assemblies by name."""

    cloud: Cloud
    assemblies: dict[str, Path]

    def held(self) -> dict[str, str]:
        """The physical ids of what the stack holds, by type."""
        found = self.cloud.client("cloudformation").describe_stack_resources(StackName=NAME)["StackResources"]
        return {one["ResourceType"]: one["PhysicalResourceId"] for one in found}


def assembly(cloud: Cloud, directory: Path, rules: Path | None) -> Path:
    app = App(outdir=str(directory))
    stack = Stack(app, NAME, env=Environment(account=cloud.aws.account, region=cloud.aws.region))
    prometheus = ManagedPrometheus(stack, "Prometheus", alerts_topic=sns.Topic(stack, "Topic", enforce_ssl=True))
    if rules is not None:
        prometheus.add_rules("Mine", path=rules)
    ManagedGrafana(stack, "Grafana", prometheus=prometheus, removal_policy=RemovalPolicy.DESTROY)
    app.synth()
    return directory


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    directory = tmp_path_factory.mktemp("metrics")
    (rules := directory / "mine.yaml").write_text(MINE)
    with running_cloud(directory) as cloud:
        yield Story(cloud, {name: assembly(cloud, directory / name, file) for name, file in {"ours": None, "both": rules}.items()})


def test_workspaces_come_and_change_in_place(story: Story) -> None:
    run = story.cloud.deploy(story.assemblies["ours"])
    assert run.code == 0, run.output
    made = story.held()
    assert made["AWS::Grafana::Workspace"].startswith("g-")
    run = story.cloud.deploy(story.assemblies["both"])
    assert run.code == 0, run.output
    kept = ("AWS::APS::Workspace", "AWS::Grafana::Workspace")
    assert {kind: story.held()[kind] for kind in kept} == {kind: made[kind] for kind in kept}


def test_the_metrics_outlive_their_stack(story: Story) -> None:
    run = story.cloud.destroy(story.assemblies["both"], NAME)
    assert run.code == 0, run.output
    stacks = story.cloud.client("cloudformation").list_stacks(StackStatusFilter=["DELETE_COMPLETE"])["StackSummaries"]
    stack_id = next(stack["StackId"] for stack in stacks if stack["StackName"] == NAME)
    events = story.cloud.client("cloudformation").describe_stack_events(StackName=stack_id)["StackEvents"]
    ends = {event["ResourceType"]: event["ResourceStatus"] for event in reversed(events)}
    assert ends["AWS::APS::Workspace"] == "DELETE_SKIPPED"
    assert ends["AWS::Grafana::Workspace"] == "DELETE_COMPLETE"
