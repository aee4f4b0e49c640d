"""The permission to lose data, written on constructs."""

from __future__ import annotations

import pytest
from aws_cdk import CfnResource, Stack
from aws_cdk import aws_s3 as s3
from constructs import Construct

from hyperpod_constructs import ClusterNetwork, LustreStorage, allow_data_loss
from tests.conftest import only

KEY = "hyperpod:allow-data-loss"


def test_of_a_file_system(stack: Stack, network: ClusterNetwork) -> None:
    LustreStorage(stack, "Files", network=network, allow_data_loss="scratch only")
    assert only(stack, "AWS::FSx::FileSystem")["Metadata"][KEY] == "scratch only"


def test_none_of_a_file_system_by_default(stack: Stack, lustre: LustreStorage) -> None:
    assert KEY not in only(stack, "AWS::FSx::FileSystem").get("Metadata", {})


def test_of_another_construct(stack: Stack) -> None:
    allow_data_loss(s3.Bucket(stack, "Bucket"), "can be downloaded again")
    assert only(stack, "AWS::S3::Bucket")["Metadata"][KEY] == "can be downloaded again"


def test_of_an_l1(stack: Stack) -> None:
    allow_data_loss(CfnResource(stack, "Key", type="AWS::KMS::Key"), "unused")
    assert only(stack, "AWS::KMS::Key")["Metadata"][KEY] == "unused"


@pytest.mark.parametrize("reason", ["", "  "])
def test_fails_without_a_reason(stack: Stack, network: ClusterNetwork, reason: str) -> None:
    with pytest.raises(ValueError, match=r"^Stack/Files/Resource: allow_data_loss has no reason"):
        LustreStorage(stack, "Files", network=network, allow_data_loss=reason)


def test_fails_for_a_reason_that_is_not_a_text(stack: Stack) -> None:
    with pytest.raises(ValueError, match=r"^Stack/Bucket: allow_data_loss has no reason, found None"):
        allow_data_loss(s3.Bucket(stack, "Bucket"), None)  # type: ignore[arg-type]


def test_fails_for_a_resource_that_holds_no_data(stack: Stack) -> None:
    with pytest.raises(ValueError, match=r"^Stack/Topic: allow_data_loss is for a resource that holds data, found AWS::SNS::Topic"):
        allow_data_loss(CfnResource(stack, "Topic", type="AWS::SNS::Topic"), "reason")


def test_fails_for_a_construct_without_a_resource(stack: Stack) -> None:
    with pytest.raises(
        ValueError, match=r"Stack/Empty: allow_data_loss needs a construct with a resource of its own, found Construct"
    ):
        allow_data_loss(Construct(stack, "Empty"), "reason")
