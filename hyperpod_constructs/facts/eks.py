"""Amazon EKS: versions, logs, types of access entries, access policies, limits (as of 2026-11-22)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from enum import StrEnum
from ipaddress import IPv4Network
from typing import NamedTuple

from hyperpod_constructs.facts.kubernetes import NODE_ENTRY, version_of
from hyperpod_constructs.facts.mistake import Mistake, fixed_by

VERSIONS = ("1.30", "1.31", "1.32", "1.33", "1.34", "1.35", "1.36")
"""The versions of Kubernetes that EKS has: those of HyperPod, and a newer one. Older ones have no support any more.

Source: https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions.html
"""


class Support(NamedTuple):
    """The days, in UTC, on which support of a version of Kubernetes ends.

    :param standard: from this day on a control plane costs the price of extended support.
    :param extended: from this day on EKS makes no cluster of the version, and raises those that are there.
    """

    standard: date
    extended: date


SUPPORT: Mapping[str, Support] = {
    "1.30": Support(date(2025, 7, 23), date(2026, 7, 23)),
    "1.31": Support(date(2025, 11, 26), date(2026, 11, 26)),
    "1.32": Support(date(2026, 3, 23), date(2027, 3, 23)),
    "1.33": Support(date(2026, 7, 29), date(2027, 7, 29)),
    "1.34": Support(date(2026, 12, 2), date(2027, 12, 2)),
    "1.35": Support(date(2027, 3, 27), date(2028, 3, 27)),
}
"""By version; that of 1.36 is not known.

Sources: https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions.html and https://endoflife.date/amazon-eks
"""

AS_OF = date(2026, 11, 22)
"""The day of these facts. A rule goes by it instead of the clock, so that a template that passes today passes tomorrow."""


class SupportPeriod(StrEnum):
    """What support a version of Kubernetes has on a day."""

    STANDARD = "standard support"
    EXTENDED = "extended support"
    OVER = "no support"


def support_on(day: date, version: str) -> SupportPeriod | None:
    """The support of a version on a day; `None` for a version whose days are not known.

    A newer version than all known ones has standard support.
    """
    known = SUPPORT.get(version)
    if known is None:
        numbers, newest = version_of(version), version_of(max(SUPPORT))
        return SupportPeriod.STANDARD if numbers is not None and newest is not None and numbers > newest else None
    if day >= known.extended:
        return SupportPeriod.OVER
    return SupportPeriod.EXTENDED if day >= known.standard else SupportPeriod.STANDARD


DEFAULT_VERSION = "1.35"
"""The version of a cluster without one."""

DAYS_TO_GO_BACK = 7
"""Days in which a cluster can go back to the version before.

Source: https://docs.aws.amazon.com/eks/latest/userguide/rollback-cluster.html
"""

DEFAULT_MODE = "CONFIG_MAP"
"""The authentication mode of a cluster without one.

Source: https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateAccessConfigRequest.html
"""

NEXT_MODE: Mapping[str, str] = {"CONFIG_MAP": "API_AND_CONFIG_MAP", "API_AND_CONFIG_MAP": "API"}
"""The only other authentication mode that an update may set, by the mode before it: no step is left out, and none goes back.

Source: https://www.eksworkshop.com/docs/security/cluster-access-management/managing; that EKS refuses a step that leaves one out:
https://github.com/pulumi/pulumi-eks/issues/1493 (both as of 2026-11-22)
"""

AUTO_MODE = ("computeConfig", "kubernetesNetworkConfig", "storageConfig")
"""The members of a request that switch Auto Mode on and off, in one update.

Source: https://docs.aws.amazon.com/eks/latest/userguide/auto-enable-existing.html
"""

PRINCIPAL = "eks.amazonaws.com"
"""The service that assumes the role of a cluster.

Source: https://docs.aws.amazon.com/eks/latest/userguide/cluster-iam-role.html
"""

NODES_PRINCIPAL = "ec2.amazonaws.com"
"""The service that assumes the role of a node group.

