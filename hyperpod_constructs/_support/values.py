"""Types of arguments whose values the service limits; `checked` compares an argument with its limit."""

from __future__ import annotations

from typing import Annotated

from hyperpod_constructs.facts import (
    accounting,
    addons,
    kubernetes,
    lustre,
    openzfs,
    receivers,
    repository_tasks,
    root_squash,
    software_updates,
)
from hyperpod_constructs.facts.limits import Limit, property_limit

_CLUSTER = "AWS::SageMaker::Cluster"
_GROUP = f"{_CLUSTER}/InstanceGroups/*"
_STORAGE = f"{_GROUP}/InstanceStorageConfigs/*"
_ENVIRONMENT = f"{_CLUSTER}/RestrictedInstanceGroups/*/EnvironmentConfig/FSxLustreConfig"
_DATABASE = f"{_CLUSTER}/Orchestrator/Slurm/AccountingDatabase"
_DEPLOYMENT = f"{_GROUP}/ScheduledUpdateConfig/DeploymentConfig"
_NAME = "{shortest} to {longest} letters, digits and hyphens, with a letter or digit first and last"
_PATH = "an absolute path of letters, digits, '.', '_' and '-', without a slash at its end, of at most {longest} characters"
_LUSTRE_HOST = "the DNS name of an FSx file system, {shortest} to {longest} characters"

