"""The operations of EKS on clusters; `cluster_updates` has their updates. A cluster is ACTIVE when its control plane answers, and
FAILED when that did not start.
"""

from __future__ import annotations

import base64
import hashlib
import logging
import secrets
from collections.abc import Callable
from typing import Any

from hyperpod_constructs.facts import eks
from hyperpod_constructs.local.aws_service import AwsError, Caller
from hyperpod_constructs.local.clients import Clients, partition
from hyperpod_constructs.local.eks.access_entries import AccessEntries
from hyperpod_constructs.local.eks.cluster_checks import Network, check_create, check_deletable
from hyperpod_constructs.local.eks.cluster_updates import COMPONENTS, ClusterUpdates, logs_after
from hyperpod_constructs.local.eks.control_planes import Access, ControlPlanes
from hyperpod_constructs.local.eks.logs import open_logs
from hyperpod_constructs.local.eks.network import close_network, open_interfaces, open_security_group
from hyperpod_constructs.local.eks.records import (
    IN_USE,
    MISSING,
    Cluster,
    following,
    moment,
    page_parameters,
)
from hyperpod_constructs.local.faults import Faults
from hyperpod_constructs.local.hyperpod.background import Tasks
from hyperpod_constructs.local.kubernetes.interface import RunningControlPlane
from hyperpod_constructs.local.paging import page
from hyperpod_constructs.local.timed_service import Operation, Parameters

log = logging.getLogger(__name__)

KEPT = ("roleArn", "upgradePolicy", "computeConfig", "storageConfig", "controlPlaneScalingConfig", "encryptionConfig")
"""Members of a request that a description repeats."""


