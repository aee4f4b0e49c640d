"""The cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

import jsii
from aws_cdk import (
    Annotations,
    Aspects,
    CfnOutput,
    Fn,
    IAspect,
    IStableAnyProducer,
    IStableStringProducer,
    Lazy,
    Stack,
)
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sagemaker as sagemaker
from constructs import Construct, IConstruct

from hyperpod_constructs import _node_addresses, _node_configuration
from hyperpod_constructs._arguments import checked
from hyperpod_constructs.execution_role import ExecutionRole, NodePermissions
from hyperpod_constructs.grants import ClusterGrants
from hyperpod_constructs.instance_group import InstanceGroup, LustreMount, SlurmNodeType
from hyperpod_constructs.lifecycle_scripts import LifecycleScripts
from hyperpod_constructs.network import NodeNetwork
from hyperpod_constructs.orchestrator import Orchestrator
from hyperpod_constructs.rules import mistakes
from hyperpod_constructs.rules.plugin import register_rules


class NodeRecovery(StrEnum):
    """What the service does with a node that its health monitoring finds faulty."""

    AUTOMATIC = "Automatic"
    """It is rebooted or replaced without an operator."""
    NONE = "None"
    """It is only labelled."""


class NodeProvisioningMode(StrEnum):
    """How capacity is asked for."""

    CONTINUOUS = "Continuous"
    """What is there is used; the rest is asked for until it comes."""


class ClusterReference(Protocol):
    """A cluster as grants and metrics need it."""

    @property
    def cluster_arn(self) -> str: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class ExistingCluster:
    """A cluster that this app did not make; see `HyperPodCluster.from_cluster_arn` and `from_cluster_attributes`."""

    cluster_arn: str
    cluster_name: str | None = None
    security_group: ec2.ISecurityGroup | None = None

    @property
    def cluster_id(self) -> str:
        """The last part of the ARN, which Session Manager's targets and the log group are named by."""
        return _cluster_id(self.cluster_arn)

    @property
    def grants(self) -> ClusterGrants:
        """Permissions on the cluster."""
        return ClusterGrants.from_cluster(self)

    @property
    def connections(self) -> ec2.Connections:
        """Rules from and to the nodes; empty unless the cluster was given with its security group."""
        return ec2.Connections(security_groups=[] if self.security_group is None else [self.security_group])


