"""The instances of node groups that are nodes of their EKS clusters.

Decided here: a group has as many as it wants, from the time it is ACTIVE until its deletion begins, spread over its subnets. They
are of its first instance type, of an unknown one where a launch template names it. Another version brings other instances, all at
once. They have no address: no interface is made for them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from hyperpod_constructs.facts import eks
from hyperpod_constructs.local.eks.records import Child, Cluster
from hyperpod_constructs.local.kubernetes.nodes import FakeInstance
from hyperpod_constructs.local.kubernetes_nodes import Home, Homes

_UNKNOWN = "unknown"


def nodes_of(clusters: Iterable[Cluster]) -> Homes:
    """The nodes by cluster."""
    return {
        Home(cluster.arn, cluster.caller): [
            _instance(cluster, group, number)
            for group in cluster.node_groups.values()
            if group.status in ("ACTIVE", "UPDATING")
            for number in range(group.body["scalingConfig"]["desiredSize"])
        ]
        for cluster in clusters
        if cluster.node_groups
    }


def _instance(cluster: Cluster, group: Child, number: int) -> FakeInstance:
    body, region = group.body, cluster.caller.region
    seed = f"{group.arn} {body['version']} {body.get('releaseVersion', '')} {number}"
    identifier = f"i-{hashlib.sha256(seed.encode()).hexdigest()[:17]}"
    zone = group.zones[number % len(group.zones)]
    return FakeInstance(
        node=f"{identifier}.{region}.compute.internal",
        instance_id=identifier,
        instance_type=body.get("instanceTypes", (_UNKNOWN,))[0],
        address="",
        zone=zone,
        region=region,
        provider_id=f"aws:///{zone}/{identifier}",
        labels={
            **body.get("labels", {}),
            eks.NODE_GROUP_LABEL: body["nodegroupName"],
            eks.CAPACITY_LABEL: body["capacityType"],
        },
        taints=tuple(
            {**taint, "effect": eks.TAINT_EFFECTS[taint["effect"]]}
            for taint in body.get("taints", ())
            if "key" in taint and "effect" in taint
        ),
    )
