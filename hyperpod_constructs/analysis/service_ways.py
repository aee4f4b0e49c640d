"""The way from nodes to a service of AWS: past an endpoint with its name, its groups and its policy, or over the internet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from hyperpod_constructs.analysis.answers import all_of
from hyperpod_constructs.analysis.conditions import Context
from hyperpod_constructs.analysis.contexts import OF_OWNER
from hyperpod_constructs.analysis.name_ways import named
from hyperpod_constructs.analysis.networks import ENDPOINT, SUBNET, ExitKind, Subnet, network_facts, serves
from hyperpod_constructs.analysis.node_places import BUCKET
from hyperpod_constructs.analysis.placement import security_groups_of
from hyperpod_constructs.analysis.policy_document import Call, Layer, Statement, layer_of
from hyperpod_constructs.analysis.references.places import calls
from hyperpod_constructs.analysis.resource_policies import BUCKET_POLICY
from hyperpod_constructs.analysis.security_groups import INGRESS, SECURITY_GROUP, in_default_group, is_resource, security_groups
from hyperpod_constructs.analysis.traffic import Side, Traffic
from hyperpod_constructs.analysis.ways import Hop, inside, past_gateway_endpoint, to_the_internet, unless
from hyperpod_constructs.facts import connections as facts
from hyperpod_constructs.facts.interfaces import GRANTED
from hyperpod_constructs.templates.dependencies import references
from hyperpod_constructs.templates.model import Model, Resource, Template, resource_of, target_of
from hyperpod_constructs.templates.values import ABSENT, UNKNOWN, Reference, Value, as_items, parts_of

_ZONE = "AWS::Route53::HostedZone"
_LACKS = "has no interface endpoint with private DNS for it"
_FEWEST_BESIDE_A_WAY = 4
"""Interface endpoints of a VPC that has closed subnets beside others with a way out."""
_OF_AWS = ("amazonaws.com", "amazonaws.com.cn", "api.aws", "amazonwebservices.com.cn")
_CALLER, _ORGANIZATION = "aws:principalaccount", "aws:resourceorgid"
_AWS = "aws"
"""Stands for the account and the organization of AWS, which are nobody else's."""
_PRINCIPAL_ORGANIZATION, _IS_SERVICE = "aws:principalorgid", "aws:principalisawsservice"
_SIGNED: Mapping[str, Context] = {
    facts.LAYERS[0]: {_CALLER: _AWS, _PRINCIPAL_ORGANIZATION: _AWS, _IS_SERVICE: "false"},
    f"arn:aws:s3:::{facts.ANSWERS_BUCKET}": {_CALLER: ABSENT, _PRINCIPAL_ORGANIZATION: ABSENT, _IS_SERVICE: "true"},
}
"""Objects of AWS by the begin of their ARN, with the keys of calls that AWS signs: for layers an account of ECR, for answers to
CloudFormation that service itself.

Source: https://github.com/aws-samples/data-perimeter-policy-examples/blob/main/vpc_endpoint_policies/README.md (as of 2026-11-29)
"""


def to_service(source: Side, service: facts.Service, objects: Sequence[Value] = ()) -> Iterator[Hop]:
    """From nodes in one subnet to a service.

    :param objects: ARNs that the policy of an endpoint must cover; by default any.
    """
    (subnet,) = source.subnets or ()
    vpc, model = subnet.vpc, subnet.resource.template.model
    gateway = subnet.gateway_endpoint(service.name)
    interface, perhaps = (None, True) if vpc is None else network_facts(model).interface_endpoint(vpc, service.name)
    if gateway is not None:
        yield from named(source, subnet)
        yield from past_gateway_endpoint(source, gateway, Traffic())
        yield from _policy(gateway, service.action, objects)
    elif interface is not None:
        yield from named(source, subnet, private=True)
        yield from _past_interface(source, interface)
        yield from _policy(interface, service.action, objects)
    else:
        perhaps = perhaps or not subnet.lacks_gateway_endpoint(service.name) or any(map(_may_name, model.resources(_ZONE)))
        doubt = "an endpoint may take the traffic" if perhaps else None
        yield from named(source, subnet)
        yield from unless(_over_the_internet(source, subnet, service), doubt)


