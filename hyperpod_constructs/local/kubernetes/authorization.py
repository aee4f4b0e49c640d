"""Who may do what: roles, bindings, aggregation, and the rights that a role may hand on (RBAC)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from hyperpod_constructs.facts.kubernetes import RBAC
from hyperpod_constructs.local.kubernetes import selectors, status
from hyperpod_constructs.local.kubernetes.resources import Key
from hyperpod_constructs.local.kubernetes.store import Place, Store

GROUP = RBAC
ROLES, CLUSTER_ROLES = Key(GROUP, "roles"), Key(GROUP, "clusterroles")
BINDINGS, CLUSTER_BINDINGS = Key(GROUP, "rolebindings"), Key(GROUP, "clusterrolebindings")
MASTERS = "system:masters"

MOST_PARTS = 10_000
"""Single rights in the rules of a role: verbs times groups times resources times names."""

Rule = Mapping[str, Any]
EVERYTHING: tuple[Rule, ...] = (
    {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]},
    {"nonResourceURLs": ["*"], "verbs": ["*"]},
)
"""What a role may come to grant that gathers others."""


@dataclass(frozen=True, slots=True)
class User:
    """Who asks."""

    name: str
    groups: tuple[str, ...] = ()
    uid: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def render(self) -> dict[str, Any]:
        """As `UserInfo`."""
        found = {"username": self.name, "uid": self.uid, "groups": list(self.groups), "extra": dict(self.extra)}
        return {key: value for key, value in found.items() if value}


class Act(NamedTuple):
    """What is asked for: a verb on a resource (`resource` may hold a subresource) or on a path."""

    verb: str
    group: str = ""
    resource: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""


class Authorizer:
    """Reads the roles and bindings of a store at every question."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def allows(self, user: User, act: Act) -> bool:
        """Whether a user may do something."""
        return MASTERS in user.groups or any(_covers(rule, act) for rule in self.rules(user, act.namespace))

    def rules(self, user: User, namespace: str) -> Iterator[Rule]:
        """All rules that hold for a user, in the whole cluster and in one namespace."""
        for binding in self._store.select(CLUSTER_BINDINGS):
            if _binds(binding, user):
                yield from self._role_rules(binding["roleRef"], "")
        if namespace:
            for binding in self._store.select(BINDINGS, namespace):
                if _binds(binding, user):
                    yield from (rule for rule in self._role_rules(binding["roleRef"], namespace) if not rule.get("nonResourceURLs"))

    def _role_rules(self, reference: Mapping[str, Any], namespace: str) -> list[Rule]:
        return self._found_rules(reference, namespace) or []

    def _found_rules(self, reference: Mapping[str, Any], namespace: str) -> list[Rule] | None:
        key, place = CLUSTER_ROLES, Place("", reference.get("name", ""))
        if reference.get("kind") == "Role":
            key, place = ROLES, Place(namespace, place.name)
        role = self._store.get(key, place)
        return None if role is None else list(role.get("rules") or ())

    def aggregate(self) -> None:
        """Write the rules of aggregated roles: those of the roles that they select."""
        roles = list(self._store.select(CLUSTER_ROLES))
        for role in roles:
            wanted = (role.get("aggregationRule") or {}).get("clusterRoleSelectors") or ()
            rules = [rule for other in roles if _selected(role, other, wanted) for rule in other.get("rules") or ()]
            if wanted and rules != role.get("rules"):
                self._store.put(CLUSTER_ROLES, {**role, "rules": rules})

    def referred(self, binding: Mapping[str, Any]) -> list[Rule] | None:
        """The rules that a binding grants; None where its role is absent."""
        return self._found_rules(binding.get("roleRef") or {}, binding["metadata"].get("namespace", ""))

    def missing(self, user: User, namespace: str, wanted: Iterable[Rule]) -> list[Rule]:
        """The rules, taken apart, that a user does not have and so may not hand on.

        :raises ApiError: 422 for rules of too many parts.
        """
        if MASTERS in user.groups:
            return []
        wanted = list(wanted)
        if (count := sum(map(_count, wanted))) > MOST_PARTS:
            detail = f"the rules grant {count} single rights, and at most {MOST_PARTS} are compared with yours; use '*'"
            raise status.ApiError(422, "Invalid", detail)
        held = list(self.rules(user, namespace))
        return [part for rule in wanted for part in _parts(rule) if not any(_includes(one, part) for one in held)]


