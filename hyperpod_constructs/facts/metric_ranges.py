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
    "AWS/FSx": ("FreeDataStorageCapacity", "FreeStorageCapacity", "StorageCapacity", "UsedStorageCapacity"),
    "AWS/RDS": ("FreeStorageSpace", "FreeableMemory", "FreeLocalStorage"),
    "AWS/EFS": ("StorageBytes", "BurstCreditBalance"),
    "AWS/S3": ("BucketSizeBytes",),
}
"""Metrics of stores and memories, in bytes."""

LEAST_BYTES = 1_000_000
"""No store or memory is about this small: a limit below is of another unit."""
