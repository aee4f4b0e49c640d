"""Permissions of roles, as far as the templates tell.

    >>> facts = role_facts(role)
    >>> facts.may("s3:GetObject", bucket_arn(Reference(bucket), "lifecycle/x"))
    True

Answers are True, False, or `None` where it is not known: a statement has a condition, a value is unknown, a managed policy of AWS
has content that is not in `facts.managed_policies`, or a macro can add policies.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from hyperpod_constructs.analysis.answers import any_of
from hyperpod_constructs.analysis.arns import arn_matches, reaches_other_accounts
from hyperpod_constructs.analysis.naming import Naming
from hyperpod_constructs.analysis.policy_document import Statement, listed, statements_of
from hyperpod_constructs.facts.managed_policies import STATEMENTS
from hyperpod_constructs.templates.dependencies import awaits
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import (
    ABSENT,
    UNKNOWN,
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
_POLICIES = ("AWS::IAM::Policy", "AWS::IAM::ManagedPolicy", _ROLE_POLICY)
_AWS_MANAGED = ":iam::aws:policy/"


@dataclass(frozen=True, slots=True)
class Policy:
    """A policy of a role, where it is written."""

    resource: Resource
    """The role itself for an inline policy, else the resource that attaches the policy."""
    path: tuple[str | int, ...]
    """The place of its document in the properties of that resource."""
    statements: tuple[Statement, ...] | None
    """`None` if the document is not known."""


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
    def statements(self) -> tuple[Statement, ...]:
        """All known statements, of managed policies of AWS too."""
        written = (statement for policy in self.policies for statement in policy.statements or ())
        return (*written, *self._of_aws[0])

    @cached_property
    def managed_policies(self) -> tuple[str, ...]:
        """The names of AWS's managed policies that the role has, such as `service-role/AWSLambdaBasicExecutionRole`."""
        names = (_aws_managed_name(arn) for arn in as_items(self.role.get("ManagedPolicyArns")) or ())
        return tuple(name for name in names if name is not None)

    @cached_property
    def complete(self) -> bool:
        """Whether `statements` are all that the role has."""
        documents = all(policy.statements is not None for policy in self.policies)
        return documents and self._of_aws[1] and not self._others_possible and self.role.template.model.complete

    @cached_property
    def bounded(self) -> bool:
        """Whether a permissions boundary can take permissions away."""
        return self.role.get("PermissionsBoundary") is not ABSENT

    def may(self, action: str, resource: Value | None = None) -> bool | None:
        """Whether the role may do something.

        :param action: such as `s3:GetObject`.
        :param resource: the ARN, as a value of the model; an unknown end stands for any end. `"*"` asks for
            the action on everything, `None` for the action on anything.
        """
        denied = [_decisive(statement, action, resource) for statement in self.statements if statement.effect == "Deny"]
        if True in denied and resource is not None:
            return False
        allowed = [_decisive(statement, action, resource) for statement in self.statements if statement.effect == "Allow"]
        if True in allowed:
            return None if self.bounded or any(answer is not False for answer in denied) else True
        if None in allowed or not self.complete or any(statement.effect not in ("Allow", "Deny") for statement in self.statements):
            return None
        return False

    def may_elsewhere(self, action: str, kind: str) -> bool:
        """Whether the role may do something with a resource of another account; true where that is not known.

        :param action: such as `ec2:DetachNetworkInterface`.
        :param kind: the resource, such as `instance`.
        """
        service = action.partition(":")[0]
        speaking = [one for one in self.statements if one.effect != "Deny" and one.speaks_of(action) is not False]
        return not self.complete or any(
            one.excludes_resources or any(reaches_other_accounts(pattern, service, kind) for pattern in one.resources)
            for one in speaking
        )

    def denies(self, action: str, resource: Value) -> bool:
        """Whether a policy of the role surely denies something, whatever else allows it."""
        return any(_decisive(one, action, resource) is True for one in self.statements if one.effect == "Deny")

    def trusts(self, service: str, action: str = "sts:AssumeRole") -> bool | None:
        """Whether a service, such as `sagemaker.amazonaws.com`, may assume the role."""
        document = statements_of(self.role.get("AssumeRolePolicyDocument"))
        if document is None:
            return None
        return any_of(_trust(statement, service, action) for statement in document)

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

    @cached_property
    def _of_aws(self) -> tuple[tuple[Statement, ...], bool]:
        """The statements of AWS's managed policies, and whether they are all known."""
        items = as_items(self.role.get("ManagedPolicyArns"))
        if items is None:
            return (), False
        found: list[Statement] = []
        complete = True
        for arn in items:
            if resource_of(arn, "AWS::IAM::ManagedPolicy") is not None:
                continue
            known = STATEMENTS.get(_aws_managed_name(arn) or "")
            complete = complete and known is not None
            found += statements_of({"Statement": tuple(known)}) or () if known is not None else ()
        return tuple(found), complete


