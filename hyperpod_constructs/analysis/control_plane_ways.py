"""The ways of nodes and programs to a control plane of EKS: to its endpoint, and to the names of CoreDNS on nodes of EKS."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hyperpod_constructs.analysis.answers import any_of
from hyperpod_constructs.analysis.clusters import given
from hyperpod_constructs.analysis.kubernetes import EksCluster
from hyperpod_constructs.analysis.near_misses import meant_for
from hyperpod_constructs.analysis.networks import SUBNET, ExitKind, Subnet, block_of, network_facts
from hyperpod_constructs.analysis.security_groups import SECURITY_GROUP, security_groups
from hyperpod_constructs.analysis.service_ways import is_closed
from hyperpod_constructs.analysis.traffic import Side, Traffic, speak_of_each_other
from hyperpod_constructs.analysis.ways import Hop, apart, inside, resolved, through_groups, to_the_internet
from hyperpod_constructs.facts.connections import DNS_PORTS
from hyperpod_constructs.templates.dependencies import references
from hyperpod_constructs.templates.model import Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, Value, as_bool, as_items, at, shown

DNS = Traffic("udp", DNS_PORTS)
_SMALL = 16  # a prefix: Amazon's own ranges of addresses are larger
_OFFICE = 24  # a prefix: of the ranges of Amazon's own addresses in a region many are larger
_ADDRESS, _FUNCTION = "AWS::EC2::EIP", "AWS::Lambda::Function"
_OWN_GROUPS = ("NetworkInterfaces", "SecurityGroupIds", "SecurityGroups")


def to_control_plane(source: Side, eks: EksCluster) -> Iterator[Hop]:
    """From nodes in one subnet to the endpoint of a control plane."""
    private, public = (_setting(eks, f"Endpoint{kind}Access", default=kind == "Public") for kind in ("Private", "Public"))
    (subnet,) = source.subnets or ()
    target = side_of_control_plane(eks)
    if private is False and public is False:
        yield Hop(eks.resource, False, "has no endpoint", eks.network_path("EndpointPrivateAccess"))
        return
    strange = [hop for hop in apart(source, target, eks.resource) if hop.passes is False]
    if strange or private is None:
        yield replace(strange[0], passes=None) if strange else Hop(eks.resource, None, "may have a private endpoint")
        return
    names = list(resolved(subnet, private=True))
    if private and (not names or public is False):
        yield from (replace(hop, refused=False) for hop in names)
        yield from _into_control_plane(source, target, eks)
    elif private:
        yield Hop(eks.resource, None, "has a private endpoint, whose name may not be resolved")
    else:
        yield from _to_public_endpoint(source, subnet, eks)


def _to_public_endpoint(source: Side, subnet: Subnet, eks: EksCluster) -> Iterator[Hop]:
    path = eks.network_path("EndpointPrivateAccess")
    for hop in to_the_internet(source, Traffic()):
        if hop.passes is False and is_closed(subnet):
            says = f"has only a public endpoint, and {subnet.resource.logical_id} no route to the internet"
            yield Hop(eks.resource, False, says, path)
        else:
            yield hop
    yield from _from_known_addresses(subnet, eks)


def _from_known_addresses(subnet: Subnet, eks: EksCluster) -> Iterator[Hop]:
    """The list of addresses from which the public endpoint takes requests: nodes come from that of their NAT gateway."""
    path = eks.network_path("PublicAccessCidrs")
    nat = subnet.exit.gateway
    own = None if nat is None or subnet.exit.kind is not ExitKind.NAT else resource_of(nat.get("AllocationId"), _ADDRESS)
    listed = as_items(eks.resource.get(*path))
    if listed:
        passes = any_of(_admits(one, own) for one in listed)
        yield Hop(eks.resource, passes, f"takes requests from {', '.join(str(shown(one)) for one in listed)} only", path)


def _admits(block: Value, address: Resource | None) -> bool | None:
    """Whether a block has the address of a NAT gateway; one that is yet to be made is hardly in a small block that is written."""
    area = block_of(block)
    if area is not None:
        return True if not area.prefixlen else None if address is None or area.prefixlen < _SMALL else False
    return True if address is not None and address in references(block) else None


def from_no_vpc(caller: Resource, eks: EksCluster) -> Hop | None:
    """The end of the way of a function or a build in no VPC: no public endpoint, or none for an address of Lambda's.

    Those of CodeBuild are in small blocks, which a list may have.

    Sources: https://docs.aws.amazon.com/eks/latest/userguide/cluster-endpoint.html and
    https://docs.aws.amazon.com/vpc/latest/userguide/aws-ip-ranges.html
    """
    listed = as_items(eks.resource.get(*eks.network_path("PublicAccessCidrs"))) or ()
    if _setting(eks, "EndpointPublicAccess", default=True) is False:
        says = "has no public endpoint"
    elif caller.type == _FUNCTION and listed and all(_is_of_an_office(one) for one in listed):
        says = f"takes requests from {', '.join(str(shown(one)) for one in listed)} only"
    else:
        return None
    return Hop(caller, False, f"is in no VPC, and {eks.resource.logical_id} {says}", ("VpcConfig",), covers=(eks.resource,))


def _is_of_an_office(block: Value) -> bool:
    """Whether a block is surely too small for the addresses of Lambda, or has an address of the template's own."""
    area = block_of(block)
    return any(one.type == _ADDRESS for one in references(block)) if area is None else area.prefixlen >= _OFFICE


