"""The IPv4 blocks of VPCs and of their subnets.

Answers are of sure blocks only: one under a condition, or with a value that is not known, is in none.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs.analysis.networks import SUBNET, VPC, block_of
from hyperpod_constructs.templates.dependencies import awaits
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT

_VPC_BLOCK = "AWS::EC2::VPCCidrBlock"
_MOST_BLOCKS = 50  # the highest quota for the blocks of a VPC


@dataclass(frozen=True)
class VpcBlock:
    """A block that a template gives to a VPC."""

    resource: Resource
    """The VPC, or the resource that adds the block to one."""
    block: IPv4Network
    before: tuple[IPv4Network, ...] = ()
    """The blocks that the VPC surely has by then, the primary one first; none if the primary one is not known."""
    beside: tuple[IPv4Network, ...] = ()
    """The further blocks that the VPC gets in an order that nobody knows."""
    primary: IPv4Network | None = None


@dataclass(frozen=True)
class VpcBlocks:
    """The blocks of a VPC of the model."""

    vpc: Resource
    known: tuple[VpcBlock, ...]
    complete: bool
    """Whether they are surely all."""

    def of(self, block: IPv4Network) -> VpcBlock | None:
        """The block of the VPC in which another one lies."""
        return next((one for one in self.known if block.subnet_of(one.block)), None)


def vpc_blocks(model: Model) -> Iterator[VpcBlock]:
    """The known IPv4 blocks of the VPCs of a model."""
    for vpc in model.resources(VPC):
        if (block := block_of(vpc.get("CidrBlock"))) is not None:
            yield VpcBlock(vpc, block)
    for owner, resources in _added(model).items():
        yield from _further(None if owner is None else block_of(owner.get("CidrBlock")), resources)


def _added(model: Model) -> dict[Resource | None, list[Resource]]:
    return model.cached(_added, lambda: grouped((resource_of(one.get("VpcId"), VPC), one) for one in model.resources(_VPC_BLOCK)))


def _further(first: IPv4Network | None, resources: Iterable[Resource]) -> Iterator[VpcBlock]:
    """Blocks that are added to one VPC."""
    blocks = [(one, block) for one in resources if (block := block_of(one.get("CidrBlock"))) is not None]
    near = blocks[:_MOST_BLOCKS]
    for place, (resource, block) in enumerate(blocks):
        earlier = [known for other, known in near if awaits(resource, other)]
        others = (known for other, known in near[:place] if other.exists and resource.exists)
        beside = tuple(known for known in others if known not in earlier)
        yield VpcBlock(resource, block, () if first is None else (first, *earlier), beside, first)


def blocks_of(vpc: Resource) -> VpcBlocks:
    """The blocks of a VPC; computed once."""
    return vpc.template.model.cached((blocks_of, vpc), lambda: _blocks_of(vpc))


def _blocks_of(vpc: Resource) -> VpcBlocks:
    model = vpc.template.model
    sources = [vpc, *_added(model).get(vpc, ())]
    found = [(one, block_of(one.get("CidrBlock"))) for one in sources[:_MOST_BLOCKS]]
    known = tuple(VpcBlock(one, block) for one, block in found if block is not None)
    pools = any(one.get("Ipv4IpamPoolId") is not ABSENT for one in sources)
    strangers = any(resource_of(one.get("VpcId")) is None for one in _added(model).get(None, ()))
    ipv6 = [one for one, block in found if block is None and one.get("CidrBlock") is ABSENT]
    complete = model.complete and not pools and not strangers and len(known) + len(ipv6) == len(sources)
    return VpcBlocks(vpc, known, complete and vpc not in ipv6)


_IPV6 = ("AmazonProvidedIpv6CidrBlock", "Ipv6CidrBlock", "Ipv6IpamPoolId", "Ipv6Pool")


def has_ipv6(vpc: Resource) -> bool | None:
    """Whether a VPC gets a block of IPv6; `None` if that is not known."""
    model = vpc.template.model
    added = [*_added(model).get(vpc, ()), *_added(model).get(None, ())]
    found = any(one.get(key) is not ABSENT for one in added for key in _IPV6)
    return True if found else False if model.complete else None


def takes_ipv6(subnet: Resource) -> bool:
    """Whether a subnet surely has a block of IPv6: one that is written, or a part of its VPC's."""
    properties = subnet.raw.get("Properties")
    written = properties.get("Ipv6CidrBlock") if isinstance(properties, dict) else None
    return isinstance(written, dict) and {*written} <= _PARTS_OF_BLOCKS if isinstance(written, dict) else bool(written)


