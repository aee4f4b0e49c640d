"""Looks in a deployment, before a file system or a cluster is made, whether the account allows it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from aws_cdk import ArnFormat, Aws, CfnResource, CustomResource, Stack, Token
from aws_cdk import aws_fsx as fsx
from aws_cdk import aws_sagemaker as sagemaker
from constructs import Construct

from hyperpod_constructs._support.arguments import checked
from hyperpod_constructs._support.deferred import check_at_synthesis, resolved_value
from hyperpod_constructs._support.statements import Statement
from hyperpod_constructs._support.tree import region_of, stack_of, within
from hyperpod_constructs.custom_resources.preflight_properties import Rendered, file_system
from hyperpod_constructs.custom_resources.provider import HandlerProvider, minutes


class CheckedCluster(Protocol):
    """A cluster, as the preflight reads it. Groups that are added after the preflight count too."""

    @property
    def cluster_name(self) -> str | None:
        """Its name, if it is known at synthesis."""
        ...

    @property
    def resource(self) -> sagemaker.CfnCluster:
        """Its L1."""
        ...


class CheckedFileSystem(Protocol):
    """A file system, as the preflight reads it."""

    @property
    def resource(self) -> fsx.CfnFileSystem:
        """Its L1."""
        ...


class Preflight(Construct):
    """A look at the account before the cluster and its file systems are made: an error within a minute instead of a rollback after
    an hour.

    It compares what the deployment adds with service quotas and their use, with the free addresses of the subnets and the quota of
    network interfaces, with the types that the zones offer, with training plans, with the trust of the nodes' roles, and with the
    bucket of the lifecycle scripts. The nodes that the stack's cluster has already count as granted.

    A mistake that is proven fails the deployment, with all of them in one text: each with what was found, what is needed, and what
    to do. Anything else is a warning in the log and in `warnings`: also what the function could not look at. A preflight never
    stops a deployment because of its own faults, and never stops a rollback. A deletion does nothing.

    Capacity is not a quota: AWS may have no free instance of a type although every quota allows it, and no API tells.
    """

    @checked
    def __init__(
        self, scope: Construct, id: str, *, cluster: CheckedCluster, file_systems: Sequence[CheckedFileSystem] = ()
    ) -> None:
        """Make a gate before a cluster and file systems of the same stack.

        :param cluster: the cluster; it awaits the preflight.
        :param file_systems: new file systems; they await the preflight too. None unless given: a file system of another stack
            exists before, and takes its addresses already.
        :raises ValueError: for a cluster or a file system of another stack.
        """
        super().__init__(scope, id)
        within(self, scope)
        self._cluster = cluster
        self._file_systems = tuple(file_systems)
        provider = HandlerProvider.of(scope, "HyperPodPreflightProvider", module="preflight", waits=False)
        self._stack = stack = stack_of(scope)
        #: The custom resource, to make other resources wait for it.
        self.resource: CustomResource = provider.add_resource(
            self,
            resource_type="Custom::HyperPodPreflight",
            properties={
                "Region": region_of(stack),
                "ClusterLogicalId": stack.get_logical_id(cluster.resource),
                **({} if cluster.cluster_name is None else {"ClusterName": cluster.cluster_name}),
                "Groups": resolved_value(lambda: self._rendered.groups),
                "FileSystems": resolved_value(lambda: [file_system(stack, system.resource) for system in self._file_systems]),
                "Roles": resolved_value(lambda: self._rendered.roles),
                "Bucket": resolved_value(lambda: self._rendered.bucket),
            },
            statements=self._statements(stack),
            timeout=minutes(5),
            deletes=False,
        )
        check_at_synthesis(self, self._permit_looks, resource=self.resource)
        self.before([cluster.resource, *(system.resource for system in self._file_systems)])

    @property
    def warnings(self) -> str:
        """What may go wrong or could not be checked, a line each; empty without a warning."""
        return self.resource.get_att_string("Warnings")

    @checked
    def before(self, resources: Sequence[CfnResource]) -> None:
        """Make resources of this stack await the preflight. They must not hold anything that it checks: subnets, roles, bucket.

        :param resources: their L1s.
        :raises ValueError: for a resource of another stack.
        """
        for resource in resources:
            if stack_of(resource) is not self._stack:
                raise ValueError(
                    f"{self.node.path}: {resource.node.path} is in another stack, and a stack cannot await a part of another one; "
                    "make the preflight in the stack of the cluster, and leave out file systems of other stacks"
                )
            resource.node.add_dependency(self.resource)

    @property
    def _rendered(self) -> Rendered:
        return Rendered(self._stack, self._cluster.resource)

    def _permit_looks(self) -> list[str]:
        """Permit the looks at roles, plans and bucket, now that all groups are known. Their names stay tokens until the template
        is written, because references to other stacks are only known then.
        """
        rendered = self._rendered
        policy: Any = self.node.find_child("Policy")
        found: list[Statement] = []
        for action, names in (("iam:GetRole", "roles"), ("sagemaker:DescribeTrainingPlan", "plans")):
            arns = [self._text(names, index) for index in range(len(getattr(rendered, names)))]
            if arns:
                found.append(Statement(actions=[action], resources=arns))
        if rendered.bucket is not None:
            name = Token.as_string(resolved_value(lambda: self._rendered.bucket))
            arn = self._stack.format_arn(service="s3", region="", account="", resource=name, arn_format=ArnFormat.NO_RESOURCE_NAME)
            found.append(Statement(actions=["s3:ListBucket"], resources=[arn]))
        if self._file_systems:
            found.append(Statement(actions=["fsx:DescribeFileSystems"], resources=["*"]))
        if found:
            policy.add_statements(*(statement.made() for statement in found))
        return []

    def _text(self, names: str, index: int) -> str:
        return Token.as_string(resolved_value(lambda: getattr(self._rendered, names)[index]))

    @staticmethod
    def _statements(stack: Stack) -> list[Statement]:
        """The looks of every preflight. Lists, subnets, offers and quotas have no permissions by resource."""
        return [
            Statement(actions=["cloudformation:DescribeStackResource", "cloudformation:DescribeStacks"], resources=[Aws.STACK_ID]),
            Statement(
                actions=["sagemaker:DescribeCluster"],
                resources=[stack.format_arn(service="sagemaker", resource="cluster", resource_name="*")],
            ),
            Statement(
                actions=[
                    "ec2:DescribeInstanceTypeOfferings",
                    "ec2:DescribeNetworkInterfaces",
                    "ec2:DescribeSubnets",
                    "sagemaker:ListClusters",
                    "servicequotas:ListAWSDefaultServiceQuotas",
                    "servicequotas:ListServiceQuotas",
                ],
                resources=["*"],
            ),
        ]
