"""Questions about users and their rights: access reviews, rules reviews, token reviews, and who one is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperpod_constructs.local.kubernetes import status, values
from hyperpod_constructs.local.kubernetes.authentication import Authenticator, from_review
from hyperpod_constructs.local.kubernetes.authorization import MASTERS, Act, Authorizer, User
from hyperpod_constructs.local.kubernetes.resources import ResourceType
from hyperpod_constructs.local.kubernetes.values import at

Object = dict[str, Any]
GROUPS = frozenset({"authentication.k8s.io", "authorization.k8s.io"})
_EVERYTHING = [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}, {"verbs": ["*"], "nonResourceURLs": ["*"]}]


async def answer(
    kind: ResourceType, body: Mapping[str, Any], user: User, authorizer: Authorizer, authenticator: Authenticator
) -> Object:
    """The review with its `status`.

    :raises ApiError: 422 without a question.
    """
    found = {**body, "apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"creationTimestamp": values.now()}}
    if kind.kind == "SelfSubjectReview":
        return {**found, "status": {"userInfo": user.render()}}
    if kind.kind == "TokenReview":
        who = await authenticator.of_token(str(at(body, "spec", "token") or ""))
        return {**found, "status": {"authenticated": False} if who is None else {"authenticated": True, "user": who.render()}}
    spec = at(body, "spec") or {}
    if kind.kind == "SelfSubjectRulesReview":
        return {**found, "status": _rules(user, str(spec.get("namespace") or ""), authorizer)}
    asked = user if kind.kind.startswith("Self") else from_review(spec)
    act = _act(spec)
    if act is None:
        cause = status.invalid_value(
            "spec.resourceAttributes", None, "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        )
        raise status.invalid(kind.named(), [cause])
    allowed = authorizer.allows(asked, act)
    return {**found, "status": {"allowed": allowed, **({"reason": "RBAC: allowed"} if allowed else {})}}


def _act(spec: Mapping[str, Any]) -> Act | None:
    wanted, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    if (wanted is None) == (path is None):
        return None
    if path is not None:
        return Act(str(path.get("verb", "")), path=str(path.get("path", "")))
    wanted = wanted or {}
    parts = {name: str(wanted.get(name) or "") for name in ("verb", "group", "resource", "subresource", "namespace", "name")}
    resource = parts["resource"] + (f"/{parts['subresource']}" if parts["subresource"] else "")
    return Act(parts["verb"], parts["group"], resource, parts["namespace"], parts["name"])


def _rules(user: User, namespace: str, authorizer: Authorizer) -> Object:
    rules = _EVERYTHING if MASTERS in user.groups else list(authorizer.rules(user, namespace))
    return {
        "resourceRules": [rule for rule in rules if not rule.get("nonResourceURLs")],
        "nonResourceRules": [rule for rule in rules if rule.get("nonResourceURLs")],
        "incomplete": False,
    }
