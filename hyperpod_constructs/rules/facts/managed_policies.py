"""AWS's managed policies whose content a rule has to know."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# https://docs.aws.amazon.com/sagemaker/latest/dg/security-iam-awsmanpol-AmazonSageMakerClusterInstanceRolePolicy.html
# Its condition on aws:ResourceAccount is left out: a cluster's own bucket meets it.
_NODES = (
    {
        "Effect": "Allow",
        "Action": ("logs:PutLogEvents", "logs:CreateLogStream", "logs:DescribeLogStreams"),
        "Resource": "arn:aws:logs:*:*:log-group:/aws/sagemaker/Clusters/*:log-stream:*",
    },
    {"Effect": "Allow", "Action": "logs:CreateLogGroup", "Resource": "arn:aws:logs:*:*:log-group:/aws/sagemaker/Clusters/*"},
    {
        "Effect": "Allow",
        "Action": "cloudwatch:PutMetricData",
        "Resource": "*",
        "Condition": {"StringEquals": {"cloudwatch:namespace": "/aws/sagemaker/Clusters"}},
    },
    {"Effect": "Allow", "Action": ("s3:ListBucket", "s3:GetObject"), "Resource": "arn:aws:s3:::sagemaker-*"},
    {
        "Effect": "Allow",
        "Action": (
            "ssmmessages:CreateControlChannel",
            "ssmmessages:CreateDataChannel",
            "ssmmessages:OpenControlChannel",
            "ssmmessages:OpenDataChannel",
        ),
        "Resource": "*",
    },
)

# https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AmazonEKS_CNI_Policy.html
# With ec2:DescribeSecurityGroups of its later versions.
_CNI = (
    {
        "Effect": "Allow",
        "Action": (
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
        "Resource": "*",
    },
    {"Effect": "Allow", "Action": "ec2:CreateTags", "Resource": "arn:aws:ec2:*:*:network-interface/*"},
)

# https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AmazonEKSWorkerNodePolicy.html
_EKS_NODES = (
    {
        "Effect": "Allow",
        "Action": (
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
        "Resource": "*",
    },
)

# https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AmazonEC2ContainerRegistryReadOnly.html
_ECR_READER = (
    {
        "Effect": "Allow",
        "Action": (
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
        "Resource": "*",
    },
)

# https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AmazonEC2ContainerRegistryPullOnly.html
_ECR_PULLER = (
    {
        "Effect": "Allow",
        "Action": (
            "ecr:BatchGetImage",
            "ecr:BatchImportUpstreamImage",
            "ecr:GetAuthorizationToken",
            "ecr:GetDownloadUrlForLayer",
        ),
        "Resource": "*",
    },
)

STATEMENTS: Mapping[str, tuple[Mapping[str, Any], ...]] = {
    "AdministratorAccess": ({"Effect": "Allow", "Action": "*", "Resource": "*"},),
    "AmazonEC2ContainerRegistryPullOnly": _ECR_PULLER,
    "AmazonEC2ContainerRegistryReadOnly": _ECR_READER,
    "AmazonEKSWorkerNodePolicy": _EKS_NODES,
    "AmazonEKS_CNI_Policy": _CNI,
    "AmazonS3FullAccess": ({"Effect": "Allow", "Action": ("s3:*", "s3-object-lambda:*"), "Resource": "*"},),
    "AmazonS3ReadOnlyAccess": (
        {
            "Effect": "Allow",
            "Action": ("s3:Get*", "s3:List*", "s3:Describe*", "s3-object-lambda:Get*", "s3-object-lambda:List*"),
            "Resource": "*",
        },
    ),
    "AmazonSageMakerClusterInstanceRolePolicy": _NODES,
}
"""The statements by the policy's name. A role with another managed policy can have permissions that nobody here knows."""