def _into_control_plane(source: Side, target: Side, eks: EksCluster) -> Iterator[Hop]:
    """The interfaces of the control plane have groups of the user's, and one of EKS that admits itself and what rules add."""
    for hop in inside(source, target, Traffic()):
        yield _at_the_door(hop, source, target, Traffic(), eks)


def _at_the_door(hop: Hop, source: Side, target: Side, traffic: Traffic, eks: EksCluster) -> Hop:
    """A hop; one that ends at the groups of a control plane is at the rule that was meant for these nodes, if there is one."""
    covers = tuple(dict.fromkeys((*hop.covers, eks.resource, *source.resources)))
    if hop.passes is not False or hop.resource not in target.resources:
        return replace(hop, covers=covers)
    rule = meant_for(security_groups(eks.resource.template.model).made_by(eks.resource), source, traffic)
    if rule is not None:
        return Hop(rule.resource, False, f"lets no {traffic} in from {source.name}", covers=covers)
    if hop.resource is not eks.resource:
        return replace(hop, covers=covers)
    says = "has no security group of its own, and that of EKS admits only itself"
    return Hop(eks.resource, False, says, eks.network_path("SecurityGroupIds"), covers=source.resources)


def to_dns(source: Side, eks: EksCluster, system: Resource) -> Iterator[Hop]:
    """From pods on nodes to CoreDNS on nodes that EKS manages, and that have the group of the cluster alone.

    It is judged where a rule joins the two: without any, CoreDNS may be kept on the nodes themselves.
    """
    made = security_groups(system.template.model).made_by(eks.resource)
    target = Side(system.logical_id, (made,))
    if "coredns" in eks.addons and _has_own_groups(system) is False and speak_of_each_other(source, target):
        for hop in (*through_groups(source, "egress", target, DNS), *through_groups(target, "ingress", source, DNS)):
            yield _at_the_door(hop, source, target, DNS, eks)


def _has_own_groups(system: Resource) -> bool | None:
    """Whether the launch template of a node group names security groups; `None` if that is not known."""
    named = system.get("LaunchTemplate")
    template = resource_of(at(named, "Id"), "AWS::EC2::LaunchTemplate")
    if named is ABSENT or template is None:
        return False if named is ABSENT else None
    return any(given(template.get("LaunchTemplateData", key)) is not False for key in _OWN_GROUPS)


def side_of_control_plane(eks: EksCluster) -> Side:
    """The groups and the subnets of a control plane, as far as they are in the model, with the group that EKS makes."""
    model = eks.resource.template.model
    groups, subnets = eks.in_network("SecurityGroupIds", SECURITY_GROUP), eks.in_network("SubnetIds", SUBNET)
    facts = security_groups(model)
    return Side(
        eks.resource.logical_id,
        None if groups is None else (*map(facts.of, groups), facts.made_by(eks.resource)),
        tuple(map(network_facts(model).subnet, subnets)) if subnets else None,
        place=(eks.resource, eks.network_path("SecurityGroupIds")),
    )


def _setting(eks: EksCluster, key: str, *, default: bool) -> bool | None:
    value = eks.resource.get(*eks.network_path(key))
    return default if value is ABSENT else as_bool(value)
