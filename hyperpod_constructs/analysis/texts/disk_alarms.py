"""Alarms on one disk of Lustre that are meant for the file system: each disk has a value, and only their sum is that of all.

No disk is larger than the step by which the file system grows.

Sources: https://docs.aws.amazon.com/fsx/latest/LustreGuide/fs-metrics.html and
https://docs.aws.amazon.com/fsx/latest/LustreGuide/managing-storage-capacity.html
"""

from __future__ import annotations

from collections.abc import Mapping

from hyperpod_constructs.analysis.file_systems import LUSTRE, Lustre, file_systems_of
from hyperpod_constructs.analysis.texts.reading import known
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge, entries
from hyperpod_constructs.analysis.texts.watched import Watched, watched
from hyperpod_constructs.facts.file_system_metrics import DIMENSION
from hyperpod_constructs.facts.lustre import capacities
from hyperpod_constructs.facts.metric_ranges import OF_EACH_DISK, OF_VALUES
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.values import as_int

_GIB, _LEAST_DISKS = 2**30, 2
_SOME = 3
"""A limit for free bytes on each disk above this part of the largest one is meant for the file system."""


def alarm(resource: Resource) -> Slips:
    """The value of one disk is not compared with a limit for the whole file system."""
    found, operator = watched(resource), known(resource.get("ComparisonOperator")) or ""
    if found is None or found.name not in OF_EACH_DISK.get(found.namespace, ()) or found.statistic not in OF_VALUES:
        return
    disk, limit = _largest_disk(found), found.limit or 0.0
    is_free = found.name.startswith("Free")
    never = not is_free and operator.startswith("Greater") and disk is not None and limit > disk
    early = is_free and operator.startswith("LessThan") and disk is not None and limit > disk / _SOME
    if never or early:
        rings = "the alarm never rings" if never else "the alarm rings while much of the file system is free"
        message = f"{found.statistic} of {found.name} is a value of one disk: with {limit:g} bytes {rings}"
        path = found.beside("Stat") if found.path else ("Statistic",)
        yield Slip(message, "Sum, with a Period of 60", path, found.statistic, dead=True)


def _largest_disk(found: Watched) -> int | None:
    """The most bytes of a disk of the file system that is watched; `None` if that is not known, or it may have one disk."""
    store, alone = found.named(DIMENSION), len(list(entries(found.dimensions))) == 1
    if store is None or not alone or store not in file_systems_of(store.template.model, LUSTRE):
        return None
    system, capacity = Lustre(store), as_int(store.get("StorageCapacity"))
    if capacity is None or system.deployment is None or system.storage is None or system.efa is not False:
        return None
    steps = capacities(system.deployment, system.storage, system.throughput, system.efa)
    return steps.step * _GIB if steps is not None and capacity >= steps.step * _LEAST_DISKS else None


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {"AWS::CloudWatch::Alarm": alarm}
