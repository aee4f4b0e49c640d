"""The operations of EKS on managed node groups: records, without instances of EC2. Each instance that would run is a node; see
`node_group_nodes`.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

from hyperpod_constructs.facts import eks
from hyperpod_constructs.local.aws_service import AwsError, Caller
from hyperpod_constructs.local.clients import Clients
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
from hyperpod_constructs.local.paging import page
from hyperpod_constructs.local.timed_service import Operation, Parameters
from hyperpod_constructs.local.trust import trusts_service

GIVEN = (
    "scalingConfig",
    "instanceTypes",
    "subnets",
    "remoteAccess",
    "amiType",
    "nodeRole",
    "labels",
    "taints",
    "diskSize",
    "updateConfig",
    "nodeRepairConfig",
    "launchTemplate",
    "capacityType",
    "releaseVersion",
)
DEFAULTS: Mapping[str, Any] = {
    "capacityType": "ON_DEMAND",
    "scalingConfig": {"minSize": 1, "maxSize": 2, "desiredSize": 2},
    "updateConfig": {"maxUnavailable": 1},
}
CHANGED = ("scalingConfig", "updateConfig", "nodeRepairConfig")


class NodeGroups:
    """The node groups of clusters."""

    def __init__(self, faults: Faults, clients: Clients, find: Find) -> None:
        self._faults = faults
        self._clients = clients
        self._find = find

    def operations(self) -> dict[str, Operation]:
        """The operations by name."""
        return {
            "CreateNodegroup": self._create,
            "DescribeNodegroup": lambda p, c, now: {"nodegroup": self._group(p, c)[1].describe()},
            "ListNodegroups": self._list,
            "UpdateNodegroupConfig": self._update_config,
            "UpdateNodegroupVersion": self._update_version,
            "DeleteNodegroup": self._delete,
        }

    def _group(self, parameters: Parameters, caller: Caller) -> tuple[Cluster, Child]:
        cluster = self._find(parameters["clusterName"], caller)
        return cluster, child_of(cluster.node_groups, parameters["nodegroupName"], "node group", cluster)

    def _create(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        cluster = self._find(parameters["clusterName"], caller)
        cluster.require_active()
        name = parameters["nodegroupName"]
        if name in cluster.node_groups:
            raise AwsError(IN_USE, f"NodeGroup already exists with name {name} and cluster name {cluster.name}", 409)
        if "warmPoolConfig" in parameters:
            raise invalid("warmPoolConfig: the embedded AWS does not serve it; try it on AWS")
        version = parameters.get("version", cluster.version)
        _check_version(version, cluster)
        _check_scaling(parameters.get("scalingConfig", {}))
        role = parameters["nodeRole"]
        if not trusts_service(role, eks.NODES_PRINCIPAL, self._clients("iam", caller)):
            raise invalid(f"Following required service principals [{eks.NODES_PRINCIPAL}] were not found in the trust of {role}")
        zones = self._zones(cluster, parameters["subnets"], caller)
        arn = f"{cluster.prefix('nodegroup')}/{name}/{uuid.uuid4()}"
        body = {
            "nodegroupName": name,
            "nodegroupArn": arn,
            "clusterName": cluster.name,
            "version": version,
            "health": {"issues": list[Any]()},
            "resources": {"autoScalingGroups": [{"name": f"eks-{name}-{uuid.uuid4()}"}]},
            **DEFAULTS,
            **{key: parameters[key] for key in GIVEN if key in parameters},
        }
        if "launchTemplate" not in parameters:
            body = {"instanceTypes": ["t3.medium"], "amiType": "AL2023_x86_64_STANDARD", "diskSize": 20, **body}
        group = Child(arn, now, now + self._faults.slow_creation, body, dict(parameters.get("tags", {})), zones=zones)
        cluster.node_groups[name] = group
        return {"nodegroup": group.describe()}

    def _zones(self, cluster: Cluster, subnets: list[str], caller: Caller) -> tuple[str, ...]:
        vpc = cluster.body["resourcesVpcConfig"]["vpcId"]
        found = self._clients("ec2", caller).describe_subnets(SubnetIds=list(subnets))["Subnets"]
        for subnet in found:
            if subnet["VpcId"] != vpc:
                raise invalid(f"Subnets are not in the VPC of the cluster, {vpc}: {subnet['SubnetId']} is in {subnet['VpcId']}")
        return tuple(str(subnet["AvailabilityZone"]) for subnet in found)

    def _list(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        cluster = self._find(parameters["clusterName"], caller)
        found, token = page(list(cluster.node_groups), page_parameters(parameters), 100, "InvalidParameterException")
        return {"nodegroups": found, **following(token)}

    def _update_config(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        cluster, group = self._group(parameters, caller)
        _require_idle(group)
        change: dict[str, Any] = {key: {**group.body.get(key, {}), **parameters[key]} for key in CHANGED if key in parameters}
        _check_scaling(change.get("scalingConfig", {}))
        labels, taints = parameters.get("labels", {}), parameters.get("taints", {})
        if labels:
            after = {**group.body.get("labels", {}), **labels.get("addOrUpdateLabels", {})}
            change["labels"] = {key: value for key, value in after.items() if key not in labels.get("removeLabels", ())}
        if taints:
            gone = [*taints.get("removeTaints", ()), *taints.get("addOrUpdateTaints", ())]
            names = {(taint.get("key"), taint.get("effect")) for taint in gone}
            kept = [taint for taint in group.body.get("taints", ()) if (taint.get("key"), taint.get("effect")) not in names]
            change["taints"] = [*kept, *taints.get("addOrUpdateTaints", ())]
        return self._begin(cluster, group, "ConfigUpdate", change, now)

    def _update_version(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        cluster, group = self._group(parameters, caller)
        _require_idle(group)
        change = {key: parameters[key] for key in ("version", "releaseVersion", "launchTemplate") if key in parameters}
        _check_version(change.get("version", cluster.version), cluster)
        return self._begin(cluster, group, "VersionUpdate", {"version": cluster.version, **change}, now)

    def _begin(self, cluster: Cluster, group: Child, kind: str, change: Mapping[str, Any], now: float) -> dict[str, Any]:
        group.status = "UPDATING"

        def hold() -> None:
            group.body |= change
            group.status, group.modified = "ACTIVE", now

        name = group.body["nodegroupName"]
        return cluster.begin(Update(kind, {}, now, now + self._faults.slow_creation, of=name, effect=hold))

    def _delete(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        _, group = self._group(parameters, caller)
        group.status, group.due = "DELETING", now + self._faults.slow_creation
        return {"nodegroup": group.describe()}


def _require_idle(group: Child) -> None:
    if group.status != "ACTIVE":
        raise AwsError(IN_USE, f"Nodegroup {group.body['nodegroupName']} is {group.status}; wait until that is over", 409)


def _check_version(version: str, cluster: Cluster) -> None:
    if version not in eks.VERSIONS or eks.VERSIONS.index(version) > eks.VERSIONS.index(cluster.version):
        raise invalid(f"Requested Nodegroup version {version} is invalid: it cannot exceed that of the cluster, {cluster.version}")


def _check_scaling(scaling: Mapping[str, int]) -> None:
    least, wanted, most = (scaling.get(key) for key in ("minSize", "desiredSize", "maxSize"))
    sizes = [size for size in (least, wanted, most) if size is not None]
    if sizes != sorted(sizes):
        raise invalid(f"scalingConfig: found minSize {least}, desiredSize {wanted}, maxSize {most}; each is at most the next")
    if sizes and sizes[-1] > eks.MOST_NODES_OF_GROUP:
        raise invalid(f"scalingConfig: found {sizes[-1]} nodes; the quota of a node group is {eks.MOST_NODES_OF_GROUP}")
