"""Instance types of EC2: the sizes of each family, in `ec2_types.tsv`, which `tools/generate_property_schemas.py` writes.

A family that is not there may be newer than the table.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from hyperpod_constructs.facts.data import rows

ACCELERATED: Mapping[str, re.Pattern[str]] = {"NEURON": re.compile(r"(inf|trn)\d"), "NVIDIA": re.compile(r"(p|g)\d")}
"""The beginnings of types with accelerators, by the word in the names of EKS's images for them.

Source: https://docs.aws.amazon.com/eks/latest/userguide/eks-optimized-amis.html (as of 2026-11-24)
"""

ROOT_DEVICES: Mapping[str, str] = {"AL2": "/dev/xvda", "BOTTLEROCKET": "/dev/xvda", "WINDOWS": "/dev/sda1"}
"""The names of root volumes, by the beginnings of the types of EKS's images.

Source: https://karpenter.sh/docs/concepts/nodeclasses/ (as of 2026-11-27)
"""

_FORM = re.compile(r"[a-z][a-z0-9-]*\.[a-z0-9-]+")


def impossible_type(name: str) -> str | None:
    """Why EC2 has no instance type of this name; `None` if it may have one."""
    if _FORM.fullmatch(name) is None:
        return f"{name!r} is no instance type of EC2: write family and size, such as m7i.2xlarge"
    family, _, size = name.partition(".")
    sizes = _sizes().get(family)
    if sizes is None or size in sizes:
        return None
    return f"the family {family} has no size {size}; it has {', '.join(sizes)}"


def accelerators_of(name: str) -> str | None:
    """The word of EKS's images for the accelerators of a type; `None` for a type without any."""
    return next((word for word, pattern in ACCELERATED.items() if pattern.match(name)), None)


@cache
def _sizes() -> Mapping[str, list[str]]:
    return {family: sizes.split(",") for family, sizes in rows("ec2_types.tsv")}
