"""The way of traffic, hop by hop, up to the one that stops it.

Each function yields the hops of one stretch in order. A hop passes, stops, or is not known (`None`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from ipaddress import IPv4Network

from hyperpod_constructs.analysis.answers import all_of, any_of
from hyperpod_constructs.analysis.barriers import MODE, barrier_of
from hyperpod_constructs.analysis.forwarders import drops_strangers, forwarder_of, is_private, lets_in, subnet_of
from hyperpod_constructs.analysis.naming import Naming
from hyperpod_constructs.analysis.network_acls import acl_of
from hyperpod_constructs.analysis.networks import SUBNET, VPC, ExitKind, Subnet, block_of, network_facts
from hyperpod_constructs.analysis.security_groups import Direction, is_resource
from hyperpod_constructs.analysis.traffic import INTERNET, Side, Traffic, group_lets
from hyperpod_constructs.templates.model import Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, as_bool, as_items, as_str

TABLE, PEERING = "AWS::EC2::RouteTable", "AWS::EC2::VPCPeeringConnection"
_ATTACHMENT = "AWS::EC2::VPCGatewayAttachment"
DHCP = "AWS::EC2::VPCDHCPOptionsAssociation"
_OWN_SERVER = "AmazonProvidedDNS"
# Whatever joins two VPCs, or takes traffic out of one.
CONNECTIONS = (
    "AWS::EC2::TransitGatewayAttachment",
    "AWS::EC2::TransitGatewayVpcAttachment",
    PEERING,
    "AWS::NetworkManager::VpcAttachment",
    "AWS::VpcLattice::ServiceNetworkVpcAssociation",
)
_WORDS: dict[Direction, str] = {"ingress": "in from", "egress": "out to"}


@dataclass(frozen=True, slots=True)
class Hop:
    """A place that traffic passes, or at which it ends."""

    resource: Resource
    passes: bool | None
    """`None` if it is not known."""
    says: str
    """What happens there; a sentence with the resource as its subject."""
    path: tuple[str | int, ...] = ()
    """The place of the cause in the resource's properties."""
    refused: bool = False
    """Whether AWS refuses to make such a resource."""
    covers: tuple[Resource, ...] = ()
    """Other resources with the same cause."""
    doubts: tuple[tuple[Resource, tuple[str | int, ...]], ...] = ()
    """Other places of which one may be the cause."""

    @property
    def cause(self) -> Resource:
        """What is wrong for all that ends there: a route table or a VPC that is not as it should be, else the place itself."""
        return next((one for one in self.covers if one.type in (TABLE, VPC)), self.resource)


@dataclass(frozen=True)
class Way:
    """The way of traffic from one side to another."""

    source: str
    target: str
    traffic: Traffic
    hops: tuple[Hop, ...]

    @classmethod
    def of(cls, source: str, target: str, traffic: Traffic, hops: Iterable[Hop]) -> Way:
        """The way up to the hop at which it surely ends."""
        return cls(source, target, traffic, tuple(_until_the_end(hops)))

    @property
    def passes(self) -> bool | None:
        """Whether traffic arrives; `None` if that is not known."""
        return all_of(hop.passes for hop in self.hops)

    @property
    def places(self) -> list[str]:
        """The hops by name, from one side to the other."""
        return [hop.resource.logical_id for hop in self.hops]

    @property
    def end(self) -> Hop | None:
        """The hop at which it surely ends."""
        return self.hops[-1] if self.hops and self.hops[-1].passes is False else None


def _until_the_end(hops: Iterable[Hop]) -> Iterator[Hop]:
    for hop in hops:
        yield hop
        if hop.passes is False:
            return


def unless(hops: Iterable[Hop], doubt: str | None) -> Iterator[Hop]:
    """These hops; where a doubt is left, none of them surely ends the way."""
    for hop in hops:
        yield replace(hop, passes=None, says=f"{hop.says}; {doubt}") if doubt and hop.passes is False else hop


