"""The services that assume the roles of resources, by the property with the role: `role_users.tsv` has date and sources."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from hyperpod_constructs.facts.data import rows


@dataclass(frozen=True, slots=True)
class RoleUser:
    """A property of a type that takes the role of a service."""

    type: str
    path: tuple[str, ...]
    """The place of the role; `*` is each item of a list."""
    service: str
    actions: tuple[str, ...]
    """What the role's trust must allow the service."""


@cache
def role_users() -> tuple[RoleUser, ...]:
    """All such properties."""
    found = rows("role_users.tsv")
    return tuple(RoleUser(kind, tuple(path.split("/")), service, tuple(actions.split())) for kind, path, service, actions in found)
