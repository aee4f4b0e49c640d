from __future__ import annotations

import json
from typing import Any

import pytest

from tests.rules.catalogue.cases import REMOVED, Case, edited
from tests.rules.catalogue.templates import KEPT, rules_of, slurm

DATABASE = "Cluster/Orchestrator/Slurm/AccountingDatabase"
GENERATED = {"SecretStringTemplate": json.dumps({"username": "slurm"}), "GenerateStringKey": "password"}
WITH_DATABASE = edited(
    slurm(),
    {
        "Database": {
            "Type": "AWS::RDS::DBInstance",
            **KEPT,
            "Properties": {
                "Engine": "mariadb",
                "DBInstanceClass": "db.m6g.large",
                "AllocatedStorage": "100",
                "DBSubnetGroupName": "accounting",
                "VPCSecurityGroups": ["sg-0123456789abcdef0"],
                "StorageEncrypted": True,
                "MasterUsername": "slurm",
                "ManageMasterUserPassword": True,
            },
        },
        "Login": {"Type": "AWS::SecretsManager::Secret", **KEPT, "Properties": {"GenerateSecretString": GENERATED}},
        "Role/Policies/1": {
            "PolicyName": "accounting",
            "PolicyDocument": {
                "Version": "2012-10-17",
                "Statement": [{"Effect": "Allow", "Action": "secretsmanager:GetSecretValue", "Resource": {"Ref": "Login"}}],
            },
        },
        DATABASE: {
            "Endpoint": {"Fn::GetAtt": ["Database", "Endpoint.Address"]},
            "SecretArn": {"Ref": "Login"},
        },
    },
)
BY_SCRIPTS = edited(WITH_DATABASE, {DATABASE: REMOVED, "Database/DBName": "slurm_acct_db"})

NODES, GROUP = ({"Fn::GetAtt": [name, "GroupId"]} for name in ("NodeGroup", "DatabaseGroup"))
MYSQL = {"IpProtocol": "tcp", "FromPort": 3306, "ToPort": 3306}
GUARDED = {
    "DatabaseGroup": {
        "Type": "AWS::EC2::SecurityGroup",
        **KEPT,
        "Properties": {"GroupDescription": "accounting", "VpcId": {"Ref": "Vpc"}, "SecurityGroupEgress": []},
    },
    "DatabaseIngress": {
        "Type": "AWS::EC2::SecurityGroupIngress",
        "Properties": {"GroupId": GROUP, "SourceSecurityGroupId": NODES, **MYSQL},
    },
    "NodeEgress": {
        "Type": "AWS::EC2::SecurityGroupEgress",
        "Properties": {"GroupId": NODES, "DestinationSecurityGroupId": GROUP, **MYSQL},
    },
    "Database/VPCSecurityGroups": [GROUP],
}

ELSEWHERE = {f"{DATABASE}/Endpoint": "db.example.com"}
OUT = {"IpProtocol": "tcp", "FromPort": 3306, "ToPort": 3306, "CidrIp": "10.0.0.0/8"}

