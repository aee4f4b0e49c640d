"""The CloudFormation types of EKS, over its API: clusters, node groups, add-ons, access entries and pod identity associations."""

from __future__ import annotations

import itertools
import json
import re
import secrets
from collections.abc import Mapping
from typing import Any, ClassVar

from botocore.exceptions import ClientError

from hyperpod_constructs.facts.eks import AUTO_MODE
from hyperpod_constructs.local.aws_service import AwsError, Caller
from hyperpod_constructs.local.clients import Clients, ignoring
from hyperpod_constructs.local.eks.properties import parameters, tags
from hyperpod_constructs.local.provider import Provisioned
from hyperpod_constructs.local.stable import Properties, StableProvider
from hyperpod_constructs.local.waiting import wait

HANDLER_SECONDS = 36 * 3600.0
BUSY = ("CREATING", "UPDATING", "DELETING")
GONE = "ResourceNotFoundException"


class _EksProvider(StableProvider):
    service = "eks"
    status, ready, busy, undeletable = "status", "ACTIVE", BUSY, ("CREATING", "UPDATING", "DELETING")
    missing = GONE
    member: ClassVar[str]
    """The member of answers with the resource."""

    def __init__(self, clients: Clients, timeout: float = HANDLER_SECONDS) -> None:
        super().__init__(clients, timeout)

    def _stable(self, client: Any, identifier: str) -> Mapping[str, Any]:
        def described() -> Mapping[str, Any] | None:
            found = self._describe(client, identifier)
            return None if found["status"] in ("CREATING", "UPDATING") else found

        return wait(described, self._timeout, identifier)

    def _failure(self, described: Mapping[str, Any]) -> AwsError:
        issues = [issue.get("message", "") for issue in described.get("health", {}).get("issues", ())]
        cause = "; ".join(issues) or "no cause was given"
        name = self._provisioned(described).physical_id
        return AwsError("NotStabilized", f"Resource of type '{self.type_name}' {name} is {described['status']}: {cause}")

    def _updated(self, client: Any, identifier: str, update: Mapping[str, Any], **owner: str) -> None:
        """Wait for an update.

        :raises AwsError: if it fails.
        """
        name = identifier.partition("|")[0]

        def ended() -> Mapping[str, Any] | None:
            found = client.describe_update(name=name, updateId=update["update"]["id"], **owner)["update"]
            return None if found["status"] == "InProgress" else found

        found = wait(ended, self._timeout, identifier)
        if found["status"] != "Successful":
            raise AwsError("NotStabilized", f"the update of {identifier} is {found['status']}: {found.get('errors')}")


class Cluster(_EksProvider):
    """AWS::EKS::Cluster. `Ref` is the name."""

    type_name = "AWS::EKS::Cluster"
    member = "cluster"
    CHANGED = (
        ("upgradePolicy",),
        ("accessConfig",),
        ("logging",),
        ("resourcesVpcConfig",),
        ("deletionProtection",),
        ("controlPlaneScalingConfig",),
        AUTO_MODE,
        ("kubeApiServerConfig",),
        ("kubeSchedulerConfig",),
        ("kubeControllerManagerConfig",),
    )
    """The members that UpdateClusterConfig takes: each group is one update."""

    def update(self, physical_id: str, old: Properties, new: Properties, stack: str, caller: Caller) -> Provisioned:
        """Change the version, the settings and the tags, one after another. Other properties are not changed here."""
        eks = self._client(caller)
        self._stable(eks, physical_id)
        before, after = _cluster(eks, old), _cluster(eks, new)
        _unchanged(before, after, ("version", *itertools.chain(*self.CHANGED)), physical_id)
        for members in self.CHANGED:
            change = {
                key: value
                for member in members
                if _differs(member, before, after)
                for key, value in _config_change(member, before, after).items()
            }
            if change:
                self._updated(eks, physical_id, eks.update_cluster_config(name=physical_id, **change))
        if after.get("version", before.get("version")) != before.get("version"):
            self._updated(eks, physical_id, eks.update_cluster_version(name=physical_id, version=after["version"]))
        described = self._stable(eks, physical_id)
        _retag(eks, described["arn"], old, new)
        return self._provisioned(described)

    def _create(self, client: Any, properties: Properties, logical_id: str, stack: str) -> str:
        wanted = _cluster(client, properties)
        wanted.setdefault("name", generated_name(stack, logical_id, 100))
        client.create_cluster(**wanted, **_given_tags(properties))
        return str(wanted["name"])

    def _describe(self, client: Any, identifier: str) -> Any:
        return client.describe_cluster(name=identifier)["cluster"]

    def _delete(self, client: Any, identifier: str) -> None:
        client.delete_cluster(name=identifier)

    def _provisioned(self, described: Mapping[str, Any]) -> Provisioned:
        encryption = described.get("encryptionConfig") or [{}]
        attributes = {
            "Arn": described["arn"],
            "Id": described["name"],
            "Endpoint": described.get("endpoint", ""),
            "CertificateAuthorityData": described.get("certificateAuthority", {}).get("data", ""),
            "ClusterSecurityGroupId": described["resourcesVpcConfig"]["clusterSecurityGroupId"],
            "OpenIdConnectIssuerUrl": described.get("identity", {}).get("oidc", {}).get("issuer", ""),
            "EncryptionConfigKeyArn": encryption[0].get("provider", {}).get("keyArn", ""),
        }
        return Provisioned(described["name"], attributes)