@jsii.implements(ec2.IConnectable, iam.IGrantable)
class HyperPodCluster(Construct):
    """A SageMaker HyperPod cluster (`AWS::SageMaker::Cluster`).

    The cluster awaits its network with all rules, its roles with all their policies, and the upload of its lifecycle scripts.
    CloudFormation calls it complete when the service says `InService`; with continuous provisioning that is before the nodes are
    there: see `ReadinessGate`.

    A change of `cluster_name` or `network` **replaces** the cluster, with every node. `node_provisioning_mode` cannot be changed
    for an existing cluster.

    Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-sagemaker-cluster.html
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        network: NodeNetwork | None = None,
        orchestrator: Orchestrator | None = None,
        instance_groups: Sequence[InstanceGroup] = (),
        cluster_name: str | None = None,
        execution_role: iam.IRole | ExecutionRole | None = None,
        lifecycle_scripts: LifecycleScripts | None = None,
        node_recovery: NodeRecovery = NodeRecovery.AUTOMATIC,
        node_provisioning_mode: NodeProvisioningMode | None = NodeProvisioningMode.CONTINUOUS,
    ) -> None:
        """
        :param network: subnet and security group of the nodes; the service's own VPC, without file systems, when not given.
            A change **replaces** the cluster.
        :param orchestrator: Slurm, configured through the API, when not given.
        :param instance_groups: the groups; more with `add_instance_group`.
        :param cluster_name: 1 to 63 letters, digits and hyphens; CloudFormation makes one when not given. A change **replaces** the
            cluster.
        :param execution_role: of the nodes; a new role with the least permissions when not given. A role that was imported receives
            the statements too, unless it was imported as immutable.
        :param lifecycle_scripts: what nodes run; the scripts of this library when not given.
        :param node_recovery: faulty nodes are rebooted or replaced by the service unless NONE.
        :param node_provisioning_mode: continuous unless None: then creation is all or nothing. **Cannot be changed later.**
        :raises ValueError: for two groups of one name, two controller groups, two login groups, file systems without a network, a
            list of instance types without continuous provisioning, or a configuration strategy with it.
        """
        super().__init__(scope, id)
        register_rules(self)
        self._network = network
        self._orchestrator = Orchestrator.slurm() if orchestrator is None else orchestrator
        self._mode = node_provisioning_mode
        self._check_strategy()
        self._groups: dict[str, InstanceGroup] = {}
        self._roles: list[iam.IRole] = []
        self._permissions: dict[int, NodePermissions] = {}
        self._name = cluster_name
        self._node_recovery = node_recovery.value
        self._scripts = LifecycleScripts.from_asset() if lifecycle_scripts is None else lifecycle_scripts
        self._bound = self._scripts.bind(self, self._configuration)
        self._resource = sagemaker.CfnCluster(
            self,
            "Resource",
            cluster_name=cluster_name,
            orchestrator=self._orchestrator.render(),
            instance_groups=Lazy.any(_Groups(self)),
            node_recovery=node_recovery.value,
            node_provisioning_mode=None if node_provisioning_mode is None else node_provisioning_mode.value,
            vpc_config=self._vpc_config(),
        )
        self._role = self._use_role(ExecutionRole(self, "ExecutionRole") if execution_role is None else execution_role)
        self._await_parts()
        Aspects.of(self._resource).add(_Check(self))
        for group in instance_groups:
            self.add_instance_group(group)
        self._create_outputs()

    @staticmethod
    def from_cluster_arn(cluster_arn: str) -> ExistingCluster:
        """A cluster that exists, for grants."""
        return ExistingCluster(cluster_arn=cluster_arn)

    @staticmethod
    def from_cluster_attributes(
        *, cluster_arn: str, cluster_name: str | None = None, security_group: ec2.ISecurityGroup | None = None
    ) -> ExistingCluster:
        """A cluster that exists, for grants, connections and names."""
        return ExistingCluster(cluster_arn=cluster_arn, cluster_name=cluster_name, security_group=security_group)

    @property
    def resource(self) -> sagemaker.CfnCluster:
        """The L1."""
        return self._resource

    @property
    def cluster_arn(self) -> str:
        """The ARN; the API takes it wherever it takes a cluster's name."""
        return self._resource.attr_cluster_arn

    @property
    def cluster_id(self) -> str:
        """The last part of the ARN, which Session Manager's targets and the log group are named by."""
        return _cluster_id(self.cluster_arn)

    @property
    def cluster_name(self) -> str | None:
        """The name, if one was given: CloudFormation does not return the name that it makes."""
        return self._name

    @property
    def instance_groups(self) -> tuple[InstanceGroup, ...]:
        """The groups, in the order in which they were added."""
        return tuple(self._groups.values())

    @property
    def execution_role(self) -> iam.IRole:
        """The role of nodes whose group names no other."""
        return self._role

    @property
    def grant_principal(self) -> iam.IPrincipal:
        """The cluster's own role: `bucket.grant_read_write(cluster)` lets its nodes use a bucket. Nodes of a group with another
        role need a grant to that role."""
        return self._role.grant_principal

    @property
    def grants(self) -> ClusterGrants:
        """Permissions on the cluster: connect, read, manage nodes."""
        return ClusterGrants.from_cluster(self)

    @property
    def connections(self) -> ec2.Connections:
        """Rules from and to the nodes; empty without a network."""
        groups = [] if self._network is None else [self._network.security_group]
        return ec2.Connections(security_groups=groups)

    def add_instance_group(self, group: InstanceGroup) -> None:
        """Add a group. Removing one later takes its nodes away.

        :raises ValueError: see the constructor.
        """
        path = self.node.path
        if group.name in self._groups:
            raise ValueError(f"{path}: {mistakes.repeated_name(group.name)}")
        if len(self._groups) == mistakes.MOST_GROUPS:
            raise ValueError(f"{path}: {mistakes.group_beyond_limit(group.name)}")
        for other in self._groups.values():
            if group.node_type is not SlurmNodeType.COMPUTE and other.node_type is group.node_type:
                raise ValueError(f"{path}: {mistakes.second_of_node_type(group.node_type.value, other.name, group.name)}")
        if group.file_systems and self._network is None:
            raise ValueError(f"{path}: {mistakes.mount_without_network(group.name, group.file_systems[0].mount_path)}")
        if len(group.instance_types) > 1 and self._mode is None:
            raise ValueError(f"{path}: {mistakes.types_without_continuous(group.name, len(group.instance_types))}")
        self._scripts.check(group.lifecycle_mode)
        keys = [volume.kms_key for volume in group.ebs_volumes if volume.kms_key is not None]
        if keys and self._mode is None:
            raise ValueError(f"{path}: {mistakes.key_without_continuous(group.name)}")
        permissions = self._permissions[id(self._role_of(group))]
        permissions.add_volume_keys(keys)
        software = self._scripts.software
        if group.node_type is SlurmNodeType.CONTROLLER and software is not None and software.accounting is not None:
            permissions.add_secret(software.accounting.secret)
        if any(isinstance(mount, LustreMount) for mount in group.file_systems):
            permissions.add_file_systems()
        self._groups[group.name] = group

    def _check_strategy(self) -> None:
        strategy = self._orchestrator.slurm_config_strategy
        if strategy is not None and self._mode is not None:
            raise ValueError(f"{self.node.path}: {mistakes.strategy_with_continuous(strategy.value)}")

    def _use_role(self, role: iam.IRole | ExecutionRole) -> iam.IRole:
        """Let nodes act as a role: give it what they need, and await it with its policies."""
        if isinstance(role, ExecutionRole):
            plain: iam.IRole = role.role
        else:
            plain = role
        if any(plain is known for known in self._roles):
            return plain
        self._roles.append(plain)
        permissions = NodePermissions(self, f"NodePolicy{plain.node.addr[-8:]}", plain)
        self._permissions[id(plain)] = permissions
        if not isinstance(role, ExecutionRole):
            permissions.add_base()
        if self._network is not None:
            permissions.add_network([self._network.node_subnet], [self._network.security_group])
        if self._bound is not None:
            permissions.add_scripts(self._bound.bucket, self._bound.root)
        self._resource.node.add_dependency(plain, permissions.awaited)
        return plain

    def _role_of(self, group: InstanceGroup) -> iam.IRole:
        return self._role if group.execution_role is None else self._use_role(group.execution_role)

    def _await_parts(self) -> None:
        network = self._network
        if isinstance(network, Construct):
            self._resource.node.add_dependency(network)
        elif network is not None:
            self._resource.node.add_dependency(network.node_subnet, network.security_group)
        if self._bound is not None and self._bound.awaited is not None:
            self._resource.node.add_dependency(self._bound.awaited)

    def _vpc_config(self) -> sagemaker.CfnCluster.VpcConfigProperty | None:
        if self._network is None:
            return None
        return sagemaker.CfnCluster.VpcConfigProperty(
            subnets=[self._network.node_subnet.subnet_id],
            security_group_ids=[self._network.security_group.security_group_id],
        )

    def render_groups(self) -> list[sagemaker.CfnCluster.ClusterInstanceGroupProperty]:
        """The L1 structs of all groups."""
        return [
            group.render(
                role_arn=self._role_of(group).role_arn,
                scripts=self._scripts.render(self._bound, group.lifecycle_mode),
            )
            for group in self._groups.values()
        ]

    def _configuration(self) -> Mapping[str, Any]:
        return _node_configuration.render(self.instance_groups, self._scripts.software, self._node_recovery)

    def mistakes(self) -> list[str]:
        """What is wrong with the groups as a whole; asked at synthesis."""
        return [
            *_node_configuration.mistakes(self.instance_groups, self._scripts.software),
            *_node_addresses.mistakes(self.instance_groups, self._network),
        ]

    def _create_outputs(self) -> None:
        CfnOutput(self, "ClusterArn", value=self.cluster_arn, description="ARN of the HyperPod cluster")
        CfnOutput(
            self,
            "LogGroup",
            value=f"/aws/sagemaker/Clusters/{'*' if self._name is None else self._name}/{self.cluster_id}",
            description="log group of lifecycle scripts and health monitoring",
        )
        CfnOutput(
            self,
            "ConnectCommand",
            value=Lazy.string(_ConnectCommand(self)),
            description="opens a shell on the controller, which it finds when it is run",
        )


