"""Instances that forward the packets of others, such as NAT instances and firewalls of one's own, to which a route leads.

An interface drops what is neither from its own address nor to it, unless its check of both is off. Who has a role, or a script that
speaks of the check, may switch it off by itself.

Source: https://docs.aws.amazon.com/vpc/latest/userguide/work-with-nat-instances.html (as of 2026-11-30)
"""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_constructs.analysis.answers import any_of
from hyperpod_constructs.analysis.networks import SUBNET, Subnet, network_facts
from hyperpod_constructs.analysis.security_groups import SECURITY_GROUP, SecurityGroup, security_groups
from hyperpod_constructs.analysis.traffic import Side, Traffic, group_lets
from hyperpod_constructs.templates.model import Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, Value, as_bool, as_items, at, is_known, leaves

INSTANCE, INTERFACE = "AWS::EC2::Instance", "AWS::EC2::NetworkInterface"
_ELASTIC = ("AWS::EC2::EIP", "AWS::EC2::EIPAssociation")
_CHECK, _PUBLIC = "SourceDestCheck", "AssociatePublicIpAddress"


def forwarder_of(route: Resource | None) -> Resource | None:
    """The instance or the interface to which a route leads."""
    found = None if route is None else (resource_of(route.get("InstanceId"), INSTANCE), _interface(route))
    return None if found is None else next(filter(None, found), None)


def _interface(route: Resource) -> Resource | None:
    return resource_of(route.get("NetworkInterfaceId"), INTERFACE)


def subnet_of(forwarder: Resource) -> Subnet | None:
    """The subnet of a forwarder."""
    places = (forwarder.get("SubnetId"), *(at(one, "SubnetId") for one in as_items(forwarder.get("NetworkInterfaces")) or ()))
    found = next(filter(None, (resource_of(one, SUBNET) for one in places)), None)
    return None if found is None else network_facts(forwarder.template.model).subnet(found)


def drops_strangers(forwarder: Resource) -> bool:
    """Whether a forwarder surely drops what is from others, as it checks the source and the destination."""
    owners = [forwarder] if forwarder.type == INSTANCE else [*_instances_with(forwarder)]
    return forwarder.exists is True and _is_off(forwarder) is False and not any(_may_switch_off(one) for one in owners)


def _is_off(one: Resource) -> bool | None:
    own = one.get(_CHECK)
    answers: list[bool | None] = [False if own is ABSENT else None if as_bool(own) is None else not as_bool(own)]
    for item in as_items(one.get("NetworkInterfaces")) or ():
        given = at(item, "NetworkInterfaceId")
        interface = resource_of(given, INTERFACE)
        answers += [] if given is ABSENT else [None if interface is None else _is_off(interface)]
    return any_of(answers)


def _instances_with(interface: Resource) -> Iterator[Resource]:
    model = interface.template.model
    return (one for one in model.resources(INSTANCE) if any(resource_of(leaf) is interface for leaf in leaves(one.get())))


def _may_switch_off(instance: Resource) -> bool:
    script = instance.get("UserData")
    speaks = any("source-dest-check" in str(leaf).lower() or not is_known(leaf) for leaf in leaves(script)) if script else False
    return instance.get("IamInstanceProfile") is not ABSENT or instance.get("LaunchTemplate") is not ABSENT or speaks


def lets_in(forwarder: Resource, source: Side, traffic: Traffic) -> tuple[Resource, bool | None] | None:
    """Whether the groups of a forwarder let in what a side sends, with the first of them; `None` if they are not known."""
    known = groups_of(forwarder)
    return None if known is None else (known[0].resource, group_lets(Side("", known), "ingress", source, traffic))


def groups_of(forwarder: Resource) -> tuple[SecurityGroup, ...] | None:
    """The groups of an instance or an interface; `None` if they are not all known."""
    named = [_groups(forwarder)]
    for item in as_items(forwarder.get("NetworkInterfaces")) or ():
        interface = resource_of(at(item, "NetworkInterfaceId"), INTERFACE)
        named.append(at(item, "GroupSet") if interface is None else _groups(interface))
    items = next((found for value in named if (found := as_items(value))), ())
    groups = [resource_of(one, SECURITY_GROUP) for one in items]
    known = tuple(security_groups(one.template.model).of(one) for one in groups if one is not None)
    return known if known and len(known) == len(groups) else None


def _groups(one: Resource) -> Value:
    return one.get("GroupSet" if one.type == INTERFACE else "SecurityGroupIds")


def is_private(forwarder: Resource, subnet: Subnet) -> bool:
    """Whether a forwarder surely has no public address: it takes none at its start, and no elastic one is for it."""
    model, kin = forwarder.template.model, {forwarder, *_instances_with(forwarder)}
    kin |= {one for leaf in leaves(forwarder.get("NetworkInterfaces")) if (one := resource_of(leaf, INTERFACE)) is not None}
    elastic = (one.get(key) for one in model.resources(*_ELASTIC) for key in ("InstanceId", "NetworkInterfaceId"))
    given = [value for value in elastic if value is not ABSENT]
    others = any(resource_of(value) is None or resource_of(value) in kin for value in given)
    asks = any(at(one, _PUBLIC) is not ABSENT for one in as_items(forwarder.get("NetworkInterfaces")) or ())
    maps = forwarder.type == INSTANCE and subnet.resource.get("MapPublicIpOnLaunch") not in (ABSENT, False, "false")
    launched = any(_may_switch_off(one) for one in kin)
    return model.complete and not (others or asks or maps or launched)
