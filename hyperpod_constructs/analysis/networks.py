"""Subnets, routes and endpoints of the VPCs in the templates.

    >>> facts = network_facts(model)
    >>> facts.subnet(resource).is_public
    False

Answers are `None` where they are not known: the VPC or its routes are another template's, or a value is unknown.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs.analysis.answers import all_of, any_of
from hyperpod_constructs.analysis.naming import Naming
from hyperpod_constructs.analysis.security_groups import is_resource
from hyperpod_constructs.facts import addresses
from hyperpod_constructs.templates.dependencies import awaits
from hyperpod_constructs.templates.model import Model, Resource, resource_of, target_of
from hyperpod_constructs.templates.values import ABSENT, UNKNOWN, Either, Reference, Text, Value, as_items, as_str

VPC = "AWS::EC2::VPC"
SUBNET = "AWS::EC2::Subnet"
ENDPOINT = "AWS::EC2::VPCEndpoint"

_ASSOCIATION = "AWS::EC2::SubnetRouteTableAssociation"
_VPC_BLOCK = "AWS::EC2::VPCCidrBlock"
_MOST_BLOCKS = 50  # the highest quota for the blocks of a VPC
_ROUTE = "AWS::EC2::Route"
_EVERYWHERE = ("0.0.0.0/0", "::/0")
_GATEWAYS = ("AWS::EC2::InternetGateway", "AWS::EC2::VPCGatewayAttachment")
_SERVICE_STEMS = ("com.amazonaws.", "cn.com.amazonaws.")
_SERVICE = re.compile(r"^(cn\.)?com\.amazonaws\.[a-z]{2}[a-z-]*-\d\.")
# Targets of a default route that may lead to the internet.
_ELSEWHERE = (
    "CarrierGatewayId",
    "CoreNetworkArn",
    "EgressOnlyInternetGatewayId",
    "InstanceId",
    "LocalGatewayId",
    "NetworkInterfaceId",
    "TransitGatewayId",
    "VpcEndpointId",
    "VpcPeeringConnectionId",
)


@dataclass(frozen=True)
class Subnet:
    """A subnet of the model."""

    resource: Resource
    routes: tuple[Resource, ...]
    """The routes of its table, without the local ones. A subnet without a table of its own has no routes:
    CloudFormation cannot add one to the main table of a VPC that it creates."""
    route_table: Value
    """Its table; `ABSENT` if it uses the main one, `UNKNOWN` if that is not known."""
    gateway_endpoints: tuple[Resource, ...]
    """Gateway endpoints that are surely on its table."""
    complete: bool
    """Whether routes and endpoints are all there are."""

    @property
    def vpc(self) -> Resource | None:
        """Its VPC, if that is in the model."""
        return resource_of(self.resource.get("VpcId"), VPC)

    @cached_property
    def cidr(self) -> ipaddress.IPv4Network | None:
        """Its IPv4 block, if it is known."""
        return _as_network(self.resource.get("CidrBlock"))

    @property
    def usable_addresses(self) -> int | None:
        """The addresses that interfaces can have in it, if its block is known."""
        return None if self.cidr is None else max(0, self.cidr.num_addresses - addresses.RESERVED_ADDRESSES)

    @property
    def zone(self) -> Zone:
        """Where it is."""
        return Zone(self.resource.get("AvailabilityZone"), self.resource.get("AvailabilityZoneId"))

    @property
    def is_public(self) -> bool | None:
        """Whether its default route leads to an internet gateway: nodes get no public address, and so no way out of it."""
        answers = [_to_internet_gateway(route) for route in self.routes]
        return any_of([*answers, False if self.complete else None])

    @property
    def reaches_internet(self) -> bool | None:
        """Whether interfaces without public addresses reach the internet: by a default route to a NAT gateway."""
        answers = [_to_nat(route) for route in self.routes]
        return any_of([*answers, False if self.complete else None])

    def has_gateway_endpoint(self, service: str) -> bool | None:
        """Whether its table has the gateway endpoint of a service, such as `s3`."""
        answers = [_serves(endpoint, service) for endpoint in self.gateway_endpoints]
        return any_of([*answers, False if self.complete else None])


@dataclass(frozen=True, slots=True)
class Zone:
    """An availability zone by name, by id, or both."""

    name: Value = ABSENT
    id: Value = ABSENT

    def is_same(self, other: Zone) -> bool | None:
        """Whether two zones are one; `None` if they are not given alike, or not known."""
        for own, others in ((self.id, other.id), (self.name, other.name)):
            one, two = _zone_text(own), _zone_text(others)
            if one is not None and two is not None:
                return one == two
        source = _zone_source(self.name)
        return True if source is not None and source is _zone_source(other.name) else None


class NetworkFacts:
    """The networks of a model."""

    def __init__(self, model: Model) -> None:
        self._model = model

    def subnet(self, resource: Resource) -> Subnet:
        """A subnet of the model."""
        return self._subnets[resource]

    def interface_endpoints(self, vpc: Resource) -> tuple[Resource, ...]:
        """The interface endpoints that are surely in a VPC."""
        return tuple(
            endpoint
            for endpoint in self._model.resources(ENDPOINT)
            if is_resource(endpoint.get("VpcId"), vpc) and as_str(endpoint.get("VpcEndpointType")) == "Interface"
        )

    def has_interface_endpoint(self, vpc: Resource, service: str, *, besides: Sequence[Resource] = ()) -> bool | None:
        """Whether a VPC has the interface endpoint of a service, such as `ssmmessages` or `ecr.dkr`; computed once.

        :param besides: endpoints that do not count.
        """
        key = (ENDPOINT, vpc, service, tuple(besides))
        return self._model.cached(key, lambda: self._interface_endpoint(vpc, service, besides))

    def _interface_endpoint(self, vpc: Resource, service: str, besides: Sequence[Resource]) -> bool | None:
        answers: list[bool | None] = []
        for endpoint, inside in self._naming(ENDPOINT, "VpcId", vpc):
            kind = endpoint.get("VpcEndpointType")
            if endpoint not in besides:
                answers.append(all_of((inside, None if kind is UNKNOWN else kind == "Interface", _serves(endpoint, service))))
        return any_of([*answers, False if vpc.template.complete else None])

    @staticmethod
    def serves(endpoint: Resource, service: str) -> bool | None:
        """Whether an endpoint is of a service."""
        return _serves(endpoint, service)

    @cached_property
    def _subnets(self) -> Mapping[Resource, Subnet]:
        return {resource: self._described(resource) for resource in self._model.resources(SUBNET)}

    def _described(self, subnet: Resource) -> Subnet:
        table = self._table_of(subnet)
        owned = resource_of(subnet.get("VpcId"), VPC) is not None
        known = table is ABSENT or isinstance(table, Reference)
        routes: list[Resource] = []
        endpoints: list[Resource] = []
        complete = known and subnet.template.complete and (owned or table is not ABSENT)
        if isinstance(table, Reference):
            for route, named in self._naming(_ROUTE, "RouteTableId", target_of(table)):
                complete = complete and named is True
                routes += [route] if named else []
            for endpoint, named in self._endpoints_on(target_of(table)):
                complete = complete and named is True
                endpoints += [endpoint] if named else []
        return Subnet(subnet, tuple(routes), table, tuple(endpoints), complete)

    def _table_of(self, subnet: Resource) -> Value:
        perhaps = False
        for association, named in self._naming(_ASSOCIATION, "SubnetId", subnet):
            if named:
                table = association.get("RouteTableId")
                return table if isinstance(table, Reference) else UNKNOWN
            perhaps = True
        return UNKNOWN if perhaps else ABSENT

    def _naming(self, type_: str, key: str, target: Resource) -> Iterator[tuple[Resource, bool | None]]:
        """Resources whose property names the target: surely, or perhaps (`None`)."""
        naming = self._model.cached((Naming, type_, key), lambda: Naming(self._model.resources(type_), lambda one: (one.get(key),)))
        for resource in naming.of(target):
            named = is_resource(resource.get(key), target)
            if named is not False:
                yield resource, named if resource.exists else None

    def _endpoints_on(self, table: Resource) -> Iterator[tuple[Resource, bool | None]]:
        endpoints = self._model.resources(ENDPOINT)
        naming = self._model.cached((Naming, ENDPOINT), lambda: Naming(endpoints, lambda one: as_items(one.get("RouteTableIds"))))
        for endpoint in naming.of(table):
            if as_str(endpoint.get("VpcEndpointType")) not in ("Gateway", None):
                continue
            tables = as_items(endpoint.get("RouteTableIds"))
            answers = [None] if tables is None else [is_resource(item, table) for item in tables]
            if True in answers:
                yield endpoint, endpoint.exists
            elif None in answers:
                yield endpoint, None


@dataclass(frozen=True)
class VpcBlock:
    """A block that a template gives to a VPC."""

    resource: Resource
    """The VPC, or the resource that adds the block to one."""
    block: ipaddress.IPv4Network
    before: tuple[ipaddress.IPv4Network, ...]
    """The blocks that the VPC surely has by then, the primary one first; none if the primary one is not known."""


def vpc_blocks(model: Model) -> Iterator[VpcBlock]:
    """The known IPv4 blocks of the VPCs of a model."""
    for vpc in model.resources(VPC):
        if (block := _as_network(vpc.get("CidrBlock"))) is not None:
            yield VpcBlock(vpc, block, ())
    added = grouped((resource_of(one.get("VpcId"), VPC), one) for one in model.resources(_VPC_BLOCK))
    for owner, resources in added.items():
        blocks = [(one, block) for one in resources if (block := _as_network(one.get("CidrBlock"))) is not None]
        first = None if owner is None else _as_network(owner.get("CidrBlock"))
        for resource, block in blocks:
            earlier = (known for other, known in blocks[:_MOST_BLOCKS] if awaits(resource, other))
            yield VpcBlock(resource, block, () if first is None else (first, *earlier))


def network_facts(model: Model) -> NetworkFacts:
    """The networks of a model; computed once."""
    return model.cached(NetworkFacts, lambda: NetworkFacts(model))


def _as_network(value: Value) -> ipaddress.IPv4Network | None:
    """An IPv4 block, also as an attribute of the VPC or subnet that has it; `None` if it is not known or malformed."""
    if isinstance(value, Reference) and value.attribute == "CidrBlock" and value.resource.type in (VPC, SUBNET):
        value = target_of(value).get("CidrBlock")
    text = as_str(value)
    try:
        return None if text is None else ipaddress.IPv4Network(text)
    except ValueError:
        return None


def _is_default(route: Resource) -> bool | None:
    blocks = [route.get(key) for key in ("DestinationCidrBlock", "DestinationIpv6CidrBlock")]
    given = [block for block in blocks if block is not ABSENT]
    if any(as_str(block) in _EVERYWHERE for block in given):
        return True
    return None if any(as_str(block) is None for block in given) else False


def _to_internet_gateway(route: Resource) -> bool | None:
    default, target = _is_default(route), route.get("GatewayId")
    if default is False or target is ABSENT:
        return False
    if isinstance(target, Reference):
        return default if target.resource.type in _GATEWAYS else False
    literal = as_str(target)
    return None if literal is None else literal.startswith("igw-") and default


def _to_nat(route: Resource) -> bool | None:
    default = _is_default(route)
    if default is False:
        return False
    if route.get("NatGatewayId") is not ABSENT:
        return None if isinstance(route.get("NatGatewayId"), Either) else default
    others = any(route.get(key) is not ABSENT for key in _ELSEWHERE)
    gateway = route.get("GatewayId")
    return None if others or (gateway is not ABSENT and _to_internet_gateway(route) is None) else False


def _serves(endpoint: Resource, service: str) -> bool | None:
    """Whether an endpoint is of a service: the rest of its name behind the region (`com.amazonaws.us-west-2.ecr.dkr`)."""
    name = endpoint.get("ServiceName")
    if isinstance(name, Text):
        first, *rest = name.parts
        return rest[1] == f".{service}" if len(rest) == 2 and first in _SERVICE_STEMS else None
    text = as_str(name)
    return None if text is None else _SERVICE.sub("", text) == service


def _zone_text(value: Value) -> str | None:
    source = _zone_source(value)
    return as_str(value if source is None else source.get("AvailabilityZone"))


def _zone_source(value: Value) -> Resource | None:
    """The subnet whose zone a value is."""
    return target_of(value) if isinstance(value, Reference) and value.attribute == "AvailabilityZone" else None
