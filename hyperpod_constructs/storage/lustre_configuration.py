"""Values of a Lustre file system's configuration, by the names of the service."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from aws_cdk import Stack
from aws_cdk import aws_fsx as fsx
from aws_cdk import aws_logs as logs

from hyperpod_constructs._support.arguments import checked_value
from hyperpod_constructs._support.tokens import is_unknown
from hyperpod_constructs.facts import lustre
from hyperpod_constructs.facts.mistake import Mistake


class CompressionType(StrEnum):
    """Compression of file data. A change leaves existing files as they are."""

    LZ4 = "LZ4"
    NONE = "NONE"


class LustreStorageType(StrEnum):
    """The storage class of a PERSISTENT_2 file system."""

    SSD = "SSD"
    INTELLIGENT_TIERING = "INTELLIGENT_TIERING"


class LustreReadCacheSizingMode(StrEnum):
    """The size of a read cache on SSD: none, in proportion to the throughput, or a given one."""

    NO_CACHE = "NO_CACHE"
    PROPORTIONAL_TO_THROUGHPUT_CAPACITY = "PROPORTIONAL_TO_THROUGHPUT_CAPACITY"
    USER_PROVISIONED = "USER_PROVISIONED"


class LustreLogLevel(StrEnum):
    """The events of links to S3 that a file system logs."""

    DISABLED = "DISABLED"
    WARN_ONLY = "WARN_ONLY"
    ERROR_ONLY = "ERROR_ONLY"
    WARN_ERROR = "WARN_ERROR"


@checked_value
@dataclass(frozen=True, kw_only=True, slots=True)
class LustreReadCacheConfiguration:
    """The read cache on SSD of an Intelligent-Tiering file system.

    :param sizing_mode: by default the service sizes the cache by the throughput.
    :param size_gib: GiB, for USER_PROVISIONED and only then: 32 to 131072 for every 4000 MB/s of the file system.
    :raises ValueError: for a size without USER_PROVISIONED, or the reverse.

    Source: https://docs.aws.amazon.com/fsx/latest/APIReference/API_LustreReadCacheConfiguration.html
    """

    sizing_mode: LustreReadCacheSizingMode = LustreReadCacheSizingMode.PROPORTIONAL_TO_THROUGHPUT_CAPACITY
    size_gib: int | None = None

    def __post_init__(self) -> None:
        provisioned = self.sizing_mode is LustreReadCacheSizingMode.USER_PROVISIONED
        if provisioned and self.size_gib is None:
            raise ValueError("LustreReadCacheConfiguration: size_gib is missing; sizing_mode USER_PROVISIONED needs it")
        if not provisioned and self.size_gib is not None:
            raise ValueError(
                f"LustreReadCacheConfiguration: size_gib is {self.size_gib} beside sizing_mode {self.sizing_mode}; "
                "leave it out, or write sizing_mode=LustreReadCacheSizingMode.USER_PROVISIONED"
            )

    def render(self) -> fsx.CfnFileSystem.DataReadCacheConfigurationProperty:
        """The struct of the L1."""
        return fsx.CfnFileSystem.DataReadCacheConfigurationProperty(sizing_mode=self.sizing_mode.value, size_gib=self.size_gib)


@checked_value
@dataclass(frozen=True, kw_only=True, slots=True)
class LustreLogConfiguration:
    """The logs about links to S3, in CloudWatch.

    :param level: the logged events; warnings and errors unless given.
    :param destination: a log group whose name begins with `/aws/fsx`; by default FSx makes and uses `/aws/fsx/lustre`.
    :raises ValueError: for a log group of another name, or one beside DISABLED.

    Source: https://docs.aws.amazon.com/fsx/latest/APIReference/API_LustreLogCreateConfiguration.html
    """

    level: LustreLogLevel = LustreLogLevel.WARN_ERROR
    destination: logs.ILogGroup | None = None

    def __post_init__(self) -> None:
        if self.destination is None:
            return
        name = _written_name(self.destination)
        mistake: Mistake | None = None
        if self.level is LustreLogLevel.DISABLED:
            mistake = lustre.destination_without_logs("destination")
        elif name is None or not (is_unknown(name) or name.startswith(lustre.LOG_GROUPS)):
            mistake = lustre.strange_log_group("destination", name or f"{self.destination.node.path} without log_group_name")
        if mistake is not None:
            raise ValueError(f"LustreLogConfiguration: {mistake}")

    def render(self) -> fsx.CfnFileSystem.LogConfigurationProperty:
        """The struct of the L1."""
        destination = None if self.destination is None else self.destination.log_group_arn
        return fsx.CfnFileSystem.LogConfigurationProperty(level=self.level.value, destination=destination)


def _written_name(group: logs.ILogGroup) -> str | None:
    """The name as the app wrote it; `None` where CloudFormation makes one, which begins with the stack's name."""
    resource = group.node.default_child
    if not isinstance(resource, logs.CfnLogGroup):
        return group.log_group_name
    return None if Stack.of(resource).resolve(resource.log_group_name) is None else resource.log_group_name
