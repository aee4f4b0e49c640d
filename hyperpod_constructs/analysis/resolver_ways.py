"""The ways of outbound resolver endpoints to the servers of names to which their rules forward."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from ipaddress import IPv4Address

from hyperpod_constructs.analysis.far_addresses import routed
from hyperpod_constructs.analysis.interface_ways import Stopped
from hyperpod_constructs.analysis.networks import SUBNET, network_facts
from hyperpod_constructs.analysis.placement import groups_at
from hyperpod_constructs.analysis.security_groups import security_groups
from hyperpod_constructs.analysis.traffic import Side, Traffic
from hyperpod_constructs.analysis.ways import Hop, Way, through_acls, through_groups
from hyperpod_constructs.facts.connections import DNS_PORTS
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, Value, as_int, as_items, as_str, at

_ENDPOINT = "AWS::Route53Resolver::ResolverEndpoint"


def resolver_ways(model: Model) -> Iterator[Stopped]:
    """The ways of outbound endpoints that surely end; the first of each rule and subnet."""
    for rule in model.resources("AWS::Route53Resolver::ResolverRule"):
        endpoint = resource_of(rule.get("ResolverEndpointId"), _ENDPOINT)
        if endpoint is None or as_str(endpoint.get("Direction")) != "OUTBOUND":
            continue
        for server, traffic in _servers(rule):
            for source in _sides(endpoint):
                way = Way.of(endpoint.logical_id, server.name, traffic, _to_server(source, server, traffic))
                if way.end is not None:
                    yield Stopped(endpoint, ("IpAddresses",), server.name, way)


def _servers(rule: Resource) -> Iterator[tuple[Side, Traffic]]:
    for target in as_items(rule.get("TargetIps")) or ():
        address, port = _address(at(target, "Ip")), at(target, "Port")
        number = DNS_PORTS.start if port is ABSENT else as_int(port)
        plain = at(target, "Protocol") is ABSENT or as_str(at(target, "Protocol")) == "Do53"
        if address is not None and number is not None and 0 < number < 65536 and plain:
            block = ipaddress.IPv4Network(address)
            yield Side(str(address), (), (), addresses=(block,)), Traffic("udp", range(number, number + 1))


def _address(value: Value) -> IPv4Address | None:
    try:
        return IPv4Address(as_str(value) or "")
    except ValueError:
        return None


def _sides(endpoint: Resource) -> Iterator[Side]:
    """The ends of an endpoint, one in each subnet of the model."""
    model, groups = endpoint.template.model, groups_at(endpoint, "SecurityGroupIds")
    known = None if groups is None else tuple(map(security_groups(model).of, groups))
    for entry in as_items(endpoint.get("IpAddresses")) or ():
        subnet = resource_of(at(entry, "SubnetId"), SUBNET)
        if subnet is not None:
            yield Side(endpoint.logical_id, known, (network_facts(model).subnet(subnet),))


def _to_server(source: Side, server: Side, traffic: Traffic) -> Iterator[Hop]:
    (subnet,), (block,) = source.subnets or (), server.addresses or ()
    yield from through_groups(source, "egress", server, traffic)
    yield from through_acls([subnet], server, traffic, asks=True)
    yield from routed(subnet, block.network_address)
