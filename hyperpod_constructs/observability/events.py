"""Events of a cluster to topics, queues and functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from aws_cdk import aws_events as events
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from hyperpod_constructs._support.arguments import checked
from hyperpod_constructs._support.statements import Statement, document
from hyperpod_constructs._support.tree import path_of, placed, stack_of
from hyperpod_constructs.custom_resources.cluster_log_group import ClusterLogGroup
from hyperpod_constructs.custom_resources.provider import HandlerFunction, minutes
from hyperpod_constructs.facts import events as facts
from hyperpod_constructs.facts.log_failures import DETECTION
from hyperpod_constructs.observability.cluster import MonitoredCluster
from hyperpod_constructs.observability.topic import let_publish

_EVENTS = "events.amazonaws.com"


class EventLevel(StrEnum):
    """The importance of events. A level means itself and those above."""

    INFO = "Info"
    """Everything: each step of an operation, each status of the cluster."""
    WARN = "Warn"
    """Recoveries of nodes, roll-backs, unhealthy nodes, and what failed."""
    ERROR = "Error"
    """What failed: an operation, a node, the cluster."""


_STATES: Mapping[EventLevel, Mapping[str, Any]] = {
    EventLevel.INFO: {},
    EventLevel.WARN: {"ClusterStatus": ["Failed", "RollingBack"]},
    EventLevel.ERROR: {"ClusterStatus": ["Failed"]},
}
_UNHEALTHY = {"HealthSummary": {"HealthStatus": [{"anything-but": facts.HEALTHY}]}}
_HEALTH: Mapping[EventLevel, Mapping[str, Any]] = {
    EventLevel.INFO: {},
    EventLevel.WARN: _UNHEALTHY,
    EventLevel.ERROR: _UNHEALTHY,
}


class ClusterEvents(Construct):
    """Rules of EventBridge for the three kinds of events of a cluster: operations, status, and health of nodes.

    Events of operations come only from clusters that provision continuously. An unhealthy node counts at every level.

    On Slurm the service's health agent sends no events; it writes to the log group. With `log_group`, a function makes an event of
    the same kind of each fault there, whose source is `hyperpod-constructs`, because only AWS may send those of `aws.sagemaker`. A
    log group takes two subscription filters; this is one.

    EventBridge repeats a delivery for 24 hours.

    Source: https://docs.aws.amazon.com/sagemaker/latest/dg/automating-sagemaker-with-eventbridge.html
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster: MonitoredCluster,
        level: EventLevel = EventLevel.ERROR,
        topics: Sequence[sns.ITopic] = (),
        queues: Sequence[sqs.IQueue] = (),
        functions: Sequence[lambda_.IFunction] = (),
        log_group: ClusterLogGroup | None = None,
    ) -> None:
        """
        :param cluster: the cluster.
        :param level: the lowest level; errors alone unless given.
        :param topics: topics that receive the events. A topic with a key needs one whose policy admits EventBridge, see
            `alarms_topic`.
        :param queues: queues that receive them. A key must admit EventBridge too.
        :param functions: functions that receive them.
        :param log_group: the cluster's log group, whose health faults become events; only those of the service unless given.
        :raises ValueError: without a topic, a queue or a function.
        """
        super().__init__(scope, id)
        path = placed(self, scope, id)
        targets = [
            *(topic.topic_arn for topic in topics),
            *(queue.queue_arn for queue in queues),
            *(function.function_arn for function in functions),
        ]
        if not targets:
            raise ValueError(f"{path}: topics, queues and functions are empty; give at least one receiver of the events")
        self._cluster = cluster
        self._targets = [events.CfnRule.TargetProperty(arn=arn, id=f"Target{place}") for place, arn in enumerate(targets)]
        levels = list(facts.LEVELS[facts.LEVELS.index(level) :])
        #: The rule of operations.
        self.operations = self._rule("Operations", facts.CLUSTER_EVENT, {"EventDetails": {"EventLevel": levels}})
        #: The rule of the cluster's status.
        self.states = self._rule("States", facts.CLUSTER_STATE, _STATES[level])
        #: The rule of unhealthy nodes.
        self.health = self._rule("Health", facts.NODE_HEALTH, _HEALTH[level], sources=[facts.BRIDGED])
        #: The rules.
        self.rules = (self.operations, self.states, self.health)
        self._admit(topics, queues, functions)
        if log_group is not None:
            self._bridge(log_group)

    def _rule(self, id: str, kind: str, detail: Mapping[str, Any], *, sources: Sequence[str] = ()) -> events.CfnRule:
        pattern: dict[str, Any] = {
            "source": ["aws.sagemaker", *sources],
            "detail-type": [kind],
            "resources": [self._cluster.cluster_arn],
        }
        return events.CfnRule(
            self,
            id,
            description=f"{kind} of {path_of(self)}",
            event_pattern={**pattern, "detail": detail} if detail else pattern,
            targets=self._targets,
        )

    def _admit(self, topics: Sequence[sns.ITopic], queues: Sequence[sqs.IQueue], functions: Sequence[lambda_.IFunction]) -> None:
        """Let the rules send to their targets. The policies of imported topics and queues are not changed."""
        rules = stack_of(self).format_arn(service="events", resource="rule", resource_name="*")
        for topic in topics:
            let_publish(topic, self, _EVENTS, rules)
        for queue in queues:
            queue.add_to_resource_policy(
                iam.PolicyStatement(
                    actions=["sqs:SendMessage"],
                    principals=[iam.ServicePrincipal(_EVENTS)],
                    resources=[queue.queue_arn],
                    conditions={"ArnLike": {"aws:SourceArn": rules}},
                )
            )
        for function in functions:
            for rule in self.rules:
                lambda_.CfnPermission(
                    self,
                    f"{rule.node.id}{function.node.addr[:8]}",
                    action="lambda:InvokeFunction",
                    function_name=function.function_arn,
                    principal=_EVENTS,
                    source_arn=rule.attr_arn,
                )

    def _bridge(self, log_group: ClusterLogGroup) -> None:
        """Make events of the health agent's lines."""
        stack, arn = stack_of(self), self._cluster.cluster_arn
        bridge = HandlerFunction(self, "Bridge", handler="health_events.on_logs", timeout=minutes(1))
        for name, value in (("SOURCE", facts.BRIDGED), ("CLUSTER_ARN", arn)):
            bridge.function.add_environment(name, value)
        bus = stack.format_arn(service="events", resource="event-bus", resource_name="default")
        own = {"StringEquals": {"events:source": facts.BRIDGED}}
        policy = iam.Policy(
            self,
            "Policy",
            document=document([Statement(actions=["events:PutEvents"], resources=[bus], conditions=own)]),
            roles=[bridge.role],
        )
        permission = lambda_.CfnPermission(
            self,
            "Logs",
            action="lambda:InvokeFunction",
            function_name=bridge.function.function_arn,
            principal="logs.amazonaws.com",
            source_account=stack.account,
            source_arn=f"{log_group.log_group_arn}:*",
        )
        subscription = logs.CfnSubscriptionFilter(
            self,
            "Faults",
            log_group_name=log_group.log_group_name,
            filter_pattern=DETECTION,
            destination_arn=bridge.function.function_arn,
        )
        subscription.node.add_dependency(permission, policy)
