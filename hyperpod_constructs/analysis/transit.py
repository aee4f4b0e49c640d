"""Transit gateways: what their route tables do with the traffic of the VPCs that they join.

Answers are of sure cases only: the gateway, its attachments, its tables and the blocks of both VPCs are in the model.

Source: https://docs.aws.amazon.com/vpc/latest/tgw/how-transit-gateways-work.html (as of 2026-11-30)
"""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network
from itertools import chain, permutations
from typing import NamedTuple

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs.analysis.blocks import blocks_of
from hyperpod_constructs.analysis.custom_resources import PREFIXES
from hyperpod_constructs.analysis.networks import NAT, SUBNET, VPC, block_of, network_facts
from hyperpod_constructs.templates.dependencies import references
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, Reference, as_bool, as_str

GATEWAY = "AWS::EC2::TransitGateway"
ATTACHMENTS = ("AWS::EC2::TransitGatewayAttachment", "AWS::EC2::TransitGatewayVpcAttachment")
ASSOCIATION, PROPAGATION = (f"AWS::EC2::TransitGatewayRouteTable{kind}" for kind in ("Association", "Propagation"))
STATIC = "AWS::EC2::TransitGatewayRoute"
_TABLE_OF_GATEWAY = "AWS::EC2::TransitGatewayRouteTable"
_ROUTE, _TABLE = "AWS::EC2::Route", "AWS::EC2::RouteTable"
_OTHERS = (
    "AWS::EC2::TransitGatewayConnect",
    "AWS::EC2::TransitGatewayPeeringAttachment",
    "AWS::EC2::VPNConnection",
    "AWS::NetworkManager::TransitGatewayPeering",
)
"""What else may tell a gateway routes."""
_ATTACHMENT_KEY, _TABLE_KEY = "TransitGatewayAttachmentId", "TransitGatewayRouteTableId"


class Astray(NamedTuple):
    """A resource by which the packets of one VPC to another one, or the answers, surely get lost in a gateway.

    :param lost: the VPC whose packets get lost.
    :param attachments: those of both VPCs.
    """

    resource: Resource
    message: str
    lost: Resource
    attachments: tuple[Resource, Resource]


class _Joined(NamedTuple):
    """A VPC with all its blocks, and its attachment to a gateway.

    :param routes: the routes of the VPC to the gateway, each with its block.
    :param others: its other routes, and those that may be such.
    """

    vpc: Resource
    attachment: Resource
    blocks: tuple[IPv4Network, ...]
    routes: tuple[tuple[Resource, IPv4Network], ...]
    others: tuple[Resource, ...]

    def has(self, block: IPv4Network) -> bool:
        return any(block.subnet_of(one) for one in self.blocks)

    def meets(self, block: IPv4Network) -> bool:
        return any(block.overlaps(one) for one in self.blocks)


class _Entry(NamedTuple):
    """A route of a table of a gateway; without an attachment it drops what it takes."""

    block: IPv4Network
    resource: Resource
    attachment: Resource | None


def lost_in_gateways(model: Model) -> Iterator[Astray]:
    """The first mistake of each two VPCs of a gateway that one of them means to reach by a route of its own."""
    for gateway, joined in _joined(model).items():
        said: set[frozenset[Resource]] = set()
        for one, other in permutations(joined, 2):
            found = next(_between(gateway, one, other), None) if {one.vpc, other.vpc} not in said else None
            if found is not None:
                said.add(frozenset((one.vpc, other.vpc)))
                yield found


def _joined(model: Model) -> dict[Resource, list[_Joined]]:
    """The VPCs of each gateway that nothing but the model tells routes."""
    found = []
    for one in model.resources(*ATTACHMENTS) if model.complete else ():
        gateway, vpc = resource_of(one.get("TransitGatewayId"), GATEWAY), resource_of(one.get("VpcId"), VPC)
        blocks = None if vpc is None else _blocks_of(one)
        if gateway is not None and vpc is not None and blocks is not None and one.exists and gateway.exists:
            found.append((gateway, _Joined(vpc, one, blocks, *_parted(gateway, vpc))))
    return {gateway: joined for gateway, joined in grouped(found).items() if len(joined) > 1 and not _has_helpers(model, gateway)}


def _parted(gateway: Resource, vpc: Resource) -> tuple[tuple[tuple[Resource, IPv4Network], ...], tuple[Resource, ...]]:
    """The routes of a VPC to a gateway, each with its block, and all others."""
    found = [(one, block_of(one.get("DestinationCidrBlock"))) for one in _routes_of(vpc)]
    known = ((one, block) for one, block in found if block is not None and one.exists)
    routes = tuple((one, block) for one, block in known if resource_of(one.get("TransitGatewayId")) is gateway)
    mine = {route for route, _ in routes}
    return routes, tuple(one for one, _ in found if one not in mine)


