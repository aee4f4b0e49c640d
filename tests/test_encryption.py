"""One key: what it encrypts, and which services its policy admits."""

from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import App, Duration, Environment, NestedStack, Stack, assertions
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs

from hyperpod_constructs import (
    ClusterInstanceType,
    ClusterNetwork,
    EbsVolume,
    InstanceGroup,
    LifecycleScripts,
    LustreStorage,
    SlurmCluster,
    cluster_key,
    scripts_bucket,
)
from hyperpod_constructs.custom_resources.provider import HandlerFunction, encrypt_handler_logs
from hyperpod_constructs.encryption import encrypt_logs
from hyperpod_constructs.patterns.encryption import encrypted
from hyperpod_constructs.rules.checking import check
from hyperpod_constructs.templates.documents import Document
from hyperpod_constructs.templates.environment import Environment as Place
from hyperpod_constructs.templates.model import Model
from hyperpod_constructs.templates.raw import raw_template
from tests.conftest import ZONE, only, resources
from tests.presets import build, on_eks, templates

PRESETS = ("announcement", "kubernetes")
ELSEWHERE = "arn:aws:kms:us-west-2:123456789012:key/1234abcd-0000-4000-8000-1234567890ab"
LOGS_MAY = ["kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey*", "kms:ReEncrypt*"]
Templates = dict[str, dict[str, Any]]


