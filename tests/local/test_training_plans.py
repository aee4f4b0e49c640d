"""Training plans of the embedded AWS: offers, plans by the clock, and clusters that use them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from hyperpod_constructs.facts.prices import INSTANCE_HOUR
from hyperpod_constructs.local.aws_service import AwsError
from tests.local.hyperpod_requests import cluster, group, new_hyperpod, new_plan
from tests.local.moto_cloud import Cloud, moto_cloud

Call = Callable[..., dict[str, Any]]
DAY = 86400.0


@pytest.fixture
def cloud() -> Iterator[Cloud]:
    with moto_cloud() as cloud:
        yield cloud


@pytest.fixture
def call(cloud: Cloud) -> Call:
    return new_hyperpod(cloud)


def request(cloud: Cloud, plan: str, count: int = 1, **members: Any) -> dict[str, Any]:
    """A cluster whose workers have a plan."""
    workers = group(cloud, "workers", "Compute", count, **{"InstanceType": "ml.p4d.24xlarge", "TrainingPlanArn": plan, **members})
    return cluster(cloud, InstanceGroups=[group(cloud, "controller", "Controller"), workers])


def offers(call: Call, **search: Any) -> list[dict[str, Any]]:
    found = call("SearchTrainingPlanOfferings", **{"InstanceType": "ml.p5.48xlarge", "InstanceCount": 4, **search})
    return list(found["TrainingPlanOfferings"])


def later(cloud: Cloud, days: float) -> datetime:
    return datetime.fromtimestamp(cloud.clock() + days * DAY, UTC)


def test_an_offer_tells_zone_time_and_fee(cloud: Cloud, call: Call) -> None:
    first, *others = offers(call, DurationHours=48)
    [capacity] = first["ReservedCapacityOfferings"]
    assert first["TargetResources"] == ["hyperpod-cluster"]
    assert (first["DurationHours"], capacity["InstanceType"], capacity["InstanceCount"]) == (48, "ml.p5.48xlarge", 4)
    assert (capacity["StartTime"], capacity["EndTime"]) == (later(cloud, 0), later(cloud, 2))
    assert (first["UpfrontFee"], first["CurrencyCode"]) == (f"{INSTANCE_HOUR['ml.p5.48xlarge'] * 4 * 48:.2f}", "USD")
    starts = [offer["ReservedCapacityOfferings"][0]["StartTime"] for offer in others]
    assert starts == [later(cloud, 0)] * (len(others) - 1) + [later(cloud, 1)]
    assert offers(call, DurationHours=48)[0]["TrainingPlanOfferingId"] == first["TrainingPlanOfferingId"]


def test_a_plan_takes_whole_days(cloud: Cloud, call: Call) -> None:
    assert [offer["DurationHours"] for offer in offers(call, DurationHours=25)][:2] == [48, 48]


def test_offers_lie_in_the_wanted_time(cloud: Cloud, call: Call) -> None:
    found = offers(call, StartTimeAfter=later(cloud, 3), EndTimeBefore=later(cloud, 4.5))
    assert {offer["ReservedCapacityOfferings"][0]["StartTime"] for offer in found} == {later(cloud, 3)}
    assert found[0]["RequestedStartTimeAfter"] == later(cloud, 3)
    assert offers(call, StartTimeAfter=later(cloud, 3), EndTimeBefore=later(cloud, 3.5)) == []


@pytest.mark.parametrize("search", [{"InstanceCount": 3}, {"InstanceType": "ml.m5.xlarge"}, {"DurationHours": 183 * 24}])
def test_nobody_sells_other_counts_types_and_durations(call: Call, search: dict[str, Any]) -> None:
    assert offers(call, **search) == []


def test_a_type_without_a_public_price_has_no_fee(call: Call) -> None:
    assert not {"UpfrontFee", "CurrencyCode"} & offers(call, InstanceType="ml.p5e.48xlarge")[0].keys()


@pytest.mark.parametrize(
    ("search", "message"),
    [
        ({"UltraServerType": "ml.u-p6e-gb200x72"}, "no UltraServers"),
        ({"TrainingPlanArn": "arn"}, "no extensions"),
        ({}, "InstanceType is missing"),
    ],
)
def test_fails_to_search_for_what_is_not_modelled(call: Call, search: dict[str, Any], message: str) -> None:
    with pytest.raises(AwsError, match=message):
        call("SearchTrainingPlanOfferings", **search)


def test_a_plan_goes_through_its_states(cloud: Cloud, call: Call) -> None:
    new_plan(call, StartTimeAfter=later(cloud, 1), DurationHours=24)

    def state() -> str:
        found = call("DescribeTrainingPlan", TrainingPlanName="one")
        assert found["ReservedCapacitySummaries"][0]["Status"] == found["Status"]
        return str(found["Status"])

    seen = [state()]
    for seconds in (1.0, DAY, DAY):
        cloud.clock.tick(seconds)
        seen.append(state())
    assert seen == ["Pending", "Scheduled", "Active", "Expired"]


def test_a_plan_is_found_by_name_and_arn(cloud: Cloud, call: Call) -> None:
    arn = new_plan(call)
    found = call("DescribeTrainingPlan", TrainingPlanName=arn)
    assert found == call("DescribeTrainingPlan", TrainingPlanName="one")
    assert (found["TrainingPlanArn"], found["TotalInstanceCount"], found["TargetResources"]) == (arn, 1, ["hyperpod-cluster"])
    [capacity] = found["ReservedCapacitySummaries"]
    assert (capacity["AvailabilityZone"], capacity["AvailabilityZoneId"]) == ("us-west-2b", "usw2-az1")
    with pytest.raises(AwsError, match="ResourceNotFound"):
        call("DescribeTrainingPlan", TrainingPlanName="two")


def test_fails_to_make_a_plan_twice_or_from_no_offer(cloud: Cloud, call: Call) -> None:
    new_plan(call)
    with pytest.raises(AwsError, match="ResourceInUse"):
        new_plan(call)
    with pytest.raises(AwsError, match="offering tpo-1 does not exist"):
        call("CreateTrainingPlan", TrainingPlanName="two", TrainingPlanOfferingId="tpo-1")


def test_lists_by_state_and_time(cloud: Cloud, call: Call) -> None:
    new_plan(call, "now")
    new_plan(call, "soon", StartTimeAfter=later(cloud, 2))
    cloud.clock.tick(1)

    def names(**parameters: Any) -> list[str]:
        return [plan["TrainingPlanName"] for plan in call("ListTrainingPlans", **parameters)["TrainingPlanSummaries"]]

    assert names() == ["now", "soon"]
    assert names(SortOrder="Descending", SortBy="TrainingPlanName") == ["soon", "now"]
    assert names(Filters=[{"Name": "Status", "Value": "Scheduled"}]) == ["soon"] == names(StartTimeAfter=later(cloud, 1))
    assert names(StartTimeBefore=later(cloud, 1)) == ["now"] == names(MaxResults=1)


def test_a_plan_has_tags(call: Call) -> None:
    arn = new_plan(call)
    call("AddTags", ResourceArn=arn, Tags=[{"Key": "a", "Value": "1"}, {"Key": "b", "Value": "2"}])
    call("DeleteTags", ResourceArn=arn, TagKeys=["a"])
    assert call("ListTags", ResourceArn=arn)["Tags"] == [{"Key": "b", "Value": "2"}]


def test_a_cluster_uses_its_plan(cloud: Cloud, call: Call) -> None:
    arn = new_plan(call, InstanceCount=4)
    cloud.clock.tick(1)
    call("CreateCluster", **request(cloud, arn, 3))
    found = call("DescribeTrainingPlan", TrainingPlanName=arn)
    assert (found["InUseInstanceCount"], found["AvailableInstanceCount"]) == (3, 1)


def refused(cloud: Cloud, call: Call, plan: str, message: str, count: int = 1, **members: Any) -> None:
    with pytest.raises(AwsError, match=message):
        call("CreateCluster", **request(cloud, plan, count, **members))
    assert call("ListClusters")["ClusterSummaries"] == []


def test_fails_with_a_plan_that_does_not_fit(cloud: Cloud, call: Call) -> None:
    plan, elsewhere = new_plan(call), new_plan(call, "elsewhere", "us-west-2a")
    job = new_plan(call, "job", TargetResources=["training-job"])
    refused(cloud, call, plan, "plan one is Pending; a plan must be Active or Scheduled")
    cloud.clock.tick(1)
    refused(cloud, call, plan, "plan one reserves ml.p4d.24xlarge, the group has ml.p5.48xlarge", InstanceType="ml.p5.48xlarge")
    refused(cloud, call, plan, "plan one has 1 instances, its groups ask for 2", count=2)
    refused(cloud, call, elsewhere, "plan elsewhere is in zone usw2-az2, the group's subnets are in usw2-az1")
    refused(cloud, call, job, "plan job is for training-job; name one for hyperpod-cluster")
    cloud.clock.tick(2 * DAY)
    refused(cloud, call, plan, "plan one is Expired")


def test_fails_with_instances_that_another_cluster_uses(cloud: Cloud, call: Call) -> None:
    arn = new_plan(call, InstanceCount=2)
    cloud.clock.tick(1)
    call("CreateCluster", **request(cloud, arn, 2))
    with pytest.raises(AwsError, match="ask for 1, and other clusters use 2 of them"):
        call("CreateCluster", **{**request(cloud, arn, 1), "ClusterName": "other"})


def test_a_group_outlives_its_plan_and_grows_within_it_only(cloud: Cloud, call: Call) -> None:
    wanted = request(cloud, new_plan(call, InstanceCount=2))
    cloud.clock.tick(1)
    call("CreateCluster", **wanted)
    cloud.clock.tick(10)
    for step, message in ((1, "has 2 instances, its groups ask for 3"), (2 * DAY, "plan one is Expired")):
        cloud.clock.tick(step)
        grown = [wanted["InstanceGroups"][0], {**wanted["InstanceGroups"][1], "InstanceCount": 3}]
        with pytest.raises(AwsError, match=message):
            call("UpdateCluster", ClusterName="demo", InstanceGroups=grown)
        with pytest.raises(AwsError, match=message):
            call(
                "BatchAddClusterNodes",
                ClusterName="demo",
                NodesToAdd=[{"InstanceGroupName": "workers", "IncrementTargetCountBy": 2}],
            )
    call("UpdateCluster", ClusterName="demo", InstanceGroups=wanted["InstanceGroups"])


def test_nodes_wait_for_the_start_of_their_plan(cloud: Cloud, call: Call) -> None:
    arn = new_plan(call, StartTimeAfter=later(cloud, 1))
    cloud.clock.tick(1)
    call("CreateCluster", **request(cloud, arn))

    def states() -> dict[str, str]:
        cloud.clock.tick(10)
        found = call("ListClusterNodes", ClusterName="demo", IncludeNodeLogicalIds=True)["ClusterNodeSummaries"]
        return {node["InstanceGroupName"]: node["InstanceStatus"]["Status"] for node in found}

    for _ in range(3):
        found = states()
    assert found == {"controller": "Running", "workers": "Pending"}
    assert call("DescribeCluster", ClusterName="demo")["ClusterStatus"] == "InService"
    cloud.clock.tick(DAY)
    for _ in range(3):
        found = states()
    assert found == {"controller": "Running", "workers": "Running"}
