"""Log groups that services make by themselves and that no stack holds, so they stay when everything else goes (as of 2026-11-23).

The names of those of HyperPod's nodes are in `node_permissions`.

Sources: https://docs.aws.amazon.com/lambda/latest/dg/monitoring-cloudwatchlogs.html and
https://docs.aws.amazon.com/eks/latest/userguide/control-plane-logs.html.
"""

from __future__ import annotations

from collections.abc import Mapping

MADE_BY_SERVICES: Mapping[str, str] = {
    "AWS::Lambda::Function": "/aws/lambda/{}",
    "AWS::EKS::Cluster": "/aws/eks/{}/cluster",
}
"""The name by the resource's type, with the resource's physical id in it. Lambda makes its group for the first line that a function
without another group writes, EKS for the first kind of logs that is on.
"""

NAMES_AND_GROUPS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "AWS::Lambda::Function": ("FunctionName", ("LoggingConfig", "LogGroup")),
    "AWS::EKS::Cluster": ("Name", ()),
}
"""By type, the property with the name, and the place of another group to which the resource writes instead; empty for none."""

OF_CLUSTERS: Mapping[str, Mapping[str, str]] = {
    "/aws/containerinsights/": {"AWS::EKS::Cluster": "Name"},
    "/aws/ecs/containerinsights/": {"AWS::ECS::Cluster": "ClusterName"},
    "/aws/eks/": {"AWS::EKS::Cluster": "Name"},
    "/aws/sagemaker/Clusters/": {"AWS::SageMaker::Cluster": "ClusterName"},
}
"""What stands before the name of a cluster in the names of its groups: the types of such clusters, each with the property of the
name.
"""

ENDS: Mapping[str, tuple[str, ...]] = {
    "/aws/containerinsights/": ("application", "dataplane", "host", "performance", "prometheus"),
    "/aws/ecs/containerinsights/": ("performance", "prometheus"),
    "/aws/eks/": ("cluster",),
    "/aws/sagemaker/Clusters/": (),
}
"""What stands behind the name of a cluster in the names of its groups; nothing here for an id (as of 2026-12-01).

Sources: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-run-jobs-slurm-monitoring.html,
https://docs.aws.amazon.com/eks/latest/userguide/control-plane-logs.html,
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/Container-Insights-setup-logs-FluentBit.html,
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/Container-Insights-setup-metrics.html,
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/Container-Insights-reference-performance-logs-ECS.html and
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/ContainerInsights-Prometheus-Setup-configure.html
"""

AUDIT = "audit"
"""The one kind of a control plane's logs that is JSON."""

LEVELS = ("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL")
"""The levels of a function's logs in JSON; lines below the level of the function are not written (as of 2026-11-27).

Source: https://docs.aws.amazon.com/lambda/latest/dg/monitoring-cloudwatchlogs-log-level.html
"""
UNTOLD = "INFO"
"""The level for which Lambda takes a line without a level or without a time, also if the line says another (as of 2026-11-27).

Source: https://docs.aws.amazon.com/lambda/latest/dg/monitoring-cloudwatchlogs-log-level.html
"""

MOST_SUBSCRIPTIONS = 2
"""The subscriptions of a log group (as of 2026-11-29).

Source: https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutSubscriptionFilter.html
"""

FILTERS = frozenset({"AWS::Logs::MetricFilter", "AWS::Logs::SubscriptionFilter"})
READERS = FILTERS | {
    *("AWS::CloudWatch::Alarm", "AWS::CloudWatch::Dashboard", "AWS::IAM::ManagedPolicy", "AWS::IAM::Policy"),
    *("AWS::IAM::Role", "AWS::IAM::RolePolicy", "AWS::Lambda::Permission", "AWS::Logs::QueryDefinition"),
}
"""What names a group and writes nothing to it by itself."""

LIFECYCLE = "LifecycleConfig"
HEALTH_AGENT = "SagemakerHealthMonitoringAgent"
DEEP_HEALTH_CHECKS = "DeepHealthCheckResults"
"""The kinds of streams in the log group of a cluster. The first two are followed by group and instance, as in
`LifecycleConfig/workers/i-0123456789abcdef0`; the third by an id alone.

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-run-jobs-slurm-monitoring.html
"""

RETENTION_DAYS = (1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653)
"""The days that CloudWatch Logs keeps events for; it keeps them without an end unless told.

Source: https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutRetentionPolicy.html
"""