@pytest.fixture(scope="module", params=PRESETS)
def preset(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def made(preset: str) -> Templates:
    """Both stacks of a preset with a key."""
    homes = {} if on_eks(preset) else {"home_capacity_gib": "64"}
    return templates(build(preset, None, customer_managed_key="true", **homes))


def of_type(made: Templates, kind: str) -> list[dict[str, Any]]:
    return [one["Properties"] for stack in made.values() for one in stack["Resources"].values() if one["Type"] == kind]


def is_key(value: object) -> bool:
    """Whether a value is the ARN of the foundation's key, in its own stack or in another."""
    return "Key961B73FD" in str(value)


def test_one_key_encrypts_all_that_is_stored(preset: str, made: Templates) -> None:
    (key,) = of_type(made, "AWS::KMS::Key")
    buckets = [one["BucketEncryption"]["ServerSideEncryptionConfiguration"][0] for one in of_type(made, "AWS::S3::Bucket")]
    (cluster,), file_systems = of_type(made, "AWS::SageMaker::Cluster"), of_type(made, "AWS::FSx::FileSystem")
    volumes = [
        storage["EbsVolumeConfig"]
        for group in cluster["InstanceGroups"]
        for storage in group["InstanceStorageConfigs"]
        if "EbsVolumeConfig" in storage
    ]
    groups = of_type(made, "AWS::Logs::LogGroup")

    assert key["EnableKeyRotation"] is True
    assert [is_key(one["ServerSideEncryptionByDefault"]["KMSMasterKeyID"]) for one in buckets] == [True, True]
    assert all(one["BucketKeyEnabled"] for one in buckets), "a call of KMS for each object costs more than its storage"
    assert len(file_systems) == (1 if on_eks(preset) else 2)
    assert all(is_key(one["KmsKeyId"]) for one in file_systems)
    assert all(is_key(one["VolumeKmsKeyId"]) for one in volumes)
    assert sum(one.get("RootVolume", False) for one in volumes) == len(cluster["InstanceGroups"])
    assert len(groups) >= 5
    assert all(is_key(one["KmsKeyId"]) for one in groups)
    if on_eks(preset):
        (control_plane,) = of_type(made, "AWS::EKS::Cluster")
        assert is_key(control_plane["EncryptionConfig"])


def test_its_policy_admits_the_account_the_logs_of_each_stack_and_the_links_to_s3(preset: str, made: Templates) -> None:
    (key,) = of_type(made, "AWS::KMS::Key")
    account, *services = key["KeyPolicy"]["Statement"]

    assert account["Principal"]["AWS"].endswith(":root")
    of_logs = [one for one in services if "Service" in one["Principal"]]
    assert {one["Principal"]["Service"] for one in of_logs} == {"logs.us-west-2.amazonaws.com"}
    assert all(one["Action"] == LOGS_MAY for one in of_logs)
    names = ["/aws/lambda/*"] if on_eks(preset) else []
    assert sorted(one["Condition"]["ArnLike"]["kms:EncryptionContext:aws:logs:arn"] for one in of_logs) == [
        f"arn:aws:logs:us-west-2:123456789012:log-group:{name}" for name in (*names, "HyperPod-Cluster-*", "HyperPod-Foundation-*")
    ]
    assert [one["Sid"] for one in services if one not in of_logs] == ["FSxDataRepository"]
    assert all(one["Effect"] == "Allow" and one.get("Condition") for one in services)


def test_it_stays_when_its_stack_goes(made: Templates) -> None:
    (key,) = [one for one in made["Foundation"]["Resources"].values() if one["Type"] == "AWS::KMS::Key"]
    assert (key["DeletionPolicy"], key["UpdateReplacePolicy"]) == ("RetainExceptOnCreate", "Retain")


def test_no_rule_objects(made: Templates) -> None:
    place = Place(region="us-west-2", account="123456789012")
    documents = [Document(name=name, body=raw_template(body), environment=place) for name, body in made.items()]
    assert check(Model(documents)) == []


def test_a_pattern_makes_an_encrypted_bucket_and_keeps_the_keys_of_volumes(stack: Stack, network: ClusterNetwork) -> None:
    own = kms.Key.from_key_arn(stack, "Own", ELSEWHERE)
    group = InstanceGroup(
        name="workers",
        instance_type=ClusterInstanceType.M5_XLARGE,
        count=1,
        ebs_volumes=(EbsVolume(size_gb=100, kms_key=own), EbsVolume(root=True, kms_key=own)),
    )
    key = cluster_key(stack, "Key")
    SlurmCluster(
        stack,
        "Slurm",
        network=network,
        file_system=LustreStorage(stack, "Lustre", network=network, kms_key=key),
        worker_type=ClusterInstanceType.M5_XLARGE,
        worker_count=1,
        encryption_key=key,
    )

    assert encrypted(group, key) == group
    assert encrypted(group, None) is group
    (rule,) = only(stack, "AWS::S3::Bucket")["Properties"]["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert rule["ServerSideEncryptionByDefault"]["SSEAlgorithm"] == "aws:kms"
    policies = [str(one["Properties"]["PolicyDocument"]) for one in resources(stack, "AWS::IAM::Policy").values()]
    assert any("kms:CreateGrant" in one and "kms:DescribeKey" in one and "kms:Decrypt" in one for one in policies), "the nodes"


def test_given_scripts_keep_their_bucket(stack: Stack, network: ClusterNetwork) -> None:
    bucket = scripts_bucket(stack, "Scripts")
    SlurmCluster(
        stack,
        "Slurm",
        network=network,
        file_system=LustreStorage(stack, "Lustre", network=network),
        worker_type=ClusterInstanceType.M5_XLARGE,
        worker_count=1,
        encryption_key=cluster_key(stack, "Key"),
        lifecycle_scripts=LifecycleScripts.from_asset(bucket=bucket),
    )
    (rule,) = only(stack, "AWS::S3::Bucket")["Properties"]["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert rule["ServerSideEncryptionByDefault"]["SSEAlgorithm"] == "AES256"


def test_fails_on_a_key_beside_a_bucket(stack: Stack) -> None:
    bucket, key = scripts_bucket(stack, "Scripts"), cluster_key(stack, "Key")
    with pytest.raises(
        ValueError, match=r"^lifecycle scripts: encryption_key is for the new bucket, and bucket is given; leave one"
    ):
        LifecycleScripts.from_asset(bucket=bucket, encryption_key=key)


def test_the_policy_of_a_key_from_elsewhere_is_left_alone_and_a_warning_says_what_it_needs(stack: Stack) -> None:
    key = kms.Key.from_key_arn(stack, "Key", ELSEWHERE)
    ClusterNetwork(stack, "Network", availability_zone_id=ZONE, encryption_key=key)

    assert only(stack, "AWS::Logs::LogGroup")["Properties"]["KmsKeyId"] == ELSEWHERE
    found = assertions.Annotations.from_stack(stack).find_warning(
        "*", assertions.Match.string_like_regexp("names begin with Stack-")
    )
    assert len(found) == 1


def test_a_log_group_with_a_key_of_its_own_keeps_it(stack: Stack) -> None:
    own, key = kms.Key.from_key_arn(stack, "Own", ELSEWHERE), cluster_key(stack, "Key")
    group = logs.LogGroup(stack, "Logs", encryption_key=own)
    encrypt_logs(group, key)

    assert only(stack, "AWS::Logs::LogGroup")["Properties"]["KmsKeyId"] == ELSEWHERE


def test_functions_log_with_the_key_whenever_they_were_made(stack: Stack) -> None:
    key, late = cluster_key(stack, "Key"), Duration.minutes(1)
    HandlerFunction(stack, "Before", handler="openzfs_snapshots.on_schedule", timeout=late)
    encrypt_handler_logs(stack, key)
    HandlerFunction(stack, "After", handler="openzfs_snapshots.on_schedule", timeout=late)
    groups = resources(stack, "AWS::Logs::LogGroup").values()
    assert [is_key(one["Properties"]["KmsKeyId"]) for one in groups] == [True, True]


def test_the_logs_of_a_nested_stack_have_any_name() -> None:
    stack = Stack(App(), "Stack", env=Environment(account="123456789012", region="us-west-2"))
    key, nested = cluster_key(stack, "Key"), NestedStack(stack, "Nested")
    logs.LogGroup(nested, "Logs")
    encrypt_logs(nested, key)

    (made,) = assertions.Template.from_stack(stack).find_resources("AWS::KMS::Key").values()
    assert "log-group:*" in str(made["Properties"]["KeyPolicy"])
