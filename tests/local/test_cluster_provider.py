"""AWS::SageMaker::Cluster: CloudFormation's calls of the API."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

from hyperpod_constructs.local.audit import RecordingDict
from hyperpod_constructs.local.aws_service import AwsError
from hyperpod_constructs.local.hyperpod.provider import ClusterProvider
from hyperpod_constructs.local.provider import Provisioned, ResourceProvider
from tests.local.hyperpod_requests import cluster, group
from tests.local.in_process import InProcess
from tests.local.moto_cloud import CALLER, Cloud, moto_cloud


@pytest.fixture
def cloud() -> Iterator[Cloud]:
    with moto_cloud() as account:
        yield account


@pytest.fixture
def clients(cloud: Cloud) -> InProcess:
    return InProcess(cloud)


@pytest.fixture
def provider(clients: InProcess) -> ResourceProvider:
    return ClusterProvider(clients, timeout=5)


def properties(cloud: Cloud, **members: Any) -> dict[str, Any]:
    return cluster(cloud, ClusterName=None, **members)


def create(provider: ResourceProvider, wanted: dict[str, Any]) -> Provisioned:
    return provider.create(wanted, "ClusterABC123", "HyperPod-Cluster", CALLER)


def update(provider: ResourceProvider, arn: str, old: dict[str, Any], new: dict[str, Any]) -> Provisioned:
    return provider.update(arn, old, new, "HyperPod-Cluster", CALLER)


def test_ref_is_the_arn_and_the_name_is_generated(cloud: Cloud, clients: InProcess, provider: ResourceProvider) -> None:
    made = create(provider, properties(cloud))
    found = clients.sagemaker.describe_cluster(ClusterName=made.physical_id)
    assert made.physical_id == made.attributes["ClusterArn"] == found["ClusterArn"]
    assert made.attributes["ClusterStatus"] == "InService"
    assert found["ClusterName"].startswith("HyperPod-Cluster-ClusterABC123-")
    assert set(made.attributes) == {"ClusterArn", "ClusterStatus", "CreationTime", "FailureMessage"}


def test_strings_are_converted_and_everything_is_read(cloud: Cloud, provider: ResourceProvider) -> None:
    wanted = properties(cloud, Tags=[{"Key": "a", "Value": "b"}])
    wanted["InstanceGroups"][1] |= {
        "InstanceCount": "2",
        "InstanceStorageConfigs": [{"EbsVolumeConfig": {"VolumeSizeInGB": "500", "RootVolume": "false"}}],
    }
    recorder = RecordingDict(wanted)
    create(provider, recorder)
    assert list(recorder.unread()) == []


def test_a_failed_creation_tells_the_cause_and_leaves_nothing(cloud: Cloud, clients: InProcess, provider: ResourceProvider) -> None:
    cloud.faults.failing_scripts = {"controller": "mount: timed out"}
    with pytest.raises(AwsError, match=r"Lifecycle scripts did not run successfully\. .* mount: timed out"):
        create(provider, properties(cloud))
    assert clients.sagemaker.list_clusters() == {"ClusterSummaries": []}
    assert cloud.interfaces() == []


def test_a_refused_creation_is_the_services_error(cloud: Cloud, provider: ResourceProvider) -> None:
    with pytest.raises(ClientError, match="has no InstanceGroup with Controller node type"):
        create(provider, properties(cloud, InstanceGroups=[group(cloud, "workers", "Compute")]))


def test_an_update_deletes_the_groups_that_are_gone(cloud: Cloud, clients: InProcess, provider: ResourceProvider) -> None:
    old = properties(cloud)
    arn = create(provider, old).physical_id
    new = properties(cloud, InstanceGroups=[old["InstanceGroups"][0], group(cloud, "others", "Compute", InstanceCount="3")])
    assert update(provider, arn, old, new).physical_id == arn
    sent = dict(clients.sagemaker.requests)["UpdateCluster"]
    assert sent["InstanceGroupsToDelete"] == ["workers"]
    assert {"ClusterName", "InstanceGroups", "InstanceGroupsToDelete", "NodeRecovery", "Orchestrator"} == set(sent)
    clients.sagemaker.describe_cluster(ClusterName=arn)
    found = clients.sagemaker.describe_cluster(ClusterName=arn)["InstanceGroups"]
    assert [(item["InstanceGroupName"], item["CurrentCount"]) for item in found] == [("controller", 1), ("others", 3)]


def test_a_failed_update_tells_the_cause(cloud: Cloud, provider: ResourceProvider) -> None:
    old, new = properties(cloud, continuous=False), properties(cloud, continuous=False, workers=4)
    arn = create(provider, old).physical_id
    cloud.faults.no_capacity = frozenset({"workers"})
    with pytest.raises(AwsError, match="Insufficient capacity for the requested instance type"):
        update(provider, arn, old, new)
    assert update(provider, arn, new, old).attributes["ClusterStatus"] == "InService"


@pytest.mark.parametrize("continuous", [True, False])
def test_fails_to_toggle_the_provisioning_mode(cloud: Cloud, provider: ResourceProvider, continuous: bool) -> None:
    old, new = properties(cloud, continuous=continuous), properties(cloud, continuous=not continuous)
    arn = create(provider, old).physical_id
    with pytest.raises((AwsError, ClientError), match=r"NodeProvisioningMode .* cannot be (taken away|changed)"):
        update(provider, arn, old, new)


def test_tags_change_without_an_update_of_the_cluster(cloud: Cloud, clients: InProcess, provider: ResourceProvider) -> None:
    old = properties(cloud, Tags=[{"Key": "a", "Value": "1"}, {"Key": "b", "Value": "1"}])
    arn = create(provider, old).physical_id
    update(provider, arn, old, properties(cloud, Tags=[{"Key": "b", "Value": 2}]))
    assert clients.sagemaker.list_tags(ResourceArn=arn) == {"Tags": [{"Key": "b", "Value": "2"}]}
    assert "UpdateCluster" not in dict(clients.sagemaker.requests)


def test_deleting_twice_is_a_success(cloud: Cloud, clients: InProcess, provider: ResourceProvider) -> None:
    arn = create(provider, properties(cloud)).physical_id
    for _ in range(2):
        provider.delete(arn, {}, CALLER)
    assert clients.sagemaker.list_clusters() == {"ClusterSummaries": []}


def test_gives_up_after_its_time(cloud: Cloud, clients: InProcess) -> None:
    cloud.faults.slow_creation = 60.0
    with pytest.raises(AwsError, match=r"NotStabilized: .* did not become stable within 0 seconds"):
        create(ClusterProvider(clients, timeout=0), properties(cloud))


BATCHES = {"RollingUpdatePolicy": {"MaximumBatchSize": {"Type": "INSTANCE_COUNT", "Value": 1}}}


def with_image(cloud: Cloud, version: str | None, **members: Any) -> dict[str, Any]:
    """An EKS cluster with two groups; the first is updated in batches."""
    schedule = {"ScheduleExpression": "cron(0 12 ? * MON *)", "DeploymentConfig": members.pop("config", BATCHES)}
    groups = [
        group(cloud, "batches", None, 2, ImageReleaseVersion=version, ScheduledUpdateConfig=schedule),
        group(cloud, "others", None, 1, **{"ImageReleaseVersion": version} | members),
    ]
    orchestrator = {"Eks": {"ClusterArn": "arn:aws:eks:us-west-2:123456789012:cluster/one"}}
    return properties(cloud, InstanceGroups=groups, Orchestrator=orchestrator)


def updates_of(clients: InProcess) -> list[tuple[dict[str, Any], list[str]]]:
    """The requests for software updates: what they say for all groups, and the groups."""
    found = []
    for operation, sent in clients.sagemaker.requests:
        if operation == "UpdateClusterSoftware":
            rest = {key: value for key, value in sent.items() if key not in ("ClusterName", "InstanceGroups")}
            found.append((rest, [item["InstanceGroupName"] for item in sent["InstanceGroups"]]))
    return found


def images(clients: InProcess, arn: str) -> list[Any]:
    groups = clients.sagemaker.describe_cluster(ClusterName=arn)["InstanceGroups"]
    return [(item.get("CurrentImageReleaseVersion"), item["TargetStateCount"], item.get("SoftwareUpdateStatus")) for item in groups]


def test_a_changed_image_is_a_software_update_that_is_awaited(cloud: Cloud, clients: InProcess, provider: ResourceProvider) -> None:
    old, new = with_image(cloud, "1.0.0"), with_image(cloud, "1.0.1")
    arn = create(provider, old).physical_id
    update(provider, arn, old, new)
    assert sorted(updates_of(clients), key=repr) == [({"DeploymentConfig": BATCHES}, ["batches"]), ({}, ["others"])]
    assert images(clients, arn) == [("1.0.1", 2, "Succeeded"), ("1.0.1", 1, "Succeeded")]


def test_only_the_groups_with_a_changed_image_are_updated(cloud: Cloud, clients: InProcess, provider: ResourceProvider) -> None:
    old, new = with_image(cloud, "1.0.0"), with_image(cloud, "1.0.0", ImageReleaseVersion="2.0.0")
    arn = create(provider, old).physical_id
    update(provider, arn, old, new)
    assert [names for _, names in updates_of(clients)] == [["others"]]
    assert images(clients, arn) == [("1.0.0", 2, None), ("2.0.0", 1, "Succeeded")]


def test_an_image_that_is_named_no_more_becomes_the_default_one(
    cloud: Cloud, clients: InProcess, provider: ResourceProvider
) -> None:
    image = "ami-0123456789abcdef0"
    old, new = (with_image(cloud, "1.0.0", ImageId=name) for name in (image, None))
    arn = create(provider, old).physical_id
    update(provider, arn, old, new)
    assert updates_of(clients) == [({"ImageId": "default"}, ["others"])]
    assert clients.sagemaker.describe_cluster(ClusterName=arn)["InstanceGroups"][1]["CurrentImageId"] == "default"


def test_an_update_that_an_alarm_rolls_back_fails_and_goes_back(
    cloud: Cloud, clients: InProcess, provider: ResourceProvider
) -> None:
    cloudwatch = cloud.client("cloudwatch")
    rule = {"Namespace": "n", "MetricName": "m", "Statistic": "Sum", "Period": 60, "EvaluationPeriods": 1, "Threshold": 1.0}
    cloudwatch.put_metric_alarm(AlarmName="errors", ComparisonOperator="GreaterThanThreshold", **rule)
    cloudwatch.set_alarm_state(AlarmName="errors", StateValue="ALARM", StateReason="a test")
    config = {**BATCHES, "AutoRollbackConfiguration": [{"AlarmName": "errors"}]}
    old, new = (with_image(cloud, version, config=config) for version in ("1.0.0", "1.0.1"))
    arn = create(provider, old).physical_id
    with pytest.raises(
        AwsError, match=r"NotStabilized: .* failed: The software update was rolled back: the alarm errors is in ALARM"
    ):
        update(provider, arn, old, new)
    assert images(clients, arn)[0] == ("1.0.0", 2, "RollbackComplete")
    update(provider, arn, new, old)
    assert [found[:2] for found in images(clients, arn)] == [("1.0.0", 2), ("1.0.0", 1)]
