"""The embedded Amazon EKS: clusters with control planes on this machine, and what belongs to clusters.

State moves when it is looked at, by the time that has passed. Whom a token belongs to and what access policies allow are told by
ministack; see `ministack_eks`. Not served: Fargate, capabilities, identity providers, insights, certificate authorities, EKS
Anywhere, Outposts and IPv6. The wording of errors is partly ours.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

from hyperpod_constructs.local.aws_service import AwsError, Caller
from hyperpod_constructs.local.clients import Clients
from hyperpod_constructs.local.eks.access_entries import AccessEntries
from hyperpod_constructs.local.eks.addons import Addons
from hyperpod_constructs.local.eks.clusters import Clusters
from hyperpod_constructs.local.eks.control_planes import Access, ControlPlanes
from hyperpod_constructs.local.eks.node_group_nodes import nodes_of
from hyperpod_constructs.local.eks.node_groups import NodeGroups
from hyperpod_constructs.local.eks.pod_identities import PodIdentities
from hyperpod_constructs.local.eks.records import Cluster
from hyperpod_constructs.local.faults import Faults
from hyperpod_constructs.local.hyperpod.background import AtOnce, Tasks
from hyperpod_constructs.local.kubernetes.interface import ObjectsApi
from hyperpod_constructs.local.kubernetes_nodes import Homes
from hyperpod_constructs.local.timed_service import Operation, Parameters, TimedService


class Eks(TimedService):
    """Amazon EKS. `clock` gives seconds since the epoch; the real time unless a test gives another."""

    name = "eks"

    def __init__(
        self,
        faults: Faults,
        clients: Clients,
        control_planes: ControlPlanes,
        access: Access,
        clock: Callable[[], float] = time.time,
        tasks: Tasks | None = None,
    ) -> None:
        entries = AccessEntries(clients, access, self._find)
        self._clusters = Clusters(faults, clients, AtOnce() if tasks is None else tasks, control_planes, access, entries)
        identities = PodIdentities(clients, self._find)
        operations: dict[str, Operation] = {
            **self._clusters.operations(),
            **NodeGroups(faults, clients, self._find).operations(),
            **Addons(faults, identities, self._find).operations(),
            **entries.operations(),
            **identities.operations(),
            "TagResource": self._tag,
            "UntagResource": self._untag,
            "ListTagsForResource": lambda p, caller, now: {"tags": self._tagged(p, caller)},
        }
        super().__init__(faults, clock, operations)

    def _find(self, name: str, caller: Caller) -> Cluster:
        return self._clusters.find(name, caller)

    def _advance(self, now: float) -> None:
        self._clusters.advance(now)

    def reset(self) -> None:
        """End every control plane, and forget everything."""
        with self._lock:
            self._clusters.forget()

    def api(self, arn: str, caller: Caller) -> ObjectsApi | None:
        """The API of the cluster with this ARN, as its administrator; None while it has no control plane."""
        with self._lock:
            found = next((cluster for cluster in self._clusters.mine(caller) if cluster.arn == arn), None)
            return None if found is None or found.control is None else found.control.api

    def nodes(self) -> Homes:
        """Let time pass; answers the instances of node groups that are nodes after that."""
        with self._lock:
            self._advance(self._clock())
            return nodes_of(self._clusters.all())

    def arn(self, operation: str, members: Parameters, caller: Caller) -> str | None:
        """The resource that IAM evaluates a request against, where it exists; None for an operation on none.

        It never waits: who asks is the loop that operations of this service, which hold the lock, wait for when they call others.
        """
        if (given := members.get("resourceArn")) is not None:
            return str(given)
        name = members.get("clusterName", members.get("name"))
        if name is None:
            return None
        cluster = next((item for item in self._clusters.mine(caller) if item.name == name), None)
        return None if cluster is None else _arn_in(cluster, operation, members)

    def _tagged(self, parameters: Parameters, caller: Caller) -> dict[str, str]:
        arn = parameters["resourceArn"]
        if not arn.startswith("arn:"):
            raise AwsError("BadRequestException", f"Invalid resourceArn: {arn}")
        for cluster in self._clusters.mine(caller):
            for found, tags in _tags_of(cluster):
                if found == arn:
                    return tags
        raise AwsError("NotFoundException", f"No resource found for ARN: {arn}.", 404)

    def _tag(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        self._tagged(parameters, caller).update(parameters["tags"])
        return {}

    def _untag(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        tags = self._tagged(parameters, caller)
        for key in parameters["tagKeys"]:
            tags.pop(key, None)
        return {}


def _tags_of(cluster: Cluster) -> Iterator[tuple[str, dict[str, str]]]:
    yield cluster.arn, cluster.tags
    for child in (*cluster.node_groups.values(), *cluster.addons.values()):
        yield child.arn, child.tags
    for entry in cluster.entries.values():
        yield entry.body["accessEntryArn"], entry.tags
    for association in cluster.associations.values():
        yield association.arn, association.tags


_ON_THE_CLUSTER = ("Create", "List")
"""Beginnings of the operations that IAM evaluates against the cluster, whatever they name."""


def _arn_in(cluster: Cluster, operation: str, members: Parameters) -> str:
    if operation.startswith(_ON_THE_CLUSTER):
        return cluster.arn
    places: tuple[tuple[str, Any], ...] = (
        ("nodegroupName", cluster.node_groups),
        ("addonName", cluster.addons),
        ("principalArn", cluster.entries),
        ("associationId", cluster.associations),
    )
    for member, things in places:
        found = things.get(members.get(member))
        if found is not None:
            return str(found.arn)
    return cluster.arn
