"""Subnets, routes and endpoints of the VPCs in the templates.

    >>> facts = network_facts(model)
    >>> facts.subnet(resource).exit.kind
    <ExitKind.NAT: 'a NAT gateway'>

Answers are `None` where they are not known: the VPC or its routes are another template's, or a value is unknown.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property, lru_cache
from typing import NamedTuple

from hyperpod_constructs.analysis.answers import all_of, any_of
from hyperpod_constructs.analysis.naming import Naming
from hyperpod_constructs.analysis.prefix_lists import blocks_in
from hyperpod_constructs.analysis.security_groups import is_resource
from hyperpod_constructs.facts import addresses
from hyperpod_constructs.templates.dependencies import raw_at
from hyperpod_constructs.templates.model import Model, Resource, resource_of, target_of
from hyperpod_constructs.templates.values import ABSENT, UNKNOWN, Reference, Text, Value, as_bool, as_int, as_items, as_str

VPC = "AWS::EC2::VPC"
SUBNET = "AWS::EC2::Subnet"
ENDPOINT = "AWS::EC2::VPCEndpoint"
NAT = "AWS::EC2::NatGateway"

_ASSOCIATION = "AWS::EC2::SubnetRouteTableAssociation"
_ROUTE = "AWS::EC2::Route"
_PROPAGATION = "AWS::EC2::VPNGatewayRoutePropagation"
_VPN_GATEWAY = "AWS::EC2::VPNGateway"
_VPN, _VPN_ROUTE = "AWS::EC2::VPNConnection", "AWS::EC2::VPNConnectionRoute"
_ZONE_KEYS = ("AvailabilityZone", "AvailabilityZoneId")
_LETTER = re.compile(r"\{'Fn::Sub': '\$\{AWS::Region\}([a-z])'\}|\{'Fn::Join': \['', \[\{'Ref': 'AWS::Region'\}, '([a-z])'\]\]\}")
"""The name of a zone of the stack's own region, as it is written with a function."""
_EVERYWHERE = "0.0.0.0/0"
_GATEWAYS = ("AWS::EC2::InternetGateway", "AWS::EC2::VPCGatewayAttachment")
_SERVICE_STEMS = {"com.amazonaws.": "", "cn.com.amazonaws.": "", "aws.sagemaker.": "aws.sagemaker."}
"""The beginnings of names of services before the region, with what is left of them without it."""
_SERVICE = re.compile(r"^(cn\.)?com\.amazonaws\.[a-z]{2}[a-z-]*-\d\.")


class ExitKind(Enum):
    """The kind of a way out of a VPC."""

    NAT = "a NAT gateway"
    INTERNET_GATEWAY = "an internet gateway"
    NONE = "no default route"
    UNKNOWN = "a route whose end is not known"


_WAYS_OUT = (ExitKind.NAT, ExitKind.INTERNET_GATEWAY)


class Exit(NamedTuple):
    """A way out of a VPC."""

    kind: ExitKind
    route: Resource | None = None
    gateway: Resource | None = None
    """The NAT gateway or the internet gateway, if it is in the model."""


@dataclass(frozen=True)
class Subnet:
    """A subnet of the model."""

    resource: Resource
    routes: tuple[Resource, ...]
    """The routes of its table, without the local ones, and those of VPN connections that a gateway propagates to it. A subnet
    without a table of its own has no routes: CloudFormation cannot add one to the main table of a VPC that it creates."""
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
        return block_of(self.resource.get("CidrBlock"))

    @property
    def usable_addresses(self) -> int | None:
        """The addresses that interfaces can have in it, if its block is known."""
        return None if self.cidr is None else max(0, self.cidr.num_addresses - addresses.RESERVED_ADDRESSES)

    @property
    def zone(self) -> Zone:
        """Where it is."""
        return zone_at(self.resource)

    @cached_property
    def exit(self) -> Exit:
        """Its way to addresses outside of the VPC, by its default route of IPv4 if it has one."""
        old = [route for route in self.routes if route.get("DestinationIpv6CidrBlock") is ABSENT]
        found = [exit_ for exit_ in map(exit_of, old) if exit_.kind is not ExitKind.NONE]
        if found:
            return found[0] if len(found) == 1 else Exit(ExitKind.UNKNOWN)
        return Exit(ExitKind.NONE if self.complete and len(old) == len(self.routes) else ExitKind.UNKNOWN)

    def gateway_endpoint(self, service: str) -> Resource | None:
        """The gateway endpoint of a service, such as `s3`, that is surely on its table."""
        return next((endpoint for endpoint in self.gateway_endpoints if serves(endpoint, service)), None)

    def lacks_gateway_endpoint(self, service: str) -> bool:
        """Whether its table surely has no gateway endpoint of a service."""
        return self.complete and all(serves(endpoint, service) is False for endpoint in self.gateway_endpoints)


