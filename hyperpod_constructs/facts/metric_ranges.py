"""What values of metrics can be: none of these is below nothing, and percentages end at 100 (as of 2026-11-27; read, not measured).

Sources: https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/rds-metrics.html,
https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/viewing_metrics_with_cloudwatch.html,
https://docs.aws.amazon.com/fsx/latest/LustreGuide/fs-metrics.html, https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/fsx-openzfs-metrics.html,
https://docs.aws.amazon.com/efs/latest/ug/efs-metrics.html,
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Synthetics_Canaries_metrics.html and
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/Container-Insights-metrics-enhanced-EKS.html
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

BELOW_NOTHING: Mapping[str, tuple[str, ...]] = {
    "AWS/RDS": ("AuroraBinlogReplicaLag", "ReplicaLag"),
}
"""Metrics with values below nothing: a replica whose lag is not known says -1 (as of 2026-11-27).

Sources: https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/USER_ReadRepl.Monitoring.html and
https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/Aurora.AuroraMonitoring.Metrics.html
"""

PERCENTAGES: Mapping[str, tuple[str, ...]] = {
    "AWS/RDS": ("ACUUtilization", "BurstBalance", "CPUUtilization", "EBSByteBalance%", "EBSIOBalance%"),
    "AWS/EC2": ("CPUUtilization", "EBSByteBalance%", "EBSIOBalance%"),
    "AWS/FSx": (
        *("CPUUtilization", "DiskThroughputBalance", "FileServerCacheHitRatio", "FileServerDiskIopsBalance"),
        *("FileServerDiskThroughputBalance", "MemoryUtilization", "StorageCapacityUtilization"),
    ),
    "AWS/EFS": ("PercentIOLimit",),
    "CloudWatchSynthetics": ("SuccessPercent",),
    "ContainerInsights": (
        *("node_cpu_utilization", "node_filesystem_utilization", "node_gpu_memory_utilization", "node_gpu_utilization"),
        *("node_memory_utilization", "pod_gpu_utilization"),
    ),
}
"""Metrics in percent of what there is. A limit that is provisioned is passed by bursts, so its utilization has no end."""

PARTS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "AWS/ApplicationELB": {"RequestCount": ("HTTPCode_Target_4XX_Count", "HTTPCode_Target_5XX_Count")},
    "AWS/FSx": {"StorageCapacity": ("UsedStorageCapacity",)},
    "AWS/Lambda": {"Invocations": ("Errors",)},
    "AWS/SageMaker": {"Invocations": ("Invocation4XXErrors", "Invocation5XXErrors")},
}
"""By namespace and metric: others that count a part of what it counts, so that a quotient of the two is 1 at most."""

LEVELS: Mapping[str, tuple[str, ...]] = {
    **PERCENTAGES,
    "AWS/RDS": (*PERCENTAGES["AWS/RDS"], "DatabaseConnections", "FreeStorageSpace", "FreeableMemory"),
}
"""Metrics of how things stand, with a value each minute: a sum over some minutes is a multiple of it."""

OF_EACH_DISK: Mapping[str, tuple[str, ...]] = {"AWS/FSx": ("FreeDataStorageCapacity", "LogicalDiskUsage", "PhysicalDiskUsage")}
"""Metrics with a value of each disk each minute: only the sum of one minute is that of the file system.

Source: https://docs.aws.amazon.com/fsx/latest/LustreGuide/fs-metrics.html
"""

ONE_EACH: Mapping[str, tuple[str, ...]] = {
    "AWS/ApplicationELB": (
        *(f"HTTPCode_ELB_{code}_Count" for code in ("3XX", "4XX", "5XX")),
        *(f"HTTPCode_Target_{code}_Count" for code in ("2XX", "3XX", "4XX", "5XX")),
    ),
    "AWS/Lambda": ("DeadLetterErrors", "DestinationDeliveryFailures", "Errors", "Invocations", "Throttles"),
    "AWS/SageMaker": ("Invocation4XXErrors", "Invocation5XXErrors", "InvocationModelErrors"),
}
"""Metrics with a value of 1, or 0, for each call: only their sum counts.

Sources: https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html,
https://docs.aws.amazon.com/sagemaker/latest/dg/monitoring-cloudwatch.html and
https://docs.aws.amazon.com/elasticloadbalancing/latest/application/load-balancer-cloudwatch-metrics.html
"""

FAILURES = ("dropped", "error", "fail", "fault", "reject", "throttl", "unhealthy", "_4xx", "_5xx", "timedout")
"""Parts of the names of metrics, in small letters, that count what goes wrong: few are good.

Source: https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/aws-services-cloudwatch-metrics.html
"""

GOOD_NAMES = ("free", "good", "healed", "noerror", "ready", "recovered", "resolved", "success", "withouterror")
"""Parts of names, in small letters, by which a metric of one's own may count what goes well, such as `ErrorFreeRuns`."""

