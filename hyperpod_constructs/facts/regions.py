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
PARTITIONS = ("aws", "aws-cn", "aws-eusc", "aws-iso", "aws-iso-b", "aws-iso-e", "aws-iso-f", "aws-us-gov")
"""The partitions as ARNs spell them.

Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference-arns.html (as of 2026-11-30)
"""
_COMMERCIAL = Partition("aws", "amazonaws.com")
_COMMERCIAL_REGION = re.compile(r"(af|ap|ca|eu-(central|north|south|west)|il|me|mx|sa|us-(east|west))-")


def partition(region: str) -> Partition | None:
    """The partition of a region; `None` for an unknown prefix of its name."""
    for prefix, found in _OTHERS.items():
        if region.startswith(prefix):
            return found
    return _COMMERCIAL if _COMMERCIAL_REGION.match(region) else None


REGIONS = frozenset((
    "af-south-1", "ap-east-1", "ap-east-2", "ap-northeast-1", "ap-northeast-2", "ap-northeast-3", "ap-south-1",
    "ap-south-2", "ap-southeast-1", "ap-southeast-2", "ap-southeast-3", "ap-southeast-4", "ap-southeast-5",
    "ap-southeast-6", "ap-southeast-7", "ca-central-1", "ca-west-1", "cn-north-1", "cn-northwest-1", "eu-central-1",
    "eu-central-2", "eu-isoe-west-1", "eu-north-1", "eu-south-1", "eu-south-2", "eu-west-1", "eu-west-2", "eu-west-3",
    "eusc-de-east-1", "il-central-1", "me-central-1", "me-south-1", "mx-central-1", "sa-east-1", "us-east-1", "us-east-2",
    "us-gov-east-1", "us-gov-west-1", "us-iso-east-1", "us-iso-west-1", "us-isob-east-1", "us-isob-west-1",
    "us-isof-east-1", "us-isof-south-1", "us-west-1", "us-west-2",
))  # fmt: skip
"""The regions of AWS (as of 2026-10-20).

Sources: cfn-lint's schemas by region (MIT-0), the first line of `regions_without.tsv`, and the partitions of botocore (Apache-2.0)
"""
