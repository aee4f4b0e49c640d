"""The cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from typing import Any

import jsii
from aws_cdk import CfnOutput, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sagemaker as sagemaker
from constructs import Construct, IDependable

from hyperpod_constructs._support.arguments import checked
from hyperpod_constructs._support.cluster_arn import cluster_id
from hyperpod_constructs._support.deferred import check_at_synthesis, deferred_text, deferred_value
from hyperpod_constructs._support.values import ClusterArn, ClusterName
from hyperpod_constructs.cluster import addresses, configuration
from hyperpod_constructs.cluster.existing import ExistingCluster
from hyperpod_constructs.cluster.grants import ClusterGrants
from hyperpod_constructs.cluster.instance_group import InstanceGroup, LustreMount
from hyperpod_constructs.cluster.orchestrator import Orchestrator
from hyperpod_constructs.execution_role import ExecutionRole, NodePermissions
from hyperpod_constructs.facts import clusters as cluster_facts
from hyperpod_constructs.facts.mistake import Mistake
from hyperpod_constructs.facts.node_permissions import LOG_GROUPS
from hyperpod_constructs.network import NodeNetwork, node_place
from hyperpod_constructs.node_software.lifecycle_scripts import LifecycleScripts
from hyperpod_constructs.node_software.node_type import SlurmNodeType
from hyperpod_constructs.rules.plugin import register_rules


class NodeRecovery(StrEnum):
    """The service's reaction to a node that its health monitoring finds faulty."""

    AUTOMATIC = "Automatic"
    """The service reboots or replaces the node without an operator."""
    NONE = "None"
    """The service only labels the node."""


class NodeProvisioningMode(StrEnum):
    """The way in which the service provisions capacity."""

    CONTINUOUS = "Continuous"
    """The service uses the available capacity, and asks for the rest until it comes."""


