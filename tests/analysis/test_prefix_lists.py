"""Prefix lists of the model stand for their blocks, in rules and in routes."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.analysis.networks import ExitKind, network_facts
from hyperpod_constructs.analysis.security_groups import security_groups
from hyperpod_constructs.templates.model import Model

Resources = dict[str, Any]


def made(kind: str, **properties: Any) -> Resources:
    return {"Type": f"AWS::EC2::{kind}", "Properties": properties}


def ref(name: str) -> dict[str, str]:
    return {"Ref": name}


def network(*blocks: Any) -> Model:
    """A group and a table that lead to a prefix list with these blocks."""
    listed = {"Fn::GetAtt": ["List", "PrefixListId"]}
    entries = [{"Cidr": block} for block in blocks]
    resources = {
        "List": made("PrefixList", PrefixListName="x", AddressFamily="IPv4", MaxEntries=9, Entries=entries),
        "Vpc": made("VPC", CidrBlock="10.0.0.0/16"),
        "Subnet": made("Subnet", VpcId=ref("Vpc"), CidrBlock="10.0.0.0/24"),
        "Table": made("RouteTable", VpcId=ref("Vpc")),
        "OfTable": made("SubnetRouteTableAssociation", SubnetId=ref("Subnet"), RouteTableId=ref("Table")),
        "Out": made("Route", RouteTableId=ref("Table"), DestinationPrefixListId=listed, NatGatewayId=ref("Nat")),
        "Nat": made("NatGateway", SubnetId=ref("Subnet"), AllocationId="eipalloc-1"),
        "Group": made(
            "SecurityGroup",
            GroupDescription="x",
            VpcId=ref("Vpc"),
            SecurityGroupEgress=[{"IpProtocol": "-1", "DestinationPrefixListId": listed}],
        ),
    }
    return Model.of({"network": {"Parameters": {"Site": {"Type": "String"}}, "Resources": resources}})


@pytest.mark.parametrize(
    ("blocks", "lets"),
    [
        (["10.1.0.0/16", "10.2.0.0/16"], True),
        (["10.1.0.0/16"], False),
        ([], False),
        (["10.1.0.0/16", ref("Site")], None),
    ],
)
def test_a_rule_with_a_list_is_one_for_each_of_its_blocks(blocks: list[Any], lets: bool | None) -> None:
    model = network(*blocks)
    (group,) = model.resources("AWS::EC2::SecurityGroup")
    found = security_groups(model).of(group)
    assert found.allows("egress", peer="10.2.3.0/24", protocol="tcp", port=443) is lets


@pytest.mark.parametrize(
    ("blocks", "kind"),
    [
        (["0.0.0.0/0"], ExitKind.NAT),
        (["10.1.0.0/16"], ExitKind.NONE),
        (["52.0.0.0/8"], ExitKind.UNKNOWN),
        ([ref("Site")], ExitKind.UNKNOWN),
    ],
)
def test_a_route_with_a_list_leads_where_its_blocks_are(blocks: list[Any], kind: ExitKind) -> None:
    model = network(*blocks)
    (subnet,) = model.resources("AWS::EC2::Subnet")
    assert network_facts(model).subnet(subnet).exit.kind is kind