def _selected(role: Mapping[str, Any], other: Mapping[str, Any], wanted: Iterable[Mapping[str, Any]]) -> bool:
    labels = other["metadata"].get("labels") or {}
    return other is not role and any(selectors.matches(selector, labels) for selector in wanted)


def _binds(binding: Mapping[str, Any], user: User) -> bool:
    return any(_is(subject, user, binding) for subject in binding.get("subjects") or ())


def _is(subject: Mapping[str, Any], user: User, binding: Mapping[str, Any]) -> bool:
    kind, name = subject.get("kind"), subject.get("name")
    if kind == "Group":
        return name in user.groups
    if kind == "ServiceAccount":
        namespace = subject.get("namespace") or binding["metadata"].get("namespace", "")
        return user.name == f"system:serviceaccount:{namespace}:{name}"
    return kind == "User" and name == user.name


def _covers(rule: Rule, act: Act) -> bool:
    if not _has(rule.get("verbs"), act.verb):
        return False
    if act.path:
        return any(_path_matches(pattern, act.path) for pattern in rule.get("nonResourceURLs") or ())
    if rule.get("nonResourceURLs") or not _has(rule.get("apiGroups"), act.group) or not _has_resource(rule, act.resource):
        return False
    return not rule.get("resourceNames") or act.name in rule["resourceNames"]


def _has(values: Iterable[str] | None, wanted: str) -> bool:
    return any(value in ("*", wanted) for value in values or ())


def _has_resource(rule: Rule, resource: str) -> bool:
    resources = rule.get("resources") or ()
    _, slash, subresource = resource.partition("/")
    return _has(resources, resource) or bool(slash and f"*/{subresource}" in resources)


def _path_matches(pattern: str, path: str) -> bool:
    return pattern == path or pattern == "*" or (pattern.endswith("*") and path.startswith(pattern[:-1]))


def _count(rule: Rule) -> int:
    """How many parts `_parts` makes."""
    verbs, urls, groups, resources, names = (
        len(rule.get(field) or ()) for field in ("verbs", "nonResourceURLs", "apiGroups", "resources", "resourceNames")
    )
    return verbs * (urls + groups * resources * max(1, names))


def _parts(rule: Rule) -> Iterator[Rule]:
    """A rule as rules of one verb, one group, one resource and one name."""
    for verb in rule.get("verbs") or ():
        for url in rule.get("nonResourceURLs") or ():
            yield {"verbs": [verb], "nonResourceURLs": [url]}
        for group in rule.get("apiGroups") or ():
            for resource in rule.get("resources") or ():
                part = {"apiGroups": [group], "resources": [resource], "verbs": [verb]}
                names = rule.get("resourceNames")
                yield from [{**part, "resourceNames": [name]} for name in names] if names else [part]


def _includes(held: Rule, part: Rule) -> bool:
    if not _has(held.get("verbs"), part["verbs"][0]):
        return False
    if "nonResourceURLs" in part:
        return any(_path_matches(pattern, part["nonResourceURLs"][0]) for pattern in held.get("nonResourceURLs") or ())
    if not _has(held.get("apiGroups"), part["apiGroups"][0]) or not _has_resource(held, part["resources"][0]):
        return False
    names = held.get("resourceNames")
    return not names or ("resourceNames" in part and part["resourceNames"][0] in names)


def shown(rule: Rule) -> str:
    """A rule as the API server writes it in a refusal."""
    names = {"apiGroups": "APIGroups", "resources": "Resources", "resourceNames": "ResourceNames", "verbs": "Verbs"}
    names["nonResourceURLs"] = "NonResourceURLs"
    inner = ", ".join(
        f"{word}:[{', '.join(json.dumps(value) for value in rule[field])}]" for field, word in names.items() if rule.get(field)
    )
    return f"{{{inner}}}"
