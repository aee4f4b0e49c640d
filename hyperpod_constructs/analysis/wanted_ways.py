"""Ways that no service asks for and for which a network is made: out to the internet, and past gateway endpoints.

A gateway endpoint is for somebody too: one on tables on which nobody is, was meant for the tables of the nodes.

Nodes pull images of other registries and packages, and no template tells of that. The network does: a NAT gateway to which nothing
leads, a route to an internet gateway, or another subnet of the same nodes that has the way.
"""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs._support.words import enumerated
from hyperpod_constructs.analysis.near_misses import given_away
from hyperpod_constructs.analysis.networks import ENDPOINT, NAT, SUBNET, ExitKind, Subnet, exit_of, network_facts, service_of
from hyperpod_constructs.analysis.placement import NodeGroup
from hyperpod_constructs.analysis.traffic import INTERNET, Side, Traffic, group_lets
from hyperpod_constructs.analysis.ways import TABLE, Hop, Way, to_the_internet
from hyperpod_constructs.templates.dependencies import references
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, UNKNOWN, as_items, as_str

_ROUTE, _ASSOCIATION = "AWS::EC2::Route", "AWS::EC2::SubnetRouteTableAssociation"
_NO_CALLERS = (_ASSOCIATION, NAT, "AWS::EC2::SubnetNetworkAclAssociation", "AWS::ElasticLoadBalancingV2::LoadBalancer")
"""What names a subnet, and calls no service from it."""


def wanted_ways(group: NodeGroup, source: Side) -> Iterator[tuple[str, Way]]:
    """The ways for which the network of nodes in one subnet is made, each with what is at its end."""
    (subnet,) = source.subnets or (None,)
    if subnet is None or subnet.vpc is None:
        return
    others = [one for one in group.subnet_facts() if one.resource is not subnet.resource and one.vpc is subnet.vpc]
    if _is_to_lead_out(subnet, others) and group_lets(source, "egress", INTERNET, Traffic()):
        yield "the internet", Way.of(source.name, "the internet", Traffic(), to_the_internet(source, Traffic()))
    for endpoint in dict.fromkeys(endpoint for one in others for endpoint in one.gateway_endpoints):
        service = service_of(endpoint)
        if service is not None and subnet.lacks_gateway_endpoint(service) and endpoint not in subnet.gateway_endpoints:
            target = f"{service} past {endpoint.logical_id}"
            yield target, Way.of(source.name, target, Traffic(), [_missing(endpoint, subnet)])
    for endpoint in _astray(subnet) if subnet.exit.kind is ExitKind.NAT else ():
        target = f"{service_of(endpoint)} past {endpoint.logical_id}"
        yield target, Way.of(source.name, target, Traffic(), [_at_nobodys(endpoint, subnet)])


def _is_to_lead_out(subnet: Subnet, others: list[Subnet]) -> bool:
    """Whether nodes in a subnet without a way out were to have one."""
    if subnet.exit.kind is ExitKind.NONE:
        return any(one.exit.kind is ExitKind.NAT for one in others) or any(_vpc_of(one) is subnet.vpc for one in _idle(subnet))
    return subnet.exit.kind is ExitKind.INTERNET_GATEWAY


def _idle(subnet: Subnet) -> tuple[Resource, ...]:
    return idle_gateways(subnet.resource.template.model)


def _vpc_of(nat: Resource) -> Resource | None:
    """The VPC of a NAT gateway."""
    subnet = resource_of(nat.get("SubnetId"), SUBNET)
    return None if subnet is None else network_facts(nat.template.model).subnet(subnet).vpc


def idle_gateways(model: Model) -> tuple[Resource, ...]:
    """The NAT gateways for the internet to which no default route of a model leads; computed once.

    One that an output gives to others counts only where a template of the model takes it: the others are there then.
    """
    return model.cached(idle_gateways, lambda: tuple(_idle_ones(model)) if model.complete else ())


