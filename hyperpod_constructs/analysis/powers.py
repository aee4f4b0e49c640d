"""Powers of programs: roles of nodes, pods, functions and jobs by which whoever runs code there administers the account.

Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/best-practices.html
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs.analysis.iam import RoleFacts, aws_managed_name, covers_every_role, role_facts
from hyperpod_constructs.analysis.policy_document import Call, Statement
from hyperpod_constructs.analysis.trust import Assumption, assumptions
from hyperpod_constructs.facts.powers import DEPLOYERS, ESCALATING, PROGRAMS, WIDE_POLICIES
from hyperpod_constructs.templates.model import Model, Resource
from hyperpod_constructs.templates.values import as_items


class Power(NamedTuple):
    """What makes a role too powerful, where it is written.

    :param users: the resources that give the role to programs.
    :param words: what the policy allows.
    """

    resource: Resource
    path: tuple[str | int, ...]
    role: Resource
    users: tuple[Resource, ...]
    words: str


def powers(model: Model) -> Iterator[Power]:
    """The policies that make programs administrators."""
    programs = (one for one in assumptions(model) if one.asked.service in PROGRAMS)
    for role, given in grouped((one.role, one) for one in programs).items():
        yield from _of_role(role_facts(role), given)


def _of_role(facts: RoleFacts, given: list[Assumption]) -> Iterator[Power]:
    users = tuple(dict.fromkeys(one.user for one in given))
    wanted = all if {one.asked.service for one in given} <= DEPLOYERS else any
    for index, arn in enumerate(as_items(facts.role.get("ManagedPolicyArns")) or ()):
        name = aws_managed_name(arn)
        if name in WIDE_POLICIES and facts.boundary is None:
            yield Power(facts.role, ("ManagedPolicyArns", index), facts.role, users, f"{name} allows it")
    for policy in facts.policies:
        for index, statement in enumerate(policy.statements):
            if _is_wide(statement) and wanted(_escalates(facts, statement, action) for action in ESCALATING):
                path = (*policy.path, "Statement", index)
                yield Power(policy.resource, path, facts.role, users, "the statement allows it")


def _is_wide(statement: Statement) -> bool:
    return statement.effect == "Allow" and not statement.conditional and covers_every_role(statement) is not None


def _escalates(facts: RoleFacts, statement: Statement, action: str) -> bool:
    """Whether a statement surely allows an action of IAM, and nothing else of the role may deny it."""
    open_ = not facts.identity.denies(Call(action, "*")) and (facts.boundary is None or facts.boundary.allows(Call(action)) is True)
    return open_ and statement.speaks_of(action) is True
