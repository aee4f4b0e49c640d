"""Refused calls: the policy that surely refuses a call of a role, in the order in which AWS asks them.

Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic_policy-eval-denyallow.html
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

from hyperpod_constructs.analysis.answers import any_of
from hyperpod_constructs.analysis.iam import RoleFacts
from hyperpod_constructs.analysis.policy_document import Call
from hyperpod_constructs.analysis.resource_policies import ResourcePolicy, policies_on
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.values import ABSENT


class Cause(Enum):
    """Why a call is refused."""

    MISSING = "missing"
    DENIED = "denied"


class Refusal(NamedTuple):
    """A call that is surely refused."""

    call: Call
    cause: Cause
    place: Resource
    """The resource with the policy that refuses it, without a path where the role has the policy; the role if none allows it."""
    path: tuple[str | int, ...] = ()


def refusal(facts: RoleFacts, call: Call, endpoint: Resource | None = None) -> Refusal | None:
    """The refusal of a call of a role; `None` if it is allowed, or not known to be refused.

    :param endpoint: the endpoint past which the call goes.
    """
    return next(_refusals(facts, call, endpoint), None)


def denial_of_resource(facts: RoleFacts, call: Call) -> Refusal | None:
    """The refusal of a call by a policy of what is called, which surely denies it; the role's own policies are not asked."""
    denying = (policy for policy in policies_on(facts.role, call) if policy.denies(facts.role, call))
    return next((Refusal(call, Cause.DENIED, policy.resource, policy.path) for policy in denying), None)


def _refusals(facts: RoleFacts, call: Call, endpoint: Resource | None) -> Iterator[Refusal]:
    role, boundary, limit = facts.role, facts.boundary, facts.boundary_policy or facts.role
    at_limit = ("PolicyDocument",) if facts.boundary_policy else ("PermissionsBoundary",)
    if facts.identity.denies(call):
        yield Refusal(call, Cause.DENIED, facts.denying(call))
    if boundary is not None and boundary.denies(call):
        yield Refusal(call, Cause.DENIED, limit, at_limit)
    policies = tuple(policies_on(role, call))
    for policy in policies:
        if policy.denies(role, call):
            yield Refusal(call, Cause.DENIED, policy.resource, policy.path)
    given, own = any_of(policy.gives(role, call) for policy in policies), facts.identity.allows(call)
    if own is False and given is False:
        yield Refusal(call, Cause.MISSING, role)
    closed = _closed(role, call, policies)
    if closed is not None and given is False:
        yield Refusal(call, Cause.MISSING, closed.resource, closed.path)
    freed = given if boundary is None else any_of(policy.frees(role, call) for policy in policies)
    if boundary is not None and freed is False and boundary.allows(call) is False:
        yield Refusal(call, Cause.MISSING, limit, at_limit)
    if endpoint is not None:
        yield from _at_endpoint(role, call, endpoint)


def _closed(role: Resource, call: Call, policies: tuple[ResourcePolicy, ...]) -> ResourcePolicy | None:
    """The policy of a key or a role that surely lets neither a role nor its account in."""
    needed = call.action.startswith(("kms:", "sts:"))
    return next((policy for policy in policies if needed and policy.opens(role, call) is False), None)


def _at_endpoint(role: Resource, call: Call, endpoint: Resource) -> Iterator[Refusal]:
    """The policy of an endpoint; without one it lets everything through."""
    if endpoint.get("PolicyDocument") is ABSENT:
        return
    policy = ResourcePolicy(endpoint, ("PolicyDocument",), sure=True)
    if policy.denies(role, call):
        yield Refusal(call, Cause.DENIED, endpoint, policy.path)
    elif policy.opens(role, call) is False:
        yield Refusal(call, Cause.MISSING, endpoint, policy.path)
