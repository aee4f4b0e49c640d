"""AWS Batch: the sizes of jobs on Fargate (as of 2026-11-27; read, not measured).

Source: https://docs.aws.amazon.com/batch/latest/APIReference/API_ResourceRequirement.html
"""

from __future__ import annotations

from collections.abc import Mapping

FARGATE_MEMORY: Mapping[float, tuple[int, ...]] = {
    0.25: (512, 1024, 2048),
    0.5: (1024, 2048, 3072, 4096),
    1: tuple(range(2048, 8193, 1024)),
    2: tuple(range(4096, 16385, 1024)),
    4: tuple(range(8192, 30721, 1024)),
    8: tuple(range(16384, 61441, 4096)),
    16: tuple(range(32768, 122881, 8192)),
    32: (61440, 122880, 249856),
}
"""The memory in MiB that a job may have, by its vCPUs."""

ON_FARGATE = ("FARGATE", "FARGATE_SPOT")
ON_INSTANCES = ("EC2", "SPOT")
"""The types of compute environments; a queue has environments of one kind.

Source: https://docs.aws.amazon.com/batch/latest/APIReference/API_CreateJobQueue.html
"""
