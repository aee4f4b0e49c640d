"""Roles that may begin a task of several calls, and not end it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from hyperpod_constructs.analysis.iam import ROLE, RoleFacts, role_facts
from hyperpod_constructs.facts.iam_actions import ON_SEVERAL, TOGETHER, Together
from hyperpod_constructs.templates.model import Model, Resource
from hyperpod_constructs.templates.values import ABSENT, UNKNOWN, as_str, joined


class Started(NamedTuple):
    """A task that a role may begin, and the actions that it lacks."""

    role: Resource
    words: str
    missing: tuple[str, ...]


def unfinished(model: Model) -> Iterator[Started]:
    """The tasks whose own actions a role is allowed by name, and not all of them."""
    for role in model.resources(ROLE):
        facts = role_facts(role)
        allowed = (text for one in facts.statements if one.effect == "Allow" for text in map(as_str, one.actions))
        named = {text.lower() for text in allowed if text is not None}
        for task in TOGETHER:
            if any(action.lower() in named for action in task.own) and not _may_be_another(task, facts, model):
                missing = tuple(action for action in (*task.own, *task.others) if facts.may(action) is False)
                if missing:
                    yield Started(role, task.words, missing)
        for action, (words, needed) in ON_SEVERAL.items():
            lacking = tuple(f"{action} on {kind}" for kind, arns in needed if not _may_on_one(role, action, arns))
            if action.lower() in named and lacking:
                yield Started(role, words, lacking)


def _may_be_another(task: Together, facts: RoleFacts, model: Model) -> bool:
    """Whether what a role begins may be another task, or the policy of a resource may allow the rest."""
    type_, place = task.allowed_by
    open_ = any(one.get(place) is not ABSENT for one in model.resources(type_)) if type_ else False
    return open_ or any(facts.may(action) is not False for action in task.unless)


def _may_on_one(role: Resource, action: str, arns: tuple[str, ...]) -> bool:
    """Whether a role may do something on a resource of one of some types, or that is not known."""
    found = (joined(UNKNOWN if piece == "?" else piece for piece in re.split(r"(\?)", arn)) for arn in arns)
    return any(role_facts(role).may(action, one) is not False for one in found)