class Zone(NamedTuple):
    """An availability zone by name, by id, or both."""

    name: Value = ABSENT
    id: Value = ABSENT
    picked: tuple[object, ...] | None = None
    """Its place in the zones of a region (`Fn::GetAZs`), for one whose name only the deployment knows."""
    written: object = None
    """Its template and its text there: what is written alike is one zone, whatever a parameter or the region make of it."""

    @property
    def shown(self) -> str:
        """The id or the name; one that only the deployment knows by its place among the zones of the region, counted from 0."""
        place = "?" if self.picked is None else f"zone {self.picked[-1]} of the region"
        return as_str(self.id) or as_str(self.name) or place

    def is_same(self, other: Zone) -> bool | None:
        """Whether two zones are one; `None` if they are not given alike, or not known."""
        if self.written is not None and self.written == other.written:
            return True
        if self.picked is not None and other.picked is not None and self._by_letter is other._by_letter:
            return self.picked == other.picked
        for own, others in ((self.id, other.id), (self.name, other.name)):
            one, two = _zone_text(own), _zone_text(others)
            if one is not None and two is not None:
                return one == two
        source = _zone_source(self.name)
        return True if source is not None and source is _zone_source(other.name) else None

    @property
    def _by_letter(self) -> bool:
        """Whether it is picked by the letter behind the name of its region, not by its number among the zones."""
        return self.picked is not None and isinstance(self.picked[-1], str)


class NetworkFacts:
    """The networks of a model."""

    def __init__(self, model: Model) -> None:
        self._model = model

    def subnet(self, resource: Resource) -> Subnet:
        """A subnet of the model."""
        return self._subnets[resource]

    def interface_endpoints(self, vpc: Resource) -> int:
        """The number of interface endpoints that a VPC surely has; computed once."""
        return self._model.cached((ENDPOINT, vpc), lambda: sum(map(_is_interface, self._naming(ENDPOINT, "VpcId", vpc))))

    def leads_out(self, vpc: Resource) -> bool:
        """Whether a subnet of a VPC has a way to the internet; computed once."""
        return self._model.cached(
            (NetworkFacts.leads_out, vpc),
            lambda: any(one.vpc is vpc and one.exit.kind in _WAYS_OUT for one in self._subnets.values()),
        )

    def interface_endpoint(self, vpc: Resource, service: str) -> tuple[Resource | None, bool]:
        """The endpoint with private DNS that a VPC surely has for a service, such as `ecr.dkr`, and whether it may have one."""
        found: tuple[Resource | None, bool] = self._model.cached(
            (ENDPOINT, vpc, service), lambda: self._interface_endpoint(vpc, service)
        )
        return found

    def endpoint_without_names(self, vpc: Resource, service: str) -> Resource | None:
        """An interface endpoint of a service in a VPC that surely has no private DNS; computed once."""
        return self._model.cached((_is_interface, vpc, service), lambda: self._endpoint_without_names(vpc, service))

    def _endpoint_without_names(self, vpc: Resource, service: str) -> Resource | None:
        found = (endpoint for endpoint, inside in self._naming(ENDPOINT, "VpcId", vpc) if _is_interface((endpoint, inside)))
        nameless = (one for one in found if serves(one, service) and _has_names(one) is False)
        return next(nameless, None)

    def _interface_endpoint(self, vpc: Resource, service: str) -> tuple[Resource | None, bool]:
        perhaps = not vpc.template.complete or self._awaits_more
        for endpoint, inside in self._naming(ENDPOINT, "VpcId", vpc):
            kind, named = endpoint.get("VpcEndpointType"), _has_names(endpoint)
            answer = all_of((inside, None if kind is UNKNOWN else kind == "Interface", serves(endpoint, service), named))
            if answer:
                return endpoint, True
            perhaps = perhaps or answer is None
        return None, perhaps

    @cached_property
    def _awaits_more(self) -> bool:
        """Whether a template awaits a resource that it does not have: what seems to lack may be that one."""
        return any(_awaited(one) - one.template.document.section("Resources").keys() for one in self._model.resources())

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
            propagated, known = self._propagated(target_of(table))
            complete = complete and known
            routes += propagated
        return Subnet(subnet, tuple(routes), table, tuple(endpoints), complete)

    def _propagated(self, table: Resource) -> tuple[list[Resource], bool]:
        """The static routes of VPN connections that gateways propagate to a table, and whether they are all there are.

        A connection that speaks BGP, and a gateway without connections, may bring routes that no template lists.
        """
        routes: list[Resource] = []
        for propagation, listed in self._listing(_PROPAGATION, table):
            gateway = resource_of(propagation.get("VpnGatewayId"), _VPN_GATEWAY)
            found = [] if gateway is None else list(self._naming(_VPN, "VpnGatewayId", gateway))
            if not listed or not found or not all(named and _is_static(one) for one, named in found):
                return routes, False
            for connection, _ in found:
                routes += [route for route, _ in self._naming(_VPN_ROUTE, "VpnConnectionId", connection)]
        return routes, True

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
        for endpoint, listed in self._listing(ENDPOINT, table):
            if as_str(endpoint.get("VpcEndpointType")) in ("Gateway", None):
                yield endpoint, listed

    def _listing(self, type_: str, table: Resource) -> Iterator[tuple[Resource, bool | None]]:
        """Resources that list a route table: surely, or perhaps (`None`)."""
        found = self._model.resources(type_)
        naming = self._model.cached((Naming, type_), lambda: Naming(found, lambda one: as_items(one.get("RouteTableIds"))))
        for one in naming.of(table):
            tables = as_items(one.get("RouteTableIds"))
            listed = None if tables is None else any_of(is_resource(item, table) for item in tables)
            if listed is not False:
                yield one, listed and one.exists


