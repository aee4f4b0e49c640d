"""What each module with judges judges: its topic, the languages of its texts, and the types that it judges as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from hyperpod_constructs.facts.address_families import ASKING
from hyperpod_constructs.facts.dates import SPANS
from hyperpod_constructs.facts.named_by_text import USES
from hyperpod_constructs.facts.numbered import NUMBERED
from hyperpod_constructs.facts.scaling_targets import MONITORS
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.documents import NESTED_STACK


class Topic(StrEnum):
    """The subject of a mistake: each has a rule."""

    SCHEDULE = "schedule"
    PATTERN = "pattern"
    ALARM = "alarm"
    LOGS = "logs"
    CODE = "code"
    DELIVERY = "delivery"
    DOCUMENT = "document"
    PROMETHEUS = "prometheus"
    SCRIPT = "script"
    NAME = "name"
    COMPANION = "companion"


PAGES: Mapping[Topic, str] = {
    Topic.SCHEDULE: "https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-scheduled-rule-pattern.html",
    Topic.PATTERN: "https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-event-patterns.html",
    Topic.ALARM: "https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html",
    Topic.LOGS: "https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/FilterAndPatternSyntax.html",
    Topic.CODE: "https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtimes.html",
    Topic.DELIVERY: "https://docs.aws.amazon.com/sns/latest/api/API_Subscribe.html",
    Topic.DOCUMENT: "https://docs.aws.amazon.com/systems-manager/latest/userguide/documents-syntax-data-elements-parameters.html",
    Topic.PROMETHEUS: "https://docs.aws.amazon.com/prometheus/latest/userguide/AMP-ruler-rulesfile.html",
    Topic.SCRIPT: "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/user-data.html",
    Topic.NAME: "https://docs.aws.amazon.com/IAM/latest/UserGuide/reference-arns.html",
    Topic.COMPANION: "https://docs.aws.amazon.com/AmazonS3/latest/userguide/lifecycle-transition-general-considerations.html",
}
"""The documentation on the texts of a topic, for modules that name none of their own."""


MODULES: Mapping[str, Topic] = {
    "address_ids": Topic.NAME,
    "alarms": Topic.ALARM,
    "answer_buckets": Topic.NAME,
    "arns": Topic.NAME,
    "backup_times": Topic.COMPANION,
    "batch_jobs": Topic.SCRIPT,
    "builds": Topic.COMPANION,
    "call_values": Topic.CODE,
    "callers": Topic.CODE,
    "cases": Topic.SCRIPT,
    "cli_commands": Topic.SCRIPT,
    "code": Topic.CODE,
    "companions": Topic.COMPANION,
    "composite_alarms": Topic.ALARM,
    "copies": Topic.COMPANION,
    "costs": Topic.COMPANION,
    "cron_files": Topic.SCRIPT,
    "script_answers": Topic.CODE,
    "dashboards": Topic.ALARM,
    "data_services": Topic.COMPANION,
    "databases": Topic.COMPANION,
    "delivery": Topic.DELIVERY,
    "disk_alarms": Topic.ALARM,
    "dns": Topic.NAME,
    "documents": Topic.DOCUMENT,
    "endpoints": Topic.NAME,
    "model_servers": Topic.NAME,
    "event_patterns": Topic.PATTERN,
    "event_sources": Topic.PATTERN,
    "event_targets": Topic.DELIVERY,
    "expiring_items": Topic.COMPANION,
    "exports": Topic.COMPANION,
    "far_names": Topic.NAME,
    "flow_logs": Topic.LOGS,
    "helm_commands": Topic.SCRIPT,
    "hosts": Topic.NAME,
    "identities": Topic.COMPANION,
    "image_commands": Topic.SCRIPT,
    "jobs": Topic.COMPANION,
    "layers": Topic.COMPANION,
    "log_filters": Topic.LOGS,
    "log_queries": Topic.LOGS,
    "machines": Topic.DOCUMENT,
    "metrics": Topic.ALARM,
    "model_pipelines": Topic.DOCUMENT,
    "mounted_sources": Topic.SCRIPT,
    "named_by_scripts": Topic.SCRIPT,
    "named_in_calls": Topic.NAME,
    "near_arns": Topic.NAME,
    "near_names": Topic.NAME,
    "networks": Topic.COMPANION,
    "node_files": Topic.SCRIPT,
    "node_scripts": Topic.SCRIPT,
    "numbers": Topic.COMPANION,
    "partners": Topic.COMPANION,
    "prometheus": Topic.PROMETHEUS,
    "provisioning": Topic.DOCUMENT,
    "record_families": Topic.NAME,
    "recorded_series": Topic.PROMETHEUS,
    "recorders": Topic.COMPANION,
    "release_pipelines": Topic.COMPANION,
    "replication_alarms": Topic.NAME,
    "repository_tasks": Topic.CODE,
    "restarts": Topic.DOCUMENT,
    "scaling": Topic.NAME,
    "schedule_calls": Topic.SCHEDULE,
    "schedules": Topic.SCHEDULE,
    "spans": Topic.SCHEDULE,
    "scrapes": Topic.PROMETHEUS,
    "state_data": Topic.DOCUMENT,
    "log_contents": Topic.LOGS,
    "log_names": Topic.LOGS,
    "secret_names": Topic.NAME,
    "service_logs": Topic.LOGS,
    "source_filters": Topic.PATTERN,
    "redirections": Topic.SCRIPT,
    "secrets_in_scripts": Topic.SCRIPT,
    "shell_variables": Topic.SCRIPT,
    "slurm_files": Topic.SCRIPT,
    "stack_sets": Topic.DOCUMENT,
    "storage": Topic.COMPANION,
    "ssm": Topic.DOCUMENT,
    "suricata": Topic.DOCUMENT,
    "table_keys": Topic.CODE,
    "thresholds": Topic.ALARM,
    "trail_names": Topic.LOGS,
    "unread_scripts": Topic.SCRIPT,
    "user_data": Topic.SCRIPT,
    "waits": Topic.CODE,
}
"""The modules with judges, and the topic of each."""

LANGUAGES_OF: Mapping[str, tuple[Language, ...]] = {
    "alarms": (Language.STATISTIC, Language.EXTENDED, Language.PERIOD, Language.MISSING),
    "arns": (
        Language.ACTION,
        Language.TOPIC,
        Language.QUEUE,
        Language.QUEUE_OR_TOPIC,
        Language.FUNCTION,
        Language.SOURCE,
        Language.RECEIVER,
        Language.SUBSCRIBER,
        Language.LOG_GROUP,
    ),
    "dashboards": (Language.DASHBOARD,),
    "dns": (Language.DOMAIN,),
    "documents": (Language.JSON, Language.POLICY, Language.IDENTITY, Language.IMAGES),
    "event_patterns": (Language.EVENTS, Language.MESSAGES),
    "log_filters": (Language.LOGS,),
    "prometheus": (Language.RULES, Language.ALERTS),
    "scrapes": (Language.SCRAPES,),
    "schedules": (
        Language.EVENT_SCHEDULE,
        Language.SCHEDULE,
        Language.CRON,
        Language.CRON_OR_RATE,
        Language.SYSTEMS_MANAGER,
        Language.UNIX_CRON,
        Language.ROTATION,
        Language.ZONE,
        Language.WEEKLY,
        Language.WEEKLY_HOUR,
        Language.DAILY,
    ),
}
"""The languages of each module."""

_SCRIPTED = {
    "AWS::EC2::Instance": "UserData",
    "AWS::EC2::LaunchTemplate": "LaunchTemplateData",
    "AWS::SageMaker::NotebookInstanceLifecycleConfig": "",
    "AWS::SageMaker::StudioLifecycleConfig": "",
}
"""Types with scripts that a machine runs when it starts."""
_ON_MACHINES = {
    "AWS::Batch::JobDefinition": "ContainerProperties",
    "AWS::ECS::TaskDefinition": "ContainerDefinitions",
    "AWS::SSM::Association": "Parameters",
    "AWS::SSM::Document": "Content",
    **_SCRIPTED,
}
_WITH_SCRIPTS = {"AWS::CodeBuild::Project": "Source", **_ON_MACHINES}
"""Types with scripts of a shell."""

_WITH_ADDRESSES = {
    "AWS::CodeBuild::Project": "",
    "AWS::ECS::TaskDefinition": "ContainerDefinitions",
    "AWS::EKS::Addon": "ConfigurationValues",
    "AWS::Lambda::Function": "Environment",
    "AWS::SSM::Document": "Content",
    "AWS::SSM::Parameter": "Value",
}
"""Types with addresses of services."""
_SENDING = {
    "AWS::APS::AlertManagerDefinition": "Definition",
    "AWS::APS::Workspace": "AlertManagerDefinition",
    "AWS::Backup::BackupVault": "Notifications",
    "AWS::Budgets::Budget": "NotificationsWithSubscribers",
    "AWS::CE::AnomalySubscription": "Subscribers",
    "AWS::CloudWatch::Alarm": "",
    "AWS::CloudWatch::CompositeAlarm": "",
    "AWS::Events::Rule": "Targets",
    "AWS::Lambda::EventInvokeConfig": "DestinationConfig",
    "AWS::Lambda::EventSourceMapping": "EventSourceArn",
    "AWS::Lambda::Function": "",
    "AWS::RDS::EventSubscription": "SnsTopicArn",
    "AWS::S3::Bucket": "NotificationConfiguration",
    "AWS::SNS::Subscription": "",
    "AWS::Scheduler::Schedule": "Target",
}
"""Types that send to topics and queues, or read them."""

TYPES_OF: Mapping[str, Mapping[str, str]] = {
    "address_ids": _WITH_ADDRESSES,
    "alarms": {"AWS::CloudWatch::Alarm": ""},
    "answer_buckets": {
        "AWS::EC2::VPCEndpoint": "PolicyDocument",
        "AWS::IAM::ManagedPolicy": "PolicyDocument",
        "AWS::IAM::Policy": "PolicyDocument",
        "AWS::IAM::Role": "Policies",
    },
    "backup_times": {"AWS::Backup::BackupPlan": "BackupPlan"},
    "batch_jobs": {"AWS::SageMaker::Cluster": "InstanceGroups"},
    "builds": {
        "AWS::CodeBuild::Project": "Source",
        "AWS::ImageBuilder::Component": "Data",
        "AWS::ImageBuilder::ImagePipeline": "ImageRecipeArn",
    },
    "call_values": {"AWS::Lambda::Function": "Code"},
    "callers": {"AWS::Lambda::EventSourceMapping": "Enabled", "AWS::Lambda::Function": "ReservedConcurrentExecutions"},
    "cases": _ON_MACHINES,
    "cli_commands": _WITH_SCRIPTS,
    "code": {"AWS::Lambda::Function": "Runtime"},
    "script_answers": {"AWS::Lambda::Function": "Code"},
    "companions": {
        "AWS::CloudTrail::Trail": "IsLogging",
        "AWS::Lambda::EventInvokeConfig": "Qualifier",
        "AWS::Lambda::EventSourceMapping": "",
        "AWS::Lambda::Permission": "FunctionName",
        "AWS::Lambda::Url": "Qualifier",
        "AWS::Logs::LogGroup": "",
        "AWS::S3::Bucket": "",
        "AWS::SecretsManager::SecretTargetAttachment": "TargetType",
    },
    "composite_alarms": {"AWS::CloudWatch::CompositeAlarm": "AlarmRule"},
    "copies": {"AWS::ECR::ReplicationConfiguration": "", "AWS::SecretsManager::Secret": "ReplicaRegions"},
    "costs": {"AWS::Budgets::Budget": "Budget"},
    "cron_files": {"AWS::SageMaker::Cluster": "InstanceGroups"},
    "dashboards": {"AWS::CloudWatch::Dashboard": "DashboardBody"},
    "data_services": {
        "AWS::DataSync::LocationEFS": "Ec2Config",
        "AWS::DataSync::Task": "",
        "AWS::EFS::AccessPoint": "RootDirectory",
        "AWS::EFS::FileSystem": "LifecyclePolicies",
        "AWS::EFS::MountTarget": "",
        "AWS::ElastiCache::CacheCluster": "",
        "AWS::ElastiCache::ParameterGroup": "Properties",
        "AWS::ElastiCache::ReplicationGroup": "",
        "AWS::LakeFormation::PrincipalPermissions": "PermissionsWithGrantOption",
        "AWS::OpenSearchService::Domain": "AccessPolicies",
        "AWS::RDS::DBProxyTargetGroup": "",
        "AWS::S3::AccessPoint": "Policy",
        "AWS::SecretsManager::RotationSchedule": "HostedRotationLambda",
    },
    "databases": {
        "AWS::RDS::DBCluster": "",
        "AWS::RDS::DBClusterParameterGroup": "Parameters",
        "AWS::RDS::DBInstance": "",
        "AWS::RDS::DBParameterGroup": "Parameters",
    },
    "delivery": {
        "AWS::Lambda::EventSourceMapping": "EventSourceArn",
        "AWS::S3::Bucket": "NotificationConfiguration",
        "AWS::SNS::Subscription": "",
        "AWS::SNS::Topic": "",
        "AWS::SQS::Queue": "",
    },
    "disk_alarms": {"AWS::CloudWatch::Alarm": "Threshold"},
    "event_targets": {"AWS::Events::Rule": "", "AWS::Scheduler::Schedule": ""},
    "dns": {"AWS::EC2::VPCEndpoint": "ServiceName", "AWS::Route53::RecordSet": "", "AWS::Route53::RecordSetGroup": "RecordSets"},
    "documents": {
        "AWS::ECR::Repository": "LifecyclePolicy",
        "AWS::SSM::Document": "Content",
        "AWS::SecretsManager::Secret": "GenerateSecretString",
    },
    "event_sources": {"AWS::Events::Rule": "EventPattern", "AWS::S3::Bucket": ""},
    "expiring_items": {"AWS::DynamoDB::Table": "TimeToLiveSpecification"},
    "exports": {"AWS::FSx::FileSystem": "OpenZFSConfiguration"},
    "far_names": {**_WITH_ADDRESSES, **_SENDING},
    "flow_logs": {"AWS::EC2::FlowLog": "LogFormat", "AWS::Logs::MetricFilter": "FilterPattern"},
    "helm_commands": {"AWS::CodeBuild::Project": "Source"},
    "hosts": {
        "AWS::ApiGatewayV2::Integration": "IntegrationUri",
        "AWS::CodeBuild::Project": "Environment",
        "AWS::ECS::TaskDefinition": "ContainerDefinitions",
        "AWS::Lambda::Function": "Environment",
        "AWS::SSM::Parameter": "Value",
        "AWS::SageMaker::Model": "",
    },
    "identities": {
        "AWS::EKS::AccessEntry": "KubernetesGroups",
        "AWS::EKS::PodIdentityAssociation": "",
        "AWS::IAM::Policy": "PolicyDocument",
        "AWS::IAM::Role": "Policies",
    },
    "image_commands": {"AWS::CodeBuild::Project": "Source"},
    "jobs": {"AWS::Batch::JobDefinition": "PlatformCapabilities", "AWS::Batch::JobQueue": "ComputeEnvironmentOrder"},
    "layers": {"AWS::Lambda::Function": "", "AWS::Lambda::LayerVersion": "CompatibleArchitectures"},
    "log_filters": {"AWS::Logs::MetricFilter": "", "AWS::Logs::SubscriptionFilter": ""},
    "log_queries": {"AWS::Logs::LogGroup": "DataProtectionPolicy", "AWS::Logs::QueryDefinition": "QueryString"},
    "machines": {"AWS::StepFunctions::StateMachine": ""},
    "state_data": {"AWS::StepFunctions::StateMachine": ""},
    "metrics": {"AWS::CloudWatch::AnomalyDetector": "", "AWS::CloudWatch::MetricStream": ""},
    "named_by_scripts": _WITH_SCRIPTS,
    "named_in_calls": {"AWS::StepFunctions::StateMachine": ""},
    "near_arns": _SENDING,
    "near_names": {**dict.fromkeys(USES, ""), NESTED_STACK: "TemplateURL"},
    "model_servers": {"AWS::SageMaker::EndpointConfig": "ProductionVariants"},
    "model_pipelines": {
        "AWS::Events::Rule": "Targets",
        "AWS::SageMaker::Pipeline": "PipelineDefinition",
        "AWS::Scheduler::Schedule": "Target",
    },
    "networks": {
        **{one: asking.setting.split("/")[0] for one, asking in ASKING.items()},
        "AWS::EC2::SecurityGroup": "",
        "AWS::EC2::VPCEndpoint": "",
        "AWS::EC2::SecurityGroupEgress": "",
        "AWS::EC2::SecurityGroupIngress": "",
        "AWS::EC2::VPNConnection": "StaticRoutesOnly",
        "AWS::Route53::HostedZone": "VPCs",
    },
    "node_files": {"AWS::SageMaker::Cluster": "InstanceGroups"},
    "node_scripts": {"AWS::SageMaker::Cluster": "InstanceGroups"},
    "numbers": {one: kind.number for one, kind in NUMBERED.items()},
    "partners": {
        "AWS::AutoScaling::AutoScalingGroup": "",
        "AWS::EC2::Instance": "",
        "AWS::EC2::LaunchTemplate": "LaunchTemplateData",
        "AWS::EC2::VolumeAttachment": "VolumeId",
        "AWS::EKS::Nodegroup": "LaunchTemplate",
        "AWS::Route53::RecordSet": "AliasTarget",
    },
    "provisioning": {"AWS::SSM::Parameter": "Value", "AWS::SageMaker::Cluster": "InstanceGroups"},
    "record_families": {"AWS::Route53::RecordSet": "Name"},
    "recorded_series": {"AWS::APS::RuleGroupsNamespace": "Data"},
    "recorders": {"AWS::Config::ConfigRule": "Scope"},
    "prometheus": {"AWS::APS::AlertManagerDefinition": "Definition", "AWS::APS::Workspace": "AlertManagerDefinition"},
    "release_pipelines": {"AWS::CodePipeline::Pipeline": "Stages"},
    "replication_alarms": {"AWS::CloudWatch::Alarm": "MetricName"},
    "repository_tasks": {"AWS::Lambda::Function": "Code", "AWS::StepFunctions::StateMachine": ""},
    "restarts": {"AWS::StepFunctions::StateMachine": ""},
    "scaling": {
        "AWS::ApplicationAutoScaling::ScalableTarget": "ResourceId",
        "AWS::ApplicationAutoScaling::ScalingPolicy": "TargetTrackingScalingPolicyConfiguration",
    },
    "endpoints": {
        "AWS::SageMaker::Endpoint": "DeploymentConfig",
        "AWS::SageMaker::InferenceComponent": "VariantName",
        **{f"AWS::SageMaker::{job}JobDefinition": "RoleArn" for job in MONITORS},
    },
    "schedule_calls": {"AWS::Scheduler::Schedule": "Target"},
    "schedules": {
        "AWS::Backup::BackupPlan": "BackupPlan",
        "AWS::RDS::DBCluster": "PreferredBackupWindow",
        "AWS::RDS::DBInstance": "PreferredBackupWindow",
        "AWS::Scheduler::Schedule": "FlexibleTimeWindow",
        "AWS::SecretsManager::RotationSchedule": "RotationRules",
        "AWS::Synthetics::Canary": "RunConfig",
    },
    "spans": {one: found.place.split("/")[0] or found.end for one, found in SPANS.items()},
    "log_contents": {
        "AWS::Logs::MetricFilter": "FilterPattern",
        "AWS::Logs::QueryDefinition": "LogGroupNames",
        "AWS::Logs::SubscriptionFilter": "FilterPattern",
    },
    "log_names": {
        "AWS::Logs::MetricFilter": "LogGroupName",
        "AWS::Logs::QueryDefinition": "LogGroupNames",
        "AWS::Logs::SubscriptionFilter": "LogGroupName",
    },
    "secret_names": {"AWS::SageMaker::Cluster": "Orchestrator"},
    "service_logs": {
        "AWS::Lambda::Function": "LoggingConfig",
        "AWS::Logs::LogGroup": "",
        "AWS::Logs::MetricFilter": "FilterPattern",
        "AWS::Logs::SubscriptionFilter": "FilterPattern",
    },
    "source_filters": {"AWS::Lambda::EventSourceMapping": "EventSourceArn", "AWS::Pipes::Pipe": "SourceParameters"},
    "table_keys": {"AWS::Lambda::Function": "Runtime", "AWS::StepFunctions::StateMachine": ""},
    "unread_scripts": _WITH_SCRIPTS,
    "mounted_sources": _ON_MACHINES,
    "redirections": _WITH_SCRIPTS,
    "secrets_in_scripts": _ON_MACHINES,
    "shell_variables": _WITH_SCRIPTS,
    "slurm_files": _ON_MACHINES,
    "stack_sets": {"AWS::CloudFormation::StackSet": "TemplateBody"},
    "storage": {
        "AWS::Backup::BackupPlan": "BackupPlan",
        "AWS::Backup::BackupSelection": "BackupSelection",
        "AWS::DynamoDB::Table": "",
        "AWS::FSx::FileSystem": "",
        "AWS::S3::BucketPolicy": "PolicyDocument",
    },
    "ssm": {
        "AWS::SSM::Association": "Name",
        "AWS::SSM::Document": "Content",
        "AWS::SSM::MaintenanceWindowTask": "TaskArn",
        "AWS::SSM::Parameter": "AllowedPattern",
        "AWS::StepFunctions::StateMachine": "",
    },
    "suricata": {"AWS::NetworkFirewall::FirewallPolicy": "", "AWS::NetworkFirewall::RuleGroup": "RuleGroup"},
    "thresholds": {"AWS::CloudWatch::Alarm": "Threshold"},
    "trail_names": {"AWS::Logs::MetricFilter": "FilterPattern"},
    "user_data": _SCRIPTED,
    "waits": {"AWS::CodeBuild::Project": "TimeoutInMinutes", "AWS::Lambda::Function": "Code"},
}
"""The types that a module judges as a whole, each with the property without which there is nothing to judge."""
