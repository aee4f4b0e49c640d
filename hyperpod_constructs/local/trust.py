"""Whether a role exists and lets a service assume it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from botocore.exceptions import ClientError

ASSUME = ("sts:AssumeRole",)


def trusts_service(role: str, principal: str, iam: Any, actions: Iterable[str] = ASSUME) -> bool:
    """Whether the role with this ARN exists, and its trust policy allows the service these actions."""
    try:
        found = iam.get_role(RoleName=role.rpartition("/")[2])["Role"]
    except ClientError:
        return False
    return bool(found["Arn"] == role) and all(_trusts(found["AssumeRolePolicyDocument"], principal, action) for action in actions)


def _trusts(document: Mapping[str, Any], principal: str, action: str) -> bool:
    for statement in _listed(document.get("Statement", [])):
        trusted = statement.get("Principal", {})
        services = _listed(trusted.get("Service", [])) if isinstance(trusted, Mapping) else []
        allowed = {name.lower() for name in _listed(statement.get("Action", []))}
        if statement.get("Effect") == "Allow" and principal in services and allowed & {action.lower(), "sts:*", "*"}:
            return True
    return False


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]