def through_groups(own: Side, direction: Direction, other: Side, traffic: Traffic) -> Iterator[Hop]:
    """The security groups of one side."""
    passes = group_lets(own, direction, other, traffic)
    if own.groups:
        first, *others = own.resources
        verb = "lets no" if passes is False else "may let" if passes is None else "lets"
        says = f"{verb} {traffic} {_WORDS[direction]} {other.name}"
        yield Hop(first, passes, says, covers=tuple(others))


def meets(source: Side, target: Side, at: Resource, path: tuple[str | int, ...]) -> Iterator[Hop]:
    """That the subnets of two sides reach each other: in one VPC, or by routes between two.

    :param path: the place of the target's subnets in the resource.
    """
    between = _peering(source, target)
    if between is None:
        yield from apart(source, target, at, path)
        return
    pairs = [(here, there) for here in source.subnets or () for there in target.subnets or ()]
    there, back = ([_routed(*ends, between) for ends in some] for some in (pairs, [(two, one) for one, two in pairs]))
    passes = any_of(all_of(both) for both in zip(there, back, strict=True))
    outward = any_of(there) is False
    here, other = pairs[0] if outward else pairs[0][::-1]
    yield _between(here, other, between, passes, back=not outward)


def _peering(source: Side, target: Side) -> Resource | None:
    """The peering connection of the VPCs of two sides, if they are in two and one connects them."""
    vpcs = source.vpcs | target.vpcs
    if len(vpcs) != 2 or None in vpcs or len(source.vpcs) > 1 or len(target.vpcs) > 1:
        return None
    found = [one for vpc in vpcs if vpc is not None for one in vpc.template.model.resources(PEERING)]
    return next((one for one in found if {resource_of(one.get(key), VPC) for key in ("VpcId", "PeerVpcId")} == vpcs), None)


def _routed(here: Subnet, there: Subnet, peering: Resource) -> bool | None:
    """Whether the table of one subnet has a route to another over a peering connection; another target may lead there too."""
    answers = [all_of((_covers(route, there), _leads(route, peering))) for route in here.routes]
    return any_of([*answers, False if here.complete else None])


def _covers(route: Resource, there: Subnet) -> bool | None:
    block = block_of(route.get("DestinationCidrBlock"))
    return None if block is None or there.cidr is None else there.cidr.subnet_of(block)


def _leads(route: Resource, peering: Resource) -> bool | None:
    if any(route.get(key) is not ABSENT for key in ("GatewayId", "NatGatewayId")):
        return False
    value = route.get("VpcPeeringConnectionId")
    return None if value is ABSENT else is_resource(value, peering)


def _between(here: Subnet, there: Subnet, peering: Resource, passes: bool | None, *, back: bool) -> Hop:
    """The hop of a route between two VPCs: at the route over the peering connection that misses the subnet, or at the table."""
    if passes is not False:
        return Hop(peering, passes, "connects both VPCs")
    near = next((route for route in here.routes if _leads(route, peering)), None)
    table = resource_of(here.route_table)
    name = there.resource.logical_id if there.cidr is None else f"{there.resource.logical_id} ({there.cidr})"
    answers = ", on which answers come back" if back else ""
    if near is not None:
        says = f"does not lead to {name}{answers}"
        return Hop(near, False, says, ("DestinationCidrBlock",))
    says = f"has no route over {peering.logical_id} to {name}{answers}"
    return Hop(here.resource if table is None else table, False, says)


def overlap(source: Side, target: Side) -> bool:
    """Whether the blocks of two VPCs surely have common addresses, so that no route between them is sure."""
    one, other = ({subnet.cidr for subnet in side.subnets or ()} | _primary(side) for side in (source, target))
    pairs = ((first, second) for first in one for second in other if first is not None and second is not None)
    return not source.vpcs & target.vpcs and any(first.overlaps(second) for first, second in pairs)


def _primary(side: Side) -> set[IPv4Network | None]:
    return {block_of(vpc.get("CidrBlock")) for vpc in side.vpcs if vpc is not None}


