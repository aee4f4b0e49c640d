"""Prices from public pages: US dollars, on demand, in us-east-1 unless a comment says otherwise (as of 2026-11-21).

A price without a public page is left out.
"""

from __future__ import annotations

from collections.abc import Mapping

from hyperpod_constructs.facts.data import rows

# Source: https://sst.dev/docs/component/aws/vpc/ (us-east-1; data processing comes on top)
NAT_GATEWAY_HOUR = 0.045

# Source: https://www.doit.com/aws-public-ipv4-price-increase-the-complete-guide/ (since 2024-02-01, all regions)
PUBLIC_IPV4_HOUR = 0.005

# Source: https://docs.amazonaws.cn/en_us/vpc/latest/privatelink/gateway-endpoints.html
GATEWAY_ENDPOINT_HOUR = 0.0

# Per endpoint and availability zone; data comes on top.
# Source: https://www.factualminds.com/blog/amazon-vpc-pricing-endpoints-peering-transit-gateway/ (us-east-1)
INTERFACE_ENDPOINT_HOUR = 0.01

# A control plane with a Kubernetes version in standard and in extended support; `eks.SUPPORT` has the days. A provisioned tier
# comes on top, at a price that is not known.
# Source: https://aws.amazon.com/blogs/containers/amazon-eks-extended-support-for-kubernetes-versions-pricing
EKS_CLUSTER_HOUR = 0.10
EKS_EXTENDED_HOUR = 0.60

# Source: https://cloudburn.io/blog/aws-kms-pricing (2026-03; requests come on top)
KMS_KEY_MONTH = 1.0

# An alarm on one metric with periods of a minute or more, a composite alarm, and a metric of one's own: each by the month, and a
# metric only for the hours in which it has values. Ten alarms and ten metrics of an account are free. A dashboard beyond three.
# Source: https://www.vantage.sh/blog/cloudwatch-metrics-pricing-explained-in-plain-english and
# https://aws.amazon.com/cloudwatch/pricing/ (us-east-1)
ALARM_MONTH = 0.10
COMPOSITE_ALARM_MONTH = 0.50
METRIC_MONTH = 0.30
DASHBOARD_MONTH = 3.0

# FSx for Lustre, PERSISTENT_2 on SSD: price of a GB-month by MB/s per TiB. The prices of the other tiers are unknown.
# Source: https://c3x.dev/resources/aws/aws_fsx_lustre_file_system/ (names no region)
LUSTRE_PERSISTENT_2_GB_MONTH = {125: 0.145}

# General purpose storage of a database by the month, in one zone; a standby has the same again. Its first 3000 IOPS are included.
# Source: https://www.usage.ai/blogs/aws/reserved-instances/rds/pricing-calculator/ (as of 2026-06, us-east-1)
DATABASE_GB_MONTH = {"gp3": 0.115}

# Samples that Prometheus takes, by the month: up to how many, and the price of 10 million of them. They count for the account and
# the region together; the first 40 million are free there. Storage and queries come on top.
# Source: https://aws.amazon.com/prometheus/pricing/ (as of 2026-11-24; the table as public estimates of 2022 to 2025 repeat it)
PROMETHEUS_SAMPLE_TIERS = ((2e9, 0.90), (252e9, 0.35), (float("inf"), 0.16))

MOST_SERIES = 10_000_000
"""The quota of active series of a workspace of Prometheus, which AWS raises on request.

Source: https://docs.aws.amazon.com/prometheus/latest/userguide/AMP_quotas.html (as of 2026-11-24)
"""

# Instances by the hour. Source and date: in the file.
INSTANCE_HOUR: Mapping[str, float] = {name: float(price) for name, price in rows("instance_prices.tsv")}

_FREE = frozenset(name for (name,) in rows("free_types.tsv"))


def is_free(resource_type: str) -> bool:
    """Whether resources of a type cost nothing while they exist; the price of another type can be unknown."""
    return resource_type in _FREE or f"{resource_type.rpartition('::')[0]}::*" in _FREE
