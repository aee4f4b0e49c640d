"""The life of the reference app, from its first deployment to the one after its foundation was destroyed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import aws_fsx as fsx

import app as reference
from hyperpod_constructs.custom_resources.handlers.group_specs import group_requests
from hyperpod_constructs.local import server
from tests.deploy.conftest import (
    CLUSTER,
    CLUSTER_NAME,
    FOUNDATION,
    Cloud,
    Things,
    give_the_gate,
    running_cloud,
    synthesize,
)
from tests.patience import until

CHECKPOINT = b"step 1000"
MISSING = "fs-0123456789abcdef0"


@dataclass
class Story:
    """The cloud, and the findings of earlier steps."""

    cloud: Cloud
    assemblies: dict[str, Path]
    foundation: Things = field(default_factory=dict)
    workers: set[str] = field(default_factory=set)
    seen: dict[str, Any] = field(default_factory=dict)

    def file_systems(self) -> set[str]:
        return self.cloud.things()["file system"]

    def checkpoint(self) -> bytes:
        body = self.cloud.client("s3").get_object(Bucket=self.seen["data"], Key="checkpoint")["Body"].read()
        assert isinstance(body, bytes)
        return body


def _fail_after_the_cluster(_: reference.Foundation, cluster: reference.Cluster) -> None:
    """A resource that AWS refuses when the cluster has been updated already."""
    broken = fsx.CfnDataRepositoryAssociation(
        cluster,
        "Broken",
        file_system_id=MISSING,
        file_system_path="/broken",
        data_repository_path="s3://amzn-s3-demo-bucket",
    )
    broken.node.add_dependency(cluster.slurm.cluster.resource)


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    directory = tmp_path_factory.mktemp("life")
    assemblies = {
        "four": synthesize(directory / "four"),
        "six": synthesize(directory / "six", worker_count="6"),
        "broken": synthesize(directory / "broken", _fail_after_the_cluster, worker_count="8"),
        "late": synthesize(directory / "late", give_the_gate(0), worker_count="8", min_running_workers="8"),
        "unprotected": synthesize(directory / "unprotected", termination_protection="false"),
    }
    with running_cloud(directory) as cloud:
        yield Story(cloud, assemblies)


def test_create(story: Story) -> None:
    cloud = story.cloud
    run = cloud.run("hyperpod", "deploy", "--app", str(story.assemblies["four"]))
    assert run.code == 0, run.output
    cluster = cloud.cluster()
    assert cluster["ClusterStatus"] == "InService"
    assert cluster["ClusterArn"] in run.output
    assert cloud.targets() == {"controller": 1, "workers": 4}
    cloud.running("controller", 1)
    story.workers = cloud.running("workers", 4)
    assert cloud.status(FOUNDATION) == cloud.status(CLUSTER) == "CREATE_COMPLETE"
    bucket, _, prefix = cloud.scripts().removeprefix("s3://").partition("/")
    objects = cloud.client("s3").list_objects_v2(Bucket=bucket, Prefix=prefix)["Contents"]
    assert {f"{prefix}/config.json", f"{prefix}/{cluster['InstanceGroups'][0]['LifeCycleConfig']['OnInitComplete']}"} <= {
        item["Key"] for item in objects
    }


def test_created_data_is_linked_to_the_file_system(story: Story) -> None:
    (file_system,) = story.cloud.client("fsx").describe_file_systems()["FileSystems"]
    (link,) = story.cloud.client("fsx").describe_data_repository_associations()["Associations"]
    story.seen["data"] = story.cloud.output(FOUNDATION, "DataBucket")
    assert (file_system["Lifecycle"], link["Lifecycle"]) == ("AVAILABLE", "AVAILABLE")
    assert link["FileSystemId"] == file_system["FileSystemId"] == story.cloud.output(FOUNDATION, "FileSystemId")
    assert link["DataRepositoryPath"].removeprefix("s3://").strip("/") == story.seen["data"]
    story.cloud.client("s3").put_object(Bucket=story.seen["data"], Key="checkpoint", Body=CHECKPOINT)


def test_second_deploy_changes_nothing(story: Story) -> None:
    cloud = story.cloud
    before = [cloud.events(name)[0]["EventId"] for name in (FOUNDATION, CLUSTER)]
    things = cloud.things()
    run = cloud.deploy(story.assemblies["four"])
    assert run.code == 0, run.output
    assert run.output.count("(no changes)") == 2
    assert [cloud.events(name)[0]["EventId"] for name in (FOUNDATION, CLUSTER)] == before
    assert cloud.things() == things


def test_the_running_cluster_is_checked_updated_and_rebooted(story: Story) -> None:
    cloud = story.cloud
    checked = cloud.run("hyperpod", "health-check", "--group", "workers", "--yes")
    assert (checked.code, checked.output.count(" started")) == (0, 4), checked.output
    cloud.running("workers", 4)
    node = min(story.workers)
    early = cloud.run("hyperpod", "reboot", node, "--yes")
    assert early.code == 1
    assert "the service wants one first: hyperpod update-software" in early.output
    updated = cloud.run("hyperpod", "update-software", "--yes", "--every", "1")
    assert updated.code == 0, updated.output
    assert "5 of 5 nodes updated, 0 away" in updated.output
    assert cloud.running("workers", 4) == story.workers
    assert cloud.run("hyperpod", "reboot", node, "--yes").code == 0
    cloud.running("workers", 4)


def test_the_count_of_a_stack_is_not_scaled(story: Story) -> None:
    run = story.cloud.run("hyperpod", "scale", "workers", "6", "--yes")
    assert run.code == 1
    assert f"the stack {CLUSTER} owns the count of workers, at Resources." in run.output
    assert "In the code write count=6 for InstanceGroup(name='workers'), or worker_count=6" in run.output
    assert story.cloud.targets() == {"controller": 1, "workers": 4}


def test_the_count_of_a_cluster_without_a_stack_is_scaled(story: Story) -> None:
    sagemaker, deployed = story.cloud.client("sagemaker"), story.cloud.cluster()
    asked: Any = sagemaker.meta.service_model.operation_model("UpdateCluster").input_shape
    groups = group_requests(asked, deployed)["InstanceGroups"]
    settings = {name: deployed[name] for name in ("NodeProvisioningMode", "NodeRecovery", "Orchestrator", "VpcConfig")}
    arn = sagemaker.create_cluster(ClusterName="by-hand", InstanceGroups=groups, **settings)["ClusterArn"]
    try:
        until(lambda: sagemaker.describe_cluster(ClusterName="by-hand")["ClusterStatus"] == "InService", "by-hand")
        run = story.cloud.run("hyperpod", "scale", "workers", "2", "--cluster", "by-hand", "--yes", "--watch", "--every", "1")
        assert run.code == 0, run.output
        assert "2 of 2 nodes run, 2 are there" in run.output
        after = group_requests(asked, sagemaker.describe_cluster(ClusterName="by-hand"))["InstanceGroups"]
        assert after == [group | ({"InstanceCount": 2} if group["InstanceGroupName"] == "workers" else {}) for group in groups]
    finally:
        sagemaker.delete_cluster(ClusterName="by-hand")
        until(lambda: len(sagemaker.list_clusters()["ClusterSummaries"]) == 1, "the deletion of by-hand")
        story.cloud.client("logs").delete_log_group(logGroupName=f"/aws/sagemaker/Clusters/by-hand/{arn.rpartition('/')[2]}")


def test_scaling_up_keeps_nodes_scripts_and_data(story: Story) -> None:
    cloud = story.cloud
    arn, scripts, file_systems = cloud.cluster()["ClusterArn"], cloud.scripts(), story.file_systems()
    run = cloud.deploy(story.assemblies["six"])
    assert run.code == 0, run.output
    assert cloud.targets() == {"controller": 1, "workers": 6}
    now = cloud.running("workers", 6)
    assert story.workers < now
    assert (cloud.cluster()["ClusterArn"], cloud.scripts(), story.file_systems()) == (arn, scripts, file_systems)
    story.workers = now


def test_fails_update_and_goes_back(story: Story) -> None:
    cloud = story.cloud
    arn = cloud.cluster()["ClusterArn"]
    run = cloud.deploy(story.assemblies["broken"], "Cluster")
    assert run.code != 0
    assert cloud.status(CLUSTER) == "UPDATE_ROLLBACK_COMPLETE"
    assert MISSING in cloud.cause(CLUSTER)
    assert MISSING in run.output
    assert cloud.targets() == {"controller": 1, "workers": 6}
    assert cloud.running("workers", 6) == story.workers
    assert cloud.cluster()["ClusterArn"] == arn


def test_missed_readiness_at_an_update_is_reported(story: Story) -> None:
    cloud = story.cloud
    with cloud.faults(no_capacity=["workers"], slow_creation=0.0):
        run = cloud.deploy(story.assemblies["late"], "Cluster")
        assert run.code == 0, run.output
        assert cloud.status(CLUSTER) == "UPDATE_COMPLETE"
        message = cloud.output(CLUSTER, "ReadinessMessage")
    assert "workers: 6 of 8 Running" in message
    assert "do not have sufficient capacity to launch new ml.trn1.32xlarge instances" in message
    assert message.splitlines()[0] in run.output
    assert story.workers < cloud.running("workers", 8)


def test_destroying_the_cluster_keeps_the_data(story: Story) -> None:
    cloud = story.cloud
    file_systems = story.file_systems()
    arn = cloud.cluster()["ClusterArn"]
    run = cloud.destroy(story.assemblies["four"], "Cluster")
    assert run.code == 0, run.output
    story.foundation = cloud.things()
    left = cloud.left()
    assert left["stack"] == {FOUNDATION}
    assert left.keys().isdisjoint({"cluster", "function", "state machine"})
    assert left["interface"] == _interfaces(story)
    assert f"/aws/sagemaker/Clusters/{CLUSTER_NAME}/{arn.rsplit('/', 1)[-1]}" in left["log group"]
    assert story.file_systems() == file_systems
    assert story.checkpoint() == CHECKPOINT
    story.seen["arn"] = arn


def _interfaces(story: Story) -> set[str]:
    """Those of the file system and of the NAT gateways."""
    systems = story.cloud.client("fsx").describe_file_systems()["FileSystems"]
    found = {interface for system in systems for interface in system["NetworkInterfaceIds"]}
    for gateway in story.cloud.client("ec2").describe_nat_gateways()["NatGateways"]:
        found |= {address["NetworkInterfaceId"] for address in gateway["NatGatewayAddresses"] if gateway["State"] != "deleted"}
    return found


def test_second_cluster_uses_what_stayed(story: Story) -> None:
    cloud = story.cloud
    run = cloud.deploy(story.assemblies["four"])
    assert run.code == 0, run.output
    assert cloud.cluster()["ClusterArn"] != story.seen["arn"]
    cloud.running("workers", 4)
    assert cloud.left(story.foundation).keys().isdisjoint({"file system", "bucket", "vpc", "subnet"})


def test_fails_destroy_of_a_protected_foundation(story: Story) -> None:
    cloud = story.cloud
    things = cloud.things()
    # The command of the library asks first; the CDK CLI takes the cluster down before CloudFormation refuses.
    refused = cloud.run("hyperpod", "destroy", "--app", str(story.assemblies["four"]), "--stack", "Foundation")
    assert refused.code == 1
    assert "protected against termination" in refused.output
    assert cloud.things() == things
    run = cloud.destroy(story.assemblies["four"], "Foundation")
    assert run.code != 0
    assert "TerminationProtection" in run.output
    assert cloud.left(story.foundation).keys() == {"log group"}
    assert cloud.status(FOUNDATION) == "CREATE_COMPLETE"


def test_destroying_the_foundation_by_name_keeps_the_data(story: Story) -> None:
    cloud = story.cloud
    changed = cloud.deploy(story.assemblies["unprotected"], "Foundation")
    assert changed.code == 0, changed.output
    run = cloud.destroy(story.assemblies["unprotected"], "Foundation")
    assert run.code == 0, run.output
    left = cloud.left()
    logs = left.pop("log group")
    assert {kind: len(ids) for kind, ids in left.items()} == {
        "vpc": 1,
        "subnet": 1,
        "security group": 1,
        "interface": 1,
        "file system": 1,
        "association": 1,
        "bucket": 1,
    }
    assert left["file system"] == story.foundation["file system"]
    assert left["interface"] == _interfaces(story)
    assert len([name for name in logs if not name.startswith("/aws/sagemaker/Clusters/")]) == 1, logs
    assert story.checkpoint() == CHECKPOINT


def test_deploy_does_not_collide_with_what_stayed(story: Story) -> None:
    cloud = story.cloud
    before = cloud.things()
    run = cloud.deploy(story.assemblies["unprotected"])
    assert run.code == 0, run.output
    cloud.running("workers", 4)
    added = cloud.left(before)
    assert {kind: len(added[kind]) for kind in ("vpc", "subnet", "file system", "association", "bucket")} == {
        "vpc": 1,
        "subnet": 2,
        "file system": 1,
        "association": 1,
        "bucket": 2,
    }
    assert cloud.output(FOUNDATION, "FileSystemId") in added["file system"]
    assert story.checkpoint() == CHECKPOINT


def test_what_destroyed_stacks_left_is_cleaned_and_what_lives_stays(story: Story) -> None:
    cloud = story.cloud
    command = ("clean", "--stack", FOUNDATION, "--stack", CLUSTER)
    listed = json.loads(cloud.run("hyperpod", *command, "-o", "json").output)
    left = {kind: {row["id"] for row in listed if row["kind"] == kind} for kind in {row["kind"] for row in listed}}
    assert {kind: ids for kind, ids in left.items() if kind != "log group"} == {
        "file system": story.foundation["file system"],
        "bucket": {story.seen["data"]},
        "vpc": story.foundation["vpc"],
        "subnet": left["subnet"] & story.foundation["subnet"],
        "security group": left["security group"] & story.foundation["security group"],
    }
    # The embedded AWS gives the log group of a stack a name without anything random, so the second foundation has it now.
    assert all(name.startswith(f"/aws/sagemaker/Clusters/{CLUSTER_NAME}/") for name in left["log group"])
    assert f"/aws/sagemaker/Clusters/{CLUSTER_NAME}/{story.seen['arn'].rpartition('/')[2]}" in left["log group"]
    full = cloud.run("hyperpod", *command, "--delete", "buckets", "--yes")
    assert (full.code, story.checkpoint()) == (1, CHECKPOINT), full.output
    used = cloud.run("hyperpod", *command, "--delete", "networks", "--yes")
    assert (used.code, used.output.count("in use by 1 network interface")) == (1, 6), used.output
    things = cloud.things()
    kinds = ("file-systems", "buckets", "log-groups", "networks")
    run = cloud.run(
        "hyperpod", *command, *(word for kind in kinds for word in ("--delete", kind)), "--with-data", "--yes", "-o", "json"
    )
    assert run.code == 0, run.output
    assert {row["result"] for row in json.loads(run.output)} == {"deleted"}
    gone = {kind: ids - cloud.things()[kind] for kind, ids in things.items() if ids - cloud.things()[kind]}
    assert {kind: gone[kind] for kind in left} == left
    assert {kind: len(ids) for kind, ids in gone.items() if kind not in left} == {"interface": 1, "association": 1}
    assert cloud.run("hyperpod", *command).output == "Nothing is left behind.\n"
    cloud.running("workers", 4)


def test_reset_forgets_everything(story: Story) -> None:
    server.reset(story.cloud.aws)
    assert {kind: ids for kind, ids in story.cloud.things().items() if ids} == {}
