"""FSx for OpenZFS: supported throughput, capacity and number of subnets by deployment type (as of 2026-11-21).

Source: https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemOpenZFSConfiguration.html
"""

from __future__ import annotations

from collections.abc import Mapping

_FIRST = (64, 128, 256, 512, 1024, 2048, 3072, 4096)
_SECOND = (160, 320, 640, 1280, 2560, 3840, 5120, 7680, 10240)

THROUGHPUTS: Mapping[str, tuple[int, ...]] = {
    "SINGLE_AZ_1": _FIRST,
    "SINGLE_AZ_HA_1": _FIRST,
    "SINGLE_AZ_2": _SECOND,
    "SINGLE_AZ_HA_2": _SECOND,
    "MULTI_AZ_1": _SECOND,
}
"""Supported MB/s by deployment type."""

CAPACITY_GIB = (64, 524_288)
"""The smallest and the largest capacity on SSD, in GiB."""


NFS_PORTS = range(2049, 2050)
"""TCP ports of NFS.

Source: https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/limit-access-security-groups.html
"""


def subnets(deployment: str) -> int:
    """The number of subnets of a file system."""
    return 2 if deployment.startswith("MULTI_AZ") else 1
