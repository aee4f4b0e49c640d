"""Metrics of CloudWatch and the functions of metric math (from the sources below, neither dated nor measured)."""

from __future__ import annotations

from collections.abc import Mapping

# fmt: off
METRIC_FUNCTIONS = (
    "ABS", "ANOMALY_DETECTION_BAND", "AVG", "CEIL", "DATAPOINT_COUNT", "DB_PERF_INSIGHTS", "DIFF", "DIFF_TIME", "FILL",
    "FIRST", "LAST", "FLOOR", "IF", "INSIGHT_RULE_METRIC", "LAMBDA", "LOG", "LOG10", "MAX", "METRIC_COUNT", "METRICS",
    "MIN", "MINUTE", "HOUR", "DAY", "DATE", "MONTH", "YEAR", "EPOCH", "PERIOD", "RATE", "REMOVE_EMPTY", "RUNNING_SUM",
    "SEARCH", "SERVICE_QUOTA", "SLICE", "SORT", "STDDEV", "SUM", "TIME_SERIES", "AND", "OR",
)
# fmt: on
"""Source: https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html"""

CLUSTERS, CLUSTER_DIMENSION = "/aws/sagemaker/Clusters", "ClusterId"
"""The namespace of a Slurm cluster's own metrics, and their dimension: the last part of the cluster's ARN."""

METRICS: Mapping[str, tuple[str, ...]] = {
    CLUSTERS: (
        "cluster_node_count",
        "cluster_idle_node_count",
        "cluster_failed_node_count",
        "cluster_cpu_count",
        "cluster_idle_cpu_count",
        "cluster_gpu_count",
        "cluster_idle_gpu_count",
        "cluster_running_task_count",
        "cluster_pending_task_count",
        "cluster_preempted_task_count",
        "cluster_avg_task_wait_time",
        "cluster_max_task_wait_time",
        "node_gpu_utilization",
        "node_gpu_memory_utilization",
        "node_cpu_utilization",
        "node_memory_utilization",
    ),
    "AWS/FSx": (
        "DataReadBytes",
        "DataWriteBytes",
        "DataReadOperations",
        "DataWriteOperations",
        "MetadataOperations",
        "FreeDataStorageCapacity",
        "LogicalDiskUsage",
        "PhysicalDiskUsage",
        "UsedStorageCapacity",
        "StorageCapacity",
        "StorageCapacityUtilization",
        "AvailableStorageCapacity",
        "ClientConnections",
        "DataReadOperationTime",
        "DataWriteOperationTime",
        "DiskReadBytes",
        "DiskWriteBytes",
        "DiskReadOperations",
        "DiskWriteOperations",
        "NetworkThroughputUtilization",
        "CPUUtilization",
        "MemoryUtilization",
        "NfsBadCalls",
        "AgeOfOldestQueuedMessage",
    ),
    "AWS/Lambda": (
        "Invocations",
        "Errors",
        "DeadLetterErrors",
        "DestinationDeliveryFailures",
        "Throttles",
        "Duration",
        "IteratorAge",
        "OffsetLag",
        "ConcurrentExecutions",
        "UnreservedConcurrentExecutions",
        "ProvisionedConcurrentExecutions",
        "AsyncEventsReceived",
        "AsyncEventAge",
        "AsyncEventsDropped",
    ),
    "AWS/RDS": (
        "CPUUtilization",
        "CPUCreditBalance",
        "CPUCreditUsage",
        "DatabaseConnections",
        "DiskQueueDepth",
        "FreeableMemory",
        "FreeStorageSpace",
        "BurstBalance",
        "NetworkReceiveThroughput",
        "NetworkTransmitThroughput",
        "ReadIOPS",
        "ReadLatency",
        "ReadThroughput",
        "ReplicaLag",
        "SwapUsage",
        "WriteIOPS",
        "WriteLatency",
        "WriteThroughput",
    ),
    "AWS/SNS": ("NumberOfMessagesPublished", "NumberOfNotificationsDelivered", "NumberOfNotificationsFailed", "PublishSize"),
    "AWS/SQS": (
        "ApproximateAgeOfOldestMessage",
        "ApproximateNumberOfMessagesDelayed",
        "ApproximateNumberOfMessagesNotVisible",
        "ApproximateNumberOfMessagesVisible",
        "NumberOfEmptyReceives",
        "NumberOfMessagesDeleted",
        "NumberOfMessagesReceived",
        "NumberOfMessagesSent",
        "SentMessageSize",
    ),
    "AWS/States": (
        "ExecutionsAborted",
        "ExecutionsFailed",
        "ExecutionsStarted",
        "ExecutionsSucceeded",
        "ExecutionsTimedOut",
        "ExecutionThrottled",
        "ExecutionTime",
    ),
    "AWS/Events": (
        "FailedInvocations",
        "Invocations",
        "InvocationsFailedToBeSentToDlq",
        "MatchedEvents",
        "ThrottledRules",
        "TriggeredRules",
    ),
    "AWS/NATGateway": (
        "ActiveConnectionCount",
        "BytesInFromDestination",
        "BytesOutToDestination",
        "ErrorPortAllocation",
        "PacketsDropCount",
    ),
}
"""Metrics by namespace. A name that is not here is believed, unless it is one of these with a letter wrong.

Source: https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/aws-services-cloudwatch-metrics.html and
https://docs.aws.amazon.com/sagemaker/latest/dg/smcluster-slurm-metrics.html
"""

