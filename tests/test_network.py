from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from aws_cdk import App, CfnParameter, Fn, RemovalPolicy, Stack
from aws_cdk import aws_ec2 as ec2

from hyperpod_constructs import ClusterNetwork
from tests.conftest import ZONE, only, resources


def test_the_nodes_share_one_subnet_of_a_secondary_block(stack: Stack, network: ClusterNetwork) -> None:
    subnets = resources(stack, "AWS::EC2::Subnet")
    blocks = {subnet["Properties"]["CidrBlock"]: subnet for subnet in subnets.values()}
    assert set(blocks) == {"10.0.0.0/24", "10.1.0.0/16"}
    assert {subnet["Properties"]["AvailabilityZoneId"] for subnet in subnets.values()} == {ZONE}
    assert not any(subnet["Properties"]["MapPublicIpOnLaunch"] for subnet in subnets.values())
    (block_id,) = resources(stack, "AWS::EC2::VPCCidrBlock")
    assert block_id in blocks["10.1.0.0/16"]["DependsOn"]


def test_the_group_admits_itself_by_id_in_both_directions(stack: Stack, network: ClusterNetwork) -> None:
    ingress = only(stack, "AWS::EC2::SecurityGroupIngress")["Properties"]
    egress = only(stack, "AWS::EC2::SecurityGroupEgress")["Properties"]
    assert ingress["IpProtocol"] == egress["IpProtocol"] == "-1"
    assert ingress["GroupId"] == ingress["SourceSecurityGroupId"] == egress["GroupId"] == egress["DestinationSecurityGroupId"]
    assert "CidrIp" not in ingress


def test_outwards_only_web_ports_unless_more_are_asked_for(stack: Stack) -> None:
    ClusterNetwork(stack, "Network", availability_zone_id=ZONE, egress_ports=[ec2.Port.udp(123)])
    rules = only(stack, "AWS::EC2::SecurityGroup")["Properties"]["SecurityGroupEgress"]
    assert {(rule["IpProtocol"], rule["FromPort"]) for rule in rules} == {("tcp", 443), ("tcp", 80), ("udp", 123)}


def test_the_node_subnet_leaves_by_nat_and_reaches_s3_by_a_gateway_endpoint(stack: Stack, network: ClusterNetwork) -> None:
    endpoint = only(stack, "AWS::EC2::VPCEndpoint")["Properties"]
    tables = {id for id in resources(stack, "AWS::EC2::RouteTable") if "Node" in id}
    assert [table["Fn::GetAtt"][0] for table in endpoint["RouteTableIds"]] == list(tables)
    routes = [route["Properties"] for route in resources(stack, "AWS::EC2::Route").values()]
    assert [route["RouteTableId"]["Fn::GetAtt"][0] for route in routes if "NatGatewayId" in route] == list(tables)


def test_the_network_of_a_file_system_stays_with_it(stack: Stack, network: ClusterNetwork) -> None:
    kept = {id for id, resource in resources(stack).items() if resource.get("DeletionPolicy") == "RetainExceptOnCreate"}
    types = {resources(stack)[id]["Type"] for id in kept}
    assert types == {"AWS::EC2::VPC", "AWS::EC2::VPCCidrBlock", "AWS::EC2::Subnet", "AWS::Logs::LogGroup"}
    assert not any("Public" in id for id in kept)


def test_destroy_keeps_nothing_of_the_network(stack: Stack) -> None:
    ClusterNetwork(stack, "Network", availability_zone_id=ZONE, removal_policy=RemovalPolicy.DESTROY)
    for resource_type in ("AWS::EC2::VPC", "AWS::EC2::VPCCidrBlock", "AWS::EC2::Subnet"):
        assert {resource.get("DeletionPolicy", "Delete") for resource in resources(stack, resource_type).values()} == {"Delete"}