def _may_name(zone: Resource) -> bool:
    """Whether a hosted zone may have names of AWS, as one has that leads to an endpoint without private DNS."""
    parts = parts_of(zone.get("Name"))
    last = parts[-1] if parts else UNKNOWN
    if not isinstance(last, str):
        return True
    end = last.rstrip(".").lower()
    return end.endswith(_OF_AWS) or (len(parts) > 1 and any(one.endswith(end) for one in _OF_AWS))


def is_closed(subnet: Subnet) -> bool:
    """Whether a subnet surely has no way out of a VPC that is made for endpoints: it has some, and leads out of no other subnet."""
    vpc = subnet.vpc
    if vpc is None or subnet.exit.kind is not ExitKind.NONE:
        return False
    facts = network_facts(vpc.template.model)
    return facts.interface_endpoints(vpc) >= (_FEWEST_BESIDE_A_WAY if facts.leads_out(vpc) else 1)


def _over_the_internet(source: Side, subnet: Subnet, service: facts.Service) -> Iterator[Hop]:
    closed = f"{subnet.resource.logical_id} has no route to the internet"
    for hop in to_the_internet(source, Traffic()):
        ended = hop.passes is False and subnet.exit.kind is ExitKind.NONE
        nameless = _nameless(subnet, service) if ended and service.name != facts.S3.name else None
        if ended and service.name == facts.S3.name:
            yield replace(hop, says=f"{hop.says}, nor to a gateway endpoint for S3", covers=(*hop.covers, *_deniers(subnet)))
        elif nameless is not None:
            named_otherwise = service.name in GRANTED.values() and _gives_names(nameless)
            says = f"has no private DNS, and {closed}"
            yield Hop(nameless, None if named_otherwise else False, says, ("PrivateDnsEnabled",))
        elif ended and subnet.vpc is not None and is_closed(subnet):
            sibling = _sibling(subnet.vpc, service)
            says = f"has no route to the internet, and {subnet.vpc.logical_id} {_LACKS}"
            place = Hop(subnet.resource, False, says, covers=(*_wrong_table(subnet), subnet.vpc))
            yield place if sibling is None else Hop(sibling, False, f"is alone: its VPC {_LACKS}, and {closed}")
        else:
            yield _shut(hop, subnet, service) or hop


def _wrong_table(subnet: Subnet) -> tuple[Resource, ...]:
    """The table of a subnet that lacks the endpoint for S3 too, where other subnets of its VPC have more: it is wrong for all."""
    table, vpc = resource_of(subnet.route_table), subnet.vpc
    alone = vpc is None or not network_facts(vpc.template.model).leads_out(vpc)
    return () if table is None or alone or not subnet.lacks_gateway_endpoint(facts.S3.name) else (table,)


def _shut(hop: Hop, subnet: Subnet, service: facts.Service) -> Hop | None:
    """An endpoint that is alone, where a group that leads to endpoints ends the way to the internet."""
    is_group = hop.passes is False and hop.resource.type == SECURITY_GROUP and subnet.vpc is not None
    sibling = _sibling(subnet.vpc, service) if is_group and subnet.vpc is not None else None
    if sibling is None:
        return None
    says = f"is alone: its VPC {_LACKS}, and {hop.resource.logical_id} {hop.says}"
    return Hop(sibling, False, says, covers=(hop.resource, *hop.covers))


def _sibling(vpc: Resource, service: facts.Service) -> Resource | None:
    """An endpoint that is there without that of a service which is called nearly so."""
    other = facts.SIBLINGS.get(service.name)
    return None if other is None else network_facts(vpc.template.model).interface_endpoint(vpc, other)[0]


