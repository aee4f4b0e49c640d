"""What the pods of add-ons do in the account, and the actions that each work takes (as of 2026-11-24)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hyperpod_constructs.facts.addons import EBS_CSI, FSX_CSI, KEY_ACTIONS, LOG_ACTIONS, OBSERVABILITY, S3_CSI, TRAINING_OPERATOR


@dataclass(frozen=True, kw_only=True, slots=True)
class Work:
    """Something that the pods of an add-on do.

    :param words: what they do, after "may not".
    :param actions: the actions that it takes, all of them.
    :param setting: the place of the setting that turns it on in the add-on's configuration; it is always on for none.
    :param chosen: whether it is a choice, made by a role that may do a part of it.
    :param source: the page that lists the actions.
    """

    words: str
    actions: tuple[str, ...]
    source: str
    setting: tuple[str, ...] = ()
    chosen: bool = False


_SAGEMAKER = "https://docs.aws.amazon.com/sagemaker/latest/dg/"
_EKS = "https://docs.aws.amazon.com/eks/latest/userguide/"
_MOUNTPOINT = "https://github.com/awslabs/mountpoint-s3/blob/main/doc/CONFIGURATION.md"
_TROUBLE = f"{_SAGEMAKER}hyperpod-observability-addon-troubleshooting.html"
_MANAGED = "https://docs.aws.amazon.com/aws-managed-policy/latest/reference/"

WORK: Mapping[str, tuple[Work, ...]] = {
    TRAINING_OPERATOR: (
        Work(
            words="look at the nodes of its jobs",
            actions=("sagemaker:DescribeClusterNode",),
            source=f"{_MANAGED}AmazonSageMakerHyperPodTrainingOperatorAccess.html",
        ),
    ),
    OBSERVABILITY: (
        Work(words="write metrics", actions=("aps:RemoteWrite",), source=_TROUBLE),
        Work(words="write logs", actions=LOG_ACTIONS, setting=("logging", "enabled"), source=_TROUBLE),
    ),
    FSX_CSI: (Work(words="find file systems", actions=("fsx:DescribeFileSystems",), source=f"{_EKS}fsx-csi.html"),),
    EBS_CSI: (
        Work(
            words="make volumes",
            actions=("ec2:CreateVolume", "ec2:DeleteVolume", "ec2:DescribeVolumes"),
            source=f"{_MANAGED}AmazonEBSCSIDriverPolicy.html",
        ),
        Work(
            words="make volumes with a key of yours",
            actions=(
                *(action for action in KEY_ACTIONS if "*" not in action),
                "kms:CreateGrant",
                "kms:ReEncryptFrom",
                "kms:ReEncryptTo",
            ),
            chosen=True,
            source=f"{_EKS}ebs-csi.html",
        ),
    ),
    S3_CSI: (
        Work(words="read the buckets", actions=("s3:GetObject", "s3:ListBucket"), source=_MOUNTPOINT),
        Work(words="write objects", actions=("s3:AbortMultipartUpload", "s3:PutObject"), chosen=True, source=_MOUNTPOINT),
    ),
}
"""The works of each add-on with a role for its pods. The volumes of HyperPod's nodes are `addons.VOLUME_ACTIONS`."""

CLUSTER_POLICY = "AmazonEKSClusterPolicy"
"""The managed policy of the role of a control plane.

Source: https://docs.aws.amazon.com/eks/latest/userguide/cluster-iam-role.html (as of 2026-11-24)
"""
