"""Resource types that hold data, and the loss when one is deleted (as of 2026-11-21)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

KEEPING_POLICIES = frozenset({"Retain", "RetainExceptOnCreate"})
"""Deletion policies that make CloudFormation keep a resource.

Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-deletionpolicy.html
"""

POLICY_WORDS: Mapping[str, tuple[str, ...]] = {
    "DeletionPolicy": ("Delete", "Retain", "RetainExceptOnCreate", "Snapshot"),
    "UpdateReplacePolicy": ("Delete", "Retain", "Snapshot"),
}
"""The words of the policies of resources (as of 2026-11-24).

Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-updatereplacepolicy.html
"""

ARCHIVES = ("DEEP_ARCHIVE", "GLACIER")
"""Storage classes whose objects nobody can read before they are restored (as of 2026-11-27).

Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/restoring-objects.html
"""

READ_AT_ANY_TIME: Mapping[str, tuple[str, tuple[str, ...], bool]] = {
    "AWS::SageMaker::Cluster": (
        "nodes read",
        ("InstanceGroups/*/LifeCycleConfig/SourceS3Uri", "RestrictedInstanceGroups/*/LifeCycleConfig/SourceS3Uri"),
        False,
    ),
    "AWS::SageMaker::Model": (
        "instances of a model read",
        tuple(
            f"{at}/{key}"
            for at in ("PrimaryContainer", "Containers/*")
            for key in ("ModelDataUrl", "ModelDataSource/S3DataSource/S3Uri")
        ),
        True,
    ),
}
"""By type: who reads objects long after somebody has written them, the ways to their places, and whether they surely are large.

Sources: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-lifecycle-best-practices-slurm.html and
https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ContainerDefinition.html (as of 2026-11-30)
"""

OLD_DAYS = 365
"""An age at which somebody means data to go, whatever reads them: a choice of this library, and no fact of AWS."""

SMALL_TOO = "varies_by_storage_class"
"""The `TransitionDefaultMinimumObjectSize` with which objects of less than 128 KB are archived too.

Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/lifecycle-transition-general-considerations.html (as of 2026-11-30)
"""

DATA_WORDS = re.compile(r"(?i)^(?!.*(?:cache|log|scratch|te?mp|weighted)).*(?:checkpoint|corpus|dataset|model|weight)")
"""A name of a bucket whose objects do not grow old: what training reads and what it makes, and no logs of it.

It is a guess from words, and no fact of AWS.
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class DataHolder:
    """The loss when a resource is deleted.

    :param lost: the data, in words.
    :param snapshot: whether CloudFormation takes a snapshot first under the policy `Snapshot`.
    :param snapshot_by_default: whether it does so without a policy.
    """

    lost: str
    snapshot: bool = False
    snapshot_by_default: bool = False


SNAPSHOT_TYPES = frozenset(
    {
        "AWS::DocDB::DBCluster",
        "AWS::EC2::Volume",
        "AWS::ElastiCache::CacheCluster",
        "AWS::ElastiCache::ReplicationGroup",
        "AWS::Neptune::DBCluster",
        "AWS::RDS::DBCluster",
        "AWS::RDS::DBInstance",
        "AWS::Redshift::Cluster",
    }
)
"""Types that take the policy `Snapshot` (as of 2026-11-24).

Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-deletionpolicy.html
"""

DATA_HOLDERS: Mapping[str, DataHolder] = {
    "AWS::APS::Workspace": DataHolder(lost="all metrics of the workspace, up to 150 days"),
    "AWS::DocDB::DBCluster": DataHolder(lost="all databases of the cluster", snapshot=True),
    "AWS::DynamoDB::GlobalTable": DataHolder(lost="all items of the table"),
    "AWS::DynamoDB::Table": DataHolder(lost="all items of the table", snapshot=True),
    "AWS::EC2::Volume": DataHolder(lost="the volume's data", snapshot=True),
    "AWS::ECR::Repository": DataHolder(lost="all images of the repository"),
    "AWS::EFS::FileSystem": DataHolder(lost="all files of the EFS file system"),
    "AWS::FSx::FileSystem": DataHolder(lost="all files of the file system"),
    "AWS::FSx::Volume": DataHolder(lost="all files of the volume"),
    "AWS::Grafana::Workspace": DataHolder(lost="dashboards, alerts and users of the workspace"),
    "AWS::KMS::Key": DataHolder(lost="everything that the key encrypts"),
    "AWS::Logs::LogGroup": DataHolder(lost="all events of the log group"),
    "AWS::Neptune::DBCluster": DataHolder(lost="all graphs of the cluster", snapshot=True),
    "AWS::OpenSearchService::Domain": DataHolder(lost="all indices of the domain"),
    "AWS::RDS::DBCluster": DataHolder(lost="all databases of the cluster", snapshot=True, snapshot_by_default=True),
    "AWS::RDS::DBInstance": DataHolder(lost="all databases of the instance", snapshot=True, snapshot_by_default=True),
    "AWS::Redshift::Cluster": DataHolder(lost="all databases of the cluster", snapshot=True),
    "AWS::S3::Bucket": DataHolder(lost="all objects of the bucket, with their versions"),
    "AWS::SageMaker::MlflowTrackingServer": DataHolder(lost="all runs with their metrics; artifacts stay in S3"),
    "AWS::SageMaker::NotebookInstance": DataHolder(lost="all files on the volume of the notebook"),
    "AWS::SecretsManager::Secret": DataHolder(lost="the secret's value, with all versions"),
}

HELD_BY_DATA = (
    "AWS::Backup::BackupVault",
    "AWS::ECR::Repository",
    "AWS::RDS::DBCluster",
    "AWS::RDS::DBInstance",
    "AWS::S3::Bucket",
)
"""Types whose deletion fails while they hold data or are protected.

Sources: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-deletionpolicy.html and
https://docs.aws.amazon.com/aws-backup/latest/devguide/create-a-vault.html
"""

DELETED_BY_DEFAULT = (
    "AWS::Backup::BackupVault",
    "AWS::DynamoDB::GlobalTable",
    "AWS::DynamoDB::Table",
    "AWS::ECR::Repository",
    "AWS::OpenSearchService::Domain",
    "AWS::SecretsManager::Secret",
)
"""Types that go with their stack without a DeletionPolicy: one that a replacement keeps lacks it by mistake (as of 2026-11-28).

Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-deletionpolicy.html
"""

ENCRYPT_FOR_THEMSELVES = (
    "AWS::EC2::LaunchTemplate",
    "AWS::EKS::Cluster",
    "AWS::Lambda::Function",
    "AWS::SageMaker::Cluster",
    "AWS::SNS::Topic",
    "AWS::SQS::Queue",
)
"""Types that hold no data of a team, and encrypt with their key only what goes with them or their nodes (as of 2026-11-29).

Source: https://docs.aws.amazon.com/kms/latest/developerguide/service-integration.html
"""
PASSED_ON = ("AWS::SNS::Topic", "AWS::SQS::Queue")
"""Those of them that keep nothing, or messages for some days: another key is as good for what comes next.

Sources: https://docs.aws.amazon.com/sns/latest/dg/sns-key-management.html and
https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-key-management.html (as of 2026-11-30)
"""
