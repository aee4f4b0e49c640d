"""File systems of FSx for Lustre and for OpenZFS with everything set, and their links to S3."""

from __future__ import annotations

from aws_cdk import App, RemovalPolicy, Stack
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3

from hyperpod_constructs import (
    ClusterNetwork,
    LustreLogConfiguration,
    LustreLogLevel,
    LustreReadCacheConfiguration,
    LustreReadCacheSizingMode,
    LustreStorage,
    LustreStorageType,
    OpenZfsClientConfiguration,
    OpenZfsStorage,
)


def build(app: App) -> None:
    """Of Lustre one with backups, one with a link, which excludes backups, and one with Intelligent-Tiering, which has no capacity;
    and one of OpenZFS, which goes with its snapshots.
    """
    stack = Stack(app, "FileSystems")
    network = ClusterNetwork(stack, "Network", availability_zone_id="usw2-az4")
    LustreStorage(
        stack,
        "BackedUp",
        network=network,
        storage_capacity_gib=38400,
        per_unit_storage_throughput=125,
        metadata_iops=12000,
        efa_enabled=True,
        automatic_backup_retention_days=7,
        daily_automatic_backup_start_time="03:00",
        copy_tags_to_backups=True,
        weekly_maintenance_start_time="7:03:00",
        kms_key=kms.Key(stack, "Key"),
    )
    linked = LustreStorage(stack, "Linked", network=network, log_configuration=_logs(stack))
    linked.add_data_repository(
        "Data",
        file_system_path="/data",
        bucket=s3.Bucket(stack, "Bucket"),
        preload_metadata=True,
        imported_file_chunk_size=2048,
    )
    LustreStorage(
        stack,
        "Tiered",
        network=network,
        storage_type=LustreStorageType.INTELLIGENT_TIERING,
        throughput_capacity=4000,
        data_read_cache_configuration=LustreReadCacheConfiguration(
            sizing_mode=LustreReadCacheSizingMode.USER_PROVISIONED, size_gib=1024
        ),
    )
    OpenZfsStorage(
        stack,
        "Homes",
        network=network,
        disk_iops=1000,
        record_size_kib=256,
        client_configurations=[OpenZfsClientConfiguration(clients="10.1.0.0/16", options=["rw", "crossmnt"])],
        daily_automatic_backup_start_time="03:00",
        copy_tags_to_backups=True,
        copy_tags_to_volumes=True,
        copy_tags_to_snapshots=True,
        weekly_maintenance_start_time="7:03:00",
        removal_policy=RemovalPolicy.DESTROY,
    )


def _logs(stack: Stack) -> LustreLogConfiguration:
    group = logs.LogGroup(stack, "Logs", log_group_name="/aws/fsx/training")
    return LustreLogConfiguration(level=LustreLogLevel.WARN_ERROR, destination=group)