class Clusters:
    """The clusters of all callers."""

    def __init__(
        self, faults: Faults, clients: Clients, tasks: Tasks, control_planes: ControlPlanes, access: Access, entries: AccessEntries
    ) -> None:
        self._faults = faults
        self._clients = clients
        self._tasks = tasks
        self._control_planes = control_planes
        self._access = access
        self._entries = entries
        self._clusters: dict[tuple[str, str, str], Cluster] = {}
        self._updates = ClusterUpdates(clients, self._due, self.find)

    def operations(self) -> dict[str, Operation]:
        """The operations by name."""
        return {
            "CreateCluster": self._create,
            "DescribeCluster": lambda p, caller, now: {"cluster": describe(self.find(p["name"], caller))},
            "ListClusters": self._list,
            "DeleteCluster": self._delete,
            "DescribeClusterVersions": self._versions,
            **self._updates.operations(),
        }

    def find(self, name: str, caller: Caller) -> Cluster:
        """The caller's cluster of this name.

        :raises AwsError: if there is none.
        """
        found = self._clusters.get(_key(name, caller))
        if found is None:
            raise AwsError(MISSING, f"No cluster found for name: {name}.", 404)
        return found

    def mine(self, caller: Caller) -> list[Cluster]:
        """The caller's clusters."""
        return [
            cluster for cluster in list(self._clusters.values()) if _key(cluster.name, cluster.caller) == _key(cluster.name, caller)
        ]

    def all(self) -> list[Cluster]:
        """Those of every caller."""
        return list(self._clusters.values())

    def advance(self, now: float) -> None:
        """Let time pass."""
        for key, cluster in list(self._clusters.items()):
            cluster.advance(now)
            if cluster.status == "DELETING" and now >= cluster.due and cluster.task is not None and cluster.task.done:
                close_network(self._clients("ec2", cluster.caller), cluster)
                del self._clusters[key]

    def forget(self) -> None:
        """End every control plane, and forget every cluster."""
        self._tasks.wait()
        for cluster in self._clusters.values():
            self._end(cluster)
        self._clusters.clear()

    def _due(self, now: float) -> float:
        return now + self._faults.slow_creation

    def _create(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        name = parameters["name"]
        if _key(name, caller) in self._clusters:
            raise AwsError(IN_USE, f"Cluster already exists with name: {name}", 409)
        network = check_create(parameters, self._clients, caller)
        oidc = secrets.token_hex(16).upper()
        cluster = Cluster(
            caller,
            name,
            f"arn:{partition(caller.region)}:eks:{caller.region}:{caller.account}:cluster/{name}",
            now,
            self._due(now),
            _body(parameters, network),
            dict(parameters.get("tags", {})),
            oidc,
            self._access.open(caller, name),
            protected=bool(parameters.get("deletionProtection", False)),
        )
        ec2 = self._clients("ec2", caller)
        group = open_security_group(ec2, cluster, network.vpc)
        cluster.body["resourcesVpcConfig"]["clusterSecurityGroupId"] = group
        cluster.interfaces = open_interfaces(ec2, cluster, network)
        self._clusters[_key(name, caller)] = cluster
        if parameters.get("accessConfig", {}).get("bootstrapClusterCreatorAdminPermissions", True):
            self._entries.bootstrap(cluster, caller.principal, now)
        cluster.task = self._tasks.begin(self._starting(cluster))
        return {"cluster": describe(cluster)}

    def _starting(self, cluster: Cluster) -> Callable[[], None]:
        """The work that starts the control plane and lets it answer."""

        def start() -> None:
            try:
                control = self._control_planes.start(_place(cluster), cluster.version, cluster.webhook)
                control.api.list("v1", "Namespace")
            except Exception as error:  # whatever it is, the cluster has failed by it
                log.exception("the control plane of %s did not start", cluster.name)
                cluster.failure = str(error) or type(error).__name__
                return
            cluster.control = control
            open_logs(self._clients, cluster)
            self._access.attach(cluster.caller, cluster.name, control.api)

        return start

    def _end(self, cluster: Cluster) -> None:
        self._access.close(cluster.caller, cluster.name)
        control, cluster.control = cluster.control, None
        if control is not None:
            control.stop()
        self._control_planes.forget(_place(cluster))

    def _list(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        names, token = page([c.name for c in self.mine(caller)], page_parameters(parameters), 100, "InvalidParameterException")
        return {"clusters": names, **following(token)}

    def _delete(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        cluster = self.find(parameters["name"], caller)
        check_deletable(cluster)
        cluster.status, cluster.due = "DELETING", self._due(now)
        answer = describe(cluster)
        cluster.task = self._tasks.begin(lambda: self._end(cluster))
        return {"cluster": answer}

    def _versions(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        wanted = parameters.get("clusterVersions") or eks.VERSIONS
        only_default = parameters.get("defaultOnly", False)
        found = [
            {"clusterVersion": version, "clusterType": "eks", "defaultVersion": version == eks.DEFAULT_VERSION}
            for version in eks.VERSIONS
            if version in wanted and (version == eks.DEFAULT_VERSION or not only_default)
        ]
        return {"clusterVersions": found}


def describe(cluster: Cluster) -> dict[str, Any]:
    """The cluster as the API answers it: without endpoint and certificate before its control plane answers."""
    control: RunningControlPlane | None = cluster.control if cluster.status != "CREATING" else None
    region = cluster.caller.region
    answers: dict[str, Any] = {}
    if control is not None:
        answers["endpoint"] = control.endpoint
        answers["certificateAuthority"] = {"data": base64.b64encode(control.certificate_authority).decode()}
        answers["identity"] = {"oidc": {"issuer": f"https://oidc.eks.{region}.amazonaws.com/id/{cluster.oidc}"}}
    issues = [{"code": "InternalFailure", "message": cluster.failure, "resourceIds": [cluster.name]}] if cluster.failure else []
    return {
        "name": cluster.name,
        "arn": cluster.arn,
        "createdAt": moment(cluster.created),
        **cluster.body,
        **answers,
        "status": cluster.status,
        "platformVersion": "eks.1",
        "health": {"issues": issues},
        "deletionProtection": cluster.protected,
        **({"tags": cluster.tags} if cluster.tags else {}),
    }


def _body(request: Parameters, network: Network) -> dict[str, Any]:
    given = request["resourcesVpcConfig"]
    services = request.get("kubernetesNetworkConfig", {})
    access = request.get("accessConfig", {})
    return {
        "version": request.get("version", eks.DEFAULT_VERSION),
        "resourcesVpcConfig": {
            "subnetIds": list(given["subnetIds"]),
            "securityGroupIds": list(given.get("securityGroupIds", ())),
            "vpcId": network.vpc,
            "endpointPublicAccess": given.get("endpointPublicAccess", True),
            "endpointPrivateAccess": given.get("endpointPrivateAccess", False),
            "publicAccessCidrs": list(given.get("publicAccessCidrs", ("0.0.0.0/0",))),
        },
        "kubernetesNetworkConfig": {
            "serviceIpv4Cidr": services.get("serviceIpv4Cidr", "10.100.0.0/16"),
            "ipFamily": "ipv4",
            "elasticLoadBalancing": services.get("elasticLoadBalancing", {"enabled": False}),
        },
        "logging": logs_after(request.get("logging", {}), {"clusterLogging": []}),
        "accessConfig": {"authenticationMode": access.get("authenticationMode", eks.DEFAULT_MODE)},
        "upgradePolicy": {"supportType": "EXTENDED"},
        **{key: request[key] for key in (*KEPT, *COMPONENTS) if key in request},
    }


def _place(cluster: Cluster) -> str:
    """A name for the state of a control plane: accounts and regions have clusters of the same name."""
    whole = hashlib.sha256(cluster.arn.encode()).hexdigest()[:8]
    return f"{cluster.name[:40]}-{whole}"


def _key(name: str, caller: Caller) -> tuple[str, str, str]:
    return caller.account, caller.region, name
