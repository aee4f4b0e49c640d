"""The order of creation of resources."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hyperpod_constructs.rules.finding import Hit
from hyperpod_constructs.rules.rule import error, warning
from hyperpod_constructs.templates.dependencies import awaits, circles
from hyperpod_constructs.templates.model import Model, Resource, resource_of

_MOST_NAMES = 10


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


@warning(
    "HP-DEP-002",
    title="what leads to an internet gateway awaits its attachment",
    why="CloudFormation makes both at once, and EC2 refuses a route to a gateway that is not attached yet (InvalidParameterValue)",
    fix="name the AWS::EC2::VPCGatewayAttachment in DependsOn of the route",
    allowed="DependsOn on the attachment",
    source="https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-attribute-dependson.html#gatewayattachment",
    on=("AWS::EC2::Route",),
)
def routes_await_their_gateway(route: Resource) -> str | None:
    gateway = resource_of(route.get("GatewayId"), "AWS::EC2::InternetGateway")
    model = route.template.model
    found = [
        one for one in model.resources("AWS::EC2::VPCGatewayAttachment") if resource_of(one.get("InternetGatewayId")) is gateway
    ]
    late = gateway is not None and len(found) == 1 and found[0].template is route.template and not awaits(route, found[0])
    return f"{route.logical_id} leads to {route.get('GatewayId')}, and does not await {found[0].logical_id}" if late else None


def _message(circle: Sequence[Resource]) -> str:
    names = [resource.logical_id for resource in circle]
    if len(names) == 1:
        return f"{names[0]} awaits itself"
    shown = names[:_MOST_NAMES] + ["…"] * (len(names) > _MOST_NAMES)
    return f"{shown[0]} awaits {', which awaits '.join([*shown[1:], names[0]])}"
