"""Data in clear, buckets that may be public, passwords in templates, and policies that lock their owner out."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.catalogue.cases import REMOVED, Case, edited
from tests.rules.catalogue.templates import KEPT, Template, rules_of

NOTED = {"DeletionPolicy": "Snapshot", "UpdateReplacePolicy": "Snapshot"}
BASE: Template = {
    "AWSTemplateFormatVersion": "2010-09-09",
    "Parameters": {"Password": {"Type": "String", "NoEcho": True}},
    "Resources": {
        "Database": {
            "Type": "AWS::RDS::DBInstance",
            **NOTED,
            "Properties": {
                "Engine": "mysql",
                "DBInstanceClass": "db.m7g.large",
                "AllocatedStorage": "100",
                "StorageEncrypted": True,
                "MasterUsername": "slurm",
                "ManageMasterUserPassword": True,
            },
        },
        "Homes": {"Type": "AWS::EFS::FileSystem", **KEPT, "Properties": {"Encrypted": True}},
        "HomesHere": {
            "Type": "AWS::EFS::MountTarget",
            "Properties": {
                "FileSystemId": {"Ref": "Homes"},
                "SubnetId": "subnet-0123456789abcdef0",
                "SecurityGroups": ["sg-0123456789abcdef0"],
            },
        },
        "Data": {"Type": "AWS::S3::Bucket", **KEPT, "Properties": {}},
        "Key": {
            "Type": "AWS::KMS::Key",
            **KEPT,
            "Properties": {"Origin": "EXTERNAL", "KeyPolicy": {"Version": "2012-10-17", "Statement": []}},
        },
        "Vpc": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.0.0.0/16"}},
        "Group": {"Type": "AWS::EC2::SecurityGroup", "Properties": {"GroupDescription": "books", "VpcId": {"Ref": "Vpc"}}},
    },
}
BASE["Resources"]["Key"]["Properties"]["KeyPolicy"]["Statement"] = [
    {
        "Effect": "Allow",
        "Principal": {"AWS": {"Fn::Sub": "arn:aws:iam::${AWS::AccountId}:root"}},
        "Action": "kms:*",
        "Resource": "*",
    }
]
OPEN = {"Data/PublicAccessBlockConfiguration": {"BlockPublicPolicy": False}}
GIVEN = {"Database/ManageMasterUserPassword": REMOVED, "Database/MasterUserPassword": "Slurm-2026"}
BLOCKED: dict[str, Any] = {
    "BlockPublicAcls": True,
    "BlockPublicPolicy": True,
    "IgnorePublicAcls": True,
    "RestrictPublicBuckets": True,
}
CLOSED = {"Data/PublicAccessBlockConfiguration": BLOCKED}


def door(block: dict[str, Any]) -> dict[str, Any]:
    given = {"Bucket": {"Ref": "Data"}, "PublicAccessBlockConfiguration": block}
    return {"Type": "AWS::S3::AccessPoint", "Properties": given}


def lines(**properties: Any) -> dict[str, Any]:
    return {"Type": "AWS::SQS::Queue", "Properties": {"KmsDataKeyReusePeriodSeconds": 300, **properties}}


def denied(action: str, **conditions: Any) -> dict[str, Any]:
    """A policy of the bucket that denies an action from outside an endpoint."""
    statement = {
        "Effect": "Deny",
        "Principal": "*",
        "Action": action,
        "Resource": [{"Fn::GetAtt": ["Data", "Arn"]}, {"Fn::Sub": "${Data.Arn}/*"}],
        "Condition": {"StringNotEquals": {"aws:SourceVpce": "vpce-0123456789abcdef0"}, **conditions},
    }
    document = {"Version": "2012-10-17", "Statement": [statement]}
    return {"DataPolicy": {"Type": "AWS::S3::BucketPolicy", "Properties": {"Bucket": {"Ref": "Data"}, "PolicyDocument": document}}}


CASES = [
    Case("HP-EXP-001", BASE, {"Database/StorageEncrypted": False}, {}),
    Case("HP-EXP-001", BASE, {"Homes/Encrypted": REMOVED}, {}),
    Case("HP-EXP-002", BASE, OPEN, {**OPEN, "Data/WebsiteConfiguration": {"IndexDocument": "index.html"}}),
    Case("HP-EXP-002", BASE, {"Data/PublicAccessBlockConfiguration": {"BlockPublicAcls": True}}, CLOSED),
    Case("HP-EXP-002", BASE, {"Door": door({"BlockPublicAcls": False})}, {"Door": door(BLOCKED)}),
    Case("HP-EXP-001", BASE, {"Lines": lines(SqsManagedSseEnabled=False)}, {"Lines": lines()}),
    Case("HP-EXP-003", BASE, GIVEN, {**GIVEN, "Database/MasterUserPassword": {"Ref": "Password"}}),
    Case("HP-RET-006", BASE, {"Database/BackupRetentionPeriod": 0}, {"Database/BackupRetentionPeriod": 1}),
    Case("HP-POL-008", BASE, denied("s3:*"), denied("s3:*", Bool={"aws:ViaAWSService": "false"})),
    Case("HP-POL-008", BASE, denied("s3:Put*"), denied("s3:PutObject")),
    Case("HP-SCH-007", BASE, {"Key/EnableKeyRotation": True}, {}),
    Case("HP-SCH-007", BASE, {"Database/MasterUsername": "slurm_accounting_admin"}, {}),
    Case("HP-SCH-007", BASE, {"Database/AllocatedStorage": REMOVED}, {}),
    Case(
        "HP-TXT-012",
        BASE,
        {"Database/VPCSecurityGroups": [{"Ref": "Group"}]},
        {"Database/VPCSecurityGroups": ["sg-0123456789abcdef0"]},
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rule)
def test_rule(case: Case) -> None:
    case.check()


def test_a_database_that_is_restored_is_encrypted_as_its_snapshot() -> None:
    changes = {"Database/StorageEncrypted": REMOVED, "Database/MasterUsername": REMOVED, "Database/DBSnapshotIdentifier": "books"}
    assert rules_of(edited(BASE, changes)) == []


def test_an_instance_of_aurora_is_encrypted_as_its_cluster() -> None:
    changes = {"Database/StorageEncrypted": REMOVED, "Database/Engine": "aurora-mysql"}
    assert "HP-EXP-001" not in rules_of(edited(BASE, changes))


PUBLIC = {"Database/PubliclyAccessible": True}


@pytest.mark.parametrize(
    ("changes", "rules"),
    [
        (PUBLIC, ["HP-EXP-004"]),
        ({"Database/PubliclyAccessible": False}, []),
    ],
)
def test_databases_have_no_public_address(changes: dict[str, Any], rules: list[str]) -> None:
    assert [rule for rule in rules_of(edited(BASE, changes)) if rule.startswith("HP-EXP")] == rules


@pytest.mark.parametrize(
    ("protocol", "route", "rules"),
    [
        ("HTTP", {"RouteKey": "POST /jobs", "AuthorizationType": "NONE"}, ["HP-EXP-005"]),
        ("HTTP", {"RouteKey": "POST /jobs"}, ["HP-EXP-005"]),
        ("HTTP", {"RouteKey": "POST /jobs", "AuthorizationType": "AWS_IAM"}, []),
        ("HTTP", {"RouteKey": "OPTIONS /jobs"}, []),
        ("WEBSOCKET", {"RouteKey": "$default"}, []),
    ],
)
def test_callers_are_asked_who_they_are(protocol: str, route: dict[str, str], rules: list[str]) -> None:
    api = {"Type": "AWS::ApiGatewayV2::Api", "Properties": {"Name": "jobs", "ProtocolType": protocol}}
    path = {"Type": "AWS::ApiGatewayV2::Route", "Properties": {"ApiId": {"Ref": "Api"}, **route}}
    found = rules_of(edited(BASE, {"Api": api, "Path": path}))
    assert [rule for rule in found if rule.startswith("HP-EXP")] == rules


CODE = {
    "Type": "AWS::Lambda::Function",
    "Properties": {
        "Runtime": "python3.13",
        "Handler": "index.handler",
        "Role": "arn:aws:iam::123456789012:role/function",
        "Code": {"S3Bucket": "code", "S3Key": "code.zip"},
    },
}


@pytest.mark.parametrize(
    ("name", "value", "rules"),
    [
        ("DATABASE", "{{resolve:secretsmanager:slurm:SecretString:password}}", ["HP-EXP-006"]),
        ("DATABASE", "{{resolve:secretsmanager:slurm}}", ["HP-EXP-006"]),
        ("DATABASE", {"Fn::Sub": "{{resolve:secretsmanager:${Password}::::}}"}, ["HP-EXP-006"]),
        ("DATABASE", {"Fn::Join": ["", ["{{resolve:secretsmanager:", {"Ref": "Password"}, "}}"]]}, ["HP-EXP-006"]),
        ("DATABASE", {"Fn::Sub": "{{resolve:secretsmanager:${Password}:SecretString}}"}, ["HP-EXP-006"]),
        ("DATABASE", "{{resolve:secretsmanager:slurm:SecretString:username}}", []),
        ("DATABASE", "{{resolve:ssm:/slurm/host}}", []),
        ("HF_TOKEN", "hf_abcdefghijk", ["HP-EXP-006"]),
        ("S3_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", ["HP-EXP-006"]),
        ("S3_SECRET_ACCESS_KEY", "replace-me-by-the-key-of-your-account", []),
        ("PASSWORD", "short", []),
        ("PASSWORD", "slurm/password", []),
        ("PASSWORD", {"Ref": "Password"}, ["HP-EXP-006"]),
        ("ADDRESS", {"Fn::Sub": "mysql://slurm:${Password}@books"}, ["HP-EXP-006"]),
        ("ADDRESS", "mysql://slurm:Slurm-2026@books", ["HP-EXP-006"]),
        ("ADDRESS", "mysql://books:3306", []),
        ("dbPassword", "Slurm-2026", ["HP-EXP-006"]),
        ("PASSWORD_ARN", "abcdefghijk", []),
    ],
)
def test_secrets_in_variables(name: str, value: Any, rules: list[str]) -> None:
    template = edited(BASE, {"Code": CODE, "Code/Environment": {"Variables": {name: value}}})
    assert [rule for rule in rules_of(template) if rule.startswith("HP-EXP")] == rules


@pytest.mark.parametrize(("kind", "rules"), [("PLAINTEXT", ["HP-EXP-006"]), ("SECRETS_MANAGER", [])])
def test_a_variable_of_a_build_may_name_its_secret(kind: str, rules: list[str]) -> None:
    build = {
        "Type": "AWS::CodeBuild::Project",
        "Properties": {
            "ServiceRole": "arn:aws:iam::123456789012:role/build",
            "Artifacts": {"Type": "NO_ARTIFACTS"},
            "Source": {"Type": "NO_SOURCE", "BuildSpec": "version: 0.2"},
            "Environment": {
                "Type": "LINUX_CONTAINER",
                "ComputeType": "BUILD_GENERAL1_SMALL",
                "Image": "aws/codebuild/amazonlinux2-x86_64-standard:5.0",
                "EnvironmentVariables": [{"Name": "API_KEY", "Type": kind, "Value": "team-registry"}],
            },
        },
    }
    assert [rule for rule in rules_of(edited(BASE, {"Build": build})) if rule.startswith("HP-EXP")] == rules


INSIDE: Template = {
    "Resources": {
        "Vpc": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.0.0.0/16", "EnableDnsHostnames": True}},
        "Inner": {"Type": "AWS::EC2::Subnet", "Properties": {"VpcId": {"Ref": "Vpc"}, "CidrBlock": "10.0.0.0/24"}},
        "ForStudio": {
            "Type": "AWS::EC2::VPCEndpoint",
            "Properties": {
                "VpcId": {"Ref": "Vpc"},
                "ServiceName": {"Fn::Sub": "com.amazonaws.${AWS::Region}.sagemaker.api"},
                "VpcEndpointType": "Interface",
                "PrivateDnsEnabled": True,
                "SubnetIds": [{"Ref": "Inner"}],
            },
        },
        "Notebook": {
            "Type": "AWS::SageMaker::NotebookInstance",
            "Properties": {
                "InstanceType": "ml.t3.medium",
                "RoleArn": "arn:aws:iam::123456789012:role/notebook",
                "SubnetId": {"Ref": "Inner"},
                "SecurityGroupIds": ["sg-0123456789abcdef0"],
                "DirectInternetAccess": "Disabled",
            },
        },
    }
}


@pytest.mark.parametrize(
    ("changes", "rules"),
    [
        ({}, []),
        ({"Notebook/DirectInternetAccess": "Enabled"}, ["HP-EXP-007"]),
        ({"Notebook/DirectInternetAccess": REMOVED}, ["HP-EXP-007"]),
        ({"Notebook/DirectInternetAccess": "Enabled", "ForStudio": REMOVED}, []),
        ({"Notebook/DirectInternetAccess": "Enabled", "Notebook/SubnetId": "subnet-0123456789abcdef0"}, []),
    ],
)
def test_a_notebook_stays_in_a_network_without_internet(changes: dict[str, Any], rules: list[str]) -> None:
    assert [rule for rule in rules_of(edited(INSIDE, changes)) if rule.startswith("HP-EXP")] == rules


@pytest.mark.parametrize(
    ("line", "rules"),
    [
        ("export DB_PASSWORD=Slurm-2026", ["HP-EXP-006"]),
        ("WANDB_API_KEY='0123456789abcdef'", ["HP-EXP-006"]),
        ("export DB_PASSWORD=$(aws secretsmanager get-secret-value --secret-id books)", []),
        ("export DB_PASSWORD=$PASSWORD", []),
        ("PASSWORD_FILE=password-of-books", []),
    ],
)
def test_secrets_in_programs(line: str, rules: list[str]) -> None:
    script = {"Fn::Base64": f"#!/bin/bash\n{line}\necho done\n"}
    start = {"Type": "AWS::SageMaker::NotebookInstanceLifecycleConfig", "Properties": {"OnStart": [{"Content": script}]}}
    assert [rule for rule in rules_of(edited(BASE, {"Start": start})) if rule.startswith("HP-EXP")] == rules


@pytest.mark.parametrize(
    ("parameter", "rules"),
    [
        ({"NoEcho": True}, []),
        ({"NoEcho": "true", "Default": ""}, []),
        ({"NoEcho": True, "Default": "Slurm-2026"}, ["HP-EXP-003"]),
        ({}, ["HP-EXP-003"]),
        ({"NoEcho": False}, ["HP-EXP-003"]),
    ],
)
def test_passwords_in_parameters(parameter: dict[str, Any], rules: list[str]) -> None:
    template = edited(BASE, {**GIVEN, "Database/MasterUserPassword": {"Ref": "Password"}})
    given = {**template, "Parameters": {"Password": {"Type": "String", **parameter}}}
    assert [rule for rule in rules_of(given) if rule.startswith("HP-EXP")] == rules


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ('{"username": "slurm", "password": "Slurm-2026"}', ["HP-EXP-003"]),
        ("Slurm-2026", ["HP-EXP-003"]),
        ('{"username": "slurm", "host": "books.example.com"}', []),
        ('{"password": "replace-me-later"}', []),
    ],
)
def test_values_of_secrets(text: str, rules: list[str]) -> None:
    secret = {"Type": "AWS::SecretsManager::Secret", **KEPT, "Properties": {"SecretString": text}}
    assert [rule for rule in rules_of(edited(BASE, {"Books": secret})) if rule.startswith("HP-EXP")] == rules


@pytest.mark.parametrize(
    ("options", "rules"),
    [
        ({"MetadataOptions": {"HttpTokens": "optional"}}, ["HP-EXP-008"]),
        ({"MetadataOptions": {"HttpTokens": "required"}}, []),
        ({"MetadataOptions": {"HttpTokens": "optional", "HttpEndpoint": "disabled"}}, []),
        ({"MetadataOptions": {"HttpTokens": "optional", "HttpEndpoint": "enabled"}}, ["HP-EXP-008"]),
        ({"BlockDeviceMappings": [{"DeviceName": "/dev/xvda", "Ebs": {"Encrypted": False}}]}, ["HP-EXP-008"]),
        ({"BlockDeviceMappings": [{"DeviceName": "/dev/xvda", "Ebs": {"VolumeSize": 100}}]}, []),
    ],
)
def test_protections_are_not_switched_off(options: dict[str, Any], rules: list[str]) -> None:
    machines = {"Type": "AWS::EC2::LaunchTemplate", "Properties": {"LaunchTemplateData": options}}
    assert [rule for rule in rules_of(edited(BASE, {"Machines": machines})) if rule.startswith("HP-EXP")] == rules


@pytest.mark.parametrize(
    ("changes", "rules"),
    [
        ({"Key/Origin": REMOVED}, ["HP-EXP-008"]),
        ({}, []),
        ({"Key/Origin": REMOVED, "Key/KeySpec": "RSA_2048", "Key/KeyUsage": "ENCRYPT_DECRYPT"}, []),
        ({"Key/Origin": REMOVED, "Key/Enabled": False}, []),
    ],
)
def test_a_key_is_rotated_where_kms_can(changes: dict[str, Any], rules: list[str]) -> None:
    changed = edited(BASE, {"Key/EnableKeyRotation": False, **changes})
    assert [rule for rule in rules_of(changed) if rule.startswith("HP-EXP")] == rules


@pytest.mark.parametrize(
    ("days", "beside", "planned", "rules"),
    [
        (0, {}, False, ["HP-RET-006"]),
        (0, {}, True, []),
        (0, {"DailyAutomaticBackupStartTime": "04:00"}, True, ["HP-RET-006"]),
        (7, {"DailyAutomaticBackupStartTime": "04:00"}, False, []),
    ],
)
def test_file_systems_of_homes_have_backups(days: int, beside: dict[str, str], planned: bool, rules: list[str]) -> None:
    setting = {"AutomaticBackupRetentionDays": days, **beside}
    homes = {
        "Type": "AWS::FSx::FileSystem",
        **KEPT,
        "Properties": {"FileSystemType": "OPENZFS", "OpenZFSConfiguration": setting},
    }
    plan = {"Chosen": {"Type": "AWS::Backup::BackupSelection", "Properties": {"BackupPlanId": "daily"}}} if planned else {}
    assert [rule for rule in rules_of(edited(BASE, {"Shared": homes, **plan})) if rule.startswith("HP-RET")] == rules


@pytest.mark.parametrize(
    ("changes", "rules"),
    [
        ({"Database/.DeletionPolicy": "Delete", "Database/DeletionProtection": True}, ["HP-RET-005"]),
        ({"Database/DeletionProtection": True}, []),
        ({"Data/.DeletionPolicy": "Delete"}, ["HP-RET-005"]),
        ({"Data/.DeletionPolicy": "Delete", "Data/.UpdateReplacePolicy": "Delete"}, []),
    ],
)
def test_what_is_kept_otherwise_is_kept_by_the_stack(changes: dict[str, Any], rules: list[str]) -> None:
    assert [rule for rule in rules_of(edited(BASE, changes)) if rule.startswith("HP-RET")] == rules
