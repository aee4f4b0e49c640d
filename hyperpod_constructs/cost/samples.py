"""The samples that the observability add-on sends to Prometheus, and their price.

Their number is that of the nodes, times the series of a node, once each interval. No page says how many series a node has: it
depends on the kinds of metrics and on the jobs. So the user gives it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperpod_constructs.analysis.addons import Addon
from hyperpod_constructs.analysis.clusters import clusters
from hyperpod_constructs.analysis.kubernetes import joined
from hyperpod_constructs.cost.prices import HOURS_PER_MONTH, Prices
from hyperpod_constructs.facts.addons import SCRAPE_SECONDS
from hyperpod_constructs.facts.prices import PROMETHEUS_SAMPLE_TIERS

WITHOUT_A_NUMBER = "samples that the add-on sends to Prometheus: their price needs the number of series of a node"


def samples_item(addon: Addon, prices: Prices) -> tuple[str, float | None]:
    """What the samples of an observability add-on are, and their price by the hour."""
    series, seconds, nodes = prices.series_per_node, _interval(addon.configuration or {}), _nodes(addon)
    if series is None:
        return WITHOUT_A_NUMBER, None
    shown = "an unknown number of" if nodes is None else nodes
    what = f"samples in Prometheus: {shown} x {series:g} series, every {seconds} s"
    if nodes is None:
        return what, None
    return what, price_of_samples(nodes * series * HOURS_PER_MONTH * 3600 / seconds, prices) / HOURS_PER_MONTH


def price_of_samples(samples: float, prices: Prices) -> float:
    """The price of the samples of a month; AWS's own falls with their number."""
    if prices.prometheus_10_million_samples is not None:
        return samples / 1e7 * prices.prometheus_10_million_samples
    total, below = 0.0, 0.0
    for most, price in PROMETHEUS_SAMPLE_TIERS:
        total += max(0.0, min(samples, most) - below) / 1e7 * price
        below = most
    return total


def _interval(configuration: Mapping[str, Any]) -> int:
    """The shortest time between two looks at a metric, in seconds."""
    kinds = configuration.get("metricsProvider")
    listed = [kind for kind in kinds.values() if isinstance(kind, Mapping)] if isinstance(kinds, Mapping) else []
    given = [found for kind in listed if isinstance(found := kind.get("scrapeInterval"), int) and found > 0]
    return min(given, default=SCRAPE_SECONDS)


def _nodes(addon: Addon) -> int | None:
    """The nodes of the HyperPod clusters in the add-on's Kubernetes cluster; of all on EKS where that is from elsewhere."""
    model = addon.resource.template.model
    own = [cluster for cluster, eks in joined(model) if eks == addon.eks]
    used = own if addon.eks is not None else [cluster for cluster in clusters(model) if cluster.on_eks]
    counts = [group.count for cluster in used for group in cluster.groups]
    known = [count for count in counts if count is not None and count >= 0]
    complete = bool(used) and len(known) == len(counts) and all(cluster.knows_groups for cluster in used)
    return sum(known) if complete else None