def inside(source: Side, target: Side, traffic: Traffic) -> Iterator[Hop]:
    """From one side to another in the same VPC."""
    yield from through_groups(source, "egress", target, traffic)
    apart = [one for one in source.subnets or () if one not in (target.subnets or ())]
    yield from through_acls(apart, target, traffic, asks=True)
    there = [one for one in target.subnets or () if (one,) != source.subnets]
    yield from through_acls(there if len(there) == len(target.subnets or ()) else (), source, traffic, asks=False)
    yield from through_groups(target, "ingress", source, traffic)


def apart(source: Side, target: Side, at: Resource, path: tuple[str | int, ...] = ()) -> Iterator[Hop]:
    """That two sides are in different VPCs, if that is sure.

    :param path: the place of the target's subnets in the resource.
    """
    here, there = source.vpcs, target.vpcs
    if None in here | there or here & there:
        return
    names = [", ".join(sorted(vpc.logical_id for vpc in some if vpc is not None)) for some in (here, there)]
    joined = bool(at.template.model.resources(*CONNECTIONS))
    says = f"is in another VPC ({names[1]}) than {source.name} ({names[0]})"
    yield Hop(at, None if joined else False, f"{says}, which may be connected" if joined else says, path)


def resolved(subnet: Subnet, *, private: bool = False) -> Iterator[Hop]:
    """The names of services in the VPC of a subnet.

    :param private: whether the name is that of an interface of the VPC, in a zone that AWS makes.
    """
    vpc = subnet.vpc
    if vpc is None:
        return
    support, names = vpc.get("EnableDnsSupport"), vpc.get("EnableDnsHostnames")
    associations = vpc.template.model.resources(DHCP)
    own_servers = any(is_resource(one.get("VpcId"), vpc) is not False and _may_ask_others(one) for one in associations)
    if support is not ABSENT and as_bool(support) is not True:
        known = as_bool(support) is False and (private or not own_servers)
        yield Hop(vpc, False if known else None, "resolves no names: EnableDnsSupport is false", ("EnableDnsSupport",), private)
    elif private and (names is ABSENT or as_bool(names) is not True):
        says = "has no private DNS, which needs EnableDnsHostnames beside EnableDnsSupport"
        yield Hop(vpc, False if names is ABSENT or as_bool(names) is False else None, says, ("EnableDnsHostnames",), True)


def _may_ask_others(association: Resource) -> bool:
    """Whether DHCP options may name other servers than the one of the VPC, which is there with EnableDnsSupport only."""
    options = resource_of(association.get("DhcpOptionsId"), "AWS::EC2::DHCPOptions")
    servers = () if options is None else as_items(options.get("DomainNameServers")) or ()
    return not servers or any(as_str(one) != _OWN_SERVER for one in servers)


def to_the_internet(source: Side, traffic: Traffic) -> Iterator[Hop]:
    """From a subnet to an address outside of its VPC."""
    for subnet in (source.subnets or ())[:1]:
        yield from _out_of(subnet)
        yield from _by_forwarder(subnet, source, traffic)
        yield from through_groups(source, "egress", INTERNET, traffic)
        yield from through_acls([subnet], INTERNET, traffic, asks=True)
        nat = _subnet_of_nat(subnet.exit.gateway) if subnet.exit.kind is ExitKind.NAT else None
        if nat is not None and nat is not subnet:
            yield from through_acls([nat], source, traffic, asks=False)
            yield from through_acls([nat], INTERNET, traffic, asks=True)


def past_gateway_endpoint(source: Side, endpoint: Resource, traffic: Traffic) -> Iterator[Hop]:
    """From a subnet to a service with a gateway endpoint on its table."""
    yield Hop(endpoint, True, "takes the traffic by the route table")
    yield from through_groups(source, "egress", INTERNET, traffic)
    yield from through_acls((source.subnets or ())[:1], INTERNET, traffic, asks=True)