class NodeGroup(_EksProvider):
    """AWS::EKS::Nodegroup. `Ref` is the cluster's name and its own, with a slash between."""

    type_name = "AWS::EKS::Nodegroup"
    member = "nodegroup"

    def update(self, physical_id: str, old: Properties, new: Properties, stack: str, caller: Caller) -> Provisioned:
        """Change sizes, labels, taints, version and tags."""
        eks = self._client(caller)
        described = self._stable(eks, physical_id)
        before, after = parameters(eks, "CreateNodegroup", old), parameters(eks, "CreateNodegroup", new)
        cluster, name = _two(physical_id, "/")
        new.get("ForceUpdateEnabled")
        named = {"clusterName": cluster, "nodegroupName": name}
        change: dict[str, Any] = {
            key: after[key]
            for key in ("scalingConfig", "updateConfig", "nodeRepairConfig")
            if key in after and after[key] != before.get(key)
        }
        if after.get("labels", {}) != before.get("labels", {}):
            gone = [key for key in before.get("labels", {}) if key not in after.get("labels", {})]
            change["labels"] = {"addOrUpdateLabels": after.get("labels", {}), "removeLabels": gone}
        if after.get("taints", []) != before.get("taints", []):
            gone = [taint for taint in before.get("taints", []) if taint not in after.get("taints", [])]
            change["taints"] = {"addOrUpdateTaints": after.get("taints", []), "removeTaints": gone}
        if change:
            self._updated(eks, cluster, eks.update_nodegroup_config(**named, **change), nodegroupName=name)
        versions = {
            key: after[key]
            for key in ("version", "releaseVersion", "launchTemplate")
            if key in after and after[key] != before.get(key)
        }
        if versions:
            self._updated(eks, cluster, eks.update_nodegroup_version(**named, **versions), nodegroupName=name)
        _retag(eks, described["nodegroupArn"], old, new)
        return self._provisioned(self._stable(eks, physical_id))

    def _create(self, client: Any, properties: Properties, logical_id: str, stack: str) -> str:
        wanted = parameters(client, "CreateNodegroup", properties)
        wanted.setdefault("nodegroupName", generated_name(stack, logical_id, 63))
        properties.get("ForceUpdateEnabled")
        client.create_nodegroup(**wanted, **_given_tags(properties))
        return f"{wanted['clusterName']}/{wanted['nodegroupName']}"

    def _describe(self, client: Any, identifier: str) -> Any:
        cluster, name = _two(identifier, "/")
        return client.describe_nodegroup(clusterName=cluster, nodegroupName=name)["nodegroup"]

    def _delete(self, client: Any, identifier: str) -> None:
        cluster, name = _two(identifier, "/")
        client.delete_nodegroup(clusterName=cluster, nodegroupName=name)

    def _provisioned(self, described: Mapping[str, Any]) -> Provisioned:
        identifier = f"{described['clusterName']}/{described['nodegroupName']}"
        attributes = {
            "Id": identifier,
            "Arn": described["nodegroupArn"],
            "ClusterName": described["clusterName"],
            "NodegroupName": described["nodegroupName"],
        }
        return Provisioned(identifier, attributes)


