"""The context of a role's calls: who calls, from which network, in which region, and through which service."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from hyperpod_constructs.analysis.clusters import Group
from hyperpod_constructs.analysis.conditions import Context
from hyperpod_constructs.analysis.contexts import OF_ROLE
from hyperpod_constructs.analysis.networks import SUBNET, Subnet, network_facts
from hyperpod_constructs.analysis.placement import NodeGroup, node_groups
from hyperpod_constructs.analysis.policy_document import Call, layer_of
from hyperpod_constructs.analysis.regions import region_of
from hyperpod_constructs.facts.interfaces import INTERFACES
from hyperpod_constructs.templates.model import Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, UNKNOWN, Reference, Value, as_items, as_str, at

_ENDPOINTS: Mapping[str, str] = {
    "aps": "aps-workspaces",
    "cloudwatch": "monitoring",
    "ecr": "ecr.api",
    "sagemaker": "sagemaker.api",
}
"""Services whose endpoint has another name than their actions."""
_OF_ENDPOINTS = ("aws:sourcevpce", "aws:sourcevpc", "aws:vpcsourceip")
"""The keys of calls past an endpoint."""


def of_caller(role: Resource) -> Context:
    """The keys of every call of a role of the model, from anywhere."""
    region = region_of(role)
    tags = ((as_str(at(tag, "Key")), at(tag, "Value")) for tag in as_items(role.get("Tags")) or ())
    return {
        **OF_ROLE,
        "aws:principalarn": Reference(role, "Arn"),
        **({} if region is None else {"aws:requestedregion": region}),
        "aws:principalaccount": role.template.owner,
        **{f"aws:principaltag/{key.lower()}": value for key, value in tags if key is not None},
    }


def through(service: str, role: Resource) -> Context:
    """The keys of a call that a service makes for a role, such as S3 for a key."""
    via: Value = f"{service}.{region_of(role)}.amazonaws.com" if region_of(role) else UNKNOWN
    return {"kms:viaservice": via, "aws:viaawsservice": "true", "aws:securetransport": UNKNOWN}


def from_nodes(groups: Iterable[Group], action: str) -> tuple[Context, Resource | None]:
    """The keys of a call that nodes make in their network, and the endpoint past which it goes, if both are known."""
    return from_subnets(of_groups(groups), action)


def from_outside() -> Context:
    """The keys of a call that a service makes from a network of AWS."""
    return dict.fromkeys(_OF_ENDPOINTS, ABSENT)


def from_program(program: Resource, action: str) -> tuple[Context, Resource | None]:
    """The keys of a call that the code of a function or a build makes, and the endpoint past which it goes, if both are known.

    An endpoint whose policy does not let the action through at all is not named: it does not reach the service then.
    """
    if program.get("VpcConfig") is ABSENT:
        return from_outside(), None
    facts = network_facts(program.template.model)
    names = [resource_of(one, SUBNET) for one in as_items(program.get(*INTERFACES[program.type].subnets)) or (UNKNOWN,)]
    keys, endpoint = from_subnets((None if one is None else facts.subnet(one) for one in names), action)
    closed = endpoint is not None and layer_of(endpoint.get("PolicyDocument")).allows(Call(action)) is False
    return keys, None if closed else endpoint


def from_subnets(subnets: Iterable[Subnet | None], action: str) -> tuple[Context, Resource | None]:
    """The keys of a call from some subnets, and the one endpoint past which it goes from all of them."""
    prefix = action.partition(":")[0]
    service = _ENDPOINTS.get(prefix, prefix)
    found = dict.fromkeys(_endpoint(subnet, service) for subnet in subnets)
    if len(found) != 1:
        return {}, None
    (endpoint,) = found
    if isinstance(endpoint, Resource):
        keys = {"aws:sourcevpce": Reference(endpoint), "aws:sourcevpc": endpoint.get("VpcId"), "aws:sourceip": ABSENT}
        return keys, endpoint
    return (from_outside() if endpoint is False else {}), None


def of_node_groups(nodes: Iterable[Resource]) -> Iterator[Subnet | None]:
    """The subnets of groups of nodes that EKS manages; `None` for one that is not known."""
    for group in nodes:
        names = [resource_of(one, SUBNET) for one in as_items(group.get("Subnets")) or (UNKNOWN,)]
        yield from (None if one is None else network_facts(group.template.model).subnet(one) for one in names)


def of_groups(groups: Iterable[Group]) -> Iterator[Subnet | None]:
    """The subnets of instance groups; `None` for one that is not known."""
    for group in groups:
        placed = _placed(group)
        yield from (None,) if placed is None else placed.subnet_facts() or (None,)


def _placed(group: Group) -> NodeGroup | None:
    model = group.resource.template.model
    known = model.cached(_placed, lambda: {(one.resource, one.path): one for one in node_groups(model)})
    return known.get((group.resource, group.path))


def _endpoint(subnet: Subnet | None, service: str) -> Resource | bool | None:
    """The endpoint of a service for a subnet: false if there surely is none, `None` if that is not known."""
    if subnet is None or subnet.vpc is None:
        return None
    gateway = subnet.gateway_endpoint(service)
    interface, perhaps = network_facts(subnet.resource.template.model).interface_endpoint(subnet.vpc, service)
    lacking = not perhaps and interface is None and subnet.lacks_gateway_endpoint(service)
    return gateway or interface or (False if lacking else None)
