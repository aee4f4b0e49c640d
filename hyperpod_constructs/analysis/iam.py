"""Permissions of roles, as far as the templates tell.

    >>> facts = role_facts(role)
    >>> facts.may("s3:GetObject", bucket_arn(Reference(bucket), "lifecycle/x"))
    True

Answers are True, False, or `None` where it is not known: a statement has a condition, a value is unknown, a managed policy of AWS
has content that is not in `facts.managed_policies`, or a macro can add policies.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from hyperpod_constructs.analysis.answers import all_of, any_of
from hyperpod_constructs.analysis.arns import reaches_other_accounts
from hyperpod_constructs.analysis.conditions import Context
from hyperpod_constructs.analysis.contexts import OF_SERVICE
from hyperpod_constructs.analysis.naming import Naming
from hyperpod_constructs.analysis.policy_document import Call, Layer, Statement, joint, layer_of
from hyperpod_constructs.analysis.regions import region_of
from hyperpod_constructs.facts.managed_policies import managed_policy
from hyperpod_constructs.templates.dependencies import awaits
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import (
    ABSENT,
    Absent,
    Reference,
    Text,
    Value,
    as_items,
    at,
    is_known,
    of_alternatives,
)

ROLE = "AWS::IAM::Role"
_ROLE_POLICY = "AWS::IAM::RolePolicy"
_MANAGED_POLICY = "AWS::IAM::ManagedPolicy"
_POLICY = "AWS::IAM::Policy"
_POLICIES = (_POLICY, _MANAGED_POLICY, _ROLE_POLICY)
_AWS_MANAGED = ":iam::aws:policy/"


class Policy(NamedTuple):
    """A policy of a role, where it is written."""

    resource: Resource
    """The role itself for an inline policy, else the resource that attaches the policy."""
    path: tuple[str | int, ...]
    """The place of its document in the properties of that resource."""
    layer: Layer
    """What it says."""

    @property
    def statements(self) -> tuple[Statement, ...]:
        """Its statements, as far as they are known."""
        return self.layer.statements


def role_facts(role: Resource) -> RoleFacts:
    """The known permissions of a role of the model; computed once for each role."""
    return role.template.model.cached((RoleFacts, role), lambda: RoleFacts(role))


class RoleFacts:
    """The effective permissions and the trust of a role."""

    def __init__(self, role: Resource, without: frozenset[Resource] = frozenset()) -> None:
        """
        :param role: the role.
        :param without: separate policies to leave out, as before they are attached.
        """
        self.role = role
        self._without = without

    @cached_property
    def policies(self) -> tuple[Policy, ...]:
        """Its policies in the templates: inline, separate and managed."""
        return (*_inline(self.role), *self._separate())

    @cached_property
    def managed_policies(self) -> tuple[str, ...]:
        """The names of AWS's managed policies that the role has, such as `service-role/AWSLambdaBasicExecutionRole`."""
        names = (aws_managed_name(arn) for arn in as_items(self.role.get("ManagedPolicyArns")) or ())
        return tuple(name for name in names if name is not None)

    @cached_property
    def identity(self) -> Layer:
        """Its own permissions: all that its policies say."""
        managed = as_items(self.role.get("ManagedPolicyArns"))
        elsewhere = [one for one in managed or () if resource_of(one, _MANAGED_POLICY) is None]
        certain = Layer((), managed is not None and not self._others_possible and self.role.template.model.complete)
        layers = (_layer_elsewhere(self.role, one) for one in elsewhere)
        return joint((*(policy.layer for policy in self.policies), *layers, certain))

    @property
    def statements(self) -> tuple[Statement, ...]:
        """All known statements, of managed policies of AWS too."""
        return self.identity.statements

    @cached_property
    def boundary(self) -> Layer | None:
        """What its permissions boundary lets through; `None` without one."""
        value = self.role.get("PermissionsBoundary")
        if value is ABSENT:
            return None
        policy = self.boundary_policy
        return _layer_elsewhere(self.role, value) if policy is None else _separate(policy).layer

    @property
    def boundary_policy(self) -> Resource | None:
        """The policy of the model that is its permissions boundary."""
        return resource_of(self.role.get("PermissionsBoundary"), _MANAGED_POLICY)

    def may(self, action: str, resource: Value | None = None) -> bool | None:
        """Whether the role may do something, whatever the context of the call.

        :param action: such as `s3:GetObject`.
        :param resource: the ARN, as a value of the model; an unknown end stands for any end. `"*"` asks for
            the action on everything, `None` for the action on anything.
        """
        call = Call(action, resource)
        layers = [one for one in (self.identity, self.boundary) if one is not None]
        denied = False if resource is None else any_of(one.denies(call) for one in layers)
        return all_of((None if denied is None else not denied, *(one.allows(call) for one in layers)))

    def denying(self, call: Call) -> Resource:
        """The separate policy that surely denies a call, which other roles may have too; the role if it is none."""
        return next((policy.resource for policy in self.policies if policy.layer.denies(call)), self.role)

    def may_elsewhere(self, action: str, kind: str) -> bool:
        """Whether the role may do something with a resource of another account; true where that is not known.

        :param action: such as `ec2:DetachNetworkInterface`.
        :param kind: the resource, such as `instance`.
        """
        service = action.partition(":")[0]
        speaking = [one for one in self.statements if one.effect != "Deny" and one.speaks_of(action) is not False]
        return not self.identity.complete or any(
            one.excludes_resources or any(reaches_other_accounts(pattern, service, kind) for pattern in one.resources)
            for one in speaking
        )

    def trusts(self, service: str, action: str = "sts:AssumeRole", context: Context = OF_SERVICE) -> bool | None:
        """Whether a service, such as `sagemaker.amazonaws.com`, may assume the role; a denial wins over a permission."""
        trust, call = layer_of(self.role.get("AssumeRolePolicyDocument")), Call(action, None, context)
        region = region_of(self.role)
        answers = {
            effect: any_of(
                all_of((one.names_service(service, region), one.applies(call)))
                for one in trust.statements
                if one.effect in (effect, "?")
            )
            for effect in ("Allow", "Deny")
        }
        denied, allowed = answers["Deny"], answers["Allow"]
        sure = all_of((None if denied is None else not denied, allowed))
        return sure if trust.complete and not any(one.effect == "?" for one in trust.statements) else None

    def unawaited_by(self, resource: Resource) -> tuple[Policy, ...]:
        """The separate policies that a user of the role does not await: they can be attached after its creation."""
        return tuple(
            policy for policy in self.policies if policy.resource is not self.role and not awaits(resource, policy.resource)
        )

    def _separate(self) -> Iterator[Policy]:
        for policy, attached in _attachments(self.role):
            if attached and policy not in self._without:
                yield _separate(policy)

    @cached_property
    def _others_possible(self) -> bool:
        return any(attached is None for _, attached in _attachments(self.role))