def network_facts(model: Model) -> NetworkFacts:
    """The networks of a model; computed once."""
    return model.cached(NetworkFacts, lambda: NetworkFacts(model))


def _awaited(resource: Resource) -> set[str]:
    """The names in its DependsOn."""
    written = resource.raw.get("DependsOn")
    return {one for one in (written if isinstance(written, list) else [written]) if isinstance(one, str)}


def block_of(value: Value) -> ipaddress.IPv4Network | None:
    """An IPv4 block; `None` if it is not known, malformed, or of IPv6. EC2 takes bits behind the prefix, and drops them."""
    text = as_str(value)
    return None if text is None else _parsed(text)


@lru_cache(maxsize=4096)
def _parsed(text: str) -> ipaddress.IPv4Network | None:
    try:
        return ipaddress.IPv4Network(text, strict=False)
    except ValueError:
        return None


def _is_default(route: Resource) -> bool | None:
    """Whether a route leads to the addresses of the internet; one for a part of them, or for a prefix list, may."""
    listed = blocks_in(route.get("DestinationPrefixListId"))
    if listed is not None:
        blocks = [block_of(one) for one in listed]
        return True if _EVERYWHERE in listed else None if any(one is not None and one.is_global for one in blocks) else False
    text = as_str(route.get("DestinationCidrBlock"))
    network = block_of(text)
    if text == _EVERYWHERE:
        return True
    return None if network is None or network.is_global else False


def exit_of(route: Resource) -> Exit:
    """The way out of a VPC by a route; `NONE` for one to a part of the private addresses."""
    default = _is_default(route)
    if default is False:
        return Exit(ExitKind.NONE)
    nat, gateway = (route.get(key) for key in ("NatGatewayId", "GatewayId"))
    if default and (as_str(gateway) or "").startswith("igw-"):
        return Exit(ExitKind.INTERNET_GATEWAY, route)
    target = resource_of(nat if gateway is ABSENT else gateway)
    if default is None or target is None or (nat is not ABSENT and gateway is not ABSENT):
        return Exit(ExitKind.UNKNOWN, route)
    kinds = {NAT: ExitKind.NAT, **dict.fromkeys(_GATEWAYS, ExitKind.INTERNET_GATEWAY)}
    return Exit(kinds.get(target.type, ExitKind.UNKNOWN), route, target)


