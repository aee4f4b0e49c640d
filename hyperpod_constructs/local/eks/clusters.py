"""The operations of EKS on clusters. A cluster is ACTIVE when its control plane answers, and FAILED when that did not start.

An update of the version is a record: the control plane goes on as it was started, with all that it holds.
"""

from __future__ import annotations

import base64
import hashlib
import json
import logging
import secrets
from collections.abc import Callable, Mapping
from typing import Any

from hyperpod_constructs.facts import eks
from hyperpod_constructs.local.aws_service import AwsError, Caller
from hyperpod_constructs.local.clients import Clients, partition
from hyperpod_constructs.local.eks.access_entries import AccessEntries
from hyperpod_constructs.local.eks.cluster_checks import (
    Network,
    check_auto_mode,
    check_create,
    check_deletable,
    check_encryption,
    check_logging,
    check_mode,
    check_network,
    check_next_version,
)
from hyperpod_constructs.local.eks.control_planes import Access, ControlPlanes
from hyperpod_constructs.local.eks.logs import open_logs
from hyperpod_constructs.local.eks.network import close_network, open_interfaces, open_security_group
from hyperpod_constructs.local.eks.records import (
    IN_USE,
    MISSING,
    Cluster,
    Update,
    following,
    invalid,
    moment,
    page_parameters,
    refusal,
)
from hyperpod_constructs.local.faults import Faults
from hyperpod_constructs.local.hyperpod.background import Tasks
from hyperpod_constructs.local.kubernetes.interface import RunningControlPlane
from hyperpod_constructs.local.paging import page
from hyperpod_constructs.local.timed_service import Operation, Parameters

log = logging.getLogger(__name__)

