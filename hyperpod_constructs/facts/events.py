"""Events of EventBridge: operators of patterns, fields, types, sources (from the sources below, neither dated nor measured)."""

from __future__ import annotations

from collections.abc import Mapping

PATTERN_OPERATORS = (
    "prefix",
    "suffix",
    "anything-but",
    "numeric",
    "cidr",
    "exists",
    "equals-ignore-case",
    "wildcard",
)
EVENT_FIELDS = ("version", "id", "detail-type", "source", "account", "time", "region", "resources", "detail", "replay-name")
"""The fields of every event.

Source: https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-events-structure.html
"""

CLUSTER_STATE = "SageMaker HyperPod Cluster State Change"
NODE_HEALTH = "SageMaker HyperPod Cluster Node Health Event"
CLUSTER_EVENT = "SageMaker HyperPod Cluster Event"

BRIDGED = "hyperpod-constructs"
"""The source of events that this library sends; only AWS may send those of `aws.sagemaker`."""

LEVELS = ("Info", "Warn", "Error")
"""The levels of events, the lowest first."""

HEALTHY, UNHEALTHY = "Healthy", "Unhealthy"
"""The status of a node in a health event, which is none of the words of its label.

The page has an example of an unhealthy node, and says that a node which is healthy again has an event too (as of 2026-11-27).

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/automating-sagemaker-with-eventbridge.html
"""

HYPERPOD_EVENTS: Mapping[str, tuple[str, ...]] = {
    CLUSTER_STATE: (
        "ClusterArn",
        "ClusterName",
        "ClusterStatus",
        "CreationTime",
        "FailureMessage",
        "InstanceGroups",
        "RestrictedInstanceGroups",
        "VpcConfig",
        "Orchestrator",
        "NodeRecovery",
        "Tags",
    ),
    NODE_HEALTH: ("ClusterArn", "ClusterName", "InstanceId", "Tags", "HealthSummary"),
    CLUSTER_EVENT: ("EventDetails",),
}
"""Events of clusters by their `detail-type`, and the fields of `detail`.

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-resiliency-node-recovery.html and
https://docs.aws.amazon.com/sagemaker/latest/dg/automating-sagemaker-with-eventbridge.html
"""

FIELDS_OF: Mapping[str, tuple[str, ...]] = {
    "HealthSummary": ("HealthStatus", "HealthStatusReason", "RepairAction", "Recommendation"),
    "EventDetails": (
        *("EventId", "ClusterArn", "ClusterName", "InstanceGroupName", "InstanceId", "ResourceType", "EventTime", "EventLevel"),
        *("EventDetails", "Description"),
    ),
}
"""The fields of an object in `detail`, by its name (as of 2026-11-27).

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-resiliency-node-recovery.html and
https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-cluster-events-reference.html
"""

NO_SOURCES: Mapping[str, str] = {
    "cloudwatch": "monitoring",
    "efs": "elasticfilesystem",
    "elb": "elasticloadbalancing",
    "emr": "elasticmapreduce",
    "eventbridge": "events",
    "hyperpod": "sagemaker",
    "opensearch": "es",
    "stepfunctions": "states",
}
"""Names of services that are no `eventSource` of CloudTrail, each with the one of that service (as of 2026-11-28).

Source: https://docs.aws.amazon.com/awscloudtrail/latest/userguide/cloudtrail-event-reference-record-contents.html
"""

QUEUE_RECORD = (
    *("messageId", "receiptHandle", "body", "attributes", "messageAttributes", "md5OfBody", "md5OfMessageAttributes"),
    *("eventSource", "eventSourceARN", "awsRegion"),
)
TOPIC_RECORD = ("EventVersion", "EventSubscriptionArn", "EventSource", "Sns")
TOPIC_MESSAGE = (
    *("Type", "MessageId", "TopicArn", "Subject", "Message", "Timestamp", "SignatureVersion", "Signature"),
    *("SigningCertUrl", "SigningCertURL", "UnsubscribeUrl", "UnsubscribeURL", "MessageAttributes"),
)
"""The fields of a record that Lambda gets from a queue or a topic, and of the message in the latter (as of 2026-11-27).

Source: https://docs.aws.amazon.com/lambda/latest/dg/with-sqs.html and https://docs.aws.amazon.com/lambda/latest/dg/with-sns.html
"""

