"""Policy documents: where templates have them, and services that use a key as themselves (as of 2026-11-24)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """Whose permissions a document states."""

    IDENTITY = "of a principal"
    TRUST = "of those who assume a role"
    RESOURCE = "on a resource"


DOCUMENTS: Mapping[str, tuple[tuple[str, Kind], ...]] = {
    **dict.fromkeys(
        (
            "AWS::IAM::GroupPolicy",
            "AWS::IAM::ManagedPolicy",
            "AWS::IAM::Policy",
            "AWS::IAM::RolePolicy",
            "AWS::IAM::UserPolicy",
        ),
        (("PolicyDocument", Kind.IDENTITY),),
    ),
    "AWS::IAM::Role": (("Policies/*/PolicyDocument", Kind.IDENTITY), ("AssumeRolePolicyDocument", Kind.TRUST)),
    **dict.fromkeys(("AWS::IAM::Group", "AWS::IAM::User"), (("Policies/*/PolicyDocument", Kind.IDENTITY),)),
    "AWS::SSO::PermissionSet": (("InlinePolicy", Kind.IDENTITY),),
    "AWS::Backup::BackupVault": (("AccessPolicy", Kind.RESOURCE),),
    "AWS::DynamoDB::Table": (("ResourcePolicy/PolicyDocument", Kind.RESOURCE),),
    "AWS::EC2::VPCEndpoint": (("PolicyDocument", Kind.RESOURCE),),
    "AWS::ECR::RegistryPolicy": (("PolicyText", Kind.RESOURCE),),
    "AWS::ECR::Repository": (("RepositoryPolicyText", Kind.RESOURCE),),
    "AWS::EFS::FileSystem": (("FileSystemPolicy", Kind.RESOURCE),),
    "AWS::Events::EventBus": (("Policy", Kind.RESOURCE),),
    "AWS::Events::EventBusPolicy": (("", Kind.RESOURCE),),
    "AWS::KMS::Key": (("KeyPolicy", Kind.RESOURCE),),
    "AWS::KMS::ReplicaKey": (("KeyPolicy", Kind.RESOURCE),),
    "AWS::Kinesis::ResourcePolicy": (("ResourcePolicy", Kind.RESOURCE),),
    "AWS::S3::AccessPoint": (("Policy", Kind.RESOURCE),),
    "AWS::S3::BucketPolicy": (("PolicyDocument", Kind.RESOURCE),),
    "AWS::SageMaker::ModelPackageGroup": (("ModelPackageGroupPolicy", Kind.RESOURCE),),
    "AWS::SecretsManager::ResourcePolicy": (("ResourcePolicy", Kind.RESOURCE),),
    **dict.fromkeys(
        ("AWS::SNS::TopicInlinePolicy", "AWS::SNS::TopicPolicy", "AWS::SQS::QueueInlinePolicy", "AWS::SQS::QueuePolicy"),
        (("PolicyDocument", Kind.RESOURCE),),
    ),
}
"""The places of policy documents by type; `*` is each item of a list, and an empty place is the resource with its statement.

Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-template-resource-type-ref.html
"""


POLICIES_OF: Mapping[str, tuple[str, str]] = {
    "AWS::DynamoDB::Table": (".", "AWS::DynamoDB::Table"),
    "AWS::Events::EventBus": (".", "AWS::Events::EventBus"),
    "AWS::Events::EventBusPolicy": ("EventBusName", "AWS::Events::EventBus"),
    "AWS::KMS::Key": (".", "AWS::KMS::Key"),
    "AWS::S3::AccessPoint": (".", "AWS::S3::AccessPoint"),
    "AWS::SNS::TopicInlinePolicy": ("TopicArn", "AWS::SNS::Topic"),
    "AWS::SNS::TopicPolicy": ("Topics/*", "AWS::SNS::Topic"),
    "AWS::SQS::QueueInlinePolicy": ("Queue", "AWS::SQS::Queue"),
    "AWS::SQS::QueuePolicy": ("Queues/*", "AWS::SQS::Queue"),
    "AWS::SecretsManager::ResourcePolicy": ("SecretId", "AWS::SecretsManager::Secret"),
}
"""Types with policies that speak of one kind of resource alone: the way to it, and its type.

Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/access_policies_identity-vs-resource.html (as of 2026-11-27)
"""

ACTIONS_OF: Mapping[str, str] = {
    "AWS::Backup::BackupVault": "backup",
    "AWS::DynamoDB::Table": "dynamodb",
    "AWS::ECR::Repository": "ecr",
    "AWS::EFS::FileSystem": "elasticfilesystem",
    "AWS::Events::EventBus": "events",
    "AWS::Events::EventBusPolicy": "events",
    "AWS::KMS::Key": "kms",
    "AWS::KMS::ReplicaKey": "kms",
    "AWS::Kinesis::ResourcePolicy": "kinesis",
    "AWS::S3::AccessPoint": "s3",
    "AWS::SNS::TopicInlinePolicy": "sns",
    "AWS::SNS::TopicPolicy": "sns",
    "AWS::SQS::QueueInlinePolicy": "sqs",
    "AWS::SQS::QueuePolicy": "sqs",
    "AWS::SageMaker::ModelPackageGroup": "sagemaker",
    "AWS::SecretsManager::ResourcePolicy": "secretsmanager",
}
"""Types whose policies are asked for the actions of one service, beside those of buckets, whose resources say it.

Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/access_policies_identity-vs-resource.html (as of 2026-11-27)
"""

VERSIONS = ("2008-10-17", "2012-10-17")
DOCUMENT_ELEMENTS = ("Version", "Id", "Statement")
STATEMENT_ELEMENTS = (
    *("Sid", "Effect", "Principal", "NotPrincipal", "Action", "NotAction", "Resource", "NotResource", "Condition"),
)
"""The versions of documents, and the elements of documents and of statements.

Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_grammar.html (as of 2026-11-30)
"""

DEMANDING_RESOURCE = (
    *("AWS::KMS::Key", "AWS::KMS::ReplicaKey", "AWS::S3::AccessPoint", "AWS::S3::BucketPolicy"),
    "AWS::SecretsManager::ResourcePolicy",
)
"""Types whose policies are refused if a statement names no resource.

