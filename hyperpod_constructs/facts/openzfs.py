"""FSx for OpenZFS: the supported figures of each kind of file system, and the words for unsupported ones (as of 2026-11-24).

The construct and the rules both ask here. Importing this module does not start jsii.

Source: https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemOpenZFSConfiguration.html
"""

from __future__ import annotations

from collections.abc import Mapping

from hyperpod_constructs.facts import lustre
from hyperpod_constructs.facts.limits import Limit, property_limit
from hyperpod_constructs.facts.mistake import Mistake

_FIRST = (64, 128, 256, 512, 1024, 2048, 3072, 4096)
_SECOND = (160, 320, 640, 1280, 2560, 3840, 5120, 7680, 10240)

THROUGHPUTS: Mapping[str, tuple[int, ...]] = {
    "SINGLE_AZ_1": _FIRST,
    "SINGLE_AZ_HA_1": _FIRST,
    "SINGLE_AZ_2": _SECOND,
    "SINGLE_AZ_HA_2": _SECOND,
    "MULTI_AZ_1": _SECOND,
}
"""Supported MB/s by deployment type."""

CAPACITY_GIB = (64, 524_288)
"""The smallest and the largest capacity on SSD, in GiB."""

IOPS_PER_GIB = 3
"""The disk IOPS that come with a GiB of SSD; provisioned IOPS are at least as many.

Source: https://docs.aws.amazon.com/fsx/latest/APIReference/API_DiskIopsConfiguration.html
"""

SMALLEST_GROWTH_PERCENT = 10
"""The least that the capacity grows by in one update.

Source: https://docs.aws.amazon.com/fsx/latest/APIReference/API_UpdateFileSystem.html
"""

RECORD_SIZES_KIB = (4, 8, 16, 32, 64, 128, 256, 512, 1024)
"""Supported record sizes of a volume.

Source: https://docs.aws.amazon.com/fsx/latest/APIReference/API_OpenZFSCreateRootVolumeConfiguration.html
"""

TAKE_FIGURES = (
    f"write a supported figure, or leave it out: {IOPS_PER_GIB} IOPS for each GiB and records of 128 KiB are the service's own"
)

NFS_PORTS = range(2049, 2050)
"""TCP ports of NFS.

Source: https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/limit-access-security-groups.html
"""

ROOT_VOLUME = "fsx"
"""The name of the root volume, and so the path behind the host name in a mount.

Source: https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateVolume.html
"""

_ROOT = "fsx:CreateFileSystem/OpenZFSConfiguration/RootVolumeConfiguration/"
_CLIENTS = f"{_ROOT}NfsExports/*/ClientConfigurations"
_QUOTAS = f"{_ROOT}UserAndGroupQuotas"

EXPORTS = property_limit(_CLIENTS)
"""The clients of a volume."""
EXPORT_CLIENTS = property_limit(
    f"{_CLIENTS}/*/Clients",
    words="an address, a block such as 10.1.0.0/16, or '*', {shortest} to {longest} characters",
    example="*",
)
EXPORT_OPTIONS = property_limit(f"{_CLIENTS}/*/Options")
EXPORT_OPTION = property_limit(
    f"{_CLIENTS}/*/Options/*", words="an option of exports(5), {shortest} to {longest} characters", example="rw"
)
QUOTAS = property_limit(_QUOTAS)
"""The quotas of a volume."""
QUOTA_ID = property_limit(f"{_QUOTAS}/*/Id")
QUOTA_GIB = Limit(least=1, most=property_limit(f"{_QUOTAS}/*/StorageCapacityQuotaGiB").most)
"""The size of a quota. The service takes 0 too, for none."""


VOLUME_ID = property_limit(
    "fsx:CreateSnapshot/VolumeId",
    words="the id of a volume: fsvol- and 17 digits and letters a to f (aws fsx describe-volumes prints it)",
    example="fsvol-0123456789abcdef0",
)


SNAPSHOT_PREFIX = Limit(
    shortest=1,
    longest=(property_limit("fsx:CreateSnapshot/Name").longest or 0) - len(".2026-11-24T02:00:00Z"),
    pattern="^[a-zA-Z0-9_:.-]+$",
    words="{shortest} to {longest} letters, digits, '_', ':', '.' and '-'",
    example="daily",
)
"""The beginning of a snapshot's name, which a time follows."""
SNAPSHOT_COUNT = Limit(least=1, most=1000)
"""The number of snapshots that a schedule of this library keeps."""


def subnets(deployment: str) -> int:
    """The number of subnets of a file system."""
    return 2 if deployment.startswith("MULTI_AZ") else 1


def grows_enough(old: int, new: int) -> bool:
    """Whether a larger capacity is one that an update can reach."""
    return 100 * new >= (100 + SMALLEST_GROWTH_PERCENT) * old


def throughput_mistake(name: str, found: int, deployment: str) -> Mistake | None:
    """An unsupported throughput, with the supported ones and the nearest; `None` if it is supported or the kind is unknown."""
    allowed = THROUGHPUTS.get(deployment)
    return None if allowed is None else lustre.tier_mistake(name, found, deployment, allowed)


def iops_mistake(name: str, found: int, capacity: int) -> Mistake | None:
    """Fewer disk IOPS than come with the capacity; `None` for as many or more."""
    if found >= IOPS_PER_GIB * capacity:
        return None
    return Mistake(f"{name} {found} is less than the {IOPS_PER_GIB * capacity} that come with {capacity} GiB", TAKE_FIGURES)


def record_size_mistake(name: str, found: int) -> Mistake | None:
    """An unsupported record size, with the nearest supported one; `None` if it is supported."""
    if found in RECORD_SIZES_KIB:
        return None
    nearest = min(RECORD_SIZES_KIB, key=lambda size: abs(size - found))
    listed = ", ".join(map(str, RECORD_SIZES_KIB))
    return Mistake(f"{name} {found} is not one of {listed}; the nearest is {nearest}", TAKE_FIGURES)


def capacity_mistake(name: str, found: int) -> Mistake | None:
    """A capacity that the service does not have, with the nearest; `None` for one that it has."""
    return Limit(least=CAPACITY_GIB[0], most=CAPACITY_GIB[1]).mistake(name, found)


def tiering_mistake(name: str, deployment: str) -> str | None:
    """The mistake in a deployment type with Intelligent-Tiering, which only file systems in several zones have.

    Source: https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystem.html (as of 2026-11-27).
    """
    return None if deployment.startswith("MULTI_AZ_") else f"{name} {deployment} has no storage of the type INTELLIGENT_TIERING"