REQUEST_EVENT = (
    *("LogicalResourceId", "OldResourceProperties", "PhysicalResourceId", "RequestId", "RequestType", "ResourceProperties"),
    *("ResourceType", "ResponseURL", "ServiceToken", "StackId"),
)
"""What CloudFormation, or the framework of CDK's providers, tells the function of a custom resource.

Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/crpg-ref-requests.html (as of 2026-11-29)
"""
REQUEST_TYPES = ("Create", "Update", "Delete")
ROTATION_EVENT = ("ClientRequestToken", "RotationToken", "SecretId", "Step")
ROTATION_STEPS = ("createSecret", "setSecret", "testSecret", "finishSecret")
"""What Secrets Manager gives to a function that rotates a secret (as of 2026-11-29).

Source: https://docs.aws.amazon.com/secretsmanager/latest/userguide/rotate-secrets_lambda-functions.html
"""

SAGEMAKER_EVENTS = (
    *HYPERPOD_EVENTS,
    "SageMaker Model State Change",
    "SageMaker Training Job State Change",
    "SageMaker HyperParameter Tuning Job State Change",
    "SageMaker Transform Job State Change",
    "SageMaker Endpoint State Change",
    "SageMaker Endpoint Deployment State Change",
    "SageMaker Endpoint Config State Change",
    "SageMaker Feature Group State Change",
    "SageMaker Model Package State Change",
    "SageMaker Model Building Pipeline Execution Status Change",
    "SageMaker Model Building Pipeline Execution Step Status Change",
    "SageMaker Image State Change",
    "SageMaker Image Version State Change",
    "SageMaker Model Card State Change",
    "SageMaker Processing Job State Change",
    "SageMaker Inference Component State Change",
    "AWS API Call via CloudTrail",
)
API_CALL = "AWS API Call via CloudTrail"
ANY_SOURCE = ("aws.partner",)
EVENT_SOURCES: Mapping[str, str] = {
    **{name: "aws.sagemaker" for name in SAGEMAKER_EVENTS if name.startswith("SageMaker ")},
    "CloudWatch Alarm State Change": "aws.cloudwatch",
    "EC2 Instance State-change Notification": "aws.ec2",
    "EC2 Spot Instance Interruption Warning": "aws.ec2",
    "AWS Health Event": "aws.health",
    "Scheduled Event": "aws.events",
    "ECR Image Action": "aws.ecr",
    "ECR Image Scan": "aws.ecr",
    "Step Functions Execution Status Change": "aws.states",
    "Backup Job State Change": "aws.backup",
    "CloudFormation Stack Status Change": "aws.cloudformation",
}
"""The source of events by their `detail-type`.

Source: https://docs.aws.amazon.com/eventbridge/latest/ref/events.html
"""

