"""Trust and permissions that a node role needs (as of 2026-11-21).

Sources: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites-iam.html and
https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-autoscaling-iam.html.
"""

from __future__ import annotations

NODES_PRINCIPAL = "sagemaker.amazonaws.com"
"""The service that assumes the role of nodes."""

CLUSTER_PRINCIPAL = "hyperpod.sagemaker.amazonaws.com"
"""The service that assumes the role of a cluster, for autoscaling."""

DESCRIBE_NETWORK = tuple(
    f"ec2:Describe{what}" for what in ("DhcpOptions", "NetworkInterfaces", "SecurityGroups", "Subnets", "Vpcs")
)
"""Actions without resource-level permissions for a node in a VPC. Without them creation fails: "Unable to retrieve subnets"."""

CLUSTER_POLICY = "AmazonSageMakerClusterInstanceRolePolicy"
"""The managed policy for nodes."""

READABLE_BUCKETS = "sagemaker-"
"""The first part of a bucket's name; the managed policy reads every such bucket."""

LOG_GROUPS = "/aws/sagemaker/Clusters"
"""The path of the clusters' log groups, and the namespace of their metrics."""

SHELL_CHANNELS = tuple(f"ssmmessages:{verb}{channel}Channel" for verb in ("Create", "Open") for channel in ("Control", "Data"))
"""Actions of the channels of Session Manager."""

ADDRESS_PODS = (
    "ec2:AssignPrivateIpAddresses",
    "ec2:AttachNetworkInterface",
    "ec2:DescribeInstanceTypes",
    "ec2:DescribeInstances",
    "ec2:DescribeTags",
    "ec2:ModifyNetworkInterfaceAttribute",
    "ec2:UnassignPrivateIpAddresses",
)
"""Actions by which the VPC CNI gives addresses to pods."""

PULL_IMAGES = ("ecr:BatchGetImage", "ecr:GetAuthorizationToken", "ecr:GetDownloadUrlForLayer")
"""Actions that pull an image from ECR."""

REMOVE_INTERFACES = (
    "ec2:CreateTags",
    "ec2:DeleteNetworkInterface",
    "ec2:DeleteNetworkInterfacePermission",
    "ec2:DetachNetworkInterface",
)
"""Actions that take an interface away."""

WRITE_LOGS_AND_OPEN_SHELLS = ("logs:CreateLogGroup", "logs:CreateLogStream", "logs:PutLogEvents", *SHELL_CHANNELS)
"""Actions by which a node can be observed."""
