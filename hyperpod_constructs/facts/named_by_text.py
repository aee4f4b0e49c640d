"""Properties in which a template often writes the name of a resource as text, with the types of what has it (as of 2026-11-27).

Sources: the pages of the types, such as
https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-glue-crawler.html
"""

from __future__ import annotations

from collections.abc import Mapping

PARAMETER = "AWS::SSM::Parameter"
NAMES: Mapping[str, str] = {
    "AWS::Athena::WorkGroup": "Name",
    "AWS::CloudWatch::Alarm": "AlarmName",
    "AWS::CloudWatch::CompositeAlarm": "AlarmName",
    "AWS::DynamoDB::Table": "TableName",
    "AWS::ECR::Repository": "RepositoryName",
    "AWS::EKS::Cluster": "Name",
    "AWS::ECS::Cluster": "ClusterName",
    "AWS::ElastiCache::SubnetGroup": "CacheSubnetGroupName",
    "AWS::Events::EventBus": "Name",
    "AWS::Glue::Crawler": "Name",
    "AWS::Glue::Database": "DatabaseInput/Name",
    "AWS::Glue::Job": "Name",
    "AWS::Glue::Table": "TableInput/Name",
    "AWS::KMS::Alias": "AliasName",
    "AWS::KinesisFirehose::DeliveryStream": "DeliveryStreamName",
    "AWS::Lambda::Function": "FunctionName",
    "AWS::Logs::LogGroup": "LogGroupName",
    "AWS::MemoryDB::ACL": "ACLName",
    "AWS::MemoryDB::ParameterGroup": "ParameterGroupName",
    "AWS::MemoryDB::SubnetGroup": "SubnetGroupName",
    "AWS::MemoryDB::User": "UserName",
    "AWS::RDS::DBCluster": "DBClusterIdentifier",
    "AWS::RDS::DBClusterParameterGroup": "DBClusterParameterGroupName",
    "AWS::RDS::DBInstance": "DBInstanceIdentifier",
    "AWS::RDS::DBParameterGroup": "DBParameterGroupName",
    "AWS::RDS::DBProxy": "DBProxyName",
    "AWS::RDS::DBSubnetGroup": "DBSubnetGroupName",
    "AWS::RedshiftServerless::Namespace": "NamespaceName",
    "AWS::S3::Bucket": "BucketName",
    "AWS::SNS::Topic": "TopicName",
    "AWS::SQS::Queue": "QueueName",
    "AWS::SSM::Document": "Name",
    PARAMETER: "Name",
    "AWS::SageMaker::AppImageConfig": "AppImageConfigName",
    "AWS::SageMaker::Cluster": "ClusterName",
    "AWS::SageMaker::Endpoint": "EndpointName",
    "AWS::SageMaker::Image": "ImageName",
    "AWS::SageMaker::ModelPackageGroup": "ModelPackageGroupName",
    "AWS::SageMaker::Space": "SpaceName",
    "AWS::SageMaker::UserProfile": "UserProfileName",
    "AWS::Scheduler::ScheduleGroup": "Name",
    "AWS::SecretsManager::Secret": "Name",
}
"""The place of the name of each type."""

