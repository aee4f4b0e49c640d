"""FSx for Lustre: the supported figures of each kind of file system, and the words for unsupported ones (as of 2026-11-21).

The construct and the rules both ask here. Importing this module does not start jsii.

Sources: https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystem.html and
https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemLustreConfiguration.html.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from hyperpod_constructs.facts.limits import Limit, limits_below, property_limit
from hyperpod_constructs.facts.mistake import Mistake, fixed_by

STEP_WITH_EFA: Mapping[int, int] = {125: 38400, 250: 19200, 500: 9600, 1000: 4800}
"""Step of the capacity in GiB by throughput in MB/s per TiB, of a PERSISTENT_2 file system with EFA."""

_HDD_STEPS = {12: 6000, 40: 1800}
_TIERS = {
    ("PERSISTENT_1", "SSD"): (50, 100, 200),
    ("PERSISTENT_1", "HDD"): tuple(_HDD_STEPS),
    ("PERSISTENT_2", "SSD"): tuple(STEP_WITH_EFA),
}
_FIRST_IOPS = (1500, 3000, 6000)
_TIERING_IOPS = (6000, 12_000)
_MAX_IOPS = 192_000
_IOPS_STEP = 12_000
TIERING_STEP = 4000
"""Step of the throughput of an Intelligent-Tiering file system, in MB/s."""

_CACHE_GIB = (32, 131_072)

LNET_PORTS = range(988, 989)
"""TCP ports of Lustre's network; FSx checks them when it creates a file system.

Source: https://docs.aws.amazon.com/fsx/latest/LustreGuide/limit-access-security-groups.html
"""

CLIENT_PORTS = range(1018, 1024)
"""Further TCP ports of clients and servers.

Source: https://docs.aws.amazon.com/fsx/latest/LustreGuide/limit-access-security-groups.html
"""

ASKING_PORTS = {LNET_PORTS: CLIENT_PORTS, CLIENT_PORTS: LNET_PORTS}
"""The ports from which clients and servers call others, by the ports that they call: Lustre takes calls from privileged ports only.

Source: https://doc.lustre.org/lustre_manual.xhtml (the parameters of LNet: accept=secure, ports below 1024)
"""


def ports_in_words(ports: range) -> str:
    """Ports in a sentence, such as `TCP 988` or `TCP 1018-1023`."""
    return f"TCP {ports.start}" if len(ports) == 1 else f"TCP {ports.start}-{ports.stop - 1}"


_MEMBER = "fsx:CreateFileSystem/LustreConfiguration/"

_IN_WORDS = {
    "DailyAutomaticBackupStartTime": ("a time of day in UTC, HH:MM from 00:00 to 23:59", "05:00"),
    "LogConfiguration/Destination": (
        "the ARN of a log group, {shortest} to {longest} characters",
        "arn:aws:logs:us-west-2:111122223333:log-group:/aws/fsx/lustre",
    ),
    "WeeklyMaintenanceStartTime": ("a day of the week from 1 (Monday) to 7 (Sunday) with a time in UTC, d:HH:MM", "7:05:00"),
}


def _member(name: str) -> Limit:
    words, example = _IN_WORDS.get(name, ("", ""))
    return property_limit(f"{_MEMBER}{name}", words=words, example=example)


MEMBERS: Mapping[str, Limit] = {name: _member(name) for name in limits_below(_MEMBER) if "RootSquash" not in name}
"""The limits of single values of LustreConfiguration, by path. CloudFormation takes all but root squash."""

VERSIONS = ("2.10", "2.12", "2.15")
"""Versions of Lustre that FSx offers."""

REGIONS_WITHOUT_EFA = ("il-central-1", "mx-central-1")
"""Regions without EFA; PERSISTENT_2 has only the two slower tiers there.

