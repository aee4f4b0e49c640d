"""The order of creation of resources."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs.analysis.networks import network_facts
from hyperpod_constructs.analysis.placement import users_of_subnets
from hyperpod_constructs.rules.finding import Hit
from hyperpod_constructs.rules.rule import error, warning
from hyperpod_constructs.templates.dependencies import awaits, circles
from hyperpod_constructs.templates.model import Model, Resource, resource_of

_MOST_NAMES = 10
_ROUTE = "AWS::EC2::Route"


@error(
    "HP-DEP-001",
    title="no resource awaits itself",
    why="CloudFormation refuses the template (circular dependency) before it makes anything",
    fix="break the circle: make one of the references a resource of its own, as a rule of a security group or a policy of a role",
    allowed="references and DependsOn that lead to an end",
    source="https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/troubleshooting.html",
)
def no_resource_awaits_itself(model: Model) -> Iterator[Hit]:
    for template in model.templates:
        for circle in () if template.rewritten else circles(template):
            yield Hit(circle[0], (), _message(circle), covers=tuple(circle[1:]))


def _message(circle: Sequence[Resource]) -> str:
    names = [resource.logical_id for resource in circle]
    if len(names) == 1:
        return f"{names[0]} awaits itself"
    shown = names[:_MOST_NAMES] + ["…"] * (len(names) > _MOST_NAMES)
    return f"{shown[0]} awaits {', which awaits '.join([*shown[1:], names[0]])}"


@warning(
    "HP-DEP-002",
    on=_ROUTE,
    title="routes to an internet gateway await its attachment to the VPC",
    why="CloudFormation makes both at once, and EC2 refuses a route to a gateway that is not attached yet",
    fix="name the AWS::EC2::VPCGatewayAttachment in DependsOn of the route",
    allowed="DependsOn on the attachment",
    source="https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-dependson.html",
)
def gateways_are_attached_first(route: Resource) -> Hit | None:
    """Not judged in the table of nodes: an internet gateway does not serve them, which is another mistake."""
    model = route.template.model
    gateway = resource_of(route.get("GatewayId"), "AWS::EC2::InternetGateway")
    if gateway is None or resource_of(route.get("RouteTableId")) in _tables_of_nodes(model):
        return None
    found = [one for one in _attachments(model).get(gateway, ()) if one.exists and one.template.root is route.template.root]
    if not found or any(awaits(route, one) for one in found):
        return None
    return Hit(route, (), f"it does not await {found[0].logical_id}, which attaches the internet gateway to its VPC")


def _attachments(model: Model) -> Mapping[Resource | None, Sequence[Resource]]:
    """The attachments of internet gateways, by gateway; computed once."""
    attachments = model.resources("AWS::EC2::VPCGatewayAttachment")
    return model.cached(_attachments, lambda: grouped((resource_of(one.get("InternetGatewayId")), one) for one in attachments))


def _tables_of_nodes(model: Model) -> frozenset[Resource | None]:
    """The route tables of the subnets of nodes; computed once."""
    subnets = users_of_subnets(model)
    return model.cached(
        _tables_of_nodes, lambda: frozenset(resource_of(network_facts(model).subnet(one).route_table) for one in subnets) - {None}
    )
