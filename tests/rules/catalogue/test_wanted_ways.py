"""The ways for which a network is made: out to the internet, and past gateway endpoints from all subnets of nodes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.catalogue.cases import REMOVED, edited
from tests.rules.catalogue.templates import Template, findings, slurm
from tests.rules.catalogue.test_network import OPERATION, WAY_OUT, closed

USE = "HP-REACH-002"
WITH_ENDPOINTS = edited(closed(slurm(), *OPERATION), {name: slurm()["Resources"][name] for name in WAY_OUT})
"""Nodes with all endpoints that they need, and with a NAT gateway."""
ROUTE = "NodeDefaultRoute"
PUBLIC = {f"{ROUTE}/NatGatewayId": REMOVED, f"{ROUTE}/GatewayId": {"Ref": "Gateway"}}
IN_EGRESS = "NodeGroup/SecurityGroupEgress"


def reached(changes: Template, base: Template = WITH_ENDPOINTS) -> list[tuple[str, str]]:
    return [(one.rule, one.resource) for one in findings(edited(base, changes)) if one.rule.startswith("HP-REACH")]


@pytest.mark.parametrize("changes", [{ROUTE: REMOVED}, {f"{ROUTE}/DestinationCidrBlock": "10.0.0.0/8"}, PUBLIC])
def test_nodes_beside_an_unused_nat_gateway_are_to_reach_the_internet(changes: Template) -> None:
    assert reached({}) == []
    assert reached(changes) == [(USE, "NodeSubnet")]


OTHER = {
    "OtherTable": {"Type": "AWS::EC2::RouteTable", "Properties": {"VpcId": {"Ref": "Vpc"}}},
    "OtherRoute": {
        "Type": "AWS::EC2::Route",
        "Properties": {"RouteTableId": {"Ref": "OtherTable"}, "DestinationCidrBlock": "0.0.0.0/0", "NatGatewayId": {"Ref": "Nat"}},
    },
}
GIVEN = {"NatId": {"Value": {"Ref": "Nat"}}}


@pytest.mark.parametrize(
    "changes",
    [
        {ROUTE: REMOVED, **OTHER},
        {ROUTE: REMOVED, "Nat/ConnectivityType": "private"},
        {ROUTE: REMOVED, "Nat": REMOVED, "NatAddress": REMOVED},
        {ROUTE: REMOVED, "NodeGroup/SecurityGroupEgress": [{"IpProtocol": "-1", "CidrIp": "10.0.0.0/16"}]},
    ],
)
def test_a_network_that_is_closed_on_purpose_is_not_judged(changes: Template) -> None:
    """The gateway serves others, or it leads to no internet, or the nodes are not let out."""
    assert [one for one in reached(changes) if one[0] == USE] == []


def test_a_gateway_that_an_output_gives_to_others_is_theirs() -> None:
    template: Any = edited(WITH_ENDPOINTS, {ROUTE: REMOVED})
    assert reached({}, {**template, "Outputs": GIVEN}) == []


def in_two_subnets(**changes: Any) -> Template:
    """Nodes in two subnets of one zone, each with its table and its way to the NAT gateway and to S3."""
    resources = WITH_ENDPOINTS["Resources"]
    subnet = {**resources["NodeSubnet"]["Properties"], "CidrBlock": "10.0.200.0/24"}
    association = {"SubnetId": {"Ref": "Beside"}, "RouteTableId": {"Ref": "OtherTable"}}
    tables = [*resources["S3Endpoint"]["Properties"]["RouteTableIds"], {"Ref": "OtherTable"}]
    added = {
        **OTHER,
        "Beside": {"Type": "AWS::EC2::Subnet", "Properties": subnet},
        "BesideLink": {"Type": "AWS::EC2::SubnetRouteTableAssociation", "Properties": association},
        "S3Endpoint/RouteTableIds": tables,
        "Cluster/VpcConfig/Subnets": [{"Ref": "NodeSubnet"}, {"Ref": "Beside"}],
        "Cluster/.DependsOn": [*resources["Cluster"]["DependsOn"], "BesideLink", "OtherRoute"],
    }
    return edited(edited(WITH_ENDPOINTS, added), changes)


@pytest.mark.parametrize(
    ("changes", "places"),
    [
        ({}, []),
        ({"S3Endpoint/RouteTableIds/1": REMOVED}, [(USE, "S3Endpoint")]),
        ({"S3Endpoint/RouteTableIds/0": REMOVED}, [(USE, "S3Endpoint")]),
        ({"OtherRoute": REMOVED}, [(USE, "Beside")]),
        ({"OtherRoute": REMOVED, "S3Endpoint/RouteTableIds/1": REMOVED}, [("HP-REACH-001", "Beside")]),
    ],
)
def test_subnets_of_the_same_nodes_have_the_same_ways(changes: Template, places: list[tuple[str, str]]) -> None:
    """One that lacks both has one wrong table."""
    assert reached(changes, in_two_subnets()) == places


BASTION = {
    "Type": "AWS::EC2::Instance",
    "Properties": {"ImageId": "ami-0123456789abcdef0", "InstanceType": "t3.micro", "SubnetId": {"Ref": "PublicSubnet"}},
}


def public_table() -> str:
    """The table of the subnet with the NAT gateway."""
    links = slurm()["Resources"].values()
    found = [one["Properties"] for one in links if one["Type"] == "AWS::EC2::SubnetRouteTableAssociation"]
    return next(str(one["RouteTableId"]["Ref"]) for one in found if one["SubnetId"] == {"Ref": "PublicSubnet"})


@pytest.mark.parametrize(
    ("changes", "places"),
    [
        ({}, []),
        ({"S3Endpoint/RouteTableIds": [{"Ref": public_table()}]}, [(USE, "S3Endpoint")]),
        ({"S3Endpoint/RouteTableIds": [{"Ref": public_table()}], "Bastion": BASTION}, []),
        ({"S3Endpoint/RouteTableIds": [{"Ref": public_table()}, "rtb-0123456789abcdef0"]}, []),
        ({"S3Endpoint/RouteTableIds": [{"Ref": public_table()}], "S3Endpoint/VpcId": "vpc-0123456789abcdef0"}, []),
    ],
)
def test_an_endpoint_is_on_the_tables_of_those_who_call(changes: Template, places: list[tuple[str, str]]) -> None:
    assert [one for one in reached(changes, slurm()) if one[0] == USE] == places


def test_an_endpoint_may_be_for_a_subnet_that_others_have() -> None:
    template: Any = edited(slurm(), {"S3Endpoint/RouteTableIds": [{"Ref": public_table()}]})
    assert reached({}, {**template, "Outputs": {"Subnet": {"Value": {"Ref": "PublicSubnet"}}}}) == []


def endpoint(service: str) -> Template:
    given = {**WITH_ENDPOINTS["Resources"]["Endpoint0"]["Properties"]}
    return {
        "Type": "AWS::EC2::VPCEndpoint",
        "Properties": {**given, "ServiceName": {"Fn::Sub": f"com.amazonaws.${{AWS::Region}}.{service}"}},
    }


BESIDE_ANOTHER_WAY: dict[str, Any] = {
    "Kms": endpoint("kms"),
    "Efs": endpoint("elasticfilesystem"),
    "Endpoint1": REMOVED,
    "OtherAddress": {"Type": "AWS::EC2::EIP", "DependsOn": "Attachment", "Properties": {"Domain": "vpc"}},
    "OtherNat": {
        "Type": "AWS::EC2::NatGateway",
        "Properties": {"SubnetId": {"Ref": "PublicSubnet"}, "AllocationId": {"Fn::GetAtt": ["OtherAddress", "AllocationId"]}},
    },
    "OtherRoute/NatGatewayId": {"Ref": "OtherNat"},
}


@pytest.mark.parametrize("changes", [{}, {ROUTE: REMOVED}, {f"{ROUTE}/DestinationCidrBlock": "10.0.0.0/8"}])
def test_services_and_the_internet_end_at_one_table(changes: Template) -> None:
    """The VPC has many endpoints, and none of Systems Manager; the nodes of the other subnet have a way out."""
    found = findings(in_two_subnets(**BESIDE_ANOTHER_WAY, **changes), rules="HP-REACH")
    assert [one.resource for one in found] == ["NodeSubnet"] * bool(changes)
    assert all("cannot reach the internet" in one.message and "ssm" in one.message for one in found)