Source: https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-fsx-lustre.html
"""
_SLOW_TIERS = (125, 250)

TAKE_TIER = "write a supported throughput of this kind of file system, such as the nearest"
TAKE_CAPACITY = "write a supported capacity, such as the nearest"
TAKE_METADATA = (
    "leave Iops out: Mode AUTOMATIC scales them with the capacity on PERSISTENT_2; or write Mode USER_PROVISIONED with supported "
    "Iops, as Intelligent-Tiering always needs"
)
TAKE_TIERING = (
    "write StorageType INTELLIGENT_TIERING on PERSISTENT_2 with ThroughputCapacity and DataReadCacheConfiguration, and without "
    "StorageCapacity and PerUnitStorageThroughput; another StorageType has neither of the first two"
)


def tiers(deployment: str, storage: str = "SSD", region: str | None = None) -> tuple[int, ...]:
    """The supported throughputs of a kind of file system, in MB/s per TiB; empty for a kind without this figure."""
    found = _TIERS.get((deployment, storage), ())
    return _SLOW_TIERS if deployment == "PERSISTENT_2" and region in REGIONS_WITHOUT_EFA else found


def tier_mistake(name: str, found: int, deployment: str, allowed: tuple[int, ...]) -> Mistake | None:
    """An unsupported throughput, with the supported ones and the nearest; `None` if it is supported."""
    if found in allowed:
        return None
    nearest = min(allowed, key=lambda tier: abs(tier - found))
    listed = ", ".join(map(str, allowed))
    return Mistake(f"{name} {found} is not a tier of {deployment} ({listed}); the nearest is {nearest}", TAKE_TIER)


class Capacities(NamedTuple):
    """The capacities of a kind of file system, in GiB.

    :param step: every multiple of it is supported.
    :param first: further capacities below the first step.
    :param where: the condition of the step, in words.
    """

    step: int
    first: tuple[int, ...] = ()
    where: str = ""

    def __str__(self) -> str:
        steps = f"a multiple of {self.step}{self.where}"
        return f"{', '.join(map(str, self.first))} or {steps}" if self.first else steps

    def hold(self, found: int) -> bool:
        """Whether a capacity is one of these."""
        return found in self.first or (found > 0 and found % self.step == 0)

    def mistake(self, name: str, found: int) -> Mistake | None:
        """An unsupported capacity, with the nearest supported one; `None` if it is supported."""
        if self.hold(found):
            return None
        choices = (max(self.step, round(found / self.step) * self.step), *self.first)
        nearest = min(choices, key=lambda choice: abs(choice - found))
        return Mistake(f"{name} {found} is not {self}; the nearest is {nearest}", TAKE_CAPACITY)


def capacities(deployment: str, storage: str, throughput: int | None, efa: bool) -> Capacities | None:
    """The supported capacities of a kind of file system; `None` if they are unknown."""
    if storage == "HDD":
        step = _HDD_STEPS.get(throughput or 0)
        return None if step is None else Capacities(step, where=f" at {throughput} MB/s/TiB")
    if efa:
        step = STEP_WITH_EFA.get(throughput or 0)
        return None if step is None else Capacities(step, where=f" with EFA at {throughput} MB/s/TiB")
    if deployment == "SCRATCH_1":
        return Capacities(3600, (1200, 2400))
    return Capacities(2400, (1200,)) if deployment in ("SCRATCH_2", "PERSISTENT_1", "PERSISTENT_2") else None


def version_lacks(version: str, deployment: str, *, metadata: bool) -> str | None:
    """The feature that the file system asks for and its version lacks; `None` if the version has all."""
    if deployment != "PERSISTENT_2":
        return None
    if version == VERSIONS[0]:
        return "PERSISTENT_2"
    return "MetadataConfiguration" if metadata and version in VERSIONS[:2] else None


def default_version(deployment: str, *, metadata: bool) -> str:
    """The version of a file system whose request leaves it out."""
    if deployment != "PERSISTENT_2":
        return VERSIONS[0]
    return VERSIONS[2] if metadata else VERSIONS[1]


def metadata_figures(*, tiering: bool) -> tuple[int, ...]:
    """The supported metadata IOPS."""
    return _TIERING_IOPS if tiering else (*_FIRST_IOPS, *range(_IOPS_STEP, _MAX_IOPS + 1, _IOPS_STEP))


def metadata_in_words(*, tiering: bool) -> str:
    """The supported metadata IOPS in a sentence."""
    if tiering:
        return " or ".join(map(str, _TIERING_IOPS))
    return f"{', '.join(map(str, _FIRST_IOPS))} or a multiple of {_IOPS_STEP} up to {_MAX_IOPS}"


def cache_limits(throughput: int) -> tuple[int, int]:
    """The smallest and the largest read cache in GiB.

    :param throughput: of an Intelligent-Tiering file system, in MB/s.
    """
    smallest, largest = (limit * (throughput // TIERING_STEP) for limit in _CACHE_GIB)
    return smallest, largest


def metadata_mistake(name: str, found: int, *, tiering: bool = False) -> Mistake | None:
    """Unsupported metadata IOPS; `None` if they are supported."""
    right = found in metadata_figures(tiering=tiering)
    return None if right else Mistake(f"{name} {found} is not {metadata_in_words(tiering=tiering)}", TAKE_METADATA)


def tiering_throughput_mistake(name: str, found: int) -> Mistake | None:
    """An unsupported throughput of Intelligent-Tiering, with the nearest supported one; `None` if it is supported."""
    limit = MEMBERS["ThroughputCapacity"]
    if found % TIERING_STEP == 0 and limit.mistake(name, found) is None:
        return None
    least, most = limit.least or TIERING_STEP, limit.most or found
    nearest = min(max(least, round(found / TIERING_STEP) * TIERING_STEP), most)
    text = f"{name} {found} is not a multiple of {TIERING_STEP} MB/s from {least} to {most}; the nearest is {nearest}"
    return Mistake(text, TAKE_TIERING)


def cache_mistake(name: str, found: int, throughput: int) -> Mistake | None:
    """An unsupported size of a read cache; `None` if it is supported.

    :param found: GiB.
    :param throughput: of the file system, in MB/s.
    """
    smallest, largest = cache_limits(throughput)
    if smallest <= found <= largest:
        return None
    return Mistake(f"{name} {found} is not {smallest} to {largest} GiB at {throughput} MB/s", TAKE_TIERING)


@fixed_by("set the days of automatic backups to 0 (the bucket holds the data), or link a second file system")
def backups_beside_associations(name: str, days: int) -> str:
    """Automatic backups of a file system that is linked to S3."""
    return f"{name} is {days}, and FSx cannot back up a file system with associations"


LOG_GROUPS = "/aws/fsx"
"""The beginning of the names of log groups to which FSx writes.

