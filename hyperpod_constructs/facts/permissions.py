"""Permissions: what nodes, Karpenter, control planes and sessions do in the account, with which actions, on which resources
(as of 2026-11-24).

`analysis.needs` finds the resources of each place in the templates; what is not there is not needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from hyperpod_constructs.facts import node_permissions as nodes
from hyperpod_constructs.facts.autoscaling import ROLE_GUIDE
from hyperpod_constructs.facts.software_updates import UPDATE_GUIDE


class Place(Enum):
    """The resources on which a task needs its actions."""

    ANYWHERE = "whatever the role's policies name"
    EVERYTHING = "all resources"
    IN_VPC = "all resources, for nodes in a VPC"
    INTERFACES = "the interfaces of nodes in a VPC"
    NETWORK_OF_INTERFACES = "the subnets and the security groups of nodes in a VPC"
    INSTANCES_ELSEWHERE = "the nodes, which are instances of the service's account"
    SCRIPTS = "the lifecycle scripts"
    BUCKET_OF_SCRIPTS = "the bucket of the lifecycle scripts"
    LOGS = "the log groups of clusters"
    LOG_GROUP = "the log group that the resource names"
    METRICS = "all resources, for metrics of clusters"
    PASSWORD = "the secret of the accounting database"
    KEYS_TO_READ = "the keys of scripts and passwords"
    KEYS_OF_VOLUMES = "the keys of volumes"
    ALARMS = "the alarms that roll an update back"
    EFA_OF_LUSTRE = "all resources, for mounts of a file system with EFA"
    REGISTRIES = "all resources, for nodes that pull images"
    IMAGES = "the images that nodes pull, in accounts of AWS and others"
    ADDRESSES_OF_PODS = "all resources, for nodes whose role gives pods their addresses"
    INTERFACES_OF_PODS = "the interfaces of these nodes"
    IDENTITIES_OF_PODS = "the Kubernetes cluster, for nodes of pods with identities"
    SCALED_CLUSTER = "the cluster that Karpenter scales"
    HYPERPOD_CLUSTER = "the HyperPod cluster"
    CLUSTER_OF_JOBS = "the HyperPod cluster, or any if it is not known"
    KUBERNETES_CLUSTER = "the Kubernetes cluster"
    WORKSPACE = "the Prometheus workspace"
    CERTIFICATES = "the bucket of the certificates of inference"


@dataclass(frozen=True, kw_only=True, slots=True)
class Task:
    """Something that a role does.

    :param words: the task, after "may not".
    :param actions: the actions that it takes, all of them.
    :param on: the resources of the actions.
    :param fatal: whether without it the role's user does not come up.
    :param chosen: whether it is a choice, made by a role that may do a part of it.
    :param setting: the place of the setting that turns it on in an add-on's configuration; it is always on for none.
    :param by_service: whether the service calls as the role, and not the role's holder from its place in the network.
    :param context: keys of the calls, in lower case.
    :param hint: the usual remedy, in a few words.
    :param pitfall: a managed policy that one may take for the remedy, and what it covers.
    :param source: the page that lists the actions.
    """

    words: str
    actions: tuple[str, ...]
    on: Place
    source: str
    fatal: bool = False
    chosen: bool = False
    setting: tuple[str, ...] = ()
    by_service: bool = False
    context: Mapping[str, Any] = field(default_factory=dict)
    hint: str = ""
    pitfall: tuple[str, str] = ("", "")


_GUIDE = "https://docs.aws.amazon.com/sagemaker/latest/dg/"
_EKS = "https://docs.aws.amazon.com/eks/latest/userguide/"
_PREREQUISITES = f"{_GUIDE}sagemaker-hyperpod-prerequisites-iam.html"

_READ_SCRIPTS = "read the lifecycle scripts"
_MAKE_INTERFACES = "make interfaces in the VPC"
_REMOVE_INTERFACES = "remove interfaces in the VPC"
_BE_OBSERVED = "write logs and metrics, or open shells"
_PITFALL = (nodes.CLUSTER_POLICY, f"{nodes.CLUSTER_POLICY} covers only buckets named {nodes.READABLE_BUCKETS}*")

OBSERVED = (
    Task(
        words=_BE_OBSERVED,
        actions=tuple(action for action in nodes.WRITE_LOGS_AND_OPEN_SHELLS if action.startswith("logs:")),
        on=Place.LOGS,
        hint=f"{nodes.CLUSTER_POLICY} holds them",
        source=_PREREQUISITES,
    ),
    Task(
        words=_BE_OBSERVED,
        actions=("cloudwatch:PutMetricData",),
        on=Place.METRICS,
        context={"cloudwatch:namespace": nodes.LOG_GROUPS},
        source=_PREREQUISITES,
    ),
    Task(words=_BE_OBSERVED, actions=nodes.SHELL_CHANNELS, on=Place.EVERYTHING, source=_PREREQUISITES),
)
"""What every node does."""

IN_VPC = (
    Task(
        words=_MAKE_INTERFACES, actions=nodes.DESCRIBE_NETWORK, on=Place.IN_VPC, fatal=True, by_service=True, source=_PREREQUISITES
    ),
    Task(
        words=_MAKE_INTERFACES,
        actions=("ec2:CreateNetworkInterface", "ec2:CreateNetworkInterfacePermission"),
        on=Place.INTERFACES,
        fatal=True,
        by_service=True,
        source=_PREREQUISITES,
    ),
    Task(
        words=_MAKE_INTERFACES,
        actions=("ec2:CreateNetworkInterface",),
        on=Place.NETWORK_OF_INTERFACES,
        fatal=True,
        by_service=True,
        source=_PREREQUISITES,
    ),
    Task(
        words=_REMOVE_INTERFACES,
        actions=(*nodes.REMOVE_INTERFACES, nodes.DETACH_INTERFACE),
        on=Place.INTERFACES,
        by_service=True,
        source=_PREREQUISITES,
    ),
    Task(
        words=_REMOVE_INTERFACES,
        actions=(nodes.DETACH_INTERFACE,),
        on=Place.INSTANCES_ELSEWHERE,
        by_service=True,
        source=_PREREQUISITES,
    ),
)
"""What nodes in a VPC do."""

NODES = (
    Task(words=_READ_SCRIPTS, actions=("s3:GetObject",), on=Place.SCRIPTS, fatal=True, pitfall=_PITFALL, source=_PREREQUISITES),
    Task(words=_READ_SCRIPTS, actions=("s3:ListBucket",), on=Place.BUCKET_OF_SCRIPTS, fatal=True, source=_PREREQUISITES),
    *IN_VPC,
    *OBSERVED,
    Task(
        words="read the password of the accounting database",
        actions=("secretsmanager:GetSecretValue",),
        on=Place.PASSWORD,
        fatal=True,
        source="https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterAccountingDatabase.html",
    ),
    Task(
        words="decrypt what it reads",
        actions=("kms:Decrypt",),
        on=Place.KEYS_TO_READ,
        by_service=True,
        fatal=True,
        source="https://docs.aws.amazon.com/AmazonS3/latest/userguide/UsingKMSEncryption.html",
    ),
    Task(
        words="use the key of the volumes",
        actions=nodes.USE_VOLUME_KEYS,
        context={"kms:grantisforawsresource": "true"},
        on=Place.KEYS_OF_VOLUMES,
        by_service=True,
        fatal=True,
        source=f"{_GUIDE}smcluster-cmk.html",
    ),
    Task(
        words="look at the alarms of its updates",
        actions=(nodes.READ_ALARMS,),
        on=Place.ALARMS,
        by_service=True,
        source=UPDATE_GUIDE,
    ),
    Task(
        words="see whether a file system has EFA",
        actions=("fsx:DescribeFileSystems",),
        on=Place.EFA_OF_LUSTRE,
        source="https://github.com/awslabs/awsome-distributed-ai/pull/1202",
    ),
    Task(
        words="give addresses to pods",
        actions=nodes.DESCRIBE_PODS_PLACE,
        on=Place.ADDRESSES_OF_PODS,
        source=_PREREQUISITES,
    ),
    Task(
        words="give addresses to pods",
        actions=(*nodes.ADDRESS_INTERFACE, *nodes.ATTACH_INTERFACE),
        on=Place.INTERFACES_OF_PODS,
        hint="AmazonEKS_CNI_Policy holds them",
        source=_PREREQUISITES,
    ),
    Task(
        words="pull images from ECR",
        actions=("ecr:GetAuthorizationToken",),
        on=Place.REGISTRIES,
        source=_PREREQUISITES,
    ),
    Task(
        words="pull images from ECR",
        actions=tuple(action for action in nodes.PULL_IMAGES if action != "ecr:GetAuthorizationToken"),
        on=Place.IMAGES,
        hint="AmazonEC2ContainerRegistryPullOnly holds them",
        source=_PREREQUISITES,
    ),
    Task(
        words="ask for the credentials of pods",
        actions=(nodes.POD_IDENTITY,),
        on=Place.IDENTITIES_OF_PODS,
        source=f"{_EKS}pod-id-agent-setup.html",
    ),
)
"""What nodes do, as the role of their groups."""

KARPENTER = (
    Task(words="scale the cluster", actions=nodes.SCALE_CLUSTER, on=Place.SCALED_CLUSTER, source=ROLE_GUIDE),
    Task(
        words="use the key of the volumes",
        actions=nodes.USE_VOLUME_KEYS,
        context={"kms:grantisforawsresource": "true"},
        on=Place.KEYS_OF_VOLUMES,
        by_service=True,
        source=ROLE_GUIDE,
    ),
)
"""What Karpenter's controller does, as the cluster role."""

