"""What stands in networks: families of addresses, routes of tunnels, rules that a group has twice, zones beside endpoints.

Sources: https://docs.aws.amazon.com/vpn/latest/s2svpn/VPNRoutingTypes.html,
https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_AuthorizeSecurityGroupIngress.html and
https://docs.aws.amazon.com/vpc/latest/privatelink/manage-dns-names.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import chain

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs.analysis.ends import ends
from hyperpod_constructs.analysis.networks import ENDPOINT, SUBNET, VPC, service_of
from hyperpod_constructs.analysis.security_groups import (
    PEER_GROUP,
    SECURITY_GROUP,
    SEPARATE,
    GroupRule,
    is_resource,
    security_groups,
)
from hyperpod_constructs.analysis.texts.reading import HOLE, known, spelled
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge, entries
from hyperpod_constructs.facts.address_families import ASKING
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, Reference, as_bool, at

_BLOCKS = ("Ipv6CidrBlock", "Ipv6IpamPoolId", "Ipv6NetmaskLength")
_FURTHER = "AWS::EC2::SubnetCidrBlock"
_TUNNEL, _ROUTE, _ZONE = "AWS::EC2::VPNConnection", "AWS::EC2::VPNConnectionRoute", "AWS::Route53::HostedZone"
_PEERS = ("CidrIp", "CidrIpv6", *PEER_GROUP.values(), "DestinationPrefixListId", "SourcePrefixListId")
_OF_SERVICE = re.compile(rf"([a-z0-9.-]+)\.([a-z]{{2}}(?:-[a-z]+)+-\d|{HOLE})\.(?:amazonaws\.com|{HOLE})\.?")


def family(resource: Resource) -> Slips:
    """What asks for addresses of IPv6 is in subnets that have a block of them."""
    asking = ASKING[resource.type]
    place = tuple(asking.setting.split("/"))
    asked = spelled(resource.get(*place)) or ("true" if as_bool(resource.get(*place)) else "")
    for end in ends(resource, asking.subnets) if asked.lower() in asking.words else ():
        subnet = resource_of(end.value, SUBNET)
        if subnet is not None and _has_no_block(subnet):
            message = f"it asks for addresses of IPv6, and {subnet.logical_id} has no block of them"
            yield Slip(message, "subnets with Ipv6CidrBlock", place, resource.get(*place))
            return


def _has_no_block(subnet: Resource) -> bool:
    """Whether a subnet surely has addresses of IPv4 alone."""
    further = (is_resource(one.get("SubnetId"), subnet) for one in subnet.template.model.resources(_FURTHER))
    own = all(subnet.get(key) is ABSENT for key in _BLOCKS)
    return own and subnet.template.complete and all(one is False for one in further)


def endpoint(resource: Resource) -> Slips:
    """An interface endpoint has addresses, in subnets that have them."""
    interface = known(resource.get("VpcEndpointType")) == "Interface" and resource.get("SubnetConfigurations") is ABSENT
    if interface and resource.get("SubnetIds") == ():
        yield Slip("its list of subnets is empty, and so it has no address", "a subnet of the VPC", ("SubnetIds",), (), dead=True)
    yield from family(resource)


def tunnel(resource: Resource) -> Slips:
    """A static connection of a VPC has a route."""
    routes = resource.template.model.resources(_ROUTE)
    named = any(is_resource(one.get("VpnConnectionId"), resource) is not False for one in routes)
    static = as_bool(resource.get("StaticRoutesOnly")) and resource.get("VpnGatewayId") is not ABSENT
    if static and not named and resource.template.model.complete:
        message = "its routes are static alone, and it has none"
        yield Slip(message, f"an {_ROUTE}", ("StaticRoutesOnly",), resource.get("StaticRoutesOnly"), dead=True)


def repeated(resource: Resource) -> Slips:
    """A group has each of its rules once, in its own list or as a rule beside it."""
    model = resource.template.model
    found = model.cached(repeated, lambda: grouped(chain.from_iterable(map(_twice, model.resources(SECURITY_GROUP)))))
    return found.get(resource, ())


def _twice(owner: Resource) -> Iterator[tuple[Resource, Slip]]:
    """The rules of a group that its own list surely has already, where they are written.

    Of two separate rules nobody knows which one was meant to be another.
    """
    seen: dict[tuple[object, ...], GroupRule] = {}
    for one in security_groups(owner.template.model).of(owner).rules:
        key = _key(one)
        if key is not None and key in seen:
            first = seen[key].resource
            there = "" if first is one.resource else f": it is in {first.logical_id} too"
            yield one.resource, Slip(f"{owner.logical_id} has this rule twice{there}", "each rule once", one.path)
        elif key is not None and one.resource is owner:
            seen[key] = one


def _key(one: GroupRule) -> tuple[object, ...] | None:
    """What tells the rules of a group apart; `None` if it is not known, or for the rule that a group has by itself."""
    peers = [(key, at(one.raw, key)) for key in _PEERS if at(one.raw, key) is not ABSENT]
    by_itself = one.resource.type == SECURITY_GROUP and not one.path
    sure = len(peers) == 1 and isinstance(peers[0][1], str | Reference) and one.resource.exists
    if by_itself or not sure or one.protocol is None or one.ports is None:
        return None
    # The numbers of ICMP are a type and a code: as a range, 8 to -1 is as empty as any other.
    return one.direction, one.protocol, one.ports.start, one.ports.stop, *peers[0]


def zone(resource: Resource) -> Slips:
    """A private zone has no name that an endpoint of its VPC has."""
    name = _OF_SERVICE.fullmatch((spelled(resource.get("Name")) or "").lower())
    vpcs = [resource_of(at(one, "VPCId"), VPC) for _, one in entries(resource.get("VPCs"))]
    for endpoint in resource.template.model.resources(ENDPOINT) if name is not None else ():
        own = ".".join(reversed((service_of(endpoint) or "").split(".")))
        private = known(endpoint.get("VpcEndpointType")) == "Interface" and as_bool(endpoint.get("PrivateDnsEnabled")) is True
        if name is not None and own == name[1] and private and resource_of(endpoint.get("VpcId"), VPC) in _sure(vpcs):
            message = f"{endpoint.logical_id} has this name in the VPC already, by its private DNS"
            yield Slip(message, "the private DNS of the endpoint, or the zone", ("Name",), resource.get("Name"))


def _sure(vpcs: list[Resource | None]) -> list[Resource]:
    return [one for one in vpcs if one is not None]


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {
    **dict.fromkeys(ASKING, family),
    **dict.fromkeys(SEPARATE, repeated),
    ENDPOINT: endpoint,
    SECURITY_GROUP: repeated,
    _TUNNEL: tunnel,
    _ZONE: zone,
}