DIMENSIONS: Mapping[str, tuple[str, ...]] = {
    "AWS/Lambda": ("EventSourceMappingUUID", "ExecutedVersion", "FunctionName", "Resource"),
    "AWS/NATGateway": ("NatGatewayId",),
    "AWS/RDS": (
        "DBClusterIdentifier",
        "DBInstanceIdentifier",
        "DatabaseClass",
        "DbClusterIdentifier",
        "EngineName",
        "ProxyName",
        "Role",
        "SourceRegion",
        "Target",
        "TargetGroup",
        "TargetRole",
    ),
    "AWS/SNS": ("Application", "Country", "Platform", "SMSType", "TopicName"),
    "AWS/SQS": ("QueueName",),
}
"""Dimensions of namespaces, all of them (as of 2026-11-24).

Sources: https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html,
https://docs.aws.amazon.com/sns/latest/dg/sns-monitoring-using-cloudwatch.html,
https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html,
https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/dimensions.html and
https://docs.aws.amazon.com/vpc/latest/userguide/vpc-nat-gateway-cloudwatch.html
"""

DIMENSION_VALUES: Mapping[str, tuple[str, str]] = {
    "AutoScalingGroupName": ("AWS::AutoScaling::AutoScalingGroup", "Ref"),
    "BucketName": ("AWS::S3::Bucket", "Ref"),
    "DBClusterIdentifier": ("AWS::RDS::DBCluster", "Ref"),
    "DBInstanceIdentifier": ("AWS::RDS::DBInstance", "Ref"),
    "DeliveryStreamName": ("AWS::KinesisFirehose::DeliveryStream", "Ref"),
    "FileSystemId": ("AWS::FSx::FileSystem", "Ref"),
    "FunctionName": ("AWS::Lambda::Function", "Ref"),
    "LoadBalancer": ("AWS::ElasticLoadBalancingV2::LoadBalancer", "LoadBalancerFullName"),
    "LogGroupName": ("AWS::Logs::LogGroup", "Ref"),
    "NatGatewayId": ("AWS::EC2::NatGateway", "Ref"),
    "QueueName": ("AWS::SQS::Queue", "QueueName"),
    "StateMachineArn": ("AWS::StepFunctions::StateMachine", "Ref"),
    "StreamName": ("AWS::Kinesis::Stream", "Ref"),
    "TableName": ("AWS::DynamoDB::Table", "Ref"),
    "TargetGroup": ("AWS::ElasticLoadBalancingV2::TargetGroup", "TargetGroupFullName"),
    "TopicName": ("AWS::SNS::Topic", "TopicName"),
}
"""The type that a dimension of the services names, and the reference that gives its value; others give another value.

Sources: https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/aws-services-cloudwatch-metrics.html and
https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-template-resource-type-ref.html
"""