_PARTS_OF_BLOCKS = {"Fn::Cidr", "Fn::Select", "Fn::Sub"}
"""Functions that give a part of a block, and never nothing."""


def late_ipv6(model: Model) -> Iterator[tuple[Resource, Resource]]:
    """The subnets with a block of IPv6 that do not await the block of their VPC, each with what adds that."""
    for subnet in model.resources(SUBNET) if model.resources(_VPC_BLOCK) else ():
        vpc = resource_of(subnet.get("VpcId"), VPC)
        added = () if vpc is None or not takes_ipv6(subnet) else _added(model).get(vpc, ())
        adding = [one for one in added if any(one.get(key) is not ABSENT for key in _IPV6) and one.exists]
        beside = [one for one in adding if one.template.root is subnet.template.root]
        if beside and subnet.exists and not any(awaits(subnet, one) for one in adding):
            yield subnet, beside[0]


def outside_of(subnet: Resource) -> VpcBlocks | None:
    """The blocks of a subnet's VPC, if they are all known and its own block is in none of them."""
    vpc, block = resource_of(subnet.get("VpcId"), VPC), block_of(subnet.get("CidrBlock"))
    blocks = None if vpc is None or block is None else blocks_of(vpc)
    return blocks if blocks is not None and blocks.complete and block is not None and blocks.of(block) is None else None


@dataclass(frozen=True)
class SubnetBlock:
    """The block of a subnet, and the VPC that surely has it."""

    resource: Resource
    block: IPv4Network
    vpc: Resource | str
    """The VPC, or the literal id of one from elsewhere."""


def subnet_blocks(model: Model) -> tuple[SubnetBlock, ...]:
    """The sure blocks of subnets; computed once."""
    return model.cached(subnet_blocks, lambda: tuple(_subnet_blocks(model)))


def _subnet_blocks(model: Model) -> Iterator[SubnetBlock]:
    for subnet in model.resources(SUBNET):
        id, block = subnet.get("VpcId"), block_of(subnet.get("CidrBlock"))
        vpc = id if isinstance(id, str) else resource_of(id, VPC)
        if block is not None and vpc is not None and subnet.exists:
            yield SubnetBlock(subnet, block, vpc)


def added_block(one: SubnetBlock) -> Resource | None:
    """What adds the block in which a subnet lies to its VPC."""
    known = None if isinstance(one.vpc, str) else blocks_of(one.vpc).of(one.block)
    return None if known is None or known.resource.type == VPC else known.resource


def subnet_over(model: Model, vpc: Resource, block: IPv4Network) -> SubnetBlock | None:
    """A subnet of a VPC whose block overlaps another one."""
    subnets = model.cached((subnet_over, vpc), lambda: sorted((one for one in subnet_blocks(model) if one.vpc is vpc), key=_start))
    place = bisect.bisect_right(subnets, block.broadcast_address, key=_start)
    found = subnets[place - 1] if place else None
    return found if found is not None and found.block.overlaps(block) else None


def has_no_subnet_in(vpc: Resource, block: IPv4Network) -> bool:
    """Whether no subnet of a VPC surely has addresses of a block, if all subnets of the VPC are in the model."""
    model = vpc.template.model
    return _are_all_known(model) and subnet_over(model, vpc, block) is None


def _are_all_known(model: Model) -> bool:
    """Whether the blocks and the VPCs of all subnets are known; computed once."""
    return model.cached(_are_all_known, lambda: len(subnet_blocks(model)) == len(model.resources(SUBNET)))


def _start(one: SubnetBlock) -> IPv4Address:
    return one.block.network_address


def overlapping(model: Model) -> Iterator[tuple[SubnetBlock, SubnetBlock]]:
    """Pairs of subnets of one VPC whose blocks overlap, the later one of the templates first; each later one once."""
    places = {one.resource: place for place, one in enumerate(subnet_blocks(model))}
    for members in grouped((one.vpc, one) for one in subnet_blocks(model)).values():
        widest: SubnetBlock | None = None
        for one in sorted(members, key=lambda one: (one.block.network_address, one.block.prefixlen)):
            if widest is not None and one.block.overlaps(widest.block):
                first, second = sorted((widest, one), key=lambda one: places[one.resource])
                yield second, first
            if widest is None or one.block.broadcast_address > widest.block.broadcast_address:
                widest = one
