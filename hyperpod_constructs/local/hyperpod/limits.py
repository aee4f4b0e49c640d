"""Quotas of the account that a cluster must keep."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from hyperpod_constructs.facts import quotas
from hyperpod_constructs.local.aws_service import AwsError
from hyperpod_constructs.local.faults import Faults
from hyperpod_constructs.local.hyperpod.state import Cluster, Spec, instance_types


def check_quotas(faults: Faults, specs: Sequence[Spec], clusters: Iterable[Cluster], own: Cluster | None = None) -> None:
    """Refuse more nodes than the quotas allow.

    Nodes of a training plan count for no quota of a type, and a group of several types only for those without a type: what AWS does
    with them is not documented.

    :param specs: the groups of the cluster, as they will be.
    :param clusters: all clusters of the account.
    :param own: the cluster, if it exists.
    :raises AwsError: with the quota.
    """
    wanted = _counts(specs)
    there = {
        cluster.arn: _counts([{**group.spec, "InstanceCount": group.target} for group in cluster.groups.values()])
        for cluster in clusters
    }
    before = there.get(own.arn, Counter()) if own is not None else Counter()
    used: Counter[str] = Counter()
    for counts in there.values():
        used.update(counts)
    for name in sorted(wanted):
        alone = name == quotas.NODES_OF_A_CLUSTER
        _compare(faults, name, before[name] if alone else used[name], wanted[name] - before[name])
    largest = max((size for spec in specs for size in _volumes(spec)), default=0)
    _compare(faults, quotas.VOLUME_SIZE, 0, largest, "Gigabytes")


def _counts(specs: Iterable[Spec]) -> Counter[str]:
    """The nodes of a cluster by quota."""
    counts: Counter[str] = Counter()
    for spec in specs:
        count, kinds, spot = spec["InstanceCount"], instance_types(spec), "Spot" in spec.get("CapacityRequirements", {})
        counts[quotas.NODES_OF_A_CLUSTER] += count
        if "TrainingPlanArn" in spec:
            continue
        counts[quotas.SPOT_NODES_OF_ALL_CLUSTERS if spot else quotas.NODES_OF_ALL_CLUSTERS] += count
        if len(kinds) == 1:
            counts[(quotas.SPOT_NODES_OF_TYPE if spot else quotas.NODES_OF_TYPE).format(kinds[0])] += count
    return counts


def _volumes(spec: Spec) -> list[int]:
    configs = [storage.get("EbsVolumeConfig", {}) for storage in spec.get("InstanceStorageConfigs", ())]
    return [config["VolumeSizeInGB"] for config in configs if "VolumeSizeInGB" in config]


def _compare(faults: Faults, name: str, used: int, delta: int, unit: str = "Instances") -> None:
    limit = faults.quota(name)
    if delta > 0 and used + delta > limit:
        raise AwsError(
            "ResourceLimitExceeded",
            f"the quota '{name}' is {limit} {unit}; {used} are in use, and the request adds {delta}: {quotas.INCREASE}",
        )
