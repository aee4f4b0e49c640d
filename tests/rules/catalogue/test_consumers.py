"""What else connects in a VPC: functions, rotations, mounts, copies, resolvers, nodes of EKS; and what listens for them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.catalogue.cases import REMOVED, Case, edited
from tests.rules.catalogue.templates import KEPT, Template, findings, rules_of

USE, LISTEN, BLOCKS = "HP-REACH-006", "HP-REACH-007", "HP-BLK-008"


def ref(name: str) -> Template:
    return {"Ref": name}


def att(name: str, attribute: str = "Arn") -> Template:
    return {"Fn::GetAtt": [name, attribute]}


def ec2(kind: str, **properties: Any) -> Template:
    return {"Type": f"AWS::EC2::{kind}", "Properties": properties}


def subnet(block: str, zone: str) -> Template:
    return {**ec2("Subnet", VpcId=ref("Vpc"), CidrBlock=block, AvailabilityZone=f"us-west-2{zone}"), **KEPT}


def group(*rules: Template) -> Template:
    return ec2("SecurityGroup", GroupDescription="x", VpcId=ref("Vpc"), SecurityGroupIngress=list(rules))


def tcp(port: int, **peer: Any) -> Template:
    return {"IpProtocol": "tcp", "FromPort": port, "ToPort": port, **peer}


def of(name: str) -> Template:
    return {"SourceSecurityGroupId": ref(name)}


def trusting(service: str, *policies: str) -> Template:
    statement = {"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"}
    document = {"Version": "2012-10-17", "Statement": [statement]}
    names = [f"arn:aws:iam::aws:policy/{name}" for name in policies]
    return {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": document, "ManagedPolicyArns": names}}


NETWORK: Template = {
    "Vpc": {**ec2("VPC", CidrBlock="10.0.0.0/16", EnableDnsSupport=True, EnableDnsHostnames=True), **KEPT},
    "Internet": ec2("InternetGateway"),
    "Attachment": ec2("VPCGatewayAttachment", VpcId=ref("Vpc"), InternetGatewayId=ref("Internet")),
    "Public": subnet("10.0.0.0/24", "a"),
    "InnerA": subnet("10.0.1.0/24", "a"),
    "InnerB": subnet("10.0.2.0/24", "b"),
    "Address": {**ec2("EIP", Domain="vpc"), "DependsOn": "Attachment"},
    "Nat": ec2("NatGateway", SubnetId=ref("Public"), AllocationId=att("Address", "AllocationId")),
    "PublicTable": ec2("RouteTable", VpcId=ref("Vpc")),
    "PublicRoute": {
        **ec2("Route", RouteTableId=ref("PublicTable"), DestinationCidrBlock="0.0.0.0/0", GatewayId=ref("Internet")),
        "DependsOn": "Attachment",
    },
    "PublicLink": ec2("SubnetRouteTableAssociation", SubnetId=ref("Public"), RouteTableId=ref("PublicTable")),
    "InnerTable": ec2("RouteTable", VpcId=ref("Vpc")),
    "InnerRoute": ec2("Route", RouteTableId=ref("InnerTable"), DestinationCidrBlock="0.0.0.0/0", NatGatewayId=ref("Nat")),
    **{
        f"Inner{zone}Link": ec2("SubnetRouteTableAssociation", SubnetId=ref(f"Inner{zone}"), RouteTableId=ref("InnerTable"))
        for zone in "AB"
    },
    "Offices": ec2(
        "Route", RouteTableId=ref("InnerTable"), DestinationCidrBlock="192.168.64.0/18", TransitGatewayId="tgw-0123456789abcdef0"
    ),
}
DATABASE: Template = {
    "FunctionGroup": ec2("SecurityGroup", GroupDescription="x", VpcId=ref("Vpc")),
    "DatabaseGroup": group(tcp(3306, **of("FunctionGroup"))),
    "Subnets": {
        "Type": "AWS::RDS::DBSubnetGroup",
        "Properties": {"DBSubnetGroupDescription": "x", "SubnetIds": [ref("InnerA"), ref("InnerB")]},
    },
    "Password": {
        "Type": "AWS::SecretsManager::Secret",
        **KEPT,
        "Properties": {
            "GenerateSecretString": {
                "SecretStringTemplate": '{"username": "slurm"}',
                "GenerateStringKey": "password",
                "ExcludePunctuation": True,
            }
        },
    },
    "Database": {
        "Type": "AWS::RDS::DBInstance",
        "DeletionPolicy": "Snapshot",
        "UpdateReplacePolicy": "Snapshot",
        "Properties": {
            "Engine": "mysql",
            "StorageEncrypted": True,
            "DBInstanceClass": "db.m6g.large",
            "AllocatedStorage": "50",
            "MasterUsername": "slurm",
            "MasterUserPassword": {"Fn::Sub": "{{resolve:secretsmanager:${Password}:SecretString:password}}"},
            "DBSubnetGroupName": ref("Subnets"),
            "VPCSecurityGroups": [ref("DatabaseGroup")],
            "DeletionProtection": True,
        },
    },
    "Attached": {
        "Type": "AWS::SecretsManager::SecretTargetAttachment",
        "Properties": {"SecretId": ref("Password"), "TargetId": ref("Database"), "TargetType": "AWS::RDS::DBInstance"},
    },
    "RotatorRole": trusting("lambda.amazonaws.com", "service-role/AWSLambdaVPCAccessExecutionRole", "SecretsManagerReadWrite"),
    "Rotator": {
        "Type": "AWS::Lambda::Function",
        "Properties": {
            "Runtime": "python3.13",
            "Handler": "rotate.handler",
            "Role": att("RotatorRole"),
            "VpcConfig": {"SubnetIds": [ref("InnerA"), ref("InnerB")], "SecurityGroupIds": [ref("FunctionGroup")]},
            "Code": {"S3Bucket": "functions", "S3Key": "rotate.zip"},
        },
    },
    "RotatorPermission": {
        "Type": "AWS::Lambda::Permission",
        "Properties": {
            "FunctionName": ref("Rotator"),
            "Action": "lambda:InvokeFunction",
            "Principal": "secretsmanager.amazonaws.com",
            "SourceAccount": ref("AWS::AccountId"),
        },
    },
    "Rotation": {
        "Type": "AWS::SecretsManager::RotationSchedule",
        "DependsOn": ["Attached", "RotatorPermission"],
        "Properties": {
            "SecretId": ref("Password"),
            "RotationLambdaARN": att("Rotator"),
            "RotationRules": {"AutomaticallyAfterDays": 30},
        },
    },
}
HOMES: Template = {
    "HomeGroup": group(tcp(2049, **of("FunctionGroup"))),
    "Home": {"Type": "AWS::EFS::FileSystem", **KEPT, "Properties": {"Encrypted": True}},
    **{
        f"Target{zone}": {
            "Type": "AWS::EFS::MountTarget",
            "Properties": {"FileSystemId": ref("Home"), "SubnetId": ref(f"Inner{zone}"), "SecurityGroups": [ref("HomeGroup")]},
        }
        for zone in "AB"
    },
    "Point": {"Type": "AWS::EFS::AccessPoint", "Properties": {"FileSystemId": ref("Home")}},
    "Copies": {
        "Type": "AWS::DataSync::LocationEFS",
        "DependsOn": ["TargetA", "TargetB"],
        "Properties": {
            "EfsFilesystemArn": att("Home"),
            "Ec2Config": {
                "SecurityGroupArns": [{"Fn::Sub": "arn:aws:ec2:us-west-2:123456789012:security-group/${FunctionGroup}"}],
                "SubnetArn": {"Fn::Sub": "arn:aws:ec2:us-west-2:123456789012:subnet/${InnerA}"},
            },
        },
    },
}
NAMES: Template = {
    "ResolverGroup": ec2(
        "SecurityGroup",
        GroupDescription="x",
        VpcId=ref("Vpc"),
        SecurityGroupEgress=[{"IpProtocol": "udp", "FromPort": 53, "ToPort": 53, "CidrIp": "192.168.64.0/18"}],
    ),
    "Resolver": {
        "Type": "AWS::Route53Resolver::ResolverEndpoint",
        "Properties": {
            "Direction": "OUTBOUND",
            "SecurityGroupIds": [ref("ResolverGroup")],
            "IpAddresses": [{"SubnetId": ref("InnerA"), "Ip": "10.0.1.9"}, {"SubnetId": ref("InnerB")}],
        },
    },
    "OfficeNames": {
        "Type": "AWS::Route53Resolver::ResolverRule",
        "Properties": {
            "RuleType": "FORWARD",
            "DomainName": "office.example.org",
            "ResolverEndpointId": ref("Resolver"),
            "TargetIps": [{"Ip": "192.168.64.10"}],
        },
    },
    "OfficesOfVpc": {
        "Type": "AWS::Route53Resolver::ResolverRuleAssociation",
        "Properties": {"ResolverRuleId": att("OfficeNames", "ResolverRuleId"), "VPCId": ref("Vpc")},
    },
}
CONTROL: Template = {
    "ControlRole": trusting("eks.amazonaws.com", "AmazonEKSClusterPolicy"),
    "Control": {
        "Type": "AWS::EKS::Cluster",
        "Properties": {
            "Version": "1.33",
            "RoleArn": att("ControlRole"),
            "ResourcesVpcConfig": {"SubnetIds": [ref("InnerA"), ref("InnerB")], "EndpointPrivateAccess": True},
        },
    },
    "WorkRole": trusting(
        "ec2.amazonaws.com", "AmazonEKSWorkerNodePolicy", "AmazonEKS_CNI_Policy", "AmazonEC2ContainerRegistryPullOnly"
    ),
    "Work": {
        "Type": "AWS::EKS::Nodegroup",
        "Properties": {"ClusterName": ref("Control"), "NodeRole": att("WorkRole"), "Subnets": [ref("InnerA"), ref("InnerB")]},
    },
}
SITE: Template = {
    "Vpn": ec2("VPNGateway", Type="ipsec.1"),
    "Attached": ec2("VPCGatewayAttachment", VpcId=ref("Vpc"), VpnGatewayId=ref("Vpn")),
    "Customer": ec2("CustomerGateway", Type="ipsec.1", BgpAsn=65010, IpAddress="198.51.100.24"),
    "Tunnel": ec2(
        "VPNConnection", Type="ipsec.1", CustomerGatewayId=ref("Customer"), VpnGatewayId=ref("Vpn"), StaticRoutesOnly=True
    ),
    "Behind": ec2("VPNConnectionRoute", VpnConnectionId=ref("Tunnel"), DestinationCidrBlock="172.16.0.0/16"),
    "Propagated": {
        **ec2("VPNGatewayRoutePropagation", RouteTableIds=[ref("InnerTable")], VpnGatewayId=ref("Vpn")),
        "DependsOn": "Attached",
    },
    "NamesGroup": group(tcp(53, CidrIp="172.16.0.0/16"), {**tcp(53, CidrIp="172.16.0.0/16"), "IpProtocol": "udp"}),
    "Names": {
        "Type": "AWS::Route53Resolver::ResolverEndpoint",
        "Properties": {
            "Direction": "INBOUND",
            "SecurityGroupIds": [ref("NamesGroup")],
            "IpAddresses": [{"SubnetId": ref("InnerA")}, {"SubnetId": ref("InnerB")}],
        },
    },
}
DATA: Template = {"Resources": {**NETWORK, **DATABASE, **HOMES}}
SITES: Template = {"Resources": {**NETWORK, **SITE}}
OUT_TO_HOME = {"IpProtocol": "tcp", "FromPort": 2049, "ToPort": 2049, "DestinationSecurityGroupId": ref("HomeGroup")}
OUT_TO_DATABASE = {"IpProtocol": "tcp", "FromPort": 3306, "ToPort": 3306, "DestinationSecurityGroupId": ref("DatabaseGroup")}
TO_DATABASE = {"Outward": ec2("SecurityGroupEgress", GroupId=ref("FunctionGroup"), **OUT_TO_DATABASE)}
TO_BOTH = {**TO_DATABASE, "Homeward": ec2("SecurityGroupEgress", GroupId=ref("FunctionGroup"), **OUT_TO_HOME)}
SHUT = {"FunctionGroup/SecurityGroupEgress": [tcp(443, CidrIp="0.0.0.0/0")], "Copies": REMOVED}
OFFICES: Template = {"Resources": {**NETWORK, **NAMES}}
NODES: Template = {"Resources": {**NETWORK, **CONTROL}}
CASES = [
    # A rotation reaches the database
    Case(
        USE, DATA, {"DatabaseGroup/SecurityGroupIngress/0/FromPort": 3305, "DatabaseGroup/SecurityGroupIngress/0/ToPort": 3305}, {}
    ),
    Case(USE, DATA, {"FunctionGroup/SecurityGroupEgress": [tcp(443, CidrIp="0.0.0.0/0")]}, {}),
    Case(
        USE,
        DATA,
        {"Rotator/VpcConfig": REMOVED},
        {"Rotator/VpcConfig": REMOVED, "Database/DBSubnetGroupName": ref("AWS::NoValue"), "Database/VPCSecurityGroups": REMOVED},
    ),
    # A resolver reaches the servers of its rules
    Case(USE, OFFICES, {"ResolverGroup/SecurityGroupEgress/0/IpProtocol": "tcp"}, {}),
    Case(
        USE,
        OFFICES,
        {"Offices": REMOVED},
        {"Offices": REMOVED, "OfficeNames/TargetIps/0/Ip": "10.0.2.53"}
        | {"ResolverGroup/SecurityGroupEgress/0/CidrIp": "10.0.0.0/16"},
    ),
    Case(USE, OFFICES, {"Offices/DestinationCidrBlock": "172.16.0.0/12"}, {"Offices/DestinationCidrBlock": "192.168.0.0/16"}),
    Case("HP-TXT-012", OFFICES, {"Resolver/Direction": "INBOUND"}, {}),
    # Nodes of EKS reach images
    Case(USE, NODES, {"InnerRoute": REMOVED}, {}),
    Case(USE, NODES, {"InnerBLink": REMOVED}, {"Work/Subnets/1": ref("InnerA"), "InnerBLink": REMOVED}),
    Case(USE, NODES, {"Work/Subnets": [ref("Public")]}, {"Work/Subnets": [ref("Public")], "Public/MapPublicIpOnLaunch": True}),
    # A NAT gateway has a way
    Case(USE, {"Resources": NETWORK}, {"PublicLink": REMOVED}, {"PublicLink": REMOVED, "InnerRoute": REMOVED}),
    Case(USE, {"Resources": NETWORK}, {"Nat/SubnetId": ref("InnerA")}, {}),
    # What listens lets somebody in
    Case(LISTEN, DATA, {"HomeGroup/SecurityGroupIngress/0": tcp(2094, **of("FunctionGroup")), "Copies": REMOVED}, {}),
    Case(LISTEN, DATA, {"HomeGroup/SecurityGroupIngress/0": tcp(2049, **of("DatabaseGroup")), "Copies": REMOVED}, {}),
    Case(
        LISTEN,
        DATA,
        {"HomeGroup/SecurityGroupIngress/0": tcp(2049, CidrIp="10.1.0.0/16"), "Copies": REMOVED},
        {"HomeGroup/SecurityGroupIngress/0": tcp(2049, CidrIp="192.168.65.0/24"), "Copies": REMOVED},
    ),
    Case(LISTEN, DATA, SHUT | TO_DATABASE, SHUT | TO_BOTH),
    Case(LISTEN, SITES, {"NamesGroup/SecurityGroupIngress/1": REMOVED}, {"NamesGroup/SecurityGroupIngress/1/IpProtocol": "-1"}),
    Case(LISTEN, SITES, {"NamesGroup/SecurityGroupIngress/0": REMOVED}, {"NamesGroup/SecurityGroupIngress/0/IpProtocol": "-1"}),
    # A site has a route, and is no part of the VPC
    Case(
        "HP-DEP-005",
        SITES,
        {"Propagated": REMOVED},
        {"Propagated": REMOVED}
        | {
            "ToSite": {
                **ec2("Route", RouteTableId=ref("InnerTable"), DestinationCidrBlock="172.16.0.0/16", GatewayId=ref("Vpn")),
                "DependsOn": "Attached",
            }
        },
    ),
    Case("HP-BLK-011", SITES, {"Behind/DestinationCidrBlock": "10.0.64.0/18"}, {"Behind/DestinationCidrBlock": "10.0.0.0/8"}),
    # Chosen addresses
    Case(BLOCKS, OFFICES, {"Resolver/IpAddresses/0/Ip": "10.0.2.9"}, {"Resolver/IpAddresses/0/Ip": "10.0.1.254"}),
    Case(BLOCKS, OFFICES, {"Resolver/IpAddresses/0/Ip": "10.0.1.3"}, {"Resolver/IpAddresses/0/Ip": "10.0.1.4"}),
    Case(BLOCKS, OFFICES, {"Resolver/IpAddresses/1": {"SubnetId": ref("InnerA"), "Ip": "10.0.1.9"}}, {}),
    Case(BLOCKS, DATA, {"TargetA/IpAddress": "10.0.1.255"}, {"TargetA/IpAddress": "10.0.1.200"}),
    # Numbers and bits of addresses
    Case("HP-BLK-009", OFFICES, {"OfficeNames/TargetIps/0/Ip": "192.168.640.10"}, {}),
    Case("HP-BLK-010", OFFICES, {"InnerB/CidrBlock": "10.0.2.7/24"}, {}),
    Case("HP-BLK-010", OFFICES, {"Offices/DestinationCidrBlock": "192.168.65.0/18"}, {}),
    Case(
        "HP-BLK-007",
        OFFICES,
        {"Offices/DestinationCidrBlock": "10.0.2.0/24"} | {"Resolver": REMOVED, "OfficeNames": REMOVED, "OfficesOfVpc": REMOVED},
        {},
    ),
    # Zones, and networks beyond the VPC
    Case("HP-SUB-016", DATA, {"TargetB/SubnetId": ref("InnerA")}, {}),
    Case(
        "HP-BLK-011",
        NODES,
        {"Control/RemoteNetworkConfig": {"RemoteNodeNetworks": [{"Cidrs": ["10.0.64.0/18"]}]}},
        {"Control/RemoteNetworkConfig": {"RemoteNodeNetworks": [{"Cidrs": ["10.64.0.0/18"]}]}},
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rule)
def test_rule(case: Case) -> None:
    case.check()


@pytest.mark.parametrize("base", [DATA, OFFICES, NODES, SITES])
def test_bases_are_correct(base: Template) -> None:
    assert rules_of(base) == []


def test_a_function_mounts_by_a_target_that_lets_it_in() -> None:
    mounted = edited(DATA, {"Rotator/FileSystemConfigs": [{"Arn": att("Point"), "LocalMountPath": "/mnt/home"}]})
    shut = edited(mounted, {"HomeGroup/SecurityGroupIngress/0": tcp(2049, CidrIp="10.0.0.0/24"), "Copies": REMOVED})
    assert rules_of(mounted, rules="HP-REACH") == []
    assert [(one.rule, one.resource) for one in findings(shut, rules="HP-REACH")] == [(USE, "HomeGroup")]


def test_copies_have_the_groups_of_their_location() -> None:
    shut = edited(
        DATA,
        {"Copies/Ec2Config/SecurityGroupArns/0/Fn::Sub": "arn:aws:ec2:us-west-2:${AWS::AccountId}:security-group/${DatabaseGroup}"},
    )
    assert [(one.rule, one.resource) for one in findings(shut, rules="HP-REACH")] == [(USE, "HomeGroup")]


def test_one_cause_is_one_finding() -> None:
    several = edited({"Resources": {**NETWORK, **DATABASE, **HOMES, **CONTROL}}, {"PublicRoute": REMOVED})
    assert [(one.rule, one.resource) for one in findings(several, rules="HP-REACH")] == [(USE, "Nat")]


def test_zones_that_do_not_go_together_are_one_finding() -> None:
    together = edited({"Resources": {**NETWORK, **DATABASE, **HOMES, **CONTROL}}, {"InnerB/AvailabilityZone": "us-west-2a"})
    assert len(findings(together)) == 1


def test_a_role_that_may_not_join_the_network_is_a_mistake_beside_a_way_that_ends() -> None:
    """Whoever opens the way has the function fail no less."""
    shut = {"DatabaseGroup/SecurityGroupIngress": [tcp(3305, **of("FunctionGroup"))], "Copies": REMOVED}
    alone = {"RotatorRole": trusting("lambda.amazonaws.com", "service-role/AWSLambdaBasicExecutionRole", "SecretsManagerReadWrite")}
    assert [one.resource for one in findings(edited(DATA, shut))] == ["DatabaseGroup"]
    found = findings(edited(DATA, {**shut, **alone}))
    assert {(one.rule, one.resource) for one in found} == {(USE, "DatabaseGroup"), ("HP-PERM-001", "RotatorRole")}


def test_the_default_subnet_group_is_in_the_default_vpc() -> None:
    (found,) = findings(edited(DATA, {"Database/DBSubnetGroupName": "default"}), rules="HP-TXT")
    assert (found.rule, found.resource) == ("HP-TXT-012", "Database")
    assert found.message == "DatabaseGroup is in a VPC of its own, and a database in the subnet group default in the default one"
