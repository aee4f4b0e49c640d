"""Roles that may begin a task of several calls, and not end it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from hyperpod_constructs.analysis.iam import ROLE, role_facts
from hyperpod_constructs.facts.iam_actions import TOGETHER
from hyperpod_constructs.templates.model import Model, Resource
from hyperpod_constructs.templates.values import as_str


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
            if any(action.lower() in named for action in task.own):
                missing = tuple(action for action in (*task.own, *task.others) if facts.may(action) is False)
                if missing:
                    yield Started(role, task.words, missing)
