"""Facts of an instance type: its processors, memory, accelerators, network cards and disks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from hyperpod_constructs.facts.data import rows

INSTANCE_FACTS: Mapping[str, list[str]] = {name: facts for name, *facts in rows("instance_types.tsv")}
"""The facts by the type's name, in the order of the API."""

PLANNED_TYPES = frozenset(name for (name,) in rows("planned_types.tsv"))
"""The types that training plans reserve."""

_SPELLED = re.compile(r"ml\.[a-z0-9-]+\.(\d*xlarge|large|medium|small|metal[a-z0-9-]*)")
_FOR_INFERENCE = re.compile(r"(ml\.)?inf\d+\.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Accelerator:
    """The accelerators of one instance, all of one kind.

    :param kind: `gpu` or `neuron`.
    :param name: such as `H100`.
    :param count: accelerators per instance.
    :param memory_gib: GiB per accelerator, as EC2 reports it: 80.0 for an H100 of 80 GB, 22.35 for an A10G of 24 GB. `None` if no
        public source gives it.
    """

    kind: Literal["gpu", "neuron"]
    name: str
    count: int
    memory_gib: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalNvme:
    """The instance store.

    :param count: disks; 0 for a type without an instance store.
    :param size_gb: GB (not GiB) of each disk.
    """

    count: int
    size_gb: int

    @property
    def total_gb(self) -> int:
        """Capacity of all disks together, in GB."""
        return self.count * self.size_gb


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceType:
    """The facts of a type; an unknown fact is `None`.

    :param name: such as `ml.p5.48xlarge`.
    :param vcpus: virtual processors.
    :param memory_gib: main memory in GiB.
    :param accelerator: the accelerators; `None` also for a type without any. `vcpus is None` tells the two cases apart.
    :param network_cards: cards of the instance; on a Slurm cluster each takes one address of the subnet.
    :param efa_interfaces: cards that can carry EFA; 0 for a type without EFA.
    :param local_nvme: the instance store.
    :param cores: the type's default, before `ThreadsPerCore` of a group.
    :param threads_per_core: the type's default, before `ThreadsPerCore` of a group.

    Source: in `facts/instance_types.tsv`, which `tools/generate_instance_facts.py` writes
    """

    name: str
    vcpus: int | None = None
    memory_gib: float | None = None
    accelerator: Accelerator | None = None
    network_cards: int | None = None
    efa_interfaces: int | None = None
    local_nvme: LocalNvme | None = None
    cores: int | None = None
    threads_per_core: int | None = None


def is_instance_type(name: str) -> bool:
    """Whether HyperPod offers a type of this name."""
    return name in INSTANCE_FACTS


def impossible(name: str) -> str | None:
    """Why the service has no type of this name today and tomorrow; `None` if a later release may have it.

    Source: the enumeration `ClusterInstanceType` of the SageMaker API; no model of it lists inf2, which the announcement named.
    """
    if _FOR_INFERENCE.match(name):
        return "HyperPod has no Inferentia, whatever its announcement of 2023 said"
    if not name.startswith("ml."):
        return "types of HyperPod begin with ml."
    return None if _SPELLED.fullmatch(name) else "a size is spelled out, such as 32xlarge"


def nearest(name: str) -> str:
    """The type of the service whose name is most like this one."""
    from difflib import get_close_matches  # kept off the import path: only an error needs it

    wanted = name.strip().lower()
    wanted = wanted if wanted.startswith("ml.") else f"ml.{wanted}"
    return get_close_matches(re.sub(r"xl$", "xlarge", wanted), INSTANCE_FACTS, n=1, cutoff=0.0)[0]


def instance_type(name: str) -> InstanceType:
    """The facts of a type by its name.

    :raises KeyError: for a name that the service does not offer.
    """
    facts = INSTANCE_FACTS[name]
    vcpus, memory_gib, cores, threads_per_core, network_cards, efa_interfaces = map(_number, facts[:6])
    kind, accelerator, (count, each, disks, disk_gb) = facts[6], facts[7], map(_number, facts[8:])
    return InstanceType(
        name=name,
        vcpus=vcpus,
        memory_gib=memory_gib,
        accelerator=None if count is None else Accelerator(kind=_KINDS[kind], name=accelerator, count=count, memory_gib=each),
        network_cards=network_cards,
        efa_interfaces=efa_interfaces,
        local_nvme=None if disks is None else LocalNvme(count=disks, size_gb=disk_gb),
        cores=cores,
        threads_per_core=threads_per_core,
    )


_KINDS: Mapping[str, Literal["gpu", "neuron"]] = {"gpu": "gpu", "neuron": "neuron"}


def _number(text: str) -> Any:
    """A number of the table; `None` if it is unknown."""
    return None if text == "-" else float(text) if "." in text else int(text)
