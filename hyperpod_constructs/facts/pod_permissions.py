"""What the pods of add-ons do in the account, with which actions, on which resources (as of 2026-11-24)."""

from __future__ import annotations

from collections.abc import Mapping

from hyperpod_constructs.facts.addons import (
    CLOUDWATCH,
    EBS_CSI,
    EFS_CSI,
    EXTERNAL_DNS,
    FSX_CSI,
    LOOK_AT_CLUSTER,
    OBSERVABILITY,
    S3_CSI,
    TRAINING_OPERATOR,
    VOLUME_ACTIONS,
    VPC_CNI,
    WRITE_LOGS,
)
from hyperpod_constructs.facts.permissions import Place, Task

_GUIDE = "https://docs.aws.amazon.com/sagemaker/latest/dg/"
_EKS = "https://docs.aws.amazon.com/eks/latest/userguide/"
_MOUNTPOINT = "https://github.com/awslabs/mountpoint-s3/blob/main/doc/CONFIGURATION.md"
_TROUBLE = f"{_GUIDE}hyperpod-observability-addon-troubleshooting.html"
_MANAGED = "https://docs.aws.amazon.com/aws-managed-policy/latest/reference/"
_INFERENCE = f"{_GUIDE}sagemaker-hyperpod-model-deployment-setup.html"

PODS: Mapping[str, tuple[Task, ...]] = {
    TRAINING_OPERATOR: (
        Task(
            words="look at the nodes of its jobs",
            actions=("sagemaker:DescribeClusterNode",),
            on=Place.CLUSTER_OF_JOBS,
            source=f"{_MANAGED}AmazonSageMakerHyperPodTrainingOperatorAccess.html",
        ),
    ),
    OBSERVABILITY: (
        Task(words="write metrics", actions=("aps:RemoteWrite",), on=Place.WORKSPACE, source=_TROUBLE),
        Task(words="write logs", actions=WRITE_LOGS, on=Place.LOGS, setting=("logging", "enabled"), source=_TROUBLE),
    ),
    CLOUDWATCH: (
        Task(
            words="write metrics and logs",
            actions=("cloudwatch:PutMetricData", "logs:CreateLogStream", "logs:PutLogEvents"),
            on=Place.ANYWHERE,
            hint="CloudWatchAgentServerPolicy holds them",
            source="https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/install-CloudWatch-Observability-EKS-addon.html",
        ),
    ),
    EFS_CSI: (
        Task(
            words="find file systems and their mount targets",
            actions=("elasticfilesystem:DescribeFileSystems", "elasticfilesystem:DescribeMountTargets"),
            on=Place.ANYWHERE,
            hint="AmazonEFSCSIDriverPolicy holds them",
            source=f"{_EKS}efs-csi.html",
        ),
    ),
    EXTERNAL_DNS: (
        Task(
            words="write records",
            actions=("route53:ChangeResourceRecordSets", "route53:ListHostedZones"),
            on=Place.ANYWHERE,
            source=f"{_EKS}community-addons.html",
        ),
    ),
    VPC_CNI: (
        Task(
            words="give addresses to pods",
            actions=("ec2:DescribeInstances", "ec2:DescribeNetworkInterfaces"),
            on=Place.ANYWHERE,
            hint="AmazonEKS_CNI_Policy holds them",
            source=f"{_EKS}cni-iam-role.html",
        ),
    ),
    FSX_CSI: (
        Task(words="find file systems", actions=("fsx:DescribeFileSystems",), on=Place.ANYWHERE, source=f"{_EKS}fsx-csi.html"),
    ),
    EBS_CSI: (
        Task(
            words="make volumes",
            actions=("ec2:CreateVolume", "ec2:DeleteVolume", "ec2:DescribeVolumes"),
            on=Place.ANYWHERE,
            source=f"{_MANAGED}AmazonEBSCSIDriverPolicy.html",
        ),
        Task(
            words="make volumes with a key of yours",
            actions=("kms:Decrypt", "kms:DescribeKey", "kms:GenerateDataKeyWithoutPlaintext"),
            on=Place.ANYWHERE,
            chosen=True,
            source="https://docs.aws.amazon.com/ebs/latest/userguide/ebs-encryption-requirements.html",
        ),
        Task(
            words="make volumes with a key of yours",
            actions=("kms:CreateGrant",),
            on=Place.ANYWHERE,
            chosen=True,
            context={"kms:grantisforawsresource": "true"},
            source=f"{_EKS}ebs-csi.html",
        ),
        Task(
            words="attach volumes to HyperPod's nodes",
            actions=VOLUME_ACTIONS,
            on=Place.HYPERPOD_CLUSTER,
            source=f"{_GUIDE}sagemaker-hyperpod-eks-ebs.html",
        ),
        Task(
            words="attach volumes to HyperPod's nodes",
            actions=(LOOK_AT_CLUSTER,),
            on=Place.KUBERNETES_CLUSTER,
            source=f"{_GUIDE}sagemaker-hyperpod-eks-ebs.html",
        ),
    ),
    S3_CSI: (
        Task(words="read the buckets", actions=("s3:GetObject", "s3:ListBucket"), on=Place.ANYWHERE, source=_MOUNTPOINT),
        Task(
            words="write objects",
            actions=("s3:AbortMultipartUpload", "s3:PutObject"),
            on=Place.ANYWHERE,
            chosen=True,
            source=_MOUNTPOINT,
        ),
    ),
}
"""What the pods of each add-on do, as the role of their service account."""

CONFIGURED: Mapping[str, tuple[Task, ...]] = {
    "aws-load-balancer-controller": (
        Task(
            words="make load balancers",
            actions=("elasticloadbalancing:CreateLoadBalancer", "ec2:DescribeSubnets"),
            on=Place.ANYWHERE,
            source=_INFERENCE,
        ),
    ),
    "hyperpod-inference-controller-manager": (
        Task(
            words="keep the certificates of endpoints",
            actions=("s3:GetObject", "s3:PutObject"),
            on=Place.CERTIFICATES,
            pitfall=("AmazonSageMakerHyperPodInferenceAccess", "it covers only buckets named hyperpod-tls*"),
            source=_INFERENCE,
        ),
        Task(
            words="deploy models on the cluster",
            actions=("sagemaker:DescribeClusterInference", "sagemaker:UpdateClusterInference"),
            on=Place.HYPERPOD_CLUSTER,
            hint="AmazonSageMakerHyperPodInferenceAccess holds what it needs",
            source=_INFERENCE,
        ),
    ),
}
"""What the pods of an add-on do as a role of its configuration, by their service account (as of 2026-11-27)."""