_CACHE = {"CacheSubnetGroupName": "AWS::ElastiCache::SubnetGroup"}
_DATABASE = {
    "DBClusterIdentifier": "AWS::RDS::DBCluster",
    "DBParameterGroupName": "AWS::RDS::DBParameterGroup",
    "DBSubnetGroupName": "AWS::RDS::DBSubnetGroup",
    "SourceDBInstanceIdentifier": "AWS::RDS::DBInstance",
}
_APPS = ("CodeEditor", "JupyterLab", "KernelGateway")
_IMAGE = {"AppImageConfigName": "AWS::SageMaker::AppImageConfig", "ImageName": "AWS::SageMaker::Image"}
_SECRET = {"SecretId": "AWS::SecretsManager::Secret"}
_SCHEMA = "ExtendedS3DestinationConfiguration/DataFormatConversionConfiguration/SchemaConfiguration"
_NAMED: Mapping[str, Mapping[str, str]] = {
    "AWS::Athena::NamedQuery": {"Database": "AWS::Glue::Database", "WorkGroup": "AWS::Athena::WorkGroup"},
    "AWS::Athena::PreparedStatement": {"WorkGroup": "AWS::Athena::WorkGroup"},
    "AWS::CloudTrail::Trail": {"S3BucketName": "AWS::S3::Bucket"},
    "AWS::EC2::FlowLog": {"LogGroupName": "AWS::Logs::LogGroup"},
    "AWS::ElastiCache::CacheCluster": _CACHE,
    "AWS::ElastiCache::ReplicationGroup": _CACHE,
    "AWS::Events::Rule": {"EventBusName": "AWS::Events::EventBus"},
    "AWS::FSx::DataRepositoryAssociation": {"DataRepositoryPath": "AWS::S3::Bucket"},
    "AWS::Glue::Crawler": {"DatabaseName": "AWS::Glue::Database"},
    "AWS::Glue::Partition": {"DatabaseName": "AWS::Glue::Database", "TableName": "AWS::Glue::Table"},
    "AWS::Glue::Table": {"DatabaseName": "AWS::Glue::Database"},
    "AWS::Glue::Trigger": {
        "Actions/*/CrawlerName": "AWS::Glue::Crawler",
        "Actions/*/JobName": "AWS::Glue::Job",
        "Predicate/Conditions/*/CrawlerName": "AWS::Glue::Crawler",
        "Predicate/Conditions/*/JobName": "AWS::Glue::Job",
    },
    "AWS::KinesisFirehose::DeliveryStream": {
        f"{_SCHEMA}/DatabaseName": "AWS::Glue::Database",
        f"{_SCHEMA}/TableName": "AWS::Glue::Table",
    },
    "AWS::LakeFormation::PrincipalPermissions": {
        "Resource/Database/Name": "AWS::Glue::Database",
        "Resource/Table/DatabaseName": "AWS::Glue::Database",
        "Resource/Table/Name": "AWS::Glue::Table",
    },
    "AWS::Lambda::EventInvokeConfig": {"FunctionName": "AWS::Lambda::Function"},
    "AWS::Lambda::EventSourceMapping": {"FunctionName": "AWS::Lambda::Function"},
    "AWS::Lambda::Permission": {"FunctionName": "AWS::Lambda::Function"},
    "AWS::Lambda::Function": {"LoggingConfig/LogGroup": "AWS::Logs::LogGroup"},
    "AWS::Logs::LogStream": {"LogGroupName": "AWS::Logs::LogGroup"},
    "AWS::Logs::MetricFilter": {"LogGroupName": "AWS::Logs::LogGroup"},
    "AWS::Logs::SubscriptionFilter": {"LogGroupName": "AWS::Logs::LogGroup"},
    "AWS::MemoryDB::ACL": {"UserNames/*": "AWS::MemoryDB::User"},
    "AWS::MemoryDB::Cluster": {
        "ACLName": "AWS::MemoryDB::ACL",
        "ParameterGroupName": "AWS::MemoryDB::ParameterGroup",
        "SubnetGroupName": "AWS::MemoryDB::SubnetGroup",
    },
    "AWS::RDS::DBCluster": {
        "DBClusterParameterGroupName": "AWS::RDS::DBClusterParameterGroup",
        "DBSubnetGroupName": "AWS::RDS::DBSubnetGroup",
    },
    "AWS::RDS::DBInstance": _DATABASE,
    "AWS::RDS::DBProxyTargetGroup": {
        "DBClusterIdentifiers/*": "AWS::RDS::DBCluster",
        "DBInstanceIdentifiers/*": "AWS::RDS::DBInstance",
        "DBProxyName": "AWS::RDS::DBProxy",
    },
    "AWS::S3::Bucket": {"LoggingConfiguration/DestinationBucketName": "AWS::S3::Bucket"},
    "AWS::S3::BucketPolicy": {"Bucket": "AWS::S3::Bucket"},
    "AWS::SSM::Association": {"Name": "AWS::SSM::Document"},
    "AWS::SSM::Document": {
        "Content/inputs/cloudWatchLogGroupName": "AWS::Logs::LogGroup",
        "Content/inputs/s3BucketName": "AWS::S3::Bucket",
    },
    "AWS::SageMaker::App": {"UserProfileName": "AWS::SageMaker::UserProfile"},
    "AWS::SageMaker::Cluster": {
        f"{groups}/*/{place}": owner
        for groups in ("InstanceGroups", "RestrictedInstanceGroups")
        for place, owner in (
            ("LifeCycleConfig/SourceS3Uri", "AWS::S3::Bucket"),
            ("ScheduledUpdateConfig/DeploymentConfig/AutoRollbackConfiguration/*/AlarmName", "AWS::CloudWatch::Alarm"),
        )
    },
    "AWS::SageMaker::Domain": {
        f"{settings}/{app}AppSettings/CustomImages/*/{key}": owner
        for settings in ("DefaultUserSettings", "DefaultSpaceSettings")
        for app in _APPS
        for key, owner in _IMAGE.items()
    },
    "AWS::SageMaker::Endpoint": {
        "DeploymentConfig/AutoRollbackConfiguration/Alarms/*/AlarmName": "AWS::CloudWatch::Alarm",
    },
    "AWS::SageMaker::ImageVersion": {"ImageName": "AWS::SageMaker::Image"},
    "AWS::SageMaker::InferenceComponent": {"EndpointName": "AWS::SageMaker::Endpoint"},
    "AWS::SageMaker::ModelPackage": {"ModelPackageGroupName": "AWS::SageMaker::ModelPackageGroup"},
    "AWS::SageMaker::Space": {"OwnershipSettings/OwnerUserProfileName": "AWS::SageMaker::UserProfile"},
    "AWS::SageMaker::UserProfile": {
        f"UserSettings/{app}AppSettings/CustomImages/*/{key}": owner for app in _APPS for key, owner in _IMAGE.items()
    },
    "AWS::Scheduler::Schedule": {"GroupName": "AWS::Scheduler::ScheduleGroup"},
    "AWS::SecretsManager::ResourcePolicy": _SECRET,
    "AWS::SecretsManager::RotationSchedule": _SECRET,
    "AWS::SecretsManager::SecretTargetAttachment": _SECRET,
    "AWS::RedshiftServerless::Workgroup": {"NamespaceName": "AWS::RedshiftServerless::Namespace"},
}
_OF_KEYS: Mapping[str, str] = {
    "AWS::Backup::BackupVault": "EncryptionKeyArn",
    "AWS::CloudTrail::Trail": "KMSKeyId",
    "AWS::CodeBuild::Project": "EncryptionKey",
    "AWS::DynamoDB::Table": "SSESpecification/KMSMasterKeyId",
    "AWS::EC2::Volume": "KmsKeyId",
    "AWS::ECR::Repository": "EncryptionConfiguration/KmsKey",
    "AWS::EFS::FileSystem": "KmsKeyId",
    "AWS::FSx::FileSystem": "KmsKeyId",
    "AWS::Kinesis::Stream": "StreamEncryption/KeyId",
    "AWS::RDS::DBCluster": "KmsKeyId",
    "AWS::RDS::DBInstance": "KmsKeyId",
    "AWS::S3::Bucket": "BucketEncryption/ServerSideEncryptionConfiguration/*/ServerSideEncryptionByDefault/KMSMasterKeyID",
    "AWS::SNS::Topic": "KmsMasterKeyId",
    "AWS::SQS::Queue": "KmsMasterKeyId",
    "AWS::SecretsManager::Secret": "KmsKeyId",
}
"""The places of keys, which an alias may name.

Source: https://docs.aws.amazon.com/kms/latest/developerguide/kms-alias.html
"""
USES: Mapping[str, Mapping[str, str]] = {
    **{type_: {path: "AWS::KMS::Alias"} for type_, path in _OF_KEYS.items()},
    **{type_: {**uses, **({_OF_KEYS[type_]: "AWS::KMS::Alias"} if type_ in _OF_KEYS else {})} for type_, uses in _NAMED.items()},
}
"""By type: the places of names, and the type of what has the name."""