KEPT = ("roleArn", "upgradePolicy", "computeConfig", "storageConfig", "controlPlaneScalingConfig", "encryptionConfig")
COMPONENTS = ("kubeApiServerConfig", "kubeSchedulerConfig", "kubeControllerManagerConfig")
"""Members of a request that a description repeats."""
UPDATES = {
    "logging": ("LoggingUpdate", "ClusterLogging"),
    "accessConfig": ("AccessConfigUpdate", "AuthenticationMode"),
    "upgradePolicy": ("UpgradePolicyUpdate", "UpgradePolicy"),
    "deletionProtection": ("DeletionProtectionUpdate", "DeletionProtection"),
    "controlPlaneScalingConfig": ("ControlPlaneScalingConfigUpdate", "UpdatedTier"),
    **{name: ("ControlPlaneComponentConfigUpdate", name[:1].upper() + name[1:]) for name in COMPONENTS},
}
"""The members of UpdateClusterConfig that are served, beside the network and Auto Mode, with the type of their update."""


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

    def operations(self) -> dict[str, Operation]:
        """The operations by name."""
        return {
            "CreateCluster": self._create,
            "DescribeCluster": lambda p, caller, now: {"cluster": describe(self.find(p["name"], caller))},
            "ListClusters": self._list,
            "DeleteCluster": self._delete,
            "UpdateClusterConfig": self._update_config,
            "UpdateClusterVersion": self._update_version,
            "AssociateEncryptionConfig": self._associate_encryption,
            "DescribeClusterVersions": self._versions,
            "DescribeUpdate": self._describe_update,
            "ListUpdates": self._list_updates,
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

    def _update_version(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        cluster = self.find(parameters["name"], caller)
        _require_idle(cluster)
        wanted = parameters["version"]
        kind = check_next_version(cluster, wanted, now)

        def hold() -> None:
            cluster.raised = (cluster.version, now)
            cluster.body["version"] = wanted

        cluster.status = "UPDATING"
        params = {"Version": wanted, "PlatformVersion": "eks.1"}
        return cluster.begin(Update(kind, params, now, self._due(now), effect=hold))

    def _update_config(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        cluster = self.find(parameters["name"], caller)
        _require_idle(cluster)
        wanted = {key: value for key, value in parameters.items() if key not in ("name", "clientRequestToken")}
        if wanted and wanted.keys() <= set(eks.AUTO_MODE):
            return cluster.begin(self._auto_mode_update(cluster, wanted, now))
        if len(wanted) != 1:
            raise invalid(f"Only one type of update can be allowed, or none was given; found {', '.join(wanted) or 'none'}")
        member, value = next(iter(wanted.items()))
        if member == "resourcesVpcConfig":
            return cluster.begin(self._network_update(cluster, value, now))
        if member not in UPDATES:
            raise invalid(f"{member}: the embedded AWS does not change it; try it on AWS")
        kind, param = UPDATES[member]
        change = self._config_change(cluster, member, value)
        cluster.status = "UPDATING"
        return cluster.begin(Update(kind, {param: _text(value)}, now, self._due(now), effect=change))

    def _config_change(self, cluster: Cluster, member: str, value: Any) -> Callable[[], None]:
        if member == "logging":
            check_logging(value)
            after = _logging(value, cluster.body["logging"])
            if after == cluster.body["logging"]:
                raise invalid(f"No changes needed for the logging config provided: {_text(value)}")

            def log_all() -> None:
                cluster.body["logging"] = after
                open_logs(self._clients, cluster)

            return log_all
        if member == "accessConfig":
            mode = value.get("authenticationMode", cluster.mode)
            check_mode(cluster.mode, mode)
            if mode == cluster.mode:
                raise invalid(f"The cluster's authentication mode is {mode} already")
            return lambda: cluster.body["accessConfig"].update(authenticationMode=mode)
        if member == "deletionProtection":

            def protect() -> None:
                cluster.protected = bool(value)

            return protect
        return lambda: cluster.body.update({member: value})

    def _auto_mode_update(self, cluster: Cluster, wanted: Mapping[str, Any], now: float) -> Update:
        fixed = sorted(wanted.get("kubernetesNetworkConfig", {}).keys() - {"elasticLoadBalancing"})
        if fixed:
            raise invalid(f"kubernetesNetworkConfig: {', '.join(fixed)} stays as the cluster was created")
        after = {member: {**cluster.body.get(member, {}), **value} for member, value in wanted.items()}
        check_auto_mode({**cluster.body, **after})
        if after.items() <= cluster.body.items():
            raise invalid("Cluster is already at the desired configuration")
        cluster.status = "UPDATING"
        params = {member[:1].upper() + member[1:]: _text(value) for member, value in wanted.items()}
        return Update("AutoModeUpdate", params, now, self._due(now), effect=lambda: cluster.body.update(after))

    def _network_update(self, cluster: Cluster, value: Mapping[str, Any], now: float) -> Update:
        before = cluster.body["resourcesVpcConfig"]
        after = {**before, **value}
        network = check_network(after, self._clients, cluster.caller)
        if network.vpc != before["vpcId"]:
            raise invalid(f"Subnets specified must be in the VPC of the cluster, {before['vpcId']}; found {network.vpc}")
        if set(network.zones.values()) != set(_zones(self._clients("ec2", cluster.caller), before["subnetIds"])):
            raise invalid("Provided subnets must belong to the same AZs that were provided during cluster creation")
        if after == before:
            raise invalid("Cluster is already at the desired configuration")
        kind = "VpcConfigUpdate" if {"subnetIds", "securityGroupIds"} & value.keys() else "EndpointAccessUpdate"
        names = {
            "subnetIds": "Subnets",
            "securityGroupIds": "SecurityGroups",
            "endpointPublicAccess": "EndpointPublicAccess",
            "endpointPrivateAccess": "EndpointPrivateAccess",
            "publicAccessCidrs": "PublicAccessCidrs",
        }
        params = {names[key]: _text(item) for key, item in value.items() if key in names}
        cluster.status = "UPDATING"
        return Update(kind, params, now, self._due(now), effect=lambda: cluster.body.update(resourcesVpcConfig=after))

    def _associate_encryption(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        cluster = self.find(parameters["clusterName"], caller)
        _require_idle(cluster)
        if cluster.body.get("encryptionConfig"):
            raise invalid(f"Cluster {cluster.name} has encryption config already; it stays")
        config = parameters["encryptionConfig"]
        check_encryption(config, self._clients, caller)
        cluster.status = "UPDATING"
        effect = lambda: cluster.body.update(encryptionConfig=config)  # noqa: E731
        params = {"EncryptionConfig": _text(config)}
        return cluster.begin(Update("AssociateEncryptionConfig", params, now, self._due(now), effect=effect))

    def _versions(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        wanted = parameters.get("clusterVersions") or eks.VERSIONS
        only_default = parameters.get("defaultOnly", False)
        found = [
            {"clusterVersion": version, "clusterType": "eks", "defaultVersion": version == eks.DEFAULT_VERSION}
            for version in eks.VERSIONS
            if version in wanted and (version == eks.DEFAULT_VERSION or not only_default)
        ]
        return {"clusterVersions": found}

    def _describe_update(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        cluster = self.find(parameters["name"], caller)
        found = cluster.updates.get(parameters["updateId"])
        if found is None or found.of != _owner(parameters):
            raise AwsError(MISSING, f"No update found for ID: {parameters['updateId']}", 404)
        return {"update": found.describe()}

    def _list_updates(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        cluster = self.find(parameters["name"], caller)
        ids = [update.identifier for update in cluster.updates.values() if update.of == _owner(parameters)]
        chosen, token = page(ids, page_parameters(parameters), 100, "InvalidParameterException")
        return {"updateIds": chosen, **following(token)}


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
        "logging": _logging(request.get("logging", {}), {"clusterLogging": []}),
        "accessConfig": {"authenticationMode": access.get("authenticationMode", eks.DEFAULT_MODE)},
        "upgradePolicy": {"supportType": "EXTENDED"},
        **{key: request[key] for key in (*KEPT, *COMPONENTS) if key in request},
    }


def _logging(wanted: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """Every type of log, on or off: what a request leaves out stays as it was."""
    on = {kind for setup in before["clusterLogging"] if setup["enabled"] for kind in setup["types"]}
    for setup in wanted.get("clusterLogging", ()):
        change = set(setup.get("types", ()))
        on = on | change if setup.get("enabled", False) else on - change
    parts = {True: [kind for kind in eks.LOG_TYPES if kind in on], False: [kind for kind in eks.LOG_TYPES if kind not in on]}
    return {"clusterLogging": [{"types": types, "enabled": enabled} for enabled, types in parts.items() if types]}


def _require_idle(cluster: Cluster) -> None:
    if cluster.status != "ACTIVE":
        code = IN_USE if cluster.status == "UPDATING" else None
        message = f"Cannot update cluster {cluster.name} because it is {cluster.status}"
        raise AwsError(code, message, 409) if code else refusal(message)


def _owner(parameters: Parameters) -> str:
    return str(parameters.get("nodegroupName") or parameters.get("addonName") or "")


def _zones(ec2: Any, subnets: list[str]) -> list[str]:
    return [subnet["AvailabilityZone"] for subnet in ec2.describe_subnets(SubnetIds=subnets)["Subnets"]]


def _place(cluster: Cluster) -> str:
    """A name for the state of a control plane: accounts and regions have clusters of the same name."""
    whole = hashlib.sha256(cluster.arn.encode()).hexdigest()[:8]
    return f"{cluster.name[:40]}-{whole}"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _key(name: str, caller: Caller) -> tuple[str, str, str]:
    return caller.account, caller.region, name