CONTROL_PLANE_POLICY = "AmazonEKSClusterPolicy"
"""The managed policy of the role of a control plane.

Source: https://docs.aws.amazon.com/eks/latest/userguide/cluster-iam-role.html (as of 2026-11-24)
"""

CONTROL_PLANE = (
    Task(
        words="make interfaces, security groups and load balancers",
        actions=("ec2:DescribeDhcpOptions",),
        on=Place.ANYWHERE,
        hint=f"{CONTROL_PLANE_POLICY} holds what it needs",
        source=f"{_EKS}cluster-iam-role.html",
    ),
)
"""What EKS does as the role of a control plane, by a sample: a role that has it may have the others by a policy of its own."""

OBJECTS = ("s3:GetObject", "s3:PutObject")
_WRITE, _READ = ("kms:GenerateDataKey", "kms:Decrypt"), ("kms:Decrypt",)
ADDRESSES = next(task for task in NODES if task.on is Place.INTERFACES_OF_PODS)
"""What nodes do whose role gives pods their addresses."""

_SESSIONS = "https://docs.aws.amazon.com/systems-manager/latest/userguide/getting-started-create-iam-instance-profile.html"
OF_SESSIONS: Mapping[str, tuple[Task, ...]] = {
    "cloudWatchLogGroupName": (
        Task(
            words="write the lines of sessions",
            actions=("logs:CreateLogStream", "logs:PutLogEvents"),
            on=Place.LOG_GROUP,
            source=_SESSIONS,
        ),
        Task(
            words="write the lines of sessions",
            actions=("logs:DescribeLogGroups", "logs:DescribeLogStreams"),
            on=Place.ANYWHERE,
            source=_SESSIONS,
        ),
    ),
    "s3BucketName": (Task(words="keep sessions in their bucket", actions=("s3:PutObject",), on=Place.ANYWHERE, source=_SESSIONS),),
    "kmsKeyId": (Task(words="decrypt sessions", actions=("kms:Decrypt",), on=Place.ANYWHERE, source=_SESSIONS),),
}
"""What nodes do for sessions, by the setting of the document that asks for it (as of 2026-11-27)."""

