"""Policies and quotas of the embedded HyperPod: their life, their versions, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from hyperpod_constructs.local.aws_service import AwsError
from tests.local.governance.governed import EKS_ARN, ON_EKS, TYPE, Governed
from tests.local.moto_cloud import Cloud, moto_cloud


@pytest.fixture
def cloud() -> Iterator[Cloud]:
    with moto_cloud() as account:
        yield account


@pytest.fixture
def api(cloud: Cloud) -> Governed:
    return Governed(cloud)


def test_a_quota_is_created_and_deleted_over_time(api: Governed) -> None:
    quota = api.quota()
    assert (api.described(quota)["Status"], api.described(quota)["ComputeQuotaVersion"]) == ("Creating", 1)
    api.settle()
    assert api.described(quota)["Status"] == "Created"
    api.call("DeleteComputeQuota", ComputeQuotaId=quota)
    assert api.described(quota)["Status"] == "Deleting"
    api.settle()
    with pytest.raises(AwsError, match=f"ResourceNotFound: ComputeQuota {quota} not found"):
        api.described(quota)


def test_a_policy_is_created_and_deleted_over_time(api: Governed) -> None:
    policy = api.policy()
    assert api.scheduled(policy)["Status"] == "Creating"
    api.settle()
    assert api.scheduled(policy)["Status"] == "Created"
    assert api.scheduled(policy)["SchedulerConfig"] == {
        "PriorityClasses": [{"Name": "high", "Weight": 90}],
        "FairShare": "Enabled",
        "IdleResourceSharing": "Disabled",
    }
    api.call("DeleteClusterSchedulerConfig", ClusterSchedulerConfigId=policy)
    api.settle()
    with pytest.raises(AwsError, match="ResourceNotFound"):
        api.scheduled(policy)


def test_the_service_fills_in_what_a_quota_leaves_out(api: Governed) -> None:
    found = api.described(api.quota())
    assert found["ComputeQuotaConfig"] == {
        "ComputeQuotaResources": [{"InstanceType": TYPE, "Accelerators": 4, "VCpu": 96.0, "MemoryInGiB": 1024.0}],
        "ResourceSharingConfig": {"Strategy": "LendAndBorrow", "BorrowLimit": 50},
        "PreemptTeamTasks": "LowerPriority",
    }
    assert found["ComputeQuotaTarget"] == {"TeamName": "research", "FairShareWeight": 0}
    assert found["ActivationState"] == "Enabled"


@pytest.mark.parametrize(
    ("entry", "filled"),
    [
        ({"Count": 2}, {"Count": 2}),
        ({}, {}),
        ({"VCpu": 48.0}, {"VCpu": 48.0, "MemoryInGiB": 512.0, "Accelerators": 0}),
        ({"MemoryInGiB": 512.0}, {"VCpu": 48.0, "MemoryInGiB": 512.0, "Accelerators": 0}),
        (
            {"AcceleratorPartition": {"Type": "mig-7g.80gb", "Count": 4}},
            {"AcceleratorPartition": {"Type": "mig-7g.80gb", "Count": 4}, "VCpu": 96.0, "MemoryInGiB": 1024.0},
        ),
    ],
)
def test_amounts_follow_each_other(api: Governed, entry: dict[str, Any], filled: dict[str, Any]) -> None:
    config = {"ComputeQuotaResources": [{"InstanceType": TYPE, **entry}], "ResourceSharingConfig": {"Strategy": "Lend"}}
    found = api.described(api.quota(ComputeQuotaConfig=config))["ComputeQuotaConfig"]
    assert found["ComputeQuotaResources"] == [{"InstanceType": TYPE, **filled}]
    assert found["ResourceSharingConfig"] == {"Strategy": "Lend"}


def test_an_update_makes_a_version_and_old_ones_stay(api: Governed) -> None:
    quota = api.quota(Description="one")
    api.settle()
    answer = api.update(quota, ActivationState="Disabled", ComputeQuotaTarget={"TeamName": "research", "FairShareWeight": 9})
    assert answer["ComputeQuotaVersion"] == 2
    assert api.described(quota)["Status"] == "Updating"
    api.settle()
    found = api.described(quota)
    assert (found["Status"], found["ComputeQuotaVersion"], found["ActivationState"]) == ("Updated", 2, "Disabled")
    assert (found["Description"], found["ComputeQuotaTarget"]["FairShareWeight"]) == ("one", 9)
    assert found["LastModifiedTime"] > found["CreationTime"]
    old = api.described(quota, ComputeQuotaVersion=1)
    assert (old["ComputeQuotaVersion"], old["ActivationState"]) == (1, "Enabled")
    with pytest.raises(AwsError, match="ResourceNotFound: Version 3 of quota"):
        api.described(quota, ComputeQuotaVersion=3)


def test_an_update_of_another_version_is_a_conflict(api: Governed) -> None:
    quota = api.quota()
    api.settle()
    api.update(quota, ActivationState="Disabled")
    api.settle()
    with pytest.raises(AwsError, match=r"ConflictException: TargetVersion 1 of quota \w+ is not its version, 2"):
        api.update(quota, ActivationState="Enabled")
    assert api.described(quota)["ActivationState"] == "Disabled"


@pytest.mark.parametrize("verb", ["Update", "Delete"])
def test_a_quota_in_work_is_left_alone(api: Governed, verb: str) -> None:
    quota = api.quota()
    version = {"TargetVersion": 1} if verb == "Update" else {}
    with pytest.raises(AwsError, match=f"ConflictException: The quota {quota} is in state Creating; it cannot be {verb.lower()}d"):
        api.call(f"{verb}ComputeQuota", ComputeQuotaId=quota, **version)


def test_a_team_stays_in_its_quota(api: Governed) -> None:
    quota = api.quota()
    api.settle()
    with pytest.raises(AwsError, match=r"the team of quota .* is research and stays"):
        api.update(quota, ComputeQuotaTarget={"TeamName": "other"})


def test_a_cluster_has_one_policy(api: Governed) -> None:
    policy = api.policy()
    with pytest.raises(AwsError, match=rf"ConflictException: the cluster has a scheduling policy already \({policy}\)"):
        api.policy(Name="another")
    api.cluster = api.new_cluster("second", ON_EKS)
    api.settle(10)
    assert api.policy() != policy


def test_names_and_teams_are_unique_in_a_cluster(api: Governed) -> None:
    api.quota()
    with pytest.raises(AwsError, match="ConflictException: a quota of cluster demo is named research already"):
        api.quota("other", Name="research")
    with pytest.raises(AwsError, match="ConflictException: team 'research' has a quota on this cluster already"):
        api.quota(Name="other")
    api.cluster = api.new_cluster("second", ON_EKS)
    api.settle(10)
    api.quota()


def test_slurm_clusters_are_refused(cloud: Cloud) -> None:
    api = Governed(cloud, {"Slurm": {}})
    for make in (api.policy, api.quota):
        with pytest.raises(AwsError, match=r"ValidationException: .*Slurm orchestrates this one"):
            make()


def test_a_cluster_that_is_not_there_yet_is_refused(api: Governed) -> None:
    api.cluster = api.new_cluster("second", ON_EKS)
    with pytest.raises(AwsError, match="ConflictException: Cluster second is in state Creating"):
        api.quota()
    api.cluster = f"{api.cluster[:-12]}{'x' * 12}"
    with pytest.raises(AwsError, match="ResourceNotFound"):
        api.quota()


@pytest.mark.parametrize("place", ["ComputeQuotaResources", "AbsoluteBorrowLimits"])
def test_a_partition_that_the_type_lacks_is_refused(api: Governed, place: str) -> None:
    entries = [{"InstanceType": TYPE, "AcceleratorPartition": {"Type": "mig-1g.5gb", "Count": 1}}]
    sharing = {"ResourceSharingConfig": {"Strategy": "LendAndBorrow", "AbsoluteBorrowLimits": entries}}
    config = {place: entries} if place == "ComputeQuotaResources" else sharing
    with pytest.raises(AwsError, match=r"ValidationException: ml\.p5.48xlarge has no accelerator partition mig-1g.5gb"):
        api.quota(ComputeQuotaConfig=config)
    quota = api.quota()
    api.settle()
    with pytest.raises(AwsError, match="has no accelerator partition"):
        api.update(quota, ComputeQuotaConfig=config)
    assert api.described(quota)["ComputeQuotaVersion"] == 1


def test_two_classes_of_one_name_are_refused(api: Governed) -> None:
    with pytest.raises(AwsError, match="two priority classes are named 'a'"):
        api.policy(SchedulerConfig={"PriorityClasses": [{"Name": "a", "Weight": 1}, {"Name": "a", "Weight": 2}]})


def test_quotas_beyond_the_nodes_are_taken(api: Governed) -> None:
    config = {"ComputeQuotaResources": [{"InstanceType": "ml.m5.xlarge", "Count": 1000}]}
    quota = api.quota(ComputeQuotaConfig=config)
    api.settle()
    assert api.described(quota)["Status"] == "Created"


def test_lists_are_filtered_sorted_and_paged(api: Governed) -> None:
    names = ["first", "second", "third"]
    for name in names:
        api.quota(name)
        api.cloud.clock.tick()

    def listed(**members: Any) -> list[str]:
        return [item["Name"] for item in api.call("ListComputeQuotas", **members)["ComputeQuotaSummaries"]]

    def at(second: float) -> datetime:
        return datetime.fromtimestamp(api.cloud.clock() - second, UTC)

    assert listed() == names[::-1]
    assert listed(SortOrder="Ascending") == names
    assert listed(SortBy="Name", NameContains="ir", SortOrder="Ascending") == ["first", "third"]
    assert listed(CreatedAfter=at(2.5), CreatedBefore=at(0.5)) == ["third", "second"]
    assert (listed(Status="Created"), listed(Status="Creating")) == (names[::-1], [])
    assert listed(ClusterArn=f"{api.cluster[:-12]}{'x' * 12}") == []
    first = api.call("ListComputeQuotas", MaxResults=2)
    assert listed(NextToken=first["NextToken"]) == ["first"]
    api.policy()
    (policy,) = api.call("ListClusterSchedulerConfigs", ClusterArn=api.cluster)["ClusterSchedulerConfigSummaries"]
    assert (policy["Name"], policy["ClusterSchedulerConfigVersion"]) == ("ours", 1)


def test_tags_are_kept(api: Governed) -> None:
    arn = api.call("CreateComputeQuota", **api.quota_request(Tags=[{"Key": "a", "Value": "1"}]))["ComputeQuotaArn"]
    api.call("AddTags", ResourceArn=arn, Tags=[{"Key": "b", "Value": "2"}])
    api.call("DeleteTags", ResourceArn=arn, TagKeys=["a"])
    assert api.call("ListTags", ResourceArn=arn) == {"Tags": [{"Key": "b", "Value": "2"}]}
    many = [{"Key": str(number), "Value": ""} for number in range(50)]
    with pytest.raises(AwsError, match="quota research would have 51 tags"):
        api.call("AddTags", ResourceArn=arn, Tags=many)


def test_all_go_with_their_cluster(api: Governed) -> None:
    quota, policy = api.quota(), api.policy()
    api.settle()
    api.call("DeleteCluster", ClusterName="demo")
    api.settle(10)
    for found in (api.described, api.scheduled):
        with pytest.raises(AwsError, match="ResourceNotFound"):
            found(quota if found == api.described else policy)
    assert [(word, applied.policy_id) for word, applied in api.queues.calls[2:]] == [("remove", quota), ("remove", policy)]


def test_the_kubernetes_side_hears_of_every_change(api: Governed) -> None:
    quota, policy = api.quota(), api.policy()
    api.settle()
    api.update(quota, ActivationState="Disabled")
    api.settle()
    api.call("DeleteComputeQuota", ComputeQuotaId=quota)
    api.settle()
    told = [(word, applied.kind, applied.policy_id) for word, applied in api.queues.calls]
    assert told == [
        ("apply", "ComputeQuota", quota),
        ("apply", "ClusterSchedulerConfig", policy),
        ("apply", "ComputeQuota", quota),
        ("remove", "ComputeQuota", quota),
    ]
    assert {applied.eks_cluster_arn for _, applied in api.queues.calls} == {EKS_ARN}
    states = [applied.settings.get("ActivationState") for _, applied in api.queues.calls]
    assert states == ["Enabled", None, "Disabled", "Disabled"]


def test_a_creation_fails_with_the_reason_of_kubernetes(api: Governed) -> None:
    api.queues.problems = [ValueError("the webhook does not answer")]
    quota = api.quota()
    api.settle()
    assert (api.described(quota)["Status"], api.described(quota)["FailureReason"]) == (
        "CreateFailed",
        "the webhook does not answer",
    )


def test_a_failed_update_leaves_the_version_that_was(api: Governed) -> None:
    quota = api.quota()
    api.settle()
    api.queues.problems = [ValueError("no")]
    api.update(quota, ActivationState="Disabled")
    api.settle()
    found = api.described(quota)
    assert (found["Status"], found["ComputeQuotaVersion"], found["ActivationState"]) == ("UpdateFailed", 1, "Enabled")
    api.update(quota, Description="again")
    api.settle()
    assert "FailureReason" not in api.described(quota)


def test_a_failed_deletion_can_be_asked_for_again(api: Governed) -> None:
    quota = api.quota()
    api.settle()
    api.queues.problems = [ValueError("")]
    api.call("DeleteComputeQuota", ComputeQuotaId=quota)
    api.settle()
    assert (api.described(quota)["Status"], api.described(quota)["FailureReason"]) == ("DeleteFailed", "ValueError")
    api.call("DeleteComputeQuota", ComputeQuotaId=quota)
    api.settle()
    with pytest.raises(AwsError, match="ResourceNotFound"):
        api.described(quota)
