"""Resources that have no effect, as nothing completes them: the partner may not be in another stack."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs.analysis.clusters import clusters
from hyperpod_constructs.analysis.database import ATTACHMENT, secret_of
from hyperpod_constructs.analysis.references.places import Call, calls
from hyperpod_constructs.analysis.schema.judge import fits
from hyperpod_constructs.facts.partners import Partner, partners
from hyperpod_constructs.templates.dependencies import references
from hyperpod_constructs.templates.documents import NESTED_STACK
from hyperpod_constructs.templates.model import Model, Resource, target_of
from hyperpod_constructs.templates.values import ABSENT, Reference, Value

_GIVERS = (NESTED_STACK, "AWS::CloudFormation::CustomResource", "AWS::SSM::Parameter")
"""Types whose values may name anything."""


class Alone(NamedTuple):
    """A resource without its partner."""

    resource: Resource
    partner: Partner


def alone(model: Model) -> Iterator[Alone]:
    """The resources that surely have no partner of a type that they need."""
    return (one for one in _without(model) if one.partner.names)


def unused(model: Model) -> Iterator[Alone]:
    """The resources that others only use, and that surely none uses; templates without a cluster may be a part of a deployment."""
    return (one for one in _without(model) if not one.partner.names and clusters(model))


def _without(model: Model) -> Sequence[Alone]:
    return model.cached(_without, lambda: tuple(_searched(model)))


def _searched(model: Model) -> Iterator[Alone]:
    """The resources without a partner: nothing hands them to another stack, or to a program."""
    for one in partners() if model.complete else ():
        has = _is_named if one.names else _is_used
        for resource in model.resources(one.type):
            needs = resource.exists and not resource.template.rewritten and (one.when is None or fits(one.when, resource.get()))
            if needs and not has(resource, one) and not is_handed_on(resource):
                yield Alone(resource, one)


def _is_used(resource: Resource, partner: Partner) -> bool:
    """Whether any other resource names it, of no type that only describes it."""
    return not types_of_users(resource) <= partner.beside


def types_of_users(resource: Resource) -> set[str]:
    """The types of the other resources of the model that name a resource."""
    return {one.type for one in users_of(resource)}


def users_of(resource: Resource) -> Sequence[Resource]:
    """The other resources of the model that name a resource; the Ref of an attachment is its secret's ARN."""
    model = resource.template.model
    return model.cached(users_of, lambda: grouped(dict.fromkeys(_uses(model)))).get(resource, ())


def _uses(model: Model) -> Iterator[tuple[Resource, Resource]]:
    for one in model.resources():
        for named in references(one.get()):
            secret = secret_of(named.get("SecretId")) if named.type == ATTACHMENT else None
            yield from ((other, one) for other in (named, secret) if other is not None and other is not one)


def _is_named(resource: Resource, partner: Partner) -> bool:
    """Whether one of these properties names it, or names none of its kind that is known, and so may name it."""
    for type_, name in partner.names:
        for other in resource.template.model.resources(type_):
            value = other.get() if name is None else other.get(name)
            named = set(references(value))
            open_ = value is not ABSENT and not _is_of_another(value)
            if resource in named or (open_ and all(one.type != resource.type for one in named)):
                return True
    return False


def _is_of_another(value: Value) -> bool:
    """Whether a value is a resource of AWS, or a list of such, and no value that a nested stack or a program gives."""
    if isinstance(value, tuple):
        return bool(value) and all(map(_is_of_another, value))
    target = target_of(value) if isinstance(value, Reference) else None
    return target is not None and target.type.startswith("AWS::") and target.type not in _GIVERS


def is_handed_on(resource: Resource) -> bool:
    """Whether an output gives its identifier, or a nested stack or a resource of another maker names it."""
    users = resource.template.model.resources()
    foreign = (one for one in users if one.type == NESTED_STACK or not one.type.startswith("AWS::"))
    outputs = (
        call for call in calls(resource.template.model) if call.owner.type == "Output" and call.template is resource.template
    )
    return any(map(_identifies(resource), outputs)) or any(resource in references(one.get()) for one in foreign)


def _identifies(resource: Resource) -> Callable[[Call], bool]:
    """Whether a call gives the identifier of a resource."""

    def judge(call: Call) -> bool:
        argument = call.argument
        if call.name == "Ref":
            return argument == resource.logical_id
        parts = argument.split(".", 1) if isinstance(argument, str) else argument
        named = call.name == "Fn::GetAtt" and isinstance(parts, list) and len(parts) == 2 and parts[0] == resource.logical_id
        return named and isinstance(parts, list) and str(parts[1]).endswith(("Arn", "Id"))

    return judge