def _routes_of(vpc: Resource) -> Iterator[Resource]:
    """The routes of the tables of a VPC, and those that may be such."""
    model = vpc.template.model
    routes = model.cached(_routes_of, lambda: grouped((_owner(one), one) for one in model.resources(_ROUTE)))
    return chain(routes.get(vpc, ()), routes.get(None, ()))


def _owner(route: Resource) -> Resource | None:
    """The VPC of the table of a route, if it is known."""
    table = resource_of(route.get("RouteTableId"), _TABLE)
    return None if table is None else resource_of(table.get("VpcId"))


def _has_helpers(model: Model, gateway: Resource) -> bool:
    """Whether a custom resource names a gateway or one of its tables, and may make routes there."""
    tables = [one for one in model.resources(_TABLE_OF_GATEWAY) if resource_of(one.get("TransitGatewayId")) is gateway]
    own = (one for one in model.resources() if one.type.startswith(PREFIXES))
    return any(not {*references(one.properties)}.isdisjoint([gateway, *tables]) for one in own)


def _between(gateway: Resource, one: _Joined, other: _Joined) -> Iterator[Astray]:
    """What is wrong on the way from a VPC with a route to the other one alone, or on the way back."""
    meant = [route for route, block in one.routes if other.has(block)]
    if not meant:
        return
    block = block_of(meant[0].get("DestinationCidrBlock"))
    assert block is not None
    yield from _lost(gateway, one, other, block)
    asking = _sources(meant[0]) or one.blocks
    back = [found for _, found in other.routes if any(found.overlaps(source) for source in asking)]
    if not back and not any(_may_take(route, one) for route in other.others):
        wrong = [route for route, found in other.routes if one.has(found) or not _is_anywhere(gateway, found)]
        text = f"no route of {other.vpc.logical_id} leads back to {one.vpc.logical_id}, which leads there by {meant[0].logical_id}"
        yield Astray(wrong[0] if len(wrong) == 1 else other.attachment, text, other.vpc, _both(one, other))
    elif back:
        yield from _lost(gateway, other, one, one.blocks[0], answers=True)


def _lost(gateway: Resource, one: _Joined, other: _Joined, block: IPv4Network, *, answers: bool = False) -> Iterator[Astray]:
    """Where the table of an attachment has no route to a block of the other VPC, or one that does not lead there."""
    table = _table_of(gateway, one.attachment)
    entries = None if table is None else _entries(gateway, table)
    if table is None or entries is None:
        return
    what = "answers" if answers else "packets"
    text = f"the {what} of {one.vpc.logical_id} to {other.vpc.logical_id} are dropped"
    near = [entry for entry in entries if any(entry.block.overlaps(far) for far in (other.blocks if answers else (block,)))]
    best = max((entry for entry in near if block.subnet_of(entry.block)), key=_precedence, default=None)
    if not near:
        yield Astray(_culprit(gateway, one, other, table), f"{text}: {_said(table)} has no route there", one.vpc, _both(one, other))
    elif best is not None and not any(entry.block != best.block and entry.block.subnet_of(best.block) for entry in near):
        if best.attachment is None:
            yield Astray(best.resource, f"{text}: it takes {best.block} from them", one.vpc, _both(one, other))
        elif best.attachment is one.attachment:
            yield Astray(best.resource, f"{text}: it leads {best.block} back to {one.vpc.logical_id}", one.vpc, _both(one, other))


def _precedence(entry: _Entry) -> tuple[int, bool]:
    """The longest prefix decides, and of one prefix the static route."""
    return entry.block.prefixlen, entry.resource.type == STATIC


def _both(one: _Joined, other: _Joined) -> tuple[Resource, Resource]:
    return one.attachment, other.attachment


def _said(table: Resource) -> str:
    return f"the default table of {table.logical_id}" if table.type == GATEWAY else table.logical_id


def _culprit(gateway: Resource, one: _Joined, other: _Joined, table: Resource) -> Resource:
    """What was meant to tell a table of a VPC: a route or a propagation of its attachment that tells another table, or another
    block; else the association with this table, if other associations share the one that is told."""
    model = gateway.template.model
    meant = [entry for entry in _naming(model, other.attachment, STATIC) if resource_of(entry.get(_TABLE_KEY)) is table]
    told = [entry for entry in _naming(model, other.attachment, PROPAGATION, STATIC) if entry not in meant]
    own = _naming(model, one.attachment, ASSOCIATION)
    shared = own and any(resource_of(entry.get(_TABLE_KEY)) is resource_of(mine.get(_TABLE_KEY)) for entry in told for mine in told)
    if meant:
        return meant[0]
    if told and table.type != GATEWAY:
        return own[0] if shared and _is_lonely(model, table) else told[0]
    return other.attachment if table.type == GATEWAY else table


