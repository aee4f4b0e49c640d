"""The identity of nodes: this module writes every permission that the library gives them."""

from __future__ import annotations

from collections.abc import Sequence

import jsii
from aws_cdk import ArnFormat, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from aws_cdk.interfaces.aws_kms import IKeyRef
from aws_cdk.interfaces.aws_secretsmanager import ISecretRef
from constructs import Construct, IDependable

from hyperpod_constructs._support.arguments import checked
from hyperpod_constructs._support.statements import Conditions, Statement, document
from hyperpod_constructs._support.tree import stack_of, within
from hyperpod_constructs.facts.node_permissions import (
    ADDRESS_INTERFACE,
    ATTACH_INTERFACE,
    CHECK_LAYERS,
    DESCRIBE_NETWORK,
    DESCRIBE_PODS_PLACE,
    DETACH_INTERFACE,
    INTERFACE_SUBNET,
    LOG_GROUPS,
    NODES_PRINCIPAL,
    POD_IDENTITY,
    PULL_IMAGES,
    READ_ALARMS,
    SHELL_CHANNELS,
    USE_VOLUME_KEYS,
)
from hyperpod_constructs.facts.prometheus import WRITE
from hyperpod_constructs.network import NodePlace
from hyperpod_constructs.rules.plugin import register_rules


