"""The CloudFormation types of who may do what in a cluster of EKS, over its API: access entries of people, identities of pods."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from botocore.exceptions import ClientError

from hyperpod_constructs.local.aws_service import Caller
from hyperpod_constructs.local.clients import Clients, ignoring
from hyperpod_constructs.local.eks.properties import parameters
from hyperpod_constructs.local.eks.provider import GONE, given_tags, parted, retag
from hyperpod_constructs.local.provider import Provisioned
from hyperpod_constructs.local.stable import Properties


class AccessEntry:
    """AWS::EKS::AccessEntry. `Ref` is the principal's ARN and the cluster's name, with a bar between."""

    type_name = "AWS::EKS::AccessEntry"

    def __init__(self, clients: Clients) -> None:
        self._clients = clients

    def create(self, properties: Properties, logical_id: str, stack: str, caller: Caller) -> Provisioned:
        """Create the entry with its policies; one that cannot have them is deleted again."""
        eks = self._clients("eks", caller)
        wanted = parameters(eks, "CreateAccessEntry", properties)
        made = eks.create_access_entry(**wanted, **given_tags(properties))["accessEntry"]
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
        retag(eks, found["accessEntryArn"], old, new)
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
        return _associated(eks.create_pod_identity_association(**wanted, **given_tags(properties))["association"])

    def update(self, physical_id: str, old: Properties, new: Properties, stack: str, caller: Caller) -> Provisioned:
        """Change the roles, the options and the tags."""
        eks = self._clients("eks", caller)
        change = _association(eks, "UpdatePodIdentityAssociation", new)
        found = eks.update_pod_identity_association(**{**change, "associationId": physical_id.rpartition("/")[2]})["association"]
        retag(eks, found["associationArn"], old, new)
        return _associated(found)

    def delete(self, physical_id: str, properties: Properties, caller: Caller) -> None:
        """Delete the association; a cluster that is gone has taken it along."""
        cluster, identifier = physical_id.split("/")[-2:]
        with ignoring(GONE):
            self._clients("eks", caller).delete_pod_identity_association(clusterName=cluster, associationId=identifier)


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


def _named(physical_id: str) -> dict[str, str]:
    principal, cluster = parted(physical_id, "|")
    return {"clusterName": cluster, "principalArn": principal}