class Addon(_EksProvider):
    """AWS::EKS::Addon. `Ref` is the cluster's name and the add-on's, with a bar between.

    A degraded add-on is taken for stable: AWS's own templates create CoreDNS before there are nodes.
    """

    type_name = "AWS::EKS::Addon"
    member = "addon"

    def create(self, properties: Properties, logical_id: str, stack: str, caller: Caller) -> Provisioned:
        """Create it and wait; one that fails is deleted."""
        client = self._client(caller)
        identifier = self._create(client, properties, logical_id, stack)
        described = self._stable(client, identifier)
        if described["status"] not in (self.ready, "DEGRADED"):
            self.delete(identifier, properties, caller)
            raise self._failure(described)
        return self._provisioned(described)

    def update(self, physical_id: str, old: Properties, new: Properties, stack: str, caller: Caller) -> Provisioned:
        """Change version, configuration, roles and tags."""
        eks = self._client(caller)
        described = self._stable(eks, physical_id)
        before, after = parameters(eks, "UpdateAddon", old), parameters(eks, "UpdateAddon", new)
        new.get("PreserveOnDelete")
        if _without(before, "resolveConflicts") != _without(after, "resolveConflicts"):
            cluster, name = _two(physical_id, "|")
            if "podIdentityAssociations" in before:
                after.setdefault("podIdentityAssociations", [])
            self._updated(eks, cluster, eks.update_addon(**after), addonName=name)
        _retag(eks, described["addonArn"], old, new)
        return self._provisioned(self._stable(eks, physical_id))

    def _create(self, client: Any, properties: Properties, logical_id: str, stack: str) -> str:
        wanted = parameters(client, "CreateAddon", properties)
        properties.get("PreserveOnDelete")
        client.create_addon(**wanted, **_given_tags(properties))
        return f"{wanted['clusterName']}|{wanted['addonName']}"

    def _describe(self, client: Any, identifier: str) -> Any:
        cluster, name = _two(identifier, "|")
        return client.describe_addon(clusterName=cluster, addonName=name)["addon"]

    def _delete(self, client: Any, identifier: str) -> None:
        cluster, name = _two(identifier, "|")
        client.delete_addon(clusterName=cluster, addonName=name)

    def _provisioned(self, described: Mapping[str, Any]) -> Provisioned:
        return Provisioned(f"{described['clusterName']}|{described['addonName']}", {"Arn": described["addonArn"]})


class AccessEntry:
    """AWS::EKS::AccessEntry. `Ref` is the principal's ARN and the cluster's name, with a bar between."""

    type_name = "AWS::EKS::AccessEntry"

    def __init__(self, clients: Clients) -> None:
        self._clients = clients

    def create(self, properties: Properties, logical_id: str, stack: str, caller: Caller) -> Provisioned:
        """Create the entry with its policies; one that cannot have them is deleted again."""
        eks = self._clients("eks", caller)
        wanted = parameters(eks, "CreateAccessEntry", properties)
        made = eks.create_access_entry(**wanted, **_given_tags(properties))["accessEntry"]
        physical_id = f"{wanted['principalArn']}|{wanted['clusterName']}"
        try:
            self._give(eks, _named(physical_id), _policies(properties))
        except ClientError:
            self.delete(physical_id, properties, caller)
            raise
        return Provisioned(physical_id, {"AccessEntryArn": made["accessEntryArn"]})

    def update(self, physical_id: str, old: Properties, new: Properties, stack: str, caller: Caller) -> Provisioned:
        """Change groups, user name, policies and tags."""
        eks, named = self._clients("eks", caller), _named(physical_id)
        before, after = parameters(eks, "UpdateAccessEntry", old), parameters(eks, "UpdateAccessEntry", new)
        if before != after:
            emptied: dict[str, Any] = {"kubernetesGroups": []} if "kubernetesGroups" in before else {}
            eks.update_access_entry(**{**emptied, **after})
        policies = _policies(new)
        for policy in _policies(old).keys() - policies.keys():
            eks.disassociate_access_policy(**named, policyArn=policy)
        self._give(eks, named, policies)
        found = eks.describe_access_entry(**named)["accessEntry"]
        _retag(eks, found["accessEntryArn"], old, new)
        return Provisioned(physical_id, {"AccessEntryArn": found["accessEntryArn"]})

    def delete(self, physical_id: str, properties: Properties, caller: Caller) -> None:
        """Delete the entry; a cluster that is gone has taken it along."""
        with ignoring(GONE):
            self._clients("eks", caller).delete_access_entry(**_named(physical_id))

    def _give(self, eks: Any, named: Mapping[str, str], policies: Mapping[str, Mapping[str, Any]]) -> None:
        for policy, scope in policies.items():
            eks.associate_access_policy(**named, policyArn=policy, accessScope=scope)


class PodIdentityAssociation:
    """AWS::EKS::PodIdentityAssociation. `Ref` is the association's ARN."""

    type_name = "AWS::EKS::PodIdentityAssociation"

    def __init__(self, clients: Clients) -> None:
        self._clients = clients

    def create(self, properties: Properties, logical_id: str, stack: str, caller: Caller) -> Provisioned:
        """Create the association."""
        eks = self._clients("eks", caller)
        wanted = _association(eks, "CreatePodIdentityAssociation", properties)
        return _associated(eks.create_pod_identity_association(**wanted, **_given_tags(properties))["association"])

    def update(self, physical_id: str, old: Properties, new: Properties, stack: str, caller: Caller) -> Provisioned:
        """Change the roles, the options and the tags."""
        eks = self._clients("eks", caller)
        change = _association(eks, "UpdatePodIdentityAssociation", new)
        found = eks.update_pod_identity_association(**{**change, "associationId": physical_id.rpartition("/")[2]})["association"]
        _retag(eks, found["associationArn"], old, new)
        return _associated(found)

    def delete(self, physical_id: str, properties: Properties, caller: Caller) -> None:
        """Delete the association; a cluster that is gone has taken it along."""
        cluster, identifier = physical_id.split("/")[-2:]
        with ignoring(GONE):
            self._clients("eks", caller).delete_pod_identity_association(clusterName=cluster, associationId=identifier)


