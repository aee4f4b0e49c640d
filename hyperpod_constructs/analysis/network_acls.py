"""Network ACLs of subnets: numbered entries, of which the first that matches decides, in each direction by itself.

Source: https://docs.aws.amazon.com/vpc/latest/userguide/nacl-rules.html
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs.analysis.networks import Subnet
from hyperpod_constructs.analysis.security_groups import ALL_PORTS, PROTOCOLS
from hyperpod_constructs.analysis.traffic import Side, Traffic
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, Value, as_bool, as_int, as_str

_ACL = "AWS::EC2::NetworkAcl"
_ENTRY = "AWS::EC2::NetworkAclEntry"
_ASSOCIATION = "AWS::EC2::SubnetNetworkAclAssociation"
_DEFAULT_NUMBER = 100  # of the entry that allows everything in a default list
_MOST_ENTRIES = 200  # far above the highest quota
_NOBODY = "0.0.0.0/32"


@dataclass(frozen=True)
class Entry:
    """An entry of a list."""

    resource: Resource

    @cached_property
    def number(self) -> int:
        """Its place in the order; one that is not known comes first."""
        return as_int(self.resource.get("RuleNumber")) or 0

    @cached_property
    def allows(self) -> bool | None:
        """Whether it allows; `None` if that, its existence or its place is not known."""
        action = as_str(self.resource.get("RuleAction"))
        sure = self.resource.exists is True and as_int(self.resource.get("RuleNumber")) is not None
        return None if action is None or not sure else action.lower() == "allow"

    @cached_property
    def outward(self) -> bool | None:
        """Whether it is for traffic out of the subnet."""
        egress = self.resource.get("Egress")
        return False if egress is ABSENT else as_bool(egress)

    @cached_property
    def block(self) -> Value:
        """The other side; the unspecified address for an entry of IPv6."""
        block = self.resource.get("CidrBlock")
        return _NOBODY if block is ABSENT else block

    def ports(self, traffic: Traffic) -> range | None:
        """The ports of traffic that it decides; `None` if they are not known, an empty range for another protocol."""
        if self._protocol is None or self._ports is None:
            return None
        if self._protocol not in ("-1", traffic.protocol):
            return range(0)
        own = ALL_PORTS if self._protocol == "-1" else self._ports
        return range(max(own.start, traffic.ports.start), min(own.stop, traffic.ports.stop))

    @cached_property
    def _protocol(self) -> str | None:
        name = as_str(self.resource.get("Protocol"))
        return None if name is None else PROTOCOLS.get(name.lower(), name.lower())

    @cached_property
    def _ports(self) -> range | None:
        bounds = [self.resource.get("PortRange", key) for key in ("From", "To")]
        if all(bound is ABSENT for bound in bounds):
            return ALL_PORTS
        first, last = map(as_int, bounds)
        return None if first is None or last is None else range(first, last + 1)


@dataclass(frozen=True)
class Acl:
    """A list of a VPC; its default list, which allows everything at number 100, has the VPC as its resource."""

    resource: Resource
    entries: tuple[Entry, ...]
    """In their order."""

    @property
    def is_default(self) -> bool:
        """Whether it is the list that the VPC was made with."""
        return self.resource.type != _ACL

    def lets(self, outward: bool, other: Side, traffic: Traffic) -> bool | None:
        """Whether it lets all of these ports through, to or from the other side; `None` if that is not known."""
        open_ports = {traffic.ports}
        doubt: set[bool] = set()  # what entries that may match would say
        for entry in self.entries:
            if self.is_default and entry.number > _DEFAULT_NUMBER:
                break
            if entry.outward is (not outward):
                continue
            ports = entry.ports(traffic)
            if ports is not None and not _overlaps(open_ports, ports):
                continue
            matched = other.within(entry.block)
            if matched is False:
                continue
            if None in (entry.outward, matched, entry.allows) or ports is None:
                doubt |= {True, False} if entry.allows is None else {entry.allows}
            elif not entry.allows:
                return None if True in doubt else False
            else:
                open_ports = _without(open_ports, ports)
            if not open_ports:
                break
        ended = self.is_default or not open_ports
        return None if (not ended) in doubt else ended


def acl_of(subnet: Subnet) -> Acl | None:
    """The list of a subnet; `None` if it is not known."""
    model = subnet.resource.template.model
    found: Acl | None = model.cached((acl_of, subnet.resource), lambda: _acl_of(model, subnet))
    return found


def _acl_of(model: Model, subnet: Subnet) -> Acl | None:
    associations, loose = model.cached(_ASSOCIATION, lambda: _associations(model))
    entries, strangers = model.cached(_ENTRY, lambda: _entries(model))
    named = associations.get(subnet.resource, [])
    if loose or strangers or len(named) > 1 or not subnet.resource.template.complete or subnet.vpc is None:
        return None
    owner = resource_of(named[0].get("NetworkAclId")) if named else subnet.vpc
    if owner is None or (named and not named[0].exists) or len(entries.get(owner, ())) > _MOST_ENTRIES:
        return None
    return model.cached((Acl, owner), lambda: _acl(owner, entries.get(owner, ())))


def _acl(owner: Resource, entries: Iterable[Resource]) -> Acl:
    return Acl(owner, tuple(sorted(map(Entry, entries), key=lambda one: one.number)))


def _associations(model: Model) -> tuple[Mapping[Resource | None, list[Resource]], bool]:
    """Associations by their subnet, and whether there are some of a subnet that is not known."""
    found = grouped((resource_of(one.get("SubnetId")), one) for one in model.resources(_ASSOCIATION))
    return found, None in found


def _entries(model: Model) -> tuple[Mapping[Resource | None, list[Resource]], bool]:
    """Entries by their list, or by the VPC of a default list, and whether there are some of a list that is not known."""
    found = grouped((resource_of(one.get("NetworkAclId")), one) for one in model.resources(_ENTRY))
    return found, None in found


def _overlaps(some: set[range], ports: range) -> bool:
    return any(one.start < ports.stop and ports.start < one.stop for one in some)


def _without(some: set[range], ports: range) -> set[range]:
    pieces = [
        piece
        for one in some
        for piece in (range(one.start, min(one.stop, ports.start)), range(max(one.start, ports.stop), one.stop))
    ]
    return {piece for piece in pieces if piece.start < piece.stop}
