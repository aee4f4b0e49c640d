"""Prices for an estimate before a deployment: US dollars, on demand, in us-east-1.

These are EC2 prices. SageMaker HyperPod has prices of its own, and so has every region; no public table lists the former
for programs. Every output says so with `LABEL`. A price without a public page is unknown here; `Prices` takes a user's own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import date
from pathlib import Path
from typing import Any

from hyperpod_constructs.cost.errors import PriceFileError
from hyperpod_constructs.facts import prices as figures

LABEL = "EC2 on-demand us-east-1, not the SageMaker price"

HOURS_PER_MONTH = 730

_BY_INSTANCE_TYPE = ("instance_hour", "training_plan_hour")

_BY_NAME = (
    *("lustre_persistent_2_gb_month", "openzfs_gb_month", "openzfs_mbps_month"),
    *("database_class_hour", "database_gb_month"),
)

_HIGHEST = 1e9
"""Highest price that a user can give; a sum of such prices is still finite."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """Prices in US dollars; `None` is an unknown price. By default, the prices of this module.

    :param label: the origin of the prices.
    :param instance_hour: a node by the hour, for each instance type such as `ml.p5.48xlarge`.
    :param training_plan_hour: a node that a training plan brings, by the hour, for each instance type: 0, because the plan is paid
        up front, or its fee by the hour of a node. Unknown by default.
    :param lustre_persistent_2_gb_month: a GB of FSx for Lustre, PERSISTENT_2 on SSD, by the month, for each MB/s per TiB.
    :param lustre_tiering_mbps_month: one MB/s of an Intelligent-Tiering file system, by the month; unknown by default.
    :param lustre_read_cache_gb_month: a GB of its read cache on SSD, by the month; unknown by default.
    :param openzfs_gb_month: a GB of FSx for OpenZFS on SSD, by the month, for each deployment type such as `SINGLE_AZ_HA_2`;
        unknown by default.
    :param openzfs_mbps_month: one MB/s of an OpenZFS file system, by the month, for each deployment type; unknown by default.
    :param disk_iops_month: one disk IOPS of an OpenZFS file system beyond 3 for each GB, by the month; unknown by default.
    :param database_class_hour: a database of RDS in one zone by the hour, for each class such as `db.t4g.medium`; unknown by
        default.
    :param database_gb_month: a GB of its storage in one zone by the month, for each type such as `gp3`.
    :param ebs_gb_month: a GB of a node's secondary volume, by the month; unknown by default.
    :param metadata_iops_month: one provisioned metadata IOPS of a Lustre file system, by the month; unknown by default.
    :param interface_endpoint_hour: an interface endpoint in one availability zone, by the hour.
    :param eks_cluster_hour: a control plane of EKS by the hour, while its version of Kubernetes has standard support.
    :param eks_extended_hour: the same in extended support.
    :param prometheus_10_million_samples: 10 million samples that Prometheus takes; by default AWS's own prices, which fall with
        the number of samples.
    :param metric_month: a metric of a log filter or of a node by the month, as if it had values in every hour, among the first
        10,000; requests come on top.
    :param series_per_node: no price, but the series of metrics that a node sends to Prometheus, on average; unknown by default.
    :param alarm_month: an alarm on one metric, by the month; the first ten of an account are free, which is not deducted.
    :param composite_alarm_month: a composite alarm, by the month.
    :param dashboard_month: a dashboard, by the month; the first three of an account are free, which is not deducted.
    :param day: the day of the estimate, which tells the two apart; today by default.
    """

    label: str = LABEL
    instance_hour: Mapping[str, float] = field(default_factory=lambda: figures.INSTANCE_HOUR)
    training_plan_hour: Mapping[str, float] = field(default_factory=dict)
    lustre_persistent_2_gb_month: Mapping[str, float] = field(
        default_factory=lambda: {str(tier): price for tier, price in figures.LUSTRE_PERSISTENT_2_GB_MONTH.items()}
    )
    lustre_tiering_mbps_month: float | None = None
    lustre_read_cache_gb_month: float | None = None
    openzfs_gb_month: Mapping[str, float] = field(default_factory=dict)
    openzfs_mbps_month: Mapping[str, float] = field(default_factory=dict)
    disk_iops_month: float | None = None
    database_class_hour: Mapping[str, float] = field(default_factory=dict)
    database_gb_month: Mapping[str, float] = field(default_factory=lambda: figures.DATABASE_GB_MONTH)
    ebs_gb_month: float | None = None
    metadata_iops_month: float | None = None
    nat_gateway_hour: float | None = figures.NAT_GATEWAY_HOUR
    public_ipv4_hour: float | None = figures.PUBLIC_IPV4_HOUR
    interface_endpoint_hour: float | None = figures.INTERFACE_ENDPOINT_HOUR
    eks_cluster_hour: float | None = figures.EKS_CLUSTER_HOUR
    eks_extended_hour: float | None = figures.EKS_EXTENDED_HOUR
    prometheus_10_million_samples: float | None = None
    metric_month: float | None = figures.METRIC_MONTH
    series_per_node: float | None = None
    kms_key_month: float | None = figures.KMS_KEY_MONTH
    secret_month: float | None = None
    alarm_month: float | None = figures.ALARM_MONTH
    composite_alarm_month: float | None = figures.COMPOSITE_ALARM_MONTH
    dashboard_month: float | None = figures.DASHBOARD_MONTH
    day: date = field(default_factory=date.today)

    @classmethod
    def read(cls, path: Path) -> Prices:
        """The prices in a JSON file; its keys are the fields of this class. Missing prices are the defaults.

        :raises PriceFileError: if the file is missing or is not a JSON object, or if a key is unknown or a price is not a number.
        """
        from hyperpod_constructs.templates.errors import TemplateError
        from hyperpod_constructs.templates.files import read_text
        from hyperpod_constructs.templates.reading import parsed_json

        try:
            document = parsed_json(read_text(path))
        except TemplateError as error:
            raise PriceFileError(f"{path}: cannot be read as JSON: {error.message}") from error
        if not isinstance(document, dict):
            raise PriceFileError(f'{path}: a file of prices is a JSON object, such as {{"nat_gateway_hour": 0.048}}')
        known = {item.name for item in fields(cls)} - {"day"}
        for key in sorted(set(document) - known):
            raise PriceFileError(f"{path}: {key!r} is not a price; allowed: {', '.join(sorted(known))}")
        given: dict[str, Any] = {}
        default = cls()
        for key, value in document.items():
            if key in (*_BY_INSTANCE_TYPE, *_BY_NAME):
                given[key] = {**getattr(default, key), **_table(path, key, value)}
            elif key != "label":
                given[key] = _price(path, key, value)
        label = document.get("label", path.name)
        return replace(default, **given, label=f"{label}; other prices: {LABEL}")


def _table(path: Path, key: str, value: Any) -> Mapping[str, float]:
    if not isinstance(value, dict):
        raise PriceFileError(f"{path}: {key} is {value!r}; allowed: an object with a price for each name")
    for name in value:
        if key in _BY_INSTANCE_TYPE and not name.startswith("ml."):
            raise PriceFileError(
                f"{path}: {key} has {name!r}, which is not an instance type; allowed: names such as ml.p5.48xlarge"
            )
    return {name: _price(path, f"{key}.{name}", item) for name, item in value.items()}


def _price(path: Path, key: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _HIGHEST:
        raise PriceFileError(f"{path}: {key} is {value!r}; allowed: a number, 0 or more")
    return float(value)
