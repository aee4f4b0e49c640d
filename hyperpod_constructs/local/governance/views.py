"""Answers about policies and quotas."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hyperpod_constructs.local.governance.state import COMPUTE_QUOTA, Policy
from hyperpod_constructs.local.timed_service import Parameters
from hyperpod_constructs.local.times import moment, second_of

_KEYS: dict[str, Callable[[Policy], Any]] = {
    "Name": lambda policy: policy.name,
    "CreationTime": lambda policy: policy.created,
    "Status": lambda policy: policy.status,
    "ClusterArn": lambda policy: policy.cluster.arn,
}


def describe(policy: Policy, version: int) -> dict[str, Any]:
    """The answer of a Describe operation."""
    reason = {"FailureReason": policy.failure} if policy.failure else {}
    return {**_head(policy), policy.kind.named("Version"): version, **policy.versions[version], **reason}


def summarize(policy: Policy) -> dict[str, Any]:
    """An entry of a List operation."""
    shown = ("ComputeQuotaConfig", "ComputeQuotaTarget", "ActivationState") if policy.kind is COMPUTE_QUOTA else ()
    settings = {name: policy.settings[name] for name in shown}
    return {**_head(policy), policy.kind.named("Version"): policy.version, **settings}


def listed_by(policies: Sequence[Policy], parameters: Parameters) -> list[Policy]:
    """Those that the filters of a List operation let through, in its order: descending unless it says otherwise."""
    after, before = second_of(parameters.get("CreatedAfter")), second_of(parameters.get("CreatedBefore"))
    found = [
        policy
        for policy in policies
        if parameters.get("NameContains", "") in policy.name
        and parameters.get("ClusterArn") in (None, policy.cluster.arn)
        and parameters.get("Status") in (None, policy.status)
        and (after is None or policy.created > after)
        and (before is None or policy.created < before)
    ]
    return sorted(found, key=_KEYS[parameters.get("SortBy", "CreationTime")], reverse=parameters.get("SortOrder") != "Ascending")


def _head(policy: Policy) -> dict[str, Any]:
    return {
        policy.kind.named("Arn"): policy.arn,
        policy.kind.named("Id"): policy.id,
        "Name": policy.name,
        "Status": policy.status,
        "ClusterArn": policy.cluster.arn,
        "CreationTime": moment(policy.created),
        "LastModifiedTime": moment(policy.modified),
    }
