"""Address blocks: inside, apart, awaited and large enough."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.templates.model import Model
from tests.rules.catalogue.cases import REMOVED, Case, edited
from tests.rules.catalogue.templates import KEPT, Template, findings, rules_of, slurm
from tests.rules.catalogue.test_file_systems import openzfs
from tests.rules.catalogue.test_network import OPERATION, closed

VPC = {"Ref": "Vpc"}
FOREIGN = "vpc-0123456789abcdef0"
ADDED = {"Type": "AWS::EC2::VPCCidrBlock", "Properties": {"VpcId": VPC, "CidrBlock": "10.1.0.0/16"}}


def subnet(block: Any, vpc: Any = None, **more: Any) -> Template:
    properties = {"VpcId": vpc or VPC, "CidrBlock": block, "AvailabilityZone": "us-west-2b"}
    return {"Type": "AWS::EC2::Subnet", **KEPT, **more, "Properties": properties}


def part(index: int, block: Any = None, count: int = 4, bits: int = 14) -> Template:
    """A part of the VPC's block."""
    return {"Fn::Select": [index, {"Fn::Cidr": [block or {"Fn::GetAtt": ["Vpc", "CidrBlock"]}, count, bits]}]}


IN_SMALL = {"FileSystem/SubnetIds": [{"Ref": "Small"}], "FileSystem/StorageCapacity": 48000}
RESERVED = "198.19.0.0/16"
SLURM = slurm()
WITH_BLOCK = edited(SLURM, {"Added": ADDED})
RANGE = "Home/OpenZFSConfiguration/EndpointIpAddressRange"
OTHER_VPC = {"Other": {"Type": "AWS::EC2::VPC", **KEPT, "Properties": {"CidrBlock": "10.8.0.0/16"}}}
PEERING = {"Type": "AWS::EC2::VPCPeeringConnection", "Properties": {"VpcId": VPC, "PeerVpcId": {"Ref": "Other"}}}
TO_OTHER = {
    "Type": "AWS::EC2::Route",
    "Properties": {
        "RouteTableId": {"Ref": "NodeRoutes"},
        "DestinationCidrBlock": "10.8.0.0/16",
        "VpcPeeringConnectionId": {"Ref": "Peering"},
    },
}
PEERED = edited(WITH_BLOCK, {**OTHER_VPC, "Peering": PEERING, "ToOther": TO_OTHER})

IPV6 = {"Type": "AWS::EC2::VPCCidrBlock", "Properties": {"VpcId": VPC, "AmazonProvidedIpv6CidrBlock": True}}
LOCAL = {"Type": "AWS::EC2::Route", "Properties": {"RouteTableId": {"Ref": "NodeRoutes"}, "NatGatewayId": "nat-0123456789abcdef0"}}

