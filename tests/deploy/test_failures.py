"""Failed deployments: each gives the leaf cause, leaves nothing behind, and the emulator still deploys."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import app as reference
from hyperpod_constructs import DataRepositoryAssociation
from tests.deploy.conftest import CLUSTER, FOUNDATION, Cloud, Edit, Things, give_the_gate, running_cloud, synthesize

MISSING = "amzn-s3-demo-bucket"
LAST_LINE = "mount.lustre: connection timed out"


@dataclass
class Story:
    """The cloud, and the resources of the foundation alone."""

    cloud: Cloud
    assemblies: dict[str, Path]
    foundation: Things = field(default_factory=dict)


def _break_the_data_repository(foundation: reference.Foundation, _: reference.Cluster) -> None:
    """FSx refuses this when the file system and nearly everything else exists."""
    association = foundation.file_system.node.find_child("DataRepository")
    assert isinstance(association, DataRepositoryAssociation)
    association.resource.add_property_override("DataRepositoryPath", f"s3://{MISSING}")


def _all_or_nothing(_: reference.Foundation, cluster: reference.Cluster) -> None:
    cluster.slurm.cluster.resource.node_provisioning_mode = None


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    directory = tmp_path_factory.mktemp("failures")

    def assembly(name: str, edit: Edit | None = None, **context: str) -> Path:
        # A protected stack whose creation failed would have to be unprotected by hand before the next deployment.
        return synthesize(directory / name, edit, termination_protection="false", **context)

    assemblies = {
        "broken foundation": assembly("broken", _break_the_data_repository),
        "good": assembly("good"),
        # The last look must come after the first failure of a worker, on a busy machine too.
        "workers awaited": assembly("awaited", give_the_gate(30), min_running_workers="4"),
        "all or nothing": assembly("four", _all_or_nothing),
        "two more": assembly("six", _all_or_nothing, worker_count="6"),
    }
    with running_cloud(directory) as cloud:
        yield Story(cloud, assemblies)


def test_fails_create_of_the_foundation_and_leaves_nothing(story: Story) -> None:
    cloud = story.cloud
    run = cloud.run("hyperpod", "deploy", "--app", str(story.assemblies["broken foundation"]))
    assert run.code == 1
    assert "Traceback" not in run.output
    cause = cloud.cause(FOUNDATION)
    assert f"the bucket {MISSING} of DataRepositoryPath cannot be reached" in cause
    last = run.output.splitlines()[-1]
    assert last.startswith("hyperpod: ")
    assert cause in last
    assert cloud.status(FOUNDATION) == "ROLLBACK_COMPLETE"
    assert cloud.left() == {"stack": {FOUNDATION}}


def test_deploys_the_foundation_after_its_failure(story: Story) -> None:
    run = story.cloud.deploy(story.assemblies["good"], "Foundation")
    assert run.code == 0, run.output
    assert story.cloud.status(FOUNDATION) == "CREATE_COMPLETE"
    story.foundation = story.cloud.things()


def test_fails_create_of_the_cluster_and_leaves_nothing(story: Story) -> None:
    cloud = story.cloud
    with cloud.faults(failing_scripts={"controller": LAST_LINE}):
        run = cloud.run("hyperpod", "deploy", "--app", str(story.assemblies["good"]))
    assert run.code == 1
    assert "Traceback" not in run.output
    cause = cloud.cause(CLUSTER)
    assert "of instance group controller" in cause
    assert LAST_LINE in cause
    assert cause in run.output.splitlines()[-1]
    _assert_only_the_node_logs_are_left(story)


def _assert_only_the_node_logs_are_left(story: Story) -> None:
    """The service makes the log group of a cluster, so it stays, and gives the cause of the nodes' failure."""
    left = story.cloud.left(story.foundation)
    assert story.cloud.status(CLUSTER) == "ROLLBACK_COMPLETE"
    assert left.pop("stack") == {CLUSTER}
    assert all(name.startswith("/aws/sagemaker/Clusters/") for name in left.pop("log group"))
    assert left == {}


def test_fails_readiness_with_the_end_of_the_lifecycle_log(story: Story) -> None:
    cloud = story.cloud
    with cloud.faults(failing_scripts={"workers": LAST_LINE}, slow_creation=0.0):
        run = cloud.deploy(story.assemblies["workers awaited"])
    assert run.code == 1
    cause = cloud.cause(CLUSTER)
    # Failed workers are provisioned again, so their statuses at the last look differ.
    assert "workers: 0 of 4 Running, " in cause
    log = cause.partition("end of /aws/sagemaker/Clusters/")[2]
    assert LAST_LINE in log
    assert "exit status 1" in log
    assert LAST_LINE in run.output
    _assert_only_the_node_logs_are_left(story)


def test_create_after_the_failures(story: Story) -> None:
    cloud = story.cloud
    run = cloud.deploy(story.assemblies["all or nothing"])
    assert run.code == 0, run.output
    assert cloud.status(CLUSTER) == "CREATE_COMPLETE"
    assert "NodeProvisioningMode" not in cloud.cluster()
    cloud.running("workers", 4)


def test_fails_update_without_capacity_and_goes_back(story: Story) -> None:
    cloud = story.cloud
    workers = cloud.running("workers", 4)
    with cloud.faults(no_capacity=["workers"]):
        run = cloud.run("hyperpod", "deploy", "--app", str(story.assemblies["two more"]))
    assert run.code == 1
    cause = cloud.cause(CLUSTER)
    assert "Insufficient capacity" in cause
    assert cause in run.output.splitlines()[-1]
    assert cloud.status(CLUSTER) == "UPDATE_ROLLBACK_COMPLETE"
    assert cloud.targets() == {"controller": 1, "workers": 4}
    assert cloud.running("workers", 4) == workers


def test_fails_for_an_unknown_setting_and_changes_nothing(story: Story) -> None:
    things = story.cloud.things()
    app = f"{sys.executable} {reference.__file__}"
    run = story.cloud.run("hyperpod", "deploy", "--app", app, "-c", "availability_zone_id=usw2-az4", "-c", "worker_cuont=8")
    assert run.code == 1
    assert "unknown context key 'worker_cuont' (value '8'); the nearest is 'worker_count'" in run.output
    assert "Traceback" not in run.output
    assert story.cloud.things() == things


def test_update_when_there_is_capacity_again(story: Story) -> None:
    run = story.cloud.deploy(story.assemblies["two more"])
    assert run.code == 0, run.output
    assert story.cloud.targets() == {"controller": 1, "workers": 6}