ClusterArn = Annotated[
    str,
    property_limit(
        f"{_CLUSTER}/ClusterArn",
        words="the ARN of a HyperPod cluster, which ends in the cluster's id of 12 letters and digits, not in its name "
        "(aws sagemaker list-clusters prints it)",
        example="arn:aws:sagemaker:us-west-2:111122223333:cluster/abcdefgh1234",
    ),
]
ClusterName = Annotated[str, property_limit(f"{_CLUSTER}/ClusterName", words=_NAME, example="training")]
GroupName = Annotated[str, property_limit(f"{_GROUP}/InstanceGroupName", words=_NAME, example="workers")]
PartitionName = Annotated[
    str,
    property_limit(f"{_GROUP}/SlurmConfig/PartitionNames/*", words=_NAME.replace("{shortest}", "1"), example="workers"),
]
NodeCount = Annotated[int, property_limit(f"{_GROUP}/InstanceCount")]
MinimumCount = Annotated[int, property_limit(f"{_GROUP}/MinInstanceCount")]
ThreadsPerCore = Annotated[int, property_limit(f"{_GROUP}/ThreadsPerCore")]
VolumeSize = Annotated[int, property_limit(f"{_STORAGE}/EbsVolumeConfig/VolumeSizeInGB")]
KubernetesClusterName = Annotated[str, kubernetes.CLUSTER_NAME]
KubernetesGroup = Annotated[str, kubernetes.GROUP]
Namespace = Annotated[str, kubernetes.NAMESPACE]
AddonName = Annotated[str, addons.NAME]
LustreHost = Annotated[
    str,
    property_limit(
        f"{_STORAGE}/FsxLustreConfig/DnsName", words=_LUSTRE_HOST, example="fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com"
    ),
]
OpenZfsHost = Annotated[
    str,
    property_limit(
        f"{_STORAGE}/FsxOpenZfsConfig/DnsName", words=_LUSTRE_HOST, example="fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com"
    ),
]
MountName = Annotated[
    str,
    property_limit(
        f"{_STORAGE}/FsxLustreConfig/MountName",
        words="{shortest} to {longest} letters, digits, '_' and '-' (aws fsx describe-file-systems prints it)",
        example="abcdefgh",
    ),
]
LustreMountPath = Annotated[str, property_limit(f"{_STORAGE}/FsxLustreConfig/MountPath", words=_PATH, example="/fsx")]
OpenZfsMountPath = Annotated[str, property_limit(f"{_STORAGE}/FsxOpenZfsConfig/MountPath", words=_PATH, example="/home")]
TrainingPlanArn = Annotated[
    str,
    property_limit(
        f"{_GROUP}/TrainingPlanArn",
        words="the ARN of a training plan (aws sagemaker list-training-plans prints it)",
        example="arn:aws:sagemaker:us-west-2:111122223333:training-plan/my-plan",
    ),
]
ImageId = Annotated[
    str,
    property_limit(
        f"{_GROUP}/ImageId",
        words="'default', or the id of an image: ami- and 8 to 17 digits and letters a to f",
        example="ami-0123456789abcdef0",
    ),
]
ImageReleaseVersion = Annotated[
    str,
    property_limit(
        f"{_GROUP}/ImageReleaseVersion",
        words="three numbers with dots between them, {shortest} to {longest} characters",
        example="1.2.3",
    ),
]
ScheduleExpression = Annotated[str, software_updates.SCHEDULE]
WaitInterval = Annotated[int, property_limit(f"{_DEPLOYMENT}/WaitIntervalInSeconds")]
BatchSize = Annotated[int, property_limit(f"{_DEPLOYMENT}/RollingUpdatePolicy/MaximumBatchSize/Value")]
ROLLBACK_ALARMS = property_limit(f"{_DEPLOYMENT}/AutoRollbackConfiguration")
SUBNETS = property_limit(f"{_GROUP}/OverrideVpcConfig/Subnets")
SECURITY_GROUPS = property_limit(f"{_GROUP}/OverrideVpcConfig/SecurityGroupIds")
KUBERNETES_KEY = property_limit(
    f"{_GROUP}/KubernetesConfig/Taints/*/Key",
    words="{shortest} to {longest} letters, digits, '-', '_' and '.', which may have a domain and '/' before them",
    example="example.com/pool",
)
KubernetesKey = Annotated[str, KUBERNETES_KEY]
KubernetesValue = Annotated[
    str,
    property_limit(
        f"{_GROUP}/KubernetesConfig/Taints/*/Value",
        words="{shortest} to {longest} letters, digits, '-', '_' and '.', with a letter or digit first and last",
        example="research",
    ),
]
TAINTS = property_limit(f"{_GROUP}/KubernetesConfig/Taints")
MemoryPercentage = Annotated[int, property_limit(f"{_CLUSTER}/TieredStorageConfig/InstanceMemoryAllocationPercentage")]
EntryPoint = Annotated[
    str,
    property_limit(f"{_GROUP}/LifeCycleConfig/OnCreate", words="{shortest} to {longest} characters", example="on_create.sh"),
]
EnvironmentSize = Annotated[int, property_limit(f"{_ENVIRONMENT}/SizeInGiB")]
EnvironmentThroughput = Annotated[int, property_limit(f"{_ENVIRONMENT}/PerUnitStorageThroughput")]
DatabaseHost = Annotated[
    str,
    property_limit(
        f"{_DATABASE}/Endpoint",
        words="a host name or an address, {shortest} to {longest} letters, digits, '-' and '.', without a port",
        example="accounting.abcdefgh1234.us-west-2.rds.amazonaws.com",
    ),
]
DatabaseName = Annotated[
    str, property_limit(f"{_DATABASE}/Name", words="{shortest} to {longest} letters, digits, '$' and '_'", example="slurm_acct_db")
]
DatabasePort = Annotated[int, property_limit(f"{_DATABASE}/Port")]
DatabaseBackupDays = Annotated[int, accounting.BACKUP_DAYS]
DatabaseBackupWindow = Annotated[str, accounting.BACKUP_WINDOW]
DatabaseClass = Annotated[str, accounting.INSTANCE_CLASS]
DatabaseMaintenanceWindow = Annotated[str, accounting.MAINTENANCE_WINDOW]
DatabaseStorage = Annotated[int, accounting.STORAGE_GIB]
DatabaseVersion = Annotated[str, accounting.MARIADB_VERSION]
FileSystemId = Annotated[
    str,
    property_limit(
        "AWS::FSx::DataRepositoryAssociation/FileSystemId",
        words="the id of a file system: fs- and 8 to 18 digits and letters a to f (aws fsx describe-file-systems prints it)",
        example="fs-0123456789abcdef0",
    ),
]
FileSystemPath = Annotated[
    str,
    property_limit(
        "AWS::FSx::DataRepositoryAssociation/FileSystemPath",
        words="{shortest} to {longest} characters without line ends",
        example="/data",
    ),
]
BackupDays = Annotated[int, lustre.MEMBERS["AutomaticBackupRetentionDays"]]
DailyTime = Annotated[str, lustre.MEMBERS["DailyAutomaticBackupStartTime"]]
WeeklyTime = Annotated[str, lustre.MEMBERS["WeeklyMaintenanceStartTime"]]
ChunkSize = Annotated[int, property_limit("AWS::FSx::DataRepositoryAssociation/ImportedFileChunkSize")]
ExportClients = Annotated[str, openzfs.EXPORT_CLIENTS]
ExportOption = Annotated[str, openzfs.EXPORT_OPTION]
SnapshotCount = Annotated[int, openzfs.SNAPSHOT_COUNT]
SnapshotPrefix = Annotated[str, openzfs.SNAPSHOT_PREFIX]
VolumeId = Annotated[str, openzfs.VOLUME_ID]
QuotaId = Annotated[int, openzfs.QUOTA_ID]
QuotaSize = Annotated[int, openzfs.QUOTA_GIB]
SquashNid = Annotated[str, root_squash.NID]
TaskPath = Annotated[str, repository_tasks.PATH]
ReportPath = Annotated[str, repository_tasks.REPORT_PATH]
DaysSinceAccess = Annotated[int, repository_tasks.DAYS]
Email = Annotated[
    str, Limit(pattern=f"^{receivers.ADDRESS}$", words="an address such as team@example.com", example="team@example.com")
]
Positive = Annotated[int, Limit(least=1)]
Percent = Annotated[int, Limit(least=1, most=100)]
Port = Annotated[int, Limit(least=1, most=65_535)]