@jsii.implements(IStableAnyProducer)
class _Groups:
    def __init__(self, cluster: HyperPodCluster) -> None:
        self._cluster = cluster

    def produce(self) -> Any:
        return self._cluster.render_groups()


@jsii.implements(IStableStringProducer)
class _ConnectCommand:
    def __init__(self, cluster: HyperPodCluster) -> None:
        self._cluster = cluster

    def produce(self) -> str:
        arn, region = self._cluster.cluster_arn, Stack.of(self._cluster).region
        group = next((group.name for group in self._cluster.instance_groups if group.node_type is SlurmNodeType.CONTROLLER), "")
        query = f"ClusterNodeSummaries[?InstanceGroupName=='{group}']|[0].InstanceId"
        node = f'aws sagemaker list-cluster-nodes --region {region} --cluster-name {arn} --output text --query "{query}"'
        target = f"sagemaker-cluster:{self._cluster.cluster_id}_{group}-$({node})"
        return f'aws ssm start-session --region {region} --target "{target}"'


@jsii.implements(IAspect)
class _Check:
    """Reports what is wrong with the whole as errors of the synthesis: an exception here would reach the user as one of jsii."""

    def __init__(self, cluster: HyperPodCluster) -> None:
        self._cluster = cluster

    def visit(self, node: IConstruct) -> None:
        for mistake in self._cluster.mistakes():
            Annotations.of(self._cluster).add_error(mistake)


def _cluster_id(cluster_arn: str) -> str:
    return Fn.select(1, Fn.split("/", cluster_arn))
