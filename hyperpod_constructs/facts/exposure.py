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


class Protection(NamedTuple):
    """A protection that a template switches off.

    :param path: the property, `*` for each item of a list.
    :param off: the value that leaves the data or the machine without it.
    :param words: the consequence.
    :param only: places and their defaults, for a protection that counts with these values alone.
    """

    path: str
    off: str | bool
    words: str
    only: tuple[tuple[str, str | bool], ...] = ()


_BLOCKS = "the volume is not encrypted"
_METADATA = "every process gets the credentials of the instance by one simple request (IMDSv1)"
PROTECTIONS: Mapping[str, tuple[Protection, ...]] = {
    "AWS::AutoScaling::LaunchConfiguration": (
        Protection("BlockDeviceMappings/*/Ebs/Encrypted", False, _BLOCKS),
        Protection("MetadataOptions/HttpTokens", "optional", _METADATA, (("MetadataOptions/HttpEndpoint", "enabled"),)),
    ),
    "AWS::CloudTrail::Trail": (Protection("EnableLogFileValidation", False, "nobody sees whether a log file was changed"),),
    "AWS::EC2::Instance": (
        Protection("BlockDeviceMappings/*/Ebs/Encrypted", False, _BLOCKS),
        Protection("MetadataOptions/HttpTokens", "optional", _METADATA, (("MetadataOptions/HttpEndpoint", "enabled"),)),
    ),
    "AWS::EC2::LaunchTemplate": (
        Protection("LaunchTemplateData/BlockDeviceMappings/*/Ebs/Encrypted", False, _BLOCKS),
        Protection(
            "LaunchTemplateData/MetadataOptions/HttpTokens",
            "optional",
            _METADATA,
            (("LaunchTemplateData/MetadataOptions/HttpEndpoint", "enabled"),),
        ),
    ),
    "AWS::ElastiCache::ReplicationGroup": (
        Protection("AtRestEncryptionEnabled", False, "the data is not encrypted"),
        Protection("TransitEncryptionEnabled", False, "the data is not encrypted on its way"),
    ),
    "AWS::KMS::Key": (
        Protection(
            "EnableKeyRotation",
            False,
            "the key material never changes",
            (("KeySpec", "SYMMETRIC_DEFAULT"), ("Origin", "AWS_KMS"), ("Enabled", True)),
        ),
    ),
    "AWS::MSK::Cluster": (
        Protection("EncryptionInfo/EncryptionInTransit/InCluster", False, "the data is not encrypted on its way"),
        Protection("EncryptionInfo/EncryptionInTransit/ClientBroker", "PLAINTEXT", "the data is not encrypted on its way"),
    ),
    "AWS::OpenSearchService::Domain": (
        Protection("DomainEndpointOptions/EnforceHTTPS", False, "clients may send data and passwords in clear"),
        Protection("EncryptionAtRestOptions/Enabled", False, "the data is not encrypted"),
        Protection("NodeToNodeEncryptionOptions/Enabled", False, "the data is not encrypted on its way"),
    ),
    "AWS::Redshift::Cluster": (Protection("Encrypted", False, "the data is not encrypted"),),
    "AWS::SageMaker::NotebookInstance": (
        Protection("InstanceMetadataServiceConfiguration/MinimumInstanceMetadataServiceVersion", "1", _METADATA),
    ),
}
"""By type the protections that are there unless they are switched off, or that a template names in order to switch them off.

Sources: https://docs.aws.amazon.com/securityhub/latest/userguide/securityhub-controls-reference.html (AutoScaling.3, CloudTrail.4,
EC2.8, EC2.170, ElastiCache.4, ElastiCache.5, KMS.4, MSK.1, Opensearch.1, Opensearch.3, Opensearch.8, Redshift.10),
https://docs.aws.amazon.com/ebs/latest/userguide/ebs-encryption.html,
https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/configuring-instance-metadata-options.html,
https://docs.aws.amazon.com/msk/latest/developerguide/msk-encryption.html and
https://docs.aws.amazon.com/sagemaker/latest/dg/nbi-imds.html (as of 2026-11-27)
"""

PASSWORDS: Mapping[str, tuple[str, ...]] = {
    "AWS::AmazonMQ::Broker": ("Users/*/Password",),
    "AWS::DMS::Endpoint": ("Password",),
    "AWS::DirectoryService::MicrosoftAD": ("Password",),
    "AWS::DirectoryService::SimpleAD": ("Password",),
    "AWS::DocDB::DBCluster": ("MasterUserPassword",),
    "AWS::ElastiCache::ReplicationGroup": ("AuthToken",),
    "AWS::ElastiCache::User": ("Passwords/*",),
    "AWS::FSx::FileSystem": (
        "OntapConfiguration/FsxAdminPassword",
        "WindowsConfiguration/SelfManagedActiveDirectoryConfiguration/Password",
    ),
    "AWS::FSx::StorageVirtualMachine": (
        "ActiveDirectoryConfiguration/SelfManagedActiveDirectoryConfiguration/Password",
        "SvmAdminPassword",
    ),
    "AWS::IAM::User": ("LoginProfile/Password",),
    "AWS::KinesisFirehose::DeliveryStream": ("RedshiftDestinationConfiguration/Password",),
    "AWS::MemoryDB::User": ("AuthenticationMode/Passwords/*",),
    "AWS::OpenSearchService::Domain": ("AdvancedSecurityOptions/MasterUserOptions/MasterUserPassword",),
    "AWS::RDS::DBCluster": ("MasterUserPassword",),
    "AWS::RDS::DBInstance": ("MasterUserPassword",),
    "AWS::Redshift::Cluster": ("MasterUserPassword",),
    "AWS::RedshiftServerless::Namespace": ("AdminUserPassword",),
    "AWS::SecretsManager::Secret": ("SecretString",),
}
"""By type the properties that are secrets (as of 2026-11-27).

Sources: the properties' own pages in https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/ and
https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/security-best-practices.html
"""

VARIABLES: Mapping[str, tuple[str, ...]] = {
    "AWS::AppRunner::Service": ("SourceConfiguration/ImageRepository/ImageConfiguration/RuntimeEnvironmentVariables/*/Value",),
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

PROGRAMS: Mapping[str, tuple[str, ...]] = {
    "AWS::CodeBuild::Project": ("Source/BuildSpec",),
    "AWS::EC2::Instance": ("UserData",),
    "AWS::EC2::LaunchTemplate": ("LaunchTemplateData/UserData",),
    "AWS::Lambda::Function": ("Code/ZipFile",),
    "AWS::SageMaker::NotebookInstanceLifecycleConfig": ("OnCreate/*/Content", "OnStart/*/Content"),
    "AWS::SageMaker::StudioLifecycleConfig": ("StudioLifecycleConfigContent",),
}
"""By type the places with programs, in which a secret is a text that a name gets.

Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-add-user-data.html (as of 2026-11-27)
"""

SECRET_WORDS = (
    r"(?i)(?:.*[_/-])?(?:\w*(?:password|passwd|passphrase)|pass|token|api_?key|access_?key|client_?secret|private_?key|secret_?key"
    r"|auth_?token|pre_?shared_?key)"
)
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
