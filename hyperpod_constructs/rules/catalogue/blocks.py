"""Address blocks: of VPCs, of their subnets and of file systems' endpoints."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs._support.words import enumerated
from hyperpod_constructs.analysis.addresses import WrongAddress, beside_their_vpc, malformed, strays, with_bits_behind
from hyperpod_constructs.analysis.blocks import (
    SubnetBlock,
    VpcBlock,
    VpcBlocks,
    added_block,
    blocks_of,
    has_ipv6,
    late_ipv6,
    outside_of,
    overlapping,
    subnet_blocks,
    subnet_over,
    takes_ipv6,
    vpc_blocks,
)
from hyperpod_constructs.analysis.clusters import given
from hyperpod_constructs.analysis.file_systems import OPENZFS, file_systems_of
from hyperpod_constructs.analysis.networks import SUBNET, VPC, block_of
from hyperpod_constructs.analysis.placement import subnets_of
from hyperpod_constructs.facts import cidr_blocks
from hyperpod_constructs.rules.finding import Hit, hit
from hyperpod_constructs.rules.rule import error, warning
from hyperpod_constructs.templates.dependencies import awaits
from hyperpod_constructs.templates.model import Model, Resource, resource_of

_SUBNETS = "https://docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html"
_RANGE = ("OpenZFSConfiguration", "EndpointIpAddressRange")


@error(
    "HP-BLK-001",
    on=vpc_blocks,
    title="a VPC can have its blocks together",
    why="EC2 refuses the block (InvalidVpc.Range), and the stack rolls back",
    fix="take a block of /16 to /28 from the private range of the VPC's primary block, outside its other blocks, or from "
    "100.64.0.0/10",
    allowed="a block of /16 to /28 that goes with the VPC's other blocks",
    source=cidr_blocks.SOURCE,
    aliases=("HP-SUB-002",),
)
def blocks_go_together(one: VpcBlock) -> Hit | None:
    mistake = cidr_blocks.mistake(one.block) or cidr_blocks.addition_mistake(one.block, one.before) or _either_way(one)
    if not mistake:
        return None
    inside = [subnet.resource for subnet in subnet_blocks(one.resource.template.model) if subnet.block.subnet_of(one.block)]
    doubts = ((resource, ("CidrBlock",)) for resource in (one.resource, *inside))
    return hit(one.resource, f"{one.block} {mistake}", "CidrBlock", doubts=doubts)


def _either_way(one: VpcBlock) -> str | None:
    """Why a block does not go with one beside it, whichever of the two comes first."""
    primary = [] if one.primary is None else [one.primary]
    for other in one.beside if primary else ():
        first = cidr_blocks.addition_mistake(one.block, [*primary, other])
        second = cidr_blocks.addition_mistake(other, [*primary, one.block])
        if first and second:
            return first
    return None


@error(
    "HP-BLK-002",
    title="the block of a subnet is in its VPC, and apart from the other subnets'",
    why="EC2 refuses the subnet (InvalidSubnet.Range, InvalidSubnet.Conflict), and the stack rolls back",
    fix="take a free part of /16 to /28 of a block of the VPC, or add the block to the VPC first (AWS::EC2::VPCCidrBlock)",
    allowed="a /16 to a /28 inside a block of the VPC, apart from all other subnets",
    aliases=("HP-CTL-008",),
    source=_SUBNETS,
)
def subnets_have_blocks_of_their_own(model: Model) -> Iterator[Hit]:
    for one in subnet_blocks(model):
        mistake = cidr_blocks.size_mistake(one.block)
        if mistake is not None:
            yield hit(one.resource, f"{one.block} {mistake}", "CidrBlock")
    yield from _all_outside(model)
    for later, earlier in overlapping(model):
        text = f"{later.block} overlaps {earlier.block} of subnet {earlier.resource.logical_id} in the same VPC"
        yield hit(later.resource, text, "CidrBlock", covers=(earlier.resource,))


def _all_outside(model: Model) -> Iterator[Hit]:
    """One hit for each VPC: of several subnets outside of it, its block may be the wrong one."""
    sized = (one for one in subnet_blocks(model) if cidr_blocks.size_mistake(one.block) is None)
    known = ((one, outside_of(one.resource)) for one in sized)
    for (vpc, names), (first, *others) in grouped((_where(blocks), one) for one, blocks in known if blocks is not None).items():
        more = f"; so is {enumerated(f'{one.block} of {one.resource.logical_id}' for one in others)}" if others else ""
        covers, doubts = tuple(one.resource for one in others), [(vpc, ("CidrBlock",))] if others else []
        text = f"{first.block} is outside the blocks of {names}{more}"
        yield hit(first.resource, text, "CidrBlock", covers=covers, doubts=doubts)


def _where(blocks: VpcBlocks) -> tuple[Resource, str]:
    """A VPC, and its name with its blocks."""
    return blocks.vpc, f"{blocks.vpc.logical_id} ({', '.join(str(known.block) for known in blocks.known)})"


@error(
    "HP-BLK-006",
    on=SUBNET,
    at=("Ipv6CidrBlock",),
    title="a subnet with a block of IPv6 is in a VPC that has one",
    why="EC2 refuses the subnet (InvalidSubnet.Range), and the stack rolls back",
    fix="add the block to the VPC (AWS::EC2::VPCCidrBlock with AmazonProvidedIpv6CidrBlock: true), and take a part of it",
    allowed="a part of the VPC's block of IPv6",
    source=_SUBNETS,
)
def blocks_of_ipv6_have_a_parent(subnet: Resource) -> str | None:
    vpc = resource_of(subnet.get("VpcId"), VPC)
    if vpc is None or not takes_ipv6(subnet) or has_ipv6(vpc) is not False:
        return None
    return f"{vpc.logical_id} has no block of IPv6"


@error(
    "HP-BLK-003",
    title="subnets in a further block of the VPC await it",
    why="CloudFormation makes both at once, and EC2 refuses a subnet whose block the VPC does not have yet (InvalidSubnet.Range)",
    fix="name the AWS::EC2::VPCCidrBlock in DependsOn of the subnet",
    allowed="DependsOn on the block",
    source="https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-ec2-vpccidrblock.html",
)
def subnets_await_their_blocks(model: Model) -> Iterator[Hit]:
    for one in subnet_blocks(model):
        added = _not_awaited(one)
        if added is not None:
            text = f"{one.block} is in the block that {added.logical_id} adds to the VPC, and does not await it"
            yield hit(one.resource, text)
    for subnet, block in late_ipv6(model):
        yield hit(subnet, f"it has a part of the block of IPv6 that {block.logical_id} adds to the VPC, and does not await it")


def _not_awaited(one: SubnetBlock) -> Resource | None:
    """What adds the block of a subnet to its VPC, if the subnet does not await it."""
    added = added_block(one)
    return None if added is None or awaits(one.resource, added) or one.resource in _misplaced(one) else added


def _misplaced(one: SubnetBlock) -> frozenset[Resource]:
    """Subnets that overlap others, so that their block is another mistake; computed once."""
    model = one.resource.template.model
    return model.cached(_misplaced, lambda: frozenset(each.resource for pair in overlapping(model) for each in pair))


@error(
    "HP-BLK-004",
    title="the addresses of a file system's endpoints are in no subnet",
    why="FSx refuses the file system",
    fix="take a range outside all subnets of the VPC, or leave EndpointIpAddressRange out",
    allowed="a range that overlaps no subnet",
    source="https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemOpenZFSConfiguration.html",
)
def endpoints_of_file_systems_are_apart(model: Model) -> Iterator[Hit]:
    for system in file_systems_of(model, OPENZFS):
        range_ = block_of(system.get(*_RANGE))
        vpcs = dict.fromkeys(resource_of(subnet.get("VpcId"), VPC) for subnet in subnets_of(system) or ())
        for vpc in vpcs:
            taken = None if vpc is None or range_ is None else subnet_over(model, vpc, range_)
            if taken is not None:
                yield hit(system, f"{range_} overlaps subnet {taken.resource.logical_id} ({taken.block})", *_RANGE)


@error(
    "HP-BLK-005",
    on=("AWS::EC2::VPCPeeringConnection",),
    title="peered VPCs are two, and have blocks apart",
    why="EC2 refuses the peering, and the stack rolls back",
    fix="take a block for one of the VPCs that the other does not have",
    allowed="VPCs without a common address",
    source="https://docs.aws.amazon.com/vpc/latest/peering/vpc-peering-basics.html",
)
def peered_vpcs_are_apart(peering: Resource) -> Hit | None:
    own = resource_of(peering.get("VpcId"), VPC)
    if own is not None and resource_of(peering.get("PeerVpcId"), VPC) is own:
        return hit(peering, f"{own.logical_id} is peered with itself", "PeerVpcId")
    common = _common_block(peering)
    if common is None:
        return None
    one, another = common
    text = f"{one.block} of {_vpc_of(peering, 'VpcId')} overlaps {another.block} of {_vpc_of(peering, 'PeerVpcId')}"
    return hit(peering, text, "PeerVpcId", covers=(one.resource, another.resource))


def _common_block(peering: Resource) -> tuple[VpcBlock, VpcBlock] | None:
    """Two blocks of peered VPCs that overlap."""
    own, other = (resource_of(peering.get(key), VPC) for key in ("VpcId", "PeerVpcId"))
    if own is None or other is None or own is other:
        return None
    pairs = ((one, another) for one in blocks_of(own).known for another in blocks_of(other).known)
    return next((pair for pair in pairs if pair[0].block.overlaps(pair[1].block)), None)


def _vpc_of(peering: Resource, key: str) -> str:
    found = resource_of(peering.get(key), VPC)
    return "" if found is None else found.logical_id


@error(
    "HP-BLK-007",
    on="AWS::EC2::Route",
    title="a route leads elsewhere than to its own VPC",
    why="each route table has a local route for each block of its VPC: EC2 refuses a second one (RouteAlreadyExists), and one for "
    "a part of the block unless it leads past an appliance (InvalidParameterValue)",
    fix="write the block of the other network as destination, or take the route out",
    allowed="a destination outside the blocks of the VPC; past an appliance also the whole block of a subnet",
    source="https://docs.aws.amazon.com/vpc/latest/userguide/VPC_Route_Tables.html",
)
def routes_lead_elsewhere(route: Resource) -> Hit | None:
    """Not judged at a peering of VPCs with common blocks, which is another mistake."""
    peering = resource_of(route.get("VpcPeeringConnectionId"))
    if peering is not None and _common_block(peering) is not None:
        return None
    table = resource_of(route.get("RouteTableId"), "AWS::EC2::RouteTable")
    vpc = None if table is None else resource_of(table.get("VpcId"), VPC)
    block = block_of(route.get("DestinationCidrBlock"))
    around = None if vpc is None or block is None else blocks_of(vpc).of(block)
    if around is None or vpc is None or block is None:
        return None
    if around.block != block and any(given(route.get(key)) is not False for key in _APPLIANCES):
        return _no_subnet(route, vpc, block)
    what = "a block" if around.block == block else f"in {around.block}, a block"
    return hit(route, f"{block} is {what} of {vpc.logical_id}, the VPC of the route table itself", "DestinationCidrBlock")


def _no_subnet(route: Resource, vpc: Resource, block: IPv4Network) -> Hit | None:
    """A route past an appliance for a part of a VPC that is not the block of a subnet."""
    model = vpc.template.model
    subnets = [one for one in model.resources(SUBNET) if resource_of(one.get("VpcId"), VPC) in (vpc, None)]
    blocks = [block_of(one.get("CidrBlock")) for one in subnets]
    if not model.complete or None in blocks or block in blocks:
        return None
    return hit(route, f"{block} is in {vpc.logical_id}, and no subnet there has this block", "DestinationCidrBlock")


_APPLIANCES = ("InstanceId", "NatGatewayId", "NetworkInterfaceId", "VpcEndpointId")
"""Targets of a route for a part of a VPC."""


def _hit(one: WrongAddress) -> Hit:
    return hit(one.resource, one.message, *one.path, allowed=one.allowed)


error(
    "HP-BLK-008",
    on=strays,
    title="a chosen address is free in its subnet",
    why="the service refuses it (InvalidParameterValue, IpAddressInUse), and the stack rolls back",
    fix="take a free address of the subnet, or leave the choice to the service",
    allowed="an address of the subnet, without its first four and its last one",
    source=_SUBNETS,
)(_hit)

error(
    "HP-BLK-009",
    on=malformed,
    title="addresses and blocks have four numbers up to 255, and a prefix up to 32",
    why="the service refuses the request, and the stack rolls back",
    fix="write an address such as 10.0.0.10, or a block such as 10.0.0.0/16",
    allowed="four numbers up to 255; of a block also the length of its prefix",
    source=_SUBNETS,
    yields=True,
)(_hit)

warning(
    "HP-BLK-010",
    on=with_bits_behind,
    title="a block begins at its first address",
    why="EC2 drops the bits behind the prefix, so that the block is another one than is written; other services refuse it",
    fix="write the first address of the block, or the prefix that was meant",
    allowed="a block without bits behind its prefix",
    source="https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateSubnet.html",
)(_hit)

error(
    "HP-BLK-011",
    on=beside_their_vpc,
    title="networks beyond a VPC have blocks apart from it and from each other",
    why="the service refuses the block (InvalidParameterException), or answers never come back",
    fix="take a block that no other network has",
    allowed="a block apart from the VPC, from the addresses of services, and from the other networks",
    source="https://docs.aws.amazon.com/eks/latest/userguide/hybrid-nodes-networking.html",
)(_hit)


@warning(
    "HP-BLK-012",
    on="AWS::EC2::Route",
    title="a route by a peering leads to addresses of the other VPC",
    why="a peering leads to the VPC at its other end alone: what is for others is dropped",
    fix="write the block of the other VPC",
    allowed="a block of the VPC at the other end",
    source="https://docs.aws.amazon.com/vpc/latest/peering/vpc-peering-basics.html",
)
def routes_by_a_peering_lead_to_its_end(route: Resource) -> Hit | None:
    peering, table = resource_of(route.get("VpcPeeringConnectionId")), resource_of(route.get("RouteTableId"))
    block = block_of(route.get("DestinationCidrBlock"))
    own = None if table is None else resource_of(table.get("VpcId"), VPC)
    ends = [] if peering is None else [resource_of(peering.get(key), VPC) for key in ("VpcId", "PeerVpcId")]
    other = next((one for one in ends if one is not None and one is not own), None)
    if block is None or own is None or other is None or own not in ends:
        return None
    blocks = blocks_of(other)
    if not blocks.complete or any(block.overlaps(one.block) for one in blocks.known):
        return None
    return hit(route, f"{block} is no block of {other.logical_id}, to which the peering leads", "DestinationCidrBlock")