def _idle_ones(model: Model) -> Iterator[Resource]:
    gateways = [one for one in model.resources(NAT) if one.exists and as_str(one.get("ConnectivityType")) != "private"]
    if not gateways or any(map(_may_lead_anywhere, model.resources(_ROUTE))):
        return
    users = grouped((named, one) for one in model.resources() for named in {*references(one.get())} if named.type == NAT)
    given = {named for template in model.templates for value in given_away(template) for named in references(value)}
    for nat in gateways:
        others = [one for one in users.get(nat, ()) if one is not nat]
        leads = any(one.type == _ROUTE and exit_of(one).kind is not ExitKind.NONE for one in others)
        if not leads and (nat not in given or any(one.template is not nat.template for one in others)):
            yield nat


def _may_lead_anywhere(route: Resource) -> bool:
    """Whether a route leads to a NAT gateway that is not known."""
    nat = route.get("NatGatewayId")
    return nat is not ABSENT and as_str(nat) is None and resource_of(nat) is None


def _astray(subnet: Subnet) -> Iterator[Resource]:
    """The gateway endpoints of a subnet's VPC that nobody passes, for services that the subnet has no other one for."""
    for endpoint in idle_endpoints(subnet.resource.template.model):
        service = service_of(endpoint)
        if resource_of(endpoint.get("VpcId")) is subnet.vpc and service is not None and subnet.lacks_gateway_endpoint(service):
            yield endpoint


def idle_endpoints(model: Model) -> tuple[Resource, ...]:
    """The gateway endpoints on the tables of whose subnets surely nobody makes calls; computed once."""
    return model.cached(idle_endpoints, lambda: tuple(_idle_endpoints(model)) if model.complete else ())


def _idle_endpoints(model: Model) -> Iterator[Resource]:
    gateways = [one for one in model.resources(ENDPOINT) if one.exists and one.get("VpcEndpointType") in ("Gateway", ABSENT)]
    if not gateways or any(resource_of(one.get("SubnetId"), SUBNET) is None for one in model.resources(_ASSOCIATION)):
        return
    named = ((one, user) for user in model.resources() for one in {*references(user.get())})
    users = grouped((one, user) for one, user in named if one.type in (SUBNET, TABLE))
    given = {one for template in model.templates for value in given_away(template) for one in references(value)}
    for endpoint in gateways:
        tables = [resource_of(one, TABLE) for one in as_items(endpoint.get("RouteTableIds")) or (UNKNOWN,)]
        links = [one for table in tables if table is not None for one in users.get(table, ()) if one.type == _ASSOCIATION]
        subnets = [resource_of(link.get("SubnetId"), SUBNET) for link in links]
        callers = (
            user for subnet in subnets if subnet is not None for user in users.get(subnet, ()) if user.type not in _NO_CALLERS
        )
        if None not in tables and given.isdisjoint((*tables, *subnets)) and not any(callers):
            yield endpoint


def _at_nobodys(endpoint: Resource, subnet: Subnet) -> Hop:
    """The hop at an endpoint that is on tables of subnets alone where nobody makes calls."""
    tables = enumerated(one.logical_id for one in references(endpoint.get("RouteTableIds")))
    says = f"is on {tables} alone, whose subnets have nobody who calls: what {subnet.resource.logical_id} sends does not pass it"
    return Hop(endpoint, False, says, ("RouteTableIds",))


def _missing(endpoint: Resource, subnet: Subnet) -> Hop:
    """The hop at an endpoint that is on the tables of some subnets of nodes only."""
    table = resource_of(subnet.route_table, TABLE)
    name = subnet.resource.logical_id if table is None else table.logical_id
    says = f"is not on {name}: calls from {subnet.resource.logical_id} do not pass it, so what admits its VPC alone refuses them"
    covers = () if table is None or subnet.exit.kind is not ExitKind.NONE else (table,)
    return Hop(endpoint, False, says, ("RouteTableIds",), covers=covers)