Source: https://docs.aws.amazon.com/kms/latest/developerguide/key-policy-overview.html,
https://docs.aws.amazon.com/AmazonS3/latest/userguide/access-policy-language-overview.html and
https://docs.aws.amazon.com/secretsmanager/latest/userguide/auth-and-access_resource-policies.html (as of 2026-11-30)
"""

WITHOUT_RESOURCE = ("AWS::ECR::Repository",)
"""Types whose policies are refused if a statement names a resource.

Source: https://github.com/awsdocs/amazon-ecr-user-guide/pull/20 and https://github.com/aws/aws-cdk/issues/24314 (as of 2026-11-27)
"""

CLOSED = (
    "AWS::Backup::BackupVault",
    "AWS::DynamoDB::Table",
    "AWS::ECR::RegistryPolicy",
    "AWS::ECR::Repository",
    "AWS::Events::EventBus",
    "AWS::Events::EventBusPolicy",
    "AWS::IAM::Role",
    "AWS::KMS::Key",
    "AWS::KMS::ReplicaKey",
    "AWS::Kinesis::ResourcePolicy",
    "AWS::SNS::TopicInlinePolicy",
    "AWS::SNS::TopicPolicy",
    "AWS::SQS::QueueInlinePolicy",
    "AWS::SQS::QueuePolicy",
    "AWS::SageMaker::ModelPackageGroup",
    "AWS::SecretsManager::ResourcePolicy",
)
"""Types whose policies let nobody in without saying whose they are.

Source: https://docs.aws.amazon.com/sns/latest/dg/sns-security-best-practices.html and
https://docs.aws.amazon.com/kms/latest/developerguide/key-policy-overview.html
"""

OPEN_TAGS = ("aws:principaltag/", "aws:requesttag/", "aws:resourcetag/")
"""The begins of keys with a tag: whoever calls sets those of a principal and of a request, in any account.

Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-keys.html
"""

OPEN_KEYS = frozenset(
    (
        "aws:currenttime",
        "aws:epochtime",
        "aws:multifactorauthpresent",
        "aws:principaltype",
        "aws:requestedregion",
        "aws:securetransport",
        "aws:tagkeys",
        "aws:useragent",
        "kms:encryptionalgorithm",
        "kms:grantisforawsresource",
        "kms:viaservice",
        "sns:protocol",
    )
)
"""Keys of conditions that say how something is called, and not whose principal calls it; in small letters.

Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-keys.html and
https://docs.aws.amazon.com/kms/latest/developerguide/conditions-kms.html
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class KeyUser:
    """A service that uses the key of a resource as itself, so that the key's policy must name it.

    :param key: the property with the key.
    :param service: the service.
    :param actions: what it does with the key.
    """

    key: str
    service: str
    actions: tuple[str, ...]
    source: str


