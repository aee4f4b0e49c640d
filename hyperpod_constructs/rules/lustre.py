"""What FSx for Lustre takes: the figures of its kinds of file systems, and the words for those that it does not take.

Both the construct and the rules ask here; importing this module starts no jsii. Sources:
https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystem.html and
https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemLustreConfiguration.html.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hyperpod_constructs.rules.mistakes import Mistake

STEP_WITH_EFA: Mapping[int, int] = {125: 38400, 250: 19200, 500: 9600, 1000: 4800}
"""MB/s per TiB of PERSISTENT_2 to the step of its capacity in GiB with EFA."""

_HDD_STEPS = {12: 6000, 40: 1800}
_TIERS = {
    ("PERSISTENT_1", "SSD"): (50, 100, 200),
    ("PERSISTENT_1", "HDD"): tuple(_HDD_STEPS),
    ("PERSISTENT_2", "SSD"): tuple(STEP_WITH_EFA),
}
_MAX_IOPS = 192_000
_IOPS_STEP = 12_000
_TIERING_STEP = 4000
_CACHE_GIB = (32, 131_072)

# https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-fsx-lustre.html
REGIONS_WITHOUT_EFA = ("il-central-1", "mx-central-1")
_SLOW_TIERS = (125, 250)


def tiers(deployment: str, storage: str = "SSD", region: str | None = None) -> tuple[int, ...]:
    """MB/s per TiB that a kind of file system offers; none for one that takes no such figure."""
    found = _TIERS.get((deployment, storage), ())
    return _SLOW_TIERS if deployment == "PERSISTENT_2" and region in REGIONS_WITHOUT_EFA else found


def tier_mistake(name: str, found: int, deployment: str, allowed: tuple[int, ...]) -> Mistake | None:
    """A throughput that is not offered."""
    if found in allowed:
        return None
    return Mistake(f"{name} {found} is not a tier of {deployment}", f"write one of {', '.join(map(str, allowed))}")


@dataclass(frozen=True, slots=True)
class Capacities:
    """The capacities of a kind of file system, in GiB: multiples of a step, and some before."""

    step: int
    first: tuple[int, ...] = ()
    where: str = ""

    def __str__(self) -> str:
        steps = f"a multiple of {self.step}{self.where}"
        return f"{', '.join(map(str, self.first))} or {steps}" if self.first else steps

    def mistake(self, name: str, found: int) -> Mistake | None:
        """A capacity that is not offered, with the nearest that is."""
        if found in self.first or (found > 0 and found % self.step == 0):
            return None
        choices = (max(self.step, round(found / self.step) * self.step), *self.first)
        nearest = min(choices, key=lambda choice: abs(choice - found))
        return Mistake(f"{name} {found} is not {self}", f"the nearest is {nearest}")


def capacities(deployment: str, storage: str, throughput: int | None, efa: bool) -> Capacities | None:
    """What a kind of file system can hold; ``None`` if that is not known."""
    if storage == "HDD":
        step = _HDD_STEPS.get(throughput or 0)
        return None if step is None else Capacities(step, where=f" at {throughput} MB/s/TiB")
    if efa:
        step = STEP_WITH_EFA.get(throughput or 0)
        return None if step is None else Capacities(step, where=f" with EFA at {throughput} MB/s/TiB")
    if deployment == "SCRATCH_1":
        return Capacities(3600, (1200, 2400))
    return Capacities(2400, (1200,)) if deployment in ("SCRATCH_2", "PERSISTENT_1", "PERSISTENT_2") else None


def metadata_mistake(name: str, found: int, *, tiering: bool = False) -> Mistake | None:
    """A figure for metadata operations that is not offered."""
    if tiering:
        allowed = "6000 or 12000"
        right = found in (6000, 12000)
    else:
        allowed = f"1500, 3000, 6000 or a multiple of {_IOPS_STEP} up to {_MAX_IOPS}"
        right = found in (1500, 3000, 6000) or (0 < found <= _MAX_IOPS and found % _IOPS_STEP == 0)
    if right:
        return None
    fix = "take one of these" if tiering else "leave it out to let the service scale it with the capacity"
    return Mistake(f"{name} {found} is not {allowed}", fix)


def tiering_throughput_mistake(name: str, found: int) -> Mistake | None:
    """A throughput of an Intelligent-Tiering file system that is not offered."""
    if found > 0 and found % _TIERING_STEP == 0:
        return None
    nearest = max(_TIERING_STEP, round(found / _TIERING_STEP) * _TIERING_STEP)
    return Mistake(f"{name} {found} is not a multiple of {_TIERING_STEP} MB/s", f"the nearest is {nearest}")


def cache_mistake(name: str, found: int, throughput: int) -> Mistake | None:
    """A read cache of a size that is not offered at a throughput."""
    smallest, largest = (limit * (throughput // _TIERING_STEP) for limit in _CACHE_GIB)
    if smallest <= found <= largest:
        return None
    return Mistake(f"{name} {found} is not {smallest} to {largest} GiB at {throughput} MB/s", "take a size between them")


def backups_beside_associations(name: str, days: int) -> Mistake:
    """Automatic backups of a file system that is linked to S3."""
    return Mistake(
        f"{name} is {days}, and a file system with associations cannot be backed up",
        "drop the backups (the bucket holds the data) or use a second file system",
    )