def _layer_elsewhere(role: Resource, arn: Value) -> Layer:
    """What a policy says that is not of the model: one of AWS's, if its statements are known."""
    name = aws_managed_name(arn) or ""
    return role.template.model.cached((_layer_elsewhere, name), lambda: _of_aws(name))


def _of_aws(name: str) -> Layer:
    known = managed_policy(name)
    return Layer((), False) if known is None else layer_of({"Statement": tuple(known)})


def statements_of_aws(name: str) -> tuple[Statement, ...]:
    """The statements of a managed policy of AWS; none if they are not known."""
    return _of_aws(name).statements


def written_policies(model: Model) -> Iterator[Policy]:
    """All policies in the templates: inline in a role, or in a resource of their own."""
    for resource in model.resources(ROLE, *_POLICIES):
        yield from _inline(resource) if resource.type == ROLE else [_separate(resource)]


def _inline(role: Resource) -> Iterator[Policy]:
    items = as_items(role.get("Policies"))
    if items is None:
        yield Policy(role, ("Policies",), Layer((), False))
    for index, item in enumerate(items or ()):
        yield Policy(role, ("Policies", index, "PolicyDocument"), _identity_layer(at(item, "PolicyDocument")))


def _separate(policy: Resource) -> Policy:
    return Policy(policy, ("PolicyDocument",), _identity_layer(policy.get("PolicyDocument")))


