"""Data services: what goes together within and between databases, caches, file systems, catalogs, and what scales them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.catalogue.cases import REMOVED, Case
from tests.rules.catalogue.templates import Template
from tests.rules.catalogue.test_deliveries import KEPT, att

PASSWORD = "{{resolve:secretsmanager:books:SecretString:password}}"
TRACKED = {
    "TargetValue": 70,
    "PredefinedMetricSpecification": {"PredefinedMetricType": "DynamoDBWriteCapacityUtilization"},
}
SCALED = {"ServiceNamespace": "dynamodb", "ScalableDimension": "dynamodb:table:WriteCapacityUnits"}


def keys(first: str, second: str) -> list[dict[str, str]]:
    return [{"AttributeName": first, "KeyType": "HASH"}, {"AttributeName": second, "KeyType": "RANGE"}]


def index(name: str, first: str, second: str) -> dict[str, Any]:
    return {"IndexName": name, "KeySchema": keys(first, second), "Projection": {"ProjectionType": "KEYS_ONLY"}}


def units(count: int) -> dict[str, int]:
    return {"ReadCapacityUnits": count, "WriteCapacityUnits": count}


def bucket(**more: Any) -> dict[str, Any]:
    return {"Type": "AWS::S3::Bucket", **KEPT, "Properties": {"VersioningConfiguration": {"Status": "Enabled"}, **more}}


def session(*, encrypted: bool) -> dict[str, Any]:
    return {
        "schemaVersion": "1.0",
        "sessionType": "Standard_Stream",
        "inputs": {"cloudWatchLogGroupName": {"Ref": "Logs"}, "cloudWatchEncryptionEnabled": encrypted},
    }


ROTATES = "arn:aws:lambda:us-west-2:123456789012:function:rotate"
DATA: Template = {
    "AWSTemplateFormatVersion": "2010-09-09",
    "Resources": {
        "Books": {
            "Type": "AWS::RDS::DBInstance",
            "DeletionPolicy": "Snapshot",
            "UpdateReplacePolicy": "Snapshot",
            "Properties": {
                "Engine": "postgres",
                "DBInstanceClass": "db.m7g.large",
                "AllocatedStorage": "100",
                "StorageEncrypted": True,
                "MasterUsername": "books",
                "MasterUserPassword": PASSWORD,
            },
        },
        "Settings": {
            "Type": "AWS::RDS::DBParameterGroup",
            "Properties": {"Family": "postgres16", "Description": "books", "Parameters": {"work_mem": "65536"}},
        },
        "Proxy": {
            "Type": "AWS::RDS::DBProxy",
            "Properties": {
                "DBProxyName": "books",
                "EngineFamily": "POSTGRESQL",
                "RoleArn": "arn:aws:iam::123456789012:role/proxy",
                "VpcSubnetIds": ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"],
            },
        },
        "Behind": {
            "Type": "AWS::RDS::DBProxyTargetGroup",
            "Properties": {
                "DBProxyName": {"Ref": "Proxy"},
                "TargetGroupName": "default",
                "DBInstanceIdentifiers": [{"Ref": "Books"}],
            },
        },
        "Evictions": {
            "Type": "AWS::ElastiCache::ParameterGroup",
            "Properties": {
                "CacheParameterGroupFamily": "valkey8",
                "Description": "cache",
                "Properties": {"maxmemory-policy": "allkeys-lru"},
            },
        },
        "Cache": {
            "Type": "AWS::ElastiCache::ReplicationGroup",
            "DeletionPolicy": "Snapshot",
            "UpdateReplacePolicy": "Snapshot",
            "Properties": {
                "ReplicationGroupDescription": "features",
                "Engine": "valkey",
                "EngineVersion": "8.0",
                "CacheNodeType": "cache.r7g.large",
                "NumNodeGroups": 1,
                "ReplicasPerNodeGroup": 1,
                "AutomaticFailoverEnabled": True,
                "CacheParameterGroupName": {"Ref": "Evictions"},
                "CacheSubnetGroupName": "cache",
                "TransitEncryptionEnabled": True,
            },
        },
        "Runs": {
            "Type": "AWS::DynamoDB::Table",
            **KEPT,
            "Properties": {
                "TableName": "runs",
                "ProvisionedThroughput": units(5),
                "AttributeDefinitions": [{"AttributeName": one, "AttributeType": "S"} for one in ("run", "step", "team")],
                "KeySchema": keys("run", "step"),
                "GlobalSecondaryIndexes": [{**index("by-team", "team", "run"), "ProvisionedThroughput": units(5)}],
                "LocalSecondaryIndexes": [index("by-run", "run", "team")],
                "StreamSpecification": {"StreamViewType": "NEW_IMAGE"},
            },
        },
        "Units": {
            "Type": "AWS::ApplicationAutoScaling::ScalableTarget",
            "Properties": {**SCALED, "ResourceId": {"Fn::Sub": "table/${Runs}"}, "MinCapacity": 5, "MaxCapacity": 50},
        },
        "Scaling": {
            "Type": "AWS::ApplicationAutoScaling::ScalingPolicy",
            "DependsOn": "Units",
            "Properties": {
                **SCALED,
                "PolicyName": "writes",
                "PolicyType": "TargetTrackingScaling",
                "ResourceId": "table/runs",
                "TargetTrackingScalingPolicyConfiguration": TRACKED,
            },
        },
        "Files": {
            "Type": "AWS::EFS::FileSystem",
            **KEPT,
            "Properties": {
                "Encrypted": True,
                "ThroughputMode": "elastic",
                "LifecyclePolicies": [{"TransitionToIA": "AFTER_30_DAYS"}, {"TransitionToArchive": "AFTER_90_DAYS"}],
            },
        },
        "Point": {"Type": "AWS::EFS::AccessPoint", "Properties": {"FileSystemId": {"Ref": "Files"}}},
        "Mount": {
            "Type": "AWS::EFS::MountTarget",
            "Properties": {
                "FileSystemId": {"Ref": "Files"},
                "SubnetId": "subnet-0123456789abcdef0",
                "SecurityGroups": ["sg-0123456789abcdef0"],
            },
        },
        "Copies": bucket(),
        "Data": bucket(
            ReplicationConfiguration={
                "Role": "arn:aws:iam::123456789012:role/copy",
                "Rules": [{"Id": "copies", "Status": "Enabled", "Prefix": "", "Destination": {"Bucket": att("Copies")}}],
            }
        ),
        "Readers": {
            "Type": "AWS::S3::AccessPoint",
            "Properties": {
                "Bucket": {"Ref": "Data"},
                "Name": "readers",
                "Policy": {
                    "Version": "2012-10-17",
                    "Statement": [
                        {
                            "Effect": "Allow",
                            "Principal": {"AWS": "arn:aws:iam::123456789012:role/reader"},
                            "Action": "s3:GetObject",
                            "Resource": {"Fn::Sub": "arn:aws:s3:${AWS::Region}:${AWS::AccountId}:accesspoint/readers/object/*"},
                        }
                    ],
                },
            },
        },
        "From": {
            "Type": "AWS::DataSync::LocationS3",
            "Properties": {"S3BucketArn": att("Data"), "S3Config": {"BucketAccessRoleArn": "arn:aws:iam::123456789012:role/copy"}},
        },
        "To": {
            "Type": "AWS::DataSync::LocationS3",
            "Properties": {
                "S3BucketArn": att("Copies"),
                "S3Config": {"BucketAccessRoleArn": "arn:aws:iam::123456789012:role/copy"},
            },
        },
        "Copying": {
            "Type": "AWS::DataSync::Task",
            "Properties": {"SourceLocationArn": {"Ref": "From"}, "DestinationLocationArn": {"Ref": "To"}},
        },
        "Catalog": {
            "Type": "AWS::Glue::Database",
            "Properties": {"CatalogId": "123456789012", "DatabaseInput": {"Name": "training_data"}},
        },
        "Crawler": {
            "Type": "AWS::Glue::Crawler",
            "DependsOn": "Catalog",
            "Properties": {
                "Role": "arn:aws:iam::123456789012:role/crawler",
                "DatabaseName": "training_data",
                "Targets": {"S3Targets": [{"Path": {"Fn::Sub": "s3://${Data}/samples/"}}]},
            },
        },
        "Role": {
            "Type": "AWS::IAM::Role",
            "Properties": {
                "AssumeRolePolicyDocument": {
                    "Version": "2012-10-17",
                    "Statement": [{"Effect": "Allow", "Principal": {"Service": "glue.amazonaws.com"}, "Action": "sts:AssumeRole"}],
                }
            },
        },
        "Grant": {
            "Type": "AWS::LakeFormation::PrincipalPermissions",
            "Properties": {
                "Principal": {"DataLakePrincipalIdentifier": att("Role")},
                "Resource": {"Database": {"CatalogId": "123456789012", "Name": {"Ref": "Catalog"}}},
                "Permissions": ["DESCRIBE"],
                "PermissionsWithGrantOption": [],
            },
        },
        "Disks": {
            "Type": "AWS::FSx::FileSystem",
            **KEPT,
            "Properties": {
                "FileSystemType": "ONTAP",
                "StorageCapacity": 1200,
                "SubnetIds": ["subnet-0123456789abcdef0"],
                "OntapConfiguration": {"DeploymentType": "SINGLE_AZ_1", "ThroughputCapacity": 128},
            },
        },
        "Password": {"Type": "AWS::SecretsManager::Secret", **KEPT, "Properties": {"Name": "books/password"}},
        "Rotation": {
            "Type": "AWS::SecretsManager::RotationSchedule",
            "Properties": {
                "SecretId": {"Ref": "Password"},
                "RotationLambdaARN": ROTATES,
                "RotationRules": {"AutomaticallyAfterDays": 30},
            },
        },
        "Logs": {"Type": "AWS::Logs::LogGroup", "Properties": {"RetentionInDays": 30}},
        "Sessions": {"Type": "AWS::SSM::Document", "Properties": {"DocumentType": "Session", "Content": session(encrypted=False)}},
    },
}
EVENTS: dict[str, Any] = {
    "Events": {
        "Type": "AWS::Lambda::EventSourceMapping",
        "Properties": {"EventSourceArn": att("Runs", "StreamArn"), "FunctionName": "count"},
    }
}
POLICY = "Readers/Policy/Statement/0/Resource"
TARGET = "Units/ResourceId"


def policy_of(name: str) -> dict[str, Any]:
    return {"Fn::Sub": f"arn:aws:s3:${{AWS::Region}}:${{AWS::AccountId}}:accesspoint/{name}/object/*"}


def options(engine: str) -> dict[str, Any]:
    version = {"mysql": "8.4", "postgres": "16"}[engine]
    group = {"EngineName": engine, "MajorEngineVersion": version, "OptionGroupDescription": "books"}
    return {
        "Books/OptionGroupName": {"Ref": "Options"},
        "Options": {"Type": "AWS::RDS::OptionGroup", "Properties": group},
    }


def virtual(system: str) -> dict[str, Any]:
    scratch = {
        "FileSystemType": "LUSTRE",
        "StorageCapacity": 1200,
        "SubnetIds": ["subnet-0123456789abcdef0"],
        "LustreConfiguration": {"DeploymentType": "SCRATCH_2"},
    }
    machine = {"FileSystemId": {"Ref": system}, "Name": "svm"}
    return {
        "Scratch": {"Type": "AWS::FSx::FileSystem", **KEPT, "Properties": scratch},
        "Virtual": {"Type": "AWS::FSx::StorageVirtualMachine", "Properties": machine},
    }


def to_queue(*, fifo: bool) -> dict[str, Any]:
    queue = {"FifoQueue": True, "QueueName": "new.fifo"} if fifo else {}
    allowed = {
        "Effect": "Allow",
        "Principal": {"Service": "s3.amazonaws.com"},
        "Action": "sqs:SendMessage",
        "Resource": att("Queue"),
    }
    policy = {"Queues": [{"Ref": "Queue"}], "PolicyDocument": {"Version": "2012-10-17", "Statement": [allowed]}}
    return {
        "Queue": {"Type": "AWS::SQS::Queue", "Properties": queue},
        "QueuePolicy": {"Type": "AWS::SQS::QueuePolicy", "Properties": policy},
        "Copies/NotificationConfiguration": {"QueueConfigurations": [{"Event": "s3:ObjectCreated:*", "Queue": att("Queue")}]},
        "Copies/.DependsOn": "QueuePolicy",
    }


SENDING = {"EventBridgeConfiguration": {"EventBridgeEnabled": True}}


RECEIVER = {"Id": "a", "Arn": "arn:aws:sns:us-west-2:123456789012:a"}


def arrival(kind: str = "Object Created", name: object = None) -> dict[str, Any]:
    pattern = {
        "source": ["aws.s3"],
        "detail-type": [kind],
        "detail": {"bucket": {"name": [{"Ref": "Data"} if name is None else name]}},
    }
    return {"Arrived": {"Type": "AWS::Events::Rule", "Properties": {"EventPattern": pattern, "Targets": [RECEIVER]}}}


def alarm(namespace: str, metric: str, threshold: float, **dimensions: object) -> dict[str, Any]:
    return {
        "Type": "AWS::CloudWatch::Alarm",
        "Properties": {
            "Namespace": namespace,
            "MetricName": metric,
            "Dimensions": [{"Name": key, "Value": value} for key, value in dimensions.items()],
            "Statistic": "Maximum",
            "Period": 300,
            "EvaluationPeriods": 3,
            "Threshold": threshold,
            "ComparisonOperator": "GreaterThanThreshold",
            "AlarmActions": ["arn:aws:sns:us-west-2:123456789012:alarms"],
        },
    }


def lag(rule: str) -> dict[str, Any]:
    named = {"SourceBucket": {"Ref": "Data"}, "DestinationBucket": {"Ref": "Copies"}, "RuleId": rule}
    return alarm("AWS/S3", "ReplicationLatency", 900, **named)


def full(threshold: float) -> dict[str, Any]:
    return alarm("AWS/EFS", "StorageBytes", threshold, FileSystemId={"Ref": "Files"}, StorageClass="Total")


def selected(key: str, value: str = "daily") -> dict[str, Any]:
    chosen = {
        "SelectionName": "tagged",
        "IamRoleArn": "arn:aws:iam::123456789012:role/backup",
        "ListOfTags": [{"ConditionType": "STRINGEQUALS", "ConditionKey": key, "ConditionValue": value}],
    }
    return {
        "Files/FileSystemTags": [{"Key": "backup", "Value": "daily"}],
        "Chosen": {
            "Type": "AWS::Backup::BackupSelection",
            "Properties": {"BackupPlanId": "plan", "BackupSelection": chosen},
        },
    }


def lustre_logs(name: str) -> dict[str, Any]:
    group = "arn:aws:logs:${AWS::Region}:${AWS::AccountId}:log-group:${Lines}"
    return {
        "Scratch": {
            "Type": "AWS::FSx::FileSystem",
            **KEPT,
            "Properties": {
                "FileSystemType": "LUSTRE",
                "FileSystemTypeVersion": "2.15",
                "StorageCapacity": 1200,
                "SubnetIds": ["subnet-0123456789abcdef0"],
                "LustreConfiguration": {
                    "DeploymentType": "PERSISTENT_2",
                    "PerUnitStorageThroughput": 125,
                    "LogConfiguration": {"Level": "WARN_ERROR", "Destination": {"Fn::Sub": group}},
                },
            },
        },
        "Lines": {"Type": "AWS::Logs::LogGroup", "Properties": {"LogGroupName": name, "RetentionInDays": 30}},
    }


def studio(files: object) -> dict[str, Any]:
    mounted = {"EFSFileSystemConfig": {"FileSystemId": files, "FileSystemPath": "/"}}
    return {
        "Type": "AWS::SageMaker::Domain",
        "Properties": {
            "DomainName": "studio",
            "AuthMode": "IAM",
            "VpcId": "vpc-0123456789abcdef0",
            "SubnetIds": ["subnet-0123456789abcdef0"],
            "DefaultUserSettings": {
                "ExecutionRole": "arn:aws:iam::123456789012:role/studio",
                "CustomFileSystemConfigs": [mounted],
            },
        },
    }


def replica(*, several: bool) -> dict[str, Any]:
    owner = {"Effect": "Allow", "Principal": {"AWS": {"Fn::Sub": "arn:aws:iam::${AWS::AccountId}:root"}}, "Action": "kms:*"}
    policy = {"Version": "2012-10-17", "Statement": [{**owner, "Resource": "*"}]}
    return {
        "Key": {"Type": "AWS::KMS::Key", **KEPT, "Properties": {"KeyPolicy": policy, "MultiRegion": several}},
        "Far": {"Type": "AWS::KMS::ReplicaKey", "Properties": {"KeyPolicy": policy, "PrimaryKeyArn": att("Key")}},
    }


GROUPS = "arn:${AWS::Partition}:ec2:${AWS::Region}:${AWS::AccountId}:security-group"


def into_lustre(group: object) -> dict[str, Any]:
    place = {"FsxFilesystemArn": "arn:aws:fsx:us-west-2:123456789012:file-system/fs-0123456789abcdef0"}
    return {
        "Into": {"Type": "AWS::DataSync::LocationFSxLustre", "Properties": {**place, "SecurityGroupArns": [group]}},
        "Group": {
            "Type": "AWS::EC2::SecurityGroup",
            "Properties": {"GroupDescription": "copies", "VpcId": "vpc-0123456789abcdef0"},
        },
    }


def in_zones(*zones: str) -> dict[str, Any]:
    subnets = {
        f"Subnet{index}": {
            "Type": "AWS::EC2::Subnet",
            "Properties": {"VpcId": "vpc-0123456789abcdef0", "CidrBlock": f"10.0.{index}.0/24", "AvailabilityZone": zone},
        }
        for index, zone in enumerate(zones)
    }
    group = {"Description": "cache", "SubnetIds": [{"Ref": name} for name in subnets]}
    return {
        **subnets,
        "Around": {"Type": "AWS::ElastiCache::SubnetGroup", "Properties": group},
        "Cache/CacheSubnetGroupName": {"Ref": "Around"},
        "Cache/MultiAZEnabled": True,
    }


def logged(length: int) -> dict[str, Any]:
    """A bucket with a name of so many characters, an account and two hyphens."""
    return {
        "Type": "AWS::S3::Bucket",
        **KEPT,
        "Properties": {"BucketName": {"Fn::Sub": f"{'a' * (length + 10)}-${{AWS::AccountId}}-x"}},
    }


def place(zone: str, block: str = "10.0.0.0/24") -> dict[str, Any]:
    return {"Type": "AWS::EC2::Subnet", "Properties": {"VpcId": "vpc-0a1b2c3d", "CidrBlock": block, "AvailabilityZone": zone}}


def in_zone(zone: str) -> dict[str, Any]:
    """A file system in one zone, with its mount target in us-west-2b."""
    return {"Place": place("us-west-2b"), "Mount/SubnetId": {"Ref": "Place"}, "Files/AvailabilityZoneName": zone}


def second_target() -> dict[str, Any]:
    """A mount target in us-west-2c beside the other one."""
    target = {"FileSystemId": {"Ref": "Files"}, "SubnetId": {"Ref": "Far"}, "SecurityGroups": ["sg-0123456789abcdef0"]}
    return {"Far": place("us-west-2c", "10.0.2.0/24"), "Second": {"Type": "AWS::EFS::MountTarget", "Properties": target}}


def copied_in(zone: str) -> dict[str, Any]:
    """A copy of files from a zone; their mount target is in us-west-2b."""
    arns = "arn:aws:ec2:us-west-2:123456789012"
    config = {
        "SubnetArn": {"Fn::Sub": f"{arns}:subnet/${{Near}}"},
        "SecurityGroupArns": [f"{arns}:security-group/sg-0123456789abcdef0"],
    }
    return {
        "Place": place("us-west-2b"),
        "Mount/SubnetId": {"Ref": "Place"},
        "Near": place(zone, "10.0.1.0/24"),
        "Location": {
            "Type": "AWS::DataSync::LocationEFS",
            "Properties": {"EfsFilesystemArn": att("Files"), "Ec2Config": config},
            "DependsOn": "Mount",
        },
    }


CASES = (
    Case(
        "HP-TXT-012",
        DATA,
        {"Proxy/EngineFamily": "MYSQL"},
        {"Proxy/EngineFamily": "MYSQL", "Books/Engine": "mysql", "Settings/Family": "postgres15"},
    ),
    Case(
        "HP-TXT-012",
        DATA,
        {"Settings/Parameters": {"innodb_io_capacity": "4000"}},
        {"Settings/Parameters": {"max_connections": "100"}},
    ),
    Case("HP-TXT-012", DATA, {"Settings/Parameters": {"work_men": "65536"}}, {"Settings/Parameters": {"rds.extensions": "a"}}),
    Case(
        "HP-TXT-012",
        DATA,
        {"Settings/Family": "mysql8.4"},
        {"Settings/Family": "mysql8.4", "Settings/Parameters": {"max_connections": "1"}},
    ),
    Case("HP-TXT-012", DATA, {"Cache/EngineVersion": "7.2"}, {"Cache/EngineVersion": "8.1"}),
    Case("HP-TXT-012", DATA, {"Cache/NumNodeGroups": 2}, {"Cache/NumNodeGroups": 2, "Evictions/Properties/cluster-enabled": "yes"}),
    Case(
        "HP-TXT-012",
        DATA,
        {"Evictions/Properties/maxmemory-policy": "lru"},
        {"Evictions/Properties/maxmemory-policy": "noeviction"},
    ),
    Case(
        "HP-TXT-012", DATA, {"Evictions/Properties": {"maxmemory_policy": "noeviction"}}, {"Evictions/Properties": {"timeout": "0"}}
    ),
    Case(
        "HP-TXT-012",
        DATA,
        {"Runs/LocalSecondaryIndexes/0/KeySchema": keys("team", "run")},
        {"Runs/LocalSecondaryIndexes/0/KeySchema": keys("run", "team")},
    ),
    Case(
        "HP-TXT-012",
        DATA,
        {"Runs/LocalSecondaryIndexes/0/IndexName": "by-team"},
        {"Runs/LocalSecondaryIndexes/0/IndexName": "by_team"},
    ),
    Case("HP-TXT-010", DATA, {TARGET: {"Fn::Sub": "table/${Runs}/index/by-team"}}, {TARGET: "table/runs"}),
    Case("HP-TXT-010", DATA, {TARGET: {"Fn::Sub": "table/${Runs.Arn}"}}, {TARGET: {"Fn::Sub": "table/${Runs}"}}),
    Case("HP-DEP-002", DATA, {"Scaling/.DependsOn": []}, {"Scaling/.DependsOn": [], "Scaling/ResourceId": "table/jobs"}),
    Case(
        "HP-TXT-012",
        DATA,
        {"Files/LifecyclePolicies/1/TransitionToArchive": "AFTER_30_DAYS"},
        {"Files/LifecyclePolicies/0/TransitionToIA": "AFTER_60_DAYS"},
    ),
    Case("HP-TXT-012", DATA, {POLICY: policy_of("writers")}, {POLICY: policy_of("readers")}),
    Case("HP-TXT-012", DATA, {"Copying/DestinationLocationArn": {"Ref": "From"}}, {}),
    Case("HP-TXT-011", DATA, {"Crawler/DatabaseName": "trainingdata"}, {"Crawler/DatabaseName": "features"}),
    Case(
        "HP-SCH-007",
        DATA,
        {"Crawler/Targets/S3Targets/0/Path": {"Fn::Sub": "s3:///${Data}/samples/"}},
        {"Crawler/Targets/S3Targets/0/Path": "lake/samples"},
    ),
    Case(
        "HP-TXT-011",
        DATA,
        {"Sessions/Content": session(encrypted=True)},
        {
            "Sessions/Content": session(encrypted=True),
            "Logs/KmsKeyId": "arn:aws:kms:us-west-2:123456789012:key/0f1d2c3b-4a59-4687-8796-a5b4c3d2e1f0",
        },
    ),
    Case("HP-TXT-012", DATA, {"Cache/EngineVersion": "6.2"}, {"Cache/EngineVersion": "8.2"}),
    Case("HP-TXT-012", DATA, {"Grant/PermissionsWithGrantOption": ["ALTER"]}, {"Grant/PermissionsWithGrantOption": ["DESCRIBE"]}),
    Case("HP-SCH-007", DATA, {"Grant/Permissions": ["SELECT"]}, {"Grant/Permissions": ["CREATE_TABLE"]}),
    Case("HP-REF-012", DATA, {"Grant/Principal/DataLakePrincipalIdentifier": {"Ref": "Role"}}, {}),
    Case("HP-TXT-012", DATA, EVENTS, {**EVENTS, "Events/StartingPosition": "LATEST"}),
    Case("HP-TXT-012", DATA, to_queue(fifo=True), to_queue(fifo=False)),
    Case("HP-TXT-012", DATA, virtual("Scratch"), virtual("Disks")),
    Case("HP-TXT-012", DATA, options("mysql"), options("postgres")),
    Case("HP-TXT-011", DATA, {"Rotation/SecretId": "books/pasword"}, {"Rotation/SecretId": "books/admin"}),
    Case("HP-TXT-012", DATA, in_zones("us-west-2a", "us-west-2a"), in_zones("us-west-2a", "us-west-2b")),
    Case("HP-SCH-004", DATA, {"Logged": logged(40)}, {"Logged": logged(30)}),
    Case("HP-TXT-011", DATA, {"Point/RootDirectory": {"Path": "/users"}}, {"Point/RootDirectory": {"Path": "/"}}),
    Case("HP-TXT-011", DATA, arrival(), {**arrival(), "Data/NotificationConfiguration": SENDING}),
    Case(
        "HP-TXT-011",
        DATA,
        {**arrival("Object created"), "Data/NotificationConfiguration": SENDING},
        {**arrival("AWS API Call via CloudTrail")},
    ),
    Case("HP-TXT-011", DATA, {**arrival(name=att("Data")), "Data/NotificationConfiguration": SENDING}, {**arrival(name="else")}),
    Case("HP-TXT-011", DATA, {"Lag": lag("copy")}, {"Lag": lag("copies")}),
    Case("HP-TXT-011", DATA, {"Full": full(960)}, {"Full": full(960 * 1024**3)}),
    Case("HP-TXT-011", DATA, selected("Backup"), selected("backup")),
    Case("HP-TXT-011", DATA, selected("backup", "nightly"), selected("team", "nightly")),
    Case("HP-TXT-012", DATA, {**in_zone("us-west-2b"), **second_target()}, second_target()),
    Case("HP-TXT-012", DATA, lustre_logs("/fsx/runs"), lustre_logs("/aws/fsx/runs")),
    Case("HP-REF-012", DATA, {"Studio": studio(att("Files"))}, {"Studio": studio({"Ref": "Files"})}),
    Case(
        "HP-SCH-004",
        DATA,
        {"From/S3BucketArn": {"Fn::Sub": "s3://${Data}"}},
        {"From/S3BucketArn": {"Fn::Sub": "arn:aws:s3:::${Data}"}},
    ),
    Case("HP-TXT-012", DATA, replica(several=False), replica(several=True)),
    Case("HP-TXT-012", DATA, {"Rotation/HostedRotationLambda": {"RotationType": "MySQLSingleUser"}}, {}),
    Case("HP-TXT-001", DATA, {"Cache/SnapshotWindow": "3-4"}, {"Cache/SnapshotWindow": "03:00-04:00"}),
    Case("HP-SCH-005", DATA, into_lustre(att("Group", "GroupId")), into_lustre({"Fn::Sub": f"{GROUPS}/${{Group.GroupId}}"})),
    Case("HP-TXT-012", DATA, in_zone("us-west-2a"), in_zone("us-west-2b")),
    Case("HP-TXT-012", DATA, copied_in("us-west-2a"), copied_in("us-west-2b")),
    Case("HP-REF-008", DATA, {"Proxy/RoleArn": PASSWORD}, {"Proxy/RoleArn": "{{resolve:ssm:/proxy/role}}"}),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.rule}-{'-'.join(case.wrong)}")
def test_a_mistake_gives_one_finding(case: Case) -> None:
    case.check()


def test_a_table_that_is_paid_by_request_is_not_scaled() -> None:
    paid = {
        "Runs/BillingMode": "PAY_PER_REQUEST",
        "Runs/ProvisionedThroughput": REMOVED,
        "Runs/GlobalSecondaryIndexes/0/ProvisionedThroughput": REMOVED,
    }
    Case("HP-TXT-010", DATA, paid, {**paid, "Units": REMOVED, "Scaling": REMOVED}).check()
