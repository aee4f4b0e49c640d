"""The operations of EKS on pod identity associations: records, one for each service account."""

from __future__ import annotations

import secrets
import string
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from hyperpod_constructs.facts import kubernetes
from hyperpod_constructs.local.aws_service import AwsError, Caller
from hyperpod_constructs.local.clients import Clients
from hyperpod_constructs.local.eks import catalog
from hyperpod_constructs.local.eks.records import (
    IN_USE,
    MISSING,
    Cluster,
    Find,
    Record,
    following,
    invalid,
    page_parameters,
    refusal,
)
from hyperpod_constructs.local.paging import page
from hyperpod_constructs.local.timed_service import Operation, Parameters
from hyperpod_constructs.local.trust import trusts_service

SUMMARY = ("clusterName", "namespace", "serviceAccount", "associationArn", "associationId", "ownerArn")
OPTIONS = ("roleArn", "targetRoleArn", "policy", "disableSessionTags")


class PodIdentities:
    """Which role the pods of a service account have."""

    def __init__(self, clients: Clients, find: Find) -> None:
        self._clients = clients
        self._find = find

    def operations(self) -> dict[str, Operation]:
        """The operations by name."""
        return {
            "CreatePodIdentityAssociation": self._create,
            "DescribePodIdentityAssociation": lambda p, c, now: {"association": self._association(p, c)[1].describe()},
            "ListPodIdentityAssociations": self._list,
            "UpdatePodIdentityAssociation": self._update,
            "DeletePodIdentityAssociation": self._delete,
        }

    def replace(self, cluster: Cluster, owner: str, wanted: Sequence[Mapping[str, str]], now: float) -> list[str]:
        """Give an add-on exactly these associations; returns their ARNs. Its namespace is that of the service account."""
        mine = [key for key, record in cluster.associations.items() if record.body.get("ownerArn") == owner]
        others = {key: record for key, record in cluster.associations.items() if key not in mine}
        made = []
        for item in wanted:
            self._check_role(item["roleArn"], cluster.caller)
            namespace = _namespace(owner, item["serviceAccount"])
            _check_free(others, cluster, namespace, item["serviceAccount"])
            made.append(_new(cluster, {**item, "namespace": namespace, "ownerArn": owner}, now))
        for key in mine:
            del cluster.associations[key]
        cluster.associations |= {str(record.body["associationId"]): record for record in made}
        return [record.arn for record in made]

    def _association(self, parameters: Parameters, caller: Caller) -> tuple[Cluster, Record]:
        cluster = self._find(parameters["clusterName"], caller)
        found = cluster.associations.get(parameters["associationId"])
        if found is None:
            raise AwsError(MISSING, f"No pod identity association found for ID: {parameters['associationId']}", 404)
        return cluster, found

    def _create(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        cluster = self._find(parameters["clusterName"], caller)
        cluster.require_active()
        _check_free(cluster.associations, cluster, parameters["namespace"], parameters["serviceAccount"])
        self._check_role(parameters["roleArn"], caller)
        _check_policy(parameters)
        record = _new(cluster, parameters, now)
        cluster.associations[str(record.body["associationId"])] = record
        return {"association": record.describe()}

    def _check_role(self, role: str, caller: Caller) -> None:
        iam = self._clients("iam", caller)
        if not trusts_service(role, kubernetes.PODS_PRINCIPAL, iam, kubernetes.PODS_ACTIONS):
            raise invalid(
                f"Trust policy of role {role} must allow {kubernetes.PODS_PRINCIPAL} {' and '.join(kubernetes.PODS_ACTIONS)},"
                " and the role must exist"
            )

    def _list(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        cluster = self._find(parameters["clusterName"], caller)
        wanted = {key: parameters[key] for key in ("namespace", "serviceAccount") if key in parameters}
        found = [
            {key: record.body[key] for key in SUMMARY if key in record.body}
            for record in cluster.associations.values()
            if wanted.items() <= record.body.items()
        ]
        chosen, token = page(found, page_parameters(parameters), 100, "InvalidParameterException")
        return {"associations": chosen, **following(token)}

    def _update(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        _, record = self._association(parameters, caller)
        if "ownerArn" in record.body:
            raise refusal(f"The association belongs to the add-on {record.body['ownerArn']}; update that")
        if "roleArn" in parameters:
            self._check_role(parameters["roleArn"], caller)
        after = {**record.body, **{key: parameters[key] for key in OPTIONS if key in parameters}}
        _check_policy(after)
        record.body = _with_external_id(after)
        record.modified = now
        return {"association": record.describe()}

    def _delete(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        cluster, record = self._association(parameters, caller)
        if "ownerArn" in record.body:
            raise refusal(f"The association belongs to the add-on {record.body['ownerArn']}; update that")
        del cluster.associations[record.body["associationId"]]
        return {"association": record.describe()}


def _check_free(associations: Mapping[str, Record], cluster: Cluster, namespace: str, account: str) -> None:
    if any((record.body["namespace"], record.body["serviceAccount"]) == (namespace, account) for record in associations.values()):
        raise AwsError(
            IN_USE,
            f"Association already exists: the service account {account} in namespace {namespace} of cluster {cluster.name} has one",
            409,
        )


def _check_policy(given: Parameters) -> None:
    if given.get("policy") and not given.get("disableSessionTags", False):
        raise invalid("policy needs disableSessionTags true: session tags and a session policy do not fit into one session")


def _new(cluster: Cluster, given: Parameters, now: float) -> Record:
    identifier = "a-" + "".join(secrets.choice(string.ascii_lowercase + string.digits) for _ in range(18))
    arn = f"{cluster.prefix('podidentityassociation')}/{identifier}"
    body = {
        "clusterName": cluster.name,
        "namespace": given["namespace"],
        "serviceAccount": given["serviceAccount"],
        "associationArn": arn,
        "associationId": identifier,
        "disableSessionTags": False,
        **{key: given[key] for key in (*OPTIONS, "ownerArn") if key in given},
    }
    return Record(arn, now, _with_external_id(body), dict(given.get("tags", {})))


def _with_external_id(body: dict[str, Any]) -> dict[str, Any]:
    return {"externalId": str(uuid.uuid4()), **body} if body.get("targetRoleArn") else body


def _namespace(owner: str, account: str) -> str:
    """The namespace of an add-on's service account; kube-system where the facts name none."""
    facts = catalog.facts_of(owner.split("/")[2])
    known = {identity.service_account: identity.namespace for identity in facts.identities} if facts is not None else {}
    return known.get(account, "kube-system")
