"""The roles of a cluster's nodes, with the permissions for its features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aws_cdk import aws_iam as iam
from aws_cdk.interfaces.aws_secretsmanager import ISecretRef
from constructs import Construct, Node

from hyperpod_constructs.cluster.instance_group import InstanceGroup
from hyperpod_constructs.cluster.restricted_group import RestrictedInstanceGroup
from hyperpod_constructs.cluster.storage_configs import LustreMount
from hyperpod_constructs.execution_role import ExecutionRole, NodePermissions
from hyperpod_constructs.network import NodePlace
from hyperpod_constructs.node_software.lifecycle_scripts import BoundScripts
from hyperpod_constructs.node_software.node_metrics import NodeMetrics
from hyperpod_constructs.node_software.node_type import SlurmNodeType


class NodeRoles:
    """The roles of a cluster's nodes. The cluster awaits each with its policies.

    :param cluster: the construct of the cluster.
    :param resource: the node of its resource, which awaits the roles.
    :param name: the cluster's name, if it is known.
    :param place: subnet and security group; `None` in the service's own VPC.
    :param scripts: the lifecycle scripts; `None` without any.
    :param secrets: passwords of accounting databases, for controllers.
    :param metrics: the figures that the nodes tell; `None` without any.
    :param control_plane_arn: the EKS cluster; `None` for a Slurm cluster.
    """

    def __init__(
        self,
        cluster: Construct,
        *,
        resource: Node,
        name: str | None,
        place: NodePlace | None,
        scripts: BoundScripts | None,
        secrets: Sequence[ISecretRef],
        metrics: NodeMetrics | None,
        control_plane_arn: str | None,
    ) -> None:
        self._cluster = cluster
        self._resource = resource
        self._name = name
        self._place = place
        self._scripts = scripts
        self._secrets = secrets
        self._metrics = metrics
        self._control_plane_arn = control_plane_arn
        self._roles: list[iam.IRole] = []
        self._grantees: list[iam.IPrincipal] = []
        self._arns: dict[int, str] = {}
        self._permissions: dict[int, NodePermissions] = {}

    def use(self, role: iam.IRole | ExecutionRole) -> iam.IRole:
        """Let nodes act as a role: give it the nodes' permissions, and await it with its policies."""
        plain: iam.IRole = role.role if isinstance(role, ExecutionRole) else role
        if any(plain is known for known in self._roles):
            return plain
        if any(plain is known for known in self._grantees):
            raise ValueError(f"{self._cluster.node.path}: {_own_role(plain)}")
        self._roles.append(plain)
        self._arns[id(plain)] = plain.role_arn
        permissions = NodePermissions(self._cluster, plain, self._control_plane_arn)
        self._permissions[id(plain)] = permissions
        if not isinstance(role, ExecutionRole):
            permissions.add_base(self._name)
        if self._place is not None:
            permissions.add_network(self._place)
        permissions.add_pods()
        if self._scripts is not None:
            permissions.add_scripts(self._scripts.bucket, self._scripts.root)
        if self._metrics is not None:
            _permit_metrics(permissions, self._metrics)
        self._resource.add_dependency(plain, permissions.awaited)
        return plain

    def arn(self, role: iam.IRole) -> str:
        """The ARN of a role in use; it is read once, because it is a call into jsii."""
        return self._arns[id(role)]

    def admit(self, grantee: iam.IPrincipal) -> None:
        """Remember who has grants on the cluster; a role of its own nodes is refused."""
        if any(grantee is role for role in self._roles):
            raise ValueError(f"{self._cluster.node.path}: {_own_role(grantee)}")
        self._grantees.append(grantee)

    def permit(self, role: iam.IRole, group: InstanceGroup) -> None:
        """Give a group's role the permissions for its volumes, its mounts, its alarms and its network."""
        permissions = self._permissions[id(role)]
        permissions.add_volume_keys(group.volume_keys)
        if group.node_type is SlurmNodeType.CONTROLLER:
            for secret in self._secrets:
                permissions.add_secret(secret)
        if any(isinstance(mount, LustreMount) for mount in group.file_systems):
            permissions.add_file_systems()
        if group.rollback_alarms:
            permissions.add_alarms()
        self._permit_network(permissions, group)

    def permit_restricted(self, role: iam.IRole, group: RestrictedInstanceGroup) -> None:
        """Give the role of a restricted group the permissions for its volumes and its network."""
        permissions = self._permissions[id(role)]
        permissions.add_volume_keys([volume.kms_key for volume in group.ebs_volumes if volume.kms_key is not None])
        self._permit_network(permissions, group)

    def _permit_network(self, permissions: NodePermissions, group: InstanceGroup | RestrictedInstanceGroup) -> None:
        network = group.override_vpc_config
        if network is not None:
            rendered = network.render()
            permissions.add_interfaces(rendered.subnets, rendered.security_group_ids)
            self._resource.add_dependency(*network.subnets, *network.security_groups)


def _permit_metrics(permissions: NodePermissions, metrics: NodeMetrics) -> None:
    if metrics.cloudwatch:
        permissions.add_figures(metrics.namespace)
    if metrics.remote_write is not None:
        permissions.add_samples(metrics.remote_write.workspace_ref.workspace_arn)


def _own_role(role: Any) -> str:
    return (
        f"{role.node.path} is a role of the cluster's own nodes and has a grant on the cluster: the cluster awaits the role with "
        "all its policies, so the grant would await itself; attach an iam.Policy of your own to the role instead"
    )
