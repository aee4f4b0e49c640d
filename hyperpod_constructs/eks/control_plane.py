"""The control plane of a cluster that Kubernetes orchestrates."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Annotated

import jsii
from aws_cdk import Annotations, RemovalPolicy
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk.interfaces.aws_kms import IKeyRef
from constructs import Construct

from hyperpod_constructs._support.arguments import checked
from hyperpod_constructs._support.tokens import is_unknown
from hyperpod_constructs._support.tree import path_of
from hyperpod_constructs._support.values import KubernetesClusterName
from hyperpod_constructs.eks import kubectl
from hyperpod_constructs.eks.base import KubernetesControlPlane
from hyperpod_constructs.encryption import admit_log_groups, encrypt_logs
from hyperpod_constructs.facts import kubernetes as facts
from hyperpod_constructs.facts.ec2_types import accelerators_of
from hyperpod_constructs.facts.kubernetes import KubernetesVersion
from hyperpod_constructs.facts.limits import Limit
from hyperpod_constructs.facts.orchestration import TAG_OF_PUBLIC_SUBNETS
from hyperpod_constructs.network import ClusterNetwork, NodeNetwork, node_place, zone_of

_OF_FUNCTIONS = "/aws/lambda/*"
"""The log groups of the CDK's kubectl function; CloudFormation shortens the stack's name in a function's."""
_UNTAGGED = "@aws-cdk/aws-eks:clusterMustManuallyTagSubnet"


@jsii.implements(ec2.IConnectable)
class EksControlPlane(KubernetesControlPlane):
    """An EKS cluster without nodes of its own: HyperPod brings them.

    It authenticates by its API and by the older ConfigMap, writes all five kinds of logs, and encrypts secrets with a key. Who made
    it gets no access by that: access is given by `access`. A Lambda function with kubectl and Helm applies manifests and charts. It
    is in the VPC, unless the endpoint is public only.

    The control plane's network interfaces are members of the nodes' security group, whose self rules let both reach each other.

    A change of `network`, `cluster_name` or `secrets_encryption_key` **replaces** the cluster, and with it every object in it.

    Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-prerequisites.html
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        network: NodeNetwork,
        subnets: Sequence[ec2.ISubnet],
        version: KubernetesVersion = facts.NEWEST,
        cluster_name: KubernetesClusterName | None = None,
        endpoint_access: eks.EndpointAccess | None = None,
        secrets_encryption_key: IKeyRef | None = None,
        encryption_key: kms.IKey | None = None,
        default_capacity: Annotated[int, Limit(least=0, most=100)] = 0,
        default_capacity_instance: ec2.InstanceType | None = None,
        bootstrap_cluster_creator_admin_permissions: bool = False,
        kubectl_layer: lambda_.ILayerVersion | None = None,
        removal_policy: RemovalPolicy = RemovalPolicy.DESTROY,
    ) -> None:
        """
        :param network: the network of the nodes.
        :param subnets: the control plane's, private, in two zones or more: see `ClusterNetwork.add_control_plane_subnet`.
        :param version: of Kubernetes; the newest that HyperPod supports unless given. It goes up by one minor version at a time.
        :param cluster_name: a name of CloudFormation's choice when not given. A change **replaces** the cluster.
        :param endpoint_access: the ways to the Kubernetes API. By default both from the VPC and, for those with access, from the
            internet: `EndpointAccess.PUBLIC_AND_PRIVATE.only_from("203.0.113.0/24")` narrows the latter, and
            `EndpointAccess.PRIVATE` closes it.
        :param secrets_encryption_key: encrypts the secrets of Kubernetes; a new key, which rotates, when not given. A change
            **replaces** the cluster.
        :param encryption_key: encrypts the secrets, unless `secrets_encryption_key` does, and the logs of functions with kubectl;
            see `cluster_key`. None unless given.
        :param default_capacity: EC2 nodes of EKS in the nodes' subnet, for the pods of the system; none unless given. Add-ons that
            need a node then need not wait for HyperPod's.
        :param default_capacity_instance: the type of these nodes; `m5.large` unless given.
        :param bootstrap_cluster_creator_admin_permissions: whether the role that deploys is an administrator; no unless given. A
            change **replaces** the cluster.
        :param kubectl_layer: kubectl and Helm for the Lambda function; that of the extra `eks` when not given.
        :param removal_policy: of the cluster. By default it is deleted with the stack. A key made here always outlives it.
        :raises ValueError: for subnets in fewer than two zones, or a type of nodes without their number.
        :raises ModuleNotFoundError: without a layer and without the extra `eks`.
        """
        super().__init__(scope, id, version=version, has_nodes=default_capacity != 0)
        path = path_of(self)
        _check_subnets(path, network, subnets)
        _check_capacity(path, default_capacity, default_capacity_instance)
        self._network = network
        self._cluster = eks.Cluster(
            self,
            "Cluster",
            vpc=network.vpc,
            vpc_subnets=[ec2.SubnetSelection(subnets=subnets)],
            security_group=network.security_group,
            version=eks.KubernetesVersion.of(version.value),
            cluster_name=cluster_name,
            cluster_logging=list(eks.ClusterLoggingTypes),
            endpoint_access=eks.EndpointAccess.PUBLIC_AND_PRIVATE if endpoint_access is None else endpoint_access,
            secrets_encryption_key=secrets_encryption_key or encryption_key or self._key(),
            default_capacity=0,
            default_capacity_type=eks.DefaultCapacityType.NODEGROUP,
            kubectl_provider_options=eks.KubectlProviderOptions(kubectl_layer=kubectl.layer(self, kubectl_layer)),
        )
        if encryption_key is not None:
            encrypt_logs(self._cluster, encryption_key)
            admit_log_groups(self, encryption_key, _OF_FUNCTIONS)
        self._complete_resource(bootstrap_cluster_creator_admin_permissions, removal_policy)
        self._prepare_network()
        if default_capacity != 0:
            self._add_nodes(default_capacity, default_capacity_instance)

    @property
    def cluster(self) -> eks.Cluster:  # type: ignore[override]  # the CDK's own class does not fit its interface for mypy
        """The L2, for manifests and charts: `cluster.add_manifest(...)`."""
        return self._cluster

    @property
    def resource(self) -> eks.CfnCluster:
        """The L1."""
        return self._resource

    @cached_property
    def cluster_name(self) -> str:
        """The name, for `aws eks update-kubeconfig`."""
        return self._cluster.cluster_name

    @cached_property
    def kubectl_provider(self) -> eks.IKubectlProvider:
        """The Lambda function with kubectl and Helm; its role administers the cluster."""
        provider = self._cluster.kubectl_provider
        assert provider is not None
        return provider

    @property
    def connections(self) -> ec2.Connections:
        """The security groups of the control plane; port 443 is the API's."""
        return self._cluster.connections

    def _key(self) -> kms.Key:
        return kms.Key(
            self,
            "SecretsKey",
            description=f"Secrets of Kubernetes: {path_of(self)}",
            enable_key_rotation=True,
            removal_policy=RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
        )

    def _complete_resource(self, bootstraps: bool, removal_policy: RemovalPolicy) -> None:
        """Set what the L2 fixes or spreads: its mode is API alone, and its removal policy also reaches roles and functions."""
        resource = self._cluster.node.default_child
        assert isinstance(resource, eks.CfnCluster)
        self._resource = self.node.default_child = resource
        resource.access_config = eks.CfnCluster.AccessConfigProperty(
            authentication_mode=facts.API_AND_CONFIG_MAP, bootstrap_cluster_creator_admin_permissions=bootstraps
        )
        resource.apply_removal_policy(removal_policy)

    def _prepare_network(self) -> None:
        """Let Kubernetes make load balancers, and keep every route of the VPC as long as the function needs it."""
        network = self._network
        if not isinstance(network, ClusterNetwork):
            return
        Annotations.of(self._cluster).acknowledge_warning(_UNTAGGED, "the network tags its subnets")
        network.admit_load_balancers()
        network.serve_kubernetes()
        if network.internet:
            network.public_subnet_resource.tags.set_tag(*TAG_OF_PUBLIC_SUBNETS)
        self._resource.node.add_dependency(network)

    def _add_nodes(self, count: int, instance_type: ec2.InstanceType | None) -> None:
        kind = ec2.InstanceType("m5.large") if instance_type is None else instance_type
        nodes = self._cluster.add_nodegroup_capacity(
            "System",
            ami_type=_image_of(kind),
            instance_types=[kind],
            min_size=count,
            max_size=count,
            desired_size=count,
            subnets=ec2.SubnetSelection(subnets=[self._network.node_subnet]),
        )
        self.prerequisites.nodes.append(nodes)
        self._join_groups()

    def _join_groups(self) -> None:
        """Let EKS's own nodes and HyperPod's reach each other: DNS, webhooks, operators."""
        ours, theirs = node_place(self._network).security_group_id, self._cluster.cluster_security_group_id
        ec2.CfnSecurityGroupIngress(
            self, "FromNodes", group_id=theirs, source_security_group_id=ours, ip_protocol="-1", description="from HyperPod nodes"
        )
        ec2.CfnSecurityGroupIngress(
            self,
            "ToNodes",
            group_id=ours,
            source_security_group_id=theirs,
            ip_protocol="-1",
            description="from nodes of the system",
        )
        ec2.CfnSecurityGroupEgress(
            self,
            "FromNodesOut",
            group_id=ours,
            destination_security_group_id=theirs,
            ip_protocol="-1",
            description="to nodes of the system",
        )