CASES = [
    # IPv6, and routes to the own VPC
    Case(
        "HP-BLK-006",
        edited(SLURM, {"NodeSubnet/Ipv6CidrBlock": "2600:1f14:abc:de00::/64", "Six": IPV6, "NodeSubnet/.DependsOn": "Six"}),
        {"Six": REMOVED},
        {},
    ),
    Case(
        "HP-BLK-007",
        edited(SLURM, {"Local": LOCAL}),
        {"Local/DestinationCidrBlock": "10.0.0.0/16"},
        {"Local/DestinationCidrBlock": "10.8.0.0/16"},
    ),
    # Subnets in their VPC, and apart from each other
    Case("HP-BLK-002", SLURM, {"More": subnet("10.1.0.0/24")}, {"More": subnet("10.0.5.0/24")}),
    Case("HP-BLK-002", SLURM, {"More": subnet("10.0.0.128/25")}, {"More": subnet("10.0.1.0/25")}),
    Case("HP-BLK-002", SLURM, {"More": subnet("10.0.9.0/29")}, {"More": subnet("10.0.1.0/28")}),
    Case("HP-BLK-002", SLURM, {"More": subnet(part(1))}, {"More": subnet(part(2))}),
    Case("HP-BLK-002", SLURM, {"More": subnet("10.0.64.0/18")}, {"More": subnet({"Ref": "AWS::StackName"})}),
    Case(
        "HP-BLK-002",
        edited(SLURM, OTHER_VPC),
        {"More": subnet("10.0.9.0/24", {"Ref": "Other"})},
        {"More": subnet("10.8.9.0/24", {"Ref": "Other"})},
    ),
    Case(
        "HP-BLK-002",
        SLURM,
        {"One": subnet("10.9.0.0/24", FOREIGN), "Two": subnet("10.9.0.0/25", FOREIGN)},
        {"One": subnet("10.9.0.0/24", FOREIGN), "Two": subnet("10.9.0.0/25", "vpc-0fedcba9876543210")},
    ),
    Case("HP-BLK-002", SLURM, {"Vpc/CidrBlock": "10.0.0.0/17", "More": subnet("10.0.200.0/24")}, {}),
    # Further blocks
    Case("HP-BLK-003", WITH_BLOCK, {"More": subnet("10.1.0.0/24")}, {"More": subnet("10.1.0.0/24", DependsOn="Added")}),
    Case("HP-BLK-003", WITH_BLOCK, {"More": subnet("10.1.0.0/24", DependsOn="Gateway")}, {"More": subnet("10.0.5.0/24")}),
    Case("HP-BLK-001", WITH_BLOCK, {"Twin": ADDED}, {"Twin": {**ADDED, "Properties": {"VpcId": VPC, "CidrBlock": "10.2.0.0/16"}}}),
    Case("HP-BLK-001", WITH_BLOCK, {"Added/CidrBlock": "10.0.128.0/17"}, {"Added/CidrBlock": "100.64.0.0/16"}),
    Case(
        "HP-BLK-001",
        WITH_BLOCK,
        {"Added/CidrBlock": RESERVED},
        {"Added/VpcId": FOREIGN, "Added/CidrBlock": RESERVED},
    ),
    # Peered VPCs
    Case("HP-BLK-005", PEERED, {"Other/CidrBlock": "10.0.128.0/17"}, {"Other/CidrBlock": {"Ref": "AWS::StackName"}}),
    Case("HP-BLK-005", PEERED, {"Added/CidrBlock": "10.8.128.0/17"}, {"Peering/PeerVpcId": FOREIGN}),
    # Endpoints and servers of file systems
    Case(
        "HP-SUB-001",
        SLURM,
        {"Small": subnet("10.0.9.0/28"), **IN_SMALL},
        {"Small": subnet("10.0.9.0/24"), **IN_SMALL},
    ),
]


@pytest.mark.parametrize("case", CASES)
def test_rule(case: Case) -> None:
    case.check()


@pytest.mark.parametrize(("block", "found"), [("10.0.64.0/28", True), ("10.0.9.0/28", False), ("10.0.0.0/16", True)])
def test_endpoints_of_file_systems_are_in_no_subnet(block: str, found: bool) -> None:
    template = edited(openzfs(), {RANGE: block})
    assert ("HP-BLK-004" in rules_of(template)) is found


def test_a_subnet_of_a_vpc_with_blocks_that_nobody_knows_is_believed() -> None:
    unknown = {"Type": "AWS::EC2::VPCCidrBlock", "Properties": {"VpcId": VPC, "CidrBlock": {"Ref": "AWS::StackName"}}}
    assert rules_of(edited(SLURM, {"More": subnet("10.1.0.0/24"), "Added": unknown})) == []
    pool = {"Type": "AWS::EC2::VPCCidrBlock", "Properties": {"VpcId": VPC, "Ipv4IpamPoolId": "ipam-1", "Ipv4NetmaskLength": 16}}
    assert rules_of(edited(SLURM, {"More": subnet("10.1.0.0/24"), "Added": pool})) == []


