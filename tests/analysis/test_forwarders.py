"""Instances to which the default route of nodes leads."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.analysis.networks import network_facts
from hyperpod_constructs.analysis.security_groups import security_groups
from hyperpod_constructs.analysis.traffic import Side, Traffic
from hyperpod_constructs.analysis.ways import to_the_internet
from hyperpod_constructs.templates.model import Model

Resources = dict[str, Any]
EVERYTHING = [{"IpProtocol": "-1", "CidrIp": "0.0.0.0/0"}]


def made(kind: str, **properties: Any) -> Resources:
    return {"Type": f"AWS::EC2::{kind}", "Properties": properties}


def ref(name: str) -> dict[str, str]:
    return {"Ref": name}


def subnet(name: str, block: str, **end: Any) -> Resources:
    return {
        name: made("Subnet", VpcId=ref("Vpc"), CidrBlock=block),
        f"{name}Table": made("RouteTable", VpcId=ref("Vpc")),
        f"{name}OfTable": made("SubnetRouteTableAssociation", SubnetId=ref(name), RouteTableId=ref(f"{name}Table")),
        f"{name}Out": made("Route", RouteTableId=ref(f"{name}Table"), DestinationCidrBlock="0.0.0.0/0", **end),
    }


def group(ingress: list[Resources]) -> Resources:
    return made(
        "SecurityGroup", GroupDescription="x", VpcId=ref("Vpc"), SecurityGroupIngress=ingress, SecurityGroupEgress=EVERYTHING
    )


def interface(**more: Any) -> Resources:
    return made("NetworkInterface", **{"SubnetId": ref("Edge"), "GroupSet": [ref("Open")], "SourceDestCheck": False, **more})


def instance(**more: Any) -> Resources:
    return made("Instance", **{"SubnetId": ref("Edge"), "SecurityGroupIds": [ref("Open")], "SourceDestCheck": False, **more})


def ended(end: Resources, **changes: Any) -> list[str]:
    """The hops at which the way of nodes to the internet ends."""
    resources = {
        "Vpc": made("VPC", CidrBlock="10.0.0.0/16"),
        "Internet": made("InternetGateway"),
        "Here": made("VPCGatewayAttachment", VpcId=ref("Vpc"), InternetGatewayId=ref("Internet")),
        **subnet("Nodes", "10.0.1.0/24", **end),
        **subnet("Edge", "10.0.0.0/24", GatewayId=ref("Internet")),
        "Open": group([{"IpProtocol": "-1", "CidrIp": "10.0.0.0/16"}]),
        "Closed": group([{"IpProtocol": "-1", "CidrIp": "10.9.0.0/16"}]),
        "Card": interface(),
        "Forward": instance(),
        "Address": made("EIP", Domain="vpc", InstanceId=ref("Forward")),
        "CardAddress": made("EIPAssociation", NetworkInterfaceId=ref("Card"), AllocationId="eipalloc-1"),
        **changes,
    }
    model = Model.of({"network": {"Resources": resources}})
    (nodes,) = (one for one in model.resources("AWS::EC2::Subnet") if one.logical_id == "Nodes")
    (open_,) = (one for one in model.resources("AWS::EC2::SecurityGroup") if one.logical_id == "Open")
    source = Side("nodes", (security_groups(model).of(open_),), (network_facts(model).subnet(nodes),))
    return [hop.resource.logical_id for hop in to_the_internet(source, Traffic()) if hop.passes is False]


BY_INSTANCE, BY_CARD = {"InstanceId": ref("Forward")}, {"NetworkInterfaceId": ref("Card")}


@pytest.mark.parametrize(
    ("end", "changes", "places"),
    [
        (BY_INSTANCE, {}, []),
        (BY_CARD, {}, []),
        (BY_INSTANCE, {"Forward": instance(SourceDestCheck=True)}, ["Forward"]),
        (BY_CARD, {"Card": interface(SourceDestCheck="true")}, ["Card"]),
        (BY_INSTANCE, {"Forward": instance(SourceDestCheck=True, IamInstanceProfile="may-switch-it-off")}, []),
        (BY_INSTANCE, {"Forward": instance(SecurityGroupIds=[ref("Closed")])}, ["Closed"]),
        (BY_INSTANCE, {"Forward": instance(SecurityGroupIds=["sg-0123456789abcdef0"])}, []),
        (BY_INSTANCE, {"Forward": instance(SubnetId=ref("Nodes"))}, ["Forward"]),
        (BY_CARD, {"CardAddress": made("EIP", Domain="vpc")}, ["Card"]),
        (
            BY_INSTANCE,
            {"Forward": made("Instance", NetworkInterfaces=[{"DeviceIndex": "0", "NetworkInterfaceId": ref("Card")}])},
            [],
        ),
    ],
)
def test_forwarders_take_what_is_not_for_them(end: Resources, changes: Resources, places: list[str]) -> None:
    assert ended(end, **changes) == places
