"""Types of arguments whose values the service limits; `checked` compares an argument with its limit."""

from __future__ import annotations

from typing import Annotated

from hyperpod_constructs.facts import lustre
from hyperpod_constructs.facts.limits import Limit, property_limit

_CLUSTER = "AWS::SageMaker::Cluster"
_GROUP = f"{_CLUSTER}/InstanceGroups/*"
_STORAGE = f"{_GROUP}/InstanceStorageConfigs/*"
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
EntryPoint = Annotated[
    str,
    property_limit(f"{_GROUP}/LifeCycleConfig/OnCreate", words="{shortest} to {longest} characters", example="on_create.sh"),
]
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
BackupDays = Annotated[int, Limit(least=0, most=lustre.MOST_BACKUP_DAYS)]
Port = Annotated[int, Limit(least=1, most=65_535)]
