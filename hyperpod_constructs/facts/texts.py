"""Texts in a language of their own: which property of which type holds which language (not measured).

The grammars stand in `analysis.texts`.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class Language(StrEnum):
    """The language of a text."""

    EVENT_SCHEDULE = "cron or rate of EventBridge"
    SCHEDULE = "cron, rate or at"
    CRON = "cron"
    CRON_OR_RATE = "cron or rate"
    SYSTEMS_MANAGER = "cron with seconds, rate or at"
    UNIX_CRON = "five fields of cron"
    ROTATION = "cron or rate of a rotation"
    ZONE = "time zone"
    WEEKLY = "weekly window"
    WEEKLY_HOUR = "weekly window of an hour"
    DAILY = "daily window"
    EVENTS = "event pattern"
    MESSAGES = "filter of messages"
    STATISTIC = "statistic"
    EXTENDED = "extended statistic"
    PERIOD = "period"
    MISSING = "treatment of missing data"
    DASHBOARD = "dashboard"
    LOGS = "filter of logs"
    JSON = "JSON"
    POLICY = "policy in JSON"
    IDENTITY = "policy of an identity in JSON"
    IMAGES = "rules for images"
    RULES = "rules of Prometheus"
    ALERTS = "definition of Alertmanager"
    SCRAPES = "configuration of a scraper"
    DOMAIN = "domain name"
    ACTION = "ARN of an action"
    TOPIC = "ARN of a topic"
    QUEUE = "ARN of a queue"
    QUEUE_OR_TOPIC = "ARN of a queue or topic"
    FUNCTION = "ARN of a function"
    SOURCE = "ARN of an event source"
    RECEIVER = "ARN of a receiver of results"
    SUBSCRIBER = "ARN of a receiver of logs"
    LOG_GROUP = "ARN of a log group"


_MATCHES = "FilterCriteria/Filters/*/Pattern"
_DATABASE = {"PreferredMaintenanceWindow": Language.WEEKLY, "PreferredBackupWindow": Language.DAILY}
_CLUSTERED = {"PreferredMaintenanceWindow": Language.WEEKLY}
_CACHE = {"PreferredMaintenanceWindow": Language.WEEKLY_HOUR, "SnapshotWindow": Language.DAILY}
_POLICY = {"PolicyDocument": Language.POLICY}
_OF_IDENTITY = {"PolicyDocument": Language.IDENTITY}
_OF_IDENTITIES = {"Policies/*/PolicyDocument": Language.IDENTITY}
_ACTIONS = dict.fromkeys(("AlarmActions/*", "OKActions/*", "InsufficientDataActions/*"), Language.ACTION)

LANGUAGES: Mapping[str, Mapping[str, Language]] = {
    "AWS::APS::AlertManagerDefinition": {"Definition": Language.ALERTS},
    "AWS::APS::ResourcePolicy": {"PolicyDocument": Language.POLICY},
    "AWS::APS::RuleGroupsNamespace": {"Data": Language.RULES},
    "AWS::APS::Scraper": {"ScrapeConfiguration/ConfigurationBlob": Language.SCRAPES},
    "AWS::APS::Workspace": {
        "AlertManagerDefinition": Language.ALERTS,
        "LoggingConfiguration/LogGroupArn": Language.LOG_GROUP,
        "QueryLoggingConfiguration/Destinations/*/CloudWatchLogs/LogGroupArn": Language.LOG_GROUP,
    },
    "AWS::ApplicationAutoScaling::ScalableTarget": {
        "ScheduledActions/*/Schedule": Language.SCHEDULE,
        "ScheduledActions/*/Timezone": Language.ZONE,
    },
    "AWS::AutoScaling::ScheduledAction": {"Recurrence": Language.UNIX_CRON, "TimeZone": Language.ZONE},
    "AWS::Backup::BackupPlan": {
        "BackupPlan/BackupPlanRule/*/ScheduleExpression": Language.CRON,
        "BackupPlan/BackupPlanRule/*/ScheduleExpressionTimezone": Language.ZONE,
    },
    "AWS::Backup::BackupVault": {"Notifications/SNSTopicArn": Language.TOPIC},
    "AWS::CloudWatch::Alarm": {
        "ExtendedStatistic": Language.EXTENDED,
        "Period": Language.PERIOD,
        "TreatMissingData": Language.MISSING,
        "Metrics/*/MetricStat/Period": Language.PERIOD,
        "Metrics/*/MetricStat/Stat": Language.STATISTIC,
        "Metrics/*/Period": Language.PERIOD,
        **_ACTIONS,
    },
    "AWS::CloudWatch::AnomalyDetector": {
        "Configuration/MetricTimeZone": Language.ZONE,
        "SingleMetricAnomalyDetector/Stat": Language.STATISTIC,
        "Stat": Language.STATISTIC,
    },
    "AWS::CloudWatch::CompositeAlarm": _ACTIONS,
    "AWS::CloudWatch::Dashboard": {"DashboardBody": Language.DASHBOARD},
    "AWS::CloudWatch::MetricStream": {"StatisticsConfigurations/*/AdditionalStatistics/*": Language.EXTENDED},
    "AWS::DocDB::DBCluster": _DATABASE,
    "AWS::DocDB::DBInstance": _CLUSTERED,
    "AWS::EC2::VPCEndpoint": _POLICY,
    "AWS::ECR::Repository": {"LifecyclePolicy/LifecyclePolicyText": Language.IMAGES, "RepositoryPolicyText": Language.POLICY},
    "AWS::EFS::FileSystem": {"FileSystemPolicy": Language.POLICY},
    "AWS::ElastiCache::CacheCluster": _CACHE,
    "AWS::ElastiCache::ReplicationGroup": _CACHE,
    "AWS::Events::Archive": {"EventPattern": Language.EVENTS},
    "AWS::Events::Rule": {"ScheduleExpression": Language.EVENT_SCHEDULE, "EventPattern": Language.EVENTS},
    "AWS::Glue::Crawler": {"Schedule/ScheduleExpression": Language.CRON},
    "AWS::Glue::Trigger": {"Schedule": Language.CRON},
    "AWS::IAM::Group": _OF_IDENTITIES,
    "AWS::IAM::GroupPolicy": _OF_IDENTITY,
    "AWS::IAM::ManagedPolicy": _OF_IDENTITY,
    "AWS::IAM::Policy": _OF_IDENTITY,
    "AWS::IAM::Role": {"AssumeRolePolicyDocument": Language.POLICY, **_OF_IDENTITIES},
    "AWS::IAM::RolePolicy": _OF_IDENTITY,
    "AWS::IAM::User": _OF_IDENTITIES,
    "AWS::ImageBuilder::ImagePipeline": {"Schedule/TimeZone": Language.ZONE},
    "AWS::KMS::Key": {"KeyPolicy": Language.POLICY},
    "AWS::Lambda::EventInvokeConfig": {
        "DestinationConfig/OnFailure/Destination": Language.RECEIVER,
        "DestinationConfig/OnSuccess/Destination": Language.RECEIVER,
    },
    "AWS::Lambda::EventSourceMapping": {_MATCHES: Language.MESSAGES, "EventSourceArn": Language.SOURCE},
    "AWS::Lambda::Function": {"DeadLetterConfig/TargetArn": Language.QUEUE_OR_TOPIC},
    "AWS::Logs::AccountPolicy": {"PolicyDocument": Language.JSON},
    "AWS::Logs::MetricFilter": {"FilterPattern": Language.LOGS},
    "AWS::Logs::ResourcePolicy": {"PolicyDocument": Language.POLICY},
    "AWS::Logs::ScheduledQuery": {"ScheduleExpression": Language.CRON, "Timezone": Language.ZONE},
    "AWS::Logs::SubscriptionFilter": {"FilterPattern": Language.LOGS, "DestinationArn": Language.SUBSCRIBER},
    "AWS::MemoryDB::Cluster": {"MaintenanceWindow": Language.WEEKLY_HOUR, "SnapshotWindow": Language.DAILY},
    "AWS::Neptune::DBCluster": _DATABASE,
    "AWS::Pipes::Pipe": {f"SourceParameters/{_MATCHES}": Language.MESSAGES},
    "AWS::RDS::DBCluster": _DATABASE,
    "AWS::RDS::DBInstance": _DATABASE,
    "AWS::RDS::EventSubscription": {"SnsTopicArn": Language.TOPIC},
    "AWS::Redshift::Cluster": _CLUSTERED,
    "AWS::Route53::HostedZone": {"Name": Language.DOMAIN},
    "AWS::S3::BucketPolicy": _POLICY,
    "AWS::SNS::TopicPolicy": {"Topics/*": Language.TOPIC, **_POLICY},
    "AWS::SQS::QueuePolicy": _POLICY,
    "AWS::SSM::Association": {"ScheduleExpression": Language.SYSTEMS_MANAGER},
    "AWS::SSM::MaintenanceWindow": {"Schedule": Language.SYSTEMS_MANAGER, "ScheduleTimezone": Language.ZONE},
    "AWS::Scheduler::Schedule": {
        "ScheduleExpression": Language.SCHEDULE,
        "ScheduleExpressionTimezone": Language.ZONE,
        "Target/DeadLetterConfig/Arn": Language.QUEUE,
    },
    "AWS::SecretsManager::ResourcePolicy": {"ResourcePolicy": Language.POLICY},
    "AWS::SecretsManager::RotationSchedule": {
        "RotationRules/ScheduleExpression": Language.ROTATION,
        "RotationLambdaARN": Language.FUNCTION,
    },
    "AWS::StepFunctions::StateMachine": {
        "LoggingConfiguration/Destinations/*/CloudWatchLogsLogGroup/LogGroupArn": Language.LOG_GROUP,
    },
    "AWS::Synthetics::Canary": {"Schedule/Expression": Language.CRON_OR_RATE},
    "Custom::AWSCDK-EKS-HelmChart": {"Values": Language.JSON},
    "Custom::AWSCDK-EKS-KubernetesResource": {"Manifest": Language.JSON},
}
"""The texts of a type by their paths; `*` stands for any item.

Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-template-resource-type-ref.html
"""