def test_one_of_two_subnets_under_a_condition_is_believed() -> None:
    template = edited(SLURM, {"More": subnet("10.0.0.0/25", Condition="Maybe")})
    template["Parameters"] = {"P": {"Type": "String"}}
    template["Conditions"] = {"Maybe": {"Fn::Equals": [{"Ref": "AWS::StackName"}, "yes"]}}
    assert rules_of(template) == []
    template["Conditions"] = {"Maybe": {"Fn::Equals": [{"Ref": "P"}, "yes"]}}
    assert rules_of(template) == ["HP-BLK-002"]


def test_a_subnet_of_another_stack_awaits_the_block_by_its_export() -> None:
    network = edited(SLURM, {"Added": ADDED})
    network["Outputs"] = {"Vpc": {"Value": VPC, "Export": {"Name": "net"}}}
    more = subnet("10.1.0.0/24", {"Fn::ImportValue": "net"})
    assert rules_of(network, {"Resources": {"More": more}}) == []
    more["Properties"]["CidrBlock"] = "10.2.0.0/24"
    assert rules_of(network, {"Resources": {"More": more}}) == ["HP-BLK-002"]


def test_stages_that_share_ids_are_judged_each() -> None:
    """Two stages of one stack class in the same, imported subnet: their groups have the same names and the same cluster id."""
    network = {"Resources": {"Vpc": SLURM["Resources"]["Vpc"], "NodeSubnet": subnet("10.0.64.0/26")}}
    network["Outputs"] = {"Subnet": {"Value": {"Ref": "NodeSubnet"}, "Export": {"Name": "subnet"}}}
    group = {
        "InstanceGroupName": "cpu",
        "InstanceType": "ml.m5.xlarge",
        "InstanceCount": 20,
        "ExecutionRole": "arn:x",
    }
    vpc = {"Subnets": [{"Fn::ImportValue": "subnet"}], "SecurityGroupIds": ["sg-1"]}
    cluster = {"Type": "AWS::SageMaker::Cluster", "Properties": {"InstanceGroups": [group], "VpcConfig": vpc}}
    stage = {"Resources": {"Cluster": cluster}}
    assert "HP-SUB-001" not in rules_of(network, stage, stage)
    assert "HP-SUB-001" in rules_of(network, stage, stage, stage)


def test_a_message_names_a_dozen_groups_at_most() -> None:
    template = edited(SLURM, {"S3Endpoint": REMOVED, "NodeDefaultRoute": REMOVED})
    groups = template["Resources"]["Cluster"]["Properties"]["InstanceGroups"]
    groups += [{**groups[-1], "InstanceGroupName": f"more-{index}", "InstanceCount": 0} for index in range(90)]
    (finding,) = findings(template, rules="HP-REACH")
    assert ", more-8, 81 more cannot reach S3" in finding.message


def test_thousands_of_subnets_are_judged_in_time() -> None:
    resources = {f"S{index}": subnet(f"10.{index // 256 % 256}.{index % 256}.0/24", FOREIGN) for index in range(5000)}
    assert Model.of({"t": {"Resources": resources}}).resources()
    assert rules_of({"Resources": resources}) == []


def test_a_subnet_outside_of_its_vpc_is_one_mistake() -> None:
    """The groups that admit the block of the VPC do not admit it, which is the same mistake."""
    https = {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "CidrIp": {"Fn::GetAtt": ["Vpc", "CidrBlock"]}}
    group = {"GroupDescription": "endpoints", "VpcId": VPC, "SecurityGroupIngress": [https]}
    endpoints = {"Endpoints": {"Type": "AWS::EC2::SecurityGroup", "Properties": group}}
    right = edited(closed(slurm(), *OPERATION), {**endpoints, "Endpoint0/SecurityGroupIds": [{"Ref": "Endpoints"}]})
    assert rules_of(right) == []
    assert rules_of(edited(right, {"NodeSubnet/CidrBlock": "10.9.0.0/18"})) == ["HP-BLK-002"]
