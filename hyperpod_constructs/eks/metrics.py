"""The configuration of observability: which metrics go where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from hyperpod_constructs._support.arguments import checked_value
from hyperpod_constructs.facts.addons import SCRAPE_SECONDS


class MetricsLevel(StrEnum):
    """How many metrics of a category are collected."""

    BASIC = "BASIC"
    """The usual ones."""
    ADVANCED = "ADVANCED"
    """All: each costs by its samples."""
    DISABLED = "DISABLED"
    """None."""


class MetricsCategory(StrEnum):
    """A category of metrics."""

    TRAINING = "trainingMetrics"
    INFERENCE = "inferenceMetrics"
    TASK_GOVERNANCE = "taskGovernanceMetrics"
    SCALING = "scalingMetrics"
    CLUSTER = "customMetrics"
    INSTANCE = "nodeMetrics"
    ACCELERATED_COMPUTE = "acceleratedComputeMetrics"
    NETWORK = "networkMetrics"


_OFF = (MetricsCategory.TASK_GOVERNANCE, MetricsCategory.SCALING, MetricsCategory.NETWORK)
"""Categories that the service leaves off.

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/hyperpod-observability-cluster-metrics.html
"""


@checked_value
@dataclass(frozen=True, kw_only=True, slots=True)
class GrafanaWorkspace:
    """A workspace of Amazon Managed Grafana.

    :param name: its name.
    :param arn: its ARN.
    """

    name: str
    arn: str


def observed(
    arn: str,
    endpoint: str,
    grafana: GrafanaWorkspace | None,
    levels: Mapping[MetricsCategory, MetricsLevel],
    logging: bool,
) -> dict[str, Any]:
    """The configuration of the add-on; HyperPod's CLI reads the workspaces from it.

    :param arn: the workspace of Prometheus.
    :param endpoint: its address.
    """
    given = {category: levels.get(category, _default(category)) for category in MetricsCategory}
    configuration: dict[str, Any] = {
        "ampWorkspace": {"arn": arn, "prometheusEndpoint": endpoint},
        "metricsProvider": {
            category.value: {"level": level.value, "scrapeInterval": SCRAPE_SECONDS} for category, level in given.items()
        },
        "logging": {"enabled": logging},
    }
    if grafana is not None:
        configuration["amgWorkspace"] = {"arn": grafana.arn, "workspaceName": grafana.name}
    return configuration


def _default(category: MetricsCategory) -> MetricsLevel:
    return MetricsLevel.DISABLED if category in _OFF else MetricsLevel.BASIC
