"""The way from nodes to a service of AWS: past an endpoint with its name, its groups and its policy, or over the internet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from hyperpod_constructs.analysis.answers import all_of, any_of
from hyperpod_constructs.analysis.iam import covers
from hyperpod_constructs.analysis.networks import SUBNET, ExitKind, Subnet, network_facts
from hyperpod_constructs.analysis.node_roles import BUCKET
from hyperpod_constructs.analysis.placement import security_groups_of
from hyperpod_constructs.analysis.policy_document import Statement, listed, statements_of
from hyperpod_constructs.analysis.security_groups import INGRESS, is_resource, security_groups
from hyperpod_constructs.analysis.traffic import Side, Traffic
from hyperpod_constructs.analysis.ways import Hop, inside, past_gateway_endpoint, resolved, to_the_internet, unless
from hyperpod_constructs.facts import connections as facts
from hyperpod_constructs.templates.model import Resource, resource_of, target_of
from hyperpod_constructs.templates.values import ABSENT, UNKNOWN, Reference, Value, as_items, at, parts_of

_ZONE = "AWS::Route53::HostedZone"
_CALLER, _OWNER = "aws:principalaccount", ("aws:resourceaccount", "s3:resourceaccount")  # keys of conditions


def to_service(source: Side, service: facts.Service, objects: Sequence[Value] = ()) -> Iterator[Hop]:
    """From nodes in one subnet to a service.

    :param objects: ARNs that the policy of an endpoint must cover; by default any.
    """
    (subnet,) = source.subnets or ()
    vpc, model = subnet.vpc, subnet.resource.template.model
    gateway = subnet.gateway_endpoint(service.name)
    interface, perhaps = (None, True) if vpc is None else network_facts(model).interface_endpoint(vpc, service.name)
    if gateway is not None:
        yield from resolved(subnet)
        yield from past_gateway_endpoint(source, gateway, Traffic())
        yield from _policy(gateway, service.action, objects)
    elif interface is not None:
        yield from resolved(subnet, private=True)
        yield from _past_interface(source, interface)
        yield from _policy(interface, service.action, objects)
    else:
        perhaps = perhaps or not subnet.lacks_gateway_endpoint(service.name) or bool(model.resources(_ZONE))
        doubt = "an endpoint may take the traffic" if perhaps else None
        yield from resolved(subnet)
        yield from unless(_over_the_internet(source, subnet, service), doubt)


def is_closed(subnet: Subnet) -> bool:
    """Whether a subnet surely has no way out of a VPC that has interface endpoints instead."""
    vpc = subnet.vpc
    return vpc is not None and subnet.exit.kind is ExitKind.NONE and network_facts(vpc.template.model).has_interface_endpoints(vpc)


def _over_the_internet(source: Side, subnet: Subnet, service: facts.Service) -> Iterator[Hop]:
    for hop in to_the_internet(source, Traffic()):
        if service is facts.S3 and hop.passes is False and subnet.exit.kind is ExitKind.NONE:
            yield replace(hop, says=f"{hop.says}, nor to a gateway endpoint for S3")
        elif subnet.vpc is not None and hop.passes is False and is_closed(subnet):
            yield _without_endpoint(subnet, subnet.vpc, service)
        else:
            yield hop


def _without_endpoint(subnet: Subnet, vpc: Resource, service: facts.Service) -> Hop:
    """Where a closed network ends: at an endpoint of the service that has no private DNS, or at the VPC, which has none."""
    closed = f"{subnet.resource.logical_id} has no route to the internet"
    nameless = network_facts(vpc.template.model).endpoint_without_names(vpc, service.name)
    if nameless is not None:
        return Hop(nameless, False, f"has no private DNS, and {closed}", ("PrivateDnsEnabled",))
    return Hop(vpc, False, f"has no interface endpoint with private DNS for it, and {closed}")


def _past_interface(source: Side, endpoint: Resource) -> Iterator[Hop]:
    model, names = endpoint.template.model, as_items(endpoint.get("SubnetIds"))
    groups = security_groups_of(endpoint)
    found = [resource_of(name, SUBNET) for name in names or ()]
    known = tuple(network_facts(model).subnet(one) for one in found if one is not None)
    target = Side(
        endpoint.logical_id,
        None if groups is None else tuple(map(security_groups(model).of, groups)),
        known if known and len(known) == len(found) else None,
    )
    yield Hop(endpoint, True, "answers by private DNS")
    if names == ():
        yield Hop(endpoint, False, "has no SubnetIds, and so no address", ("SubnetIds",))
    yield from inside(source, target, Traffic())
    if endpoint.get("SecurityGroupIds") is ABSENT and source.groups is not None:
        vpc = resource_of(endpoint.get("VpcId"))
        opened = any(is_resource(rule.get("GroupId"), vpc) is not False for rule in model.resources(INGRESS)) if vpc else True
        says = "has the default security group of its VPC, which admits only itself"
        yield Hop(endpoint, None if opened else False, says, ("SecurityGroupIds",))


def _policy(endpoint: Resource, action: str | None, objects: Sequence[Value]) -> Iterator[Hop]:
    """The policy of an endpoint; without one it allows everything."""
    document = endpoint.get("PolicyDocument")
    if document is ABSENT:
        return
    if action is None:
        yield Hop(endpoint, None, "has a policy, and the calls are not known", ("PolicyDocument",))
        return
    statements = statements_of(document)
    calls = [_Call(action, one, endpoint.template.environment.account) for one in objects or (None,)]
    answers = [None if statements is None else _allows(statements, call) for call in calls]
    passes = all_of(answers)
    verb = "does not allow" if passes is False else "may allow" if passes is None else "allows"
    yield Hop(endpoint, passes, f"has a policy that {verb} {action}{_of_what(answers, objects)}", ("PolicyDocument",))


def _of_what(answers: Sequence[bool | None], objects: Sequence[Value]) -> str:
    refused = [one for one, answer in zip(objects, answers, strict=False) if answer is False]
    return f" on {refused[0]!s}".replace("${?}", "*") if refused else ""


@dataclass(frozen=True, slots=True)
class _Call:
    """A call of nodes to a service."""

    action: str
    resource: Value | None
    """The ARN of an object; `None` for a call on any."""
    account: str | None
    """The account of the nodes."""


def _allows(statements: Sequence[Statement], call: _Call) -> bool | None:
    denied = any_of(_says(one, "Deny", call) for one in statements)
    allowed = any_of(_says(one, "Allow", call) for one in statements)
    return all_of((allowed, None if denied is None else not denied))


def _says(statement: Statement, effect: str, call: _Call) -> bool | None:
    """Whether a statement speaks of a call of anybody's."""
    if statement.effect not in (effect, "?"):
        return False
    everybody = statement.principals("AWS")
    whole = None if call.resource is None and effect == "Deny" and "*" not in statement.resources else True
    return all_of(
        (
            statement.speaks_of(call.action),
            whole if call.resource is None else covers(statement, call.resource),
            True if everybody and "*" in everybody else None,
            None if statement.effect == "?" else _holds(statement, call),
        )
    )


def _holds(statement: Statement, call: _Call) -> bool | None:
    """Whether the condition of a statement holds for a call of the nodes; known is one on the accounts of both sides."""
    condition = at(statement.raw, "Condition")
    if not statement.conditional:
        return True
    tests = condition.get("StringEquals") if isinstance(condition, Mapping) and len(condition) == 1 else None
    if not isinstance(tests, Mapping):
        return None
    return all_of(_is_own(key.lower(), value, call) for key, value in tests.items())


def _is_own(key: str, value: Value, call: _Call) -> bool | None:
    """Whether a key with the account of the caller, or of a bucket of the templates, has this value.

    Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-keys.html
    """
    parts = () if call.resource is None else parts_of(call.resource)
    own_bucket = any(isinstance(part, Reference) and target_of(part).type == BUCKET for part in parts)
    if key != _CALLER and not (key in _OWNER and own_bucket):
        return None
    return any_of(_is_account(one, call.account) for one in listed(value))


def _is_account(value: Value, account: str | None) -> bool | None:
    """Whether a text is the number of the nodes' account; where that is not known, an unknown text is taken for it."""
    if value is UNKNOWN and account is None:
        return True
    return value == account if account is not None and isinstance(value, str) else None
