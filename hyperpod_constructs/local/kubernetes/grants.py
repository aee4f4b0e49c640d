"""Nobody hands on rights that he does not have, by a role or by a binding to one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperpod_constructs.local.kubernetes import status
from hyperpod_constructs.local.kubernetes.authorization import (
    BINDINGS,
    CLUSTER_BINDINGS,
    CLUSTER_ROLES,
    EVERYTHING,
    ROLES,
    Act,
    Authorizer,
    Rule,
    User,
    shown,
)
from hyperpod_constructs.local.kubernetes.resources import ResourceType

Object = Mapping[str, Any]


def judge(authorizer: Authorizer, user: User, kind: ResourceType, obj: Object, before: Object | None = None) -> None:
    """Whether a user may write a role or a binding; whatever else an object is, he may.

    :param before: the object that it replaces.
    :raises ApiError: 403 with the rights that are missing, 404 for a binding to a role that is absent.
    """
    key = kind.key
    wanted: list[Rule] | None
    if key in (ROLES, CLUSTER_ROLES):
        gathers = any(one is not None and one.get("aggregationRule") is not None for one in (before, obj))
        wanted, verb = [*(obj.get("rules") or ()), *(EVERYTHING if gathers else ())], "escalate"
    elif key in (BINDINGS, CLUSTER_BINDINGS):
        wanted, verb = authorizer.referred(obj), "bind"
    else:
        return
    name, namespace = obj["metadata"].get("name", ""), obj["metadata"].get("namespace", "")
    reference = obj.get("roleRef") or {}
    plural = {"Role": "roles", "ClusterRole": "clusterroles"}.get(reference.get("kind", ""), key.plural)
    act = Act(verb, key.group, plural, namespace, reference.get("name") or name)
    unchanged = before is not None and _granting(before) == _granting(obj)
    if unchanged or authorizer.allows(user, act):
        return
    if wanted is None:
        raise status.not_found(status.Named(key.group, plural, reference["kind"], reference["name"]))
    missing = authorizer.missing(user, namespace, wanted)
    if missing:
        groups = ", ".join(f'"{group}"' for group in user.groups)
        detail = f'user "{user.name}" (groups=[{groups}]) is attempting to grant RBAC permissions not currently held:\n'
        raise status.forbidden(kind.named(name), detail + "\n".join(map(shown, missing)))


def _granting(obj: Object) -> Object:
    """A role or a binding without what changes when it is cleaned up."""
    names = ("finalizers", "managedFields", "ownerReferences")
    return {**obj, "metadata": {key: item for key, item in obj["metadata"].items() if key not in names}}
