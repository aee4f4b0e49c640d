"""The instance types of HyperPod by name, with their facts."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import ClassVar

from hyperpod_constructs._support.tokens import is_unknown
from hyperpod_constructs.facts.instance_types import (
    INSTANCE_FACTS,
    Accelerator,
    InstanceType,
    LocalNvme,
    impossible,
    instance_type,
    is_instance_type,
    nearest,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterInstanceType(InstanceType):
    """An instance type of a HyperPod cluster, such as `ml.p5.48xlarge`, with its facts.

    Every name of the service has an attribute: `ClusterInstanceType.P5_48XLARGE`. `of` takes a name as text. The constructor also
    takes newer names, with the caller's facts; `dataclasses.replace` changes single facts. Every fact of a CDK token is `None`.

    :raises ValueError: for a name without `ml.` at its start, unless it is a token.

    Source: names from the enumeration `ClusterInstanceType` of the SageMaker API, facts from EC2's `DescribeInstanceTypes` as
    recorded by moto; `tools/generate_instance_facts.py` lists the exceptions.
    """

    # The API's names, in its order; written by tools/generate_instance_facts.py.
    P4D_24XLARGE: ClassVar[ClusterInstanceType]
    P4DE_24XLARGE: ClassVar[ClusterInstanceType]
    P5_48XLARGE: ClassVar[ClusterInstanceType]
    P5_4XLARGE: ClassVar[ClusterInstanceType]
    P6E_GB200_36XLARGE: ClassVar[ClusterInstanceType]
    TRN1_32XLARGE: ClassVar[ClusterInstanceType]
    TRN1N_32XLARGE: ClassVar[ClusterInstanceType]
    G5_XLARGE: ClassVar[ClusterInstanceType]
    G5_2XLARGE: ClassVar[ClusterInstanceType]
    G5_4XLARGE: ClassVar[ClusterInstanceType]
    G5_8XLARGE: ClassVar[ClusterInstanceType]
    G5_12XLARGE: ClassVar[ClusterInstanceType]
    G5_16XLARGE: ClassVar[ClusterInstanceType]
    G5_24XLARGE: ClassVar[ClusterInstanceType]
    G5_48XLARGE: ClassVar[ClusterInstanceType]
    C5_LARGE: ClassVar[ClusterInstanceType]
    C5_XLARGE: ClassVar[ClusterInstanceType]
    C5_2XLARGE: ClassVar[ClusterInstanceType]
    C5_4XLARGE: ClassVar[ClusterInstanceType]
    C5_9XLARGE: ClassVar[ClusterInstanceType]
    C5_12XLARGE: ClassVar[ClusterInstanceType]
    C5_18XLARGE: ClassVar[ClusterInstanceType]
    C5_24XLARGE: ClassVar[ClusterInstanceType]
    C5N_LARGE: ClassVar[ClusterInstanceType]
    C5N_2XLARGE: ClassVar[ClusterInstanceType]
    C5N_4XLARGE: ClassVar[ClusterInstanceType]
    C5N_9XLARGE: ClassVar[ClusterInstanceType]
    C5N_18XLARGE: ClassVar[ClusterInstanceType]
    M5_LARGE: ClassVar[ClusterInstanceType]
    M5_XLARGE: ClassVar[ClusterInstanceType]
    M5_2XLARGE: ClassVar[ClusterInstanceType]
    M5_4XLARGE: ClassVar[ClusterInstanceType]
    M5_8XLARGE: ClassVar[ClusterInstanceType]
    M5_12XLARGE: ClassVar[ClusterInstanceType]
    M5_16XLARGE: ClassVar[ClusterInstanceType]
    M5_24XLARGE: ClassVar[ClusterInstanceType]
    T3_MEDIUM: ClassVar[ClusterInstanceType]
    T3_LARGE: ClassVar[ClusterInstanceType]
    T3_XLARGE: ClassVar[ClusterInstanceType]
    T3_2XLARGE: ClassVar[ClusterInstanceType]
    G6_XLARGE: ClassVar[ClusterInstanceType]
    G6_2XLARGE: ClassVar[ClusterInstanceType]
    G6_4XLARGE: ClassVar[ClusterInstanceType]
    G6_8XLARGE: ClassVar[ClusterInstanceType]
    G6_16XLARGE: ClassVar[ClusterInstanceType]
    G6_12XLARGE: ClassVar[ClusterInstanceType]
    G6_24XLARGE: ClassVar[ClusterInstanceType]
    G6_48XLARGE: ClassVar[ClusterInstanceType]
    GR6_4XLARGE: ClassVar[ClusterInstanceType]
    GR6_8XLARGE: ClassVar[ClusterInstanceType]
    G6E_XLARGE: ClassVar[ClusterInstanceType]
    G6E_2XLARGE: ClassVar[ClusterInstanceType]
    G6E_4XLARGE: ClassVar[ClusterInstanceType]
    G6E_8XLARGE: ClassVar[ClusterInstanceType]
    G6E_16XLARGE: ClassVar[ClusterInstanceType]
    G6E_12XLARGE: ClassVar[ClusterInstanceType]
    G6E_24XLARGE: ClassVar[ClusterInstanceType]
    G6E_48XLARGE: ClassVar[ClusterInstanceType]
    P5E_48XLARGE: ClassVar[ClusterInstanceType]
    P5EN_48XLARGE: ClassVar[ClusterInstanceType]
    P6_B200_48XLARGE: ClassVar[ClusterInstanceType]
    TRN2_3XLARGE: ClassVar[ClusterInstanceType]
    TRN2_48XLARGE: ClassVar[ClusterInstanceType]
    C6I_LARGE: ClassVar[ClusterInstanceType]
    C6I_XLARGE: ClassVar[ClusterInstanceType]
    C6I_2XLARGE: ClassVar[ClusterInstanceType]
    C6I_4XLARGE: ClassVar[ClusterInstanceType]
    C6I_8XLARGE: ClassVar[ClusterInstanceType]
    C6I_12XLARGE: ClassVar[ClusterInstanceType]
    C6I_16XLARGE: ClassVar[ClusterInstanceType]
    C6I_24XLARGE: ClassVar[ClusterInstanceType]
    C6I_32XLARGE: ClassVar[ClusterInstanceType]
    M6I_LARGE: ClassVar[ClusterInstanceType]
    M6I_XLARGE: ClassVar[ClusterInstanceType]
    M6I_2XLARGE: ClassVar[ClusterInstanceType]
    M6I_4XLARGE: ClassVar[ClusterInstanceType]
    M6I_8XLARGE: ClassVar[ClusterInstanceType]
    M6I_12XLARGE: ClassVar[ClusterInstanceType]
    M6I_16XLARGE: ClassVar[ClusterInstanceType]
    M6I_24XLARGE: ClassVar[ClusterInstanceType]
    M6I_32XLARGE: ClassVar[ClusterInstanceType]
    R6I_LARGE: ClassVar[ClusterInstanceType]
    R6I_XLARGE: ClassVar[ClusterInstanceType]
    R6I_2XLARGE: ClassVar[ClusterInstanceType]
    R6I_4XLARGE: ClassVar[ClusterInstanceType]
    R6I_8XLARGE: ClassVar[ClusterInstanceType]
    R6I_12XLARGE: ClassVar[ClusterInstanceType]
    R6I_16XLARGE: ClassVar[ClusterInstanceType]
    R6I_24XLARGE: ClassVar[ClusterInstanceType]
    R6I_32XLARGE: ClassVar[ClusterInstanceType]
    I3EN_LARGE: ClassVar[ClusterInstanceType]
    I3EN_XLARGE: ClassVar[ClusterInstanceType]
    I3EN_2XLARGE: ClassVar[ClusterInstanceType]
    I3EN_3XLARGE: ClassVar[ClusterInstanceType]
    I3EN_6XLARGE: ClassVar[ClusterInstanceType]
    I3EN_12XLARGE: ClassVar[ClusterInstanceType]
    I3EN_24XLARGE: ClassVar[ClusterInstanceType]
    M7I_LARGE: ClassVar[ClusterInstanceType]
    M7I_XLARGE: ClassVar[ClusterInstanceType]
    M7I_2XLARGE: ClassVar[ClusterInstanceType]
    M7I_4XLARGE: ClassVar[ClusterInstanceType]
    M7I_8XLARGE: ClassVar[ClusterInstanceType]
    M7I_12XLARGE: ClassVar[ClusterInstanceType]
    M7I_16XLARGE: ClassVar[ClusterInstanceType]
    M7I_24XLARGE: ClassVar[ClusterInstanceType]
    M7I_48XLARGE: ClassVar[ClusterInstanceType]
    R7I_LARGE: ClassVar[ClusterInstanceType]
    R7I_XLARGE: ClassVar[ClusterInstanceType]
    R7I_2XLARGE: ClassVar[ClusterInstanceType]
    R7I_4XLARGE: ClassVar[ClusterInstanceType]
    R7I_8XLARGE: ClassVar[ClusterInstanceType]
    R7I_12XLARGE: ClassVar[ClusterInstanceType]
    R7I_16XLARGE: ClassVar[ClusterInstanceType]
    R7I_24XLARGE: ClassVar[ClusterInstanceType]
    R7I_48XLARGE: ClassVar[ClusterInstanceType]
    R5D_16XLARGE: ClassVar[ClusterInstanceType]
    G7E_2XLARGE: ClassVar[ClusterInstanceType]
    G7E_4XLARGE: ClassVar[ClusterInstanceType]
    G7E_8XLARGE: ClassVar[ClusterInstanceType]
    G7E_12XLARGE: ClassVar[ClusterInstanceType]
    G7E_24XLARGE: ClassVar[ClusterInstanceType]
    G7E_48XLARGE: ClassVar[ClusterInstanceType]
    P6_B300_48XLARGE: ClassVar[ClusterInstanceType]
    G4DN_XLARGE: ClassVar[ClusterInstanceType]
    G4DN_2XLARGE: ClassVar[ClusterInstanceType]
    G4DN_4XLARGE: ClassVar[ClusterInstanceType]
    G4DN_8XLARGE: ClassVar[ClusterInstanceType]
    G4DN_12XLARGE: ClassVar[ClusterInstanceType]
    G4DN_16XLARGE: ClassVar[ClusterInstanceType]
    C6G_MEDIUM: ClassVar[ClusterInstanceType]
    C6G_LARGE: ClassVar[ClusterInstanceType]
    C6G_XLARGE: ClassVar[ClusterInstanceType]
    C6G_2XLARGE: ClassVar[ClusterInstanceType]
    C6G_4XLARGE: ClassVar[ClusterInstanceType]
    C6G_8XLARGE: ClassVar[ClusterInstanceType]
    C6G_12XLARGE: ClassVar[ClusterInstanceType]
    C6G_16XLARGE: ClassVar[ClusterInstanceType]
    C7G_MEDIUM: ClassVar[ClusterInstanceType]
    C7G_LARGE: ClassVar[ClusterInstanceType]
    C7G_XLARGE: ClassVar[ClusterInstanceType]
    C7G_2XLARGE: ClassVar[ClusterInstanceType]
    C7G_4XLARGE: ClassVar[ClusterInstanceType]
    C7G_8XLARGE: ClassVar[ClusterInstanceType]
    C7G_12XLARGE: ClassVar[ClusterInstanceType]
    C7G_16XLARGE: ClassVar[ClusterInstanceType]
    C8G_MEDIUM: ClassVar[ClusterInstanceType]
    C8G_LARGE: ClassVar[ClusterInstanceType]
    C8G_XLARGE: ClassVar[ClusterInstanceType]
    C8G_2XLARGE: ClassVar[ClusterInstanceType]
    C8G_4XLARGE: ClassVar[ClusterInstanceType]
    C8G_8XLARGE: ClassVar[ClusterInstanceType]
    C8G_12XLARGE: ClassVar[ClusterInstanceType]
    C8G_16XLARGE: ClassVar[ClusterInstanceType]
    C8G_24XLARGE: ClassVar[ClusterInstanceType]
    C8G_48XLARGE: ClassVar[ClusterInstanceType]
    C6A_LARGE: ClassVar[ClusterInstanceType]
    C6A_XLARGE: ClassVar[ClusterInstanceType]
    C6A_2XLARGE: ClassVar[ClusterInstanceType]
    C6A_4XLARGE: ClassVar[ClusterInstanceType]
    C6A_8XLARGE: ClassVar[ClusterInstanceType]
    C6A_12XLARGE: ClassVar[ClusterInstanceType]
    C6A_16XLARGE: ClassVar[ClusterInstanceType]
    C6A_24XLARGE: ClassVar[ClusterInstanceType]
    C6A_32XLARGE: ClassVar[ClusterInstanceType]
    C6A_48XLARGE: ClassVar[ClusterInstanceType]
    M6A_LARGE: ClassVar[ClusterInstanceType]
    M6A_XLARGE: ClassVar[ClusterInstanceType]
    M6A_2XLARGE: ClassVar[ClusterInstanceType]
    M6A_4XLARGE: ClassVar[ClusterInstanceType]
    M6A_8XLARGE: ClassVar[ClusterInstanceType]
    M6A_12XLARGE: ClassVar[ClusterInstanceType]
    M6A_16XLARGE: ClassVar[ClusterInstanceType]
    M6A_24XLARGE: ClassVar[ClusterInstanceType]
    M6A_32XLARGE: ClassVar[ClusterInstanceType]
    M6A_48XLARGE: ClassVar[ClusterInstanceType]
    M6G_MEDIUM: ClassVar[ClusterInstanceType]
    M6G_LARGE: ClassVar[ClusterInstanceType]
    M6G_XLARGE: ClassVar[ClusterInstanceType]
    M6G_2XLARGE: ClassVar[ClusterInstanceType]
    M6G_4XLARGE: ClassVar[ClusterInstanceType]
    M6G_8XLARGE: ClassVar[ClusterInstanceType]
    M6G_12XLARGE: ClassVar[ClusterInstanceType]
    M6G_16XLARGE: ClassVar[ClusterInstanceType]
    M7G_MEDIUM: ClassVar[ClusterInstanceType]
    M7G_LARGE: ClassVar[ClusterInstanceType]
    M7G_XLARGE: ClassVar[ClusterInstanceType]
    M7G_2XLARGE: ClassVar[ClusterInstanceType]
    M7G_4XLARGE: ClassVar[ClusterInstanceType]
    M7G_8XLARGE: ClassVar[ClusterInstanceType]
    M7G_12XLARGE: ClassVar[ClusterInstanceType]
    M7G_16XLARGE: ClassVar[ClusterInstanceType]
    M8G_MEDIUM: ClassVar[ClusterInstanceType]
    M8G_LARGE: ClassVar[ClusterInstanceType]
    M8G_XLARGE: ClassVar[ClusterInstanceType]
    M8G_2XLARGE: ClassVar[ClusterInstanceType]
    M8G_4XLARGE: ClassVar[ClusterInstanceType]
    M8G_8XLARGE: ClassVar[ClusterInstanceType]
    M8G_12XLARGE: ClassVar[ClusterInstanceType]
    M8G_16XLARGE: ClassVar[ClusterInstanceType]
    M8G_24XLARGE: ClassVar[ClusterInstanceType]
    M8G_48XLARGE: ClassVar[ClusterInstanceType]
    G7_2XLARGE: ClassVar[ClusterInstanceType]
    G7_4XLARGE: ClassVar[ClusterInstanceType]
    G7_8XLARGE: ClassVar[ClusterInstanceType]
    G7_12XLARGE: ClassVar[ClusterInstanceType]
    G7_24XLARGE: ClassVar[ClusterInstanceType]
    G7_48XLARGE: ClassVar[ClusterInstanceType]
    C8A_16XLARGE: ClassVar[ClusterInstanceType]
    M8A_16XLARGE: ClassVar[ClusterInstanceType]

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise ValueError(f"instance type must be a string such as 'ml.m5.xlarge', got {self.name!r}")
        if not is_unknown(self.name) and not self.name.startswith("ml."):
            raise ValueError(f"instance type {self.name!r} does not start with 'ml.'; write {'ml.' + self.name!r}")
        for name, kind in (("accelerator", Accelerator), ("local_nvme", LocalNvme)):
            value = getattr(self, name)
            if value is not None and not isinstance(value, kind):
                raise TypeError(f"{self.name}: {name} is {value!r} ({type(value).__name__}); allowed: {kind.__name__} or None")

    @classmethod
    def of(cls, name: str) -> ClusterInstanceType:
        """The type by its name, with its facts; every fact of a CDK token is `None`.

        :raises ValueError: for an unknown name; the text gives the nearest one.
        """
        if isinstance(name, str) and is_unknown(name):
            return cls(name=name)
        if not isinstance(name, str) or not is_instance_type(name):
            raise ValueError(_unknown(name))
        facts = instance_type(name)
        return cls(**{field.name: getattr(facts, field.name) for field in fields(facts)})

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Every name for `of`, in the order of the API."""
        return tuple(INSTANCE_FACTS)

    def __str__(self) -> str:
        return self.name


def _unknown(name: object) -> str:
    allowed = f"allowed is one of the {len(INSTANCE_FACTS)} names of ClusterInstanceType.names(), or a CDK token"
    if not isinstance(name, str):
        return f"instance type must be a string such as 'ml.m5.xlarge', got {name!r}; {allowed}"
    found, close = f"unknown instance type {name!r}", nearest(name)
    if (reason := impossible(name.strip().lower())) is not None:
        return f"{found}: {reason}; the nearest is {close!r}"
    return (
        f"{found}; {allowed}; the nearest is {close!r}. for a type newer than this release write ClusterInstanceType(name='ml.…')"
    )


def _constant(name: str) -> str:
    return name.removeprefix("ml.").replace(".", "_").replace("-", "_").upper()


for _name in INSTANCE_FACTS:
    setattr(ClusterInstanceType, _constant(_name), ClusterInstanceType.of(_name))