Source: https://docs.aws.amazon.com/eks/latest/userguide/create-node-role.html
"""

NODE_GROUP_LABEL, CAPACITY_LABEL = "eks.amazonaws.com/nodegroup", "eks.amazonaws.com/capacityType"
"""The labels of the nodes of a node group.

Source: https://docs.aws.amazon.com/eks/latest/userguide/managed-node-groups.html
"""

TAINT_EFFECTS: Mapping[str, str] = {
    "NO_SCHEDULE": "NoSchedule",
    "NO_EXECUTE": "NoExecute",
    "PREFER_NO_SCHEDULE": "PreferNoSchedule",
}
"""The effects of the taints of a node group, in the words of Kubernetes.

Source: https://docs.aws.amazon.com/eks/latest/APIReference/API_Taint.html
"""

MOST_NODES_OF_GROUP = 450
"""The quota of nodes of a node group, which AWS raises on request.

Source: https://docs.aws.amazon.com/eks/latest/userguide/service-quotas.html
"""

LOG_TYPES = ("api", "audit", "authenticator", "controllerManager", "scheduler")
"""The logs of a control plane.

Source: https://docs.aws.amazon.com/eks/latest/userguide/control-plane-logs.html
"""

ENCRYPTED_RESOURCES = ("secrets",)
"""What a cluster can encrypt with a key of the user.

Source: https://docs.aws.amazon.com/eks/latest/APIReference/API_EncryptionConfig.html
"""

MOST_SECURITY_GROUPS = 5
"""Security groups of a cluster at most, beside its own.

Source: https://docs.aws.amazon.com/eks/latest/userguide/service-quotas.html
"""

SERVICE_PREFIXES = range(12, 25)
"""The lengths of the block of service addresses.

Source: https://docs.aws.amazon.com/eks/latest/APIReference/API_KubernetesNetworkConfigRequest.html
"""

SERVICE_BLOCKS = ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")
"""The blocks of which the block of service addresses is a part.

Source: https://docs.aws.amazon.com/eks/latest/APIReference/API_KubernetesNetworkConfigRequest.html (as of 2026-11-28)
"""

SERVICE_BLOCKS_ALLOWED = (
    f"/{SERVICE_PREFIXES[0]} to /{SERVICE_PREFIXES[-1]} within {', '.join(SERVICE_BLOCKS)}, outside the blocks of the VPC"
)
"""The block of service addresses in words."""


@fixed_by("write a block outside the VPC, such as 172.20.0.0/16, or leave it out: EKS then takes 10.100.0.0/16 or 172.20.0.0/16")
def service_block(block: str, words: str) -> str:
    """A block of service addresses that EKS refuses.

    :param words: what is wrong with it.
    """
    return f"the block of service addresses {block} {words}; allowed: {SERVICE_BLOCKS_ALLOWED}"


def service_block_mistake(block: str, vpc: Sequence[IPv4Network]) -> Mistake | None:
    """A block of service addresses that EKS refuses; `None` for one that it takes.

    :param vpc: the known blocks of the VPC.
    """
    try:
        found = IPv4Network(block)
    except ValueError:
        return service_block(block, "is no block")
    if found.prefixlen not in SERVICE_PREFIXES or not any(found.subnet_of(IPv4Network(outer)) for outer in SERVICE_BLOCKS):
        return service_block(block, "is too large, too small or not private")
    overlapping = next((one for one in vpc if found.overlaps(one)), None)
    return None if overlapping is None else service_block(block, f"overlaps with {overlapping} of the VPC")


STANDARD = "STANDARD"
"""The type of the access entries of people."""

ENTRY_TYPES = (STANDARD, "EC2", "EC2_LINUX", "EC2_WINDOWS", "FARGATE_LINUX", NODE_ENTRY, "HYBRID_LINUX")
"""The types of access entries.

Source: https://docs.aws.amazon.com/eks/latest/userguide/creating-access-entries.html
"""

RESERVED_NAMES = ("system:", "eks:", "aws:", "amazon:", "iam:")
"""Beginnings of user names that an access entry may not give.

