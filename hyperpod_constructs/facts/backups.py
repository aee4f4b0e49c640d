"""Types of resources of which AWS Backup makes backups (as of 2026-11-27).

Sources: https://docs.aws.amazon.com/aws-backup/latest/devguide/API_GetSupportedResourceTypes.html and
https://docs.aws.amazon.com/aws-backup/latest/devguide/backup-feature-availability.html
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

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

OF_TAGS = "aws:ResourceTag/"
"""The begin of keys in the conditions of a selection, before the key of a tag.

Source: https://docs.aws.amazon.com/aws-backup/latest/devguide/API_Conditions.html (as of 2026-11-30)
"""

DAYS_KEPT = (
    ("BackupRetentionPeriod",),
    ("OntapConfiguration", "AutomaticBackupRetentionDays"),
    ("OpenZFSConfiguration", "AutomaticBackupRetentionDays"),
    ("WindowsConfiguration", "AutomaticBackupRetentionDays"),
)
"""The properties with the days that backups of databases and file systems are kept; 0 for none.

Source: https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemOpenZFSConfiguration.html (as of 2026-11-27)
"""


class OwnBackups(NamedTuple):
    """Backups that a resource makes each day by itself, during which AWS Backup starts none.

    :param window: the place of their time of day: a window, or its start.
    :param kept: the place of the days for which they are kept.
    :param before: the minutes before the window in which AWS Backup starts none either.
    """

    window: tuple[str, ...]
    kept: tuple[str, ...]
    before: int = 0


_FILE_SYSTEMS = ("LustreConfiguration", "OntapConfiguration", "OpenZFSConfiguration", "WindowsConfiguration")
OWN_BACKUPS: Mapping[str, tuple[OwnBackups, ...]] = {
    "AWS::FSx::FileSystem": tuple(
        OwnBackups((one, "DailyAutomaticBackupStartTime"), (one, "AutomaticBackupRetentionDays")) for one in _FILE_SYSTEMS
    ),
    "AWS::RDS::DBInstance": (OwnBackups(("PreferredBackupWindow",), ("BackupRetentionPeriod",), before=60),),
}
"""By type; Aurora takes both at once (as of 2026-11-29).

Sources: https://docs.aws.amazon.com/aws-backup/latest/devguide/plan-options-and-configuration.html and
https://repost.aws/knowledge-center/backup-coordinates-pitr
"""
SHORTEST_WINDOW = 30
"""Minutes of a window of which only the start is given.

Source: https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/using-backups.html
"""
