"""Transit gateways lead the packets of one VPC to the other, and the answers back."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.analysis.far_groups import far_rules
from hyperpod_constructs.analysis.joined_networks import one_way
from hyperpod_constructs.analysis.schema.named import unmet_demands
from hyperpod_constructs.templates.model import Model
from tests.work import calls

Resources = dict[str, Any]
_TABLE, _ATTACHMENT = "TransitGatewayRouteTableId", "TransitGatewayAttachmentId"


def made(kind: str, **properties: Any) -> Resources:
    return {"Type": f"AWS::EC2::{kind}", "Properties": properties}


def ref(name: str) -> dict[str, str]:
    return {"Ref": name}


def network(name: str, number: int) -> Resources:
    """A VPC with a subnet and its table, attached to the hub, whose table it uses and tells its block."""
    ends = {_ATTACHMENT: ref(f"{name}Attached"), _TABLE: ref("HubTable")}
    return {
        name: made("VPC", CidrBlock=f"10.{number}.0.0/16"),
        f"{name}Subnet": made("Subnet", VpcId=ref(name), CidrBlock=f"10.{number}.64.0/18", AvailabilityZone="us-west-2a"),
        f"{name}Table": made("RouteTable", VpcId=ref(name)),
        f"{name}OfTable": made("SubnetRouteTableAssociation", SubnetId=ref(f"{name}Subnet"), RouteTableId=ref(f"{name}Table")),
        f"{name}Attached": made(
            "TransitGatewayVpcAttachment", TransitGatewayId=ref("Hub"), VpcId=ref(name), SubnetIds=[ref(f"{name}Subnet")]
        ),
        f"{name}Uses": made("TransitGatewayRouteTableAssociation", **ends),
        f"{name}Tells": made("TransitGatewayRouteTablePropagation", **ends),
        f"{name}Group": made("SecurityGroup", GroupDescription="x", VpcId=ref(name)),
    }


def way(table: str, block: str) -> Resources:
    return made("Route", RouteTableId=ref(table), DestinationCidrBlock=block, TransitGatewayId=ref("Hub"))


def static(block: str, **more: Any) -> Resources:
    return made("TransitGatewayRoute", DestinationCidrBlock=block, **{_TABLE: ref("HubTable"), **more})


def hub(**changes: Any) -> Model:
    """Two VPCs that reach each other through a hub, with changes; a resource of `None` is left out."""
    resources = {
        "Hub": made("TransitGateway", DefaultRouteTableAssociation="disable", DefaultRouteTablePropagation="disable"),
        "HubTable": made("TransitGatewayRouteTable", TransitGatewayId=ref("Hub")),
        "OtherTable": made("TransitGatewayRouteTable", TransitGatewayId=ref("Hub")),
        **network("Near", 1),
        **network("Far", 2),
        "There": way("NearTable", "10.2.0.0/16"),
        "Back": way("FarTable", "10.1.0.0/16"),
        **changes,
    }
    return Model.of({"hub": {"Resources": {name: one for name, one in resources.items() if one is not None}}})


def entry(kind: str, attached: str, table: str) -> Resources:
    return made(f"TransitGatewayRouteTable{kind}", **{_ATTACHMENT: ref(attached), _TABLE: ref(table)})


def rule(peer: str) -> Resources:
    return made("SecurityGroupIngress", GroupId=ref("FarGroup"), IpProtocol="-1", SourceSecurityGroupId=ref(peer))


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"There": way("NearTable", "10.3.0.0/16")}, "There"),
        ({"Back": way("FarTable", "10.3.0.0/16")}, "Back"),
        ({"Back": way("FarTable", "10.1.0.0/24")}, "Back"),
        ({"There": None}, "NearAttached"),
        ({"Hole": static("10.2.0.0/16", Blackhole=True)}, "Hole"),
        ({"FarTells": None, "ToFar": static("10.9.0.0/16", **{_ATTACHMENT: ref("FarAttached")})}, "ToFar"),
        ({"FarTells": None, "ToFar": static("10.2.0.0/16", **{_ATTACHMENT: ref("NearAttached")})}, "FarAttached"),
        ({"Loop": static("10.2.0.0/16", **{_ATTACHMENT: ref("NearAttached")})}, "Loop"),
        ({"FarTells": entry("Propagation", "FarAttached", "OtherTable")}, "FarTells"),
        ({"FarUses": entry("Association", "FarAttached", "OtherTable")}, "FarUses"),
        ({"FarTells": None}, "FarAttached"),
    ],
)
def test_packets_and_answers_that_get_lost_are_of_one_resource(changes: Resources, place: str) -> None:
    assert [one.resource.logical_id for one in one_way(hub(**changes))] == [place]


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"FarTells": None, "Out": static("0.0.0.0/0", **{_ATTACHMENT: ref("FarAttached")})},
        {"Hole": static("10.2.0.0/24", Blackhole=True)},
        {"There": way("NearTable", "10.0.0.0/8"), "Back": way("FarTable", "10.0.0.0/8"), "FarUses": None, "FarTells": None}
        | {
            "FarUses": entry("Association", "FarAttached", "OtherTable"),
            "FarTells": entry("Propagation", "FarAttached", "OtherTable"),
        },
        {"Tunnel": made("VPNConnection", TransitGatewayId=ref("Hub")), "Hole": static("10.2.0.0/16", Blackhole=True)},
        {"Helper": {"Type": "Custom::Routes", "Properties": {"Table": ref("HubTable")}}, "There": way("NearTable", "10.3.0.0/16")},
    ],
)
def test_ways_that_may_lead_on_are_believed(changes: Resources) -> None:
    assert not list(one_way(hub(**changes)))


def test_the_default_table_knows_all_networks() -> None:
    gone = dict.fromkeys(("HubTable", "NearUses", "NearTells", "FarUses", "FarTells"))
    assert not list(one_way(hub(**gone, Hub=made("TransitGateway"))))


def test_an_attachment_of_a_gateway_with_a_default_table_gets_no_other() -> None:
    found = [
        one.resource.logical_id for one in unmet_demands(hub(Hub=made("TransitGateway", DefaultRouteTablePropagation="disable")))
    ]
    assert found == ["NearUses", "FarUses"]
    assert not list(unmet_demands(hub()))


def test_groups_know_each_other_by_a_gateway_that_supports_it() -> None:
    def gateway(**more: str) -> Resources:
        return made("TransitGateway", SecurityGroupReferencingSupport="enable", **more)

    off = made(
        "TransitGatewayVpcAttachment",
        TransitGatewayId=ref("Hub"),
        VpcId=ref("Far"),
        SubnetIds=[ref("FarSubnet")],
        Options={"SecurityGroupReferencingSupport": "disable"},
    )
    assert [one.rule.resource.logical_id for one in far_rules(hub(In=rule("NearGroup")))] == ["In"]
    assert not list(far_rules(hub(In=rule("NearGroup"), Hub=gateway())))
    assert list(far_rules(hub(In=rule("NearGroup"), Hub=gateway(), FarAttached=off)))
    assert not list(far_rules(hub(In=rule("FarGroup"))))


def test_groups_know_each_other_by_a_peering() -> None:
    peering = made("VPCPeeringConnection", VpcId=ref("Near"), PeerVpcId=ref("Far"))
    assert not list(far_rules(hub(In=rule("NearGroup"), Peering=peering)))
    alone = dict.fromkeys(("NearAttached", "FarAttached", "NearUses", "FarUses", "NearTells", "FarTells", "There", "Back"))
    assert list(far_rules(hub(**alone, In=rule("NearGroup"))))


def _ring(count: int) -> Model:
    """VPCs at one hub, each with a route to the next."""
    networks = [network(f"N{number}", number) for number in range(count)]
    ways = {f"W{number}": way(f"N{number}Table", f"10.{(number + 1) % count}.0.0/16") for number in range(count)}
    return hub(**ways, **{name: one for each in networks for name, one in each.items()})


def test_many_vpcs_at_one_gateway_take_little_work() -> None:
    few, many = (_work(_ring(count)) for count in (20, 80))
    assert many < 20 * few


def _work(model: Model) -> int:
    return calls(lambda: list(one_way(model)))
