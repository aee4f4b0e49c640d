"""What services do as roles with what a resource names: `role_calls.tsv` has date and sources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from hyperpod_constructs.facts.data import rows


@dataclass(frozen=True, slots=True)
class RoleCall:
    """A call as the role of a resource.

    :param role: the place of the role, or of the function whose role it is; `*` is each item of a list.
    :param target: the place of what is called.
    :param service: the service of the target's ARN.
    :param tested: whether AWS tries it when the resource is made.
    """

    role: str
    target: str
    service: str
    actions: tuple[str, ...]
    words: str
    tested: bool
    source: str


@cache
def role_calls() -> Mapping[str, tuple[RoleCall, ...]]:
    """The calls by the type of the resource."""
    found: dict[str, tuple[RoleCall, ...]] = {}
    for type_, role, target, service, actions, words, tested, source in rows("role_calls.tsv"):
        one = RoleCall(role, target, service, tuple(actions.split()), words, tested == "tested", source)
        found[type_] = (*found.get(type_, ()), one)
    return found
