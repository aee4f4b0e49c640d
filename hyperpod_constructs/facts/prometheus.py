"""Prometheus and Grafana as services of AWS, and the metrics that nodes of this library write (as of 2026-11-24)."""

from __future__ import annotations

from collections.abc import Mapping

from hyperpod_constructs.facts.limits import Limit

WORKSPACE = "AWS::APS::Workspace"
RULES = "AWS::APS::RuleGroupsNamespace"
GRAFANA = "AWS::Grafana::Workspace"

ALIAS = Limit(shortest=1, longest=100, words="{shortest} to {longest} characters", example="training")
RETENTION = Limit(least=1, most=1095)
"""Days that metrics stay.

Source: https://docs.aws.amazon.com/prometheus/latest/userguide/AMP_quotas.html
"""

WRITE = "aps:RemoteWrite"
QUERY = ("aps:GetLabels", "aps:GetMetricMetadata", "aps:GetSeries", "aps:QueryMetrics")
"""Source: https://docs.aws.amazon.com/prometheus/latest/userguide/AMP-and-IAM.html"""

PRINCIPAL = "aps.amazonaws.com"
PUBLISH = ("sns:GetTopicAttributes", "sns:Publish")
"""Source: https://docs.aws.amazon.com/prometheus/latest/userguide/AMP-alertmanager-receiver-AMPpermission.html"""

GRAFANA_PRINCIPAL = "grafana.amazonaws.com"
GRAFANA_NAME = Limit(
    shortest=1,
    longest=255,
    pattern=r"[a-zA-Z0-9._~-]{1,255}",
    words="{shortest} to {longest} letters, digits, '.', '_', '~' and '-'",
    example="training",
)
READ_CLOUDWATCH = (
    "cloudwatch:DescribeAlarmHistory",
    "cloudwatch:DescribeAlarms",
    "cloudwatch:DescribeAlarmsForMetric",
    "cloudwatch:GetInsightRuleReport",
    "cloudwatch:GetMetricData",
    "cloudwatch:ListMetrics",
)
"""Source: https://docs.aws.amazon.com/grafana/latest/userguide/AMG-manage-permissions.html"""

NODE_NAMESPACE = "HyperPod/Nodes"
"""The namespace of the figures of nodes in CloudWatch, unless another is given."""

NODE_SERIES: Mapping[str, int] = {"gpu": 10, "memory": 7, "neuron": 11, "efa": 13, "disk": 12}
"""The most series of Prometheus by set: of a GPU, the memory, a Neuron device with eight cores, a card of EFA, three disks."""

NAMESPACE = Limit(
    shortest=1,
    longest=255,
    pattern=r"(?!AWS/|:)[A-Za-z0-9._/#:-]{1,255}",
    words="{shortest} to {longest} letters, digits and ._/#:-, not AWS/ or a colon first",
    example=NODE_NAMESPACE,
)
"""Source: https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricData.html"""

INTERVAL = Limit(least=15, most=3600)
"""Seconds between two looks of a node at itself: this library's own limit."""

PORT = Limit(least=1024, most=65535)
"""A port that a program without root's rights can open."""

NODE_PORT = 9190
"""Beside the ports of the service's own exporters: 9100, 9109, 9341 and 9400."""

WRITE_ENDPOINT = "aps-workspaces"
"""The interface endpoint through which nodes write samples in a network without internet."""

NODE_FIGURES: Mapping[str, tuple[str, ...]] = {
    "gpu": (
        "gpu_utilization_percent",
        "gpu_memory_used_percent",
        "gpu_temperature_celsius",
        "gpu_power_watts",
        "gpu_uncorrected_errors",
    ),
    "memory": ("memory_used_percent",),
    "neuron": ("neuroncore_utilization_percent", "neuron_memory_used_bytes", "neuron_uncorrected_errors"),
    "efa": ("efa_sent_bytes_per_second", "efa_received_bytes_per_second", "efa_dropped_packets"),
    "disk": ("disk_used_percent",),
}
"""The figures of a node in CloudWatch, by the set that `lifecycle/node_metrics` reads."""
