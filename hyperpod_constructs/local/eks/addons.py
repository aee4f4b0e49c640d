"""The operations of EKS on add-ons: records with states, which install no program in the control plane.

Decided here: an add-on whose prerequisite is missing, or that needs nodes where there are none, ends as CREATE_FAILED. A
prerequisite may come with a chart, which an object of it shows.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from typing import Any

from hyperpod_constructs.facts import eks
from hyperpod_constructs.facts.addons import MARKS, Nodes
from hyperpod_constructs.local.aws_service import AwsError, Caller
from hyperpod_constructs.local.eks import catalog
from hyperpod_constructs.local.eks.pod_identities import PodIdentities
from hyperpod_constructs.local.eks.records import (
    IN_USE,
    Child,
    Cluster,
    Find,
    Update,
    child_of,
    following,
    invalid,
    page_parameters,
)
from hyperpod_constructs.local.faults import Faults
from hyperpod_constructs.local.kubernetes_kinds import bring_kinds_of_addon
from hyperpod_constructs.local.paging import page
from hyperpod_constructs.local.timed_service import Operation, Parameters

CHANGED = ("addonVersion", "serviceAccountRoleArn", "configurationValues")

NODE_SECONDS = 30.0
"""How long an add-on waits for a first node before it fails: an instance that runs may join a little later. AWS waits longer."""

_NO_NODES = "InsufficientNumberOfReplicas"


class Addons:
    """The add-ons of clusters."""

    def __init__(self, faults: Faults, identities: PodIdentities, find: Find) -> None:
        self._faults = faults
        self._identities = identities
        self._find = find

    def operations(self) -> dict[str, Operation]:
        """The operations by name."""
        return {
            "CreateAddon": self._create,
            "DescribeAddon": self._describe,
            "ListAddons": self._list,
            "UpdateAddon": self._update,
            "DeleteAddon": self._delete,
            "DescribeAddonVersions": self._versions,
            "DescribeAddonConfiguration": self._configuration,
        }

    def _create(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        cluster = self._find(parameters["clusterName"], caller)
        cluster.require_active()
        name = parameters["addonName"]
        catalog.check_name(name)
        catalog.check_kubernetes(name, cluster.version)
        if name in cluster.addons:
            raise AwsError(IN_USE, f"Addon already exists: {name} on cluster {cluster.name}", 409)
        version = parameters.get("addonVersion") or catalog.default_version(name, cluster.version)
        self._check(cluster, name, version, parameters)
        if cluster.control is not None:
            bring_kinds_of_addon(cluster.control.api, name)
        arn = f"{cluster.prefix('addon')}/{name}/{uuid.uuid4()}"
        body = {
            "addonName": name,
            "clusterName": cluster.name,
            "addonArn": arn,
            "addonVersion": version,
            "owner": "aws",
            "publisher": "eks",
            "podIdentityAssociations": self._identities.replace(cluster, arn, parameters.get("podIdentityAssociations", ()), now),
            **{key: parameters[key] for key in (*CHANGED, "namespaceConfig") if key in parameters},
        }
        addon = Child(
            arn, now, now + self._faults.slow_creation, {**body, "addonVersion": version}, dict(parameters.get("tags", {}))
        )
        cluster.addons[name] = addon
        return {"addon": _described(cluster, addon, now)}

    def _check(self, cluster: Cluster, name: str, version: str, parameters: Parameters) -> None:
        catalog.check_version(name, version, cluster.version)
        catalog.check_configuration(name, parameters.get("configurationValues", ""))
        inline = parameters.get("podIdentityAssociations", ())
        if inline and catalog.refuses_inline_identity(name, version):
            raise invalid(
                f"Pod Identity feature is not supported for addon version: {name} {version};"
                " create an association of its own before the add-on"
            )
        facts = catalog.facts_of(name)
        accounts = {identity.service_account for identity in facts.identities} if facts is not None else set()
        for association in inline:
            if accounts and association["serviceAccount"] not in accounts:
                raise invalid(
                    f"{association['serviceAccount']} is no service account of {name}; allowed are {', '.join(sorted(accounts))}"
                )

    def _describe(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        cluster = self._find(parameters["clusterName"], caller)
        return {"addon": _described(cluster, child_of(cluster.addons, parameters["addonName"], "addon", cluster), now)}

    def _list(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        cluster = self._find(parameters["clusterName"], caller)
        found, token = page(list(cluster.addons), page_parameters(parameters), 100, "InvalidParameterException")
        return {"addons": found, **following(token)}

    def _update(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        cluster = self._find(parameters["clusterName"], caller)
        cluster.require_active()
        name = parameters["addonName"]
        addon = child_of(cluster.addons, name, "addon", cluster)
        if addon.status in ("CREATING", "DELETING", "UPDATING"):
            raise AwsError(IN_USE, f"Addon {name} is {addon.status}; wait until that is over", 409)
        version = parameters.get("addonVersion") or addon.body["addonVersion"]
        catalog.check_step(name, addon.body["addonVersion"], version)
        self._check(cluster, name, version, parameters)
        change = {key: parameters[key] for key in CHANGED if key in parameters}
        if "podIdentityAssociations" in parameters:
            wanted = parameters["podIdentityAssociations"]
            change["podIdentityAssociations"] = self._identities.replace(cluster, addon.arn, wanted, now)
        addon.status = "UPDATING"

        def hold() -> None:
            addon.body |= change
            addon.status, addon.modified = "ACTIVE", now

        params = {key[:1].upper() + key[1:]: _text(value) for key, value in change.items()}
        params["ResolveConflicts"] = parameters.get("resolveConflicts", "NONE")
        return cluster.begin(Update("AddonUpdate", params, now, now + self._faults.slow_creation, of=name, effect=hold))

    def _delete(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        cluster = self._find(parameters["clusterName"], caller)
        addon = child_of(cluster.addons, parameters["addonName"], "addon", cluster)
        addon.status, addon.due = "DELETING", now + self._faults.slow_creation
        self._identities.replace(cluster, addon.arn, (), now)
        return {"addon": _described(cluster, addon, now)}

    def _versions(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        wanted, kubernetes = parameters.get("addonName"), parameters.get("kubernetesVersion")
        if wanted is not None:
            catalog.check_name(wanted)
        clusters = [kubernetes] if kubernetes is not None else list(eks.VERSIONS)
        found = [_information(name, clusters) for name in catalog.names() if wanted in (None, name)]
        chosen, token = page(found, page_parameters(parameters), 100, "InvalidParameterException")
        return {"addons": chosen, **following(token)}

    def _configuration(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        name, version = parameters["addonName"], parameters["addonVersion"]
        catalog.check_name(name)
        facts = catalog.facts_of(name)
        identities = facts.identities if facts is not None else ()
        return {
            "addonName": name,
            "addonVersion": version,
            "configurationSchema": json.dumps(catalog.schema(name)),
            "podIdentityConfiguration": [
                {
                    "serviceAccount": identity.service_account,
                    "recommendedManagedPolicies": [f"arn:aws:iam::aws:policy/{identity.managed_policy}"]
                    if identity.managed_policy
                    else [],
                }
                for identity in identities
            ],
        }


def _described(cluster: Cluster, addon: Child, now: float) -> dict[str, Any]:
    """The add-on with what the cluster's nodes and other add-ons make of it, now."""
    name = addon.body["addonName"]
    issues = _issues(cluster, name) if addon.status == "ACTIVE" else []
    if issues:
        waits = issues[0]["code"] == _NO_NODES and now < addon.due + NODE_SECONDS
        status = "DEGRADED" if catalog.nodes_of(name) is Nodes.HEALS else "CREATING" if waits else "CREATE_FAILED"
        return {**addon.describe(), "status": status, "health": {"issues": issues}}
    return {**addon.describe(), "health": {"issues": []}}


