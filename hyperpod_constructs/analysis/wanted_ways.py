"""Ways that no service asks for and for which a network is made: out to the internet, and past gateway endpoints.

Nodes pull images of other registries and packages, and no template tells of that. The network does: a NAT gateway to which nothing
leads, a route to an internet gateway, or another subnet of the same nodes that has the way.
"""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs.analysis.near_misses import given_away
from hyperpod_constructs.analysis.networks import NAT, SUBNET, ExitKind, Subnet, exit_of, network_facts, service_of
from hyperpod_constructs.analysis.placement import NodeGroup
from hyperpod_constructs.analysis.traffic import INTERNET, Side, Traffic, group_lets
from hyperpod_constructs.analysis.ways import TABLE, Hop, Way, to_the_internet
from hyperpod_constructs.templates.dependencies import references
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, as_str

_ROUTE = "AWS::EC2::Route"


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


def _missing(endpoint: Resource, subnet: Subnet) -> Hop:
    """The hop at an endpoint that is on the tables of some subnets of nodes only."""
    table = resource_of(subnet.route_table, TABLE)
    name = subnet.resource.logical_id if table is None else table.logical_id
    says = f"is not on {name}: calls from {subnet.resource.logical_id} do not pass it, so what admits its VPC alone refuses them"
    covers = () if table is None or subnet.exit.kind is not ExitKind.NONE else (table,)
    return Hop(endpoint, False, says, ("RouteTableIds",), covers=covers)
