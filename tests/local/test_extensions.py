"""Extensions of the embedded HyperPod: their life, their refusals, and their health."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from hyperpod_constructs.local.aws_service import AwsError
from tests.local.hyperpod_requests import cluster, group, new_hyperpod
from tests.local.moto_cloud import Cloud, moto_cloud

Call = Callable[..., dict[str, Any]]
NAME = "sagemaker-observability"
EKS = {"Eks": {"ClusterArn": "arn:aws:eks:us-west-2:123456789012:cluster/one"}}
ADVANCED = {"metricsProvider": {"nodeMetrics": {"level": "ADVANCED"}}}


@pytest.fixture
def cloud() -> Iterator[Cloud]:
    with moto_cloud() as account:
        yield account


@pytest.fixture
def call(cloud: Cloud) -> Call:
    return new_hyperpod(cloud)


def clustered(cloud: Cloud, call: Call, **members: Any) -> str:
    arn = call("CreateCluster", **cluster(cloud, **members))["ClusterArn"]
    cloud.clock.tick(10)
    call("DescribeCluster", ClusterName="demo")
    return str(arn)


class Extended:
    """A cluster with the extension, three nodes."""

    def __init__(self, cloud: Cloud, call: Call, **members: Any) -> None:
        self.cloud, self.call = cloud, call
        self.cluster = clustered(cloud, call)
        self.arn = self.create(**members)

    def create(self, **members: Any) -> str:
        return str(self.call("CreateClusterExtension", ClusterArn=self.cluster, ExtensionName=NAME, **members)["ExtensionArn"])

    def update(self, **members: Any) -> None:
        self.call("UpdateClusterExtension", ClusterArn=self.cluster, ExtensionArn=self.arn, **members)

    def delete(self) -> None:
        self.call("DeleteClusterExtension", ClusterArn=self.cluster, ExtensionArn=self.arn)

    def described(self) -> dict[str, Any]:
        return self.call("DescribeClusterExtension", ClusterArn=self.cluster, ExtensionArn=self.arn)

    @property
    def status(self) -> str:
        return str(self.described()["ExtensionDetails"]["Status"])

    @property
    def configuration(self) -> Any:
        return json.loads(self.described()["ExtensionDetails"]["ConfigurationValues"])

    def settled(self) -> Extended:
        self.cloud.clock.tick(2)
        return self


def test_an_extension_is_created_listed_and_deleted(cloud: Cloud, call: Call) -> None:
    extended = Extended(cloud, call, ConfigurationValues=json.dumps(ADVANCED))
    assert extended.status == "Creating"
    assert extended.described()["NodeSummary"] == {"TotalCount": 3, "ActiveCount": 0}
    found = extended.settled().described()
    assert found["ExtensionDetails"]["Status"] == "Active"
    assert found["ExtensionDetails"]["ExtensionVersion"] == "1.2.0"
    assert found["NodeSummary"] == {"TotalCount": 3, "ActiveCount": 3}
    assert "Health" not in found
    [listed] = call("ListClusterExtensions", ClusterArn=extended.cluster)["Extensions"]
    assert (listed["ExtensionArn"], listed["Status"]) == (extended.arn, "Active")
    extended.delete()
    assert extended.status == "Deleting"
    extended.settled()
    assert call("ListClusterExtensions", ClusterArn=extended.cluster)["Extensions"] == []
    with pytest.raises(AwsError, match="ResourceNotFound"):
        extended.described()


def test_versions_are_listed_from_the_highest_to_the_lowest(cloud: Cloud, call: Call) -> None:
    first = call("ListClusterExtensionVersions", ExtensionName=NAME, MaxResults=2)
    rest = call("ListClusterExtensionVersions", ExtensionName=NAME, NextToken=first["NextToken"])
    found = [item["ExtensionVersion"] for item in (*first["ExtensionVersions"], *rest["ExtensionVersions"])]
    assert found == ["1.2.0", "1.1.0", "1.0.0"]
    assert call("ListClusterExtensionVersions", ExtensionName="unknown")["ExtensionVersions"] == []


@pytest.mark.parametrize(("continuous", "eks", "found"), [(False, False, "no NodeProvisioningMode"), (True, True, "EKS")])
def test_fails_on_a_cluster_of_another_kind(cloud: Cloud, call: Call, continuous: bool, eks: bool, found: str) -> None:
    other = {"Orchestrator": EKS, "InstanceGroups": [group(cloud, "workers", None)]} if eks else {}
    arn = clustered(cloud, call, continuous=continuous, **other)
    with pytest.raises(
        AwsError, match=f"needs a cluster that Slurm orchestrates with continuous provisioning; this one has {found}"
    ):
        call("CreateClusterExtension", ClusterArn=arn, ExtensionName=NAME)


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"ExtensionVersion": "9.0.0"}, "has no version 9.0.0; the embedded AWS offers 1.2.0, 1.1.0, 1.0.0"),
        ({"ExtensionName": "my-own"}, "Extension my-own does not exist"),
        ({"ConfigurationValues": "{"}, "is not JSON"),
        ({"ConfigurationValues": "[]"}, "is not a JSON object"),
    ],
)
def test_fails_for_what_the_service_cannot_install(cloud: Cloud, call: Call, members: dict[str, Any], message: str) -> None:
    arn = clustered(cloud, call)
    with pytest.raises(AwsError, match=message):
        call("CreateClusterExtension", **{"ClusterArn": arn, "ExtensionName": NAME, **members})
    assert call("ListClusterExtensions", ClusterArn=arn)["Extensions"] == []


def test_a_cluster_has_one_extension_of_a_name_and_a_repeated_request_makes_none(cloud: Cloud, call: Call) -> None:
    extended = Extended(cloud, call, ClientToken="one")
    assert extended.create(ClientToken="one") == extended.arn
    with pytest.raises(AwsError, match="ResourceInUse"):
        extended.create(ClientToken="two")
    with pytest.raises(AwsError, match="was used with other parameters"):
        extended.create(ClientToken="one", ExtensionVersion="1.0.0")


def test_an_update_merges_settings_and_null_takes_one_away(cloud: Cloud, call: Call) -> None:
    extended = Extended(cloud, call, ConfigurationValues=json.dumps(ADVANCED)).settled()
    extended.update(ConfigurationValues='{"metricsProvider": {"jobMetrics": {"level": "BASIC"}}}')
    assert extended.status == "Updating"
    both = {"nodeMetrics": {"level": "ADVANCED"}, "jobMetrics": {"level": "BASIC"}}
    assert extended.settled().configuration == {"metricsProvider": both}
    extended.update(ConfigurationValues='{"metricsProvider": {"nodeMetrics": null}}')
    assert extended.settled().configuration == {"metricsProvider": {"jobMetrics": {"level": "BASIC"}}}


@pytest.mark.parametrize("version", ["1.1.0", "1.0.0"])
def test_fails_for_a_version_that_does_not_rise(cloud: Cloud, call: Call, version: str) -> None:
    extended = Extended(cloud, call, ExtensionVersion="1.1.0").settled()
    with pytest.raises(AwsError, match=f"{version} of extension {NAME} must be later than the current one, 1.1.0"):
        extended.update(ExtensionVersion=version)
    extended.update(ExtensionVersion="1.2.0")
    assert extended.settled().described()["ExtensionDetails"]["ExtensionVersion"] == "1.2.0"


@pytest.mark.parametrize("operation", [Extended.update, Extended.delete])
def test_fails_while_the_service_is_at_work(cloud: Cloud, call: Call, operation: Callable[[Extended], None]) -> None:
    with pytest.raises(AwsError, match="ConflictException: Extension sagemaker-observability is in state Creating"):
        operation(Extended(cloud, call))


def test_a_problem_on_every_node_is_a_failure_and_an_update_without_a_change_tries_again(cloud: Cloud, call: Call) -> None:
    cloud.faults.extension_issues = {NAME: "AccessDenied: the role lacks aps:RemoteWrite"}
    extended = Extended(cloud, call).settled()
    assert extended.status == "CreateFailed"
    assert extended.described()["Health"]["Issues"] == [
        {"Code": "AccessDenied", "Message": "the role lacks aps:RemoteWrite", "NodeCount": 3}
    ]
    cloud.faults.extension_issues = {}
    extended.update()
    assert extended.settled().status == "Active"
    cloud.faults.extension_issues = {NAME: "Other: x"}
    extended.update()
    assert extended.settled().status == "UpdateFailed"
    extended.delete()
    assert extended.settled().status == "DeleteFailed"


def test_a_problem_on_some_nodes_is_a_degradation(cloud: Cloud, call: Call) -> None:
    cloud.faults.extension_issues = {f"{NAME}/workers": "ExtensionUnhealthy: dcgm"}
    found = Extended(cloud, call).settled().described()
    assert found["ExtensionDetails"]["Status"] == "Degraded"
    assert found["NodeSummary"] == {"TotalCount": 3, "ActiveCount": 1}
    assert found["Health"]["Issues"] == [{"Code": "ExtensionUnhealthy", "Message": "dcgm", "NodeCount": 2}]


def test_tags_of_an_extension_change(cloud: Cloud, call: Call) -> None:
    extended = Extended(cloud, call, Tags=[{"Key": "team", "Value": "a"}])
    call("AddTags", ResourceArn=extended.arn, Tags=[{"Key": "cost", "Value": "1"}])
    call("DeleteTags", ResourceArn=extended.arn, TagKeys=["team"])
    assert call("ListTags", ResourceArn=extended.arn)["Tags"] == [{"Key": "cost", "Value": "1"}]


def test_extensions_go_with_their_cluster(cloud: Cloud, call: Call) -> None:
    extended = Extended(cloud, call).settled()
    call("DeleteCluster", ClusterName="demo")
    cloud.clock.tick(5)
    assert call("ListClusters")["ClusterSummaries"] == []
    with pytest.raises(AwsError, match="ResourceNotFound"):
        extended.described()
    with pytest.raises(AwsError, match="does not exist"):
        call("ListTags", ResourceArn=extended.arn)
