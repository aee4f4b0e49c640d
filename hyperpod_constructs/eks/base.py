"""What a control plane of this app and one from outside have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property

from aws_cdk import aws_eks_v2 as eks
from constructs import Construct, IDependable

from hyperpod_constructs._support.arguments import checked
from hyperpod_constructs._support.tree import placed
from hyperpod_constructs._support.values import AddonName
from hyperpod_constructs.eks.access import ClusterAccess
from hyperpod_constructs.eks.prerequisites import Prerequisites
from hyperpod_constructs.facts.kubernetes import KubernetesVersion
from hyperpod_constructs.rules.plugin import register_rules


class KubernetesControlPlane(Construct):
    """An EKS cluster that HyperPod's nodes join: an `EksControlPlane`, or an `ExistingControlPlane`."""

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        version: KubernetesVersion | None,
        has_nodes: bool | None,
        addons: Sequence[AddonName] | None = (),
    ) -> None:
        """
        :param version: of Kubernetes; `None` if it is not known.
        :param has_nodes: whether other nodes run pods before HyperPod's nodes come; `None` if it is not known.
        :param addons: those that are there already; `None` if they are not known. None of them unless given.
        """
        super().__init__(scope, id)
        register_rules(self, scope)
        placed(self, scope, id)
        self._version, self._has_nodes = version, has_nodes
        self._awaited: list[IDependable] = []
        self._prerequisites = Prerequisites(complete=addons is not None, there=addons or ())

    @property
    @abstractmethod
    def cluster(self) -> eks.ICluster:
        """The cluster, for manifests and charts: `cluster.add_manifest(...)`."""

    @property
    @abstractmethod
    def cluster_name(self) -> str:
        """The name, for `aws eks update-kubeconfig`."""

    @property
    @abstractmethod
    def kubectl_provider(self) -> eks.IKubectlProvider:
        """The Lambda function with kubectl and Helm; its role administers the cluster."""

    @cached_property
    def cluster_arn(self) -> str:
        """The ARN, for the HyperPod cluster's orchestrator."""
        return self.cluster.cluster_arn

    @property
    def version(self) -> KubernetesVersion | None:
        """The version of Kubernetes; `None` if it is not known."""
        return self._version

    @property
    def has_nodes(self) -> bool | None:
        """Whether other nodes run pods before HyperPod's nodes come; `None` if it is not known."""
        return self._has_nodes

    @cached_property
    def access(self) -> ClusterAccess:
        """Access of people and nodes."""
        return ClusterAccess(self, self.cluster_name)

    @property
    def prerequisites(self) -> Prerequisites:
        """The add-ons of this control plane, and their order."""
        return self._prerequisites

    @property
    def awaited(self) -> Sequence[IDependable]:
        """The HyperPod cluster waits for these."""
        return tuple(self._awaited)

    @checked
    def add_awaited(self, dependable: IDependable) -> None:
        """Let the HyperPod cluster wait for a resource or construct, such as a chart that its nodes need.

        :param dependable: it must not need nodes itself.
        """
        self._awaited.append(dependable)

    @checked
    def add_provided(self, addon: AddonName, dependable: IDependable) -> None:
        """Tell that something else brings what an add-on would, such as a chart with cert-manager in it.

        :param addon: the name of the add-on that is not needed.
        :param dependable: add-ons that need it come after this.
        """
        self._prerequisites.provide(addon, dependable)
