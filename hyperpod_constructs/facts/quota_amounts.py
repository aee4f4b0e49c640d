"""The amounts of a quota: whole instances, processors, memory, accelerators and their partitions (as of 2026-11-22).

Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ComputeQuotaResourceConfig.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from hyperpod_constructs.facts.instance_types import InstanceType
from hyperpod_constructs.facts.mistake import Mistake

_PARTS_OF_40 = ("1g.5gb", "1g.10gb", "2g.10gb", "3g.20gb", "4g.20gb", "7g.40gb")
_PARTS_OF_80 = ("1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb")
_PARTS_OF_141 = ("1g.18gb", "1g.35gb", "2g.35gb", "3g.71gb", "4g.71gb", "7g.141gb")
_PARTS_OF_180 = ("1g.23gb", "1g.45gb", "2g.45gb", "3g.90gb", "4g.90gb", "7g.180gb")
_PARTS_OF_186 = ("1g.23gb", "1g.47gb", "2g.47gb", "3g.93gb", "4g.93gb", "7g.186gb")

PARTITIONS: Mapping[str, tuple[str, ...]] = {
    instance_type: tuple(f"mig-{part}" for part in parts)
    for instance_type, parts in {
        "ml.p4d.24xlarge": _PARTS_OF_40,
        "ml.p4de.24xlarge": _PARTS_OF_80,
        "ml.p5.4xlarge": _PARTS_OF_80,
        "ml.p5.48xlarge": _PARTS_OF_80,
        "ml.p5e.48xlarge": _PARTS_OF_141,
        "ml.p5en.48xlarge": _PARTS_OF_141,
        "ml.p6-b200.48xlarge": _PARTS_OF_180,
        "ml.p6e-gb200.36xlarge": _PARTS_OF_186,
    }.items()
}
"""The partitions of a GPU (MIG) that a quota can name, by instance type. Those of ml.p6-b300.48xlarge are in no enumeration of the
API; ml.p5.4xlarge has the GPU of ml.p5.48xlarge.

