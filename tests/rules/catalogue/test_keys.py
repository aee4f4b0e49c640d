"""Keys whose policies lock everybody or a service out, disabled keys, and keys of another kind or service."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from tests.rules.catalogue.cases import Case, edited
from tests.rules.catalogue.templates import Template, findings, rules_of, slurm
from tests.rules.catalogue.test_deliveries import KEPT, att
from tests.rules.catalogue.test_refused_calls import ROOT, WITH_KEY, allow, key

LOGS = {"Type": "AWS::Logs::LogGroup", "Properties": {"RetentionInDays": 30, "KmsKeyId": {"Fn::GetAtt": ["Key", "Arn"]}}}
USE = ["kms:Encrypt*", "kms:Decrypt*", "kms:ReEncrypt*", "kms:GenerateDataKey*", "kms:Describe*"]


def logging(*statements: dict[str, Any]) -> dict[str, Any]:
    return {"Key": key(allow("kms:*", Principal=ROOT), *statements), "Logs": deepcopy(LOGS)}


def for_logs(service: Any, **more: Any) -> dict[str, Any]:
    return logging(allow(USE, Principal={"Service": service}, **more))


def secret(at: Any) -> dict[str, Any]:
    return {"Token": {"Type": "AWS::SecretsManager::Secret", **KEPT, "Properties": {"GenerateSecretString": {}, "KmsKeyId": at}}}


ASYMMETRIC = {
    "Key": key(allow("kms:*", Principal=ROOT)),
    "Key/EnableKeyRotation": False,
    "Key/KeySpec": "RSA_2048",
    "Key/KeyUsage": "ENCRYPT_DECRYPT",
}
LIMITED = {"Condition": {"ArnLike": {"kms:EncryptionContext:aws:logs:arn": "arn:aws:logs:us-west-2:123456789012:*"}}}
BY_S3 = {"StringEquals": {"kms:ViaService": "s3.us-west-2.amazonaws.com"}}
MISNAMED = {"Condition": {"ArnLike": {"kms:EncryptionContext:aws:log:arn": "arn:aws:logs:us-west-2:123456789012:*"}}}


def volume(key: str) -> Template:
    """A group with a second volume of a key."""
    storage = [{"EbsVolumeConfig": {"VolumeSizeInGB": 500, "VolumeKmsKeyId": key}}]
    return {"Cluster/InstanceGroups/0/InstanceStorageConfigs": storage}


def encrypted(kind: str, key: str = "alias/aws/events", **more: str) -> Template:
    """A resource that encrypts with a key."""
    return {"Bus": {"Type": f"AWS::{kind}", "Properties": {"KmsKeyIdentifier": key, **more}}}


def kept_by(service: str, **more: Any) -> dict[str, Any]:
    """A key that only a role of the template may manage, and who may take the role."""
    trusted = {"Version": "2012-10-17", "Statement": [allow("sts:AssumeRole", Principal={"Service": service, **more})]}
    for one in trusted["Statement"]:
        one.pop("Resource", None)  # type: ignore[attr-defined]
    role = {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": trusted}}
    return {"Key": key(allow("kms:*", Principal={"AWS": {"Fn::GetAtt": ["Keeper", "Arn"]}})), "Keeper": role}


CASES = [
    Case(
        "HP-KEY-001", slurm(), {"Key": key(allow("kms:Encrypt", Principal=ROOT))}, {"Key": key(allow("kms:Put*", Principal=ROOT))}
    ),
    Case("HP-KEY-001", slurm(), {"Key": key(allow("kms:*", Principal={"Service": "s3.amazonaws.com"}))}, {}),
    Case("HP-KEY-001", slurm(), {"Key": key(allow("kms:*", Principal=ROOT, Condition=BY_S3))}, {}),
    Case("HP-KEY-001", slurm(), kept_by("eks.amazonaws.com"), kept_by("cloudformation.amazonaws.com")),
    Case("HP-KEY-001", slurm(), kept_by("eks.amazonaws.com"), kept_by("eks.amazonaws.com", AWS="123456789012")),
    Case("HP-KEY-002", slurm(), logging(), for_logs({"Fn::Sub": "logs.${AWS::Region}.amazonaws.com"})),
    Case("HP-KEY-002", slurm(), for_logs("s3.amazonaws.com"), for_logs("logs.us-west-2.amazonaws.com", **LIMITED)),
    Case("HP-KEY-002", slurm(), for_logs("logs.us-west-2.amazonaws.com", **MISNAMED), {}),
    Case("HP-KEY-005", slurm(), secret("alias/aws/rds"), secret("alias/aws/secretsmanager")),
    Case("HP-KEY-005", slurm(), volume("alias/aws/ebs"), volume("alias/nodes")),
    Case("HP-KEY-005", slurm(), volume("arn:aws:kms:us-west-2:123456789012:alias/aws/ebs"), volume("alias/nodes")),
    Case("HP-KEY-005", slurm(), encrypted("Events::EventBus", Name="a"), encrypted("Events::EventBus", "alias/bus", Name="a")),
    Case(
        "HP-KEY-005",
        slurm(),
        {**ASYMMETRIC, **secret(att("Key"))},
        {**ASYMMETRIC, "Key/KeySpec": "SYMMETRIC_DEFAULT", "Key/EnableKeyRotation": True, **secret(att("Key"))},
    ),
    Case("HP-KEY-003", WITH_KEY, {"Key/Enabled": False}, {"Key/Enabled": True}),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rule)
def test_rule(case: Case) -> None:
    case.check()


def test_a_disabled_key_that_one_of_two_branches_names_may_be_unused() -> None:
    named = {"Fn::If": ["Encrypted", att("Key"), {"Ref": "AWS::NoValue"}]}
    template = edited(slurm(), {**logging(), "Key/Enabled": False, "Logs/KmsKeyId": named})
    template["Parameters"] = {"Encrypt": {"Type": "String"}}
    template["Conditions"] = {"Encrypted": {"Fn::Equals": [{"Ref": "Encrypt"}, "yes"]}}
    assert rules_of(template, rules="HP-KEY-003") == []


def test_beside_another_key_an_asymmetric_one_is_named_at_its_only_user() -> None:
    other = {"Other": key(allow("kms:*", Principal=ROOT))}
    template = edited(slurm(), {**ASYMMETRIC, **other, **secret(att("Key"))})

    assert [(one.rule, one.resource) for one in findings(template, rules="HP-KEY")] == [("HP-KEY-005", "Token")]


def test_a_disabled_key_that_nothing_uses_may_wait() -> None:
    changes = {"Key": key(allow("kms:*", Principal=ROOT))}
    assert rules_of(edited(slurm(), {**changes, "Key/Enabled": False})) == []


def test_logs_need_no_description_of_their_key() -> None:
    """What `grant_encrypt_decrypt` of the CDK allows is enough, as deployed projects show."""
    granted = ["kms:Decrypt", "kms:Encrypt", "kms:GenerateDataKey*", "kms:ReEncrypt*"]
    to_service = {"Principal": {"Service": {"Fn::Sub": "logs.${AWS::Region}.amazonaws.com"}}}
    assert rules_of(edited(slurm(), logging(allow(granted, **to_service)))) == []
    assert rules_of(edited(slurm(), logging(allow("kms:DescribeKey", **to_service)))) == ["HP-KEY-002"]