def test_the_vpc_offers_its_subnets_to_other_constructs(network: ClusterNetwork, stack: Stack) -> None:
    private = network.vpc.select_subnets(subnet_type=ec2.SubnetType.PRIVATE_WITH_EGRESS)
    assert stack.resolve(private.subnet_ids) == [stack.resolve(network.node_subnet.subnet_id)]


def test_a_zone_by_name(stack: Stack) -> None:
    ClusterNetwork(stack, "Network", availability_zone="us-west-2b")
    for subnet in resources(stack, "AWS::EC2::Subnet").values():
        assert subnet["Properties"]["AvailabilityZone"] == "us-west-2b"
        assert "AvailabilityZoneId" not in subnet["Properties"]


def test_takes_tokens(stack: Stack) -> None:
    texts = {name: CfnParameter(stack, name).value_as_string for name in ("Zone", "Cidr", "NodeCidr")}
    port = CfnParameter(stack, "Port", type="Number").value_as_number
    ClusterNetwork(
        stack,
        "Network",
        availability_zone_id=texts["Zone"],
        cidr=texts["Cidr"],
        node_cidr=texts["NodeCidr"],
        egress_ports=[ec2.Port.tcp(port)],
    )
    subnets = [subnet["Properties"] for subnet in resources(stack, "AWS::EC2::Subnet").values()]
    assert {"Ref": "NodeCidr"} in [subnet["CidrBlock"] for subnet in subnets]
    assert all(subnet["AvailabilityZoneId"] == {"Ref": "Zone"} for subnet in subnets)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({}, "found neither; write availability_zone_id="),
        ({"availability_zone_id": ZONE, "availability_zone": "us-west-2a"}, "found both (usw2-az4, us-west-2a)"),
        (
            {"availability_zone": "usw2-az4", "availability_zone_id": None},
            "'usw2-az4' is a zone id, which belongs in availability_zone_id",
        ),
        ({"availability_zone_id": "us-west-2a"}, "'us-west-2a' is not a zone id; a name belongs in availability_zone"),
        ({"availability_zone_id": ZONE, "cidr": "10.0.0.0"}, "'10.0.0.0' is a /32; a VPC block is a /16 to a /28"),
        ({"availability_zone_id": ZONE, "node_cidr": "10.1.0.1/16"}, "'10.1.0.1/16' is not an IPv4 block"),
        (
            {"availability_zone_id": ZONE, "node_cidr": "172.16.0.0/16"},
            "beside a block of 10.0.0.0/8, EC2 takes none of 172.16.0.0/12",
        ),
        (
            {"availability_zone_id": ZONE, "cidr": "10.1.0.0/16", "node_cidr": "10.0.0.0/16"},
            "'10.0.0.0/16' cannot be added to a VPC with 10.1.0.0/16: beside a block of 10.0.0.0/15, EC2 takes none of 10.0.0.0/16",
        ),
        ({"availability_zone_id": ZONE, "cidr": "169.254.0.0/16"}, "is link-local"),
        ({"availability_zone_id": ZONE, "node_cidr": "10.0.64.0/18"}, "overlaps 10.0.0.0/16 of the VPC"),
    ],
)
def test_fails_with_the_path_the_value_and_the_fix(stack: Stack, parameters: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=r"^Stack/Network: ") as caught:
        ClusterNetwork(stack, "Network", **parameters)  # type: ignore[arg-type]
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("region", "zone"),
    [
        ("us-west-2", "usw2-az4"),
        ("us-east-1", "use1-az1"),
        ("ap-southeast-1", "apse1-az2"),
        ("ap-northeast-2", "apne2-az1"),
        ("eu-central-1", "euc1-az3"),
        ("us-gov-west-1", "usgw1-az1"),
        ("cn-northwest-1", "cnnw1-az1"),
    ],
)
def test_zone_ids_of_the_region_pass(make_stack: Callable[..., Stack], region: str, zone: str) -> None:
    network = ClusterNetwork(make_stack(region), "Network", availability_zone_id=zone)
    assert network.node_subnet is not None


