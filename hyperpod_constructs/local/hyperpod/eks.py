"""HyperPod on EKS: what it refuses about the Kubernetes cluster, and the access entries that it makes there for its nodes.

Decided here: the dependencies count as installed when the namespace is there that the service's chart makes. Autoscaling brings the
kinds of Karpenter alone, which stay when it is disabled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from botocore.exceptions import ClientError

from hyperpod_constructs.facts import chart, kubernetes
from hyperpod_constructs.local.aws_service import Caller
from hyperpod_constructs.local.clients import Clients, ignoring
from hyperpod_constructs.local.hyperpod.background import Tasks
from hyperpod_constructs.local.hyperpod.rules import refusal
from hyperpod_constructs.local.hyperpod.state import AutoScaling, Cluster, Spec
from hyperpod_constructs.local.kubernetes_kinds import bring_kinds_of_karpenter

_LONGEST_CAUSE = 500


class Objects(Protocol):
    """The objects of a Kubernetes cluster."""

    def list(
        self, api_version: str, kind: str, namespace: str | None = None, label_selector: str | None = None
    ) -> list[dict[str, Any]]:
        """The objects of a kind."""

    def apply(self, manifest: Mapping[str, Any]) -> dict[str, Any]:
        """Create an object, or change it to this."""


Kubernetes = Callable[[str, Caller], Objects | None]
"""The objects of the EKS cluster with an ARN; None while it has no control plane."""


class EksOrchestrator:
    """The Kubernetes clusters that clusters of HyperPod run on. Without `kubernetes` the dependencies are not looked up."""

    def __init__(self, clients: Clients, kubernetes: Kubernetes | None, tasks: Tasks) -> None:
        self._clients = clients
        self._kubernetes = kubernetes
        self._tasks = tasks

    def check(self, settings: Mapping[str, Any], subnets: Mapping[str, Mapping[str, Any]], caller: Caller) -> None:
        """Refuse a Kubernetes cluster that HyperPod does not take; a cluster of Slurm has none.

        :raises AwsError: with the cause of the refusal.
        """
        arn = _arn(settings)
        if arn is None:
            return
        found = self._described(arn, caller)
        if found["status"] != "ACTIVE":
            raise refusal(f"the EKS cluster {arn} is {found['status']}; wait until it is ACTIVE")
        if found["version"] not in list(kubernetes.KubernetesVersion):
            allowed = ", ".join(kubernetes.KubernetesVersion)
            raise refusal(f"the EKS cluster {arn} has Kubernetes {found['version']}; HyperPod supports {allowed}")
        mode = found["accessConfig"]["authenticationMode"]
        if mode not in kubernetes.AUTHENTICATION_MODES:
            raise refusal(
                f"the EKS cluster {arn} has the authentication mode {mode}; HyperPod needs"
                f" {' or '.join(kubernetes.AUTHENTICATION_MODES)}"
            )
        vpc = found["resourcesVpcConfig"]["vpcId"]
        for name, subnet in subnets.items():
            if subnet["VpcId"] != vpc:
                raise refusal(f"VpcConfig must be in the VPC of the EKS cluster, {vpc}; found {name} in {subnet['VpcId']}")
        self._check_dependencies(arn, caller)

    def _described(self, arn: str, caller: Caller) -> Mapping[str, Any]:
        try:
            found: Mapping[str, Any] = self._clients("eks", caller).describe_cluster(name=arn.rpartition("/")[2])["cluster"]
        except ClientError as error:
            raise refusal(f"the EKS cluster {arn}: {error.response['Error']['Message']}") from error
        if found["arn"] != arn:
            raise refusal(f"the EKS cluster {arn} does not exist; found {found['arn']}")
        return found

    def _check_dependencies(self, arn: str, caller: Caller) -> None:
        objects = self._objects(arn, caller)
        if objects is None:
            return
        names = {item["metadata"]["name"] for item in objects.list("v1", "Namespace")}
        if chart.CREATED_NAMESPACE not in names:
            raise refusal(
                f"EKS cluster {arn} is missing one or more required dependencies: it has no namespace {chart.CREATED_NAMESPACE};"
                " install HyperPod's Helm chart before the cluster is created"
            )

    def _objects(self, arn: str, caller: Caller) -> Objects | None:
        return None if self._kubernetes is None else self._kubernetes(arn, caller)

    def install_karpenter(self, cluster: Cluster) -> None:
        """Bring the kinds of Karpenter, if autoscaling is enabled. It is a task; the cluster notes how it goes."""
        arn, scaling = _arn(cluster.settings), AutoScaling()
        cluster.auto_scaling = scaling
        if arn is None or cluster.settings.get("AutoScaling", {}).get("Mode") != "Enable":
            return
        scaling.status = "Creating"

        def install() -> None:
            try:
                if (objects := self._objects(arn, cluster.caller)) is not None:
                    bring_kinds_of_karpenter(objects)
            except Exception as error:  # whatever it is, DescribeCluster tells it
                cause = str(error)[:_LONGEST_CAUSE] or type(error).__name__
                scaling.status, scaling.failure = "Failed", f"The kinds of Karpenter were not installed in {arn}: {cause}"
            else:
                scaling.status = "InService"

        self._tasks.begin(install)

    def let_in(self, cluster: Cluster, specs: Iterable[Spec] | None = None) -> None:
        """Make access entries for the roles of the nodes. One that is there already, of whatever origin, is left as it is.

        The cluster notes roles with one of another type: their nodes never join.
        """
        arn = _arn(cluster.settings)
        if arn is None:
            return
        eks, name = self._clients("eks", cluster.caller), arn.rpartition("/")[2]
        wanted = [group.spec for group in cluster.groups.values()] if specs is None else specs
        for role in _roles(wanted):
            if role in cluster.entries:
                continue
            cluster.outsiders.pop(role, None)
            try:
                kind = _entry_of(eks, name, role)
            except ClientError as error:
                raise refusal(f"the role {role} cannot join the EKS cluster {arn}: {error.response['Error']['Message']}") from error
            if kind is None:
                cluster.entries.append(role)
            elif kind != kubernetes.NODE_ENTRY:
                cluster.outsiders[role] = kind

    def let_out(self, cluster: Cluster) -> None:
        """Delete the access entries that were made for the cluster; a Kubernetes cluster that is gone has taken them along."""
        arn = _arn(cluster.settings)
        for role in cluster.entries if arn is not None else ():
            with ignoring("ResourceNotFoundException", "InvalidRequestException"):
                self._clients("eks", cluster.caller).delete_access_entry(clusterName=str(arn).rpartition("/")[2], principalArn=role)
        cluster.entries.clear()


def _entry_of(eks: Any, cluster: str, role: str) -> str | None:
    """The type of the access entry that a role has already; None if it got one now."""
    try:
        eks.create_access_entry(clusterName=cluster, principalArn=role, type=kubernetes.NODE_ENTRY)
    except ClientError as error:
        if error.response["Error"]["Code"] != "ResourceInUseException":
            raise
        return str(eks.describe_access_entry(clusterName=cluster, principalArn=role)["accessEntry"]["type"])
    return None


def _arn(settings: Mapping[str, Any]) -> str | None:
    found = settings.get("Orchestrator", {}).get("Eks", {}).get("ClusterArn")
    return None if found is None else str(found)


def _roles(specs: Iterable[Spec]) -> Sequence[str]:
    return list(dict.fromkeys(str(spec["ExecutionRole"]) for spec in specs))
