"""Links of Lustre to buckets: the policies of the bucket and of its key let the role of FSx in."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.catalogue.cases import REMOVED, edited
from tests.rules.catalogue.templates import Template, findings, rules_of
from tests.rules.catalogue.test_refused_calls import ROOT, allow

ROLE_OF_FSX = (
    "arn:aws:iam::${AWS::AccountId}:role/aws-service-role/s3.data-source.lustre.fsx.amazonaws.com/AWSServiceRoleForFSxS3Access_fs-*"
)
USE = ["kms:Encrypt", "kms:Decrypt", "kms:ReEncrypt*", "kms:GenerateDataKey*", "kms:DescribeKey"]
AS_FSX = {"ArnLike": {"aws:PrincipalArn": {"Fn::Sub": ROLE_OF_FSX}}}
BY_ANOTHER = {**AS_FSX, "StringEquals": {"kms:ViaService": "ec2.us-west-2.amazonaws.com"}}
OTHERS = {"ArnNotLike": {"aws:PrincipalArn": {"Fn::Sub": ROLE_OF_FSX}}}
ELSEWHERE = {"StringNotEquals": {"aws:SourceVpce": "vpce-0123456789abcdef0"}}
KEPT = {"DeletionPolicy": "Retain", "UpdateReplacePolicy": "Retain"}
SIDE: dict[str, Any] = {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": {"Fn::GetAtt": ["Key", "Arn"]}}
BASE: Template = {
    "AWSTemplateFormatVersion": "2010-09-09",
    "Resources": {
        "Key": {
            "Type": "AWS::KMS::Key",
            **KEPT,
            "Properties": {
                "KeyPolicy": {
                    "Version": "2012-10-17",
                    "Statement": [allow("kms:*", Principal=ROOT), allow(USE, Principal={"AWS": "*"}, Condition=AS_FSX)],
                }
            },
        },
        "Data": {
            "Type": "AWS::S3::Bucket",
            **KEPT,
            "Properties": {
                "BucketEncryption": {
                    "ServerSideEncryptionConfiguration": [{"BucketKeyEnabled": True, "ServerSideEncryptionByDefault": SIDE}]
                }
            },
        },
        "Link": {
            "Type": "AWS::FSx::DataRepositoryAssociation",
            "Properties": {
                "FileSystemId": "fs-0123456789abcdef0",
                "FileSystemPath": "/data",
                "DataRepositoryPath": {"Fn::Sub": "s3://${Data}/sets"},
                "S3": {"AutoExportPolicy": {"Events": ["NEW"]}},
            },
        },
    },
}
OF_FSX = "Key/KeyPolicy/Statement/1"
OF_DATA = "BucketEncryption/ServerSideEncryptionConfiguration/0/ServerSideEncryptionByDefault/KMSMasterKeyID"
OF_JOBS = "Jobs/Policies/0/PolicyDocument/Statement/1"
NAMED = {"Data/BucketName": "sets-of-speech", "Link/DataRepositoryPath": "s3://sets-of-speech/sets"}


def of_bucket(*statements: dict[str, Any]) -> Template:
    properties = {"Bucket": {"Ref": "Data"}, "PolicyDocument": {"Version": "2012-10-17", "Statement": list(statements)}}
    return {"Type": "AWS::S3::BucketPolicy", "Properties": properties}


def deny(action: Any, condition: Template, resource: Any = "${Data.Arn}/*") -> dict[str, Any]:
    return {"Effect": "Deny", "Principal": "*", "Action": action, "Resource": {"Fn::Sub": resource}, "Condition": condition}


def context(arn: str) -> Template:
    return {**AS_FSX, "StringLike": {"kms:EncryptionContext:aws:s3:arn": arn}}


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({}, []),
        ({OF_FSX: REMOVED}, ["HP-KEY-002"]),
        ({f"{OF_FSX}/Action": ["kms:Decrypt", "kms:DescribeKey"]}, ["HP-KEY-002"]),
        ({f"{OF_FSX}/Action": ["kms:Decrypt", "kms:DescribeKey"], "Link/S3": REMOVED}, []),
        ({**NAMED, f"{OF_FSX}/Condition": context("arn:aws:s3:::sets-of-speech")}, []),
        ({**NAMED, f"{OF_FSX}/Condition": context("arn:aws:s3:::sets-of-speech/*")}, ["HP-KEY-002"]),
        ({"Policy": of_bucket(deny("s3:GetObject", ELSEWHERE))}, ["HP-DLV-001"]),
        ({"Policy": of_bucket(deny("s3:ListBucket", ELSEWHERE, "${Data.Arn}"))}, ["HP-DLV-001"]),
        ({"Policy": of_bucket(deny("s3:GetObject", {**ELSEWHERE, **OTHERS}))}, []),
        ({"Policy": of_bucket(deny("s3:PutObject", ELSEWHERE))}, ["HP-DLV-001"]),
        ({"Policy": of_bucket(deny("s3:PutObject", ELSEWHERE)), "Link/S3": REMOVED}, []),
        ({"Policy": of_bucket(deny("s3:DeleteBucket", ELSEWHERE, "${Data.Arn}"))}, []),
    ],
)
def test_fsx_may_use_a_linked_bucket_and_its_key_from_outside(changes: Template, found: list[str]) -> None:
    assert rules_of(edited(BASE, changes)) == found


@pytest.mark.parametrize(
    ("principal", "condition", "at"),
    [(ROOT, AS_FSX, "Key"), (ROOT, {}, "Link"), ({"AWS": "*"}, BY_ANOTHER, "Key"), ({"AWS": "*"}, AS_FSX, None)],
    ids=["of the account", "of nobody", "of another role", "right"],
)
def test_a_statement_that_is_meant_for_fsx_is_the_place(principal: Template, condition: Template, at: str | None) -> None:
    changes = {f"{OF_FSX}/Principal": principal, f"{OF_FSX}/Condition": condition or REMOVED}
    assert [one.resource for one in findings(edited(BASE, changes), rules="HP-KEY")] == ([at] if at else [])


def of_jobs(key: str) -> Template:
    """A role of jobs that may read the bucket and use a key."""
    read = {"Effect": "Allow", "Action": "s3:GetObject", "Resource": {"Fn::Sub": "${Data.Arn}/*"}}
    use = {"Effect": "Allow", "Action": "kms:Decrypt", "Resource": {"Fn::GetAtt": [key, "Arn"]}}
    trust = {"Effect": "Allow", "Principal": {"Service": "sagemaker.amazonaws.com"}, "Action": "sts:AssumeRole"}
    policy = {"PolicyName": "data", "PolicyDocument": {"Version": "2012-10-17", "Statement": [read, use]}}
    assumed = {"Version": "2012-10-17", "Statement": [trust]}
    return {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": assumed, "Policies": [policy]}}


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({}, []),
        ({f"Data/{OF_DATA}": {"Fn::GetAtt": ["Second", "Arn"]}}, ["HP-KEY-002"]),
        ({"Jobs": of_jobs("Second")}, ["HP-PERM-002"]),
        (
            {"Second": REMOVED, "Jobs": of_jobs("Key"), f"{OF_JOBS}/Action": "kms:Encrypt", OF_FSX: REMOVED},
            ["HP-KEY-002", "HP-PERM-002"],
        ),
    ],
    ids=["right", "another key", "no permission", "two mistakes"],
)
def test_a_bucket_with_a_key_of_others_is_one_finding(changes: Template, found: list[str]) -> None:
    second = {
        **BASE["Resources"]["Key"],
        "Properties": {"KeyPolicy": {"Version": "2012-10-17", "Statement": [allow("kms:*", Principal=ROOT)]}},
    }
    template = edited(BASE, {"Second": second, "Jobs": of_jobs("Key")})
    assert [one for one in rules_of(edited(template, changes)) if one != "HP-DEP-006"] == found