@jsii.implements(iam.IGrantable)
class ExecutionRole(Construct):
    """A role for the nodes of one or more instance groups; SageMaker assumes it.

    It starts with the permissions of every node: logs, metrics, Session Manager. A cluster adds the permissions of its features:
    network interfaces in its subnet, its lifecycle scripts, its file systems; on EKS also addresses, images and identities of pods.
    The managed policy `AmazonSageMakerClusterInstanceRolePolicy` is not attached, because it reads every bucket named
    `sagemaker-*`. Grant data by `bucket.grant_read_write(role)`.

    On EKS it is another role than that of node groups of the EKS cluster: the service makes an access entry of its own kind for it.

    Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites-iam.html
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster_name: str | None = None,
        permissions_boundary: iam.IManagedPolicy | None = None,
    ) -> None:
        """
        :param cluster_name: the cluster whose logs the nodes may write; the logs of every cluster when not given.
        :param permissions_boundary: limits the role; none when not given (`iam.PermissionsBoundary.of(stack)` works as well).
        """
        super().__init__(scope, id)
        register_rules(self, scope)
        self._role = iam.Role(
            self,
            "Resource",
            assumed_by=iam.ServicePrincipal(NODES_PRINCIPAL),
            description="SageMaker HyperPod nodes",
            permissions_boundary=permissions_boundary,
            inline_policies={"Nodes": document(_base(stack_of(scope), cluster_name))},
        )
        within(self._role, scope)

    @property
    def role(self) -> iam.Role:
        """The role itself."""
        return self._role

    @property
    def grant_principal(self) -> iam.IPrincipal:
        """The role, for grants such as `bucket.grant_read(role)`."""
        return self._role.grant_principal


class NodePermissions:
    """Adds statements to a role, feature by feature. An imported immutable role stays as it is.

    :param scope: a construct of the cluster's stack. A role of another stack gets its statements by a policy in `scope`, because
        they name resources of this stack.
    :param role: the role.
    :param control_plane_arn: the EKS cluster that the nodes join; `None` for a Slurm cluster.
    """

    def __init__(self, scope: Construct, role: iam.IRole, control_plane_arn: str | None = None) -> None:
        self._stack = stack_of(scope)
        self._control_plane_arn = control_plane_arn
        self._grantee: iam.IRole | iam.Policy = role
        if stack_of(role) is not self._stack:
            self._grantee = iam.Policy(scope, f"NodePolicy{role.node.addr[-8:]}", roles=[role])

    @property
    def awaited(self) -> IDependable:
        """The role or policy that carries the statements; a resource that depends on it finds every statement in place."""
        return self._grantee

    def add_base(self, cluster_name: str | None) -> None:
        """Logs and metrics of the cluster, and the channels of Session Manager.

        :param cluster_name: the cluster of the logs; every cluster for `None`.
        """
        for statement in _base(self._stack, cluster_name):
            self._add([*statement.actions], [*statement.resources], statement.conditions)

    def add_network(self, place: NodePlace) -> None:
        """Interfaces of the nodes in the cluster's subnet.

        Without the Describe actions, creation fails with "Unable to retrieve subnets". Existing interfaces are limited by their
        subnet. Where EC2 may leave the subnet out of the request, a request without it is allowed too.
        """
        self._add(list(DESCRIBE_NETWORK), ["*"])
        self.add_interfaces([place.subnet_id], [place.security_group_id])
        self._add([DETACH_INTERFACE], ["*"])

    def add_interfaces(self, subnet_ids: Sequence[str], security_group_ids: Sequence[str]) -> None:
        """Interfaces in these subnets, with these security groups."""
        ec2_arn = self._stack.format_arn(service="ec2", resource="", arn_format=ArnFormat.NO_RESOURCE_NAME)
        interfaces = f"{ec2_arn}network-interface/*"
        subnets = [f"{ec2_arn}subnet/{subnet_id}" for subnet_id in subnet_ids]
        groups = [f"{ec2_arn}security-group/{group_id}" for group_id in security_group_ids]
        self._add(["ec2:CreateNetworkInterface"], [interfaces, *subnets, *groups])
        here = {INTERFACE_SUBNET: subnets}
        self._add(["ec2:CreateNetworkInterfacePermission", "ec2:DeleteNetworkInterface"], [interfaces], {"ArnEquals": here})
        self._add(["ec2:CreateTags", "ec2:DeleteNetworkInterfacePermission"], [interfaces], {"ArnEqualsIfExists": here})
        self._add([DETACH_INTERFACE], ["*"])
        if self._control_plane_arn is not None:
            self._add(list(ADDRESS_INTERFACE), [interfaces], {"ArnEquals": here})

    def add_pods(self) -> None:
        """Addresses, images and identities of pods; nothing for a Slurm cluster.

        Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites-iam.html
        """
        if self._control_plane_arn is not None:
            self._add([*DESCRIBE_PODS_PLACE, *ATTACH_INTERFACE], ["*"])
            self._add([*PULL_IMAGES, CHECK_LAYERS], ["*"])
            self._add([POD_IDENTITY], [self._control_plane_arn])

    def add_scripts(self, bucket: s3.IBucket, prefix: str) -> None:
        """Lifecycle scripts.

        :param prefix: the scripts' place in the bucket; the whole bucket if empty.
        """
        arn = bucket.bucket_arn
        self._add(["s3:ListBucket"], [arn])
        self._add(["s3:GetObject"], [f"{arn}/{prefix}/*" if prefix else f"{arn}/*"])
        if (key := bucket.encryption_key) is not None:
            self._add(["kms:Decrypt"], [key.key_arn])

    def add_volume_keys(self, keys: Sequence[IKeyRef]) -> None:
        """Volumes with customer managed keys: the service makes grants for them as this role.

        Source: https://docs.aws.amazon.com/sagemaker/latest/dg/smcluster-cmk.html
        """
        if keys:
            self._add(list(USE_VOLUME_KEYS), [key.key_ref.key_arn for key in keys])

    def add_secret(self, secret: ISecretRef) -> None:
        """The controller's database password; the secret's own key too, for secrets only, if the secret tells it."""
        self._add(["secretsmanager:GetSecretValue"], [secret.secret_ref.secret_id])
        key: IKeyRef | None = getattr(secret, "encryption_key", None)
        if key is not None:
            service = f"secretsmanager.{self._stack.region}.{self._stack.url_suffix}"
            self._add(["kms:Decrypt"], [key.key_ref.key_arn], {"StringEquals": {"kms:ViaService": service}})

    def add_figures(self, namespace: str) -> None:
        """The nodes' own figures in CloudWatch. The action has no resource-level permissions; the condition names the namespace."""
        self._add(["cloudwatch:PutMetricData"], ["*"], {"StringEquals": {"cloudwatch:namespace": namespace}})

    def add_samples(self, workspace_arn: str) -> None:
        """Samples for one workspace of Prometheus."""
        self._add([WRITE], [workspace_arn])

    def add_file_systems(self) -> None:
        """The check of EFA for Lustre. Without it nodes silently fall back to TCP.

        The action has no resource-level permissions.
        """
        self._add(["fsx:DescribeFileSystems"], ["*"])

    def add_alarms(self) -> None:
        """The alarms that roll an update of the software back. The action answers about composite alarms only for `*`.

        Source: https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_DescribeAlarms.html
        """
        self._add([READ_ALARMS], ["*"])

    def _add(self, actions: list[str], resources: list[str], conditions: Conditions | None = None) -> None:
        iam.Grant.add_to_principal(grantee=self._grantee, actions=actions, resource_arns=resources, conditions=conditions)


def _base(stack: Stack, cluster_name: str | None) -> list[Statement]:
    """The statements of every node."""
    groups = stack.format_arn(
        service="logs",
        resource="log-group",
        resource_name=f"{LOG_GROUPS}/*" if cluster_name is None else f"{LOG_GROUPS}/{cluster_name}/*",
        arn_format=ArnFormat.COLON_RESOURCE_NAME,
    )
    return [
        Statement(actions=["logs:CreateLogGroup"], resources=[groups]),
        Statement(
            actions=["logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"],
            resources=[f"{groups}:log-stream:*"],
        ),
        Statement(
            actions=["cloudwatch:PutMetricData"],
            resources=["*"],
            conditions={"StringEquals": {"cloudwatch:namespace": LOG_GROUPS}},
        ),
        Statement(actions=SHELL_CHANNELS, resources=["*"]),
    ]
