"""The services that assume the roles of resources, by the property with the role: `role_users.tsv` has date and sources."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from hyperpod_constructs.facts.data import rows

BY_EXTERNAL_ID = frozenset({"firehose.amazonaws.com"})
"""Services that name the account as the external id of the role.

Source: https://docs.aws.amazon.com/firehose/latest/dev/controlling-access.html (as of 2026-11-26)
"""


class RoleUser(NamedTuple):
    """A property of a type that takes the role of a service.

    :param path: the way to the role, as `analysis.ends` has it.
    :param actions: what the role's trust must allow the service.
    :param source: the form of the ARN for which the service acts; empty if it is not known.
    """

    type: str
    path: str
    service: str
    actions: tuple[str, ...]
    source: str = ""


@cache
def role_users() -> tuple[RoleUser, ...]:
    """All such properties."""
    return tuple(
        RoleUser(kind, path, service, tuple(actions.split()), source)
        for kind, path, service, actions, source in rows("role_users.tsv")
    )
