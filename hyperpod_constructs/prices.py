"""Prices for an estimate before a deployment: US dollars, on demand, in us-east-1.

They are not the prices of SageMaker HyperPod, which no public table that a program may read lists, and not those of
another region: every output that uses them says so with :data:`LABEL`. What no public page states is not in here, and
unknown then; :class:`Prices` takes a user's own instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

LABEL = "EC2 on-demand us-east-1, not the SageMaker price"

HOURS_PER_MONTH = 730

# https://sst.dev/docs/component/aws/vpc/ (us-east-1; data processing comes on top)
NAT_GATEWAY_HOUR = 0.045

# https://www.doit.com/aws-public-ipv4-price-increase-the-complete-guide/ (since 2024-02-01, all regions)
PUBLIC_IPV4_HOUR = 0.005

# https://docs.amazonaws.cn/en_us/vpc/latest/privatelink/gateway-endpoints.html
GATEWAY_ENDPOINT_HOUR = 0.0

# Per endpoint and availability zone; data comes on top.
# https://www.factualminds.com/blog/amazon-vpc-pricing-endpoints-peering-transit-gateway/ (us-east-1)
INTERFACE_ENDPOINT_HOUR = 0.01

# A control plane whose Kubernetes version is in standard support; in extended support it is 0.60.
# https://aws.amazon.com/blogs/containers/amazon-eks-extended-support-for-kubernetes-versions-pricing
EKS_CLUSTER_HOUR = 0.10

# https://cloudburn.io/blog/aws-kms-pricing (2026-03; requests come on top)
KMS_KEY_MONTH = 1.0

# A file system of FSx for Lustre, PERSISTENT_2 on SSD: MB/s per TiB to the price of a GB-month.
# https://c3x.dev/resources/aws/aws_fsx_lustre_file_system/ (names no region). The other tiers are unknown.
LUSTRE_PERSISTENT_2_GB_MONTH = {125: 0.145}

# Instances by the hour. Source: aws/karpenter-provider-aws, pkg/providers/pricing/zz_generated.pricing_aws.go at commit
# 265ee0ba5b8e337dec6b82dde965b03021ccb418, generated 2026-02-09 from the price list of AWS for us-east-1, Linux.
INSTANCE_HOUR_AS_OF = "2026-02-09"
INSTANCE_HOUR = {
    "ml.p4d.24xlarge": 21.957642,
    "ml.p4de.24xlarge": 27.44705,
    "ml.p5.48xlarge": 55.04,
    "ml.p5.4xlarge": 6.88,
    "ml.trn1.32xlarge": 21.5,
    "ml.trn1n.32xlarge": 24.78,
    "ml.g5.xlarge": 1.006,
    "ml.g5.2xlarge": 1.212,
    "ml.g5.4xlarge": 1.624,
    "ml.g5.8xlarge": 2.448,
    "ml.g5.12xlarge": 5.672,
    "ml.g5.16xlarge": 4.096,
    "ml.g5.24xlarge": 8.144,
    "ml.g5.48xlarge": 16.288,
    "ml.c5.large": 0.085,
    "ml.c5.xlarge": 0.17,
    "ml.c5.2xlarge": 0.34,
    "ml.c5.4xlarge": 0.68,
    "ml.c5.9xlarge": 1.53,
    "ml.c5.12xlarge": 2.04,
    "ml.c5.18xlarge": 3.06,
    "ml.c5.24xlarge": 4.08,
    "ml.c5n.large": 0.108,
    "ml.c5n.2xlarge": 0.432,
    "ml.c5n.4xlarge": 0.864,
    "ml.c5n.9xlarge": 1.944,
    "ml.c5n.18xlarge": 3.888,
    "ml.m5.large": 0.096,
    "ml.m5.xlarge": 0.192,
    "ml.m5.2xlarge": 0.384,
    "ml.m5.4xlarge": 0.768,
    "ml.m5.8xlarge": 1.536,
    "ml.m5.12xlarge": 2.304,
    "ml.m5.16xlarge": 3.072,
    "ml.m5.24xlarge": 4.608,
    "ml.t3.medium": 0.0416,
    "ml.t3.large": 0.0832,
    "ml.t3.xlarge": 0.1664,
    "ml.t3.2xlarge": 0.3328,
    "ml.g6.xlarge": 0.8048,
    "ml.g6.2xlarge": 0.9776,
    "ml.g6.4xlarge": 1.3232,
    "ml.g6.8xlarge": 2.0144,
    "ml.g6.16xlarge": 3.3968,
    "ml.g6.12xlarge": 4.6016,
    "ml.g6.24xlarge": 6.6752,
    "ml.g6.48xlarge": 13.3504,
    "ml.gr6.4xlarge": 1.5392,
    "ml.gr6.8xlarge": 2.4464,
    "ml.g6e.xlarge": 1.861,
    "ml.g6e.2xlarge": 2.24208,
    "ml.g6e.4xlarge": 3.00424,
    "ml.g6e.8xlarge": 4.52856,
    "ml.g6e.16xlarge": 7.57719,
    "ml.g6e.12xlarge": 10.49264,
    "ml.g6e.24xlarge": 15.06559,
    "ml.g6e.48xlarge": 30.13118,
    "ml.p5en.48xlarge": 63.296,
    "ml.p6-b200.48xlarge": 113.9328,
    "ml.c6i.large": 0.085,
    "ml.c6i.xlarge": 0.17,
    "ml.c6i.2xlarge": 0.34,
    "ml.c6i.4xlarge": 0.68,
    "ml.c6i.8xlarge": 1.36,
    "ml.c6i.12xlarge": 2.04,
    "ml.c6i.16xlarge": 2.72,
    "ml.c6i.24xlarge": 4.08,
    "ml.c6i.32xlarge": 5.44,
    "ml.m6i.large": 0.096,
    "ml.m6i.xlarge": 0.192,
    "ml.m6i.2xlarge": 0.384,
    "ml.m6i.4xlarge": 0.768,
    "ml.m6i.8xlarge": 1.536,
    "ml.m6i.12xlarge": 2.304,
    "ml.m6i.16xlarge": 3.072,
    "ml.m6i.24xlarge": 4.608,
    "ml.m6i.32xlarge": 6.144,
    "ml.r6i.large": 0.126,
    "ml.r6i.xlarge": 0.252,
    "ml.r6i.2xlarge": 0.504,
    "ml.r6i.4xlarge": 1.008,
    "ml.r6i.8xlarge": 2.016,
    "ml.r6i.12xlarge": 3.024,
    "ml.r6i.16xlarge": 4.032,
    "ml.r6i.24xlarge": 6.048,
    "ml.r6i.32xlarge": 8.064,
    "ml.i3en.large": 0.226,
    "ml.i3en.xlarge": 0.452,
    "ml.i3en.2xlarge": 0.904,
    "ml.i3en.3xlarge": 1.356,
    "ml.i3en.6xlarge": 2.712,
    "ml.i3en.12xlarge": 5.424,
    "ml.i3en.24xlarge": 10.848,
    "ml.m7i.large": 0.1008,
    "ml.m7i.xlarge": 0.2016,
    "ml.m7i.2xlarge": 0.4032,
    "ml.m7i.4xlarge": 0.8064,
    "ml.m7i.8xlarge": 1.6128,
    "ml.m7i.12xlarge": 2.4192,
    "ml.m7i.16xlarge": 3.2256,
    "ml.m7i.24xlarge": 4.8384,
    "ml.m7i.48xlarge": 9.6768,
    "ml.r7i.large": 0.1323,
    "ml.r7i.xlarge": 0.2646,
    "ml.r7i.2xlarge": 0.5292,
    "ml.r7i.4xlarge": 1.0584,
    "ml.r7i.8xlarge": 2.1168,
    "ml.r7i.12xlarge": 3.1752,
    "ml.r7i.16xlarge": 4.2336,
    "ml.r7i.24xlarge": 6.3504,
    "ml.r7i.48xlarge": 12.7008,
    "ml.r5d.16xlarge": 4.608,
    "ml.g7e.2xlarge": 3.36312,
    "ml.g7e.4xlarge": 3.99816,
    "ml.g7e.8xlarge": 5.26824,
    "ml.g7e.12xlarge": 8.28608,
    "ml.g7e.24xlarge": 16.57216,
    "ml.g7e.48xlarge": 33.14432,
    "ml.g4dn.xlarge": 0.526,
    "ml.g4dn.2xlarge": 0.752,
    "ml.g4dn.4xlarge": 1.204,
    "ml.g4dn.8xlarge": 2.176,
    "ml.g4dn.12xlarge": 3.912,
    "ml.g4dn.16xlarge": 4.352,
    "ml.c6g.medium": 0.034,
    "ml.c6g.large": 0.068,
    "ml.c6g.xlarge": 0.136,
    "ml.c6g.2xlarge": 0.272,
    "ml.c6g.4xlarge": 0.544,
    "ml.c6g.8xlarge": 1.088,
    "ml.c6g.12xlarge": 1.632,
    "ml.c6g.16xlarge": 2.176,
    "ml.c7g.medium": 0.0363,
    "ml.c7g.large": 0.0725,
    "ml.c7g.xlarge": 0.145,
    "ml.c7g.2xlarge": 0.29,
    "ml.c7g.4xlarge": 0.58,
    "ml.c7g.8xlarge": 1.16,
    "ml.c7g.12xlarge": 1.74,
    "ml.c7g.16xlarge": 2.32,
    "ml.c8g.medium": 0.03988,
    "ml.c8g.large": 0.07976,
    "ml.c8g.xlarge": 0.15952,
    "ml.c8g.2xlarge": 0.31904,
    "ml.c8g.4xlarge": 0.63808,
    "ml.c8g.8xlarge": 1.27616,
    "ml.c8g.12xlarge": 1.91424,
    "ml.c8g.16xlarge": 2.55232,
    "ml.c8g.24xlarge": 3.82848,
    "ml.c8g.48xlarge": 7.65696,
    "ml.c6a.large": 0.0765,
    "ml.c6a.xlarge": 0.153,
    "ml.c6a.2xlarge": 0.306,
    "ml.c6a.4xlarge": 0.612,
    "ml.c6a.8xlarge": 1.224,
    "ml.c6a.12xlarge": 1.836,
    "ml.c6a.16xlarge": 2.448,
    "ml.c6a.24xlarge": 3.672,
    "ml.c6a.32xlarge": 4.896,
    "ml.c6a.48xlarge": 7.344,
    "ml.m6a.large": 0.0864,
    "ml.m6a.xlarge": 0.1728,
    "ml.m6a.2xlarge": 0.3456,
    "ml.m6a.4xlarge": 0.6912,
    "ml.m6a.8xlarge": 1.3824,
    "ml.m6a.12xlarge": 2.0736,
    "ml.m6a.16xlarge": 2.7648,
    "ml.m6a.24xlarge": 4.1472,
    "ml.m6a.32xlarge": 5.5296,
    "ml.m6a.48xlarge": 8.2944,
    "ml.m6g.medium": 0.0385,
    "ml.m6g.large": 0.077,
    "ml.m6g.xlarge": 0.154,
    "ml.m6g.2xlarge": 0.308,
    "ml.m6g.4xlarge": 0.616,
    "ml.m6g.8xlarge": 1.232,
    "ml.m6g.12xlarge": 1.848,
    "ml.m6g.16xlarge": 2.464,
    "ml.m7g.medium": 0.0408,
    "ml.m7g.large": 0.0816,
    "ml.m7g.xlarge": 0.1632,
    "ml.m7g.2xlarge": 0.3264,
    "ml.m7g.4xlarge": 0.6528,
    "ml.m7g.8xlarge": 1.3056,
    "ml.m7g.12xlarge": 1.9584,
    "ml.m7g.16xlarge": 2.6112,
    "ml.m8g.medium": 0.04488,
    "ml.m8g.large": 0.08976,
    "ml.m8g.xlarge": 0.17952,
    "ml.m8g.2xlarge": 0.35904,
    "ml.m8g.4xlarge": 0.71808,
    "ml.m8g.8xlarge": 1.43616,
    "ml.m8g.12xlarge": 2.15424,
    "ml.m8g.16xlarge": 2.87232,
    "ml.m8g.24xlarge": 4.30848,
    "ml.m8g.48xlarge": 8.61696,
    "ml.c8a.16xlarge": 3.44864,
    "ml.m8a.16xlarge": 3.89504,
}


_HIGHEST = 1e9
"""No price is higher; a sum of such ones is still a number."""


class PriceFileError(ValueError):
    """A file of prices that cannot be used; the text is one line for a person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """US dollars for what an estimate counts; ``None`` is not known.

    label: whose prices these are.
    instance_hour: a node by the hour, by instance type such as ``ml.p5.48xlarge``.
    lustre_persistent_2_gb_month: a GB of FSx for Lustre, PERSISTENT_2 on SSD, by the month, by MB/s per TiB.
    ebs_gb_month: a GB of the nodes' secondary volumes, by the month.
    metadata_iops_month: one of the metadata IOPS that a Lustre file system is given, by the month.
    interface_endpoint_hour: an interface endpoint in one availability zone.
    """

    label: str = LABEL
    instance_hour: Mapping[str, float] = field(default_factory=lambda: INSTANCE_HOUR)
    lustre_persistent_2_gb_month: Mapping[str, float] = field(
        default_factory=lambda: {str(tier): price for tier, price in LUSTRE_PERSISTENT_2_GB_MONTH.items()}
    )
    ebs_gb_month: float | None = None
    metadata_iops_month: float | None = None
    nat_gateway_hour: float | None = NAT_GATEWAY_HOUR
    public_ipv4_hour: float | None = PUBLIC_IPV4_HOUR
    interface_endpoint_hour: float | None = INTERFACE_ENDPOINT_HOUR
    eks_cluster_hour: float | None = EKS_CLUSTER_HOUR
    kms_key_month: float | None = KMS_KEY_MONTH
    secret_month: float | None = None

    @classmethod
    def read(cls, path: Path) -> Prices:
        """The prices of a JSON file, and those above for what it leaves out; its keys are the fields of this class.

        Raises PriceFileError for a file that is missing, is no JSON object, has another key, or a price that is no number.
        """
        from hyperpod_constructs.rules.template.errors import TemplateError
        from hyperpod_constructs.rules.template.files import read_text
        from hyperpod_constructs.rules.template.loading import parsed_json

        try:
            document = parsed_json(read_text(path))
        except TemplateError as error:
            raise PriceFileError(f"{path}: cannot be read as JSON: {error.message}") from error
        if not isinstance(document, dict):
            raise PriceFileError(f'{path}: a file of prices is a JSON object, such as {{"nat_gateway_hour": 0.048}}')
        known = {item.name for item in fields(cls)}
        for key in sorted(set(document) - known):
            raise PriceFileError(f"{path}: {key!r} is no price; allowed: {', '.join(sorted(known))}")
        given: dict[str, Any] = {}
        default = cls()
        for key, value in document.items():
            if key in ("instance_hour", "lustre_persistent_2_gb_month"):
                given[key] = {**getattr(default, key), **_table(path, key, value)}
            elif key != "label":
                given[key] = _price(path, key, value)
        label = document.get("label", path.name)
        return replace(default, **given, label=f"{label}; what that lacks: {LABEL}")


def _table(path: Path, key: str, value: Any) -> Mapping[str, float]:
    if not isinstance(value, dict):
        raise PriceFileError(f"{path}: {key} is {value!r}; allowed: an object with a price for each name")
    for name in value:
        if key == "instance_hour" and not name.startswith("ml."):
            raise PriceFileError(f"{path}: {key} has {name!r}, which is no type of a node; allowed: names such as ml.p5.48xlarge")
    return {name: _price(path, f"{key}.{name}", item) for name, item in value.items()}


def _price(path: Path, key: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _HIGHEST:
        raise PriceFileError(f"{path}: {key} is {value!r}; allowed: a number of US dollars, 0 or more")
    return float(value)
