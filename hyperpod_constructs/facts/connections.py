"""Connections that nodes open: the services, the reason, and what fails without them (as of 2026-11-22).

Sources: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites.html (scripts, network),
https://docs.aws.amazon.com/eks/latest/userguide/private-clusters.html (endpoints without which nodes do not join), and
https://docs.aws.amazon.com/systems-manager/latest/userguide/setup-create-vpc.html (Session Manager).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

HTTPS = range(443, 444)
EPHEMERAL = range(32768, 61000)
"""Ports of a Linux kernel on which answers come back.

Source: https://docs.aws.amazon.com/vpc/latest/userguide/custom-network-acl.html#nacl-ephemeral-ports
"""


DNS_PORTS = range(53, 54)
"""The port of names, by UDP and TCP."""


class Use(Enum):
    """What makes a group need a service."""

    ALWAYS = "every node"
    SCRIPTS = "lifecycle scripts"
    KUBERNETES = "Kubernetes"
    POD_IDENTITIES = "pod identities"
    SECRET = "the secret of the accounting database"
    DATA = "objects of a bucket"
    IMAGES = "images, past the endpoints of their registry"


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """A service of AWS that nodes call over TCP 443."""

    name: str
    """Its name in an endpoint's `ServiceName`, behind the region."""
    fatal: frozenset[Use] = frozenset()
    """Without it, nodes with one of these do not come up."""
    wanted: frozenset[Use] = frozenset()
    """Without it, a feature of nodes with one of these fails. In no set: calls that nodes do without."""
    action: str | None
    """A call that nodes make, which an endpoint's policy must allow; `None` if nodes make several, and may do with one."""


REGISTRIES = ("ecr.api", "ecr.dkr")
"""The services by which images are pulled: the token from one, the image from the other.

Source: https://docs.aws.amazon.com/AmazonECR/latest/userguide/vpc-endpoints.html
"""
SIBLINGS: Mapping[str, str] = {
    REGISTRIES[0]: REGISTRIES[1],
    REGISTRIES[1]: REGISTRIES[0],
    "aps-workspaces": "aps",
    "sagemaker.api": "sagemaker.runtime",
}
"""By service: another with an endpoint of its own, beside which the first is forgotten, or which is mistaken for it.

Sources: https://docs.aws.amazon.com/AmazonECR/latest/userguide/vpc-endpoints.html,
https://docs.aws.amazon.com/prometheus/latest/userguide/AMP-and-interface-VPC.html and
https://docs.aws.amazon.com/sagemaker/latest/dg/interface-vpc-endpoint.html
"""
S3 = Service(
    name="s3", fatal=frozenset({Use.SCRIPTS, Use.KUBERNETES}), wanted=frozenset({Use.DATA, Use.IMAGES}), action="s3:GetObject"
)

SERVICES = (
    S3,
    Service(name="ec2", fatal=frozenset({Use.KUBERNETES}), action="ec2:DescribeInstances"),
    Service(
        name=REGISTRIES[0],
        fatal=frozenset({Use.KUBERNETES}),
        wanted=frozenset({Use.IMAGES}),
        action="ecr:GetAuthorizationToken",
    ),
    Service(
        name=REGISTRIES[1],
        fatal=frozenset({Use.KUBERNETES}),
        wanted=frozenset({Use.IMAGES}),
        action="ecr:BatchGetImage",
    ),
    Service(name="logs", wanted=frozenset({Use.ALWAYS}), action="logs:PutLogEvents"),
    Service(name="ssm", wanted=frozenset({Use.ALWAYS}), action="ssm:UpdateInstanceInformation"),
    Service(name="ssmmessages", wanted=frozenset({Use.ALWAYS}), action="ssmmessages:OpenControlChannel"),
    Service(name="sts", wanted=frozenset({Use.KUBERNETES}), action="sts:GetCallerIdentity"),
    Service(
        name="eks-auth",
        wanted=frozenset({Use.POD_IDENTITIES}),
        action="eks-auth:AssumeRoleForPodIdentity",
    ),
    Service(name="secretsmanager", wanted=frozenset({Use.SECRET}), action="secretsmanager:GetSecretValue"),
    Service(name="ec2messages", action="ec2messages:GetMessages"),
    Service(name="monitoring", action="cloudwatch:PutMetricData"),
    Service(name="kms", action="kms:Decrypt"),
    Service(name="eks", action="eks:DescribeCluster"),
    Service(name="sagemaker.api", action=None),
    Service(name="aps-workspaces", action=None),
)
"""`ec2messages` serves older agents of Systems Manager only. `sagemaker.api` and `aps-workspaces` serve add-ons, whose facts name
them, and jobs that ask for their own cluster. Without `monitoring` no metric of a node arrives, and the node runs all the same."""

ENDPOINTS = ("ecr.api", "ecr.dkr", "kms", "logs", "monitoring", "sagemaker.api", "secretsmanager", "ssm", "ssmmessages", "sts")
"""The interface endpoints of a network without internet."""

KUBERNETES_ENDPOINTS = ("ec2", "eks", "eks-auth", "lambda")
"""Those that a cluster on EKS needs beside them; functions with kubectl start each other by `lambda`."""

LAYERS = ("arn:aws:s3:::prod-", "-starport-layer-bucket/")
"""The ARN of the objects of S3 that hold the layers of ECR's images, around the region; the policy of an endpoint for S3 must allow
them too.

Source: https://docs.aws.amazon.com/AmazonECR/latest/userguide/vpc-endpoints.html#ecr-setting-up-s3-gateway
"""

GATEWAY_SERVICES = ("s3", "s3express", "dynamodb")
"""Services with gateway endpoints, on route tables; all others have interface endpoints alone.

Source: https://docs.aws.amazon.com/vpc/latest/privatelink/gateway-endpoints.html
"""

READ_BUCKETS = (("prod-", "-starport-layer-bucket"), ("amazon-ssm-", ""))
"""Buckets of AWS that nodes read, by their names around the region: the layers of images, and updates of Systems Manager's agent.

Sources: https://docs.aws.amazon.com/AmazonECR/latest/userguide/vpc-endpoints.html#ecr-setting-up-s3-gateway and
https://docs.aws.amazon.com/systems-manager/latest/userguide/ssm-agent-technical-details.html#ssm-agent-minimum-s3-permissions
"""

ANSWERS_BUCKET = "cloudformation-custom-resource-response-"
"""A bucket of AWS, by its name before the region without hyphens: functions in the VPC put the answers of custom resources there.

Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/vpc-interface-endpoints.html
"""

ANSWERED = Service(name=S3.name, action="s3:PutObject")
"""The call with which they answer."""

ROTATING = tuple(
    f"secretsmanager:{call}" for call in ("DescribeSecret", "GetSecretValue", "PutSecretValue", "UpdateSecretVersionStage")
)
"""The calls by which a function rotates a secret.

Source: https://docs.aws.amazon.com/secretsmanager/latest/userguide/rotating-secrets-required-permissions-function.html
"""
