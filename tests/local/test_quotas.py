"""Service Quotas of the embedded AWS, and what clusters may take of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from hyperpod_constructs.facts import quotas
from hyperpod_constructs.local.aws_service import AwsError
from hyperpod_constructs.local.faults import Faults
from hyperpod_constructs.local.hyperpod.limits import check_quotas
from hyperpod_constructs.local.quota_names import LARGE
from hyperpod_constructs.local.quotas import ServiceQuotas
from tests.local.hyperpod_requests import checked, cluster, group, new_hyperpod
from tests.local.moto_cloud import Cloud, moto_cloud

TYPE = quotas.NODES_OF_TYPE.format("ml.m5.xlarge")
Call = Callable[..., dict[str, Any]]


@pytest.fixture
def cloud() -> Iterator[Cloud]:
    with moto_cloud() as cloud:
        yield cloud


@pytest.fixture
def hyperpod(cloud: Cloud) -> Call:
    return new_hyperpod(cloud)


def listed(call: Call, operation: str = "ListServiceQuotas", service: str = "sagemaker") -> dict[str, float]:
    found: dict[str, float] = {}
    more: dict[str, str] = {}
    while True:
        answer = call(operation, ServiceCode=service, **more)
        found |= {quota["QuotaName"]: quota["Value"] for quota in answer["Quotas"]}
        if "NextToken" not in answer:
            return found
        more = {"NextToken": answer["NextToken"]}


def test_a_quota_is_large_until_it_is_set() -> None:
    faults = Faults()
    call = checked(ServiceQuotas(faults))
    assert listed(call)[TYPE] == LARGE
    faults.assign(Faults.from_json({"quotas": {TYPE: 3}}))
    assert listed(call)[TYPE] == 3
    assert listed(call, "ListAWSDefaultServiceQuotas")[TYPE] == LARGE
    assert quotas.INTERFACES in listed(call, service="vpc")


def test_one_quota_by_its_code() -> None:
    call = checked(ServiceQuotas(Faults(quotas={TYPE: 3})))
    code = next(quota["QuotaCode"] for quota in _all(call) if quota["QuotaName"] == TYPE)
    assert call("GetServiceQuota", ServiceCode="sagemaker", QuotaCode=code)["Quota"]["Value"] == 3
    assert [quota["QuotaName"] for quota in call("ListServiceQuotas", ServiceCode="sagemaker", QuotaCode=code)["Quotas"]] == [TYPE]


def _all(call: Call) -> list[dict[str, Any]]:
    first = call("ListServiceQuotas", ServiceCode="sagemaker", MaxResults=100)
    found: list[dict[str, Any]] = first["Quotas"]
    while "NextToken" in first:
        first = call("ListServiceQuotas", ServiceCode="sagemaker", MaxResults=100, NextToken=first["NextToken"])
        found = found + first["Quotas"]
    return found


def test_fails_for_what_is_not_there() -> None:
    call = checked(ServiceQuotas(Faults()))
    with pytest.raises(AwsError, match="NoSuchResourceException"):
        call("ListServiceQuotas", ServiceCode="ec3")
    with pytest.raises(AwsError, match="NoSuchResourceException"):
        call("GetServiceQuota", ServiceCode="vpc", QuotaCode="L-0")
    with pytest.raises(AwsError, match="InvalidPaginationTokenException"):
        call("ListServiceQuotas", ServiceCode="vpc", NextToken="x")


def test_fails_to_create_more_nodes_than_the_quota_of_the_type(cloud: Cloud, hyperpod: Call) -> None:
    cloud.faults.quotas = {TYPE: 2}
    with pytest.raises(
        AwsError,
        match=f"ResourceLimitExceeded: the quota '{TYPE}' is 2 Instances; 0 are in use, and the request adds 3",
    ):
        hyperpod("CreateCluster", **cluster(cloud))
    assert hyperpod("ListClusters")["ClusterSummaries"] == []


@pytest.mark.parametrize(
    ("name", "limit", "created"),
    [
        (TYPE, 5, False),
        (TYPE, 6, True),
        (quotas.NODES_OF_ALL_CLUSTERS, 5, False),
        (quotas.NODES_OF_A_CLUSTER, 2, False),
        (quotas.NODES_OF_A_CLUSTER, 3, True),
    ],
)
def test_clusters_share_the_quotas_of_the_account(cloud: Cloud, hyperpod: Call, name: str, limit: int, created: bool) -> None:
    hyperpod("CreateCluster", **cluster(cloud))
    cloud.faults.quotas = {name: limit}
    if created:
        hyperpod("CreateCluster", **cluster(cloud, ClusterName="two"))
    else:
        with pytest.raises(AwsError, match=f"quota '{name}' is {limit} Instances"):
            hyperpod("CreateCluster", **cluster(cloud, ClusterName="two"))


def test_an_update_asks_for_the_difference_only(cloud: Cloud, hyperpod: Call) -> None:
    hyperpod("CreateCluster", **cluster(cloud, workers=4))
    cloud.faults.quotas = {TYPE: 3}
    cloud.clock.tick(100)
    groups = [group(cloud, "controller", "Controller"), group(cloud, "workers", "Compute", 4)]
    hyperpod("UpdateCluster", ClusterName="demo", InstanceGroups=groups)
    cloud.clock.tick(100)
    groups[1]["InstanceCount"] = 5
    with pytest.raises(AwsError, match="5 are in use, and the request adds 1:"):
        hyperpod("UpdateCluster", ClusterName="demo", InstanceGroups=groups)
    added = {"InstanceGroupName": "workers", "IncrementTargetCountBy": 2}
    with pytest.raises(AwsError, match="the request adds 2:"):
        hyperpod("BatchAddClusterNodes", ClusterName="demo", NodesToAdd=[added])


def test_spot_nodes_have_quotas_of_their_own() -> None:
    faults = Faults(quotas={TYPE: 0, quotas.SPOT_NODES_OF_TYPE.format("ml.m5.xlarge"): 1})
    spec = {"InstanceType": "ml.m5.xlarge", "InstanceCount": 1, "CapacityRequirements": {"Spot": {}}}
    check_quotas(faults, [spec], [])
    with pytest.raises(AwsError, match=r"'ml\.m5\.xlarge for cluster spot instance usage' is 1 Instances"):
        check_quotas(faults, [{**spec, "InstanceCount": 2}], [])


def test_fails_for_a_volume_beyond_the_quota(cloud: Cloud, hyperpod: Call) -> None:
    request = cluster(cloud)
    request["InstanceGroups"][1]["InstanceStorageConfigs"] = [{"EbsVolumeConfig": {"VolumeSizeInGB": 500}}]
    cloud.faults.quotas = {quotas.VOLUME_SIZE: 400}
    with pytest.raises(AwsError, match="is 400 Gigabytes"):
        hyperpod("CreateCluster", **request)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"ml.p5.48xlarge for cluster": 1}, "found the quota 'ml.p5.48xlarge for cluster'; write a name of Service Quotas"),
        ({TYPE: -1}, "found -1 for the quota"),
        ({TYPE: "1"}, "write an object that maps the name of a service quota to its value"),
    ],
)
def test_fails_for_a_quota_that_does_not_exist(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Faults.from_json({"quotas": given})
