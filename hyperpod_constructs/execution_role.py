"""The identity of nodes. Every permission that a node has from this library is written here."""

from __future__ import annotations

from collections.abc import Sequence

import jsii
from aws_cdk import ArnFormat, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from aws_cdk.interfaces.aws_kms import IKeyRef
from aws_cdk.interfaces.aws_secretsmanager import ISecretRef
from constructs import Construct, IDependable

from hyperpod_constructs._arguments import checked
from hyperpod_constructs.rules.plugin import register_rules

_CLUSTER_LOGS = "/aws/sagemaker/Clusters/*"
_METRIC_NAMESPACE = "/aws/sagemaker/Clusters"


@jsii.implements(iam.IGrantable)
class ExecutionRole(Construct):
    """A role for the nodes of one or more instance groups; SageMaker assumes it.

    It starts with what every node needs (logs, metrics, Session Manager); a cluster that uses it adds what its features need:
    network interfaces in its subnet, its lifecycle scripts, its file systems. The managed policy
    AmazonSageMakerClusterInstanceRolePolicy is not attached: it reads every bucket named `sagemaker-*`. Grant data by
    `bucket.grant_read_write(role)`.

    Source of the actions: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites-iam.html
    """

    @checked
    def __init__(self, scope: Construct, id: str, *, permissions_boundary: iam.IManagedPolicy | None = None) -> None:
        """
        :param permissions_boundary: limits the role; none when not given (`iam.PermissionsBoundary.of(stack)` works as well).
        """
        super().__init__(scope, id)
        register_rules(self)
        self._role = iam.Role(
            self,
            "Resource",
            assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"),
            description="SageMaker HyperPod nodes",
            permissions_boundary=permissions_boundary,
            inline_policies={"Nodes": iam.PolicyDocument(statements=_base(Stack.of(self)))},
        )

    @property
    def role(self) -> iam.Role:
        """The role itself."""
        return self._role

    @property
    def grant_principal(self) -> iam.IPrincipal:
        """So that `bucket.grant_read(role)` works."""
        return self._role.grant_principal


class NodePermissions:
    """Adds the statements of one feature each to a role; a role that was imported as immutable keeps what it has.

    For a role of another stack they go into a policy in `scope`, because what they name is in that stack.
    """

    def __init__(self, scope: Construct, id: str, role: iam.IRole) -> None:
        self._role = role
        self._stack = Stack.of(scope)
        foreign = Stack.of(role).node.addr != self._stack.node.addr
        self._policy = iam.Policy(scope, id, roles=[role]) if foreign else None

    @property
    def awaited(self) -> IDependable:
        """With it, every statement is in place."""
        return self._role if self._policy is None else self._policy

    def add_base(self) -> None:
        """Logs and metrics of the cluster, and the channels of Session Manager."""
        for statement in _base(self._stack):
            self.add_statement(statement)

    def add_network(self, subnets: Sequence[ec2.ISubnet], security_groups: Sequence[ec2.ISecurityGroup]) -> None:
        """Interfaces of the nodes in the cluster's subnets. Without the Describe actions creation fails with "Unable to retrieve
        subnets"."""
        describe = ("DhcpOptions", "NetworkInterfaces", "SecurityGroups", "Subnets", "Vpcs")
        self._add([f"ec2:Describe{what}" for what in describe], ["*"])
        interfaces = self._ec2("network-interface", "*")
        where = [self._ec2("subnet", subnet.subnet_id) for subnet in subnets]
        groups = [self._ec2("security-group", group.security_group_id) for group in security_groups]
        self._add(["ec2:CreateNetworkInterface"], [interfaces, *where, *groups])
        self._add(
            [
                "ec2:CreateNetworkInterfacePermission",
                "ec2:CreateTags",
                "ec2:DeleteNetworkInterface",
                "ec2:DeleteNetworkInterfacePermission",
            ],
            [interfaces],
        )
        self._add(["ec2:DetachNetworkInterface"], [interfaces, self._ec2("instance", "*")])

    def add_scripts(self, bucket: s3.IBucket, prefix: str) -> None:
        """Lifecycle scripts below a prefix; all of the bucket when it is empty."""
        self._add(["s3:ListBucket"], [bucket.bucket_arn])
        self._add(["s3:GetObject"], [bucket.arn_for_objects(f"{prefix}/*" if prefix else "*")])
        if bucket.encryption_key is not None:
            self._add(["kms:Decrypt"], [bucket.encryption_key.key_arn])

    def add_volume_keys(self, keys: Sequence[IKeyRef]) -> None:
        """Volumes that are encrypted with customer managed keys: the service makes grants for them as this role
        (https://docs.aws.amazon.com/sagemaker/latest/dg/smcluster-cmk.html)."""
        if keys:
            self._add(["kms:CreateGrant", "kms:DescribeKey"], [key.key_ref.key_arn for key in keys])

    def add_secret(self, secret: ISecretRef) -> None:
        """Read the controller's database password."""
        self._add(["secretsmanager:GetSecretValue"], [secret.secret_ref.secret_id])

    def add_file_systems(self) -> None:
        """The check of EFA for Lustre; without it nodes fall back to TCP silently. The action knows no resource-level
        permission."""
        self._add(["fsx:DescribeFileSystems"], ["*"])

    def _add(self, actions: list[str], resources: list[str]) -> None:
        self.add_statement(iam.PolicyStatement(actions=actions, resources=resources))

    def add_statement(self, statement: iam.PolicyStatement) -> None:
        """Add one statement."""
        if self._policy is None:
            self._role.add_to_principal_policy(statement)
        else:
            self._policy.add_statements(statement)

    def _ec2(self, resource: str, name: str) -> str:
        return self._stack.format_arn(service="ec2", resource=resource, resource_name=name)


def _base(stack: Stack) -> list[iam.PolicyStatement]:
    groups = stack.format_arn(
        service="logs", resource="log-group", resource_name=_CLUSTER_LOGS, arn_format=ArnFormat.COLON_RESOURCE_NAME
    )
    channels = [f"ssmmessages:{verb}{channel}Channel" for verb in ("Create", "Open") for channel in ("Control", "Data")]
    return [
        iam.PolicyStatement(actions=["logs:CreateLogGroup"], resources=[groups]),
        iam.PolicyStatement(
            actions=["logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"],
            resources=[f"{groups}:log-stream:*"],
        ),
        iam.PolicyStatement(
            actions=["cloudwatch:PutMetricData"],
            resources=["*"],
            conditions={"StringEquals": {"cloudwatch:namespace": _METRIC_NAMESPACE}},
        ),
        iam.PolicyStatement(actions=channels, resources=["*"]),
    ]
