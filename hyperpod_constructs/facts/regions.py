"""Partitions of AWS, by region, with the suffix of their host names (as of 2026-11-21).

Source: https://docs.aws.amazon.com/whitepapers/latest/aws-fault-isolation-boundaries/partitions.html
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Partition(NamedTuple):
    """A partition as ARNs spell it, and the suffix of host names in it."""

    name: str
    dns_suffix: str


_OTHERS = {"cn-": Partition("aws-cn", "amazonaws.com.cn"), "us-gov-": Partition("aws-us-gov", "amazonaws.com")}
_COMMERCIAL = Partition("aws", "amazonaws.com")
_COMMERCIAL_REGION = re.compile(r"(af|ap|ca|eu-(central|north|south|west)|il|me|mx|sa|us-(east|west))-")


def partition(region: str) -> Partition | None:
    """The partition of a region; `None` for an unknown prefix of its name."""
    for prefix, found in _OTHERS.items():
        if region.startswith(prefix):
            return found
    return _COMMERCIAL if _COMMERCIAL_REGION.match(region) else None
