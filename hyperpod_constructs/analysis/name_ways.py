"""The names of services: what resolves them for a subnet, and which rules of a DNS firewall block them.

Sources: https://docs.aws.amazon.com/vpc/latest/userguide/DHCPOptionSetConcepts.html and
https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/resolver-dns-firewall-rules.html
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from typing import NamedTuple

from hyperpod_constructs.analysis.answers import any_of
from hyperpod_constructs.analysis.blocks import blocks_of
from hyperpod_constructs.analysis.far_addresses import routed
from hyperpod_constructs.analysis.near_misses import given_away
from hyperpod_constructs.analysis.networks import SUBNET, VPC, Subnet, network_facts
from hyperpod_constructs.analysis.security_groups import is_resource
from hyperpod_constructs.analysis.traffic import Side, Traffic
from hyperpod_constructs.analysis.ways import DHCP, Hop, resolved, to_the_internet
from hyperpod_constructs.facts.connections import DNS_PORTS
from hyperpod_constructs.templates.dependencies import references
from hyperpod_constructs.templates.model import Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, Value, as_int, as_items, as_str, at

_ASSOCIATION = "AWS::Route53Resolver::FirewallRuleGroupAssociation"
_GROUP, _LIST = "AWS::Route53Resolver::FirewallRuleGroup", "AWS::Route53Resolver::FirewallDomainList"
_RULES, _SERVERS = "FirewallRules", "DomainNameServers"
_OWN_SERVER = 2
"""The address of the own server of a VPC, counted from the begin of a block.

Source: https://docs.aws.amazon.com/vpc/latest/userguide/AmazonDNS-concepts.html
"""
_OF_AWS = "amazonaws.com"
_ELSEWHERE = ("amazonaws.com.cn", "api.aws", "amazonwebservices.com.cn")
"""Further domains of AWS: those of some partitions, and of addresses by IPv6."""


class _Rule(NamedTuple):
    """A rule of a firewall, with its place in its group and its order in the VPC."""

    group: Resource
    place: int
    raw: Value
    order: tuple[int, int]


def named(source: Side, subnet: Subnet, *, private: bool = False) -> Iterator[Hop]:
    """The names of services for interfaces in a subnet.

    :param private: whether the name is that of an interface of the VPC, in a zone that AWS makes.
    """
    yield from resolved(subnet, private=private)
    vpc = subnet.vpc
    if vpc is None:
        return
    own = [one for one in vpc.template.model.resources(DHCP) if is_resource(one.get("VpcId"), vpc) is not False]
    if own:
        yield from _asked_of_others(source, vpc, own, private=private)
    else:
        yield from _past_firewall(vpc)


def _asked_of_others(source: Side, vpc: Resource, associations: list[Resource], *, private: bool) -> Iterator[Hop]:
    """The servers that the DHCP options of a VPC name, if nothing is there or all are in the internet, without private names."""
    options = resource_of(associations[0].get("DhcpOptionsId"), "AWS::EC2::DHCPOptions") if len(associations) == 1 else None
    servers = [as_str(one) for one in as_items(options.get(_SERVERS)) or ()] if options is not None else []
    if options is None or not servers:
        return
    if all(_is_nowhere(vpc, one) for one in servers):
        says = f"names servers in {vpc.logical_id} at addresses of no subnet, {', '.join(map(str, servers))}: nothing is there"
        yield Hop(options, False, says, (_SERVERS,))
    lost = [next(routed(source.subnets[0], one), None) for one in map(_address, servers) if one is not None and source.subnets]
    if len(lost) == len(servers) and None not in lost:
        says = f"names servers alone to which no route leads, {', '.join(map(str, servers))}"
        covers = dict.fromkeys(hop.resource for hop in lost if hop is not None)
        yield Hop(options, False, says, (_SERVERS,), covers=tuple(covers))
    if not all(map(_is_global, servers)):
        return
    for hop in to_the_internet(source, Traffic("udp", DNS_PORTS)):
        if hop.passes is False:
            says = f"names servers of the internet alone, and {hop.resource.logical_id} {hop.says}"
            yield Hop(options, False, says, (_SERVERS,), covers=(hop.resource, *hop.covers))
    if private:
        yield Hop(options, None, "names servers that know no private names", (_SERVERS,))


def _address(text: str | None) -> ipaddress.IPv4Address | None:
    try:
        return ipaddress.IPv4Address(text or "")
    except ValueError:
        return None


def _is_nowhere(vpc: Resource, text: str | None) -> bool:
    """Whether an address of a VPC is surely that of nothing: in none of its subnets, and not that of its own server."""
    try:
        server = ipaddress.IPv4Network(text or "")
    except ValueError:
        return False
    blocks = blocks_of(vpc)
    own = any(int(server[0]) - int(one.block[0]) == _OWN_SERVER for one in blocks.known)
    if own or not blocks.complete or blocks.of(server) is None:
        return False
    model = vpc.template.model
    shared = any(vpc in references(value) for one in model.templates for value in given_away(one))
    subnets = [network_facts(model).subnet(one) for one in model.resources(SUBNET)]
    inside = [one for one in subnets if one.vpc in (vpc, None)]
    return not shared and all(one.cidr is not None and server[0] not in one.cidr for one in inside)


def _is_global(text: str | None) -> bool:
    try:
        return ipaddress.ip_address(text or "").is_global
    except ValueError:
        return False


def _past_firewall(vpc: Resource) -> Iterator[Hop]:
    """The rules of a DNS firewall for the names of AWS: the first that speaks of them decides."""
    for rule in _rules_of(vpc) or ():
        speaks, is_block = _speaks_of_aws(rule.raw), as_str(at(rule.raw, "Action")) == "BLOCK"
        if speaks and is_block and as_str(at(rule.raw, "BlockResponse")) != "OVERRIDE":
            yield Hop(rule.group, False, f"blocks the names of {_OF_AWS} before any rule allows them", (_RULES, rule.place))
        if speaks or (speaks is None and not is_block):
            return


def _rules_of(vpc: Resource) -> list[_Rule] | None:
    """The rules of the firewall of a VPC in their order; `None` if they are not all known."""
    found = vpc.template.model.resources(_ASSOCIATION)
    rules: list[_Rule] = []
    for association in found:
        inside = resource_of(association.get("VpcId"), VPC)
        group, first = resource_of(association.get("FirewallRuleGroupId"), _GROUP), as_int(association.get("Priority"))
        items = None if group is None else as_items(group.get(_RULES))
        if inside is not None and inside is not vpc:
            continue
        if inside is None or group is None or first is None or items is None or not association.exists:
            return None
        for place, raw in enumerate(items):
            number = as_int(at(raw, "Priority"))
            if number is None:
                return None
            rules.append(_Rule(group, place, raw, (first, number)))
    return sorted(rules, key=lambda one: one.order)


def _speaks_of_aws(rule: Value) -> bool | None:
    """Whether a rule is for every name of AWS; `None` if it may be, or is for some of them."""
    domains = resource_of(at(rule, "FirewallDomainListId"), _LIST)
    names = None if domains is None or domains.get("DomainFileUrl") is not ABSENT else as_items(domains.get("Domains"))
    found = None if names is None else any_of(map(_matches, names))
    return None if found and at(rule, "Qtype") is not ABSENT else found


def _matches(pattern: Value) -> bool | None:
    text = (as_str(pattern) or "").lower().rstrip(".")
    domain = text.removeprefix("*.")
    if text == "*" or (domain != text and f".{_OF_AWS}".endswith(f".{domain}")):
        return True
    return None if not text or domain.endswith((f".{_OF_AWS}", *_ELSEWHERE)) else False
