"""Homes on OpenZFS: the real CDK CLI deploys, grows and destroys them, and the function takes snapshots of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App, CfnOutput, Environment, RemovalPolicy, Stack

from hyperpod_constructs import ClusterNetwork, OpenZfsQuota, OpenZfsQuotas, OpenZfsSnapshots, OpenZfsStorage
from tests.deploy.conftest import Cloud, running_cloud

NAME = "Homes"
ALICE = {"Type": "USER", "Id": 10001, "StorageCapacityQuotaGiB": 50}


@dataclass
class Story:
    """The cloud, and the assemblies by name."""

    cloud: Cloud
    assemblies: dict[str, Path]

    def homes(self) -> dict[str, Any]:
        (found,) = self.cloud.client("fsx").describe_file_systems()["FileSystems"]
        return dict(found)


def assembly(cloud: Cloud, directory: Path, quotas: list[OpenZfsQuota], **figures: int) -> Path:
    app = App(outdir=str(directory))
    stack = Stack(app, NAME, env=Environment(account=cloud.aws.account, region=cloud.aws.region))
    network = ClusterNetwork(stack, "Network", availability_zone_id="usw2-az1", removal_policy=RemovalPolicy.DESTROY)
    homes = OpenZfsStorage(stack, "Homes", network=network, removal_policy=RemovalPolicy.DESTROY, **figures)  # type: ignore[arg-type]
    OpenZfsQuotas(stack, "Quotas", file_system=homes, quotas=quotas)
    snapshots = OpenZfsSnapshots(stack, "Snapshots", file_system=homes, keep=1)
    CfnOutput(stack, "Function", value=snapshots.function.function.function_name)
    app.synth()
    return directory


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    directory = tmp_path_factory.mktemp("homes")
    alice = OpenZfsQuota(id=10001, storage_capacity_quota_gib=50)
    with running_cloud(directory) as cloud:
        assemblies = {
            "small": assembly(cloud, directory / "small", [alice]),
            "large": assembly(cloud, directory / "large", [], storage_capacity_gib=128, throughput_capacity=320),
        }
        yield Story(cloud, assemblies)


def test_homes_come_with_quotas(story: Story) -> None:
    run = story.cloud.deploy(story.assemblies["small"])
    assert run.code == 0, run.output
    homes = story.homes()
    assert (homes["FileSystemType"], homes["Lifecycle"], homes["StorageCapacity"]) == ("OPENZFS", "AVAILABLE", 64)
    (volume,) = story.cloud.client("fsx").describe_volumes()["Volumes"]
    assert volume["VolumeId"] == homes["OpenZFSConfiguration"]["RootVolumeId"]
    assert volume["OpenZFSConfiguration"]["UserAndGroupQuotas"] == [ALICE]


def test_the_function_takes_and_deletes_snapshots(story: Story) -> None:
    cloud, (rule,) = story.cloud, story.cloud.client("events").list_rules(NamePrefix=NAME)["Rules"]
    (target,) = cloud.client("events").list_targets_by_rule(Rule=rule["Name"])["Targets"]
    assert rule["ScheduleExpression"] == "cron(0 2 * * ? *)"
    for day in ("2026-11-01", "2026-11-02"):
        # The embedded AWS runs no schedules; this is the event that EventBridge makes of the target's template.
        event = target["InputTransformer"]["InputTemplate"].replace("<time>", f'"{day}T02:00:00Z"')
        answer = cloud.client("lambda").invoke(FunctionName=cloud.output(NAME, "Function"), Payload=event.encode())
        assert "FunctionError" not in answer, answer["Payload"].read()
        assert json.load(answer["Payload"])["Snapshot"] == f"daily.{day}T02:00:00Z"
    names = [one["Name"] for one in cloud.client("fsx").describe_snapshots()["Snapshots"] if one["Lifecycle"] != "DELETING"]
    assert names == ["daily.2026-11-02T02:00:00Z"]


def test_homes_grow_in_place_and_quotas_go(story: Story) -> None:
    before = story.homes()["FileSystemId"]
    run = story.cloud.deploy(story.assemblies["large"])
    assert run.code == 0, run.output
    homes = story.homes()
    figures = (homes["StorageCapacity"], homes["OpenZFSConfiguration"]["ThroughputCapacity"])
    assert (homes["FileSystemId"], figures) == (before, (128, 320))
    (volume,) = story.cloud.client("fsx").describe_volumes()["Volumes"]
    assert volume["OpenZFSConfiguration"]["UserAndGroupQuotas"] == []


def test_fails_to_shrink_them_and_rolls_back(story: Story) -> None:
    run = story.cloud.deploy(story.assemblies["small"])
    assert run.code == 1
    assert "StorageCapacity can only grow: it is 128, found 64" in story.cloud.cause(NAME)
    assert (story.homes()["StorageCapacity"], story.cloud.status(NAME)) == (128, "UPDATE_ROLLBACK_COMPLETE")


def test_nothing_is_left(story: Story) -> None:
    run = story.cloud.destroy(story.assemblies["large"], NAME)
    assert run.code == 0, run.output
    fsx = story.cloud.client("fsx")
    assert (fsx.describe_file_systems()["FileSystems"], fsx.describe_snapshots()["Snapshots"]) == ([], [])
