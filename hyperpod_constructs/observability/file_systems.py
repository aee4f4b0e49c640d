"""What alarms and dashboards look at on a file system: its free room, its throughput, and its queues to S3."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from hyperpod_constructs._support.tokens import is_unknown
from hyperpod_constructs.facts import file_system_metrics
from hyperpod_constructs.facts.file_system_metrics import DIMENSION

_GIB = 1024**3
_MB = 1_000_000
_PERIOD_SECONDS = 300


class MonitoredFileSystem(Protocol):
    """A Lustre or OpenZFS file system of this app, or an imported one, whose size and throughput are not known."""

    @property
    def file_system_id(self) -> str: ...
    @property
    def dns_name(self) -> str: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Watched:
    """A metric of a file system, and the threshold of its alarm.

    :param id: the end of the alarm's id.
    :param above: whether the alarm rings at the threshold and above it, or at it and below.
    """

    id: str
    metric: str
    dimensions: dict[str, str]
    statistic: str
    threshold: float
    above: bool
    text: str
    period: int = _PERIOD_SECONDS
    periods: int
    needed: int


def is_lustre(file_system: MonitoredFileSystem) -> bool:
    """Whether it is a Lustre file system: those have a mount name."""
    return hasattr(type(file_system), "mount_name")


def watched(
    file_system: MonitoredFileSystem, *, used_percent: int | None, throughput_percent: int | None, queue_minutes: int | None
) -> Iterator[Watched]:
    """The metrics of a file system with thresholds; those with an unknown figure are left out."""
    own = {DIMENSION: file_system.file_system_id}
    if used_percent is not None:
        yield from _capacity(file_system, own, used_percent)
    throughput = getattr(file_system, "throughput_mbps", None)
    if throughput_percent is not None and throughput is not None:
        most = throughput * _MB * _PERIOD_SECONDS * throughput_percent / 100
        for id, metric in (("Reads", "DataReadBytes"), ("Writes", "DataWriteBytes")):
            text = (
                f"{id} take {throughput_percent} % of its {throughput:g} MB/s for half an hour, so jobs wait for it. Raise its "
                "throughput, or find the jobs with squeue: hyperpod connect"
            )
            yield Watched(
                id=id, metric=metric, dimensions=own, statistic="Sum", threshold=most, above=True, text=text, periods=6, needed=6
            )
    if queue_minutes is not None and is_lustre(file_system):
        for id, publisher, what in (("Imports", "AutoImport", "from S3"), ("Exports", "AutoExport", "to S3")):
            text = (
                f"The oldest change has waited {queue_minutes} minutes for its way {what}. Look at the associations: "
                "aws fsx describe-data-repository-associations"
            )
            yield Watched(
                id=id,
                metric="AgeOfOldestQueuedMessage",
                dimensions={**own, "Publisher": publisher},
                statistic="Maximum",
                threshold=queue_minutes * 60,
                above=True,
                text=text,
                periods=3,
                needed=3,
            )


def _capacity(file_system: MonitoredFileSystem, own: dict[str, str], used_percent: int) -> Iterator[Watched]:
    """The room of a file system whose size is known: what is free on Lustre, what is used on OpenZFS."""
    size = getattr(file_system, "storage_capacity_gib", None)
    if size is None or is_unknown(size):
        return
    text = f"More than {used_percent} % of {size} GiB are full; when it is full, writes fail. Delete files, or raise its capacity"
    if is_lustre(file_system):
        free = size * _GIB * (100 - used_percent) / 100
        metric, statistic, threshold = file_system_metrics.FREE_OF_LUSTRE, "Sum", free
    else:
        (metric, statistic), threshold = file_system_metrics.USED["OPENZFS"], size * _GIB * used_percent / 100
    yield Watched(
        id="Capacity",
        metric=metric,
        dimensions=own,
        statistic=statistic,
        threshold=threshold,
        above=not is_lustre(file_system),
        text=text,
        period=file_system_metrics.PERIOD_SECONDS,  # of Lustre there is a sample for each disk, so a longer sum counts it again
        periods=15,
        needed=10,
    )
