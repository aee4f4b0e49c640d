"""A control plane from outside this app."""

from __future__ import annotations

from collections.abc import Sequence

import jsii
from aws_cdk import CfnResource
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from hyperpod_constructs._support.arguments import checked
from hyperpod_constructs._support.values import AddonName, KubernetesClusterName
from hyperpod_constructs.eks import kubectl
from hyperpod_constructs.eks.access_entries import AccessEntries
from hyperpod_constructs.eks.base import KubernetesControlPlane
from hyperpod_constructs.facts.kubernetes import CLUSTER_ADMIN, KubernetesVersion


@jsii.implements(ec2.IConnectable)
class ExistingControlPlane(KubernetesControlPlane):
    """An EKS cluster from outside this app, in the network of the nodes, with a Lambda function that applies manifests and charts.

    The cluster must authenticate by its API (`API` or `API_AND_CONFIG_MAP`), and its security group must let the nodes in.

    Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-prerequisites.html
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster_name: KubernetesClusterName,
        version: KubernetesVersion | None = None,
        addons: Sequence[AddonName] | None = None,
        kubectl_role: iam.IRole | None = None,
        vpc: ec2.IVpc | None = None,
        subnets: Sequence[ec2.ISubnet] = (),
        security_group: ec2.ISecurityGroup | None = None,
        kubectl_layer: lambda_.ILayerVersion | None = None,
    ) -> None:
        """
        :param cluster_name: the name of the cluster, in the stack's account and region.
        :param version: of Kubernetes, for the check of add-ons; not checked when not given.
        :param addons: those that the cluster has already, such as `["vpc-cni", "kube-proxy"]`, by EKS or by a chart. `EksCluster`
            makes the others, `Addon` refuses them, and an add-on whose prerequisite is missing is an error. When not given, they
            are not known: `EksCluster` makes all that it needs, and no prerequisite is missed.
        :param kubectl_role: a role with administrator access, which the Lambda function takes: Lambda must be able to assume it. A
            new role with an access entry when not given.
        :param vpc: the VPC of the function, where the endpoint is private; outside of every VPC when not given.
        :param subnets: private subnets of the function. Give `vpc`, `subnets` and `security_group` together, or none.
        :param security_group: the cluster security group of EKS, which reaches the endpoint. The function is a member of it.
        :param kubectl_layer: kubectl and Helm for the function; that of the extra `eks` when not given.
        :raises ValueError: for a part of the network without the others.
        :raises ModuleNotFoundError: without a layer and without the extra `eks`.
        """
        super().__init__(scope, id, version=version, has_nodes=None, addons=addons)
        _check_network(self.node.path, vpc, subnets, security_group)
        self._cluster_name, self._vpc, self._group = cluster_name, vpc, security_group
        bare = self._import("Bare", None)
        self._provider = eks.KubectlProvider(
            self,
            "KubectlProvider",
            cluster=bare,
            kubectl_layer=kubectl.layer(self, kubectl_layer),
            role=kubectl_role,
            private_subnets=list(subnets) or None,
            security_groups=None if security_group is None else [security_group],
        )
        self._cluster = self._import("Cluster", self._provider)
        if kubectl_role is None:
            self._admit_function()

    @property
    def cluster(self) -> eks.ICluster:
        """The cluster, for manifests and charts: `cluster.add_manifest(...)`."""
        return self._cluster

    @property
    def cluster_name(self) -> str:
        """The name, for `aws eks update-kubeconfig`."""
        return self._cluster_name

    @property
    def kubectl_provider(self) -> eks.IKubectlProvider:
        """The Lambda function with kubectl and Helm; its role administers the cluster."""
        return self._provider

    @property
    def connections(self) -> ec2.Connections:
        """The cluster's security group; none if it was not given."""
        return ec2.Connections(security_groups=[] if self._group is None else [self._group])

    def _import(self, id: str, provider: eks.IKubectlProvider | None) -> eks.ICluster:
        return eks.Cluster.from_cluster_attributes(
            self,
            id,
            cluster_name=self._cluster_name,
            vpc=self._vpc,
            cluster_security_group_id=None if self._group is None else self._group.security_group_id,
            kubectl_provider=provider,
        )

    def _admit_function(self) -> None:
        """Make the function an administrator before it applies anything: each manifest needs the function, and this its entry."""
        role = self._provider.role
        assert role is not None
        entry = AccessEntries.of(self, self._cluster_name).entry(self, "KubectlAccess", principal=role).admit(CLUSTER_ADMIN)
        function = self._provider.node.find_child("Handler").node.default_child
        assert isinstance(function, CfnResource)
        function.add_resource_dependency(entry)


def _check_network(path: str, vpc: object, subnets: Sequence[object], security_group: object) -> None:
    given = {"vpc": vpc is not None, "subnets": bool(subnets), "security_group": security_group is not None}
    if len(set(given.values())) > 1:
        there, missing = ([name for name, is_given in given.items() if is_given is wanted] for wanted in (True, False))
        raise ValueError(
            f"{path}: {' and '.join(there)} without {' and '.join(missing)}; give all three for a private endpoint, or none of them"
        )
