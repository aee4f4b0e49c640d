"""The quotas of the embedded AWS.

AWS grants 0 nodes of most types at first. Here every quota is large unless a test or a user sets it, so that examples work.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from hyperpod_constructs.facts import quotas
from hyperpod_constructs.facts.instance_types import INSTANCE_FACTS

LARGE = 1_000_000
"""The value of a quota that nobody has set."""


@cache
def names() -> Mapping[str, str]:
    """The service code of each quota, by the quota's name."""
    return dict(_named())


def _named() -> Iterator[tuple[str, str]]:
    for kind in INSTANCE_FACTS:
        yield quotas.NODES_OF_TYPE.format(kind), "sagemaker"
        yield quotas.SPOT_NODES_OF_TYPE.format(kind), "sagemaker"
    yield quotas.NODES_OF_A_CLUSTER, "sagemaker"
    yield quotas.NODES_OF_ALL_CLUSTERS, "sagemaker"
    yield quotas.SPOT_NODES_OF_ALL_CLUSTERS, "sagemaker"
    yield quotas.VOLUME_SIZE, "sagemaker"
    yield quotas.INTERFACES, "vpc"
    for kind in quotas.PERSISTENT_KINDS:
        yield quotas.FILE_SYSTEMS.format(kind), "fsx"
        yield quotas.FILE_SYSTEM_CAPACITY.format(kind), "fsx"