def _is_static(connection: Resource) -> bool:
    """Whether a VPN connection surely has static routes alone."""
    return connection.exists is True and as_bool(connection.get("StaticRoutesOnly")) is True


def _is_interface(named: tuple[Resource, bool | None]) -> bool:
    endpoint, inside = named
    return inside is True and as_str(endpoint.get("VpcEndpointType")) == "Interface"


def _has_names(endpoint: Resource) -> bool | None:
    """Whether an interface endpoint answers to the name of its service; it does not unless the template says so.

    Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-ec2-vpcendpoint.html
    """
    private = endpoint.get("PrivateDnsEnabled")
    return False if private is ABSENT else as_bool(private)


def serves(endpoint: Resource, service: str) -> bool | None:
    """Whether an endpoint is of a service: the rest of its name behind the region (`com.amazonaws.us-west-2.ecr.dkr`)."""
    found = service_of(endpoint)
    return None if found is None else found == service


def service_of(endpoint: Resource) -> str | None:
    """The service of an endpoint, by its name behind the region, such as `ecr.dkr`; `None` if it is not known."""
    name = endpoint.get("ServiceName")
    if isinstance(name, Text):
        first, *rest = name.parts
        known = len(rest) == 2 and first in _SERVICE_STEMS and isinstance(rest[1], str) and rest[1].startswith(".")
        return _SERVICE_STEMS[str(first)] + str(rest[1]).removeprefix(".") if known else None
    text = as_str(name)
    return None if text is None else _SERVICE.sub("", text)


def in_one_zone(subnets: Sequence[Resource]) -> bool:
    """Whether some subnets are surely all in one zone."""
    zones = [network_facts(subnet.template.model).subnet(subnet).zone for subnet in subnets]
    return bool(zones) and all(zones[0].is_same(other) is True for other in zones[1:])


def zone_of(resource: Resource) -> Zone:
    """The zone of a resource that has one as a subnet has: its own, or that of the subnet whose zone it takes."""
    name = resource.get("AvailabilityZone")
    source = _zone_source(name)
    if source is not None and source.type == SUBNET:
        return network_facts(resource.template.model).subnet(source).zone
    return zone_at(resource)


def zone_at(resource: Resource) -> Zone:
    """The zone that a resource gives by its name or by its id."""
    raw = next((one for key in _ZONE_KEYS if (one := raw_at(resource, (key,))) is not None), None)
    written = None if raw is None or resource.template.rewritten else (resource.template, str(raw))
    return Zone(resource.get("AvailabilityZone"), resource.get("AvailabilityZoneId"), _picked(resource), written)


def places_of_zones(subnets: Iterable[Resource]) -> tuple[tuple[Resource, tuple[str]], ...]:
    """The places of the zones of subnets, of which one may be the mistake where zones do not go together."""
    return tuple((one, (key,)) for one in subnets for key in _ZONE_KEYS if one.get(key) is not ABSENT)


def _picked(subnet: Resource) -> tuple[object, ...] | None:
    """Stack, region and index of a zone that is picked from those of a region; or its letter behind the region's name."""
    raw = raw_at(subnet, ("AvailabilityZone",))
    letter = _LETTER.fullmatch(str(raw))
    if letter is not None:
        return subnet.template.root, "", next(filter(None, letter.groups()))
    picked = raw.get("Fn::Select") if isinstance(raw, dict) and len(raw) == 1 else None
    if not isinstance(picked, list) or len(picked) != 2 or not isinstance(picked[1], dict) or [*picked[1]] != ["Fn::GetAZs"]:
        return None
    resolve, region = subnet.template.resolver.resolve, picked[1]["Fn::GetAZs"]
    index, own = as_int(resolve(picked[0])), region in ("", {"Ref": "AWS::Region"})
    place = "" if own else as_str(resolve(region))
    return None if index is None or place is None else (subnet.template.root, place, index)


def _zone_text(value: Value) -> str | None:
    source = _zone_source(value)
    return as_str(value if source is None else source.get("AvailabilityZone"))


def _zone_source(value: Value) -> Resource | None:
    """The subnet whose zone a value is."""
    return target_of(value) if isinstance(value, Reference) and value.attribute == "AvailabilityZone" else None
