"""The operations of EKS on access entries and access policies."""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from typing import Any

from botocore.exceptions import ClientError

from hyperpod_constructs.facts import eks, kubernetes
from hyperpod_constructs.local.aws_service import AwsError, Caller
from hyperpod_constructs.local.clients import Clients, partition
from hyperpod_constructs.local.eks.control_planes import Access
from hyperpod_constructs.local.eks.records import (
    IN_USE,
    MISSING,
    Cluster,
    Find,
    Record,
    following,
    invalid,
    moment,
    page_parameters,
    refusal,
)
from hyperpod_constructs.local.paging import page
from hyperpod_constructs.local.timed_service import Operation, Parameters

_PRINCIPAL = re.compile(r"arn:[a-z-]+:iam::(?P<account>[0-9]{12}):(?P<kind>role|user)/(?P<path>.+)")
_GROUPS_OF_POLICIES = ("ministack:",)
"""The beginning of the groups that ministack gives the holders of access policies. AWS, which has no such groups, reserves none."""

_NAMESPACE = re.compile(r"[a-z0-9*]([-a-z0-9*]{0,61}[a-z0-9*])?")


class AccessEntries:
    """Who may reach the clusters' control planes."""

    def __init__(self, clients: Clients, access: Access, find: Find) -> None:
        self._clients = clients
        self._access = access
        self._find = find

    def operations(self) -> dict[str, Operation]:
        """The operations by name."""
        return {
            "CreateAccessEntry": self._create,
            "DescribeAccessEntry": lambda p, c, now: {"accessEntry": self._entry(p, c)[1].describe()},
            "ListAccessEntries": self._list,
            "UpdateAccessEntry": self._update,
            "DeleteAccessEntry": self._delete,
            "AssociateAccessPolicy": self._associate,
            "DisassociateAccessPolicy": self._disassociate,
            "ListAssociatedAccessPolicies": self._associated,
            "ListAccessPolicies": self._policies,
        }

    def bootstrap(self, cluster: Cluster, principal: str, now: float) -> None:
        """Make who creates a cluster its administrator; without entries it is one that no operation shows."""
        if not _PRINCIPAL.fullmatch(principal):
            return
        entry = _record(cluster, principal, {"type": eks.STANDARD}, now)
        policy = f"{_prefix(cluster)}AmazonEKSClusterAdminPolicy"
        scope = {"type": "cluster", "namespaces": list[str]()}
        entry.policies[policy] = _associated_policy(policy, scope, now, None)
        if cluster.mode in kubernetes.AUTHENTICATION_MODES:
            cluster.entries[principal] = entry
        self._access.set_entry(cluster.caller, cluster.name, _let_in(entry, {}))
        self._access.set_policy(cluster.caller, cluster.name, principal, policy, scope)

    def _entry(self, parameters: Parameters, caller: Caller) -> tuple[Cluster, Record]:
        cluster = self._find(parameters["clusterName"], caller)
        _require_entries(cluster)
        principal = parameters["principalArn"]
        found = cluster.entries.get(principal)
        if found is None:
            raise AwsError(MISSING, f"The specified principalArn could not be found: {principal}", 404)
        return cluster, found

    def _create(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        cluster = self._find(parameters["clusterName"], caller)
        _require_entries(cluster)
        cluster.require_active()
        principal, kind = parameters["principalArn"], parameters.get("type", eks.STANDARD)
        if kind not in eks.ENTRY_TYPES:
            raise invalid(f"The type {kind!r} is not valid; allowed are {', '.join(eks.ENTRY_TYPES)}")
        self._check_principal(principal, kind, caller)
        if principal in cluster.entries:
            raise AwsError(IN_USE, f"The specified access entry resource is already in use on this cluster: {principal}", 409)
        _check_names(kind, parameters)
        entry = _record(cluster, principal, {**parameters, "type": kind}, now)
        cluster.entries[principal] = entry
        self._access.set_entry(cluster.caller, cluster.name, _let_in(entry, parameters))
        return {"accessEntry": entry.describe()}

    def _check_principal(self, principal: str, kind: str, caller: Caller) -> None:
        named = _PRINCIPAL.fullmatch(principal)
        if named is None or named["account"] != caller.account or (named["kind"] == "user" and kind != eks.STANDARD):
            allowed = "a role or user" if kind == eks.STANDARD else "a role"
            raise invalid(
                f"The specified principalArn is invalid: invalid principal. Found {principal}; write the ARN of {allowed} of"
                f" account {caller.account}"
            )
        iam, name = self._clients("iam", caller), named["path"].rpartition("/")[2]
        try:
            found = iam.get_role(RoleName=name)["Role"] if named["kind"] == "role" else iam.get_user(UserName=name)["User"]
        except ClientError as error:
            raise invalid(f"The specified principalArn is invalid: invalid principal. {principal} does not exist") from error
        if found["Arn"] != principal:
            raise invalid(f"The specified principalArn is invalid: invalid principal. Found {principal}, which is {found['Arn']}")

    def _list(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        cluster = self._find(parameters["clusterName"], caller)
        _require_entries(cluster)
        policy = parameters.get("associatedPolicyArn")
        found = [principal for principal, entry in cluster.entries.items() if policy is None or policy in entry.policies]
        chosen, token = page(found, page_parameters(parameters), 100, "InvalidParameterException")
        return {"accessEntries": chosen, **following(token)}

    def _update(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        cluster, entry = self._entry(parameters, caller)
        kind = entry.body["type"]
        _check_names(kind, parameters)
        given = {key: parameters[key] for key in ("kubernetesGroups", "username") if key in parameters}
        entry.body |= given
        entry.modified = now
        self._access.set_entry(cluster.caller, cluster.name, _let_in(entry, entry.body))
        return {"accessEntry": entry.describe()}

    def _delete(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        cluster, entry = self._entry(parameters, caller)
        principal = entry.body["principalArn"]
        del cluster.entries[principal]
        self._access.remove_entry(cluster.caller, cluster.name, principal)
        return {}

    def _associate(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        cluster, entry = self._entry(parameters, caller)
        policy, scope = parameters["policyArn"], parameters["accessScope"]
        if entry.body["type"] != eks.STANDARD:
            raise refusal(f"Access policies are for entries of the type {eks.STANDARD} only; this one is {entry.body['type']}")
        _check_policy(cluster, policy)
        scope = _scope(scope)
        if policy not in entry.policies and len(entry.policies) >= eks.MOST_POLICIES_OF_AN_ENTRY:
            raise refusal(f"an access entry has at most {eks.MOST_POLICIES_OF_AN_ENTRY} access policies")
        entry.policies[policy] = _associated_policy(policy, scope, now, entry.policies.get(policy))
        self._access.set_policy(cluster.caller, cluster.name, entry.body["principalArn"], policy, scope)
        return {
            "clusterName": cluster.name,
            "principalArn": entry.body["principalArn"],
            "associatedAccessPolicy": entry.policies[policy],
        }

    def _disassociate(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        cluster, entry = self._entry(parameters, caller)
        policy = parameters["policyArn"]
        if entry.policies.pop(policy, None) is None:
            raise AwsError(MISSING, f"The access policy {policy} is not associated with {entry.body['principalArn']}", 404)
        self._access.remove_policy(cluster.caller, cluster.name, entry.body["principalArn"], policy)
        return {}

    def _associated(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        cluster, entry = self._entry(parameters, caller)
        chosen, token = page(list(entry.policies.values()), page_parameters(parameters), 100, "InvalidRequestException")
        return {
            "clusterName": cluster.name,
            "principalArn": entry.body["principalArn"],
            "associatedAccessPolicies": chosen,
            **following(token),
        }

    def _policies(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        prefix = f"arn:{partition(caller.region)}:eks::aws:cluster-access-policy/"
        return {"accessPolicies": [{"name": name, "arn": prefix + name} for name in eks.ACCESS_POLICIES]}


def _require_entries(cluster: Cluster) -> None:
    if cluster.mode not in kubernetes.AUTHENTICATION_MODES:
        raise refusal(
            "The cluster's authentication mode must be set to one of"
            f" [{', '.join(kubernetes.AUTHENTICATION_MODES)}] to perform this operation; it is {cluster.mode}"
        )


def _check_names(kind: str, given: Parameters) -> None:
    if kind != eks.STANDARD:
        found = [member for member in ("username", "kubernetesGroups") if given.get(member)]
        if found:
            raise invalid(f"{found[0]} is for access entries of the type {eks.STANDARD}; the service names those of {kind}")
        return
    names, groups = eks.RESERVED_NAMES + _GROUPS_OF_POLICIES, eks.RESERVED_GROUPS + _GROUPS_OF_POLICIES
    if given.get("username", "").startswith(names):
        raise invalid(f"The username {given['username']!r} must not begin with {', '.join(names)}")
    for group in given.get("kubernetesGroups", ()):
        if group.startswith(groups):
            raise invalid(f"The kubernetes group name {group} is invalid, it cannot start with {', '.join(groups)}")


def _check_policy(cluster: Cluster, policy: str) -> None:
    prefix = _prefix(cluster)
    if not policy.startswith(prefix) or policy.removeprefix(prefix) not in eks.ACCESS_POLICIES:
        raise invalid(
            f"The policyArn parameter format is not valid: found {policy}; the embedded AWS has"
            f" {', '.join(prefix + name for name in eks.ACCESS_POLICIES)}"
        )


def _scope(scope: Mapping[str, Any]) -> dict[str, Any]:
    kind, namespaces = scope.get("type"), list(scope.get("namespaces", ()))
    if kind == "cluster":
        if namespaces:
            raise invalid("accessScope: namespaces need the type namespace; leave them out, or change the type")
    elif not namespaces:
        raise invalid("accessScope: the type namespace needs namespaces")
    for namespace in namespaces:
        if not _NAMESPACE.fullmatch(namespace):
            raise invalid(f"accessScope: found the namespace {namespace!r}; write its name, or a part of it with *")
    return {"type": kind, "namespaces": namespaces}


def _associated_policy(policy: str, scope: Mapping[str, Any], now: float, before: Mapping[str, Any] | None) -> dict[str, Any]:
    since = moment(now) if before is None else before["associatedAt"]
    return {"policyArn": policy, "accessScope": dict(scope), "associatedAt": since, "modifiedAt": moment(now)}


def _prefix(cluster: Cluster) -> str:
    return f"arn:{partition(cluster.caller.region)}:eks::aws:cluster-access-policy/"


def _record(cluster: Cluster, principal: str, given: Parameters, now: float) -> Record:
    named = _PRINCIPAL.fullmatch(principal)
    assert named is not None
    kind = given["type"]
    made = eks.NODE_NAMES.get(kind, eks.EntryNames(_user_of(principal, named["kind"], named["path"], named["account"]), ()))
    arn = f"{cluster.prefix('access-entry')}/{named['kind']}/{named['account']}/{named['path']}/{uuid.uuid4()}"
    body = {
        "clusterName": cluster.name,
        "principalArn": principal,
        "accessEntryArn": arn,
        "kubernetesGroups": list(given.get("kubernetesGroups", made.groups)),
        "username": given.get("username", made.user),
        "type": kind,
    }
    return Record(arn, now, body, dict(given.get("tags", {})))


def _user_of(principal: str, kind: str, path: str, account: str) -> str:
    if kind == "user":
        return principal
    return f"{principal.partition(':iam:')[0]}:sts::{account}:assumed-role/{path.rpartition('/')[2]}/{{{{SessionName}}}}"


def _let_in(entry: Record, given: Parameters) -> dict[str, Any]:
    """What the authenticator needs of an entry: a user name only where a person has chosen one."""
    chosen = given.get("username", "")
    return {**entry.body, "username": "" if "{{" in chosen else chosen}