@jsii.implements(ec2.IConnectable, iam.IGrantable)
class HyperPodCluster(Construct):
    """A SageMaker HyperPod cluster (`AWS::SageMaker::Cluster`).

    The cluster awaits its network with all rules, its roles with all their policies, and the upload of its lifecycle scripts.
    CloudFormation calls it complete when the service says `InService`. With continuous provisioning the nodes start later: see
    `ReadinessGate`.

    A change of `cluster_name` or `network` **replaces** the cluster, with every node. Choose `node_provisioning_mode` once: older
    documentation says that an existing cluster cannot be moved to continuous provisioning, and newer pages leave this out.

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
        cluster_name: ClusterName | None = None,
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
        :param execution_role: the nodes' role; a new role with the least permissions when not given. An imported role receives the
            statements too, unless it is immutable.
        :param lifecycle_scripts: the nodes' scripts; the scripts of this library when not given.
        :param node_recovery: automatic unless given: the service reboots or replaces faulty nodes.
        :param node_provisioning_mode: continuous unless given; with `None` creation is all or nothing. Whether an existing
            cluster can receive the mode is not known; nothing takes it away.
        :raises ValueError: for two groups of one name, two controller groups, two login groups, file systems without a network, a
            list of instance types without continuous provisioning, or a configuration strategy with it.
        """
        super().__init__(scope, id)
        register_rules(self, scope)
        self._network = network
        self._place = None if network is None else node_place(network)
        self._orchestrator = Orchestrator.slurm() if orchestrator is None else orchestrator
        self._mode = node_provisioning_mode
        self._check_strategy()
        self._groups: dict[str, InstanceGroup] = {}
        self._roles: list[iam.IRole] = []
        self._grantees: list[iam.IPrincipal] = []
        self._role_arns: dict[int, str] = {}
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
            instance_groups=deferred_value(self._render_groups),
            node_recovery=node_recovery.value,
            node_provisioning_mode=None if node_provisioning_mode is None else node_provisioning_mode.value,
            vpc_config=self._vpc_config(),
        )
        self._node = self._resource.node
        own_role = ExecutionRole(self, "ExecutionRole", cluster_name=cluster_name) if execution_role is None else execution_role
        self._role = self._use_role(own_role)
        self._await_parts()
        check_at_synthesis(self, self._mistakes, resource=self._resource)
        for group in instance_groups:
            self.add_instance_group(group)
        self._create_outputs()

    @staticmethod
    @checked
    def from_cluster_arn(cluster_arn: ClusterArn) -> ExistingCluster:
        """An existing cluster, for grants.

        :param cluster_arn: the ARN; it ends in the cluster's id, not in its name.
        :raises ValueError: for a text of another form.
        """
        return ExistingCluster(cluster_arn=cluster_arn)

    @staticmethod
    @checked
    def from_cluster_attributes(
        *, cluster_arn: ClusterArn, cluster_name: ClusterName | None = None, security_group: ec2.ISecurityGroup | None = None
    ) -> ExistingCluster:
        """An existing cluster, for grants, connections and names.

        :param cluster_arn: the ARN; it ends in the cluster's id, not in its name.
        :param cluster_name: the name; unknown when not given.
        :param security_group: the nodes' group; no connections when not given.
        :raises ValueError: for an ARN or a name of another form.
        """
        return ExistingCluster(cluster_arn=cluster_arn, cluster_name=cluster_name, security_group=security_group)

    @property
    def resource(self) -> sagemaker.CfnCluster:
        """The L1."""
        return self._resource

    @cached_property
    def cluster_arn(self) -> str:
        """The ARN; the API accepts it in place of a cluster's name."""
        return self._resource.attr_cluster_arn

    @cached_property
    def cluster_id(self) -> str:
        """The last part of the ARN; Session Manager's targets and the log group contain it."""
        return cluster_id(self.cluster_arn)

    @property
    def cluster_name(self) -> str | None:
        """The given name; `None` without one, because CloudFormation does not return a generated name."""
        return self._name

    @property
    def instance_groups(self) -> tuple[InstanceGroup, ...]:
        """The groups, in the order of their addition."""
        return tuple(self._groups.values())

    @property
    def execution_role(self) -> iam.IRole:
        """The role of every group without a role of its own."""
        return self._role

    @property
    def grant_principal(self) -> iam.IPrincipal:
        """The cluster's own role: `bucket.grant_read_write(cluster)` lets its nodes use a bucket.

        A group with another role needs a grant to that role.
        """
        return self._role

    @property
    def grants(self) -> ClusterGrants:
        """Permissions on the cluster: connect, read, manage nodes."""
        return ClusterGrants(self.cluster_arn, admit=self._admit)

    @property
    def connections(self) -> ec2.Connections:
        """Rules from and to the nodes; empty without a network."""
        groups = [] if self._network is None else [self._network.security_group]
        return ec2.Connections(security_groups=groups)

    @checked
    def add_instance_group(self, group: InstanceGroup) -> None:
        """Add a group. Its later removal deletes its nodes.

        :raises ValueError: see the constructor.
        """
        mistake = self._mistake_of(group)
        if mistake is not None:
            raise ValueError(f"{self.node.path}: {mistake}")
        self._scripts.check(group.lifecycle_mode)
        self._permit(self._permissions[id(self._role_of(group))], group)
        self._groups[group.name] = group

    def _mistake_of(self, group: InstanceGroup) -> Mistake | str | None:
        """A mistake of a new group beside the cluster's existing ones; `None` without one."""
        if group.name in self._groups:
            return cluster_facts.repeated_name(group.name)
        if len(self._groups) == cluster_facts.MOST_GROUPS:
            return cluster_facts.group_beyond_limit(group.name)
        for other in self._groups.values():
            if group.node_type is not SlurmNodeType.COMPUTE and other.node_type is group.node_type:
                return cluster_facts.second_of_node_type(group.node_type.value, other.name, group.name)
        if group.file_systems and self._network is None:
            return cluster_facts.mount_without_network(group.name, group.file_systems[0].mount_path)
        if len(group.instance_types) > 1 and self._mode is None:
            return cluster_facts.types_without_continuous(group.name, len(group.instance_types))
        if group.volume_keys and self._mode is None:
            return cluster_facts.key_without_continuous(group.name)
        return None

    def _permit(self, permissions: NodePermissions, group: InstanceGroup) -> None:
        """Give a group's role the permissions for its volumes, its scripts and its mounts."""
        permissions.add_volume_keys(group.volume_keys)
        software = self._scripts.software
        if group.node_type is SlurmNodeType.CONTROLLER and software is not None and software.accounting is not None:
            permissions.add_secret(software.accounting.secret)
        if any(isinstance(mount, LustreMount) for mount in group.file_systems):
            permissions.add_file_systems()

    def _check_strategy(self) -> None:
        strategy = self._orchestrator.slurm_config_strategy
        if strategy is not None and self._mode is not None:
            raise ValueError(f"{self.node.path}: {cluster_facts.strategy_with_continuous(strategy.value)}")

    def _use_role(self, role: iam.IRole | ExecutionRole) -> iam.IRole:
        """Let nodes act as a role: give it the nodes' permissions, and await it with its policies."""
        if isinstance(role, ExecutionRole):
            plain: iam.IRole = role.role
        else:
            plain = role
        if any(plain is known for known in self._roles):
            return plain
        if any(plain is known for known in self._grantees):
            raise ValueError(f"{self.node.path}: {_own_role(plain)}")
        self._roles.append(plain)
        self._role_arns[id(plain)] = plain.role_arn
        permissions = NodePermissions(self, plain)
        self._permissions[id(plain)] = permissions
        if not isinstance(role, ExecutionRole):
            permissions.add_base(self._name)
        if self._place is not None:
            permissions.add_network(self._place)
        if self._bound is not None:
            permissions.add_scripts(self._bound.bucket, self._bound.root)
        self._node.add_dependency(plain, permissions.awaited)
        return plain

    def _admit(self, grantee: iam.IPrincipal) -> None:
        """Remember who has grants on the cluster; a role of its own nodes is refused."""
        if any(grantee is role for role in self._roles):
            raise ValueError(f"{self.node.path}: {_own_role(grantee)}")
        self._grantees.append(grantee)

    def _role_of(self, group: InstanceGroup) -> iam.IRole:
        return self._role if group.execution_role is None else self._use_role(group.execution_role)

    def _await_parts(self) -> None:
        network = self._network
        awaited: list[IDependable] = []
        if isinstance(network, Construct):
            awaited.append(network)
        elif network is not None:
            awaited += [network.node_subnet, network.security_group]
        if self._bound is not None and self._bound.awaited is not None:
            awaited.append(self._bound.awaited)
        if awaited:
            self._node.add_dependency(*awaited)

    def _vpc_config(self) -> sagemaker.CfnCluster.VpcConfigProperty | None:
        if self._place is None:
            return None
        return sagemaker.CfnCluster.VpcConfigProperty(
            subnets=[self._place.subnet_id], security_group_ids=[self._place.security_group_id]
        )

    def _render_groups(self) -> list[sagemaker.CfnCluster.ClusterInstanceGroupProperty]:
        return [
            group.render(
                role_arn=self._role_arns[id(self._role_of(group))],
                scripts=self._scripts.render(self._bound, group.lifecycle_mode),
            )
            for group in self._groups.values()
        ]

    def _configuration(self) -> Mapping[str, Any]:
        return configuration.render(self.instance_groups, self._scripts.software, self._node_recovery, self._scripts.steps)

    def _mistakes(self) -> list[str]:
        """Mistakes of the groups as a whole."""
        return [
            *configuration.mistakes(self.instance_groups, self._scripts.software),
            *addresses.mistakes(self.instance_groups, self._network, self._place),
        ]

    def _create_outputs(self) -> None:
        CfnOutput(self, "ClusterArn", value=self.cluster_arn, description="ARN of the HyperPod cluster")
        CfnOutput(
            self,
            "LogGroup",
            value=f"{LOG_GROUPS}/{self._name_in_a_shell()}/{self.cluster_id}",
            description="log group of lifecycle scripts and health monitoring"
            + ("; a shell fills in the cluster's name" if self._name is None else ""),
        )
        CfnOutput(
            self,
            "ConnectCommand",
            value=deferred_text(self._connect_command),
            description="opens a shell on the controller, which it finds when it is run",
        )

    def _name_in_a_shell(self) -> str:
        """The name, or a command that reads it: CloudFormation does not return the name that it makes."""
        if self._name is not None:
            return self._name
        asked = f"aws sagemaker describe-cluster --region {Stack.of(self).region} --cluster-name {self.cluster_arn}"
        return f"$({asked} --query ClusterName --output text)"

    def _connect_command(self) -> str:
        arn, region = self.cluster_arn, Stack.of(self).region
        group = next((group.name for group in self.instance_groups if group.node_type is SlurmNodeType.CONTROLLER), "")
        query = f"ClusterNodeSummaries[?InstanceGroupName=='{group}']|[0].InstanceId"
        node = f'aws sagemaker list-cluster-nodes --region {region} --cluster-name {arn} --output text --query "{query}"'
        target = f"sagemaker-cluster:{self.cluster_id}_{group}-$({node})"
        return f'aws ssm start-session --region {region} --target "{target}"'


def _own_role(role: Any) -> str:
    return (
        f"{role.node.path} is a role of the cluster's own nodes and has a grant on the cluster: the cluster awaits the role with "
        "all its policies, so the grant would await itself; attach an iam.Policy of your own to the role instead"
    )
