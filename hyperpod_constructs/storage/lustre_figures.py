"""The capacity and the performance of a Lustre file system: which figures go together, and what is left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from aws_cdk import aws_fsx as fsx

from hyperpod_constructs._support.tokens import is_unknown
from hyperpod_constructs.facts import lustre
from hyperpod_constructs.facts.mistake import Mistake
from hyperpod_constructs.storage.lustre_configuration import LustreReadCacheConfiguration, LustreStorageType

DEPLOYMENT = "PERSISTENT_2"
_CAPACITY_GIB = 1200
_THROUGHPUT = 250
_GIB_PER_TIB = 1000
"""FSx calls 1200 GiB 1.2 TiB."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LustreFigures:
    """The figures as the caller gave them; `None` for those left out. See `LustreStorage` for each."""

    storage_type: LustreStorageType
    storage_capacity_gib: int | None
    per_unit_storage_throughput: int | None
    throughput_capacity: int | None
    data_read_cache_configuration: LustreReadCacheConfiguration | None
    metadata_iops: int | None
    efa_enabled: bool

    @property
    def tiered(self) -> bool:
        """Whether the storage is Intelligent-Tiering."""
        return self.storage_type is LustreStorageType.INTELLIGENT_TIERING

    @property
    def capacity(self) -> int | None:
        """GiB; none with Intelligent-Tiering, which grows and shrinks with the files."""
        return None if self.tiered else _CAPACITY_GIB if self.storage_capacity_gib is None else self.storage_capacity_gib

    @property
    def throughput(self) -> int | None:
        """MB/s per TiB; none with Intelligent-Tiering."""
        return (
            None if self.tiered else _THROUGHPUT if self.per_unit_storage_throughput is None else self.per_unit_storage_throughput
        )

    def total_throughput(self) -> float | None:
        """MB/s of the whole file system; none for figures that are not known at synthesis."""
        if self.tiered:
            return None if is_unknown(self.throughput_capacity) else self.throughput_capacity
        capacity, throughput = self.capacity, self.throughput
        if capacity is None or throughput is None or is_unknown(capacity) or is_unknown(throughput):
            return None
        return capacity * throughput / _GIB_PER_TIB

    def cache(self) -> fsx.CfnFileSystem.DataReadCacheConfigurationProperty | None:
        """The read cache, as the L1 takes it."""
        return (self.data_read_cache_configuration or LustreReadCacheConfiguration()).render() if self.tiered else None

    def metadata(self) -> fsx.CfnFileSystem.MetadataConfigurationProperty:
        """The metadata servers, as the L1 takes them."""
        iops = self.metadata_iops
        if iops is None and self.tiered:
            iops = lustre.metadata_figures(tiering=True)[0]
        if iops is None:
            return fsx.CfnFileSystem.MetadataConfigurationProperty(mode="AUTOMATIC")
        return fsx.CfnFileSystem.MetadataConfigurationProperty(mode="USER_PROVISIONED", iops=iops)

    def check(self, where: str) -> None:
        """Refuse figures that the service does not have.

        :raises ValueError: with the first mistake.
        """
        mistake = next(self._tiering() if self.tiered else self._ssd(), None) or self._metadata_mistake()
        if mistake is not None:
            raise ValueError(f"{where}: {mistake}")

    def _tiering(self) -> Iterator[Mistake | str]:
        for name in ("storage_capacity_gib", "per_unit_storage_throughput"):
            if getattr(self, name) is not None:
                yield Mistake(
                    f"{name} is {getattr(self, name)} with INTELLIGENT_TIERING", "leave it out: write throughput_capacity"
                )
        mbps, cache = self.throughput_capacity, self.data_read_cache_configuration
        if mbps is None:
            yield f"throughput_capacity is missing; INTELLIGENT_TIERING needs it: write throughput_capacity={lustre.TIERING_STEP}"
        if mbps is None or is_unknown(mbps):
            return
        if (mistake := lustre.tiering_throughput_mistake("throughput_capacity", mbps)) is not None:
            yield mistake
        size = None if cache is None else cache.size_gib
        wrong = None if size is None or is_unknown(size) else lustre.cache_mistake("size_gib", size, mbps)
        if wrong is not None:
            yield wrong

    def _ssd(self) -> Iterator[Mistake]:
        for name in ("throughput_capacity", "data_read_cache_configuration"):
            if getattr(self, name) is not None:
                yield Mistake(
                    f"{name} is given without INTELLIGENT_TIERING",
                    "leave it out, or write storage_type=LustreStorageType.INTELLIGENT_TIERING",
                )
        capacity, throughput = self.capacity, self.throughput
        if throughput is None or is_unknown(throughput):
            return
        allowed = lustre.tiers(DEPLOYMENT, self.storage_type)
        wrong = lustre.tier_mistake("per_unit_storage_throughput", throughput, DEPLOYMENT, allowed)
        if wrong is not None:
            yield wrong
        choices = lustre.capacities(DEPLOYMENT, self.storage_type, throughput, self.efa_enabled)
        if choices is not None and capacity is not None and not is_unknown(capacity):
            mistake = choices.mistake("storage_capacity_gib", capacity)
            if mistake is not None:
                yield mistake

    def _metadata_mistake(self) -> Mistake | None:
        iops = self.metadata_iops
        return None if iops is None or is_unknown(iops) else lustre.metadata_mistake("metadata_iops", iops, tiering=self.tiered)