def _identity_layer(document: Value) -> Layer:
    """The layer of a policy whose statements must name resources."""
    layer = layer_of(document)
    return Layer(layer.statements, layer.complete and all(one.resources for one in layer.statements))


def passes_any_role(statement: Statement) -> Value | None:
    """The pattern for every role, if a statement allows to pass roles by an action of IAM."""
    named = any(isinstance(action, str) and action.lower().startswith("iam:") for action in statement.actions)
    allows = statement.effect == "Allow" and not statement.conditional and not statement.excludes_actions
    passes = allows and named and statement.speaks_of("iam:PassRole") is True
    return covers_every_role(statement) if passes else None


def covers_every_role(statement: Statement) -> Value | None:
    """The pattern for every role of a statement, if it has one."""
    patterns = () if statement.excludes_resources else statement.resources
    return next((pattern for pattern in patterns if _is_any_role(pattern)), None)


def _is_any_role(pattern: Value) -> bool:
    end = pattern if isinstance(pattern, str) else pattern.suffix if isinstance(pattern, Text) else ""
    return pattern == "*" or end.endswith((":role/*", ":*", ":role*"))


def _attachments(role: Resource) -> list[tuple[Resource, bool | None]]:
    """The policies that are the role's, or can be: `True` if surely, `None` if perhaps."""
    found: list[tuple[Resource, bool | None]] = []
    managed = as_items(role.get("ManagedPolicyArns")) or ()
    given = {policy: None for arn in managed if (policy := resource_of(arn, *_POLICIES)) is not None}
    for policy in dict.fromkeys((*_policies_naming(role), *given)):
        attached = True if policy in given else _attached(policy, role)
        if attached is not False:
            found.append((policy, attached))
    return found


def _policies_naming(role: Resource) -> list[Resource]:
    """The policies that name a role, or may."""
    model, name = role.template.model, role.get("RoleName")
    policies = model.resources(*_POLICIES)
    if not isinstance(name, str | Absent):
        return list(policies)
    naming = model.cached(_policies_naming, lambda: Naming(policies, _names_of_roles))
    return naming.of(role, *([name] if isinstance(name, str) else []))


def _names_of_roles(policy: Resource) -> tuple[Value, ...] | None:
    """The roles that a policy names; `None` if they are not known, and for one that should name some and names nobody."""
    if policy.type == _ROLE_POLICY:
        return (policy.get("RoleName"),)
    forgotten = policy.type == _POLICY and all(policy.get(key) is ABSENT for key in ("Groups", "Roles", "Users"))
    return None if forgotten else as_items(policy.get("Roles"))


def _attached(policy: Resource, role: Resource) -> bool | None:
    items = _names_of_roles(policy)
    return None if items is None else any_of(_names(item, role) for item in items)


def _names(value: Value, role: Resource) -> bool | None:
    """Whether a value is the role's name."""
    return of_alternatives(value, lambda one: _is_name(one, role))


def _is_name(value: Value, role: Resource) -> bool | None:
    if isinstance(value, Reference):
        return value.resource is role
    name = role.get("RoleName")
    return name == value if is_known(value) and is_known(name) else None


def aws_managed_name(arn: Value) -> str | None:
    """The name of a managed policy of AWS, with its path, by its ARN; `None` for another policy."""
    text = arn if isinstance(arn, str) else arn.suffix if isinstance(arn, Text) else ""
    _, found, name = text.partition(_AWS_MANAGED)
    return name if found else None