def _issues(cluster: Cluster, name: str) -> list[Mapping[str, Any]]:
    facts = catalog.facts_of(name)
    needed = facts.prerequisites if facts is not None else ()
    missing = [other for other in needed if other not in cluster.addons and not _from_a_chart(cluster, other)]
    if missing:
        message = f"{name} needs the add-on {', '.join(missing)}, or a chart that brings the same"
        return [{"code": "K8sResourceNotFound", "message": message, "resourceIds": missing}]
    if catalog.nodes_of(name) is not Nodes.NONE and cluster.control is not None and not cluster.control.api.list("v1", "Node"):
        message = f"The add-on is unhealthy because it doesn't have the desired number of replicas: {name} has no node to run on"
        return [{"code": _NO_NODES, "message": message, "resourceIds": [name]}]
    return []


def _from_a_chart(cluster: Cluster, name: str) -> bool:
    mark = MARKS.get(name)
    if mark is None or cluster.control is None:
        return False
    return any(item["metadata"]["name"] == mark.name for item in cluster.control.api.list(mark.api_version, mark.kind))


def _information(name: str, clusters: list[str]) -> dict[str, Any]:
    by_version: dict[str, list[str]] = {}
    for kubernetes in clusters:
        for version in catalog.versions(name, kubernetes) or [catalog.default_version(name, kubernetes)]:
            by_version.setdefault(version, []).append(kubernetes)
    facts = catalog.facts_of(name)
    return {
        "addonName": name,
        "owner": "aws",
        "publisher": "eks",
        "addonVersions": [
            {
                "addonVersion": version,
                "compatibilities": [
                    {"clusterVersion": each, "defaultVersion": catalog.default_version(name, each) == version} for each in fitting
                ],
                "requiresIamPermissions": bool(facts is not None and facts.identities),
            }
            for version, fitting in by_version.items()
        ],
    }


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
