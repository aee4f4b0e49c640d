"""A workspace of Amazon Managed Service for Prometheus, with alert rules on the metrics of nodes."""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import jsii
from aws_cdk import ArnFormat, RemovalPolicy
from aws_cdk import aws_aps as aps
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sns as sns
from aws_cdk.interfaces import ResourceEnvironment
from aws_cdk.interfaces.aws_aps import IWorkspaceRef, WorkspaceReference
from constructs import Construct

from hyperpod_constructs._support.arguments import checked
from hyperpod_constructs._support.tree import placed, stack_of
from hyperpod_constructs.encryption import encrypt_logs
from hyperpod_constructs.facts import prometheus as facts
from hyperpod_constructs.rules.plugin import register_rules

Alias = Annotated[str, facts.ALIAS]
RetentionDays = Annotated[int, facts.RETENTION]
NODE_RULES = Path(__file__).parent / "alerts" / "nodes.yaml"


@jsii.implements(IWorkspaceRef)
class ManagedPrometheus(Construct):
    """A workspace of Prometheus that keeps metrics, evaluates alert rules and sends what they find to a topic.

    Nodes write to it when it is the `remote_write` of their `NodeMetrics`; on EKS, `Addon.observability` takes it as its
    `workspace`. It outlives its stack with its metrics. Metrics that are kept cost by the month, and so does each sample.

    Source: https://docs.aws.amazon.com/prometheus/latest/userguide/what-is-Amazon-Managed-Service-Prometheus.html
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        alias: Alias | None = None,
        node_rules: bool = True,
        alerts_topic: sns.ITopic | None = None,
        retention_days: RetentionDays | None = None,
        encryption_key: kms.IKey | None = None,
        log_retention: logs.RetentionDays = logs.RetentionDays.ONE_YEAR,
        removal_policy: RemovalPolicy = RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    ) -> None:
        """
        :param alias: a name for people; none unless given.
        :param node_rules: whether the alert rules of this library for nodes are there; yes unless given. `add_rules` adds yours.
        :param alerts_topic: gets every alert and its end; alerts are only seen in Prometheus and Grafana unless given. A topic of
            this app gets the statement that lets Prometheus publish.
        :param retention_days: days that metrics stay; the service's 150 when not given.
        :param encryption_key: encrypts metrics and the log; a key of AWS unless given. A change **replaces** the workspace.
        :param log_retention: how long the log of rules that fail stays; a year unless given.
        :param removal_policy: the workspace stays when it is removed or replaced, unless given otherwise.
        :raises ValueError: for an alias or a number of days beyond the service's limits.
        """
        super().__init__(scope, id)
        register_rules(self, scope)
        self._path = placed(self, scope, id)
        log_group = logs.LogGroup(self, "Log", retention=log_retention, removal_policy=RemovalPolicy.DESTROY)
        self._resource = aps.CfnWorkspace(
            self,
            "Resource",
            alias=alias,
            kms_key_arn=None if encryption_key is None else encryption_key.key_arn,
            logging_configuration=aps.CfnWorkspace.LoggingConfigurationProperty(log_group_arn=log_group.log_group_arn),
            alert_manager_definition=None if alerts_topic is None else self._alert_manager(alerts_topic),
            workspace_configuration=None
            if retention_days is None
            else aps.CfnWorkspace.WorkspaceConfigurationProperty(retention_period_in_days=retention_days),
        )
        self._resource.apply_removal_policy(removal_policy)
        if encryption_key is not None:
            encrypt_logs(self, encryption_key)
        if node_rules:
            self.add_rules("NodeRules", path=NODE_RULES)

    @property
    def resource(self) -> aps.CfnWorkspace:
        """The L1."""
        return self._resource

    @property
    def env(self) -> ResourceEnvironment:
        """Account and region of the workspace."""
        return self._resource.env

    @cached_property
    def workspace_ref(self) -> WorkspaceReference:
        """What others need to name it: `Addon.observability(workspace=...)` takes this construct."""
        return self._resource.workspace_ref

    @cached_property
    def workspace_arn(self) -> str:
        """The ARN."""
        return self.workspace_ref.workspace_arn

    @property
    def query_url(self) -> str:
        """The address of a data source; requests are signed for `aps`."""
        return self._resource.attr_prometheus_endpoint

    @checked
    def add_rules(self, id: str, *, path: Path | str) -> aps.CfnRuleGroupsNamespace:
        """Add rules of a file as Prometheus reads it; `promtool check rules` and `promtool test rules` test it.

        :param id: of the construct; it names the rules in the workspace too.
        :param path: the file.
        :raises ValueError: for a file that is not there or has no groups.
        """
        file = Path(path)
        if not file.is_file():
            raise ValueError(f"{self._path}: {file} is not there; write the path of a file with groups of rules")
        text = file.read_text("utf-8")
        if not any(line.startswith("groups:") for line in text.splitlines()):
            raise ValueError(
                f"{self._path}: {file} has no groups; write a file of rules as Prometheus reads it, with groups: at its top"
            )
        return aps.CfnRuleGroupsNamespace(self, id, name=id, workspace=self.workspace_arn, data=text)

    @checked
    def grant_write(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let somebody write samples. Nodes whose `NodeMetrics` name the workspace have the permission already."""
        return iam.Grant.add_to_principal(grantee=grantee, actions=[facts.WRITE], resource_arns=[self.workspace_arn])

    @checked
    def grant_query(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let somebody read metrics, their names and their labels."""
        return iam.Grant.add_to_principal(grantee=grantee, actions=list(facts.QUERY), resource_arns=[self.workspace_arn])

    def _alert_manager(self, topic: sns.ITopic) -> str:
        """Alerts of a group of nodes are one message; JSON is YAML too.

        Source: https://docs.aws.amazon.com/prometheus/latest/userguide/AMP-alertmanager-config.html
        """
        stack = stack_of(self)
        own = stack.format_arn(service="aps", resource="workspace", resource_name="*", arn_format=ArnFormat.SLASH_RESOURCE_NAME)
        topic.add_to_resource_policy(
            iam.PolicyStatement(
                actions=list(facts.PUBLISH),
                principals=[iam.ServicePrincipal(facts.PRINCIPAL)],
                resources=[topic.topic_arn],
                conditions={"StringEquals": {"aws:SourceAccount": stack.account}, "ArnLike": {"aws:SourceArn": own}},
            )
        )
        receiver: dict[str, Any] = {
            "name": "topic",
            "sns_configs": [{"topic_arn": topic.topic_arn, "sigv4": {"region": stack.region}, "send_resolved": True}],
        }
        grouped = {"receiver": "topic", "group_by": ["alertname", "instance_group"]}
        definition = json.dumps({"route": grouped, "receivers": [receiver]})
        return json.dumps({"alertmanager_config": definition})
