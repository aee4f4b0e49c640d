"""VPC Block Public Access: an option of the account and region that bars internet gateways, but for what is excluded.

Source: https://docs.aws.amazon.com/vpc/latest/userguide/security-vpc-bpa-basics.html (as of 2026-11-30)
"""

from __future__ import annotations

from hyperpod_constructs.analysis.networks import SUBNET, VPC, Subnet
from hyperpod_constructs.templates.model import Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, as_str

OPTIONS, EXCLUSION = (f"AWS::EC2::VPCBlockPublicAccess{kind}" for kind in ("Options", "Exclusion"))
MODE = "InternetGatewayBlockMode"


def barrier_of(subnet: Subnet) -> Resource | None:
    """The options that surely bar the way of a subnet to the internet."""
    model = subnet.resource.template.model
    found = (one for one in model.resources(OPTIONS) if one.exists and as_str(one.get(MODE)) == "block-bidirectional")
    barrier = next(found, None) if model.complete and subnet.vpc is not None else None
    return None if barrier is None or any(_may_exclude(one, subnet) for one in model.resources(EXCLUSION)) else barrier


def _may_exclude(exclusion: Resource, subnet: Subnet) -> bool:
    """Whether an exclusion may be for a subnet, or for its VPC."""
    for key, type_, own in (("SubnetId", SUBNET, subnet.resource), ("VpcId", VPC, subnet.vpc)):
        given = exclusion.get(key)
        if given is not ABSENT and resource_of(given, type_) in (own, None):
            return True
    return False
