"""DeletionPolicy and UpdateReplacePolicy: Retain, RetainExceptOnCreate, Delete."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import ClientError

from hyperpod_constructs.local.server import LocalAws
from tests.local.stacks import delete, deploy

BROKEN: dict[str, Any] = {
    "Type": "AWS::EC2::Subnet",
    "Properties": {"VpcId": "vpc-0123456789abcdef0", "CidrBlock": "10.0.0.0/24"},
}


def bucket(policy: str, **properties: Any) -> dict[str, Any]:
    replaced = "Retain" if policy == "RetainExceptOnCreate" else policy
    return {"Type": "AWS::S3::Bucket", "DeletionPolicy": policy, "UpdateReplacePolicy": replaced, "Properties": properties}


def buckets(aws: LocalAws) -> list[str]:
    return [item["Name"] for item in aws.client("s3").list_buckets()["Buckets"]]


@pytest.mark.parametrize(("policy", "kept"), [("Delete", 0), ("Retain", 1), ("RetainExceptOnCreate", 1)])
def test_deletion_of_the_stack(fresh: LocalAws, policy: str, kept: int) -> None:
    assert deploy(fresh, {"Bucket": bucket(policy)}).status == "CREATE_COMPLETE"
    assert delete(fresh).status == "DELETE_COMPLETE"
    assert len(buckets(fresh)) == kept


def test_deleted_stacks_of_one_name_tell_what_each_has_kept(fresh: LocalAws) -> None:
    cloudformation = fresh.client("cloudformation")
    made = []
    for _ in range(2):
        made.append(deploy(fresh, {"Bucket": bucket("Retain")}).resources["Bucket"])
        assert delete(fresh).status == "DELETE_COMPLETE"
    listed = [one for one in cloudformation.list_stacks()["StackSummaries"] if one["StackName"] == "Stack"]
    events = [event for one in listed for event in cloudformation.describe_stack_events(StackName=one["StackId"])["StackEvents"]]
    kept = {event["PhysicalResourceId"] for event in events if event["ResourceStatus"] == "DELETE_SKIPPED"}
    assert kept == set(made)
    assert len(listed) == 2
    assert all(one["DeletionTime"] > one["CreationTime"] for one in listed)


def test_a_stack_is_found_by_a_resource_that_it_has_and_not_by_one_that_it_had(fresh: LocalAws) -> None:
    cloudformation = fresh.client("cloudformation")
    made = deploy(fresh, {"Bucket": bucket("Retain")}).resources["Bucket"]
    (found,) = cloudformation.describe_stack_resources(PhysicalResourceId=made)["StackResources"]
    assert (found["StackName"], found["LogicalResourceId"]) == ("Stack", "Bucket")
    assert delete(fresh).status == "DELETE_COMPLETE"
    with pytest.raises(ClientError, match=f"Stack for {made} does not exist"):
        cloudformation.describe_stack_resources(PhysicalResourceId=made)


@pytest.mark.parametrize(("policy", "kept"), [("Delete", 0), ("Retain", 1), ("RetainExceptOnCreate", 0)])
def test_failed_first_create(fresh: LocalAws, policy: str, kept: int) -> None:
    stack = deploy(fresh, {"Bucket": bucket(policy), "Broken": {**BROKEN, "DependsOn": "Bucket"}})
    assert stack.status == "ROLLBACK_COMPLETE"
    assert len(buckets(fresh)) == kept


@pytest.mark.parametrize(("policy", "kept"), [("Delete", 1), ("Retain", 2), ("RetainExceptOnCreate", 2)])
def test_replacement(fresh: LocalAws, policy: str, kept: int) -> None:
    assert deploy(fresh, {"Bucket": bucket(policy, BucketName="before")}).status == "CREATE_COMPLETE"
    stack = deploy(fresh, {"Bucket": bucket(policy, BucketName="after")})
    assert stack.status == "UPDATE_COMPLETE"
    assert stack.resources == {"Bucket": "after"}
    assert len(buckets(fresh)) == kept


@pytest.mark.parametrize(("policy", "kept"), [("Delete", 1), ("Retain", 2), ("RetainExceptOnCreate", 1)])
def test_failed_update_that_added_one(fresh: LocalAws, policy: str, kept: int) -> None:
    first = bucket("Delete", BucketName="first")
    assert deploy(fresh, {"First": first}).status == "CREATE_COMPLETE"
    resources = {"First": first, "Second": bucket(policy), "Broken": {**BROKEN, "DependsOn": "Second"}}
    assert deploy(fresh, resources).status == "UPDATE_ROLLBACK_COMPLETE"
    assert len(buckets(fresh)) == kept


@pytest.mark.parametrize(("policy", "kept"), [("Delete", 1), ("Retain", 2), ("RetainExceptOnCreate", 2)])
def test_removal_from_the_template(fresh: LocalAws, policy: str, kept: int) -> None:
    first = bucket("Delete", BucketName="first")
    assert deploy(fresh, {"First": first, "Second": bucket(policy)}).status == "CREATE_COMPLETE"
    assert deploy(fresh, {"First": first}).status == "UPDATE_COMPLETE"
    assert len(buckets(fresh)) == kept


def test_a_bucket_that_is_not_empty_stays(fresh: LocalAws) -> None:
    assert deploy(fresh, {"Bucket": bucket("Delete", BucketName="full")}).status == "CREATE_COMPLETE"
    fresh.client("s3").put_object(Bucket="full", Key="key", Body=b"x")
    failed = delete(fresh)
    assert failed.status == "DELETE_FAILED"
    assert any("BucketNotEmpty" in reason for reason in failed.reasons)
    assert buckets(fresh) == ["full"]
