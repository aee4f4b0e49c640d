"""What listens in subnets whose network ACL lets its port in from nobody; traffic inside of a subnet passes no ACL.

Answers are of sure cases only: a subnet that something else is in, that an output gives to others, or whose entries are not all
known, may let somebody in.
"""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_constructs.analysis.network_acls import Acl, acl_of
from hyperpod_constructs.analysis.networks import SUBNET, network_facts
from hyperpod_constructs.analysis.placement import FILE_SYSTEM
from hyperpod_constructs.analysis.traffic import Traffic
from hyperpod_constructs.facts.listeners import LISTENERS, SUBNETS, Listener
from hyperpod_constructs.templates.dependencies import references
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import as_items, as_str

_QUIET = (
    *("AWS::EC2::SubnetNetworkAclAssociation", "AWS::EC2::SubnetRouteTableAssociation", "AWS::RDS::DBSubnetGroup"),
    *(*LISTENERS, FILE_SYSTEM),
)
"""Types that name a subnet, and open no connections there."""


def shut_in(model: Model) -> Iterator[tuple[Resource, Resource, Listener, Traffic]]:
    """What listens in a subnet whose ACL lets nobody in, and the ACL."""
    entries = model.resources("AWS::EC2::NetworkAclEntry") if model.complete else ()
    for type_, key in SUBNETS.items() if entries else ():
        listener = LISTENERS[type_]
        port = listener.port or 0
        for one in model.resources(type_):
            asked = not listener.when or as_str(one.get(listener.when[0])) == listener.when[1]
            acls = [_shut(subnet, port) for subnet in _subnets(one, key)] if asked and one.exists else []
            found = next((acl for acl in acls if acl is not None), None)
            if found is not None:
                yield one, found, listener, Traffic("tcp", range(port, port + 1))


def _subnets(one: Resource, key: str) -> Iterator[Resource]:
    value = one.get(key)
    for named in (value,) if key == "SubnetId" else as_items(value) or ():
        subnet = resource_of(named, SUBNET)
        if subnet is not None:
            yield subnet


def _shut(subnet: Resource, port: int) -> Resource | None:
    """The ACL of a subnet that surely lets nobody in on a TCP port."""
    acl = acl_of(network_facts(subnet.template.model).subnet(subnet))
    if acl is None or acl.is_default or _may_admit(acl, Traffic("tcp", range(port, port + 1))):
        return None
    given = f"'{subnet.logical_id}'" in str(subnet.template.raw.get("Outputs"))
    return acl.resource if not given and all(one.type in _QUIET for one in _users(subnet)) else None


def _may_admit(acl: Acl, traffic: Traffic) -> bool:
    inward = [one for one in acl.entries if one.outward is not True and one.allows is not False]
    ports = [one.ports(traffic) for one in inward]
    return any(one is None or len(one) for one in ports)


def _users(subnet: Resource) -> list[Resource]:
    model = subnet.template.model
    return [one for one in model.resources() if one is not subnet and subnet in references(one.properties)]