def test_fails_on_a_zone_of_another_region(make_stack: Callable[..., Stack]) -> None:
    with pytest.raises(ValueError, match="'use1-az1' is not in region us-west-2, whose zone ids start with usw2-az"):
        ClusterNetwork(make_stack("us-west-2"), "Network", availability_zone_id="use1-az1")


def test_a_change_that_replaces_the_subnet_is_one_of_zone_or_block() -> None:
    def node_subnet(**changes: str) -> dict[str, object]:
        stack = Stack(App(), "Stack")
        parameters = {"availability_zone_id": ZONE, **changes}
        ClusterNetwork(stack, "Network", **parameters)  # type: ignore[arg-type]
        return next(
            {key: value for key, value in subnet["Properties"].items() if key != "Tags"}
            for id, subnet in resources(stack, "AWS::EC2::Subnet").items()
            if "NodeSubnet" in id
        )

    assert node_subnet() == node_subnet(cidr="10.8.0.0/16")
    assert node_subnet() != node_subnet(node_cidr="10.2.0.0/16")
    assert node_subnet() != node_subnet(availability_zone_id="usw2-az1")


def test_a_further_node_subnet_is_in_its_zone_leaves_by_nat_and_reaches_s3(stack: Stack, network: ClusterNetwork) -> None:
    subnet = network.add_node_subnet("Second", cidr="10.2.0.0/16", availability_zone_id="usw2-az1")
    (made,) = [one for one in resources(stack, "AWS::EC2::Subnet").values() if one["Properties"]["CidrBlock"] == "10.2.0.0/16"]
    assert made["Properties"]["AvailabilityZoneId"] == "usw2-az1"
    assert made["DeletionPolicy"] == "RetainExceptOnCreate"
    assert (subnet.ipv4_cidr_block, len(resources(stack, "AWS::EC2::VPCCidrBlock"))) == ("10.2.0.0/16", 2)
    leaving = [one["Properties"] for one in resources(stack, "AWS::EC2::Route").values() if "NatGatewayId" in one["Properties"]]
    tables = only(stack, "AWS::EC2::VPCEndpoint")["Properties"]["RouteTableIds"]
    assert [route["RouteTableId"] for route in leaving] == tables
    assert len({str(table) for table in tables}) == 2


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"availability_zone_id": "usw2-az1", "cidr": "10.1.0.0/24"},
            "Network/X: cidr '10.1.0.0/24' overlaps 10.1.0.0/16 of the VPC",
        ),
        ({"availability_zone_id": "usw2-az1", "cidr": "10.2.0.0/8"}, "cidr '10.2.0.0/8' is not an IPv4 block"),
        (
            {"availability_zone_id": "usw2-az1", "cidr": "192.168.0.0/16"},
            "cidr '192.168.0.0/16' cannot be added to a VPC",
        ),
        (
            {"cidr": "10.2.0.0/16"},
            "exactly one of availability_zone_id and availability_zone is required, found neither",
        ),
    ],
)
def test_fails_on_a_further_node_subnet_that_the_vpc_cannot_have(
    network: ClusterNetwork, parameters: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=r"^Stack/Network/X: ") as caught:
        network.add_node_subnet("X", **parameters)
    assert message in str(caught.value)


def test_existing_networks_are_taken_as_they_are(stack: Stack) -> None:
    vpc = ec2.Vpc.from_vpc_attributes(stack, "Vpc", vpc_id="vpc-1", availability_zones=["us-west-2a"])
    subnet = ec2.Subnet.from_subnet_attributes(stack, "Subnet", subnet_id="subnet-1", ipv4_cidr_block="10.9.0.0/20")
    group = ec2.SecurityGroup.from_security_group_id(stack, "Group", Fn.import_value("group"))
    network = ClusterNetwork.from_attributes(vpc=vpc, node_subnet=subnet, security_group=group)
    assert (network.vpc, network.node_subnet, network.security_group) == (vpc, subnet, group)


