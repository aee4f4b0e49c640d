"""Mechanisms that know a class of mistakes: demands beside the schemas, regions, VPCs, the place to edit."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.catalogue.cases import REMOVED, Case, edited
from tests.rules.catalogue.templates import KEPT, Template, eks, findings, slurm

SECOND_VPC = {"Type": "AWS::EC2::VPC", **KEPT, "Properties": {"CidrBlock": "10.8.0.0/16"}}
MOUNT = "Cluster/InstanceGroups/0/InstanceStorageConfigs/1/FsxLustreConfig"
SCRIPTS = "Cluster/InstanceGroups/0/LifeCycleConfig"


def subnet(block: str, zone: Any, vpc: str = "Vpc") -> Template:
    given = {"VpcId": {"Ref": vpc}, "CidrBlock": block, "AvailabilityZone": zone}
    return {"Type": "AWS::EC2::Subnet", **KEPT, "Properties": given}


def zone(index: int) -> Template:
    return {"Fn::Select": [index, {"Fn::GetAZs": ""}]}


def subnet_group(*names: str) -> Template:
    given = {"DBSubnetGroupDescription": "x", "SubnetIds": [{"Ref": name} for name in names]}
    return {"Type": "AWS::RDS::DBSubnetGroup", "Properties": given}


def linked(service: str) -> Template:
    return {"Type": "AWS::IAM::ServiceLinkedRole", **KEPT, "Properties": {"AWSServiceName": service}}


def of_eks(name: str) -> Template:
    return {"Fn::Sub": f"arn:${{AWS::Partition}}:eks:${{AWS::Region}}:${{AWS::AccountId}}:cluster/{name}"}


DATABASE = {
    "Type": "AWS::RDS::DBInstance",
    "DeletionPolicy": "Snapshot",
    "UpdateReplacePolicy": "Snapshot",
    "Properties": {
        "Engine": "mysql",
        "StorageEncrypted": True,
        "DBInstanceClass": "db.m6g.large",
        "AllocatedStorage": "50",
        "MasterUsername": "slurm",
        "ManageMasterUserPassword": True,
        "DBSubnetGroupName": {"Ref": "Subnets"},
        "VPCSecurityGroups": [{"Ref": "DatabaseGroup"}],
    },
}
GROUP = {
    "Type": "AWS::EC2::SecurityGroup",
    "Properties": {
        "GroupDescription": "database",
        "VpcId": {"Ref": "Vpc"},
        "SecurityGroupIngress": [{"IpProtocol": "tcp", "FromPort": 3306, "ToPort": 3306, "CidrIp": "10.0.0.0/16"}],
    },
}
TO_DATABASE = {
    "Type": "AWS::EC2::SecurityGroupEgress",
    "Properties": {
        "GroupId": {"Ref": "NodeGroup"},
        "IpProtocol": "tcp",
        "FromPort": 3306,
        "ToPort": 3306,
        "DestinationSecurityGroupId": {"Ref": "DatabaseGroup"},
    },
}


def accounting() -> Template:
    """A cluster with a database, in two subnets of the same VPC."""
    secret = {"Fn::GetAtt": ["Database", "MasterUserSecret.SecretArn"]}
    return edited(
        slurm(),
        {
            "SubnetA": subnet("10.0.1.0/24", "us-west-2a"),
            "SubnetB": subnet("10.0.2.0/24", "us-west-2b"),
            "Subnets": subnet_group("SubnetA", "SubnetB"),
            "DatabaseGroup": GROUP,
            "ToDatabase": TO_DATABASE,
            "Database": DATABASE,
            "Role/Policies/0/PolicyDocument/Statement/4": {
                "Effect": "Allow",
                "Action": "secretsmanager:GetSecretValue",
                "Resource": secret,
            },
            "Cluster/Orchestrator/Slurm": {
                "AccountingDatabase": {"Endpoint": {"Fn::GetAtt": ["Database", "Endpoint.Address"]}, "SecretArn": secret}
            },
        },
    )


ONE, OTHER = slurm(), eks()
EMPTY = {"Type": "AWS::EC2::VPCCidrBlock", "Properties": {"VpcId": {"Ref": "Vpc"}, "AmazonProvidedIpv6CidrBlock": True}}
HOMES: Template = {
    "AWSTemplateFormatVersion": "2010-09-09",
    "Resources": {
        "Vpc": {"Type": "AWS::EC2::VPC", **KEPT, "Properties": {"CidrBlock": "10.0.0.0/16"}},
        **{
            name: {
                "Type": "AWS::EC2::Subnet",
                **KEPT,
                "Properties": {"VpcId": {"Ref": "Vpc"}, "CidrBlock": block, "AvailabilityZone": zone_},
            }
            for name, block, zone_ in (("A", "10.0.0.0/24", "us-west-2a"), ("B", "10.0.1.0/24", "us-west-2b"))
        },
        "Homes": {
            "Type": "AWS::FSx::FileSystem",
            **KEPT,
            "Properties": {
                "FileSystemType": "OPENZFS",
                "StorageCapacity": 512,
                "SubnetIds": [{"Ref": "A"}, {"Ref": "B"}],
                "OpenZFSConfiguration": {
                    "DeploymentType": "MULTI_AZ_1",
                    "ThroughputCapacity": 320,
                    "PreferredSubnetId": {"Ref": "A"},
                },
            },
        },
    },
}
CASES = [
    # Demands of services beside the schemas.
    Case("HP-SCH-007", ONE, {"NodeDefaultRoute/NatGatewayId": REMOVED}, {}),
    Case("HP-SCH-007", ONE, {"NodeDefaultRoute/GatewayId": {"Ref": "Gateway"}}, {}),
    Case("HP-REF-012", ONE, {"NodeDefaultRoute/NatGatewayId": {"Ref": "Gateway"}}, {}),
    Case("HP-SCH-007", ONE, {"Nat/AllocationId": REMOVED}, {}),
    Case("HP-SCH-007", ONE, {"Linked": linked("AWSServiceRoleForFSx")}, {"Linked": linked("fsx.amazonaws.com")}),
    Case("HP-SCH-007", ONE, {"Vpc/Tags": [{"Key": "aws:x", "Value": "y"}]}, {"Vpc/Tags": [{"Key": "x", "Value": "y"}]}),
    Case(
        "HP-SCH-007",
        ONE,
        {"Vpc/Tags": [{"Key": "a", "Value": "x"}, {"Key": "a", "Value": "y"}]},
        {"Vpc/Tags": [{"Key": "a", "Value": "x"}, {"Key": "b", "Value": "y"}]},
    ),
    Case("HP-SCH-007", ONE, {"Link/DataRepositoryPath": {"Fn::Sub": "https://${Data}"}}, {}),
    Case("HP-SCH-007", ONE, {"Link/DataRepositoryPath": {"Fn::Sub": "s3:/${Data}/datasets"}}, {}),
    Case("HP-SCH-004", ONE, {"Scripts/BucketName": {"Fn::Sub": "sagemaker-Scripts-${AWS::AccountId}"}}, {}),
    Case("HP-SCH-007", ONE, {"X": {"Type": "Custom::X"}}, {"X": {"Type": "Custom::X", "Properties": {"ServiceToken": "x"}}}),
    # Regions: most places tell that of the stack.
    Case("HP-REG-001", ONE, {"PublicSubnet/AvailabilityZone": "eu-west-1a", "More": subnet("10.0.9.0/24", "us-west-2a")}, {}),
    Case(
        "HP-REG-001",
        ONE,
        {"FileSystem/KmsKeyId": "arn:aws:kms:us-east-1:123456789012:key/11111111-2222-3333-4444-555555555555"},
        {"FileSystem/KmsKeyId": "arn:aws:kms:us-west-2:123456789012:key/11111111-2222-3333-4444-555555555555"},
    ),
    Case(
        "HP-REG-001",
        ONE,
        {"S3Endpoint/ServiceName": "com.amazonaws.eu-west-1.s3"},
        {"S3Endpoint/ServiceName": "com.amazonaws.us-west-2.s3"},
    ),
    # Zones of a region that the deployment picks.
    Case(
        "HP-EKS-011",
        OTHER,
        {f"ControlSubnet{one}/AvailabilityZone": zone(0) for one in (1, 2)},
        {f"ControlSubnet{one}/AvailabilityZone": zone(one) for one in (1, 2)},
    ),
    Case("HP-SUB-014", accounting(), {"SubnetB/AvailabilityZone": "us-west-2a"}, {}),
    Case("HP-SUB-014", HOMES, {"B/AvailabilityZone": "us-west-2a"}, {}),
    # What to edit where a way ends.
    Case("HP-REACH-001", accounting(), {"Database/VPCSecurityGroups": REMOVED}, {}),
    Case("HP-REACH-001", accounting(), {"Database/DBSubnetGroupName": REMOVED}, {}),
    Case(
        "HP-BLK-006",
        ONE,
        {"PublicSubnet/Ipv6CidrBlock": "2600:1f14:abc:de00::/64"},
        {"PublicSubnet/Ipv6CidrBlock": "2600:1f14:abc:de00::/64", "Empty": EMPTY, "PublicSubnet/.DependsOn": "Empty"},
    ),
    # Mounts and scripts.
    Case("HP-MNT-001", ONE, {f"{MOUNT}/MountName": "fsx"}, {}),
    Case("HP-GRP-005", ONE, {f"{MOUNT}/MountPath": "/opt/sagemaker"}, {f"{MOUNT}/MountPath": "/scratch"}),
    Case("HP-SCR-006", ONE, {f"{SCRIPTS}/SourceS3Uri": {"Fn::Sub": "s3://${Scripts}/lifecycle/on_init_complete.sh"}}, {}),
    # Policies of resources, and the order of gateways.
    Case(
        "HP-RET-004",
        ONE,
        {"FileSystem/.UpdateReplacePolicy": "RetainExceptOnCreate"},
        {"FileSystem/.DeletionPolicy": "RetainExceptOnCreate"},
    ),
    Case("HP-RET-005", ONE, {"Data/.DeletionPolicy": "Delete"}, {"Scripts/.DeletionPolicy": "Delete"}),
    Case("HP-DEP-002", ONE, {"PublicDefaultRoute/.DependsOn": REMOVED}, {}),
    Case(
        "HP-EKS-050",
        edited(eks(), {"Control/Name": "research"}),
        {"Cluster/Orchestrator/Eks/ClusterArn": of_eks("other")},
        {"Cluster/Orchestrator/Eks/ClusterArn": of_eks("research")},
    ),
    Case(
        "HP-EKS-050",
        OTHER,
        {"Control/Name": "research", "Proxy/ClusterName": "other"},
        {"Control/Name": "research", "Proxy/ClusterName": "research", "Proxy/.DependsOn": "Control"},
    ),
]


def peered() -> Template:
    """The database in a VPC of its own, over a peering connection with routes there and back."""
    over = {"VpcPeeringConnectionId": {"Ref": "Peering"}}
    rule = {"IpProtocol": "tcp", "FromPort": 3306, "ToPort": 3306}
    there = {"RouteTableId": {"Ref": "NodeRoutes"}, "DestinationCidrBlock": "10.8.0.0/16", **over}
    back = {"RouteTableId": {"Ref": "DataRoutes"}, "DestinationCidrBlock": "10.0.0.0/16", **over}
    linked = {
        f"Link{name}": {
            "Type": "AWS::EC2::SubnetRouteTableAssociation",
            "Properties": {"SubnetId": {"Ref": f"Subnet{name}"}, "RouteTableId": {"Ref": "DataRoutes"}},
        }
        for name in "AB"
    }
    return edited(
        accounting(),
        {
            "Other": SECOND_VPC,
            "Peering": {
                "Type": "AWS::EC2::VPCPeeringConnection",
                "Properties": {"VpcId": {"Ref": "Vpc"}, "PeerVpcId": {"Ref": "Other"}},
            },
            "DataRoutes": {"Type": "AWS::EC2::RouteTable", "Properties": {"VpcId": {"Ref": "Other"}}},
            "There": {"Type": "AWS::EC2::Route", "Properties": there},
            "Back": {"Type": "AWS::EC2::Route", "Properties": back},
            **linked,
            "SubnetA": subnet("10.8.1.0/24", "us-west-2a", "Other"),
            "SubnetB": subnet("10.8.2.0/24", "us-west-2b", "Other"),
            "DatabaseGroup/VpcId": {"Ref": "Other"},
            "ToDatabase/DestinationSecurityGroupId": REMOVED,
            "ToDatabase/CidrIp": "10.8.0.0/16",
            "DatabaseGroup/SecurityGroupIngress": [{**rule, "CidrIp": "10.0.64.0/18"}],
        },
    )


@pytest.mark.parametrize(
    ("base", "wrong", "expected"),
    [
        (peered(), {}, []),
        (peered(), {"There/DestinationCidrBlock": "10.9.0.0/16"}, [("HP-REACH-001", "There")]),
        (peered(), {"There": REMOVED}, [("HP-REACH-001", "NodeRoutes")]),
        (peered(), {"Back/DestinationCidrBlock": "10.0.0.0/24"}, [("HP-REACH-001", "Back")]),
        (peered(), {"Peering": REMOVED, "There": REMOVED, "Back": REMOVED}, [("HP-REACH-001", "Database")]),
        (peered(), {"Peering/PeerVpcId": {"Ref": "Vpc"}}, [("HP-BLK-005", "Peering")]),
        # The place that joins two that both have their own company, or the one that has none.
        (peered(), {"LinkA/RouteTableId": {"Ref": "NodeRoutes"}}, [("HP-REACH-004", "LinkA")]),
        (peered(), {"Subnets/SubnetIds/1": {"Ref": "NodeSubnet"}}, [("HP-REACH-004", "Subnets")]),
        (peered(), {"DatabaseGroup/VpcId": {"Ref": "Vpc"}}, [("HP-REACH-004", "DatabaseGroup")]),
        (peered(), {"Database/VPCSecurityGroups": [{"Ref": "NodeGroup"}]}, [("HP-REACH-004", "Database")]),
        # A group that nothing has, a rule in the wrong group, and a group of which nobody has thought.
        (accounting(), {}, []),
        (accounting(), {"Idle": GROUP, "Database/VPCSecurityGroups": [{"Ref": "Idle"}]}, [("HP-REACH-001", "Database")]),
        (accounting(), {"ToDatabase/GroupId": {"Ref": "DatabaseGroup"}}, [("HP-REACH-001", "ToDatabase")]),
        (accounting(), {"ToDatabase": REMOVED, "DatabaseGroup/SecurityGroupIngress": REMOVED}, [("HP-REACH-001", "Database")]),
    ],
)
def test_the_finding_is_at_what_to_edit(base: Template, wrong: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    assert [(one.rule, one.resource) for one in findings(edited(base, wrong))] == expected


def test_a_public_database_needs_a_gateway() -> None:
    public = edited(
        {"Resources": {"Vpc": SECOND_VPC, "Subnets": subnet_group("A", "B"), "DatabaseGroup": GROUP, "Database": DATABASE}},
        {
            "A": subnet("10.8.1.0/24", "us-west-2a"),
            "B": subnet("10.8.2.0/24", "us-west-2b"),
            "Database/PubliclyAccessible": True,
            "DatabaseGroup/SecurityGroupIngress/0/CidrIp": "10.8.0.0/16",
        },
    )
    attachment = {"VpcId": {"Ref": "Vpc"}, "InternetGatewayId": "igw-0123456789abcdef0"}
    gateway = {"Type": "AWS::EC2::VPCGatewayAttachment", "Properties": attachment}
    attached = edited(public, {"Attachment": gateway, "Database/.DependsOn": "Attachment"})
    assert [(one.rule, one.resource) for one in findings(public)] == [("HP-REACH-005", "Database")]
    assert [one.rule for one in findings(attached)] == ["HP-EXP-004"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rule)
def test_rule(case: Case) -> None:
    case.check()