def _out_of(subnet: Subnet) -> Iterator[Hop]:
    exit_ = subnet.exit
    if exit_.kind is ExitKind.NONE:
        table = resource_of(subnet.route_table)
        named = "uses the main route table" if table is None else f"uses route table {table.logical_id}"
        yield Hop(subnet.resource, False, f"{named}, which has no route to the internet", covers=_table_of(subnet))
    elif exit_.kind is ExitKind.INTERNET_GATEWAY:
        says = "is a public subnet: its route leads to an internet gateway, and nodes have no public addresses"
        cause = () if exit_.route is None else ((exit_.route, ("GatewayId",)),)
        yield Hop(subnet.resource, False, says, doubts=cause)
    elif exit_.kind is ExitKind.NAT and exit_.gateway is not None:
        yield Hop(subnet.resource, True, f"has a route to NAT gateway {exit_.gateway.logical_id}")
        yield _nat(exit_.gateway, subnet)
    else:
        yield Hop(subnet.resource, None, "has routes that are not known, or whose end is not")


def _by_forwarder(subnet: Subnet, source: Side, traffic: Traffic) -> Iterator[Hop]:
    """Through an instance to which the default route leads, if it surely drops the packets of others, or lets none of them in."""
    one = forwarder_of(subnet.exit.route) if subnet.exit.kind is ExitKind.UNKNOWN else None
    groups = None if one is None else lets_in(one, source, traffic)
    if one is not None and drops_strangers(one):
        yield Hop(one, False, "drops what is neither from it nor to it (SourceDestCheck)", ("SourceDestCheck",))
    elif groups is not None and groups[1] is False:
        yield Hop(groups[0], False, f"lets no {traffic} in from the nodes, which send it by {subnet.resource.logical_id}")
    own = None if one is None else subnet_of(one)
    if one is not None and own is not None and (own.exit.kind is ExitKind.NONE or forwarder_of(own.exit.route) is one):
        yield Hop(one, False, f"is in {own.resource.logical_id}, which has no route to an internet gateway", ("SubnetId",))
    elif one is not None and own is not None and own.exit.kind is ExitKind.INTERNET_GATEWAY and is_private(one, own):
        yield Hop(one, False, f"has no public address in {own.resource.logical_id}, whose route leads to an internet gateway")


def _table_of(subnet: Subnet) -> tuple[Resource, ...]:
    """The route table of a subnet; its VPC where that is the main one."""
    table = resource_of(subnet.route_table) or subnet.vpc
    return () if table is None else (table,)


def _subnet_of_nat(nat: Resource | None) -> Subnet | None:
    found = None if nat is None else resource_of(nat.get("SubnetId"), SUBNET)
    return None if found is None else network_facts(found.template.model).subnet(found)


def _nat(nat: Resource, user: Subnet) -> Hop:
    """A NAT gateway of a subnet, which needs a way of its own."""
    subnet = _subnet_of_nat(nat)
    if subnet is not None and subnet.vpc is not None and user.vpc is not None and subnet.vpc is not user.vpc:
        return Hop(nat, False, f"is in another VPC ({subnet.vpc.logical_id})", ("SubnetId",), refused=True)
    return out_of_nat(nat)


def out_of_nat(nat: Resource) -> Hop:
    """A NAT gateway on the way to the internet."""
    if as_str(nat.get("ConnectivityType")) == "private":
        return Hop(nat, False, "is private (ConnectivityType), and leads to no address of the internet", ("ConnectivityType",))
    subnet = _subnet_of_nat(nat)
    if subnet is None or nat.exists is None:
        return Hop(nat, None, "has a subnet that is not known")
    return by_gateway(nat, subnet, "SubnetId")


