"""Networks that are closed on purpose: no subnet of a group leads out, and nothing in the templates is there for it.

Source: https://docs.aws.amazon.com/vpc/latest/userguide/route-table-options.html
"""

from __future__ import annotations

from hyperpod_constructs.analysis.networks import ExitKind, Subnet
from hyperpod_constructs.analysis.placement import NodeGroup
from hyperpod_constructs.analysis.traffic import Side, Traffic
from hyperpod_constructs.analysis.ways import Way, to_the_internet

_LEADING_OUT = (
    *("AWS::EC2::EgressOnlyInternetGateway", "AWS::EC2::InternetGateway", "AWS::EC2::NatGateway", "AWS::EC2::TransitGateway"),
    *("AWS::EC2::TransitGatewayAttachment", "AWS::EC2::TransitGatewayVpcAttachment", "AWS::EC2::VPCPeeringConnection"),
    *("AWS::EC2::VPNGateway", "AWS::NetworkManager::VpcAttachment"),
)


def closed_subnet(group: NodeGroup) -> Subnet | None:
    """The first subnet of a group in a network that nothing leads out of; `None` for another network, or one that is not known."""
    subnets = group.subnet_facts()
    model = group.resource.template.model
    if not model.complete or model.resources(*_LEADING_OUT) or any(one.exit.kind is not ExitKind.NONE for one in subnets):
        return None
    return next((one for one in subnets if _ends(one)), None)


def _ends(subnet: Subnet) -> bool:
    """Whether the way from a subnet to the internet surely ends."""
    source = Side("the nodes", None, (subnet,), anywhere=True)
    return Way.of(source.name, "the internet", Traffic(), to_the_internet(source, Traffic())).end is not None