LITTLE_IS_GOOD: Mapping[str, tuple[str, ...]] = {
    "AWS/FSx": ("AgeOfOldestQueuedMessage", "StorageCapacityUtilization", "UsedStorageCapacity"),
    "AWS/Kinesis": ("GetRecords.IteratorAgeMilliseconds",),
    "AWS/Lambda": ("IteratorAge",),
    "AWS/NATGateway": ("PacketsDropCount",),
    "AWS/RDS": ("AuroraReplicaLag", "DiskQueueDepth", "ReplicaLag"),
    "AWS/SQS": ("ApproximateAgeOfOldestMessage",),
}
MUCH_IS_GOOD: Mapping[str, tuple[str, ...]] = {
    "AWS/CertificateManager": ("DaysToExpiry",),
    "AWS/EC2": ("CPUCreditBalance", "EBSByteBalance%", "EBSIOBalance%"),
    "AWS/EFS": ("BurstCreditBalance",),
    "AWS/FSx": (
        *("DiskThroughputBalance", "FileServerDiskIopsBalance", "FileServerDiskThroughputBalance", "FreeDataStorageCapacity"),
        "FreeStorageCapacity",
    ),
    "AWS/RDS": (
        *("BurstBalance", "CPUCreditBalance", "EBSByteBalance%", "EBSIOBalance%", "FreeLocalStorage", "FreeStorageSpace"),
        "FreeableMemory",
    ),
    "CloudWatchSynthetics": ("SuccessPercent",),
}
"""Metrics of what is used up, waits or lags behind, and of what is left: an alarm is for the other side of its threshold.

Sources: https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/metrics-monitoring.html,
https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/rds-metrics.html and
https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html (as of 2026-11-29)
"""

GOOD_STATES: Mapping[str, tuple[str, ...]] = {
    "AWS/DX": ("ConnectionState",),
    "AWS/Route53": ("HealthCheckStatus",),
    "AWS/VPN": ("TunnelState",),
}
"""Metrics that are 1 while a connection is up, or a check is passed, and 0 else (as of 2026-11-28).

Sources: https://docs.aws.amazon.com/vpn/latest/s2svpn/monitoring-cloudwatch-vpn.html,
https://docs.aws.amazon.com/directconnect/latest/UserGuide/monitoring-cloudwatch.html and
https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/monitoring-cloudwatch.html
"""

MICROSECONDS: Mapping[str, tuple[str, ...]] = {"AWS/SageMaker": ("ModelLatency", "OverheadLatency")}
"""Metrics in microseconds.

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/monitoring-cloudwatch.html
"""

LEAST_MICROSECONDS = 1000
"""No model answers over a network in fewer; such a threshold was meant in milliseconds or seconds."""


class Bound(NamedTuple):
    """A property that a metric of its resource never exceeds.

    :param dimension: the dimension that names the resource.
    :param scale: how many units of the metric are one of the property.
    :param otherwise: the value of the property unless given; `None` for no bound.
    """

    dimension: str
    property: str
    scale: int
    otherwise: int | None


BOUNDS: Mapping[tuple[str, str], Bound] = {
    ("AWS/Lambda", "ConcurrentExecutions"): Bound("FunctionName", "ReservedConcurrentExecutions", 1, None),
    ("AWS/Lambda", "Duration"): Bound("FunctionName", "Timeout", 1000, 3),
    ("AWS/SQS", "ApproximateAgeOfOldestMessage"): Bound("QueueName", "MessageRetentionPeriod", 1, 345_600),
}
"""By namespace and metric.

Sources: https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html,
https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html and
https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-lambda-function.html
"""

OF_VALUES = ("Average", "Maximum", "Minimum")
"""Statistics that lie among the values of a metric, unlike a sum or a number of samples."""

IN_BYTES: Mapping[str, tuple[str, ...]] = {
    "AWS/EFS": ("BurstCreditBalance", "PermittedThroughput", "StorageBytes"),
    "AWS/ElastiCache": ("BytesUsedForCache", "FreeableMemory"),
    "AWS/FSx": (
        *("FreeDataStorageCapacity", "FreeStorageCapacity", "LogicalDiskUsage"),
        *("PhysicalDiskUsage", "StorageCapacity", "UsedStorageCapacity"),
    ),
    "AWS/RDS": ("FreeLocalStorage", "FreeStorageSpace", "FreeableMemory", "VolumeBytesUsed"),
    "AWS/S3": ("BucketSizeBytes",),
}
"""Metrics of stores and memories, in bytes.

Sources: those above, https://docs.aws.amazon.com/AmazonElastiCache/latest/dg/CacheMetrics.HostLevel.html and
https://docs.aws.amazon.com/AmazonS3/latest/userguide/metrics-dimensions.html
"""

FREE: Mapping[tuple[str, str], tuple[str, tuple[str, ...]]] = {
    ("AWS/FSx", "FreeDataStorageCapacity"): ("FileSystemId", ("StorageCapacity",)),
    ("AWS/RDS", "FreeStorageSpace"): ("DBInstanceIdentifier", ("AllocatedStorage", "MaxAllocatedStorage")),
}
"""By namespace and metric of free bytes, the dimension that names the store, and its sizes in GiB.

Sources: https://docs.aws.amazon.com/fsx/latest/LustreGuide/fs-metrics.html and
https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/rds-metrics.html
"""

USED: Mapping[tuple[str, str], tuple[str, tuple[str, ...]]] = {
    ("AWS/FSx", "UsedStorageCapacity"): ("FileSystemId", ("StorageCapacity",)),
}
"""The same of bytes in use.

Source: https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/fsx-openzfs-metrics.html (as of 2026-11-30)
"""

LEAST_BYTES = 1_000_000
"""Fewer bytes of a store or memory, but for none or one, were meant in another unit."""

OF_REPLICATION = (
    "BytesPendingReplication",
    "OperationsFailedReplication",
    "OperationsPendingReplication",
    "ReplicationLatency",
)
"""Metrics of the replication of S3; their dimension `RuleId` is the id of a rule.

Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/metrics-dimensions.html
"""
