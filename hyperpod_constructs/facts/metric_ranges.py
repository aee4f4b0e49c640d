"""What values of metrics can be: none of these is below nothing, and percentages end at 100 (as of 2026-11-27; read, not measured).

Sources: https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/rds-metrics.html,
https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/viewing_metrics_with_cloudwatch.html,
https://docs.aws.amazon.com/fsx/latest/LustreGuide/fs-metrics.html and
https://docs.aws.amazon.com/efs/latest/ug/efs-metrics.html
"""

from __future__ import annotations

from collections.abc import Mapping

BELOW_NOTHING: Mapping[str, tuple[str, ...]] = {
    "AWS/RDS": ("ReplicaLag", "CheckpointLag"),
}
"""Metrics with values below nothing: a replica whose lag is not known says -1."""

PERCENTAGES: Mapping[str, tuple[str, ...]] = {
    "AWS/RDS": ("CPUUtilization",),
    "AWS/EC2": ("CPUUtilization",),
    "AWS/FSx": (
        *("NetworkThroughputUtilization", "FileServerDiskThroughputUtilization", "FileServerDiskIopsUtilization"),
        *("CPUUtilization", "MemoryUtilization", "DiskThroughputUtilization", "DiskIopsUtilization"),
    ),
    "AWS/EFS": ("PercentIOLimit",),
}
"""Metrics in percent of what there is."""

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