CASES = [
    Case("HP-REF-012", WITH_DATABASE, {f"{DATABASE}/Endpoint": {"Ref": "Database"}}, {}),
    Case("HP-REF-008", WITH_DATABASE, {f"{DATABASE}/SecretArn": "{{resolve:secretsmanager:slurm:SecretString:password}}"}, {}),
    Case("HP-SLM-006", WITH_DATABASE, {"Cluster/NodeProvisioningMode": REMOVED}, {}),
    Case("HP-SLM-020", WITH_DATABASE, {"Database/Engine": "postgres"}, {"Database/Engine": "mysql"}),
    Case("HP-SLM-020", BY_SCRIPTS, {"Database/Engine": "postgres"}, {"Database/Engine": "mysql"}),
    Case("HP-SLM-020", BY_SCRIPTS, {"Database/Engine": "postgres"}, {"Database/Engine": {"Ref": "AWS::StackName"}}),
    Case("HP-SLM-020", BY_SCRIPTS, {"Database/Engine": "postgres"}, {"Database/Engine": "postgres", "Database/DBName": "portal"}),
    Case("HP-SLM-020", BY_SCRIPTS, {"Database/Engine": "postgres"}, {"Database/Engine": "postgres", "Database/DBName": REMOVED}),
    Case("HP-SLM-021", WITH_DATABASE, {"Database/Port": "3307"}, {"Database/Port": "3307", f"{DATABASE}/Port": 3307}),
    Case("HP-SLM-021", WITH_DATABASE, {f"{DATABASE}/Port": 3307}, {f"{DATABASE}/Port": 3306}),
    Case("HP-SLM-021", edited(WITH_DATABASE, GUARDED), {"Database/Port": "3307"}, {"Database/Port": "3306"}),
    Case(
        "HP-REACH-001",
        edited(WITH_DATABASE, GUARDED),
        {"DatabaseIngress": REMOVED},
        {"Database/VPCSecurityGroups": ["sg-0123456789abcdef0"], "DatabaseIngress": REMOVED},
    ),
    Case("HP-REACH-001", edited(WITH_DATABASE, GUARDED), {"NodeEgress": REMOVED}, {}),
    Case("HP-REACH-002", WITH_DATABASE, ELSEWHERE, {**ELSEWHERE, "NodeGroup/SecurityGroupEgress/2": OUT}),
    Case(
        "HP-REACH-002",
        edited(WITH_DATABASE, ELSEWHERE),
        {},
        {"NodeEgress": {"Type": "AWS::EC2::SecurityGroupEgress", "Properties": {"GroupId": NODES, **OUT}}},
    ),
    Case(
        "HP-REACH-002",
        WITH_DATABASE,
        {**ELSEWHERE, f"{DATABASE}/Port": 3307, "NodeGroup/SecurityGroupEgress/2": OUT},
        {**ELSEWHERE, f"{DATABASE}/Port": 443},
    ),
    Case(
        "HP-SLM-022",
        WITH_DATABASE,
        {"Login/GenerateSecretString/GenerateStringKey": "pass"},
        {"Login/GenerateSecretString": REMOVED, "Login/SecretString": '{"username": "a", "password": "b", "host": "c"}'},
    ),
    Case("HP-SLM-022", WITH_DATABASE, {"Login/GenerateSecretString": {"PasswordLength": 32}}, {}),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rule)
def test_rule(case: Case) -> None:
    case.check()


@pytest.mark.parametrize(
    ("several", "blocks", "expected"),
    [
        (True, ["10.0.10.0/24"], ["HP-REACH-001"]),
        (True, ["10.0.10.0/24", "10.0.11.0/24"], []),
        (True, ["10.0.10.0/23"], []),
        (False, ["10.0.10.0/24"], []),
    ],
)
def test_a_database_of_two_zones_is_reached_in_both(several: bool, blocks: list[str], expected: list[str]) -> None:
    """After a failover it answers in the other subnet."""
    subnets = {
        f"Data{index}": {
            "Type": "AWS::EC2::Subnet",
            **KEPT,
            "Properties": {
                "VpcId": {"Ref": "Vpc"},
                "CidrBlock": f"10.0.1{index}.0/24",
                "AvailabilityZone": f"us-west-2{'ab'[index]}",
            },
        }
        for index in (0, 1)
    }
    group = {
        "Type": "AWS::RDS::DBSubnetGroup",
        "Properties": {"DBSubnetGroupDescription": "data", "SubnetIds": [{"Ref": "Data0"}, {"Ref": "Data1"}]},
    }
    rules = {
        f"Out{index}": {"Type": "AWS::EC2::SecurityGroupEgress", "Properties": {"GroupId": NODES, "CidrIp": block, **MYSQL}}
        for index, block in enumerate(blocks)
    }
    placed: dict[str, Any] = {**GUARDED, **subnets, **rules, "Group": group, "Database/DBSubnetGroupName": {"Ref": "Group"}}
    del placed["NodeEgress"]
    placed["Database/MultiAZ"] = several
    assert rules_of(edited(WITH_DATABASE, placed), rules="HP-REACH") == expected
