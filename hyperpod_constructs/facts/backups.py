"""Types of resources of which AWS Backup makes backups (as of 2026-11-27).

Sources: https://docs.aws.amazon.com/aws-backup/latest/devguide/API_GetSupportedResourceTypes.html and
https://docs.aws.amazon.com/aws-backup/latest/devguide/backup-feature-availability.html
"""

from __future__ import annotations

BACKED_UP = frozenset(
    {
        "AWS::CloudFormation::Stack",
        "AWS::DocDB::DBCluster",
        "AWS::DynamoDB::GlobalTable",
        "AWS::DynamoDB::Table",
        "AWS::EC2::Instance",
        "AWS::EC2::Volume",
        "AWS::EFS::FileSystem",
        "AWS::EKS::Cluster",
        "AWS::FSx::FileSystem",
        "AWS::FSx::Volume",
        "AWS::Neptune::DBCluster",
        "AWS::RDS::DBCluster",
        "AWS::RDS::DBInstance",
        "AWS::Redshift::Cluster",
        "AWS::S3::Bucket",
        "AWS::Timestream::Database",
        "AWS::Timestream::Table",
    }
)

DAYS_KEPT = (
    ("BackupRetentionPeriod",),
    ("OntapConfiguration", "AutomaticBackupRetentionDays"),
    ("OpenZFSConfiguration", "AutomaticBackupRetentionDays"),
    ("WindowsConfiguration", "AutomaticBackupRetentionDays"),
)
"""The properties with the days that backups of databases and file systems are kept; 0 for none.

Source: https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemOpenZFSConfiguration.html (as of 2026-11-27)
"""
