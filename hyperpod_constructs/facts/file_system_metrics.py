"""The metric of CloudWatch with the bytes that a file system holds, by its type (as of 2026-11-24; read, not measured).

Sources: https://docs.aws.amazon.com/fsx/latest/LustreGuide/fs-metrics.html and
https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/fsx-openzfs-metrics.html.
"""

from __future__ import annotations

from collections.abc import Mapping

NAMESPACE = "AWS/FSx"
DIMENSION = "FileSystemId"
PERIOD_SECONDS = 60

USED: Mapping[str, tuple[str, str]] = {"LUSTRE": ("LogicalDiskUsage", "Sum"), "OPENZFS": ("UsedStorageCapacity", "Average")}
"""The metric and its statistic. A file system of Lustre has a sample for each of its disks."""

FREE_OF_LUSTRE = "FreeDataStorageCapacity"
"""The free bytes of a Lustre file system, as the sum over its disks in one period."""
