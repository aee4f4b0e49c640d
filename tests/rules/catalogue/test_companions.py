"""Services beside a cluster: what goes together, what references give, and what the requests of the services demand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.rules.catalogue.cases import REMOVED, Case, edited
from tests.rules.catalogue.templates import Template, findings, rules_of
from tests.rules.catalogue.test_deliveries import BASE, KEPT, att

MOVES = [{"StorageClass": "STANDARD_IA", "TransitionInDays": 30}, {"StorageClass": "GLACIER", "TransitionInDays": 90}]
RULES = "Data/LifecycleConfiguration/Rules/0"
NOTIFY = "Uploads/NotificationConfiguration/QueueConfigurations"
SUFFIX = {"S3Key": {"Rules": [{"Name": "suffix", "Value": ".done"}]}}
OTHER_SUFFIX = {"S3Key": {"Rules": [{"Name": "suffix", "Value": ".log"}]}}
SECRET: dict[str, Any] = {
    "GenerateStringKey": "password",
    "SecretStringTemplate": '{"username": "slurm"}',
    "ExcludePunctuation": True,
}
STORED: Template = {
    "AWSTemplateFormatVersion": "2010-09-09",
    "Resources": {
        "Data": {
            "Type": "AWS::S3::Bucket",
            **KEPT,
            "Properties": {
                "LifecycleConfiguration": {
                    "Rules": [{"Id": "old", "Status": "Enabled", "Transitions": MOVES, "ExpirationInDays": 365}]
                }
            },
        },
        "Secret": {"Type": "AWS::SecretsManager::Secret", **KEPT, "Properties": {"GenerateSecretString": SECRET}},
        "Parameters": {"Type": "AWS::RDS::DBParameterGroup", "Properties": {"Family": "mysql8.4", "Description": "accounting"}},
        "Attached": {
            "Type": "AWS::SecretsManager::SecretTargetAttachment",
            "Properties": {"SecretId": {"Ref": "Secret"}, "TargetId": {"Ref": "Database"}, "TargetType": "AWS::RDS::DBInstance"},
        },
        "Database": {
            "Type": "AWS::RDS::DBInstance",
            "DeletionPolicy": "Snapshot",
            "UpdateReplacePolicy": "Snapshot",
            "Properties": {
                "Engine": "mysql",
                "EngineVersion": "8.4.6",
                "DBInstanceClass": "db.m7g.large",
                "AllocatedStorage": "100",
                "StorageType": "gp3",
                "StorageEncrypted": True,
                "DBParameterGroupName": {"Ref": "Parameters"},
                "MasterUsername": "slurm",
                "MasterUserPassword": {"Fn::Sub": "{{resolve:secretsmanager:${Secret}:SecretString:password}}"},
            },
        },
        "Group": {"Type": "AWS::Logs::LogGroup", "Properties": {"RetentionInDays": 30}},
        "Count": {
            "Type": "AWS::Logs::MetricFilter",
            "Properties": {
                "LogGroupName": {"Ref": "Group"},
                "FilterPattern": "ERROR",
                "MetricTransformations": [{"MetricName": "errors", "MetricNamespace": "Own", "MetricValue": "1"}],
            },
        },
        "Kept": {
            "Type": "AWS::Backup::BackupSelection",
            "Properties": {
                "BackupPlanId": {"Ref": "Plan"},
                "BackupSelection": {
                    "SelectionName": "homes",
                    "IamRoleArn": "arn:aws:iam::123456789012:role/backup",
                    "Resources": ["arn:aws:elasticfilesystem:*:*:file-system/*"],
                },
            },
        },
        "Vault": {"Type": "AWS::Backup::BackupVault", **KEPT, "Properties": {"BackupVaultName": "homes"}},
        "Plan": {
            "Type": "AWS::Backup::BackupPlan",
            "Properties": {
                "BackupPlan": {
                    "BackupPlanName": "homes",
                    "BackupPlanRule": [{"RuleName": "weekly", "TargetBackupVault": {"Ref": "Vault"}}],
                }
            },
        },
        "KeptDatabases": {
            "Type": "AWS::Backup::BackupSelection",
            "Properties": {
                "BackupPlanId": {"Ref": "Plan"},
                "BackupSelection": {
                    "SelectionName": "databases",
                    "IamRoleArn": "arn:aws:iam::123456789012:role/backup",
                    "Resources": ["arn:aws:rds:us-west-2:123456789012:db:accounts"],
                },
            },
        },
    },
}
COPIED = edited(
    STORED,
    {
        "Data/VersioningConfiguration": {"Status": "Enabled"},
        "Data/ReplicationConfiguration": {
            "Role": "arn:aws:iam::123456789012:role/copy",
            "Rules": [{"Status": "Enabled", "Prefix": "", "Destination": {"Bucket": att("Copies")}}],
        },
        "Copies": {"Type": "AWS::S3::Bucket", **KEPT, "Properties": {"VersioningConfiguration": {"Status": "Enabled"}}},
    },
)
AURORA = edited(
    STORED,
    {
        "Family": {
            "Type": "AWS::RDS::DBClusterParameterGroup",
            "Properties": {"Family": "aurora-mysql8.0", "Description": "accounting", "Parameters": {}},
        },
        "Writers": {
            "Type": "AWS::RDS::DBCluster",
            "DeletionPolicy": "Snapshot",
            "UpdateReplacePolicy": "Snapshot",
            "Properties": {
                "Engine": "aurora-mysql",
                "MasterUsername": "slurm",
                "ManageMasterUserPassword": True,
                "StorageEncrypted": True,
                "DBClusterParameterGroupName": {"Ref": "Family"},
                "ServerlessV2ScalingConfiguration": {"MinCapacity": 1, "MaxCapacity": 8},
            },
        },
        "Writer": {
            "Type": "AWS::RDS::DBInstance",
            "Properties": {
                "Engine": "aurora-mysql",
                "DBInstanceClass": "db.serverless",
                "DBClusterIdentifier": {"Ref": "Writers"},
            },
        },
    },
)
OWN_METRIC = {
    "Type": "AWS::CloudWatch::Alarm",
    "Properties": {
        "Namespace": "Own",
        "MetricName": "errors",
        "Statistic": "Sum",
        "Period": 60,
        "EvaluationPeriods": 1,
        "Threshold": 1,
        "ComparisonOperator": "GreaterThanThreshold",
    },
}
WATCHED = edited(STORED, {"Watch": OWN_METRIC})
TARGET = "Plan/BackupPlan/BackupPlanRule/0"
NO_WRITER = {"Writer/DBClusterIdentifier": {"Ref": "Others"}, "Others": AURORA["Resources"]["Writers"]}
MANAGED = {"Database/MasterUserPassword": REMOVED, "Database/ManageMasterUserPassword": True}
ZFS = {
    "DeploymentType": "MULTI_AZ_1",
    "ThroughputCapacity": 320,
    "PreferredSubnetId": "subnet-0123456789abcdefa",
    "EndpointIpAddressRange": "198.19.255.0/28",
}
HOMES: Template = {
    "AWSTemplateFormatVersion": "2010-09-09",
    "Resources": {
        "Homes": {
            "Type": "AWS::FSx::FileSystem",
            **KEPT,
            "Properties": {
                "FileSystemType": "OPENZFS",
                "StorageCapacity": 512,
                "SubnetIds": ["subnet-0123456789abcdefa", "subnet-0123456789abcdefb"],
                "OpenZFSConfiguration": ZFS,
            },
        },
        "Chosen": {
            "Type": "AWS::Backup::BackupSelection",
            "Properties": {
                "BackupPlanId": "plan",
                "BackupSelection": {
                    "SelectionName": "homes",
                    "IamRoleArn": "arn:aws:iam::123456789012:role/backup",
                    "Resources": [{"Fn::GetAtt": ["Homes", "ResourceARN"]}],
                },
            },
        },
        "Locks": {
            "Type": "AWS::DynamoDB::Table",
            **KEPT,
            "Properties": {
                "BillingMode": "PAY_PER_REQUEST",
                "AttributeDefinitions": [{"AttributeName": "job", "AttributeType": "S"}],
                "KeySchema": [{"AttributeName": "job", "KeyType": "HASH"}],
                "TimeToLiveSpecification": {"AttributeName": "ends", "Enabled": True},
            },
        },
        "Images": {"Type": "AWS::ECR::Repository", **KEPT, "Properties": {}},
    },
}
LOCKED = edited(
    STORED,
    {"Vault/LockConfiguration": {"MinRetentionDays": 7, "MaxRetentionDays": 90}, f"{TARGET}/Lifecycle": {"DeleteAfterDays": 30}},
)
CHOSEN = "Chosen/BackupSelection/Resources/0"
IMPORTS = {"ImportPath": "s3://data/in", "ExportPath": "s3://data/out", "DeploymentType": "SCRATCH_2"}
LINKED: Template = {
    "AWSTemplateFormatVersion": "2010-09-09",
    "Resources": {
        "Scratch": {
            "Type": "AWS::FSx::FileSystem",
            **KEPT,
            "Properties": {
                "FileSystemType": "LUSTRE",
                "StorageCapacity": 1200,
                "SubnetIds": ["subnet-0123456789abcdefa"],
                "LustreConfiguration": IMPORTS,
            },
        },
    },
}


GUARDED: Template = {
    "AWSTemplateFormatVersion": "2010-09-09",
    "Resources": {
        "Known": {"Type": "AWS::Route53Resolver::FirewallDomainList", "Properties": {"Domains": ["example.com"]}},
        "Names": {
            "Type": "AWS::Route53Resolver::FirewallRuleGroup",
            "Properties": {
                "FirewallRules": [
                    {"Priority": 10, "Action": "ALLOW", "FirewallDomainListId": {"Ref": "Known"}},
                    {"Priority": 20, "Action": "BLOCK", "BlockResponse": "NXDOMAIN", "FirewallDomainListId": {"Ref": "Known"}},
                ]
            },
        },
        "NamesOfVpc": {
            "Type": "AWS::Route53Resolver::FirewallRuleGroupAssociation",
            "Properties": {"FirewallRuleGroupId": {"Ref": "Names"}, "VpcId": "vpc-0123456789abcdefa", "Priority": 101},
        },
        "Build": {
            "Type": "AWS::CodeBuild::Project",
            "Properties": {
                "ServiceRole": "arn:aws:iam::123456789012:role/build",
                "Artifacts": {"Type": "NO_ARTIFACTS"},
                "Source": {
                    "Type": "NO_SOURCE",
                    "BuildSpec": "version: 0.2\nphases:\n  build:\n    commands:\n      - docker build -t trainer .\n",
                },
                "Environment": {
                    "Type": "LINUX_CONTAINER",
                    "ComputeType": "BUILD_GENERAL1_SMALL",
                    "Image": "aws/codebuild/amazonlinux-x86_64-standard:5.0",
                    "PrivilegedMode": True,
                },
            },
        },
        "Writes": {
            "Type": "AWS::ApplicationAutoScaling::ScalableTarget",
            "Properties": {
                "ServiceNamespace": "dynamodb",
                "ResourceId": "table/ledger",
                "ScalableDimension": "dynamodb:table:WriteCapacityUnits",
                "MinCapacity": 5,
                "MaxCapacity": 100,
            },
        },
        "Scaling": {
            "Type": "AWS::ApplicationAutoScaling::ScalingPolicy",
            "Properties": {
                "PolicyName": "ledger",
                "PolicyType": "TargetTrackingScaling",
                "ScalingTargetId": {"Ref": "Writes"},
                "TargetTrackingScalingPolicyConfiguration": {
                    "TargetValue": 70,
                    "PredefinedMetricSpecification": {"PredefinedMetricType": "DynamoDBWriteCapacityUtilization"},
                },
            },
        },
        "Archive": {"Type": "AWS::S3::Bucket", **KEPT, "Properties": {}},
        "Queries": {
            "Type": "AWS::Athena::WorkGroup",
            "Properties": {
                "Name": "queries",
                "WorkGroupConfiguration": {"ResultConfiguration": {"OutputLocation": {"Fn::Sub": "s3://${Archive}/queries/"}}},
            },
        },
    },
}
METRIC = "Scaling/TargetTrackingScalingPolicyConfiguration/PredefinedMetricSpecification/PredefinedMetricType"
READS = {METRIC: "DynamoDBReadCapacityUtilization"}
OUTPUT = "Queries/WorkGroupConfiguration/ResultConfiguration/OutputLocation"
OVERRIDE = {"BlockOverrideDomain": "example.com", "BlockOverrideDnsType": "CNAME", "BlockOverrideTtl": 60}
ANSWER = "Names/FirewallRules/1"
UNPRIVILEGED = {"Build/Environment/PrivilegedMode": False}


def options(version: str) -> dict[str, Any]:
    group = {"EngineName": "mysql", "MajorEngineVersion": version, "OptionGroupDescription": "audit"}
    return {
        "Database/OptionGroupName": {"Ref": "Options"},
        "Options": {"Type": "AWS::RDS::OptionGroup", "Properties": group},
    }


def generated(user: str) -> dict[str, Any]:
    """A first user that a generated secret names."""
    return {
        "Secret/GenerateSecretString": {**SECRET, "SecretStringTemplate": f'{{"username": "{user}"}}'},
        "Database/MasterUsername": {"Fn::Sub": "{{resolve:secretsmanager:${Secret}:SecretString:username}}"},
    }


def pushed(tag: str, **variable: Any) -> dict[str, Any]:
    """A build that pushes an image to a repository whose tags do not move."""
    repository = {"RepositoryName": "trainer", "ImageTagMutability": "IMMUTABLE"}
    steps = f'docker build -t "$REGISTRY/$NAME:{tag}" .\n      - docker push "$REGISTRY/${{NAME}}:{tag}"'
    return {
        "Images": {"Type": "AWS::ECR::Repository", **KEPT, "Properties": repository},
        "Build/Source/BuildSpec": f"version: 0.2\nphases:\n  build:\n    commands:\n      - {steps}\n",
        "Build/Environment/EnvironmentVariables": [{"Name": "NAME", "Value": {"Ref": "Images"}, **variable}],
    }


def entry(number: int, **given: Any) -> dict[str, Any]:
    """Two entries of ACLs, the first with the number 100."""
    base = {"NetworkAclId": {"Ref": "Acl"}, "Protocol": -1, "RuleAction": "allow", "CidrBlock": "10.0.0.0/16"}
    acl, kind = (
        {"Type": "AWS::EC2::NetworkAcl", "Properties": {"VpcId": "vpc-0123456789abcdefa"}},
        "AWS::EC2::SubnetNetworkAclAssociation",
    )
    return {
        **dict.fromkeys(("Acl", "Other"), acl),
        **{
            f"Of{name}": {"Type": kind, "Properties": {"NetworkAclId": {"Ref": name}, "SubnetId": f"subnet-0123456789abcde{place}"}}
            for name, place in (("Acl", "fa"), ("Other", "fb"))
        },
        "First": {"Type": "AWS::EC2::NetworkAclEntry", "Properties": {**base, "RuleNumber": 100}},
        "Second": {"Type": "AWS::EC2::NetworkAclEntry", "Properties": {**base, "RuleNumber": number, **given}},
    }


VPC_OF_ZONE = {"VPCId": "vpc-0123456789abcdefa", "VPCRegion": "us-west-2"}


def zone(name: str, **given: Any) -> dict[str, Any]:
    return {"Zone": {"Type": "AWS::Route53::HostedZone", "Properties": {"Name": name, **given}}}


def named(kind: str) -> dict[str, Any]:
    """A record with the name of the database."""
    given = {"HostedZoneName": "train.example.", "Name": "db.train.example.", "Type": kind, "TTL": "60"}
    return {
        "Record": {
            "Type": "AWS::Route53::RecordSet",
            "Properties": {**given, "ResourceRecords": [att("Database", "Endpoint.Address")]},
        }
    }


def denied(algorithm: str) -> dict[str, Any]:
    statement = {
        "Effect": "Deny",
        "Principal": "*",
        "Action": "s3:PutObject",
        "Resource": {"Fn::Sub": "${Data.Arn}/*"},
        "Condition": {"StringNotEquals": {"s3:x-amz-server-side-encryption": algorithm}},
    }
    document = {"Version": "2012-10-17", "Statement": [statement]}
    rule = {"ServerSideEncryptionByDefault": {"SSEAlgorithm": "aws:kms"}}
    return {
        "Data/BucketEncryption": {"ServerSideEncryptionConfiguration": [rule]},
        "DataPolicy": {"Type": "AWS::S3::BucketPolicy", "Properties": {"Bucket": {"Ref": "Data"}, "PolicyDocument": document}},
    }


EXPORT = "Scratch/LustreConfiguration/ExportPath"


def written(keys: str) -> dict[str, Any]:
    """A secret whose JSON stands in the template."""
    return {"Secret/GenerateSecretString": REMOVED, "Secret/SecretString": keys}


def user(name: str, of_secret: str | None = "slurm") -> dict[str, Any]:
    """The first user of the database, and the one in its secret."""
    template = "{}" if of_secret is None else f'{{"username": "{of_secret}"}}'
    return {
        "Database/MasterUsername": name,
        "Secret/GenerateSecretString": {**SECRET, "SecretStringTemplate": template},
    }


HOSTED: Template = {**STORED, "Transform": "AWS::SecretsManager-2024-09-16"}
POSTGRES: dict[str, Any] = {
    "Database/Engine": "postgres",
    "Database/EngineVersion": "17.5",
    "Database/DBParameterGroupName": REMOVED,
}


def rotated(kind: str, changes: Mapping[str, Any] = {}, of: str = "Secret") -> dict[str, Any]:
    """A hosted rotation of the secret of the database."""
    properties = {"SecretId": {"Ref": of}, "HostedRotationLambda": {"RotationType": kind}, "RotationRules": {"Duration": "2h"}}
    rotation = {"Type": "AWS::SecretsManager::RotationSchedule", "DependsOn": "Attached", "Properties": properties}
    return {"Rotation": rotation, **changes}


def space(size: int, sharing: str = "Private") -> Template:
    most = {"DefaultEbsVolumeSizeInGb": 20, "MaximumEbsVolumeSizeInGb": 100}
    settings = {
        "ExecutionRole": "arn:aws:iam::123456789012:role/studio",
        "SpaceStorageSettings": {"DefaultEbsStorageSettings": most},
    }
    domain: Template = {"AuthMode": "IAM", "DomainName": "team", "DefaultUserSettings": settings, "VpcId": "vpc-0123456789abcdef0"}
    domain["SubnetIds"] = ["subnet-0123456789abcdef0"]
    volume = {"SpaceStorageSettings": {"EbsStorageSettings": {"EbsVolumeSizeInGb": size}}}
    own = {
        "DomainId": {"Ref": "Domain"},
        "SpaceName": "own",
        "SpaceSharingSettings": {"SharingType": sharing},
        "OwnershipSettings": {"OwnerUserProfileName": "ada"},
        "SpaceSettings": volume,
    }
    return {
        "Domain": {"Type": "AWS::SageMaker::Domain", "Properties": domain},
        "Ada": {"Type": "AWS::SageMaker::UserProfile", "Properties": {"DomainId": {"Ref": "Domain"}, "UserProfileName": "ada"}},
        "Space": {"Type": "AWS::SageMaker::Space", "DependsOn": "Ada", "Properties": own},
    }


CASES = [
    # Studio
    Case("HP-TXT-012", {"Resources": {}}, space(101), space(100)),
    Case("HP-TXT-012", {"Resources": {}}, space(101), space(101, "Shared")),
    # Storage
    Case("HP-TXT-012", LINKED, {EXPORT: "s3://results/out"}, {EXPORT: "s3://data/results"}),
    Case("HP-FSX-011", LINKED, {"Scratch/LustreConfiguration/ImportPath": REMOVED}, {EXPORT: REMOVED}),
    Case("HP-TXT-011", STORED, denied("AES256"), denied("aws:kms")),
    Case(
        "HP-TXT-012",
        STORED,
        {"Parameters/Parameters": {"slow_query_log": "yes"}},
        {"Parameters/Parameters": {"slow_query_log": "on"}},
    ),
    Case(
        "HP-SCH-007",
        COPIED,
        {"Data/ReplicationConfiguration/Rules/0/Destination/Account": "12345678901"},
        {"Data/ReplicationConfiguration/Rules/0/Destination/Account": "123456789012"},
    ),
    Case(
        "HP-TXT-012",
        HOMES,
        {"Homes/OpenZFSConfiguration/PreferredSubnetId": "subnet-0123456789abcdefc"},
        {"Homes/OpenZFSConfiguration/PreferredSubnetId": "subnet-0123456789abcdefb"},
    ),
    Case("HP-SCH-007", HOMES, {"Homes/OpenZFSConfiguration/PreferredSubnetId": REMOVED}, {}),
    Case("HP-TXT-012", HOMES, {CHOSEN: {"Ref": "Homes"}}, {CHOSEN: "arn:aws:fsx:*:*:file-system/*"}),
    Case("HP-TXT-012", HOMES, {CHOSEN: {"Fn::GetAtt": ["Images", "Arn"]}}, {CHOSEN: {"Fn::GetAtt": ["Locks", "Arn"]}}),
    Case(
        "HP-TXT-011",
        HOMES,
        {"Locks/TimeToLiveSpecification/AttributeName": "job"},
        {"Locks/AttributeDefinitions/0/AttributeName": "job"},
    ),
    Case("HP-TXT-012", LOCKED, {f"{TARGET}/Lifecycle/DeleteAfterDays": 5}, {f"{TARGET}/Lifecycle/DeleteAfterDays": 7}),
    Case("HP-TXT-012", LOCKED, {f"{TARGET}/Lifecycle": REMOVED}, {"Vault/LockConfiguration/MaxRetentionDays": REMOVED}),
    Case("HP-TXT-012", STORED, {f"{TARGET}/TargetBackupVault": "hmoes"}, {f"{TARGET}/TargetBackupVault": "archive"}),
    Case("HP-TXT-012", STORED, {f"{TARGET}/TargetBackupVault": "homes-weekly"}, {f"{TARGET}/TargetBackupVault": "Default"}),
    # Databases
    Case("HP-TXT-012", STORED, {"Database/EngineVersion": "8.4.2"}, {"Database/EngineVersion": "8.4.13"}),
    Case("HP-TXT-012", AURORA, {"Writers/EngineVersion": "8.0.43"}, {"Writers/EngineVersion": "8.0.mysql_aurora.3.10.1"}),
    Case("HP-TXT-012", AURORA, {"Writer/DBInstanceClass": "db.t3.micro"}, {"Writer/DBInstanceClass": "db.t3.medium"}),
    Case("HP-TXT-012", AURORA, {"Writer/DBInstanceClass": "db.m6g.large"}, {"Writer/DBInstanceClass": "db.r6g.large"}),
    Case(
        "HP-TXT-012",
        STORED,
        {"Database/DBParameterGroupName": "default.mysql8.0"},
        {"Database/DBParameterGroupName": "default.mysql8.4"},
    ),
    Case("HP-TXT-012", STORED, {"Parameters/Family": "mariadb10.11"}, {"Parameters/Family": "mysql8.4"}),
    Case("HP-TXT-012", STORED, {"Parameters/Family": "postgres16"}, {}),
    Case("HP-TXT-012", STORED, options("8.0"), options("8.4")),
    Case(
        "HP-TXT-012",
        STORED,
        {"Parameters/Parameters": {"innodb_pool_size": "1073741824"}},
        {"Parameters/Parameters": {"innodb_buffer_pool_size": "1073741824", "innodb_page_cleaners": "4"}},
    ),
    Case("HP-DEP-005", AURORA, NO_WRITER, {**NO_WRITER, "Reader": AURORA["Resources"]["Writer"]}),
    Case(
        "HP-TXT-012", STORED, {"Secret/GenerateSecretString/PasswordLength": 7}, {"Secret/GenerateSecretString/PasswordLength": 8}
    ),
    Case(
        "HP-TXT-012", STORED, {"Secret/GenerateSecretString/PasswordLength": 42}, {"Secret/GenerateSecretString/PasswordLength": 41}
    ),
    Case(
        "HP-TXT-012",
        STORED,
        {"Parameters/Parameters": {"innodb_lock_wait_timeout": "long"}},
        {"Parameters/Parameters": {"innodb_lock_wait_timeout": "{DBInstanceClassMemory/1024}"}},
    ),
    Case(
        "HP-TXT-012",
        STORED,
        {"Parameters/Parameters": {"innodb_lock_wait_timeot": "900"}},
        {"Parameters/Parameters": {"innodb_lock_wait_timeout": "900", "lock_wait_timeout": "900"}},
    ),
    Case(
        "HP-TXT-012",
        STORED,
        {"Parameters/Parameters": {"max_allowed_packet": "64M"}},
        {"Parameters/Parameters": {"max_allowed_packet": "67108864"}},
    ),
    Case("HP-SCH-007", AURORA, {"Writer/MultiAZ": True}, {"Writer/MultiAZ": False}),
    Case(
        "HP-SCH-007",
        AURORA,
        {
            "Writers/EngineMode": "serverless",
            "Writers/ServerlessV2ScalingConfiguration": REMOVED,
            "Writer/DBInstanceClass": "db.r6g.large",
        },
        {"Writers/EngineMode": "provisioned"},
    ),
    Case("HP-SCH-007", STORED, {**MANAGED, "Database/ManageMasterUserPassword": False}, MANAGED),
    # Within and between resources
    Case("HP-TXT-012", STORED, {f"{RULES}/Transitions/1/TransitionInDays": 59}, {f"{RULES}/Transitions/1/TransitionInDays": 60}),
    Case("HP-TXT-012", STORED, {f"{RULES}/ExpirationInDays": 60}, {f"{RULES}/ExpirationInDays": 91}),
    Case(
        "HP-TXT-012",
        STORED,
        {f"{RULES}/NoncurrentVersionTransitions": MOVES, f"{RULES}/NoncurrentVersionExpiration": {"NoncurrentDays": 90}},
        {f"{RULES}/NoncurrentVersionTransitions": MOVES, f"{RULES}/NoncurrentVersionExpiration": {"NoncurrentDays": 91}},
    ),
    Case("HP-TXT-012", STORED, {"Database/EngineVersion": "8.0.42"}, {"Database/EngineVersion": "8.4"}),
    Case("HP-TXT-012", STORED, {"Attached/TargetType": "AWS::RDS::DBCluster"}, {}),
    Case("HP-TXT-012", STORED, {"Group/LogGroupClass": "INFREQUENT_ACCESS"}, {"Group/LogGroupClass": "STANDARD"}),
    Case(
        "HP-TXT-012",
        BASE,
        {f"{NOTIFY}/1": {"Event": "s3:ObjectCreated:Put", "Queue": att("Queue")}},
        {
            f"{NOTIFY}/0/Filter": SUFFIX,
            f"{NOTIFY}/1": {"Event": "s3:ObjectCreated:Put", "Queue": att("Queue"), "Filter": OTHER_SUFFIX},
        },
    ),
    Case("HP-TXT-012", COPIED, {"Copies/VersioningConfiguration": REMOVED}, {}),
    Case("HP-TXT-012", AURORA, {"Family/Family": "aurora-postgresql16"}, {}),
    Case("HP-TXT-012", AURORA, {"Writer/Engine": "aurora-postgresql"}, {"Writer/Engine": "Aurora-MySQL"}),
    Case(
        "HP-TXT-012",
        AURORA,
        {"Writers/ServerlessV2ScalingConfiguration": REMOVED},
        {"Writers/ServerlessV2ScalingConfiguration": REMOVED, "Writer/DBInstanceClass": "db.r7g.large"},
    ),
    # What references give
    Case("HP-REF-012", STORED, {f"{TARGET}/TargetBackupVault": att("Vault", "BackupVaultArn")}, {}),
    Case("HP-REF-012", BASE, {"QueuePolicy/Queues/0": att("Queue")}, {"QueuePolicy/Queues/0": att("Queue", "QueueUrl")}),
    Case("HP-REF-012", STORED, {"Vault/EncryptionKeyArn": {"Ref": "Database"}}, {}),
    Case(
        "HP-REF-008",
        STORED,
        {"Database/MasterUserPassword": {"Fn::Sub": "{{resolve:secretsmanager:${Secret}:SecretString:pass}}"}},
        {"Database/MasterUserPassword": {"Fn::Sub": "{{resolve:secretsmanager:${Secret}}}"}},
    ),
    Case("HP-REF-008", STORED, written('{"username": "slurm"}'), written('{"password": "-"}')),
    Case("HP-REF-008", STORED, {"Database/MasterUsername": {"Fn::Sub": "{{resolve:secretmanager:${Secret}:SecretString:a}}"}}, {}),
    Case("HP-TXT-010", STORED, named("A"), named("CNAME")),
    Case("HP-TXT-012", STORED, user("rdsadmin", None), user("admin", None)),
    Case("HP-TXT-011", STORED, user("admin"), user("Slurm")),
    Case("HP-TXT-011", STORED, user("slurm", "accounting"), user("accounting", "accounting")),
    Case(
        "HP-TXT-011",
        STORED,
        {
            **written('{"username": "books", "password": "{{resolve:secretsmanager:books:SecretString:password}}"}'),
            "Attached": REMOVED,
        },
        {
            **written('{"username": "slurm", "password": "{{resolve:secretsmanager:books:SecretString:password}}"}'),
            "Attached": REMOVED,
        },
    ),
    Case("HP-TXT-011", HOSTED, rotated("MariaDBSingleUser"), rotated("MySQLSingleUser")),
    Case("HP-TXT-011", HOSTED, rotated("PostgreSQLSingleUser"), rotated("MySQLSingleUser")),
    Case("HP-TXT-011", HOSTED, rotated("MySQLSingleUser", POSTGRES, "Attached"), rotated("PostgreSQLSingleUser", POSTGRES)),
    Case("HP-TXT-012", STORED, generated("rdsrepladmin"), generated("slurmdbd")),
    Case("HP-TXT-012", GUARDED, entry(100), entry(101)),
    Case("HP-TXT-012", GUARDED, entry(100, Egress=False), entry(100, Egress=True)),
    Case("HP-TXT-012", GUARDED, entry(100), entry(100, NetworkAclId={"Ref": "Other"})),
    Case("HP-TXT-011", GUARDED, pushed("latest"), pushed("$CODEBUILD_BUILD_NUMBER")),
    Case("HP-TXT-011", GUARDED, pushed("latest", Value="trainer"), pushed("latest", Value="shared")),
    Case("HP-TXT-011", GUARDED, pushed("latest"), pushed("latest", Type="PARAMETER_STORE")),
    Case("HP-REF-010", STORED, {"More-Logs": {"Type": "AWS::Logs::LogGroup"}}, {"MoreLogs": {"Type": "AWS::Logs::LogGroup"}}),
    Case("HP-REF-010", STORED, {"Group/.DeletionPolicy": "Snapshot"}, {"Group/.DeletionPolicy": "Delete"}),
    # What requests demand
    Case("HP-SCH-007", BASE, {"Queue/SqsManagedSseEnabled": True}, {"Queue/SqsManagedSseEnabled": False}),
    Case("HP-SCH-007", BASE, {f"{NOTIFY}/0/Event": "s3:ObjectCreate:*"}, {f"{NOTIFY}/0/Event": "s3:ObjectCreated:Put"}),
    Case("HP-SCH-007", BASE, {"Function/EphemeralStorage": {"Size": 20480}}, {"Function/EphemeralStorage": {"Size": 10240}}),
    Case("HP-SCH-007", BASE, {"Function/Environment": {"Variables": {"db-host": "x"}}}, {}),
    Case("HP-SCH-007", STORED, {f"{RULES}/Transitions/0/TransitionInDays": 10}, {}),
    Case("HP-SCH-007", STORED, {"Database/Iops": 12000}, {"Database/Iops": 12000, "Database/AllocatedStorage": "400"}),
    Case("HP-SCH-007", STORED, {"Database/EnableCloudwatchLogsExports": ["postgresql"]}, {"Database/Port": "3306"}),
    Case("HP-SCH-002", STORED, {f"{TARGET}/RuleName": REMOVED}, {}),
    Case("HP-TXT-011", BASE, {"Alarm/Dimensions/0/Name": "Queue"}, {}),
    Case(
        "HP-TXT-011",
        edited(BASE, {"Mapping": REMOVED}),
        {"Function/ReservedConcurrentExecutions": 0},
        {"Function/ReservedConcurrentExecutions": 1},
    ),
    Case("HP-TXT-011", BASE, {"Function/Handler": "handler"}, {"Function/Handler": "index.handler"}),
    Case(
        "HP-TXT-011",
        BASE,
        {"Alarm/Dimensions/0/Value": {"Ref": "Queue"}},
        {"Alarm/Dimensions/0/Value": att("Queue", "QueueName")},
    ),
    Case("HP-TXT-011", BASE, {"Alarm/Namespace": "AWS/Queues"}, {"Alarm/Namespace": "AWS/SNS/Queues", "Alarm/MetricName": "Sent"}),
    Case("HP-TXT-011", WATCHED, {"Watch/MetricName": "error"}, {"Watch/MetricName": "failures"}),
    Case("HP-SCH-007", BASE, {"Alarm/Statistic": REMOVED}, {}),
    Case("HP-TXT-011", BASE, {"Alarm/MetricName": "NumberOfMessages"}, {"Alarm/MetricName": "SentMessageSize"}),
    Case("HP-SCH-007", GUARDED, {"Names/FirewallRules/1/Priority": 10}, {"Names/FirewallRules/1/Priority": 11}),
    Case(
        "HP-SCH-007",
        GUARDED,
        {f"{ANSWER}/BlockResponse": REMOVED},
        {f"{ANSWER}/Action": "ALERT", f"{ANSWER}/BlockResponse": REMOVED},
    ),
    Case(
        "HP-SCH-007",
        GUARDED,
        {f"{ANSWER}/BlockResponse": "OVERRIDE"},
        {f"{ANSWER}/BlockResponse": "OVERRIDE", **{f"{ANSWER}/{key}": value for key, value in OVERRIDE.items()}},
    ),
    Case("HP-SCH-007", GUARDED, zone("train.internal."), zone("internal.example.com")),
    Case("HP-SCH-007", GUARDED, zone("train.local"), zone("train.local", VPCs=[VPC_OF_ZONE])),
    Case("HP-SCH-007", GUARDED, {"NamesOfVpc/Priority": 99}, {"NamesOfVpc/Priority": 9899}),
    Case("HP-SCH-007", GUARDED, UNPRIVILEGED, {**UNPRIVILEGED, "Build/Source/BuildSpec": "version: 0.2\n# docker build\n"}),
    Case("HP-SCH-007", GUARDED, {"Build/Environment/PrivilegedMode": REMOVED}, {}),
    Case("HP-SCH-007", GUARDED, {OUTPUT: {"Fn::Sub": "${Archive}/queries/"}}, {OUTPUT: {"Fn::Sub": "s3://${Archive}"}}),
    Case("HP-TXT-012", GUARDED, READS, {**READS, "Writes/ScalableDimension": "dynamodb:table:ReadCapacityUnits"}),
    Case(
        "HP-TXT-012",
        BASE,
        {"Function/ReservedConcurrentExecutions": 0},
        {"Function/ReservedConcurrentExecutions": 0, "Mapping/Enabled": False, "Uploads/NotificationConfiguration": REMOVED},
    ),
]


@pytest.mark.parametrize(
    ("path", "value", "wrong"),
    [
        (f"{RULES}/Prefix", "steps/*", True),
        (f"{RULES}/Prefix", "steps/", False),
        (f"{RULES}/Prefix", {"Fn::Sub": "${AWS::StackName}/*"}, False),
        ("Data/MetricsConfigurations", [{"Id": "all", "Prefix": "*"}], True),
        (f"{RULES}/Prefix", "/steps/", True),
        ("Data/InventoryConfigurations", [{"Id": "all", "Prefix": "runs/*"}], True),
    ],
)
def test_a_prefix_has_no_wildcards(path: str, value: Any, wrong: bool) -> None:
    found = [one for one in findings(edited(STORED, {path: value}), rules="HP-TXT-011") if "is for keys" in one.message]
    assert [one.resource for one in found] == ["Data"] * wrong


@pytest.mark.parametrize(
    ("destination", "filters", "rules"),
    [
        ({"Region": "us-west-2", "RegistryId": {"Ref": "AWS::AccountId"}}, [], ["HP-TXT-012"]),
        ({"Region": "eu-west-1", "RegistryId": {"Ref": "AWS::AccountId"}}, [], []),
        ({"Region": "us-west-2", "RegistryId": "210987654321"}, [], []),
        ({"Region": "eu-west-1", "RegistryId": {"Ref": "AWS::AccountId"}}, ["train/"], []),
        ({"Region": "eu-west-1", "RegistryId": {"Ref": "AWS::AccountId"}}, ["tra-in/"], ["HP-TXT-011"]),
        ({"Region": "eu-west-1", "RegistryId": {"Ref": "AWS::AccountId"}}, ["train/nccl"], ["HP-TXT-011"]),
        ({"Region": "eu-west-1", "RegistryId": {"Ref": "AWS::AccountId"}}, ["mirror/"], []),
    ],
)
def test_a_registry_is_copied_to_other_regions(destination: Any, filters: list[str], rules: list[str]) -> None:
    chosen = [{"Filter": one, "FilterType": "PREFIX_MATCH"} for one in filters]
    rule = {"Destinations": [destination], **({"RepositoryFilters": chosen} if chosen else {})}
    made = {
        "Subnet": {"Type": "AWS::EC2::Subnet", "Properties": {"VpcId": "vpc-1", "AvailabilityZone": "us-west-2b"}},
        "Images": {"Type": "AWS::ECR::Repository", **KEPT, "Properties": {"RepositoryName": "train/gpu"}},
        "Copies": {
            "Type": "AWS::ECR::ReplicationConfiguration",
            "Properties": {"ReplicationConfiguration": {"Rules": [rule]}},
        },
    }
    assert [one.rule for one in findings({"Resources": made}, rules="HP-TXT") if one.resource == "Copies"] == rules


@pytest.mark.parametrize(("region", "wrong"), [("us-west-2", True), ("eu-west-1", False)])
def test_a_secret_is_copied_to_other_regions(region: str, wrong: bool) -> None:
    made = {
        "Subnet": {"Type": "AWS::EC2::Subnet", "Properties": {"VpcId": "vpc-1", "AvailabilityZone": "us-west-2b"}},
        "Secret": {"Type": "AWS::SecretsManager::Secret", **KEPT, "Properties": {"ReplicaRegions": [{"Region": region}]}},
    }
    assert [one.rule for one in findings({"Resources": made}, rules="HP-TXT")] == ["HP-TXT-012"] * wrong


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rule)
def test_rule(case: Case) -> None:
    case.check()


@pytest.mark.parametrize("length", [32, 41])
def test_a_password_is_as_long_as_the_engine_takes(length: int) -> None:
    assert rules_of(edited(STORED, {"Secret/GenerateSecretString": {**SECRET, "PasswordLength": length}})) == []


def test_several_violations_of_one_demand_are_one_finding() -> None:
    disk = {"Iops": 3000, "Throughput": 250, "VolumeSize": 80, "VolumeType": "gp2"}
    template = {
        "Type": "AWS::EC2::LaunchTemplate",
        "Properties": {"LaunchTemplateData": {"BlockDeviceMappings": [{"DeviceName": "/dev/xvda", "Ebs": disk}]}},
    }
    assert rules_of(edited(STORED, {"Template": template})) == ["HP-SCH-007"]


@pytest.mark.parametrize(
    ("base", "changes", "page"),
    [
        (BASE, {"Alarm/Dimensions/0/Name": "Queue"}, "/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html"),
        (COPIED, {"Copies/VersioningConfiguration": REMOVED}, "/AmazonS3/latest/userguide/replication-requirements.html"),
    ],
)
def test_the_page_is_on_the_case(base: dict[str, Any], changes: dict[str, Any], page: str) -> None:
    assert [finding.source for finding in findings(edited(base, changes))] == [f"https://docs.aws.amazon.com{page}"]