def _image_of(kind: ec2.InstanceType) -> eks.NodegroupAmiType | None:
    """Amazon Linux 2023 for a type, `None` for an unknown one: the CDK takes Amazon Linux 2, which ends with Kubernetes 1.32."""
    name = kind.to_string()
    if is_unknown(name):
        return None
    arm = kind.architecture is ec2.InstanceArchitecture.ARM_64
    return eks.NodegroupAmiType[f"AL2023_{'ARM' if arm else 'X86'}_64_{accelerators_of(name) or 'STANDARD'}"]


def _check_subnets(path: str, network: NodeNetwork, subnets: Sequence[ec2.ISubnet]) -> None:
    """Refuse subnets that lie in one zone. Zones that are known only at the deployment are left to EKS."""
    zones = [_zone(network, subnet) for subnet in subnets]
    if len(subnets) >= facts.FEWEST_ZONES and (None in zones or len(set(zones)) >= facts.FEWEST_ZONES):
        return
    count = f"{len(subnets)} {'subnet' if len(subnets) == 1 else 'subnets'}"
    known = sorted({zone for zone in zones if zone is not None})
    raise ValueError(f"{path}: {facts.too_few_zones('subnets', f'{count} in {known[0]}' if known else count)}")


def _zone(network: NodeNetwork, subnet: ec2.ISubnet) -> str | None:
    """The zone of a subnet; `None` if it is known only at the deployment."""
    zone = zone_of(network, subnet)
    return None if is_unknown(zone) else zone


def _check_capacity(path: str, count: int, instance_type: ec2.InstanceType | None) -> None:
    if instance_type is not None and count == 0:
        raise ValueError(
            f"{path}: default_capacity_instance is given with default_capacity=0; "
            "write default_capacity=2, or leave the instance type out"
        )
