"""Events of S3 at EventBridge, and metrics of data services (as of 2026-11-27).

Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/EventBridge.html
"""

from __future__ import annotations

from collections.abc import Mapping

SOURCE = "aws.s3"
TYPES = (
    "Object ACL Updated",
    "Object Access Tier Changed",
    "Object Created",
    "Object Deleted",
    "Object Restore Completed",
    "Object Restore Expired",
    "Object Restore Initiated",
    "Object Storage Class Changed",
    "Object Tags Added",
    "Object Tags Deleted",
)
"""The `detail-type` of the events that a bucket sends once EventBridge is switched on."""
REPLICATION_METRICS = (
    "BytesPendingReplication",
    "OperationsFailedReplication",
    "OperationsPendingReplication",
    "ReplicationLatency",
)
"""Metrics of replication; their dimension `RuleId` is the id of a rule.

Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/metrics-dimensions.html
"""

IN_BYTES: Mapping[str, tuple[str, ...]] = {
    "AWS/EFS": ("PermittedThroughput", "StorageBytes"),
    "AWS/ElastiCache": ("BytesUsedForCache", "FreeableMemory"),
    "AWS/FSx": ("FreeDataStorageCapacity", "FreeStorageCapacity", "LogicalDiskUsage", "PhysicalDiskUsage", "UsedStorageCapacity"),
    "AWS/RDS": ("FreeLocalStorage", "FreeStorageSpace", "FreeableMemory", "VolumeBytesUsed"),
    "AWS/S3": ("BucketSizeBytes",),
}
"""Metrics in bytes, by namespace.

Sources: https://docs.aws.amazon.com/fsx/latest/LustreGuide/fs-metrics.html,
https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/rds-metrics.html,
https://docs.aws.amazon.com/efs/latest/ug/efs-metrics.html,
https://docs.aws.amazon.com/AmazonElastiCache/latest/dg/CacheMetrics.HostLevel.html and
https://docs.aws.amazon.com/AmazonS3/latest/userguide/metrics-dimensions.html
"""
FEWEST_BYTES = 1_000_000
"""Fewer bytes of storage or memory, but for none or one, were meant in another unit."""
