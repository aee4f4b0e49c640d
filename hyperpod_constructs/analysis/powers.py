"""Powers of services and people: roles by which a service, or whoever runs code there, administers the account, or reaches all of
its secrets, buckets, keys, roles or clusters, and roles by which people open shells everywhere.

Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/best-practices.html
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs._support.words import enumerated
from hyperpod_constructs.analysis.documents import Written
from hyperpod_constructs.analysis.iam import ROLE, RoleFacts, aws_managed_name, covers_every_role, role_facts, statements_of_aws
from hyperpod_constructs.analysis.people import policies_of_users
from hyperpod_constructs.analysis.policy_document import Call, Layer, Statement
from hyperpod_constructs.analysis.trust import Assumption, assumptions
from hyperpod_constructs.analysis.web_identities import trust_of
from hyperpod_constructs.facts.powers import BUILDERS, DEPLOYERS, ESCALATING, GIVERS, PROGRAMS, SHELLS, WHOLE, WIDE_POLICIES
from hyperpod_constructs.templates.model import Model, Resource
from hyperpod_constructs.templates.values import Text, Value, as_items, as_str


class Power(NamedTuple):
    """What makes a role, or users, too powerful, where it is written.

    :param role: the role; the policy itself for one of users.
    :param users: the resources that give the role to programs.
    :param words: what the policy allows.
    """

    resource: Resource
    path: tuple[str | int, ...]
    role: Resource
    users: tuple[Resource, ...]
    words: str


def powers(model: Model) -> Iterator[Power]:
    """The policies that make services administrators which deploy nothing."""
    services = (one for one in assumptions(model) if one.asked.service not in BUILDERS)
    for role, given in grouped((one.role, one) for one in services).items():
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


def administers(facts: RoleFacts, statement: Statement) -> bool:
    """Whether a statement of a role surely allows one of the actions by which it gives itself every permission."""
    return any(_escalates(facts, statement, action) for action in ESCALATING)


def reaches(model: Model) -> Iterator[Power]:
    """The policies by which users of nodes and pods reach all secrets, buckets, keys, roles or clusters of the account."""
    given = (one for one in assumptions(model) if one.user.type in GIVERS and one.asked.service in PROGRAMS)
    for role, found in grouped((one.role, one) for one in given).items():
        users = tuple(dict.fromkeys(one.user for one in found))
        yield from _reaches_of(role_facts(role), users)


def shells(model: Model) -> Iterator[Power]:
    """The policies by which people open shells everywhere; what is allowed by wildcards is for administrators."""
    for role in model.resources(ROLE):
        people = any(one.effect == "Allow" and one.principals("AWS") for one in trust_of(role))
        for policy in role_facts(role).policies if people else ():
            for index, statement in enumerate(policy.statements):
                words = [said for action, (said, end) in SHELLS.items() if _names_all(role_facts(role), statement, action, end)]
                if words:
                    path = (*policy.path, "Statement", index)
                    yield Power(policy.resource, path, role, (), f"{enumerated(words)}: the statement allows it")
    for policy_, statements in policies_of_users(model).items():
        yield from _shells_of_users(policy_, statements)


def _shells_of_users(policy: Resource, statements: Sequence[Written]) -> Iterator[Power]:
    layer = Layer(tuple(one.statement for one in statements))
    for one in statements:
        words = [said for action, (said, end) in SHELLS.items() if _is_named_for_all(one.statement, action, end)]
        if words and not any(layer.denies(Call(action, "*")) for action in SHELLS):
            yield Power(policy, one.path, policy, (), f"{enumerated(words)}: the statement allows it")


def _names_all(facts: RoleFacts, statement: Statement, action: str, end: str) -> bool:
    return _is_named_for_all(statement, action, end) and _escalates(facts, statement, action)


def _is_named_for_all(statement: Statement, action: str, end: str) -> bool:
    return any((as_str(one) or "").lower() == action.lower() for one in statement.actions) and _is_for_all(statement, end)


def _reaches_of(facts: RoleFacts, users: tuple[Resource, ...]) -> Iterator[Power]:
    for index, arn in enumerate(as_items(facts.role.get("ManagedPolicyArns")) or ()):
        name = aws_managed_name(arn)
        words = [] if name is None or name in WIDE_POLICIES else _whole(facts, statements_of_aws(name))
        if words:
            yield Power(facts.role, ("ManagedPolicyArns", index), facts.role, users, f"{enumerated(words)}: {name} allows it")
    for policy in facts.policies:
        for index, statement in enumerate(policy.statements):
            words = [] if administers(facts, statement) else _whole(facts, [statement])
            if words:
                path = (*policy.path, "Statement", index)
                yield Power(policy.resource, path, facts.role, users, f"{enumerated(words)}: the statement allows it")


def _whole(facts: RoleFacts, statements: Iterable[Statement]) -> list[str]:
    """What statements allow on all resources of a service, in words."""
    return [
        words
        for action, (words, end) in WHOLE.items()
        if any(_is_for_all(one, end) and _escalates(facts, one, action) for one in statements)
    ]


def _is_for_all(statement: Statement, end: str) -> bool:
    """Whether a statement allows something without a condition, and on everything or all but a few."""
    plain = statement.effect == "Allow" and not statement.conditional and not statement.excludes_actions
    return plain and (statement.excludes_resources or any(_ends(pattern, end) for pattern in statement.resources))


def _ends(pattern: Value, end: str) -> bool:
    text = pattern if isinstance(pattern, str) else pattern.suffix if isinstance(pattern, Text) else ""
    return pattern == "*" or (bool(end) and text.endswith(end))
