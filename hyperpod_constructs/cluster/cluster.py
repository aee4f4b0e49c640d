"""The cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from typing import Any

import jsii
from aws_cdk import Annotations, CfnTag, IResolvable
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sagemaker as sagemaker
from constructs import Construct, IDependable

from hyperpod_constructs._support.arguments import checked
from hyperpod_constructs._support.cluster_arn import cluster_id
from hyperpod_constructs._support.deferred import check_at_synthesis, deferred_value
from hyperpod_constructs._support.tree import placed
from hyperpod_constructs._support.values import ClusterArn, ClusterName
from hyperpod_constructs.cluster import addresses, configuration
from hyperpod_constructs.cluster.auto_scaling import AutoScaling, AutoScalingMode, ClusterRole
from hyperpod_constructs.cluster.compatibility import Compatibility
from hyperpod_constructs.cluster.existing import ExistingCluster
from hyperpod_constructs.cluster.grants import ClusterGrants
from hyperpod_constructs.cluster.instance_group import InstanceGroup
from hyperpod_constructs.cluster.metrics import serve_metrics
from hyperpod_constructs.cluster.node_roles import NodeRoles
from hyperpod_constructs.cluster.orchestrator import Orchestrator
from hyperpod_constructs.cluster.outputs import create_outputs
from hyperpod_constructs.cluster.restricted_group import RestrictedInstanceGroup, SharedEnvironmentConfig
from hyperpod_constructs.cluster.tiered_storage import TieredStorage
from hyperpod_constructs.execution_role import ExecutionRole
from hyperpod_constructs.facts import orchestration
from hyperpod_constructs.facts.mistake import Mistake
from hyperpod_constructs.facts.restricted_groups import OTHER_CHART
from hyperpod_constructs.network import ClusterNetwork, NodeNetwork, node_place
from hyperpod_constructs.node_software.lifecycle_scripts import LifecycleScripts
from hyperpod_constructs.node_software.node_type import SlurmNodeType
from hyperpod_constructs.rules.plugin import register_rules

_TAG = orchestration.TAG_OF_ADDONS


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

    The cluster awaits its network with all rules, its roles with all their policies, and the upload of its lifecycle scripts; on
    EKS also the prerequisites of its control plane, such as the service's chart.
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
        restricted_instance_groups: Sequence[RestrictedInstanceGroup] = (),
        shared_environment_config: SharedEnvironmentConfig | None = None,
        cluster_name: ClusterName | None = None,
        execution_role: iam.IRole | ExecutionRole | None = None,
        lifecycle_scripts: LifecycleScripts | None = None,
        node_recovery: NodeRecovery = NodeRecovery.AUTOMATIC,
        node_provisioning_mode: NodeProvisioningMode | None = NodeProvisioningMode.CONTINUOUS,
        tiered_storage: TieredStorage | None = None,
        auto_scaling: AutoScaling | None = None,
        cluster_role: iam.IRole | ClusterRole | None = None,
    ) -> None:
        """
        :param network: subnet and security group of the nodes; the service's own VPC, without file systems, when not given. On EKS
            it is required, in the VPC of the EKS cluster. A change **replaces** the cluster.
        :param orchestrator: Slurm, configured through the API, when not given.
        :param instance_groups: the groups; more with `add_instance_group`.
        :param restricted_instance_groups: groups for Amazon Nova; none unless given. On EKS only. They need another revision of the
            service's chart, of which a warning tells.
        :param shared_environment_config: the file system that restricted groups share; none unless given. On EKS only.
        :param cluster_name: 1 to 63 letters, digits and hyphens; CloudFormation makes one when not given. A change **replaces** the
            cluster.
        :param execution_role: the nodes' role; a new role with the least permissions when not given. An imported role receives the
            statements too, unless it is immutable.
        :param lifecycle_scripts: the nodes' scripts; the scripts of this library when not given.
        :param node_recovery: automatic unless given: the service reboots or replaces faulty nodes.
        :param node_provisioning_mode: continuous unless given; with `None` creation is all or nothing. Whether an existing
            cluster can receive the mode is not known; nothing takes it away.
        :param tiered_storage: memory of the nodes for checkpoints; none unless given. On EKS only.
        :param auto_scaling: nodes by demand, by Karpenter; the counts of the groups unless given. On EKS only, with continuous
            provisioning and automatic node recovery.
        :param cluster_role: the role of autoscaling; a new role with the least permissions when not given. Another role, an
            `iam.IRole`, is taken as it is. The service refuses a change while autoscaling is enabled.
        :raises ValueError: for two groups of one name, two controller groups, two login groups, file systems without a network, a
            group's own network without the cluster's, a list of instance types, a key for volumes or an accounting database without
            continuous provisioning, a configuration strategy with it, or an accounting database beside a controller whose
            `OnCreate` scripts of this library set accounting up; for a setting of the other orchestrator, a cluster on EKS without
            a network, autoscaling without its conditions, or a restricted group without a file system; for partitions, QOS or
            accounts without this library's scripts on the controller.
        """
        super().__init__(scope, id)
        register_rules(self, scope)
        placed(self, scope, id)
        self._network = network
        self._place = None if network is None else node_place(network)
        self._orchestrator = Orchestrator.slurm() if orchestrator is None else orchestrator
        self._on_eks = self._orchestrator.on_eks
        self._name = cluster_name
        self._node_recovery = node_recovery
        self._mode = node_provisioning_mode
        self._scripts = LifecycleScripts.from_asset() if lifecycle_scripts is None else lifecycle_scripts
        self._compatibility = Compatibility(
            orchestrator=self._orchestrator,
            scripts=self._scripts,
            continuous=node_provisioning_mode is not None,
            has_network=network is not None,
        )
        self._check(restricted_instance_groups, shared_environment_config, tiered_storage, auto_scaling, cluster_role)
        self._groups: dict[str, InstanceGroup] = {}
        self._restricted = {group.name: group for group in restricted_instance_groups}
        self._bound = self._scripts.bind(self, self._configuration)
        self._own_cluster_role: ClusterRole | None = None
        if auto_scaling is not None and cluster_role is None:
            cluster_role = self._own_cluster_role = ClusterRole(self, "ClusterRole")
        scaling_role = cluster_role.role if isinstance(cluster_role, ClusterRole) else cluster_role
        self._resource = sagemaker.CfnCluster(
            self,
            "Resource",
            cluster_name=cluster_name,
            orchestrator=self._orchestrator.render(),
            instance_groups=deferred_value(self._render_groups),
            restricted_instance_groups=self._render_restricted() if self._restricted else None,
            restricted_instance_groups_config=None if shared_environment_config is None else shared_environment_config.render(),
            node_recovery=node_recovery.value,
            node_provisioning_mode=None if node_provisioning_mode is None else node_provisioning_mode.value,
            vpc_config=self._vpc_config(),
            tiered_storage_config=None if tiered_storage is None else tiered_storage.render(),
            auto_scaling=None if auto_scaling is None else auto_scaling.render(),
            cluster_role=None if scaling_role is None else scaling_role.role_arn,
            tags=[CfnTag(key=_TAG[0], value=_TAG[1])] if self._on_eks else None,
        )
        self._node = self._resource.node
        self._roles = self._make_roles()
        own_role = ExecutionRole(self, "ExecutionRole", cluster_name=cluster_name) if execution_role is None else execution_role
        self._role = self._roles.use(own_role)
        self._await_parts(scaling_role)
        check_at_synthesis(self, self._mistakes, resource=self._resource)
        for group in instance_groups:
            self.add_instance_group(group)
        for restricted in self._restricted.values():
            self._roles.permit_restricted(self._role, restricted)
        if self._restricted:
            Annotations.of(self).add_warning_v2("hyperpod-constructs:restricted-groups-chart", str(OTHER_CHART))
        create_outputs(
            self,
            arn=self.cluster_arn,
            id=self.cluster_id,
            name=cluster_name,
            node="a node" if self._on_eks else "the controller",
            group=self._group_to_connect_to,
        )

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
        return ClusterGrants(self.cluster_arn, admit=self._roles.admit)

    @property
    def connections(self) -> ec2.Connections:
        """Rules from and to the nodes; empty without a network."""
        own = [] if self._network is None else [self._network.security_group]
        overriding = [one.override_vpc_config for one in self.instance_groups if one.override_vpc_config is not None]
        others = [group for network in overriding for group in network.security_groups]
        return ec2.Connections(security_groups=list(dict.fromkeys([*own, *others])))

    @checked
    def add_instance_group(self, group: InstanceGroup) -> None:
        """Add a group. Its later removal deletes its nodes.

        :raises ValueError: see the constructor.
        """
        mistake = self._compatibility.of_group(group, self._groups.values(), self._restricted)
        if mistake is not None:
            raise ValueError(f"{self.node.path}: {mistake}")
        self._scripts.check(group.mode(on_eks=self._on_eks))
        self._roles.permit(self._role_of(group), group)
        if self._own_cluster_role is not None:
            self._own_cluster_role.add_volume_keys(group.volume_keys)
        self._groups[group.name] = group

    def _check(
        self,
        restricted: Sequence[RestrictedInstanceGroup],
        shared: SharedEnvironmentConfig | None,
        tiered_storage: TieredStorage | None,
        auto_scaling: AutoScaling | None,
        cluster_role: iam.IRole | ClusterRole | None,
    ) -> None:
        """Check the settings of the cluster before anything is made."""
        scaling = {"AutoScaling": auto_scaling, "ClusterRole": cluster_role, "TieredStorageConfig": tiered_storage}
        found: Mistake | str | None = self._compatibility.of_features(
            {name for name, value in scaling.items() if value is not None}, shared
        )
        found = found or self._compatibility.of_cluster() or self._compatibility.of_software()
        for position, group in enumerate(restricted):
            earlier = [other.name for other in restricted[:position]]
            found = found or self._compatibility.of_restricted(group, earlier, shared)
        if auto_scaling is not None and auto_scaling.mode is AutoScalingMode.ENABLE:
            lacking = [] if self._mode is not None else ["NodeProvisioningMode: Continuous"]
            lacking += [] if self._node_recovery is NodeRecovery.AUTOMATIC else ["NodeRecovery: Automatic"]
            found = found or (orchestration.autoscaling_without(lacking) if lacking else None)
        if found is not None:
            raise ValueError(f"{self.node.path}: {found}")

    def _make_roles(self) -> NodeRoles:
        software, control_plane = self._scripts.software, self._orchestrator.control_plane
        databases = (self._orchestrator.accounting_database, None if software is None else software.accounting)
        return NodeRoles(
            self,
            resource=self._node,
            name=self._name,
            place=self._place,
            scripts=self._bound,
            secrets=[database.secret for database in databases if database is not None],
            metrics=None if software is None else software.metrics,
            control_plane_arn=None if control_plane is None else control_plane.cluster_arn,
        )

    def _role_of(self, group: InstanceGroup) -> iam.IRole:
        return self._role if group.execution_role is None else self._roles.use(group.execution_role)

    def _await_parts(self, scaling_role: iam.IRole | None) -> None:
        network = self._network
        awaited: list[IDependable] = [] if scaling_role is None else [scaling_role]
        if isinstance(network, Construct):
            awaited.append(network)
        elif network is not None:
            awaited += [network.node_subnet, network.security_group]
        if self._bound is not None and self._bound.awaited is not None:
            awaited.append(self._bound.awaited)
        if awaited:
            self._node.add_dependency(*awaited)
        if isinstance(network, ClusterNetwork) and self._on_eks:
            network.admit_load_balancers()
        metrics = None if self._scripts.software is None else self._scripts.software.metrics
        if metrics is not None and network is not None:
            serve_metrics(metrics, network)

    def _vpc_config(self) -> sagemaker.CfnCluster.VpcConfigProperty | None:
        if self._place is None:
            return None
        return sagemaker.CfnCluster.VpcConfigProperty(
            subnets=[self._place.subnet_id], security_group_ids=[self._place.security_group_id]
        )

    def _render_groups(self) -> list[sagemaker.CfnCluster.ClusterInstanceGroupProperty] | None:
        """The groups; a list of none is refused, so a cluster of restricted groups alone has no list."""
        groups = [
            group.render(
                role_arn=self._roles.arn(self._role_of(group)),
                scripts=self._scripts.render(self._bound, group.mode(on_eks=self._on_eks)),
                on_eks=self._on_eks,
            )
            for group in self._groups.values()
        ]
        return groups or None

    def _render_restricted(self) -> IResolvable:
        return deferred_value(lambda: [group.render(role_arn=self._roles.arn(self._role)) for group in self._restricted.values()])

    def _configuration(self) -> Mapping[str, Any]:
        recovery, software, steps = self._node_recovery.value, self._scripts.software, self._scripts.steps
        scheduling, database = self._orchestrator.scheduling, self._orchestrator.accounting_database
        return configuration.render(
            self.instance_groups, software, recovery, steps, scheduling, database=database, on_eks=self._on_eks
        )

    def _mistakes(self) -> list[str]:
        """Mistakes of the groups as a whole. What the control plane has to offer by now is awaited."""
        if self._orchestrator.control_plane is not None:
            self._node.add_dependency(*self._orchestrator.control_plane.awaited)
        software = [] if self._on_eks else configuration.mistakes(self.instance_groups, self._scripts.software)
        groups: list[addresses.Group] = [*self.instance_groups, *self._restricted.values()]
        return [*software, *addresses.mistakes(groups, self._network, self._place, on_eks=self._on_eks)]

    def _group_to_connect_to(self) -> str:
        """The controller's group; on EKS, the first group."""
        found = (group.name for group in self.instance_groups if self._on_eks or group.node_type is SlurmNodeType.CONTROLLER)
        return next(found, "")
