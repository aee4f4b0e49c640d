"""What lies in clear or in public: the properties that encrypt data, and those that keep the public out (as of 2026-11-27)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

ENCRYPTED: Mapping[str, str] = {
    "AWS::EC2::Volume": "Encrypted",
    "AWS::EFS::FileSystem": "Encrypted",
    "AWS::RDS::DBCluster": "StorageEncrypted",
    "AWS::RDS::DBInstance": "StorageEncrypted",
    "AWS::SQS::Queue": "SqsManagedSseEnabled",
}
"""By type the property that encrypts its data.

Sources: https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/Overview.Encryption.html,
https://docs.aws.amazon.com/efs/latest/ug/encryption-at-rest.html,
https://docs.aws.amazon.com/ebs/latest/userguide/ebs-encryption.html and
https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-configure-sqs-sse-queue.html
"""

ENCRYPTED_BY_DEFAULT = ("AWS::SQS::Queue",)
"""Types whose data is encrypted unless the property says otherwise."""

KEYED = (
    *("DBClusterIdentifier", "DBSnapshotIdentifier", "GlobalClusterIdentifier", "KmsKeyId", "KmsMasterKeyId"),
    *("ReplicationSourceIdentifier", "SnapshotId", "SnapshotIdentifier", "SourceDBClusterIdentifier"),
    "SourceDBInstanceIdentifier",
)
"""Properties of what has a key, or is encrypted as that which it is made of."""

BLOCKS = ("BlockPublicAcls", "BlockPublicPolicy", "IgnorePublicAcls", "RestrictPublicBuckets")
"""The blocks of public access; what a configuration leaves out is false.

Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/access-control-block-public-access.html
"""

VARIABLES: Mapping[str, tuple[str, ...]] = {
    "AWS::Batch::JobDefinition": ("ContainerProperties/Environment/*/Value",),
    "AWS::CodeBuild::Project": ("Environment/EnvironmentVariables/*/Value",),
    "AWS::EC2::Instance": ("UserData",),
    "AWS::EC2::LaunchTemplate": ("LaunchTemplateData/UserData",),
    "AWS::ECS::TaskDefinition": ("ContainerDefinitions/*/Environment/*/Value",),
    "AWS::Glue::Job": ("DefaultArguments/*",),
    "AWS::Lambda::Function": ("Environment/Variables/*",),
    "AWS::SageMaker::Model": ("Containers/*/Environment/*", "PrimaryContainer/Environment/*"),
    "AWS::SSM::Parameter": ("Value",),
}
"""By type the places whose values everybody reads who may describe the resource; a dynamic reference is resolved before.

Sources: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/dynamic-references-secretsmanager.html and
https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html
"""

SECRET_WORDS = r"(?i)(?:.*[_/-])?(?:password|passwd|token|api_?key|access_?key|private_?key)"
"""The names of what nobody else may read; `secret` is the name of where it lies as well."""


class WayOut(NamedTuple):
    """How an instance gets to the internet past its VPC.

    :param subnets: the property with the subnets of the VPC.
    :param key: the property that decides; without it the instance has the way.
    :param closed: the value that keeps to the VPC.
    """

    subnets: str
    key: str
    closed: str


WAYS_OUT: Mapping[str, WayOut] = {
    "AWS::SageMaker::Domain": WayOut("SubnetIds", "AppNetworkAccessType", "VpcOnly"),
    "AWS::SageMaker::NotebookInstance": WayOut("SubnetId", "DirectInternetAccess", "Disabled"),
}
"""Types whose instances have an interface in a VPC of SageMaker's own too.

Sources: https://docs.aws.amazon.com/sagemaker/latest/dg/appendix-notebook-and-internet-access.html and
https://docs.aws.amazon.com/sagemaker/latest/dg/studio-notebooks-and-internet-access.html
"""