Source: https://docs.aws.amazon.com/fsx/latest/APIReference/API_LustreLogCreateConfiguration.html
"""

NO_LOGS = "DISABLED"
"""The level of a file system that writes no logs."""


@fixed_by(f"name a log group whose name begins with {LOG_GROUPS}, such as {LOG_GROUPS}/lustre; FSx writes to no other")
def strange_log_group(name: str, group: str) -> str:
    """A log group to which FSx does not write."""
    return f"{name} is the log group {group!r}, whose name does not begin with {LOG_GROUPS}"


@fixed_by("leave the destination out, or write the level WARN_ERROR, WARN_ONLY or ERROR_ONLY")
def destination_without_logs(name: str) -> str:
    """A log group for logs that are off."""
    return f"{name} is beside the level {NO_LOGS}, which takes none"


@fixed_by("leave it out: a file system with links to S3 has no backups, so it copies no tags to them")
def tags_beside_associations(name: str) -> str:
    """Tags for the backups of a file system that is linked to S3.

    Source: https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemLustreConfiguration.html
    """
    return f"{name} is set, and a file system with associations does not take it"


@fixed_by("take StorageType SSD for a file system with links to S3, or copy the files by other means")
def tiering_beside_associations(name: str) -> str:
    """A link to S3 of an Intelligent-Tiering file system.

    Source: https://docs.aws.amazon.com/fsx/latest/LustreGuide/fsx-data-repositories.html
    """
    return f"{name} is Intelligent-Tiering, which takes no associations"


FIRST_MOUNT_NAME = "fsx"
"""The mount name of SCRATCH_1; that of the others is made by the service (as of 2026-11-24).

Source: https://docs.aws.amazon.com/fsx/latest/LustreGuide/mounting-ec2-instance.html
"""