_JOB_STATUS = ("InProgress", "Completed", "Failed", "Stopping", "Stopped")
_CLUSTER_STATUS = ("Creating", "Deleting", "Failed", "InService", "RollingBack", "SystemUpdating", "Updating")
_PIPELINE = ("STARTED", "SUCCEEDED", "FAILED", "CANCELED")
EVENT_WORDS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    CLUSTER_STATE: {"ClusterStatus": _CLUSTER_STATUS},
    NODE_HEALTH: {"HealthSummary/HealthStatus": (HEALTHY, UNHEALTHY)},
    CLUSTER_EVENT: {"EventDetails/EventLevel": LEVELS},
    "SageMaker Model Package State Change": {"ModelApprovalStatus": ("Approved", "Rejected", "PendingManualApproval")},
    **{
        f"SageMaker {job} Job State Change": {f"{job}JobStatus": (*_JOB_STATUS, *(("Deleting",) if job == "Training" else ()))}
        for job in ("Processing", "Training", "Transform")
    },
    "CloudWatch Alarm State Change": {"state/value": ("ALARM", "OK", "INSUFFICIENT_DATA")},
    "EC2 Instance State-change Notification": {
        "state": ("pending", "running", "shutting-down", "stopped", "stopping", "terminated")
    },
    "CodeBuild Build State Change": {"build-status": ("IN_PROGRESS", "SUCCEEDED", "FAILED", "FAULT", "STOPPED", "TIMED_OUT")},
    "DataSync Task Execution State Change": {
        "State": (*("QUEUED", "CANCELLING", "LAUNCHING", "PREPARING", "TRANSFERRING", "VERIFYING", "CANCELLED"), "SUCCESS", "ERROR")
    },
    "Step Functions Execution Status Change": {
        "status": ("RUNNING", "SUCCEEDED", "FAILED", "TIMED_OUT", "ABORTED", "PENDING_REDRIVE")
    },
    "Backup Job State Change": {
        "state": (*("CREATED", "PENDING", "RUNNING", "ABORTING", "ABORTED", "COMPLETED", "FAILED", "EXPIRED"), "PARTIAL")
    },
    "Copy Job State Change": {"state": ("CREATED", "RUNNING", "COMPLETED", "FAILED", "PARTIAL")},
    "Restore Job State Change": {"status": ("PENDING", "RUNNING", "COMPLETED", "ABORTED", "FAILED")},
    "Batch Job State Change": {
        "status": ("SUBMITTED", "PENDING", "RUNNABLE", "STARTING", "RUNNING", "SUCCEEDED", "FAILED"),
    },
    "CodePipeline Pipeline Execution State Change": {"state": (*_PIPELINE, "RESUMED", "STOPPING", "STOPPED", "SUPERSEDED")},
    "CodePipeline Stage Execution State Change": {"state": (*_PIPELINE, "RESUMED", "STOPPING", "STOPPED")},
    "CodePipeline Action Execution State Change": {"state": (*_PIPELINE, "ABANDONED")},
    "AWS Health Event": {"eventTypeCategory": ("issue", "accountNotification", "scheduledChange", "investigation")},
    "EC2 Spot Instance Interruption Warning": {"instance-action": ("hibernate", "stop", "terminate")},
    "ECR Image Action": {"action-type": ("PUSH", "DELETE"), "result": ("SUCCESS", "FAILURE")},
}
"""Fields of `detail` with fixed words, by the type of the event.

Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_DescribeCluster.html,
https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_DescribeTrainingJob.html,
https://docs.aws.amazon.com/sagemaker/latest/dg/automating-sagemaker-with-eventbridge.html,
https://docs.aws.amazon.com/codebuild/latest/APIReference/API_Build.html,
https://docs.aws.amazon.com/datasync/latest/userguide/API_DescribeTaskExecution.html,
https://docs.aws.amazon.com/aws-backup/latest/devguide/API_DescribeBackupJob.html,
https://docs.aws.amazon.com/aws-backup/latest/devguide/API_DescribeCopyJob.html,
https://docs.aws.amazon.com/aws-backup/latest/devguide/API_DescribeRestoreJob.html,
https://docs.aws.amazon.com/batch/latest/APIReference/API_JobDetail.html,
https://docs.aws.amazon.com/codepipeline/latest/userguide/detect-state-changes-cloudwatch-events.html,
https://docs.aws.amazon.com/health/latest/ug/aws-health-events-eventbridge-schema.html,
https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-instance-termination-notices.html,
https://docs.aws.amazon.com/AmazonECR/latest/userguide/ecr-eventbridge.html and
https://docs.aws.amazon.com/eventbridge/latest/ref/events.html
"""

