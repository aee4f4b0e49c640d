"""The CloudFormation types of what a cluster of EKS runs, over its API: node groups and add-ons."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperpod_constructs.local.aws_service import Caller
from hyperpod_constructs.local.eks.properties import parameters
from hyperpod_constructs.local.eks.provider import EksProvider, generated_name, given_tags, parted, retag
from hyperpod_constructs.local.provider import Provisioned
from hyperpod_constructs.local.stable import Properties


class NodeGroup(EksProvider):
    """AWS::EKS::Nodegroup. `Ref` is the cluster's name and its own, with a slash between."""

    type_name = "AWS::EKS::Nodegroup"
    member = "nodegroup"

    def update(self, physical_id: str, old: Properties, new: Properties, stack: str, caller: Caller) -> Provisioned:
        """Change sizes, labels, taints, version and tags."""
        eks = self._client(caller)
        described = self._stable(eks, physical_id)
        before, after = parameters(eks, "CreateNodegroup", old), parameters(eks, "CreateNodegroup", new)
        cluster, name = parted(physical_id, "/")
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
        retag(eks, described["nodegroupArn"], old, new)
        return self._provisioned(self._stable(eks, physical_id))

    def _create(self, client: Any, properties: Properties, logical_id: str, stack: str) -> str:
        wanted = parameters(client, "CreateNodegroup", properties)
        wanted.setdefault("nodegroupName", generated_name(stack, logical_id, 63))
        properties.get("ForceUpdateEnabled")
        client.create_nodegroup(**wanted, **given_tags(properties))
        return f"{wanted['clusterName']}/{wanted['nodegroupName']}"

    def _describe(self, client: Any, identifier: str) -> Any:
        cluster, name = parted(identifier, "/")
        return client.describe_nodegroup(clusterName=cluster, nodegroupName=name)["nodegroup"]

    def _delete(self, client: Any, identifier: str) -> None:
        cluster, name = parted(identifier, "/")
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


class Addon(EksProvider):
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
            cluster, name = parted(physical_id, "|")
            if "podIdentityAssociations" in before:
                after.setdefault("podIdentityAssociations", [])
            self._updated(eks, cluster, eks.update_addon(**after), addonName=name)
        retag(eks, described["addonArn"], old, new)
        return self._provisioned(self._stable(eks, physical_id))

    def _create(self, client: Any, properties: Properties, logical_id: str, stack: str) -> str:
        wanted = parameters(client, "CreateAddon", properties)
        properties.get("PreserveOnDelete")
        client.create_addon(**wanted, **given_tags(properties))
        return f"{wanted['clusterName']}|{wanted['addonName']}"

    def _describe(self, client: Any, identifier: str) -> Any:
        cluster, name = parted(identifier, "|")
        return client.describe_addon(clusterName=cluster, addonName=name)["addon"]

    def _delete(self, client: Any, identifier: str) -> None:
        cluster, name = parted(identifier, "|")
        client.delete_addon(clusterName=cluster, addonName=name)

    def _provisioned(self, described: Mapping[str, Any]) -> Provisioned:
        return Provisioned(f"{described['clusterName']}|{described['addonName']}", {"Arn": described["addonArn"]})


def _without(found: Mapping[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in found.items() if name != key}