_OFF: Mapping[str, Any] = {"logging": {"clusterLogging": []}, "deletionProtection": False}
"""Members of a cluster whose absence means something."""
_CHANGED_PART: Mapping[str, str] = {"accessConfig": "authenticationMode", "kubernetesNetworkConfig": "elasticLoadBalancing"}
"""The part of a member that an update changes; the others are fixed at creation."""


def _cluster(client: Any, properties: Properties) -> dict[str, Any]:
    """The parameters of CreateCluster. The logs of a template are a list of types; in the API each type is on or off."""
    properties.get("Force")
    types = [item["Type"] for item in ((properties.get("Logging") or {}).get("ClusterLogging") or {}).get("EnabledTypes") or ()]
    wanted = parameters(client, "CreateCluster", properties, without="logging")
    return {**wanted, **({"logging": {"clusterLogging": [{"types": types, "enabled": True}]}} if types else {})}


def _differs(member: str, before: Properties, after: Properties) -> bool:
    """Whether an update sets the member; one that is gone, and whose absence means nothing, stays as it was."""
    off = _OFF.get(member)
    return after.get(member, off) != before.get(member, off) and (member in after or member in _OFF)


def _config_change(member: str, before: Properties, after: Properties) -> dict[str, Any]:
    value = after.get(member, _OFF.get(member))
    if member == "logging":
        on = _types(after)
        off = [kind for kind in _types(before) if kind not in on]
        setups = [{"types": types, "enabled": enabled} for types, enabled in ((on, True), (off, False)) if types]
        value = {"clusterLogging": setups}
    if member in _CHANGED_PART:
        part = _CHANGED_PART[member]
        return {member: {part: value[part]}} if part in value else {}
    return {member: value}


def _types(cluster: Properties) -> list[str]:
    return [kind for setup in cluster.get("logging", {}).get("clusterLogging", ()) for kind in setup["types"]]


def _unchanged(before: Properties, after: Properties, changed: tuple[str, ...], identifier: str) -> None:
    for key in sorted({*before, *after} - set(changed)):
        if before.get(key) != after.get(key):
            raise AwsError("NotUpdatable", f"{key} of {identifier} is not changed in place by the embedded AWS; try it on AWS")


def _policies(properties: Properties) -> dict[str, dict[str, Any]]:
    """The scope by access policy."""
    found = {}
    for policy in properties.get("AccessPolicies") or ():
        scope = policy["AccessScope"]
        namespaces = {"namespaces": list(scope["Namespaces"])} if scope.get("Namespaces") else {}
        found[str(policy["PolicyArn"])] = {"type": scope["Type"], **namespaces}
    return found


def _association(client: Any, operation: str, properties: Properties) -> dict[str, Any]:
    """The parameters of an association, whose policy a template may write as an object."""
    policy = properties.get("Policy")
    text = {} if policy is None else {"policy": policy if isinstance(policy, str) else json.dumps(policy)}
    return {**parameters(client, operation, properties, without="policy"), **text}


def _associated(found: Mapping[str, Any]) -> Provisioned:
    names = ("associationArn", "associationId", "externalId")
    attributes = {name[:1].upper() + name[1:]: str(found[name]) for name in names if name in found}
    return Provisioned(found["associationArn"], attributes)


def _given_tags(properties: Properties) -> dict[str, dict[str, str]]:
    found = tags(properties)
    return {"tags": found} if found else {}


def _retag(client: Any, arn: str, old: Properties, new: Properties) -> None:
    before, after = tags(old), tags(new)
    changed = {key: value for key, value in after.items() if before.get(key) != value}
    gone = [key for key in before if key not in after]
    if changed:
        client.tag_resource(resourceArn=arn, tags=changed)
    if gone:
        client.untag_resource(resourceArn=arn, tagKeys=gone)


def _named(physical_id: str) -> dict[str, str]:
    principal, cluster = _two(physical_id, "|")
    return {"clusterName": cluster, "principalArn": principal}


def _two(identifier: str, mark: str) -> tuple[str, str]:
    first, _, second = identifier.partition(mark)
    return first, second


def _without(found: Mapping[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in found.items() if name != key}


def generated_name(stack: str, logical_id: str, longest: int) -> str:
    """A name for a resource whose template gives none."""
    words = [re.sub("[^a-zA-Z0-9]+", "-", word).strip("-") for word in (stack, logical_id)]
    return f"{'-'.join(words)[: longest - 13].strip('-')}-{secrets.token_hex(6)}"
