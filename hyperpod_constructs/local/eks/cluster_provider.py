"""The CloudFormation type of clusters of EKS, over its API. A template has other forms of logs than the API, and one update of it
may be several of EKS.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from hyperpod_constructs.facts.eks import AUTO_MODE
from hyperpod_constructs.local.aws_service import AwsError, Caller
from hyperpod_constructs.local.eks.properties import parameters
from hyperpod_constructs.local.eks.provider import EksProvider, generated_name, given_tags, retag
from hyperpod_constructs.local.provider import Provisioned
from hyperpod_constructs.local.stable import Properties


class Cluster(EksProvider):
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
        retag(eks, described["arn"], old, new)
        return self._provisioned(described)

    def _create(self, client: Any, properties: Properties, logical_id: str, stack: str) -> str:
        wanted = _cluster(client, properties)
        wanted.setdefault("name", generated_name(stack, logical_id, 100))
        client.create_cluster(**wanted, **given_tags(properties))
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