def test_a_control_plane_s_subnet_is_a_part_of_the_vpc(stack: Stack, network: ClusterNetwork) -> None:
    network.add_control_plane_subnet("ControlPlane", cidr="10.0.1.0/28", availability_zone_id="usw2-az1")
    found = resources(stack)
    (name,) = [id for id, one in found.items() if one.get("Properties", {}).get("CidrBlock") == "10.0.1.0/28"]
    subnet = found[name]
    assert subnet["Type"] == "AWS::EC2::Subnet"
    assert subnet["Properties"]["AvailabilityZoneId"] == "usw2-az1"
    assert "DeletionPolicy" not in subnet, "it would take its block from the next one"
    (table,) = [
        one["Properties"]["RouteTableId"]["Fn::GetAtt"][0]
        for one in found.values()
        if one["Type"] == "AWS::EC2::SubnetRouteTableAssociation" and one["Properties"]["SubnetId"]["Fn::GetAtt"][0] == name
    ]
    routes = [one["Properties"] for one in found.values() if one["Type"] == "AWS::EC2::Route"]
    assert [set(route) & {"NatGatewayId"} for route in routes if route["RouteTableId"]["Fn::GetAtt"][0] == table] == [
        {"NatGatewayId"}
    ]
    tables = only(stack, "AWS::EC2::VPCEndpoint")["Properties"]["RouteTableIds"]
    assert table in {one["Fn::GetAtt"][0] for one in tables}


@pytest.mark.parametrize(
    ("cidr", "text"),
    [
        ("10.1.0.0/28", "cidr '10.1.0.0/28' is outside the VPC's 10.0.0.0/16; write cidr=\"10.0.1.16/28\""),
        ("10.0.0.16/28", "cidr '10.0.0.16/28' overlaps the subnet 10.0.0.0/24; write cidr=\"10.0.1.16/28\""),
        ("10.0.1.0/24", "cidr '10.0.1.0/24' overlaps the subnet 10.0.1.0/28; write cidr=\"10.0.1.16/28\""),
    ],
)
def test_fails_on_a_control_plane_s_subnet_that_is_no_free_part(network: ClusterNetwork, cidr: str, text: str) -> None:
    network.add_control_plane_subnet("One", cidr="10.0.1.0/28", availability_zone_id="usw2-az1")
    with pytest.raises(ValueError, match=f"^{re.escape(f'Stack/Network/Two: {text}')}$"):
        network.add_control_plane_subnet("Two", cidr=cidr, availability_zone_id="usw2-az2")


def test_fails_on_a_control_plane_s_subnet_in_a_full_vpc(stack: Stack) -> None:
    network = ClusterNetwork(stack, "Small", availability_zone_id=ZONE, cidr="10.0.0.0/24")
    text = "overlaps the subnet 10.0.0.0/24; give the network a larger cidr, such as 10.0.0.0/16"
    with pytest.raises(ValueError, match=f"{re.escape(text)}$"):
        network.add_control_plane_subnet("Two", cidr="10.0.0.0/28", availability_zone_id="usw2-az2")


def test_a_control_plane_s_subnet_may_be_unknown(stack: Stack) -> None:
    cidr, part = (CfnParameter(stack, name).value_as_string for name in ("Cidr", "Part"))
    network = ClusterNetwork(stack, "Unknown", availability_zone_id=ZONE, cidr=cidr)
    network.add_control_plane_subnet("One", cidr=part, availability_zone_id="usw2-az1")
    network.add_control_plane_subnet("Two", cidr="10.0.1.0/28", availability_zone_id="usw2-az2")
    blocks = [one["Properties"]["CidrBlock"] for one in resources(stack, "AWS::EC2::Subnet").values()]
    assert {"Ref": "Part"} in blocks
    assert "10.0.1.0/28" in blocks
