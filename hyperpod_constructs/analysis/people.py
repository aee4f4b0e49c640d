"""Policies of people: those of users of the templates, and of groups of users.

Who is added to a group, and which other groups they are in, no template tells: a policy is judged by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs.analysis.documents import Written, written
from hyperpod_constructs.analysis.iam import ROLE
from hyperpod_constructs.analysis.policy_document import listed
from hyperpod_constructs.facts.policies import Kind
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT

USERS = ("AWS::IAM::Group", "AWS::IAM::User")
_OF_ROLES, _OF_USERS = ("Roles", "RoleName"), ("Groups", "Users", "GroupName", "UserName")


def is_of_users(policy: Resource) -> bool:
    """Whether a policy is of users of the template or groups of theirs, and of no role."""
    if any(listed(policy.get(name)) for name in _OF_ROLES):
        return False
    model = policy.template.model
    attached = model.cached(is_of_users, lambda: _attached(model))
    named = policy.type in USERS or any(listed(policy.get(name)) for name in _OF_USERS)
    return named or attached.get(policy) == {True}


def policies_of_users(model: Model) -> Mapping[Resource, list[Written]]:
    """The statements of users and groups without a boundary, by the resource with them; computed once."""
    return model.cached(policies_of_users, lambda: grouped((one.resource, one) for one in _written(model)))


def _written(model: Model) -> Iterator[Written]:
    bounded = any(one.get("PermissionsBoundary") is not ABSENT for one in model.resources("AWS::IAM::User"))
    return (one for one in written(model) if not bounded and one.kind is Kind.IDENTITY and is_of_users(one.resource))


def _attached(model: Model) -> Mapping[Resource, set[bool]]:
    """Whether those that name a managed policy are users and groups; both for one of roles too."""
    found: dict[Resource, set[bool]] = {}
    for one in model.resources(*USERS, ROLE):
        for policy in filter(None, map(resource_of, listed(one.get("ManagedPolicyArns")))):
            found.setdefault(policy, set()).add(one.type in USERS)
    return found