NOTIFIERS = ("budgets.amazonaws.com", "cloudwatch.amazonaws.com", "events.amazonaws.com")
NOTIFIERS_MAY = ("kms:Decrypt", "kms:GenerateDataKey")
"""The services that send alarms, events and notices of budgets, and what they do with the key of an encrypted topic or queue.

Source: https://docs.aws.amazon.com/sns/latest/dg/sns-key-management.html
"""

WRITERS_MAY = ("kms:GenerateDataKey",)
"""What services that write into a bucket do with its key.

Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/UsingKMSEncryption.html
"""

COPIES_MAY: Mapping[str, tuple[str, ...]] = {"s3:ReplicateObject": ("kms:Encrypt",)}
"""What who writes copies into a bucket does with the key of the copies.

Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/replication-config-for-kms-objects.html (as of 2026-11-27)
"""

KEY_USERS: Mapping[str, KeyUser] = {
    "AWS::CloudTrail::Trail": KeyUser(
        key="KMSKeyId",
        service="cloudtrail.amazonaws.com",
        actions=("kms:GenerateDataKey",),
        source="https://docs.aws.amazon.com/awscloudtrail/latest/userguide/create-kms-key-policy-for-cloudtrail.html",
    ),
    "AWS::Events::EventBus": KeyUser(
        key="KmsKeyIdentifier",
        service="events.amazonaws.com",
        actions=("kms:Decrypt", "kms:DescribeKey", "kms:GenerateDataKey"),
        source="https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-encryption-event-bus-cmkey.html",
    ),
    "AWS::Logs::LogGroup": KeyUser(
        key="KmsKeyId",
        service="logs.amazonaws.com",
        actions=("kms:Decrypt", "kms:Encrypt", "kms:GenerateDataKey"),
        source="https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/encrypt-log-data-kms.html",
    ),
}
"""Such services by the type of the resource."""

SESSIONS = frozenset(("*:FSx",))
"""The ends of `aws:userid` in sessions of roles that only services have: Lustre uses the keys of linked buckets as such a one.

Source: https://docs.aws.amazon.com/fsx/latest/LustreGuide/s3-server-side-encryption-support.html (as of 2026-11-29)
"""

LINKS, LINKS_PATH = "AWSServiceRoleForFSxS3Access", "aws-service-role/s3.data-source.lustre.fsx.amazonaws.com"
LINKS_MAY, EXPORTS_MAY = ("kms:Decrypt",), ("kms:Decrypt", "kms:GenerateDataKey")
EXPORTED = (("S3", "AutoExportPolicy"), ("LustreConfiguration", "ExportPath"))
LINKED: Mapping[str, tuple[str, ...]] = {
    "AWS::FSx::DataRepositoryAssociation": ("DataRepositoryPath",),
    "AWS::FSx::FileSystem": ("LustreConfiguration/ImportPath",),
}
"""The role by which Lustre uses a linked bucket, what it does with the bucket's key, and the properties with the bucket, by type.

Source: https://docs.aws.amazon.com/fsx/latest/LustreGuide/s3-server-side-encryption-support.html (as of 2026-11-26)
"""

AUTO_SCALING = "AWSServiceRoleForAutoScaling"
AUTO_SCALING_MAY = ("kms:CreateGrant", "kms:Decrypt", "kms:GenerateDataKeyWithoutPlaintext")
"""The role by which Auto Scaling starts instances, and what it does with the key of their disks.

Source: https://docs.aws.amazon.com/autoscaling/ec2/userguide/key-policy-requirements-EBS-encryption.html
"""

TEMPLATES_OF_INSTANCES: Mapping[str, tuple[str, ...]] = {
    "AWS::AutoScaling::AutoScalingGroup": (
        "LaunchTemplate/LaunchTemplateId",
        "MixedInstancesPolicy/LaunchTemplate/LaunchTemplateSpecification/LaunchTemplateId",
    ),
    "AWS::EKS::Nodegroup": ("LaunchTemplate/Id",),
}
"""The launch templates of what Auto Scaling starts, by type."""
