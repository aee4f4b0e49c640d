"""The order of creation of resources."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs._support.words import enumerated
from hyperpod_constructs.analysis.iam import RoleFacts, role_facts
from hyperpod_constructs.analysis.networks import network_facts
from hyperpod_constructs.analysis.placement import users_of_subnets
from hyperpod_constructs.analysis.role_calls import called
from hyperpod_constructs.rules.finding import Hit
from hyperpod_constructs.rules.rule import ORDER, error, warning
from hyperpod_constructs.templates.dependencies import awaits, circles
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT

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


@dataclass(frozen=True, slots=True)
class _Order:
    """Resources that come after those that attach what they use.

    :param key: the property with what is used.
    :param attachments: the types that attach it, each with the property that names it.
    """

    type: str
    key: str
    attachments: Mapping[str, str]


_TRANSIT = dict.fromkeys(("AWS::EC2::TransitGatewayAttachment", "AWS::EC2::TransitGatewayVpcAttachment"), "TransitGatewayId")
_INTERNET, _VPN = ({"AWS::EC2::VPCGatewayAttachment": key} for key in ("InternetGatewayId", "VpnGatewayId"))
_ORDERS = (
    _Order(_ROUTE, "GatewayId", _INTERNET),
    _Order(_ROUTE, "GatewayId", _VPN),
    _Order(_ROUTE, "TransitGatewayId", _TRANSIT),
    _Order("AWS::EC2::VPNGatewayRoutePropagation", "VpnGatewayId", _VPN),
)


@warning(
    "HP-DEP-002",
    title="routes to a gateway, and addresses of NAT gateways, await its attachment to the VPC",
    why="CloudFormation makes both at once, and EC2 refuses what needs a gateway that is not attached yet",
    fix="name the attachment in DependsOn of the route or the address",
    allowed="DependsOn on the attachment",
    source="https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-dependson.html",
)
def gateways_are_attached_first(model: Model) -> Iterator[Hit]:
    for order in _ORDERS:
        for user in model.resources(order.type):
            attachment = _unawaited(user, order)
            if attachment is not None:
                yield Hit(user, (), f"it does not await {attachment.logical_id}, which attaches the gateway to its VPC")
    for nat in model.resources("AWS::EC2::NatGateway"):
        address, attachments = resource_of(nat.get("AllocationId")), _internet_of(nat)
        if address is not None and nat.exists and attachments and not any(awaits(nat, one) for one in attachments):
            text = f"it does not await {attachments[0].logical_id}, which attaches the internet gateway to its VPC"
            yield Hit(address, (), text)


def _internet_of(nat: Resource) -> list[Resource]:
    """The attachments of an internet gateway to the VPC of a NAT gateway, in its own stack."""
    subnet = resource_of(nat.get("SubnetId"))
    vpc = None if subnet is None else resource_of(subnet.get("VpcId"))
    found = nat.template.model.resources("AWS::EC2::VPCGatewayAttachment") if vpc is not None else ()
    own = [one for one in found if one.exists and one.template.root is nat.template.root]
    return [one for one in own if resource_of(one.get("VpcId")) is vpc and one.get("InternetGatewayId") is not ABSENT]


def _unawaited(user: Resource, order: _Order) -> Resource | None:
    """The attachment of what a resource uses, in its own stack, if it awaits none.

    Not judged in the table of nodes: an internet gateway does not serve them, which is another mistake.
    """
    gateway, table = resource_of(user.get(order.key)), resource_of(user.get("RouteTableId"))
    vpc = None if table is None else resource_of(table.get("VpcId"))
    closed = gateway is not None and gateway.type == "AWS::EC2::InternetGateway" and table in _tables_of_nodes(user.template.model)
    found = [
        one
        for type_, key in order.attachments.items()
        for one in _attachments(user.template.model, type_, key).get(gateway, ())
        if one.exists and one.template.root is user.template.root and resource_of(one.get("VpcId")) in (vpc, None)
    ]
    late = gateway is not None and not closed and found and not any(awaits(user, one) for one in found)
    return found[0] if late else None


def _attachments(model: Model, type_: str, key: str) -> Mapping[Resource | None, Sequence[Resource]]:
    """The attachments of a type, by gateway; computed once."""
    return model.cached((_attachments, type_), lambda: grouped((resource_of(one.get(key)), one) for one in model.resources(type_)))


@error(
    "HP-DEP-003",
    title="what tries a role awaits the policies that let it work",
    why="CloudFormation attaches the policy while it makes the resource, AWS refuses the first call, and the stack rolls back",
    fix="name the policy in DependsOn of the resource, or write it in the role",
    allowed="DependsOn on the policies of the role",
    source="https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-dependson.html",
    because=ORDER,
)
def policies_are_attached_first(model: Model) -> Iterator[Hit]:
    said: set[Resource] = set()
    for one in called(model):
        known = role_facts(one.role)
        late = [policy.resource for policy in known.unawaited_by(one.resource)] if one.tested and one.resource not in said else []
        early = RoleFacts(one.role, without=frozenset(late))
        missing = [action for action in one.task.actions if known.may(action, one.arn) and early.may(action, one.arn) is False]
        if late and missing:
            said.add(one.resource)
            text = f"it does not await {late[0].logical_id}, with which {one.role.logical_id} may use {enumerated(missing)}"
            yield Hit(one.resource, (), text)


def _tables_of_nodes(model: Model) -> frozenset[Resource | None]:
    """The route tables of the subnets of nodes; computed once."""
    subnets = users_of_subnets(model)
    return model.cached(
        _tables_of_nodes, lambda: frozenset(resource_of(network_facts(model).subnet(one).route_table) for one in subnets) - {None}
    )