STARTING = Task(
    words="start encrypted sessions",
    actions=("kms:GenerateDataKey",),
    on=Place.ANYWHERE,
    source="https://docs.aws.amazon.com/systems-manager/latest/userguide/getting-started-restrict-access-quickstart.html",
)
"""What those do who start sessions with a key (as of 2026-11-29)."""

OF_ENCRYPTED: Mapping[str, tuple[str, ...]] = {
    "kinesis:GetRecords": _READ,
    "kinesis:PutRecord": _WRITE[:1],
    "s3:GetObject": _READ,
    "s3:PutObject": _WRITE[:1],
    "secretsmanager:GetSecretValue": _READ,
    "secretsmanager:PutSecretValue": _WRITE,
    "sns:Publish": _WRITE,
    "sqs:ReceiveMessage": _READ,
    "sqs:SendMessage": _WRITE,
}
"""Actions on what may have a key of its own, and the actions on the key that each takes.

Sources: https://docs.aws.amazon.com/AmazonS3/latest/userguide/UsingKMSEncryption.html,
https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-key-management.html,
https://docs.aws.amazon.com/sns/latest/dg/sns-key-management.html,
https://docs.aws.amazon.com/streams/latest/dev/permissions-user-key-KMS.html and
https://docs.aws.amazon.com/secretsmanager/latest/userguide/security-encryption.html
"""

CONTEXTS: Mapping[str, str] = {
    "kinesis": "aws:kinesis:arn",
    "s3": "aws:s3:arn",
    "secretsmanager": "secretarn",
    "sns": "aws:sns:topicarn",
    "sqs": "aws:sqs:arn",
}
"""The name of the pair, in small letters, that a service gives as the encryption context: its value is the ARN of what it encrypts.

Sources: https://docs.aws.amazon.com/AmazonS3/latest/userguide/UsingKMSEncryption.html,
https://docs.aws.amazon.com/secretsmanager/latest/userguide/security-encryption.html,
https://docs.aws.amazon.com/sns/latest/dg/sns-key-management.html,
https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-key-management.html and
https://docs.aws.amazon.com/streams/latest/dev/permissions-user-key-KMS.html (as of 2026-11-29)
"""
