"""The figures that nodes of this library tell: metrics in CloudWatch, and samples in Prometheus, each with its price.

What nodes tell stands in the `config.json` that the scripts' upload carries. Their number and their devices are those of the
clusters of the same template.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from hyperpod_constructs.analysis.clusters import clusters
from hyperpod_constructs.analysis.embedded import parsed
from hyperpod_constructs.cost.prices import HOURS_PER_MONTH, Prices
from hyperpod_constructs.cost.samples import price_of_samples
from hyperpod_constructs.facts.instance_types import InstanceType
from hyperpod_constructs.facts.prometheus import NODE_FIGURES, NODE_SERIES
from hyperpod_constructs.templates.model import Resource

_Item = tuple[str, float | None]
_Groups = Sequence[tuple[int, InstanceType]]
"""The number and the type of the nodes of each group."""


def figures_items(upload: Resource, prices: Prices) -> Iterator[_Item]:
    """What the figures cost that an upload of scripts asks for; nothing without any."""
    metrics = _metrics(upload)
    if metrics is None:
        return
    sets, groups = frozenset(map(str, metrics.get("sets", ()))), _groups(upload)
    cloudwatch, seconds = metrics.get("cloudwatch"), metrics.get("interval_seconds")
    if isinstance(cloudwatch, Mapping):
        yield _in_cloudwatch(sets, groups, cloudwatch.get("per_node") is not False, prices)
    if "remote_write" in metrics:
        yield _in_prometheus(sets, groups, seconds if isinstance(seconds, int) and seconds > 0 else None, prices)


def _metrics(upload: Resource) -> Mapping[str, Any] | None:
    document = parsed(upload.get("Configuration"))
    software = document.get("software") if isinstance(document, Mapping) else None
    found = software.get("metrics") if isinstance(software, Mapping) else None
    return found if isinstance(found, Mapping) else None


def _groups(upload: Resource) -> _Groups | None:
    """The groups of the template; `None` if a number or a type is not known."""
    found = [group for cluster in clusters(upload.template.model) for group in cluster.plain_groups]
    known = [(group.count, group.types[0]) for group in found if group.count is not None and group.count >= 0 and group.types]
    return known if known and len(known) == len(found) else None


def _in_cloudwatch(sets: frozenset[str], groups: _Groups | None, per_node: bool, prices: Prices) -> _Item:
    if groups is None:
        return "figures of an unknown number of nodes in CloudWatch", None
    each = {kind: sum(len(NODE_FIGURES[name]) for name in sets & _present(kind)) for _, kind in groups}
    count = sum((nodes if per_node else min(nodes, 1)) * each[kind] for nodes, kind in groups)
    what = f"figures of each {'node' if per_node else 'group'} in CloudWatch: {count} metrics"
    return what, None if prices.metric_month is None else count * prices.metric_month / HOURS_PER_MONTH


def _in_prometheus(sets: Collection[str], groups: _Groups | None, seconds: int | None, prices: Prices) -> _Item:
    if groups is None or seconds is None:
        return "samples of an unknown number of nodes in Prometheus", None
    series = sum(nodes * _series(sets, kind) for nodes, kind in groups)
    price = price_of_samples(series * HOURS_PER_MONTH * 3600 / seconds, prices)
    return f"samples of nodes in Prometheus: {series} series at most, every {seconds} s", price / HOURS_PER_MONTH


def _present(kind: InstanceType) -> frozenset[str]:
    """The sets of which a node of a type has devices."""
    return frozenset(name for name, count in _devices(kind).items() if count)


def _devices(kind: InstanceType) -> Mapping[str, int]:
    devices = {"memory": 1, "disk": 1, "efa": kind.efa_interfaces or 0}
    if kind.accelerator is not None:
        devices[kind.accelerator.kind] = kind.accelerator.count
    return devices


def _series(sets: Collection[str], kind: InstanceType) -> int:
    """The series of a node, and whether each set could be read."""
    return len(sets) + sum(count * NODE_SERIES[name] for name, count in _devices(kind).items() if name in sets)