OTHER_EVENTS: Mapping[str, tuple[str, ...]] = {
    "aws.s3": (
        *("Object Created", "Object Deleted", "Object Restore Initiated", "Object Restore Completed", "Object Restore Expired"),
        *("Object Storage Class Changed", "Object Access Tier Changed", "Object ACL Updated", "Object Tags Added"),
        *("Object Tags Deleted", "Async Copy Completion"),
    ),
    "aws.codebuild": ("CodeBuild Build State Change", "CodeBuild Build Phase Change", "CodeBuild Fleet State Change"),
    "aws.codepipeline": (
        *("CodePipeline Pipeline Execution State Change", "CodePipeline Stage Execution State Change"),
        "CodePipeline Action Execution State Change",
    ),
    "aws.batch": (
        *("Batch Job State Change", "Batch Job Queue Blocked", "Batch Service Job State Change"),
        "Batch Service Job Queue Blocked",
    ),
    "aws.ecr": (
        *("ECR Image Action", "ECR Image Scan", "ECR Replication Action", "ECR Artifact Action", "ECR Referrer Action"),
        *("ECR Scan Resource Change", "ECR Pull Through Cache Action"),
    ),
    "aws.states": ("Step Functions Execution Status Change",),
    "aws.cloudwatch": (
        *("CloudWatch Alarm State Change", "CloudWatch Alarm Configuration Change"),
        "CloudWatch Alarm Contributor State Change",
    ),
    "aws.datasync": (
        *("DataSync Task Execution State Change", "DataSync Task State Change", "DataSync Agent State Change"),
        "DataSync Location State Change",
    ),
    "aws.rds": (
        *("RDS DB Instance Event", "RDS DB Cluster Event", "RDS DB Snapshot Event", "RDS DB Cluster Snapshot Event"),
        *("RDS DB Security Group Event", "RDS DB Parameter Group Event", "RDS Custom Engine Version Event"),
        *("RDS Blue Green Deployment Event", "RDS DB Shard Group Event", "RDS DB Proxy Event", "RDS Zero ETL Event"),
    ),
    "aws.backup": (
        *("Backup Job State Change", "Copy Job State Change", "Restore Job State Change", "Backup Vault State Change"),
        *("Backup Plan State Change", "Recovery Point Change", "Recovery Point State Change", "Region Setting State Change"),
        "Recovery Point Index State Change",
    ),
    "aws.ec2": (
        *("EC2 Instance State-change Notification", "EC2 Spot Instance Interruption Warning"),
        *("EC2 Instance Rebalance Recommendation", "EC2 Spot Instance Rebalance Recommended"),
        *("EC2 Spot Instance Request Fulfillment", "EBS Snapshot Notification", "EBS Volume Notification"),
        *("EC2 AMI State Change", "EC2 AMI Available", "EC2 AMI Failed"),
        *("Capacity Block Delivered", "Capacity Block Expiration Warning"),
    ),
    "aws.health": ("AWS Health Event", "AWS Health Abuse Event"),
}
"""Events of other services by their source; there may be more (as of 2026-11-27).

Source: the page of each service below https://docs.aws.amazon.com/eventbridge/latest/ref/events.html, such as
https://docs.aws.amazon.com/eventbridge/latest/ref/events-ref-backup.html, and for service jobs of Batch
https://docs.aws.amazon.com/batch/latest/userguide/service-job-events.html and
https://docs.aws.amazon.com/batch/latest/userguide/batch-service-job-queue-blocked-events.html
"""

STATES = (
    *("aborted", "canceled", "cancelled", "completed", "created", "deleted", "expired", "failed", "failure", "finished"),
    *("running", "started", "stopped", "succeeded", "success", "timedout"),
)
"""Words for a state, in small letters: events have it in `detail`, and not in their type.

Source: https://docs.aws.amazon.com/eventbridge/latest/ref/events.html (as of 2026-11-30)
"""

OF_OWN_RESOURCES: Mapping[str, str] = {
    f"aws.{name}": name for name in ("cloudwatch", "codebuild", "ecr", "ecs", "rds", "s3", "sagemaker", "states")
}
"""Sources whose events name resources of one service alone, with the service as ARNs spell it.

Source: https://docs.aws.amazon.com/eventbridge/latest/ref/welcome.html
"""

NAMES_BY_TYPE: Mapping[str, tuple[str, tuple[str, ...], str]] = {
    **dict.fromkeys(
        ("SageMaker Endpoint State Change", "SageMaker Endpoint Deployment State Change"),
        ("EndpointName", ("AWS::SageMaker::Endpoint",), "EndpointName"),
    ),
    "SageMaker Feature Group State Change": ("FeatureGroupName", ("AWS::SageMaker::FeatureGroup",), "FeatureGroupName"),
    "SageMaker Model Package State Change": (
        "ModelPackageGroupName",
        ("AWS::SageMaker::ModelPackageGroup",),
        "ModelPackageGroupName",
    ),
}
"""The field of `detail` with the name of a resource, its types and its property, by the type of the event (as of 2026-11-27).

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/automating-sagemaker-with-eventbridge.html
"""

NAMES_IN_EVENTS: Mapping[str, tuple[str, tuple[str, ...], str]] = {
    "aws.cloudwatch": ("alarmName", ("AWS::CloudWatch::Alarm", "AWS::CloudWatch::CompositeAlarm"), "AlarmName"),
    "aws.codebuild": ("project-name", ("AWS::CodeBuild::Project",), "Name"),
    "aws.ecr": ("repository-name", ("AWS::ECR::Repository",), "RepositoryName"),
    "aws.s3": ("bucket/name", ("AWS::S3::Bucket",), "BucketName"),
    "aws.sagemaker": ("ClusterName", ("AWS::SageMaker::Cluster",), "ClusterName"),
}
"""The field of `detail` with the name of a resource, its types and its property, by the source of the event (as of 2026-11-27).

Sources: https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/cloudwatch-and-eventbridge.html,
https://docs.aws.amazon.com/codebuild/latest/userguide/sample-build-notifications-ref.html,
https://docs.aws.amazon.com/AmazonECR/latest/userguide/ecr-eventbridge.html,
https://docs.aws.amazon.com/AmazonS3/latest/userguide/ev-events.html and
https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-resiliency-node-recovery.html
"""

