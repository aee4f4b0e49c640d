"""Trust and permissions that a node role needs (as of 2026-11-21).

Sources: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites-iam.html and
https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-autoscaling-iam.html.
"""

from __future__ import annotations

from collections.abc import Mapping

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

DESCRIBE_PODS_PLACE = ("ec2:DescribeInstanceTypes", "ec2:DescribeInstances", "ec2:DescribeTags")
"""Actions without resource-level permissions by which the VPC CNI finds the room for pods."""

ADDRESS_INTERFACE = ("ec2:AssignPrivateIpAddresses", "ec2:UnassignPrivateIpAddresses")
"""Actions of the VPC CNI on an interface alone."""

ATTACH_INTERFACE = ("ec2:AttachNetworkInterface", "ec2:ModifyNetworkInterfaceAttribute")
"""Actions of the VPC CNI that EC2 authorizes on the instance too; HyperPod's instances belong to the account of the service."""

PULL_IMAGES = ("ecr:BatchGetImage", "ecr:GetAuthorizationToken", "ecr:GetDownloadUrlForLayer")
"""Actions that pull an image from ECR. Images of add-ons are in accounts of AWS, each in another."""

CHECK_LAYERS = "ecr:BatchCheckLayerAvailability"
"""The action that asks for layers of an image; the guide lists it beside those that pull."""

POD_IDENTITY = "eks-auth:AssumeRoleForPodIdentity"
"""The action by which the pod identity agent, on a node, gets the credentials of a pod.

Source: https://docs.aws.amazon.com/eks/latest/userguide/pod-id-agent-setup.html (as of 2026-11-22)
"""

ADMISSION_ACTIONS: Mapping[str, str] = {
    "eks:DescribeCluster": "cluster",
    "eks:CreateAccessEntry": "cluster",
    "eks:DescribeAccessEntry": "access-entry",
    "eks:DeleteAccessEntry": "access-entry",
    "eks:AssociateAccessPolicy": "access-entry",
}
"""Actions of EKS, with their resource, that creating a cluster on EKS takes of the caller: the service lets its nodes in.

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites-iam.html (as of 2026-11-24)
"""

SCALE_CLUSTER = ("sagemaker:BatchAddClusterNodes", "sagemaker:BatchDeleteClusterNodes")
"""Actions of the cluster role, by which Karpenter scales a cluster."""

USE_VOLUME_KEYS = ("kms:CreateGrant", "kms:DescribeKey")
"""Actions on a key of the user that encrypts volumes of nodes.

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/smcluster-cmk.html (as of 2026-11-22)
"""

REMOVE_INTERFACES = ("ec2:CreateTags", "ec2:DeleteNetworkInterface", "ec2:DeleteNetworkInterfacePermission")
"""Actions on an interface alone, by which one is taken away."""

READ_ALARMS = "cloudwatch:DescribeAlarms"
"""The action by which the service looks at the alarms that roll an update of the software back.

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-ami-update.html (as of 2026-11-22)
"""

DETACH_INTERFACE = "ec2:DetachNetworkInterface"
"""The action that auto-resume needs. EC2 authorizes it on the interface and on the instance, and HyperPod's instances belong to the
account of the service. So only a statement for `*` is sure to suffice; the guide has one of its own.
"""

INTERFACE_SUBNET = "ec2:Subnet"
"""The condition key with the ARN of an interface's subnet. EC2's reference lists it for the actions on an existing interface, and
not for `ec2:CreateNetworkInterface`, which names the subnet among its resources.

Source: https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonec2.html (as of 2026-11-22)
"""

WRITE_LOGS_AND_OPEN_SHELLS = (
    "logs:CreateLogGroup",
    "logs:CreateLogStream",
    "logs:DescribeLogStreams",
    "logs:PutLogEvents",
    "cloudwatch:PutMetricData",
    *SHELL_CHANNELS,
)
"""Actions by which a node can be observed: all of the managed policy for nodes but those on scripts."""