ALSO: Mapping[str, tuple[str, ...]] = {"AWS::CloudWatch::Alarm": ("AWS::CloudWatch::CompositeAlarm",)}
"""By type: others whose names are among the same names.

Source: https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutCompositeAlarm.html
"""

SCOPES: Mapping[str, str] = {"AWS::SageMaker::UserProfile": "DomainId"}
"""By type: the property, of it and of its users, with the resource inside of which its name counts.

Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_OwnershipSettings.html
"""

IN_CALLS: Mapping[tuple[str, str], str] = {
    ("dynamodb", "tablename"): "AWS::DynamoDB::Table",
    ("ecs", "cluster"): "AWS::ECS::Cluster",
    ("eks", "clustername"): "AWS::EKS::Cluster",
    ("eks", "name"): "AWS::EKS::Cluster",
    ("glue", "jobname"): "AWS::Glue::Job",
    ("lambda", "functionname"): "AWS::Lambda::Function",
    ("logs", "loggroupname"): "AWS::Logs::LogGroup",
    ("s3", "bucket"): "AWS::S3::Bucket",
    ("sagemaker", "clustername"): "AWS::SageMaker::Cluster",
    ("sagemaker", "endpointname"): "AWS::SageMaker::Endpoint",
    ("ssm:GetParameter", "name"): PARAMETER,
    ("ssm:GetParameterHistory", "name"): PARAMETER,
}
"""The type that a parameter of a call names, by the service or the action, and the parameter in small letters (as of 2026-11-29).

Sources: the references of the calls, such as
https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_DescribeClusterNode.html
"""

FAR_SENDERS = ("AWS::Budgets::Budget", "AWS::CE::AnomalySubscription", "AWS::Lambda::Function", "AWS::SNS::Subscription")
"""Types that may well name what is in another region (as of 2026-11-30).

Source: https://docs.aws.amazon.com/sns/latest/dg/sns-cross-region-delivery.html
"""

SEVERAL_REGIONS: Mapping[str, str] = {
    "AWS::DynamoDB::GlobalTable": "",
    "AWS::ECR::Repository": "",
    "AWS::Events::EventBus": "",
    "AWS::KMS::Key": "MultiRegion",
    "AWS::SecretsManager::Secret": "ReplicaRegions",
}
"""By type: the property for copies under the same name in other regions; empty where another resource may make them.

Sources (as of 2026-11-30): https://docs.aws.amazon.com/kms/latest/developerguide/multi-region-keys-overview.html,
https://docs.aws.amazon.com/AmazonECR/latest/userguide/replication.html,
https://docs.aws.amazon.com/secretsmanager/latest/userguide/replicate-secrets.html and
https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-cross-region.html
"""

OWN_ACCOUNT = ("AWS::APS::AlertManagerDefinition", "AWS::APS::Workspace")
"""Types that send to topics of their own account alone (as of 2026-11-30).

Source: https://docs.aws.amazon.com/prometheus/latest/userguide/AMP-alert-manager.html
"""