def _nameless(subnet: Subnet, service: facts.Service) -> Resource | None:
    """An interface endpoint of a service in the VPC of a subnet that surely has no private DNS."""
    vpc = subnet.vpc
    return None if vpc is None else network_facts(vpc.template.model).endpoint_without_names(vpc, service.name)


def _gives_names(endpoint: Resource) -> bool:
    """Whether a template takes the names of an endpoint: programs that are told them need no other ones."""
    model = endpoint.template.model
    return (endpoint.template, endpoint.logical_id) in model.cached(_gives_names, lambda: frozenset(_naming(model)))


def _naming(model: Model) -> Iterator[tuple[Template, str]]:
    """The resources of which a template takes the names, by their templates."""
    for call in calls(model):
        argument = call.argument
        parts = argument.split(".", 1) if isinstance(argument, str) else argument
        if call.name == "Fn::GetAtt" and isinstance(parts, list) and parts[1:] == ["DnsEntries"]:
            yield call.template, str(parts[0])


def _deniers(subnet: Subnet) -> Iterator[Resource]:
    """The policies of buckets that name an endpoint for S3: what nodes off its tables may not do follows from that."""
    model = subnet.resource.template.model
    endpoints = {one for one in model.resources(ENDPOINT) if serves(one, facts.S3.name)}
    return (one for one in model.resources(BUCKET_POLICY) if endpoints & set(references(one.get("PolicyDocument"))))


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
    if in_default_group(endpoint.get("SecurityGroupIds")) and source.groups is not None:
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
    account = endpoint.template.owner
    answers = [_allows(layer_of(document), Call(action, one, _accounts(one, account))) for one in objects or (None,)]
    passes = all_of(answers)
    verb = "does not allow" if passes is False else "may allow" if passes is None else "allows"
    yield Hop(endpoint, passes, f"has a policy that {verb} {action}{_of_what(answers, objects)}", ("PolicyDocument",))


def _of_what(answers: Sequence[bool | None], objects: Sequence[Value]) -> str:
    refused = [one for one, answer in zip(objects, answers, strict=False) if answer is False]
    return f" on {refused[0]!s}".replace("${?}", "*") if refused else ""


def _accounts(resource: Value | None, account: Value) -> Context:
    """The keys with an account: that of the nodes, which call and have the templates' buckets, and AWS's for what it signs.

    Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-keys.html
    """
    parts = () if resource is None else parts_of(resource)
    first = parts[0] if parts and isinstance(parts[0], str) else ""
    signed = next((keys for begin, keys in _SIGNED.items() if first.startswith(begin)), None)
    if signed is not None:
        return {**dict.fromkeys((*OF_OWNER, _ORGANIZATION), _AWS), **signed}
    own_bucket = any(isinstance(part, Reference) and target_of(part).type == BUCKET for part in parts)
    return {_CALLER: account, **(dict.fromkeys(OF_OWNER, account) if own_bucket else {})}


def _allows(layer: Layer, call: Call) -> bool | None:
    """Whether a policy lets a call of anybody's through; one without a resource it may deny for some."""
    everybody = [one for one in layer.statements if _is_for_all(one)]
    others = [one for one in layer.statements if one not in everybody]
    whole = [one for one in everybody if call.resource is not None or "*" in one.resources]
    denied = True if _layer(whole).denies(call) else None if layer.denies(call) is not False else False
    allowed = _layer(everybody).allows(call)
    if allowed is False and (not layer.complete or _layer(others).allows(call) is not False):
        allowed = None
    return all_of((allowed, None if denied is None else not denied))


def _layer(statements: Sequence[Statement]) -> Layer:
    return Layer(tuple(statements))


def _is_for_all(statement: Statement) -> bool:
    return "*" in (statement.principals("AWS") or ())