def by_gateway(one: Resource, subnet: Subnet, *path: str | int) -> Hop:
    """What has a public address in a subnet, on the way to or from the internet.

    :param path: the property with the subnet.
    """
    id, kind = subnet.resource.logical_id, subnet.exit.kind
    if kind in (ExitKind.NONE, ExitKind.NAT):
        says = f"is in {id}, which has no route to an internet gateway"
        return Hop(one, False, says, path, covers=(subnet.resource, *_table_of(subnet)))
    if kind is ExitKind.UNKNOWN:
        return Hop(one, None, f"is in {id}, whose routes are not known")
    barred = barrier_of(subnet)
    if barred is not None:
        return Hop(barred, False, f"bars all traffic of internet gateways, and nothing excludes {id}", (MODE,), covers=(one,))
    gateway, attached = subnet.exit.gateway, _attached(subnet)
    if gateway is not None and attached is False:
        wrong = next((one for one in _attachments_of(gateway) if one.exists), None)
        if wrong is not None:
            return Hop(wrong, False, f"attaches the gateway to another VPC than that of {id}", ("VpcId",), covers=(one, gateway))
        return Hop(gateway, False, f"is not attached to the VPC of {id}", covers=(one, subnet.resource))
    says = f"is in {id}" if attached else f"is in {id}, whose internet gateway may not be attached to its VPC"
    return Hop(one, attached, says, covers=(subnet.resource,))


def _attached(subnet: Subnet) -> bool | None:
    """Whether the internet gateway of a public subnet is attached to its VPC."""
    gateway, vpc = subnet.exit.gateway, subnet.vpc
    if gateway is None or vpc is None or gateway.type == _ATTACHMENT:
        return True
    answers = [
        all_of((is_resource(one.get("InternetGatewayId"), gateway), is_resource(one.get("VpcId"), vpc), one.exists))
        for one in _attachments_of(gateway)
    ]
    return any_of([*answers, False if gateway.template.model.complete else None])


def _attachments_of(gateway: Resource) -> Iterator[Resource]:
    model = gateway.template.model
    naming = model.cached(
        (Naming, _ATTACHMENT), lambda: Naming(model.resources(_ATTACHMENT), lambda one: (one.get("InternetGatewayId"),))
    )
    return (one for one in naming.of(gateway) if resource_of(one.get("InternetGatewayId")) in (gateway, None))


def has_gateway(vpc: Resource) -> bool | None:
    """Whether an internet gateway is attached to a VPC of the model."""
    model = vpc.template.model
    found = [one for one in model.resources(_ATTACHMENT) if one.get("InternetGatewayId") is not ABSENT]
    answers = [all_of((is_resource(one.get("VpcId"), vpc), one.exists)) for one in found]
    return any_of([*answers, False if model.complete else None])


def through_acls(subnets: Sequence[Subnet], other: Side, traffic: Traffic, *, asks: bool) -> Iterator[Hop]:
    """The network ACLs of subnets of which traffic takes one: on its way there and on its way back.

    :param asks: whether the subnet's side opens the connection.
    """
    answers: list[tuple[Resource, bool | None, str]] = []
    for subnet in subnets:
        acl = acl_of(subnet)
        if acl is None:
            answers.append((subnet.resource, None, "has a network ACL that is not known"))
        elif acl.is_default and not acl.entries:
            return
        else:
            there = acl.lets(asks, other, traffic)
            back = acl.lets(not asks, other, traffic.answers)
            stopped, outward = (traffic, asks) if there is False else (traffic.answers, not asks)
            verb = "lets no" if False in (there, back) else "may let" if None in (there, back) else "lets"
            said = f"{verb} {stopped if verb == 'lets no' else traffic} {'out to' if outward else 'in from'} {other.name}"
            default = ", by its default network ACL" if acl.is_default else ""
            answers.append((acl.resource, all_of((there, back)), f"{said}{_back(there, verb)}{default}"))
    if answers:
        passes = any_of(answer for _, answer, _ in answers)
        resource, _, says = next(one for one in answers if one[1] is passes)
        yield Hop(resource, passes, says)


def _back(there: bool | None, verb: str) -> str:
    return ", on which answers come back" if verb == "lets no" and there is not False else ""
