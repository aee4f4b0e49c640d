from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import Stack
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3

from hyperpod_constructs.custom_resources.scripts_upload import ScriptsUpload
from hyperpod_constructs.node_software.lifecycle_scripts import packaged_scripts
from tests.conftest import only, resources

UPLOAD = "Custom::HyperPodScriptsUpload"


def upload(stack: Stack, bucket: s3.IBucket, id: str = "Upload", root: str = "lifecycle") -> ScriptsUpload:
    return ScriptsUpload(stack, id, directory=packaged_scripts(), bucket=bucket, root=root, prefix=f"{root}/1", configuration="{}")


def statements(stack: Stack) -> list[dict[str, Any]]:
    (policy,) = (policy for id, policy in resources(stack, "AWS::IAM::Policy").items() if id.startswith("UploadPolicy"))
    found: list[dict[str, Any]] = policy["Properties"]["PolicyDocument"]["Statement"]
    return found


def test_it_reads_its_archive_and_writes_below_its_root_only(stack: Stack) -> None:
    bucket = s3.Bucket(stack, "Bucket")
    upload(stack, bucket)
    read, write, look = statements(stack)
    assert read["Action"] == "s3:GetObject"
    assert str(read["Resource"]).endswith(".zip']]}")
    assert write["Action"] == ["s3:PutObject", "s3:DeleteObject"]
    assert write["Resource"] == {"Fn::Join": ["", [stack.resolve(bucket.bucket_arn), "/lifecycle/*"]]}
    assert (look["Action"], look["Condition"]) == ("s3:ListBucket", {"StringLike": {"s3:prefix": "lifecycle/*"}})


def test_it_awaits_its_permissions(stack: Stack) -> None:
    upload(stack, s3.Bucket(stack, "Bucket"))
    assert any(id.startswith("UploadPolicy") for id in only(stack, UPLOAD)["DependsOn"])


def test_it_may_encrypt_for_a_bucket_with_a_key(stack: Stack) -> None:
    upload(stack, s3.Bucket(stack, "Bucket", encryption_key=kms.Key(stack, "Key")))
    policies = resources(stack, "AWS::IAM::Policy")
    (allowed,) = (id for id, policy in policies.items() if "kms:GenerateDataKey*" in str(policy))
    assert allowed in only(stack, UPLOAD)["DependsOn"]


@pytest.mark.parametrize("imported", [True, False])
def test_the_bucket_is_left_as_it_is(stack: Stack, imported: bool) -> None:
    bucket = s3.Bucket.from_bucket_name(stack, "Bucket", "scripts") if imported else s3.Bucket(stack, "Bucket")
    before = resources(stack, "AWS::S3::Bucket")
    upload(stack, bucket)
    assert resources(stack, "AWS::S3::Bucket") == before


def test_two_uploads_share_their_functions(stack: Stack) -> None:
    bucket = s3.Bucket(stack, "Bucket")
    upload(stack, bucket)
    functions = set(resources(stack, "AWS::Lambda::Function"))
    upload(stack, bucket, "Second")
    assert set(resources(stack, "AWS::Lambda::Function")) == functions
    assert len(functions) == 2


def test_a_renamed_upload_keeps_its_policy_until_the_old_objects_are_gone(stack: Stack) -> None:
    """CloudFormation deletes what a change replaces after the update, and a changed policy would no longer allow it."""
    bucket, names = s3.Bucket(stack, "Bucket"), []
    for root in ("lifecycle", "lifecycle", "other"):
        stack.node.try_remove_child("Upload")
        upload(stack, bucket, root=root)
        (name,) = (id for id in resources(stack, "AWS::IAM::Policy") if id.startswith("UploadPolicy"))
        assert name in only(stack, UPLOAD)["DependsOn"]
        names.append(name)
    assert names[0] == names[1] != names[2]