def written_policies(model: Model) -> Iterator[Policy]:
    """All policies in the templates: inline in a role, or in a resource of their own."""
    for resource in model.resources(ROLE, *_POLICIES):
        yield from _inline(resource) if resource.type == ROLE else [_separate(resource)]


def _inline(role: Resource) -> Iterator[Policy]:
    items = as_items(role.get("Policies"))
    if items is None:
        yield Policy(role, ("Policies",), None)
    for index, item in enumerate(items or ()):
        yield Policy(role, ("Policies", index, "PolicyDocument"), statements_of(at(item, "PolicyDocument")))


def _separate(policy: Resource) -> Policy:
    return Policy(policy, ("PolicyDocument",), statements_of(policy.get("PolicyDocument")))


def passes_any_role(statement: Statement) -> Value | None:
    """The pattern for every role, if a statement allows to pass roles by an action of IAM."""
    named = any(isinstance(action, str) and action.lower().startswith("iam:") for action in statement.actions)
    allows = statement.effect == "Allow" and not statement.conditional and not statement.excludes_actions
    passes = allows and named and statement.speaks_of("iam:PassRole") is True
    return next((pattern for pattern in statement.resources if _is_any_role(pattern)), None) if passes else None


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
    return (policy.get("RoleName"),) if policy.type == _ROLE_POLICY else as_items(policy.get("Roles"))


def _attached(policy: Resource, role: Resource) -> bool | None:
    if policy.type == _ROLE_POLICY:
        return _names(policy.get("RoleName"), role)
    items = as_items(policy.get("Roles"))
    return None if items is None else any_of(_names(item, role) for item in items)


def _names(value: Value, role: Resource) -> bool | None:
    """Whether a value is the role's name."""
    return of_alternatives(value, lambda one: _is_name(one, role))


def _is_name(value: Value, role: Resource) -> bool | None:
    if isinstance(value, Reference):
        return value.resource is role
    name = role.get("RoleName")
    return name == value if is_known(value) and is_known(name) else None


def _aws_managed_name(arn: Value) -> str | None:
    text = arn if isinstance(arn, str) else arn.suffix if isinstance(arn, Text) else ""
    _, found, name = text.partition(_AWS_MANAGED)
    return name if found else None


def _decisive(statement: Statement, action: str, resource: Value | None) -> bool | None:
    """Whether a statement speaks of this for sure (True), surely not (False), or perhaps."""
    spoken = statement.speaks_of(action)
    if spoken is False:
        return False
    covered = True if resource is None else covers(statement, resource)
    if covered is False:
        return False
    return None if spoken is None or covered is None or statement.conditional else True


def covers(statement: Statement, resource: Value) -> bool | None:
    """Whether an ARN, as a value of the model, is among the resources of a statement."""
    answers = [arn_matches(pattern, resource) if pattern is not UNKNOWN else None for pattern in statement.resources]
    covered = any_of(answers)
    if statement.excludes_resources:
        return None if covered is None else not covered
    return covered


def _trust(statement: Statement, service: str, action: str) -> bool | None:
    if statement.effect != "Allow":
        return False if statement.effect == "Deny" else None
    services = statement.principals("Service")
    trusted: list[bool | None] = [None] if services is None else [_is_service(value, service) for value in services]
    answers = (statement.speaks_of(action), any_of(trusted))
    if False in answers:
        return False
    return None if None in answers or statement.conditional else True


def trusted_sources(role: Resource, service: str) -> tuple[Value, ...]:
    """The ARNs for which alone a role trusts a service (`aws:SourceArn`); none if a statement trusts it for any."""
    found: list[Value] = []
    for statement in statements_of(role.get("AssumeRolePolicyDocument")) or ():
        services = statement.principals("Service") or ()
        if statement.effect == "Allow" and any(_is_service(one, service) for one in services):
            conditions = at(statement.raw, "Condition")
            tests = conditions.values() if isinstance(conditions, Mapping) else ()
            sources = [one for test in tests for one in listed(at(test, "aws:SourceArn"))]
            if not sources:
                return ()
            found += sources
    return tuple(found)


def _is_service(value: Value, service: str) -> bool | None:
    if isinstance(value, str):
        return value in (service, "*")
    return value.matches(service) if isinstance(value, Text) else None
