"""What lies in clear or in public: the properties that encrypt data, and those that keep the public out (as of 2026-11-27)."""

from __future__ import annotations

from collections.abc import Mapping

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
