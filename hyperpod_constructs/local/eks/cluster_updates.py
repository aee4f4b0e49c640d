"""The updates of clusters of EKS: one kind at a time, each of which goes on for a while.

An update of the version is a record: the control plane goes on as it was started, with all that it holds.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from hyperpod_constructs.facts import eks
from hyperpod_constructs.local.aws_service import AwsError, Caller
from hyperpod_constructs.local.clients import Clients
from hyperpod_constructs.local.eks.cluster_checks import (
    check_auto_mode,
    check_encryption,
    check_logging,
    check_mode,
    check_network,
    check_next_version,
)
from hyperpod_constructs.local.eks.logs import open_logs
from hyperpod_constructs.local.eks.records import (
    IN_USE,
    MISSING,
    Cluster,
    Update,
    following,
    invalid,
    page_parameters,
    refusal,
)
from hyperpod_constructs.local.paging import page
from hyperpod_constructs.local.timed_service import Operation, Parameters

COMPONENTS = ("kubeApiServerConfig", "kubeSchedulerConfig", "kubeControllerManagerConfig")
"""Members about the programs of the control plane."""
UPDATES = {
    "logging": ("LoggingUpdate", "ClusterLogging"),
    "accessConfig": ("AccessConfigUpdate", "AuthenticationMode"),
    "upgradePolicy": ("UpgradePolicyUpdate", "UpgradePolicy"),
    "deletionProtection": ("DeletionProtectionUpdate", "DeletionProtection"),
    "controlPlaneScalingConfig": ("ControlPlaneScalingConfigUpdate", "UpdatedTier"),
    **{name: ("ControlPlaneComponentConfigUpdate", name[:1].upper() + name[1:]) for name in COMPONENTS},
}
"""The members of UpdateClusterConfig that are served, beside the network and Auto Mode, with the type of their update."""


class ClusterUpdates:
    """Begins updates, and tells of them. `due` says when one ends that begins at a time; `find` finds a caller's cluster."""

    def __init__(self, clients: Clients, due: Callable[[float], float], find: Callable[[str, Caller], Cluster]) -> None:
        self._clients = clients
        self._due = due
        self._find = find

    def operations(self) -> dict[str, Operation]:
        """The operations by name."""
        return {
            "UpdateClusterConfig": self._update_config,
            "UpdateClusterVersion": self._update_version,
            "AssociateEncryptionConfig": self._associate_encryption,
            "DescribeUpdate": self._describe_update,
            "ListUpdates": self._list_updates,
        }

    def _update_version(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        cluster = self._find(parameters["name"], caller)
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
        cluster = self._find(parameters["name"], caller)
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
            after = logs_after(value, cluster.body["logging"])
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
        cluster = self._find(parameters["clusterName"], caller)
        _require_idle(cluster)
        if cluster.body.get("encryptionConfig"):
            raise invalid(f"Cluster {cluster.name} has encryption config already; it stays")
        config = parameters["encryptionConfig"]
        check_encryption(config, self._clients, caller)
        cluster.status = "UPDATING"
        effect = lambda: cluster.body.update(encryptionConfig=config)  # noqa: E731
        params = {"EncryptionConfig": _text(config)}
        return cluster.begin(Update("AssociateEncryptionConfig", params, now, self._due(now), effect=effect))

    def _describe_update(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        cluster = self._find(parameters["name"], caller)
        found = cluster.updates.get(parameters["updateId"])
        if found is None or found.of != _owner(parameters):
            raise AwsError(MISSING, f"No update found for ID: {parameters['updateId']}", 404)
        return {"update": found.describe()}

    def _list_updates(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        cluster = self._find(parameters["name"], caller)
        ids = [update.identifier for update in cluster.updates.values() if update.of == _owner(parameters)]
        chosen, token = page(ids, page_parameters(parameters), 100, "InvalidParameterException")
        return {"updateIds": chosen, **following(token)}


def logs_after(wanted: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
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


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