Sources: the enumeration MIGProfileType of the API; https://docs.nvidia.com/datacenter/tesla/mig-user-guide/supported-mig-profiles.html
"""

_COMPUTE_SLICES, _MEMORY_SLICES = 7, 8


def partitions_per_accelerator(instance_type: str, partition: str) -> int:
    """The number of equal partitions that one GPU gives: it has seven slices of compute and eight of memory.

    :raises KeyError: for a type without partitions.
    """
    compute, memory = _slices(partition)
    whole = _slices(PARTITIONS[instance_type][-1])[1]
    return min(_COMPUTE_SLICES // compute, _MEMORY_SLICES // round(_MEMORY_SLICES * memory / whole))


def _slices(partition: str) -> tuple[int, int]:
    """The slices of compute, and the GB, of a partition such as `mig-1g.5gb`."""
    compute, _, memory = partition.removeprefix("mig-").partition("g.")
    return int(compute), int(memory.removesuffix("gb"))


@dataclass(frozen=True, kw_only=True, slots=True)
class Allocation:
    """One entry of a quota.

    :param instance_type: such as `ml.p5.48xlarge`.
    :param count: whole instances.
    :param accelerators: GPUs, or Trainium or Inferentia chips.
    :param vcpus: virtual processors.
    :param memory_gib: memory in GiB.
    :param partition: the type of GPU partition.
    :param partitions: the number of GPU partitions.
    """

    instance_type: str
    count: int | None = None
    accelerators: int | None = None
    vcpus: float | None = None
    memory_gib: float | None = None
    partition: str | None = None
    partitions: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Amounts:
    """Amounts of resources; `None` where a fact of the instance type is unknown. Partitions count as parts of accelerators."""

    accelerators: float | None = 0.0
    vcpus: float | None = 0.0
    memory_gib: float | None = 0.0

    def __add__(self, other: Amounts) -> Amounts:
        return Amounts(
            accelerators=_sum(self.accelerators, other.accelerators),
            vcpus=_sum(self.vcpus, other.vcpus),
            memory_gib=_sum(self.memory_gib, other.memory_gib),
        )

    def times(self, number: float) -> Amounts:
        """So many times the amounts."""
        return Amounts(
            accelerators=_product(self.accelerators, number),
            vcpus=_product(self.vcpus, number),
            memory_gib=_product(self.memory_gib, number),
        )


def amounts_of(kind: InstanceType) -> Amounts:
    """What one instance has."""
    accelerators = 0 if kind.accelerator is None else kind.accelerator.count
    known = kind.vcpus is not None
    return Amounts(accelerators=accelerators if known else None, vcpus=kind.vcpus, memory_gib=kind.memory_gib)


def guaranteed(wanted: Allocation, kind: InstanceType) -> Amounts:
    """What an entry of a quota guarantees, with the amounts that the service fills in.

    vCPUs and memory follow the share of the accelerators, or of each other, where they are not given.
    """
    one = amounts_of(kind)
    if wanted.count is not None:
        return one.times(wanted.count)
    accelerators = _accelerators(wanted)
    if accelerators:
        share = _share(accelerators, one.accelerators)
    elif wanted.vcpus is not None:
        share = _share(wanted.vcpus, one.vcpus)
    else:
        share = _share(wanted.memory_gib or 0.0, one.memory_gib)
    return Amounts(
        accelerators=accelerators,
        vcpus=_product(one.vcpus, share) if wanted.vcpus is None else wanted.vcpus,
        memory_gib=_product(one.memory_gib, share) if wanted.memory_gib is None else wanted.memory_gib,
    )


def _accelerators(wanted: Allocation) -> float:
    if wanted.partition is None or wanted.partition not in PARTITIONS.get(wanted.instance_type, ()):
        return wanted.accelerators or 0
    return wanted.partitions / partitions_per_accelerator(wanted.instance_type, wanted.partition)


def _share(part: float, whole: float | None) -> float | None:
    return part / whole if whole else None


def _sum(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other


def _product(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one * other


def unserved_partition(instance_type: str, partition: str) -> Mistake | None:
    """A partition that the GPUs of a type do not offer; `None` for one that they do.

    Source: the schema of ComputeQuota: the service rejects MIG profiles that the chosen instance type does not support.
    """
    offered = PARTITIONS.get(instance_type, ())
    if partition in offered:
        return None
    if not offered:
        return Mistake(f"{instance_type} has no accelerator partitions; found {partition}", "give accelerators instead")
    return Mistake(f"{instance_type} has no accelerator partition {partition}", f"name one of {', '.join(offered)}")


def amounts_mistake(wanted: Allocation) -> Mistake | None:
    """An entry without an amount, or with amounts that exclude each other; `None` for a correct one.

    The service's console offers whole instances or single resources; its API does not say what both mean together.
    """
    single = [wanted.accelerators, wanted.vcpus, wanted.memory_gib, wanted.partition]
    given = sum(item is not None for item in single)
    if wanted.count is None and not given:
        return Mistake(f"the quota of {wanted.instance_type} has no amount", "give count, accelerators, vcpu or memory_in_gib")
    if wanted.count is not None and given:
        return Mistake(
            f"the quota of {wanted.instance_type} has whole instances (count) and single resources",
            "give count alone, or the single resources without it",
        )
    if wanted.accelerators is not None and wanted.partition is not None:
        return Mistake(
            f"the quota of {wanted.instance_type} has accelerators and an accelerator partition", "give each an entry of its own"
        )
    return None if wanted.partition is None else unserved_partition(wanted.instance_type, wanted.partition)


_RESOURCE_NAMES = {"accelerators": "accelerators", "vcpus": "vCPUs", "memory_gib": "GiB of memory"}


def beyond_capacity(instance_type: str, wanted: Mapping[str, Amounts], capacity: Amounts) -> Iterator[Mistake]:
    """Quotas that together guarantee more of a type than the cluster has.

    :param wanted: the guaranteed amounts, by the name of the team.
    :param capacity: the amounts of all nodes of the type.
    """
    total = sum(wanted.values(), Amounts())
    for name, words in _RESOURCE_NAMES.items():
        asked, there = getattr(total, name), getattr(capacity, name)
        if asked is None or there is None or asked <= there + _ROUNDING:
            continue
        teams = ", ".join(f"{team} {_number(getattr(amounts, name))}" for team, amounts in wanted.items())
        yield Mistake(
            f"the quotas of {instance_type} guarantee {_number(asked)} {words} ({teams}); the cluster has {_number(there)}",
            "lower a quota, add nodes, or give beyond_capacity=True for nodes that come later",
        )
        return


_ROUNDING = 1e-6
"""Below any amount that somebody could mean: shares are quotients."""


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
