"""Homes on OpenZFS: the real CDK CLI deploys, grows and destroys them, and the function takes snapshots of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App, Duration, Environment, RemovalPolicy, Stack
from aws_cdk import aws_events as events

from hyperpod_constructs import ClusterNetwork, OpenZfsQuota, OpenZfsQuotas, OpenZfsSnapshots, OpenZfsStorage
from hyperpod_constructs.local.waiting import wait
from tests.deploy.conftest import Cloud, running_cloud

NAME = "Homes"
# A schedule of a minute, on a busy machine.
SECONDS = 300.0
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
    OpenZfsSnapshots(stack, "Snapshots", file_system=homes, keep=1, schedule=events.Schedule.rate(Duration.minutes(1)))
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


def test_the_schedule_runs_the_function_which_takes_a_snapshot(story: Story) -> None:
    fsx = story.cloud.client("fsx")
    snapshot, *_ = wait(lambda: fsx.describe_snapshots()["Snapshots"] or None, SECONDS, "the first snapshot")
    assert re.fullmatch(r"daily\.\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", snapshot["Name"])
    assert snapshot["VolumeId"] == story.homes()["OpenZFSConfiguration"]["RootVolumeId"]


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
