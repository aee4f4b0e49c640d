"""Networks that are joined on one side only: a peering or a transit gateway that answers do not come back by.

Answers are of sure cases only: both networks, and all that leads between them, are in the model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from hyperpod_constructs.analysis.networks import SUBNET, VPC, network_facts
from hyperpod_constructs.analysis.paths import place_in
from hyperpod_constructs.analysis.placement import users_of_subnets
from hyperpod_constructs.analysis.security_groups import SECURITY_GROUP
from hyperpod_constructs.analysis.transit import ASSOCIATION, ATTACHMENTS, GATEWAY, PROPAGATION, STATIC, lost_in_gateways
from hyperpod_constructs.templates.dependencies import references
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, Reference, Value, as_bool, as_items, as_str

_ROUTE, _TABLE, _PEERING = "AWS::EC2::Route", "AWS::EC2::RouteTable", "AWS::EC2::VPCPeeringConnection"
_VPN = "AWS::EC2::VPNConnection"
_ASKING: Mapping[str, str] = {
    "AWS::EC2::Instance": "SubnetId",
    "AWS::Lambda::Function": "VpcConfig/SubnetIds/*",
    "AWS::Route53Resolver::ResolverEndpoint": "IpAddresses/*/SubnetId",
}
"""Types beside nodes whose interfaces are in each subnet that they name, by the place of the names."""


class OneWay(NamedTuple):
    """What joins two networks and leads one way at most.

    :param tables: the tables of the VPCs that it joins, where one of them may be the mistake.
    :param covers: the groups of a VPC that nobody reaches by it.
    """

    resource: Resource
    message: str
    tables: tuple[Resource, ...] = ()
    covers: tuple[Resource, ...] = ()


def one_way(model: Model) -> Iterator[OneWay]:
    """The peerings and attachments that surely lead one way at most."""
    if model.complete and model.resources(_PEERING, GATEWAY, *ATTACHMENTS):
        yield from _peerings(model)
        alone = [*_attachments(model), *_unattached(model)]
        yield from alone
        yield from _lost(model, {one.resource for one in alone})
        yield from _silent(model)


def _lost(model: Model, said: set[Resource]) -> Iterator[OneWay]:
    """What loses the packets between two VPCs in their gateway, unless one of them is not joined to it at all."""
    for one in lost_in_gateways(model):
        if said.isdisjoint((one.resource, *one.attachments)):
            yield OneWay(one.resource, one.message, covers=_groups(one.lost))


def _groups(vpc: Resource) -> tuple[Resource, ...]:
    return tuple(one for one in vpc.template.model.resources(SECURITY_GROUP) if resource_of(one.get("VpcId")) is vpc)


def _peerings(model: Model) -> Iterator[OneWay]:
    """A peering of two VPCs, of which one alone has a route to the other."""
    for peering in model.resources(_PEERING):
        sides = [resource_of(peering.get(key), VPC) for key in ("VpcId", "PeerVpcId")]
        leads = [None if vpc is None else _leads(vpc, "VpcPeeringConnectionId", peering) for vpc in sides]
        if peering.exists and {True, False} == set(leads):
            lacking, other = (sides if leads[0] is False else sides[::-1])[:2]
            if lacking is not None and other is not None:
                text = f"no route of {lacking.logical_id} leads back to {other.logical_id} by {peering.logical_id}"
                yield OneWay(peering, text, (*_tables(lacking), *_tables(other)))


def _attachments(model: Model) -> Iterator[OneWay]:
    """The attachments by which answers surely do not come back, or requests do not get there."""
    for one in model.resources(*ATTACHMENTS):
        vpc, message = resource_of(one.get("VpcId"), VPC), _lacking(one) if one.exists else None
        if message is not None:
            yield OneWay(one, message)
        elif vpc is not None and one.exists and _leads(vpc, "TransitGatewayId", one.get("TransitGatewayId")) is False:
            yield OneWay(one, f"no route of {vpc.logical_id} leads to the gateway of {one.logical_id}", _tables(vpc), _groups(vpc))


def _unattached(model: Model) -> Iterator[OneWay]:
    """The first route of each VPC to a gateway of the model that surely has no attachment there."""
    joined = [(one.get("TransitGatewayId"), resource_of(one.get("VpcId"), VPC)) for one in model.resources(*ATTACHMENTS)]
    said: set[tuple[Resource, Resource]] = set()
    for route in model.resources(_ROUTE):
        table, gateway = resource_of(route.get("RouteTableId"), _TABLE), resource_of(route.get("TransitGatewayId"), GATEWAY)
        vpc = None if table is None else resource_of(table.get("VpcId"), VPC)
        if vpc is None or gateway is None or not route.exists or (vpc, gateway) in said:
            continue
        if all(is_same_end(end, gateway) is False or one not in (vpc, None) for end, one in joined):
            said.add((vpc, gateway))
            yield OneWay(route, f"{gateway.logical_id} has no attachment to {vpc.logical_id}, so that no route leads there")


def _silent(model: Model) -> Iterator[OneWay]:
    """The VPN connections without BGP of a gateway of which no table has a route but to VPCs: nothing leads to their networks."""
    routes = [one.get("TransitGatewayAttachmentId") for one in model.resources(STATIC)]
    if any(resource_of(end, *ATTACHMENTS) is None for end in routes):
        return
    for one in model.resources(_VPN):
        gateway = resource_of(one.get("TransitGatewayId"), GATEWAY)
        if gateway is not None and one.exists and as_bool(one.get("StaticRoutesOnly")) and not _told(model, one, gateway):
            text = f"it has no BGP (StaticRoutesOnly), and no route of {gateway.logical_id} leads to the network behind it"
            yield OneWay(one, text)


def _told(model: Model, *ends: Resource) -> bool:
    """Whether a custom resource names one of these, and may make routes for it."""
    own = (one for one in model.resources() if one.type.startswith(("Custom::", "AWS::CloudFormation::CustomResource")))
    return any(not {*references(one.properties)}.isdisjoint(ends) for one in own)


def _lacking(one: Resource) -> str | None:
    """What an attachment lacks: a table where its gateway gives none, a route there to it, or a subnet in the zone of others."""
    model, name = one.template.model, one.logical_id
    vpc, gateway = resource_of(one.get("VpcId"), VPC), resource_of(one.get("TransitGatewayId"), GATEWAY)
    if gateway is not None and _is_off(gateway, "DefaultRouteTableAssociation") and not _named(model, one, ASSOCIATION):
        return f"{gateway.logical_id} gives attachments no table, and no association gives {name} one"
    alone = gateway is not None and _is_off(gateway, "DefaultRouteTablePropagation")
    if gateway is not None and alone and not _named(model, one, PROPAGATION, STATIC):
        return f"no table of {gateway.logical_id} has a route or a propagation to {name}, so answers are dropped"
    far = None if vpc is None else _far_from(one, vpc)
    return None if far is None else f"it has no subnet in the zone of {far.logical_id}, whose table leads to its gateway"


def _far_from(attachment: Resource, vpc: Resource) -> Resource | None:
    """A subnet in use whose table leads to the gateway of an attachment, and that surely is in none of its zones."""
    facts, end = network_facts(attachment.template.model), attachment.get("TransitGatewayId")
    named = [resource_of(one, SUBNET) for one in as_items(attachment.get("SubnetIds")) or ()]
    zones = [facts.subnet(one).zone for one in named if one is not None]
    own = (facts.subnet(one) for one in _used(attachment.template.model) if zones and None not in named)
    for one in (one for one in own if one.vpc is vpc):
        leads = any(is_same_end(route.get("TransitGatewayId"), end) for route in one.routes)
        if leads and all(one.zone.is_same(zone) is False for zone in zones):
            return one.resource
    return None


def _used(model: Model) -> Iterator[Resource]:
    """The subnets of nodes, and of others that send packets."""
    yield from users_of_subnets(model)
    for one in model.resources(*_ASKING):
        for _, named in place_in(one.properties, _ASKING[one.type]):
            subnet = resource_of(named, SUBNET)
            if subnet is not None and one.exists:
                yield subnet


def _is_off(gateway: Resource, key: str) -> bool:
    return as_str(gateway.get(key)) == "disable"


def _named(model: Model, attachment: Resource, *types: str) -> bool:
    """Whether a resource of some types names an attachment, or may name it."""
    named = [one.get("TransitGatewayAttachmentId") for one in model.resources(*types)]
    return any(not isinstance(value, Reference) or resource_of(value) is attachment for value in named if value is not ABSENT)


def _leads(vpc: Resource, key: str, end: Resource | Value) -> bool | None:
    """Whether a route of the tables of a VPC leads to an end; `None` if one may."""
    perhaps = not vpc.template.complete or not _tables(vpc)
    for route in vpc.template.model.resources(_ROUTE):
        target, table = route.get(key), resource_of(route.get("RouteTableId"), _TABLE)
        inside = None if table is None else resource_of(table.get("VpcId"), VPC)
        if target is ABSENT or (inside is not None and inside is not vpc):
            continue
        same = is_same_end(target, end)
        if same and inside is vpc and route.exists:
            return True
        perhaps = perhaps or same is not False
    return None if perhaps else False


def _tables(vpc: Resource) -> tuple[Resource, ...]:
    return tuple(one for one in vpc.template.model.resources(_TABLE) if resource_of(one.get("VpcId")) is vpc)


def is_same_end(target: Value, end: Resource | Value) -> bool | None:
    """Whether two ends of routes are one; `None` if that is not known."""
    if isinstance(end, Resource):
        return resource_of(target) is end if isinstance(target, Reference) else None
    if isinstance(target, Reference) and isinstance(end, Reference):
        return resource_of(target) is resource_of(end)
    known = as_str(target), as_str(end)
    return None if None in known else known[0] == known[1]
