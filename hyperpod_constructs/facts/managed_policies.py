"""AWS's managed policies of node roles, with their statements (as of 2026-11-21)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from hyperpod_constructs.facts.node_permissions import CLUSTER_POLICY, LOG_GROUPS, READABLE_BUCKETS, SHELL_CHANNELS

_Statement: TypeAlias = "Mapping[str, Any]"


def _allow(*actions: str, on: str = "*") -> _Statement:
    return {"Effect": "Allow", "Action": actions, "Resource": on}


# https://docs.aws.amazon.com/sagemaker/latest/dg/security-iam-awsmanpol-AmazonSageMakerClusterInstanceRolePolicy.html
# The condition on aws:ResourceAccount is left out: a cluster's own bucket meets it.
_NODES = (
    _allow(
        "logs:PutLogEvents",
        "logs:CreateLogStream",
        "logs:DescribeLogStreams",
        on=f"arn:aws:logs:*:*:log-group:{LOG_GROUPS}/*:log-stream:*",
    ),
    _allow("logs:CreateLogGroup", on=f"arn:aws:logs:*:*:log-group:{LOG_GROUPS}/*"),
    {
        "Effect": "Allow",
        "Action": "cloudwatch:PutMetricData",
        "Resource": "*",
        "Condition": {"StringEquals": {"cloudwatch:namespace": LOG_GROUPS}},
    },
    _allow("s3:ListBucket", "s3:GetObject", on=f"arn:aws:s3:::{READABLE_BUCKETS}*"),
    _allow(*SHELL_CHANNELS),
)

# https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AmazonEKS_CNI_Policy.html
# With ec2:DescribeSecurityGroups of its later versions.
_CNI = (
    _allow(
        "ec2:AssignPrivateIpAddresses",
        "ec2:AttachNetworkInterface",
        "ec2:CreateNetworkInterface",
        "ec2:DeleteNetworkInterface",
        "ec2:DescribeInstances",
        "ec2:DescribeInstanceTypes",
        "ec2:DescribeNetworkInterfaces",
        "ec2:DescribeSecurityGroups",
        "ec2:DescribeSubnets",
        "ec2:DescribeTags",
        "ec2:DetachNetworkInterface",
        "ec2:ModifyNetworkInterfaceAttribute",
        "ec2:UnassignPrivateIpAddresses",
    ),
    _allow("ec2:CreateTags", on="arn:aws:ec2:*:*:network-interface/*"),
)

# https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AmazonEKSWorkerNodePolicy.html
_EKS_NODES = (
    _allow(
        "ec2:DescribeAvailabilityZones",
        "ec2:DescribeInstances",
        "ec2:DescribeInstanceTypes",
        "ec2:DescribeRouteTables",
        "ec2:DescribeSecurityGroups",
        "ec2:DescribeSubnets",
        "ec2:DescribeVolumes",
        "ec2:DescribeVolumesModifications",
        "ec2:DescribeVpcs",
        "eks:DescribeCluster",
        "eks-auth:AssumeRoleForPodIdentity",
    ),
)

# https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AmazonEC2ContainerRegistryReadOnly.html
_ECR_READER = (
    _allow(
        "ecr:BatchCheckLayerAvailability",
        "ecr:BatchGetImage",
        "ecr:DescribeImageScanFindings",
        "ecr:DescribeImages",
        "ecr:DescribeRepositories",
        "ecr:GetAuthorizationToken",
        "ecr:GetDownloadUrlForLayer",
        "ecr:GetLifecyclePolicy",
        "ecr:GetLifecyclePolicyPreview",
        "ecr:GetRepositoryPolicy",
        "ecr:ListImages",
        "ecr:ListTagsForResource",
    ),
)

# https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AmazonEC2ContainerRegistryPullOnly.html
_ECR_PULLER = (
    _allow("ecr:BatchGetImage", "ecr:BatchImportUpstreamImage", "ecr:GetAuthorizationToken", "ecr:GetDownloadUrlForLayer"),
)

STATEMENTS: Mapping[str, tuple[_Statement, ...]] = {
    "AdministratorAccess": (_allow("*"),),
    "AmazonEC2ContainerRegistryPullOnly": _ECR_PULLER,
    "AmazonEC2ContainerRegistryReadOnly": _ECR_READER,
    "AmazonEKSWorkerNodePolicy": _EKS_NODES,
    "AmazonEKS_CNI_Policy": _CNI,
    "AmazonS3FullAccess": (_allow("s3:*", "s3-object-lambda:*"),),
    "AmazonS3ReadOnlyAccess": (_allow("s3:Get*", "s3:List*", "s3:Describe*", "s3-object-lambda:Get*", "s3-object-lambda:List*"),),
    CLUSTER_POLICY: _NODES,
}
"""The statements by the policy's name. Another managed policy on a role may allow more, unknown here."""