def _is_lonely(model: Model, table: Resource) -> bool:
    """Whether nothing tells a table of routes."""
    return not any(resource_of(one.get(_TABLE_KEY)) is table for one in model.resources(PROPAGATION, STATIC))


def _naming(model: Model, attachment: Resource, *types: str) -> list[Resource]:
    return [one for one in model.resources(*types) if resource_of(one.get(_ATTACHMENT_KEY)) is attachment]


def _table_of(gateway: Resource, attachment: Resource) -> Resource | None:
    """The table that an attachment uses; the gateway itself for its default one; `None` if it is not known."""
    model = gateway.template.model
    named = [one for one in model.resources(ASSOCIATION) if _may_be(one.get(_ATTACHMENT_KEY), attachment)]
    if named:
        one = named[0]
        sure = len(named) == 1 and one.exists and resource_of(one.get(_ATTACHMENT_KEY)) is attachment
        return resource_of(one.get(_TABLE_KEY), _TABLE_OF_GATEWAY) if sure else None
    default = gateway.get("DefaultRouteTableAssociation")
    return gateway if default is ABSENT or as_str(default) == "enable" else None


def _may_be(value: object, resource: Resource) -> bool:
    return not isinstance(value, Reference) or resource_of(value) is resource


def _entries(gateway: Resource, table: Resource) -> list[_Entry] | None:
    """The routes of a table; `None` if they are not all known."""
    model = gateway.template.model
    if any(resource_of(one.get("TransitGatewayId"), GATEWAY) in (gateway, None) for one in model.resources(*_OTHERS)):
        return None
    found: list[_Entry] = []
    for one in model.resources(PROPAGATION, STATIC):
        if not isinstance(one.get(_TABLE_KEY), Reference) or not one.exists:
            return None
        if resource_of(one.get(_TABLE_KEY)) is table:
            told = _told(one)
            if told is None:
                return None
            found += told
    if table is not gateway:
        return found
    default = gateway.get("DefaultRouteTablePropagation")
    if default is not ABSENT and as_str(default) != "enable":
        return None
    attached = (one for one in model.resources(*ATTACHMENTS) if _may_be(one.get("TransitGatewayId"), gateway))
    blocks = [(one, _blocks_of(one)) for one in attached]
    if any(known is None for _, known in blocks):
        return None
    return found + [_Entry(block, one, one) for one, known in blocks for block in known or ()]


def _told(one: Resource) -> list[_Entry] | None:
    """The routes of a table by a propagation or a static route; `None` if they are not known."""
    attachment = resource_of(one.get(_ATTACHMENT_KEY), *ATTACHMENTS)
    if one.type == PROPAGATION:
        blocks = None if attachment is None else _blocks_of(attachment)
        return None if blocks is None else [_Entry(block, one, attachment) for block in blocks]
    block, hole = block_of(one.get("DestinationCidrBlock")), as_bool(one.get("Blackhole"))
    return None if block is None or (attachment is None and not hole) else [_Entry(block, one, attachment)]


def _blocks_of(attachment: Resource) -> tuple[IPv4Network, ...] | None:
    vpc = resource_of(attachment.get("VpcId"), VPC)
    blocks = None if vpc is None else blocks_of(vpc)
    return tuple(one.block for one in blocks.known) if blocks is not None and blocks.complete else None


def _may_take(route: Resource, there: _Joined) -> bool:
    """Whether a route may take packets to a VPC: those to the internet do not."""
    block = block_of(route.get("DestinationCidrBlock"))
    outside = resource_of(route.get("NatGatewayId"), NAT) is not None or route.get("GatewayId") is not ABSENT
    return not outside and (block is None or there.meets(block))


def _is_anywhere(gateway: Resource, block: IPv4Network) -> bool:
    """Whether a VPC of the model has a part of a block."""
    vpcs = gateway.template.model.resources(VPC)
    return any(block.overlaps(one.block) for vpc in vpcs for one in blocks_of(vpc).known)


def _sources(route: Resource) -> tuple[IPv4Network, ...]:
    """The blocks of the subnets whose packets a route takes; none if they are not all known."""
    model, table = route.template.model, resource_of(route.get("RouteTableId"), _TABLE)
    subnets = (network_facts(model).subnet(one) for one in model.resources(SUBNET))
    found = [one.cidr for one in subnets if isinstance(one.route_table, Reference) and resource_of(one.route_table) is table]
    return () if None in found else tuple(one for one in found if one is not None)
