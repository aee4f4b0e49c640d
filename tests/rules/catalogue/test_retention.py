"""The data of a deleted resource."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from hyperpod_constructs.rules.finding import Level
from tests.rules.catalogue.cases import edited
from tests.rules.catalogue.templates import KEPT, Template, findings, preset, properties, rules_of, slurm

EMPTIED = {"Tags": [{"Key": "aws-cdk:auto-delete-objects", "Value": "true"}]}
SECONDARY = {"GlobalClusterIdentifier": "accounts"}
"""Of a cluster that needs no instances of its own."""


def with_policies(deletion: object, replacement: object, name: str = "FileSystem") -> Template:
    """A resource with other policies; `None` removes a policy."""
    template = slurm()
    for key, policy in (("DeletionPolicy", deletion), ("UpdateReplacePolicy", replacement)):
        template["Resources"][name].pop(key, None)
        if policy is not None:
            template["Resources"][name][key] = policy
    return template


@pytest.mark.parametrize("policies", [(None, None), ("Delete", "Delete"), ("Delete", "Retain")])
def test_data_goes_with_its_stack(policies: tuple[object, object]) -> None:
    (finding,) = findings(with_policies(*policies))

    assert (finding.rule, finding.level, finding.resource) == ("HP-RET-001", Level.WARNING, "FileSystem")
    assert "up to 4800 GiB" in finding.message


@pytest.mark.parametrize(
    ("policies", "expected"),
    [(("Delete", "Delete"), []), (("Delete", None), []), ((None, "Delete"), []), ((None, None), ["HP-RET-001"])],
)
def test_scratch_is_for_a_while(policies: tuple[object, object], expected: list[str]) -> None:
    template = with_policies(*policies)
    properties(template, "FileSystem")["LustreConfiguration"] = {"DeploymentType": "SCRATCH_2"}

    assert [one for one in rules_of(template) if one.startswith("HP-RET-")] == expected


TOPIC, BUCKET, FILES = "AWS::SNS::Topic", "AWS::S3::Bucket", "AWS::EFS::FileSystem"


@pytest.mark.parametrize(
    ("user", "policy", "expected"),
    [
        (TOPIC, None, []),
        (FILES, None, ["Files"]),
        (FILES, "Retain", ["Key"]),
        (BUCKET, None, ["Key"]),
        ("AWS::Backup::BackupVault", None, ["Key"]),
        ("AWS::KMS::Alias", None, ["Key"]),
    ],
)
def test_a_key_goes_with_what_it_encrypts(user: str, policy: str | None, expected: list[str]) -> None:
    template = slurm()
    template["Resources"]["Key"] = {"Type": "AWS::KMS::Key", "Properties": {"KeyPolicy": {"Statement": []}}}
    files: dict[str, Any] = {"Type": user, "Properties": {"KmsKeyId": {"Fn::GetAtt": ["Key", "Arn"]}}}
    template["Resources"]["Files"] = files | ({} if policy is None else {"DeletionPolicy": policy})

    assert [one.resource for one in findings(template) if one.rule == "HP-RET-001"] == expected


@pytest.mark.parametrize(
    ("user", "expected"), [(TOPIC, []), ("AWS::SQS::Queue", []), ("AWS::Logs::LogGroup", []), (BUCKET, ["HP-RET-001"])]
)
def test_a_key_of_messages_may_be_another_one(user: str, expected: list[str]) -> None:
    template = slurm()
    template["Resources"]["Key"] = {"Type": "AWS::KMS::Key", "Properties": {"KeyPolicy": {"Statement": []}}}
    template["Resources"]["User"] = {"Type": user, "Properties": {"KmsMasterKeyId": {"Fn::GetAtt": ["Key", "Arn"]}}}
    assert [one.rule for one in findings(template) if one.rule.startswith("HP-RET") and one.resource == "Key"] == expected


@pytest.mark.parametrize(
    ("beside", "expected"),
    [
        ({}, []),
        ({"Outputs": {"Key": {"Value": {"Fn::GetAtt": ["Key", "Arn"]}}}}, ["Key"]),
        ({"Alias": "alias/own"}, ["Key"]),
    ],
)
def test_a_key_that_policies_alone_name_encrypts_nothing(beside: dict[str, Any], expected: list[str]) -> None:
    template = slurm()
    statement = {"Effect": "Allow", "Action": "kms:Decrypt", "Resource": {"Fn::GetAtt": ["Key", "Arn"]}}
    document = {"Version": "2012-10-17", "Statement": [statement]}
    template["Resources"]["Key"] = {"Type": "AWS::KMS::Key", "Properties": {"KeyPolicy": {"Statement": []}}}
    template["Resources"]["May"] = {"Type": "AWS::IAM::ManagedPolicy", "Properties": {"PolicyDocument": document}}
    if "Alias" in beside:
        alias = {"AliasName": beside["Alias"], "TargetKeyId": {"Ref": "Key"}}
        template["Resources"]["Alias"] = {"Type": "AWS::KMS::Alias", "Properties": alias}
    template["Outputs"] = {**template.get("Outputs", {}), **beside.get("Outputs", {})}

    assert [one.resource for one in findings(template) if one.rule == "HP-RET-001"] == expected


@pytest.mark.parametrize(("kind", "taken"), [("LUSTRE", False), ("OPENZFS", True)])
def test_homes_leave_a_backup(kind: str, taken: bool) -> None:
    template = with_policies("Delete", "Delete")
    properties(template, "FileSystem")["FileSystemType"] = kind

    (message,) = [one.message for one in findings(template) if one.rule == "HP-RET-001"]
    assert ("takes a final backup" in message) is taken
    assert ("no final backup" in message) is not taken


@pytest.mark.parametrize("policies", [("Retain", None), ("RetainExceptOnCreate", "Delete")])
def test_data_goes_with_its_replacement(policies: tuple[object, object]) -> None:
    (finding,) = findings(with_policies(*policies))

    assert (finding.rule, finding.level, finding.resource) == ("HP-RET-002", Level.WARNING, "FileSystem")


@pytest.mark.parametrize("policies", [("RetainExceptOnCreate", "Retain"), ({"Ref": "AWS::StackName"}, "Retain")])
def test_data_that_stays(policies: tuple[object, object]) -> None:
    assert rules_of({**with_policies(*policies), "Transform": "AWS::LanguageExtensions"}) == []


def test_a_bucket_stays_unless_it_is_emptied() -> None:
    template = with_policies("Delete", "Delete", "Scripts")
    assert rules_of(template) == []

    properties(template, "Scripts").update(EMPTIED)
    assert rules_of(template) == ["HP-RET-001"]


@pytest.mark.parametrize(
    ("type_", "deletion", "replacement", "expected"),
    [
        ("AWS::Backup::BackupVault", "Delete", "Retain", ["HP-RET-005"]),
        ("AWS::Backup::BackupVault", None, "Retain", ["HP-RET-005"]),
        ("AWS::Backup::BackupVault", "Retain", "Retain", []),
        ("AWS::Backup::BackupVault", None, None, []),
        ("AWS::SecretsManager::Secret", None, "Retain", ["HP-RET-005"]),
        ("AWS::SecretsManager::Secret", "Delete", "Retain", []),
        ("AWS::SecretsManager::Secret", None, None, []),
    ],
)
def test_what_a_replacement_keeps_does_not_go_by_default(
    type_: str, deletion: str | None, replacement: str | None, expected: list[str]
) -> None:
    policies = {"DeletionPolicy": deletion, "UpdateReplacePolicy": replacement}
    template = slurm()
    own = {"BackupVaultName": "homes"} if type_.endswith("Vault") else {}
    template["Resources"]["Kept"] = {
        "Type": type_,
        "Properties": own,
        **{key: value for key, value in policies.items() if value is not None},
    }
    assert rules_of(template) == expected


@pytest.mark.parametrize(
    ("policy", "expected"), [(None, ["HP-RET-002"]), ("Snapshot", []), ("Retain", []), ("Delete", ["HP-RET-001"])]
)
def test_a_database_leaves_a_snapshot(policy: str | None, expected: list[str]) -> None:
    template = slurm()
    template["Resources"]["Accounts"] = {
        "Type": "AWS::RDS::DBCluster",
        "Properties": {"Engine": "aurora-mysql", "MasterUsername": "slurm", "ManageMasterUserPassword": True, **SECONDARY},
        **({} if policy is None else {"DeletionPolicy": policy, "UpdateReplacePolicy": policy}),
    }

    assert rules_of(template) == expected


@pytest.mark.parametrize(("protection", "expected"), [(True, []), ("true", []), (False, ["HP-RET-001"])])
@pytest.mark.parametrize("kind", ["AWS::RDS::DBCluster", "AWS::RDS::DBInstance"])
def test_a_database_that_is_protected_is_not_deleted(kind: str, protection: object, expected: list[str]) -> None:
    template = slurm()
    template["Resources"]["Accounts"] = {
        "Type": kind,
        "Properties": {
            "Engine": "mariadb" if kind.endswith("Instance") else "aurora-mysql",
            "MasterUsername": "slurm",
            "ManageMasterUserPassword": True,
            "DeletionProtection": protection,
            **(
                {"AllocatedStorage": "20", "DBInstanceClass": "db.m7g.large", "StorageEncrypted": True}
                if kind.endswith("Instance")
                else SECONDARY
            ),
        },
        "DeletionPolicy": "Delete",
        "UpdateReplacePolicy": "Delete",
    }

    assert rules_of(template) == expected


@pytest.mark.parametrize("going", ["NodeSubnet", "Vpc", "NodeGroup"])
def test_the_network_stays_with_the_file_system(going: str) -> None:
    (finding,) = findings(with_policies(None, None, going))

    assert (finding.rule, finding.level, finding.resource) == ("HP-RET-003", Level.WARNING, "FileSystem")
    assert going in finding.message


@pytest.mark.parametrize(("kept", "expected"), [([], []), (["Vpc"], ["HP-RET-003"])])
def test_a_network_in_a_stack_of_its_own_goes_when_somebody_deletes_that(kept: list[str], expected: list[str]) -> None:
    network = with_policies(None, None, "NodeSubnet")
    for key in KEPT:
        for name in {"Vpc", "NodeGroup"} - {*kept}:
            del network["Resources"][name][key]
    files = {"FileSystem": network["Resources"].pop("FileSystem")}
    network["Outputs"] = {"Subnet": {"Value": {"Ref": "NodeSubnet"}, "Export": {"Name": "subnet"}}}
    files["FileSystem"]["Properties"]["SubnetIds"] = [{"Fn::ImportValue": "subnet"}]
    files["FileSystem"]["Properties"].pop("SecurityGroupIds", None)
    assert [one.rule for one in findings({"Resources": files}, network) if one.rule == "HP-RET-003"] == expected


def test_a_block_that_is_added_for_the_subnet_stays_too() -> None:
    template = slurm()
    block = {"Type": "AWS::EC2::VPCCidrBlock", "Properties": {"VpcId": {"Ref": "Vpc"}, "CidrBlock": "10.1.0.0/16"}}
    template["Resources"] |= {"More": block}
    template["Resources"]["NodeSubnet"]["DependsOn"] = "More"
    properties(template, "NodeSubnet")["CidrBlock"] = "10.1.0.0/18"
    assert [(one.rule, "More" in one.message) for one in findings(template)] == [("HP-RET-003", True)]
    template["Resources"]["More"] |= KEPT
    assert rules_of(template) == []


def test_the_network_of_two_file_systems_is_one_finding() -> None:
    template = with_policies(None, None, "NodeSubnet")
    template["Resources"]["Second"] = template["Resources"]["FileSystem"]
    found = [one for one in findings(template) if one.rule == "HP-RET-003"]
    assert [(one.resource, "FileSystem, Second stay" in one.message) for one in found] == [("NodeSubnet", True)]


def test_file_systems_with_groups_of_their_own_in_one_subnet_are_one_finding() -> None:
    """What goes from under both is named first."""
    template = with_policies(None, None, "NodeSubnet")
    for key in KEPT:
        del template["Resources"]["NodeGroup"][key]
    template["Resources"]["Own"] = template["Resources"]["NodeGroup"]
    second = edited(template, {"FileSystem/SecurityGroupIds": [{"Fn::GetAtt": ["Own", "GroupId"]}]})
    template["Resources"]["Second"] = second["Resources"]["FileSystem"]
    (finding,) = [one for one in findings(template) if one.rule == "HP-RET-003"]
    assert finding.resource == "NodeSubnet"
    assert "FileSystem, Second stay, and NodeSubnet, NodeGroup, Own cannot go from under them" in finding.message


def test_the_network_may_go_with_the_file_system() -> None:
    template = with_policies(None, None)
    for name in ("NodeSubnet", "Vpc", "NodeGroup"):
        del template["Resources"][name]["DeletionPolicy"]

    assert rules_of(template) == ["HP-RET-001"]


def test_a_preset_that_keeps_nothing() -> None:
    templates = preset("llm")
    for resource in templates["Foundation"]["Resources"].values():
        if resource["Type"] == "AWS::FSx::FileSystem":
            resource["DeletionPolicy"] = resource["UpdateReplacePolicy"] = "Delete"

    assert rules_of(*templates.values()) == ["HP-RET-001"]


def test_file_systems_on_one_subnet_are_one_finding_with_groups_of_their_own() -> None:
    template = with_policies(None, None, "NodeSubnet")
    second = copy.deepcopy(template["Resources"]["FileSystem"])
    second["Properties"]["SecurityGroupIds"] = [{"Ref": "SecondGroup"}]
    group = {"Type": "AWS::EC2::SecurityGroup", "Properties": {"GroupDescription": "a", "VpcId": {"Ref": "Vpc"}}}
    template["Resources"] |= {"Second": second, "SecondGroup": group}
    found = [one for one in findings(template) if one.rule == "HP-RET-003"]
    assert [(one.resource, "SecondGroup" in one.message) for one in found] == [("NodeSubnet", True)]
