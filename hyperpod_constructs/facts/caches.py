"""ElastiCache and MemoryDB: families of parameters by engine and version, and names of parameters (as of 2026-11-27).

Sources: https://docs.aws.amazon.com/AmazonElastiCache/latest/APIReference/API_CreateCacheParameterGroup.html,
https://docs.aws.amazon.com/AmazonElastiCache/latest/dg/ParameterGroups.Engine.html and
https://docs.aws.amazon.com/AmazonElastiCache/latest/APIReference/API_CreateReplicationGroup.html
"""

from __future__ import annotations

import re

_BRANCH = re.compile(r"(\d+)\.(\d+|x)")
EVICTIONS = (
    "allkeys-lfu",
    "allkeys-lru",
    "allkeys-random",
    "noeviction",
    "volatile-lfu",
    "volatile-lru",
    "volatile-random",
    "volatile-ttl",
)
"""Values of `maxmemory-policy`."""
CLUSTERED = "cluster-enabled"
"""The parameter that a replication group with several groups of nodes has, as `yes`."""


def family_of(engine: str, version: str) -> str | None:
    """The family of parameters of a version of a cache.

    >>> family_of("redis", "6.2"), family_of("valkey", "8.0"), family_of("redis", "5.0.6")
    ('redis6.x', 'valkey8', 'redis5.0')
    """
    found = _BRANCH.match(version)
    if found is None or engine not in ("memcached", "redis", "valkey"):
        return None
    major, minor = found.groups()
    if engine == "valkey" or (engine == "redis" and int(major) > 6):
        return f"{engine}{major}"
    return "redis6.x" if engine == "redis" and major == "6" else f"{engine}{major}.{minor}"
