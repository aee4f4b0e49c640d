"""What requests demand where a value decides: each demand refuses one thing, and takes the nearest right one."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.analysis.schema.judge import violations
from hyperpod_constructs.facts.property_schemas import request_limits
from hyperpod_constructs.templates.values import UNKNOWN

TABLE, CLUSTER, BUCKET = "AWS::DynamoDB::Table", "AWS::RDS::DBCluster", "AWS::S3::Bucket"
STREAM, ALARM, BUILD = "AWS::KinesisFirehose::DeliveryStream", "AWS::CloudWatch::Alarm", "AWS::CodeBuild::Project"
BUDGET, TRAIL, CACHE = "AWS::Budgets::Budget", "AWS::CloudTrail::Trail", "AWS::ECR::PullThroughCacheRule"

JOB, USER = {"AttributeName": "job", "AttributeType": "S"}, {"AttributeName": "user", "AttributeType": "S"}
KEYS = [{"AttributeName": "job", "KeyType": "HASH"}, {"AttributeName": "user", "KeyType": "RANGE"}]
KEYED = {"BillingMode": "PAY_PER_REQUEST", "AttributeDefinitions": [JOB, USER], "KeySchema": KEYS}
UNITS = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}
AURORA = {"Engine": "aurora-mysql", "MasterUsername": "slurm", "ManageMasterUserPassword": True}
COPY = {
    "Status": "Enabled",
    "Priority": 1,
    "Filter": {"Prefix": "models/"},
    "DeleteMarkerReplication": {"Status": "Disabled"},
    "Destination": {"Bucket": "arn:aws:s3:::copies"},
}
KEEPS = {"VersioningConfiguration": {"Status": "Enabled"}}
EXPIRES = {"Id": "old", "Status": "Enabled", "ExpirationInDays": 90}
S3 = {"BucketARN": "arn:aws:s3:::logs", "RoleARN": "arn:aws:iam::123456789012:role/archive"}
METRIC = {
    "Namespace": "Lab",
    "MetricName": "Errors",
    "Statistic": "Sum",
    "Period": 60,
    "EvaluationPeriods": 1,
    "Threshold": 1,
    "ComparisonOperator": "GreaterThanThreshold",
}
PROJECT: dict[str, Any] = {
    "Source": {"Type": "S3", "Location": "scripts/images.zip"},
    "Artifacts": {"Type": "NO_ARTIFACTS"},
    "Environment": {"Type": "LINUX_CONTAINER", "ComputeType": "BUILD_GENERAL1_LARGE", "Image": "aws/codebuild/standard:7.0"},
}
SPENT = {"BudgetType": "COST", "TimeUnit": "MONTHLY", "BudgetLimit": {"Amount": 9, "Unit": "USD"}}
NOTICE = {"NotificationType": "ACTUAL", "ComparisonOperator": "GREATER_THAN", "Threshold": 80}
LOGGED = {"S3BucketName": "logs", "IsLogging": True}


def copying(**changed: Any) -> dict[str, Any]:
    return {**KEEPS, "ReplicationConfiguration": {"Role": "arn:aws:iam::123456789012:role/copy", "Rules": [{**COPY, **changed}]}}


def expiring(*rules: dict[str, Any]) -> dict[str, Any]:
    return {"LifecycleConfiguration": {"Rules": list(rules)}}


def archiving(**changed: Any) -> dict[str, Any]:
    return {"ExtendedS3DestinationConfiguration": {**S3, **changed}}


def tiering(tier: str, days: int) -> dict[str, Any]:
    return {"IntelligentTieringConfigurations": [{"Id": "x", "Tierings": [{"AccessTier": tier, "Days": days}]}]}


def subscribed(kind: str, address: str) -> dict[str, Any]:
    notices = [{"Notification": NOTICE, "Subscribers": [{"SubscriptionType": kind, "Address": address}]}]
    return {"Budget": SPENT, "NotificationsWithSubscribers": notices}


@pytest.mark.parametrize(
    ("kind", "wrong", "right"),
    [
        (TABLE, {**KEYED, "AttributeDefinitions": [JOB]}, KEYED),
        (TABLE, {**KEYED, "AttributeDefinitions": [JOB, USER, {**USER, "AttributeName": "state"}]}, KEYED),
        (TABLE, {**KEYED, "AttributeDefinitions": [JOB]}, {**KEYED, "KeySchema": {"Ref": "Unknown"}}),
        (TABLE, {**KEYED, "ProvisionedThroughput": UNITS}, {**KEYED, "BillingMode": "PROVISIONED", "ProvisionedThroughput": UNITS}),
        (TABLE, {**KEYED, "BillingMode": "PROVISIONED"}, KEYED),
        (TABLE, {**KEYED, "KeySchema": KEYS[::-1]}, KEYED),
        (TABLE, {**KEYED, "TimeToLiveSpecification": {"Enabled": True}}, {**KEYED, "TimeToLiveSpecification": {"Enabled": False}}),
        (CLUSTER, {**AURORA, "ServerlessV2ScalingConfiguration": {"MinCapacity": 0.7, "MaxCapacity": 8}}, AURORA),
        (
            CLUSTER,
            {**AURORA, "ServerlessV2ScalingConfiguration": {"MinCapacity": 16, "MaxCapacity": 8}},
            {**AURORA, "ServerlessV2ScalingConfiguration": {"MinCapacity": 0.5, "MaxCapacity": 8}},
        ),
        (CLUSTER, {"Engine": "aurora-mysql"}, {"Engine": "aurora-mysql", "SnapshotIdentifier": "s"}),
        (CLUSTER, {**AURORA, "KmsKeyId": "alias/x", "StorageEncrypted": False}, {**AURORA, "StorageEncrypted": False}),
        (CLUSTER, {**AURORA, "StorageType": "gp3"}, {**AURORA, "StorageType": "aurora-iopt1"}),
        (BUCKET, copying(Destination={"Bucket": "copies"}), copying()),
        (BUCKET, copying(SourceSelectionCriteria={"SseKmsEncryptedObjects": {"Status": "Enabled"}}), copying()),
        (BUCKET, copying(Destination={**COPY["Destination"], "EncryptionConfiguration": {"ReplicaKmsKeyID": "x"}}), copying()),  # type: ignore[dict-item]
        (BUCKET, copying(Filter={"Prefix": "a", "TagFilter": {"Key": "a", "Value": "b"}}), copying()),
        (BUCKET, expiring({"Id": "old", "Status": "Enabled"}), expiring(EXPIRES)),
        (BUCKET, expiring(EXPIRES, EXPIRES), expiring(EXPIRES, {**EXPIRES, "Id": "other"})),
        (
            BUCKET,
            expiring({"Status": "Enabled", "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 7}, "TagFilters": [{}]}),
            expiring({**EXPIRES, "TagFilters": [{}]}),
        ),
        (BUCKET, tiering("ARCHIVE_ACCESS", 30), tiering("ARCHIVE_ACCESS", 90)),
        (BUCKET, tiering("DEEP_ARCHIVE_ACCESS", 90), tiering("DEEP_ARCHIVE_ACCESS", 180)),
        (
            BUCKET,
            {"AccessControl": "LogDeliveryWrite", "OwnershipControls": {"Rules": [{"ObjectOwnership": "BucketOwnerEnforced"}]}},
            {"AccessControl": "LogDeliveryWrite", "OwnershipControls": {"Rules": [{"ObjectOwnership": "ObjectWriter"}]}},
        ),
        (STREAM, {**archiving(), "S3DestinationConfiguration": S3}, archiving()),
        (
            STREAM,
            archiving(Prefix="jobs/!{timestamp:yyyy}/"),
            archiving(Prefix="jobs/!{timestamp:yyyy}/", ErrorOutputPrefix="failed/"),
        ),
        (STREAM, archiving(Prefix="!{time:yyyy}/", ErrorOutputPrefix="f/"), archiving(Prefix="jobs/")),
        (
            STREAM,
            {**archiving(), "DeliveryStreamType": "KinesisStreamAsSource"},
            {**archiving(), "DeliveryStreamType": "DirectPut"},
        ),
        (STREAM, archiving(CloudWatchLoggingOptions={"Enabled": True}), archiving(CloudWatchLoggingOptions={"Enabled": False})),
        (ALARM, {key: value for key, value in METRIC.items() if key != "Statistic"}, METRIC),
        (ALARM, {key: value for key, value in METRIC.items() if key != "Threshold"}, METRIC),
        (ALARM, {**METRIC, "ComparisonOperator": "LessThanLowerThreshold"}, METRIC),
        (BUDGET, {"Budget": {**SPENT, "TimeUnit": "WEEKLY"}}, {"Budget": SPENT}),
        (BUDGET, {"Budget": {"BudgetType": "COST", "TimeUnit": "MONTHLY"}}, {"Budget": SPENT}),
        (BUDGET, subscribed("SNS", "a@example.org"), subscribed("EMAIL", "a@example.org")),
        (BUDGET, subscribed("EMAIL", "admins"), subscribed("SNS", "arn:aws:sns:us-west-2:123456789012:alerts")),
        (TRAIL, {**LOGGED, "CloudWatchLogsLogGroupArn": "arn:aws:logs:us-west-2:123456789012:log-group:x:*"}, LOGGED),
        (
            TRAIL,
            {**LOGGED, "IsMultiRegionTrail": True, "IncludeGlobalServiceEvents": False},
            {**LOGGED, "IsMultiRegionTrail": True},
        ),
        (BUILD, {**PROJECT, "Source": {"Type": "S3"}}, PROJECT),
        (BUILD, {**PROJECT, "Environment": {**PROJECT["Environment"], "ComputeType": "BUILD_GENERAL1_HUGE"}}, PROJECT),
        (BUILD, {**PROJECT, "Artifacts": {"Type": "CODEPIPELINE"}}, PROJECT),
        (BUILD, {**PROJECT, "VpcConfig": {"VpcId": "vpc-01234567"}}, PROJECT),
        (CACHE, {"UpstreamRegistryUrl": "docker.io"}, {"UpstreamRegistryUrl": "quay.io"}),
        (CACHE, {"UpstreamRegistryUrl": "registry-1.docker.io"}, {"UpstreamRegistryUrl": "public.ecr.aws"}),
        (
            "AWS::EC2::FlowLog",
            {"LogDestinationType": "s3", "LogDestination": "arn:aws:s3:::logs/AWSLogs/"},
            {"LogDestinationType": "s3", "LogDestination": "arn:aws:s3:::logs/flows/"},
        ),
        ("AWS::EKS::Nodegroup", {"Version": "1.33", "AmiType": "AL2_x86_64"}, {"Version": "1.32", "AmiType": "AL2_x86_64"}),
        ("AWS::RDS::DBProxy", {"EngineFamily": "MARIADB"}, {"EngineFamily": "MYSQL"}),
        ("AWS::Kinesis::Stream", {"StreamModeDetails": {"StreamMode": "PROVISIONED"}}, {"ShardCount": 1}),
    ],
)
def test_a_demand_refuses_one_thing(kind: str, wrong: dict[str, Any], right: dict[str, Any]) -> None:
    limits = request_limits(kind)
    assert limits is not None
    assert [one.message for one in violations(limits, frozen(right))] == []
    assert len({one.message for one in violations(limits, frozen(wrong))}) == 1


def frozen(value: Any) -> Any:
    """A value as templates give it: lists are tuples, and a function is not known."""
    if isinstance(value, dict):
        return UNKNOWN if set(value) == {"Ref"} else {key: frozen(one) for key, one in value.items()}
    return tuple(frozen(one) for one in value) if isinstance(value, list) else value
