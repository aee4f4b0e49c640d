"""Makes sure that the log group of a cluster exists, so that filters can be put on it."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Protocol

from aws_cdk import ArnFormat, CustomResource
from aws_cdk import aws_kms as kms
from constructs import Construct

from hyperpod_constructs._support.arguments import checked
from hyperpod_constructs._support.cluster_arn import cluster_id
from hyperpod_constructs._support.statements import Statement
from hyperpod_constructs._support.tokens import is_unknown
from hyperpod_constructs._support.tree import placed, stack_of
from hyperpod_constructs.custom_resources.provider import HandlerProvider, minutes
from hyperpod_constructs.encryption import admit_log_groups
from hyperpod_constructs.facts.log_groups import RETENTION_DAYS
from hyperpod_constructs.facts.node_permissions import LOG_GROUPS


class LoggedCluster(Protocol):
    """A cluster, as its log group is found."""

    @property
    def cluster_name(self) -> str | None:
        """Its name, if it is known at synthesis."""
        ...

    @property
    def cluster_arn(self) -> str:
        """Its ARN."""
        ...


class ClusterLogGroup(Construct):
    """The log group that the nodes of a cluster write to, `/aws/sagemaker/Clusters/NAME/ID`.

    Nodes make it when they first write, which may be before CloudFormation calls the cluster complete; its name holds the cluster's
    id. So neither an `AWS::Logs::LogGroup` nor a filter in a template can rely on the order. This resource makes the group unless
    it is there, also in an existing cluster.

    A deletion leaves the group with its events, as the service does: `hyperpod clean` lists it. Retention and key that are left out
    later stay as they were.

    Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-run-jobs-slurm-monitoring.html
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster: LoggedCluster,
        retention_days: int | None = None,
        encryption_key: kms.IKey | None = None,
    ) -> None:
        """
        :param cluster: a `HyperPodCluster`, or an imported one. After a change the old group stays.
        :param retention_days: days that events are kept, such as 30, 90 or 365; as it is unless given, and without an end in a new
            group. A shorter time **deletes** older events.
        :param encryption_key: encrypts new events; a key of AWS unless given. Its policy lets CloudWatch Logs use it for log groups
            of clusters.
        :raises ValueError: for a number of days that CloudWatch Logs does not offer.
        """
        super().__init__(scope, id)
        _check_days(placed(self, scope, id), retention_days)
        self._cluster = cluster
        properties: dict[str, Any] = {"ClusterArn": cluster.cluster_arn}
        actions = ["logs:CreateLogGroup"]
        if retention_days is not None:
            properties["RetentionInDays"] = retention_days
            actions.append("logs:PutRetentionPolicy")
        if encryption_key is not None:
            properties["KmsKeyArn"] = encryption_key.key_arn
            actions.append("logs:AssociateKmsKey")
            admit_log_groups(self, encryption_key, f"{LOG_GROUPS}/*")
        provider = HandlerProvider.of(self, "HyperPodClusterLogGroupProvider", module="cluster_log_group", waits=False)
        #: The custom resource, to make other resources wait for the log group.
        self.resource: CustomResource = provider.add_resource(
            self,
            resource_type="Custom::HyperPodClusterLogGroup",
            properties=properties,
            statements=[
                Statement(actions=["sagemaker:DescribeCluster"], resources=[cluster.cluster_arn]),
                # IAM knows log groups by ARNs with and without `:*`.
                Statement(actions=actions, resources=[f"{self.log_group_arn}*"]),
            ],
            timeout=minutes(5),
            deletes=False,
        )

    @property
    def log_group_name(self) -> str:
        """The name, which is known when the group exists."""
        return self.resource.get_att_string("Name")

    @cached_property
    def log_group_arn(self) -> str:
        """The ARN; with `*` for the name of a cluster that CloudFormation names."""
        name = "*" if self._cluster.cluster_name is None else self._cluster.cluster_name
        return stack_of(self).format_arn(
            service="logs",
            resource="log-group",
            resource_name=f"{LOG_GROUPS}/{name}/{cluster_id(self._cluster.cluster_arn)}",
            arn_format=ArnFormat.COLON_RESOURCE_NAME,
        )


def _check_days(path: str, days: int | None) -> None:
    if days is None or is_unknown(days) or days in RETENTION_DAYS:
        return
    longer = next((each for each in RETENTION_DAYS if each > days), RETENTION_DAYS[-1])
    allowed = ", ".join(map(str, RETENTION_DAYS))
    raise ValueError(f"{path}: retention_days is {days}; allowed: {allowed}; write retention_days={longer}")