_CLUSTER, _DB = "sagemaker:cluster/", {"RDS DB Instance Event": "rds:db:", "RDS DB Cluster Event": "rds:cluster:"}
ARNS_IN_EVENTS: Mapping[str, Mapping[str, str]] = {
    CLUSTER_STATE: {"resources": _CLUSTER, "detail/ClusterArn": _CLUSTER},
    NODE_HEALTH: {"resources": _CLUSTER, "detail/ClusterArn": _CLUSTER},
    CLUSTER_EVENT: {"resources": _CLUSTER, "detail/EventDetails/ClusterArn": _CLUSTER},
    "SageMaker Training Job State Change": dict.fromkeys(("resources", "detail/TrainingJobArn"), "sagemaker:training-job/"),
    "SageMaker Endpoint State Change": dict.fromkeys(("resources", "detail/EndpointArn"), "sagemaker:endpoint/"),
    "SageMaker Model Package State Change": dict.fromkeys(("resources", "detail/ModelPackageArn"), "sagemaker:model-package/"),
    "SageMaker Model Building Pipeline Execution Status Change": {"detail/pipelineArn": "sagemaker:pipeline/"},
    "Step Functions Execution Status Change": {
        "resources": "states:execution:",
        "detail/executionArn": "states:execution:",
        "detail/stateMachineArn": "states:stateMachine:",
    },
    "Batch Job State Change": {
        "resources": "batch:job/",
        "detail/jobQueue": "batch:job-queue/",
        "detail/jobDefinition": "batch:job-definition/",
    },
    "CloudWatch Alarm State Change": {"resources": "cloudwatch:alarm:"},
    "CodeBuild Build State Change": dict.fromkeys(("resources", "detail/build-id"), "codebuild:build/"),
    "DataSync Task Execution State Change": {"resources": "datasync:task/"},
    "EC2 Instance State-change Notification": {"resources": "ec2:instance/"},
    "EC2 Spot Instance Interruption Warning": {"resources": "ec2:instance/"},
    "ECS Task State Change": {
        "resources": "ecs:task/",
        "detail/clusterArn": "ecs:cluster/",
        "detail/taskDefinitionArn": "ecs:task-definition/",
    },
    "Backup Job State Change": {"detail/backupVaultArn": "backup:backup-vault:"},
    "CloudFormation Stack Status Change": dict.fromkeys(("resources", "detail/stack-id"), "cloudformation:stack/"),
    **{name: dict.fromkeys(("resources", "detail/SourceArn"), kind) for name, kind in _DB.items()},
}
"""The fields with ARNs by the type of the event, and the service and the kind in such ARNs (as of 2026-11-29).

Sources: https://docs.aws.amazon.com/sagemaker/latest/dg/automating-sagemaker-with-eventbridge.html,
https://docs.aws.amazon.com/step-functions/latest/dg/eventbridge-integration.html,
https://docs.aws.amazon.com/batch/latest/userguide/batch_job_events.html,
https://docs.aws.amazon.com/codebuild/latest/userguide/sample-build-notifications-ref.html,
https://docs.aws.amazon.com/AmazonECS/latest/developerguide/ecs_task_events.html,
https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/rds-cloud-watch-events.sample.html and the page of each service below
https://docs.aws.amazon.com/eventbridge/latest/ref/events.html
"""

CHANGE_RECORD = ("awsRegion", "dynamodb", "eventID", "eventName", "eventSource", "eventSourceARN", "eventVersion", "userIdentity")
CHANGE = ("ApproximateCreationDateTime", "Keys", "NewImage", "OldImage", "SequenceNumber", "SizeBytes", "StreamViewType")
CHANGE_NAMES = ("INSERT", "MODIFY", "REMOVE")
IMAGES_OF: Mapping[str, tuple[str, ...]] = {"KEYS_ONLY": (), "NEW_IMAGE": ("NewImage",), "OLD_IMAGE": ("OldImage",)}
VALUE_TYPES = ("S", "N", "B", "BOOL", "NULL", "M", "L", "SS", "NS", "BS")
"""A record of a table's stream, the change in it, the kinds of changes, the images by the view of the stream, the types of values.

Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_streams_Record.html (as of 2026-11-28)
"""
