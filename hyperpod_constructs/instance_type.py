"""The instance types of HyperPod and what is known about them.

Importing this module starts no jsii and reads no file: the facts lie in a generated table beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from hyperpod_constructs._instance_facts import INSTANCE_FACTS
from hyperpod_constructs._tokens import is_unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class Accelerator:
    """The accelerators of one instance, all of one kind.

    ``count`` is per instance and ``memory_gib`` per accelerator, in GiB as EC2 reports it (an H100 of 80 GB
    reports 80.0, an A10G of 24 GB 22.35). ``memory_gib`` is ``None`` when no public source gives it.
    """

    kind: Literal["gpu", "neuron"]
    name: str
    count: int
    memory_gib: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalNvme:
    """The instance store: ``count`` disks of ``size_gb`` GB each (GB, not GiB). ``count`` is 0 when there is none."""

    count: int
    size_gb: int

    @property
    def total_gb(self) -> int:
        """Capacity of all disks together, in GB."""
        return self.count * self.size_gb


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterInstanceType:
    """An instance type of a HyperPod cluster, such as ``ml.p5.48xlarge``, with its facts.

    Take one of the constants, or :meth:`of` for any name that the service knows. The constructor takes names that this
    release does not know yet, with whatever facts the caller has; ``dataclasses.replace`` changes single facts.

    A fact that is unknown is ``None``, and so is every fact of a CDK token. ``accelerator`` is ``None`` also for a type
    that has none; ``vcpus is None`` tells the two apart.

    ``memory_gib`` is the main memory in GiB. ``cores`` and ``threads_per_core`` are the defaults of the type, before
    ``ThreadsPerCore`` of a group. ``network_cards`` counts the cards of the instance, each of which takes one address
    of the subnet on a Slurm cluster; ``efa_interfaces`` is how many of them can carry EFA, 0 for a type without EFA.

    Raises ``ValueError`` when ``name`` is no token and does not start with ``ml.``.

    Sources: names from the enumeration ``ClusterInstanceType`` of the SageMaker API, facts from EC2's
    ``DescribeInstanceTypes`` as recorded by moto; exceptions are listed in ``tools/generate_instance_facts.py``.
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

    P4D_24XLARGE: ClassVar[ClusterInstanceType]
    P4DE_24XLARGE: ClassVar[ClusterInstanceType]
    P5_4XLARGE: ClassVar[ClusterInstanceType]
    P5_48XLARGE: ClassVar[ClusterInstanceType]
    P5E_48XLARGE: ClassVar[ClusterInstanceType]
    P5EN_48XLARGE: ClassVar[ClusterInstanceType]
    P6_B200_48XLARGE: ClassVar[ClusterInstanceType]
    P6_B300_48XLARGE: ClassVar[ClusterInstanceType]
    P6E_GB200_36XLARGE: ClassVar[ClusterInstanceType]
    TRN1_32XLARGE: ClassVar[ClusterInstanceType]
    TRN1N_32XLARGE: ClassVar[ClusterInstanceType]
    TRN2_3XLARGE: ClassVar[ClusterInstanceType]
    TRN2_48XLARGE: ClassVar[ClusterInstanceType]
    G4DN_XLARGE: ClassVar[ClusterInstanceType]
    G4DN_2XLARGE: ClassVar[ClusterInstanceType]
    G4DN_4XLARGE: ClassVar[ClusterInstanceType]
    G4DN_8XLARGE: ClassVar[ClusterInstanceType]
    G4DN_12XLARGE: ClassVar[ClusterInstanceType]
    G4DN_16XLARGE: ClassVar[ClusterInstanceType]
    G5_XLARGE: ClassVar[ClusterInstanceType]
    G5_2XLARGE: ClassVar[ClusterInstanceType]
    G5_4XLARGE: ClassVar[ClusterInstanceType]
    G5_8XLARGE: ClassVar[ClusterInstanceType]
    G5_12XLARGE: ClassVar[ClusterInstanceType]
    G5_16XLARGE: ClassVar[ClusterInstanceType]
    G5_24XLARGE: ClassVar[ClusterInstanceType]
    G5_48XLARGE: ClassVar[ClusterInstanceType]
    G6_XLARGE: ClassVar[ClusterInstanceType]
    G6_2XLARGE: ClassVar[ClusterInstanceType]
    G6_4XLARGE: ClassVar[ClusterInstanceType]
    G6_8XLARGE: ClassVar[ClusterInstanceType]
    G6_12XLARGE: ClassVar[ClusterInstanceType]
    G6_16XLARGE: ClassVar[ClusterInstanceType]
    G6_24XLARGE: ClassVar[ClusterInstanceType]
    G6_48XLARGE: ClassVar[ClusterInstanceType]
    G6E_XLARGE: ClassVar[ClusterInstanceType]
    G6E_2XLARGE: ClassVar[ClusterInstanceType]
    G6E_4XLARGE: ClassVar[ClusterInstanceType]
    G6E_8XLARGE: ClassVar[ClusterInstanceType]
    G6E_12XLARGE: ClassVar[ClusterInstanceType]
    G6E_16XLARGE: ClassVar[ClusterInstanceType]
    G6E_24XLARGE: ClassVar[ClusterInstanceType]
    G6E_48XLARGE: ClassVar[ClusterInstanceType]
    G7_2XLARGE: ClassVar[ClusterInstanceType]
    G7_4XLARGE: ClassVar[ClusterInstanceType]
    G7_8XLARGE: ClassVar[ClusterInstanceType]
    G7_12XLARGE: ClassVar[ClusterInstanceType]
    G7_24XLARGE: ClassVar[ClusterInstanceType]
    G7_48XLARGE: ClassVar[ClusterInstanceType]
    G7E_2XLARGE: ClassVar[ClusterInstanceType]
    G7E_4XLARGE: ClassVar[ClusterInstanceType]
    G7E_8XLARGE: ClassVar[ClusterInstanceType]
    G7E_12XLARGE: ClassVar[ClusterInstanceType]
    G7E_24XLARGE: ClassVar[ClusterInstanceType]
    G7E_48XLARGE: ClassVar[ClusterInstanceType]
    GR6_4XLARGE: ClassVar[ClusterInstanceType]
    GR6_8XLARGE: ClassVar[ClusterInstanceType]
    C5_XLARGE: ClassVar[ClusterInstanceType]
    C5_2XLARGE: ClassVar[ClusterInstanceType]
    C5_4XLARGE: ClassVar[ClusterInstanceType]
    M5_LARGE: ClassVar[ClusterInstanceType]
    M5_XLARGE: ClassVar[ClusterInstanceType]
    M5_2XLARGE: ClassVar[ClusterInstanceType]
    M5_4XLARGE: ClassVar[ClusterInstanceType]
    M5_8XLARGE: ClassVar[ClusterInstanceType]
    M5_12XLARGE: ClassVar[ClusterInstanceType]
    M5_16XLARGE: ClassVar[ClusterInstanceType]
    M5_24XLARGE: ClassVar[ClusterInstanceType]
    M6I_LARGE: ClassVar[ClusterInstanceType]
    M6I_XLARGE: ClassVar[ClusterInstanceType]
    M6I_2XLARGE: ClassVar[ClusterInstanceType]
    M6I_4XLARGE: ClassVar[ClusterInstanceType]
    M6I_8XLARGE: ClassVar[ClusterInstanceType]
    M7I_LARGE: ClassVar[ClusterInstanceType]
    M7I_XLARGE: ClassVar[ClusterInstanceType]
    M7I_2XLARGE: ClassVar[ClusterInstanceType]
    M7I_4XLARGE: ClassVar[ClusterInstanceType]
    M7I_8XLARGE: ClassVar[ClusterInstanceType]
    T3_MEDIUM: ClassVar[ClusterInstanceType]
    T3_LARGE: ClassVar[ClusterInstanceType]
    T3_XLARGE: ClassVar[ClusterInstanceType]
    T3_2XLARGE: ClassVar[ClusterInstanceType]

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise ValueError(f"instance type must be a string such as 'ml.m5.xlarge', got {self.name!r}")
        if not is_unknown(self.name) and not self.name.startswith("ml."):
            raise ValueError(f"instance type {self.name!r} does not start with 'ml.'; write {'ml.' + self.name!r}")

    @classmethod
    def of(cls, name: str) -> ClusterInstanceType:
        """The type of that name with its facts; a CDK token is taken as it is, with every fact ``None``.

        Raises ``ValueError`` for a name that the service does not offer, with the nearest one that it does.
        """
        if isinstance(name, str) and is_unknown(name):
            return cls(name=name)
        row = INSTANCE_FACTS.get(name) if isinstance(name, str) else None
        if row is None:
            raise ValueError(_unknown(name))
        vcpus, memory_gib, cores, threads_per_core, network_cards, efa_interfaces, accelerator, nvme = row
        return cls(
            name=name,
            vcpus=vcpus,
            memory_gib=memory_gib,
            accelerator=None if accelerator is None else _accelerator(*accelerator),
            network_cards=network_cards,
            efa_interfaces=efa_interfaces,
            local_nvme=None if nvme is None else LocalNvme(count=nvme[0], size_gb=nvme[1]),
            cores=cores,
            threads_per_core=threads_per_core,
        )

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Every name that :meth:`of` takes, in the order of the API."""
        return tuple(INSTANCE_FACTS)

    def __str__(self) -> str:
        return self.name


def _accelerator(kind: Literal["gpu", "neuron"], name: str, count: int, memory_gib: float | None) -> Accelerator:
    return Accelerator(kind=kind, name=name, count=count, memory_gib=memory_gib)


def _unknown(name: object) -> str:
    allowed = f"allowed is one of the {len(INSTANCE_FACTS)} names of ClusterInstanceType.names(), or a CDK token"
    if not isinstance(name, str):
        return f"instance type must be a string such as 'ml.m5.xlarge', got {name!r}; {allowed}"
    wanted = name.strip().lower()
    prefixed = wanted if wanted.startswith("ml.") else f"ml.{wanted}"
    if prefixed in INSTANCE_FACTS:
        return f"unknown instance type {name!r}; names of HyperPod start with 'ml.': write {prefixed!r}"
    from difflib import get_close_matches  # kept off the import path: only an error needs it

    nearest = get_close_matches(prefixed, INSTANCE_FACTS, n=1, cutoff=0.0)[0]
    return (
        f"unknown instance type {name!r}; {allowed}; the nearest is {nearest!r}. "
        f"for a type newer than this release write ClusterInstanceType(name='ml.…')"
    )


def _constant(name: str) -> str:
    return name.removeprefix("ml.").replace(".", "_").replace("-", "_").upper()


for _name in INSTANCE_FACTS:
    if _constant(_name) in ClusterInstanceType.__annotations__:
        setattr(ClusterInstanceType, _constant(_name), ClusterInstanceType.of(_name))
