"""The order of creation, where a template does not say it by references."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.catalogue.cases import edited
from tests.rules.catalogue.templates import Template, findings, slurm

VPC = {"Ref": "Vpc"}
GATEWAY: Template = {
    "Gateway": {"Type": "AWS::EC2::InternetGateway"},
    "Attachment": {
        "Type": "AWS::EC2::VPCGatewayAttachment",
        "Properties": {"VpcId": VPC, "InternetGatewayId": {"Ref": "Gateway"}},
    },
    "Table": {"Type": "AWS::EC2::RouteTable", "Properties": {"VpcId": VPC}},
}


def route(**more: Any) -> Template:
    properties = {"RouteTableId": {"Ref": "Table"}, "DestinationCidrBlock": "0.0.0.0/0", "GatewayId": {"Ref": "Gateway"}}
    return {"Type": "AWS::EC2::Route", "Properties": properties, **more}


@pytest.mark.parametrize(
    ("resources", "late"),
    [
        ({"Route": route()}, ["Route"]),
        ({"Route": route(DependsOn="Attachment")}, []),
        ({"Route": route(DependsOn="More"), "More": route(DependsOn="Attachment"), "More/DestinationCidrBlock": "::/0"}, []),
        ({"Route": {**route(), "Condition": "Perhaps"}, "Attachment/.Condition": "Perhaps"}, []),
    ],
)
def test_gateways_are_attached_first(resources: Template, late: list[str]) -> None:
    perhaps = {"Perhaps": {"Fn::Equals": [{"Ref": "AWS::StackName"}, "x"]}}
    template = {**edited(slurm(), {**GATEWAY, **resources}), "Conditions": perhaps}
    assert [one.resource for one in findings(template, rules="HP-DEP-002")] == late


@pytest.mark.parametrize(("late", "resource"), [({}, ["Address"]), ({"DependsOn": "Attachment"}, [])])
def test_addresses_of_nat_gateways_await_the_internet_gateway(late: Template, resource: list[str]) -> None:
    nat = {"SubnetId": {"Ref": "NodeSubnet"}, "AllocationId": {"Fn::GetAtt": ["Address", "AllocationId"]}}
    resources = {
        "Address": {"Type": "AWS::EC2::EIP", "Properties": {"Domain": "vpc"}, **late},
        "Another": {"Type": "AWS::EC2::NatGateway", "Properties": nat},
    }
    template = edited(slurm(), resources)
    assert [one.resource for one in findings(template, rules="HP-DEP-002")] == resource


TRANSIT: Template = {
    "Transit": {"Type": "AWS::EC2::TransitGateway", "Properties": {}},
    "Joined": {
        "Type": "AWS::EC2::TransitGatewayAttachment",
        "Properties": {"VpcId": VPC, "TransitGatewayId": {"Ref": "Transit"}, "SubnetIds": [{"Ref": "NodeSubnet"}]},
    },
    "Campus": {"Type": "AWS::EC2::RouteTable", "Properties": {"VpcId": VPC}},
}


@pytest.mark.parametrize(("more", "late"), [({}, ["ToCampus"]), ({"DependsOn": "Joined"}, [])])
def test_transit_gateways_are_attached_first(more: Template, late: list[str]) -> None:
    properties = {
        "RouteTableId": {"Ref": "Campus"},
        "DestinationCidrBlock": "192.168.0.0/16",
        "TransitGatewayId": {"Ref": "Transit"},
    }
    to_campus = {"Type": "AWS::EC2::Route", "Properties": properties, **more}
    template = edited(slurm(), {**TRANSIT, "ToCampus": to_campus})
    assert [one.resource for one in findings(template)] == late
