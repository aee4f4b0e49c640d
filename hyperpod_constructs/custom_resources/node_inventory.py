"""Writes the nodes of a cluster to parameters of Systems Manager, and gives the first ones as attributes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Protocol

from aws_cdk import Aws, CustomResource
from aws_cdk import aws_sagemaker as sagemaker
from constructs import Construct, IDependable

from hyperpod_constructs._support.arguments import checked
from hyperpod_constructs._support.cluster_arn import cluster_id
from hyperpod_constructs._support.cluster_properties import follows
from hyperpod_constructs._support.deferred import deferred_value, resolved_value
from hyperpod_constructs._support.statements import Statement
from hyperpod_constructs._support.tokens import is_unknown
from hyperpod_constructs._support.tree import placed, stack_of
from hyperpod_constructs.custom_resources.provider import HandlerProvider, minutes
from hyperpod_constructs.custom_resources.readiness_gate import GatedGroup

# Three of the fifteen levels that Systems Manager allows are the inventory's own.
# Source: https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_PutParameter.html
_PREFIX = re.compile(r"(?:/[A-Za-z0-9_.-]+){1,12}")
_LONGEST_PREFIX = 400
_RESERVED = ("/aws", "/ssm")


class ListedCluster(Protocol):
    """A cluster, as the inventory reads it. Groups that are added after the inventory count too."""

    @property
    def cluster_name(self) -> str | None:
        """Its name, if it is known at synthesis."""
        ...

    @property
    def cluster_arn(self) -> str:
        """Its ARN."""
        ...

    @property
    def resource(self) -> sagemaker.CfnCluster:
        """Its L1."""
        ...

    @property
    def instance_groups(self) -> Sequence[GatedGroup]:
        """Its groups."""
        ...


class NodeInventory(Construct):
    """The nodes of a cluster at the last deployment that changed the cluster.

    Attributes name the controller, the login nodes, the cluster and its log group. Parameters of Systems Manager below `prefix`
    hold every node: `<prefix>/cluster`, and `<prefix>/nodes/<group>/<page>` with a JSON object of addresses by instance id. They
    are in the standard tier, which is free of charge, and hold no secret. The deletion deletes them, and nothing else below the
    prefix.

    Nodes that the service replaces between two deployments are not in the inventory, nor are nodes that start after it: let it
    await a `ReadinessGate`.
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster: ListedCluster,
        prefix: str | None = None,
        awaits: Sequence[IDependable] = (),
    ) -> None:
        """Make an inventory behind a cluster.

        :param cluster: the cluster of the nodes.
        :param prefix: the path of the parameters, such as `/hyperpod/training`; `/hyperpod/` with the cluster's name unless given,
            or with its id if the name is not known at synthesis. A change **replaces** the parameters.
        :param awaits: a readiness gate, for example; the inventory is made behind it. The cluster alone unless given.
        :raises ValueError: for a prefix that Systems Manager does not take.
        """
        super().__init__(scope, id)
        placed(self, scope, id)
        self._cluster = cluster
        name = cluster_id(cluster.cluster_arn) if cluster.cluster_name is None else cluster.cluster_name
        #: The path of the parameters.
        self.prefix = f"/hyperpod/{name}" if prefix is None else prefix
        self._check_prefix()
        provider = HandlerProvider.of(scope, "HyperPodNodeInventoryProvider", module="node_inventory")
        #: The custom resource, to make other resources wait for it.
        self.resource: CustomResource = provider.add_resource(
            self,
            resource_type="Custom::HyperPodNodeInventory",
            properties={
                "ClusterArn": cluster.cluster_arn,
                "Follows": resolved_value(lambda: follows(cluster, self)),
                "Prefix": self.prefix,
                "Groups": deferred_value(self._render_groups),
            },
            statements=self._statements(),
            timeout=minutes(30),
        )
        if awaits:
            self.resource.node.add_dependency(*awaits)

    @property
    def cluster_name(self) -> str:
        """The cluster's real name, also if CloudFormation made it."""
        return self.resource.get_att_string("ClusterName")

    @property
    def log_group(self) -> str:
        """The cluster's log group, `/aws/sagemaker/Clusters/<name>/<id>`."""
        return self.resource.get_att_string("LogGroup")

    @property
    def node_count(self) -> str:
        """The number of nodes with an instance."""
        return self.resource.get_att_string("NodeCount")

    @property
    def running_count(self) -> str:
        """The number of Running nodes."""
        return self.resource.get_att_string("RunningCount")

    @property
    def controller_id(self) -> str:
        """The instance id of the controller; empty without one."""
        return self.resource.get_att_string("ControllerId")

    @property
    def controller_address(self) -> str:
        """The controller's private address; empty if it is not known."""
        return self.resource.get_att_string("ControllerAddress")

    @property
    def controller_target(self) -> str:
        """The controller's target for Session Manager; empty without a controller."""
        return self.resource.get_att_string("ControllerTarget")

    @property
    def login_targets(self) -> str:
        """The targets of the first eight login nodes for Session Manager, with commas between them."""
        return self.resource.get_att_string("LoginTargets")

    @property
    def login_addresses(self) -> str:
        """The private addresses of the same login nodes, with commas between them."""
        return self.resource.get_att_string("LoginAddresses")

    @property
    def message(self) -> str:
        """Why a rollback could not read or write the inventory; empty if it could."""
        return self.resource.get_att_string("Message")

    def _render_groups(self) -> list[dict[str, Any]]:
        """The property `Groups`, sorted by name. The counts make CloudFormation run the inventory when a parameter changes them."""
        return [
            {"Name": group.name, "Count": group.count, **({} if group.node_type is None else {"NodeType": str(group.node_type)})}
            for group in sorted(self._cluster.instance_groups, key=lambda group: group.name)
        ]

    def _check_prefix(self) -> None:
        prefix = self.prefix
        if is_unknown(prefix):
            return
        if len(prefix) > _LONGEST_PREFIX or not _PREFIX.fullmatch(prefix) or prefix.lower().startswith(_RESERVED):
            raise ValueError(
                f"{self.node.path}: prefix is {prefix!r}; allowed: one to twelve parts of letters, digits, '_', '.' and '-', "
                f"each behind a slash, at most {_LONGEST_PREFIX} characters, and neither aws nor ssm at the start; "
                "write '/hyperpod/training'"
            )

    def _statements(self) -> list[Statement]:
        parameters = stack_of(self).format_arn(service="ssm", resource="parameter", resource_name=self.prefix.removeprefix("/"))
        return [
            Statement(
                actions=["sagemaker:DescribeCluster", "sagemaker:DescribeClusterNode", "sagemaker:ListClusterNodes"],
                resources=[self._cluster.cluster_arn],
            ),
            Statement(
                actions=["ssm:DeleteParameters", "ssm:GetParametersByPath", "ssm:PutParameter"],
                resources=[parameters, f"{parameters}/*"],
            ),
            Statement(actions=["cloudformation:DescribeStacks"], resources=[Aws.STACK_ID]),
        ]