Source: https://docs.aws.amazon.com/eks/latest/userguide/creating-access-entries.html
"""

NAME_VARIABLES = ("{{AccountID}}", "{{SessionName}}", "{{SessionNameRaw}}")
"""Variables in the user name of an access entry; anything else in double braces stays as it is.

Source: https://docs.aws.amazon.com/eks/latest/userguide/creating-access-entries.html (as of 2026-11-27)
"""

RESERVED_GROUPS = ("system:", "eks:", "aws:", "amazon:", "iam:")
"""Beginnings of groups that an access entry may not give, which are those of user names.

Source: https://docs.aws.amazon.com/eks/latest/userguide/creating-access-entries.html
"""

MOST_POLICIES_OF_AN_ENTRY = 20
"""Access policies of one entry at most; CloudFormation's schema has the same number.

Source: https://docs.aws.amazon.com/eks/latest/userguide/service-quotas.html
"""

ACCESS_POLICIES = (
    "AmazonEKSClusterAdminPolicy",
    "AmazonEKSAdminPolicy",
    "AmazonEKSEditPolicy",
    "AmazonEKSViewPolicy",
    "AmazonEKSAdminViewPolicy",
)
READING = ("AmazonEKSViewPolicy", "AmazonEKSAdminViewPolicy")
"""The access policies for people, and those of them that only read; EKS has others for its own features.

Source: https://docs.aws.amazon.com/eks/latest/userguide/access-policy-permissions.html
"""


class EntryNames(NamedTuple):
    """User and groups that the service gives an entry of a type."""

    user: str
    groups: tuple[str, ...]


NODE_NAMES = {
    "EC2_LINUX": EntryNames("system:node:{{EC2PrivateDNSName}}", ("system:nodes",)),
    "EC2_WINDOWS": EntryNames("system:node:{{EC2PrivateDNSName}}", ("system:nodes", "eks:kube-proxy-windows")),
    "FARGATE_LINUX": EntryNames("system:node:{{SessionName}}", ("system:bootstrappers", "system:nodes", "system:node-proxier")),
    "HYBRID_LINUX": EntryNames("system:node:{{SessionName}}", ("system:nodes",)),
    NODE_ENTRY: EntryNames("system:node:{{SessionName}}", ("system:nodes",)),
}
"""By type; that of HyperPod's nodes is inferred from the other types.

Source: https://docs.aws.amazon.com/eks/latest/userguide/creating-access-entries.html
"""

OTHER_ADDONS = (
    "adot",
    "amazon-cloudwatch-observability",
    "amazon-sagemaker-spaces",
    "aws-efs-csi-driver",
    "aws-guardduty-agent",
    "aws-network-flow-monitoring-agent",
    "aws-privateca-connector-for-kubernetes",
    "aws-secrets-store-csi-driver-provider",
    "eks-node-monitoring-agent",
    "external-dns",
    "fluent-bit",
    "kube-state-metrics",
    "prometheus-node-exporter",
    "snapshot-controller",
)
"""The add-ons of AWS beside those of `addons`; those of others on the marketplace are not here.

Source: https://docs.aws.amazon.com/eks/latest/userguide/workloads-add-ons-available-eks.html
"""

NODE_GROUP_SIZE, NODE_GROUP_TYPE, NODE_GROUP_DISK_GB = 2, "t3.medium", 20
"""Nodes of a node group, their type and their disk, where nothing else is written.

Source: https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateNodegroup.html; the number is recalled, not retrieved
"""

METERED_ADDONS: Mapping[str, str] = {
    "amazon-cloudwatch-observability": "metrics and logs of pods in CloudWatch, by their amount",
    "aws-guardduty-agent": "GuardDuty's look at the nodes, by their processors",
}
"""Add-ons whose use costs beyond the nodes, and how; the others are free.

The samples of `amazon-sagemaker-hyperpod-observability` are counted: see `prices.PROMETHEUS_SAMPLE_TIERS`.

Source: https://aws.amazon.com/SERVICE/pricing/
"""
