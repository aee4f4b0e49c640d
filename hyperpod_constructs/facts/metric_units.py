"""Units in which services publish metrics (as of 2026-11-28; read, not measured).

An alarm with another unit finds no values, because CloudWatch converts none.

Sources: https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html,
https://docs.aws.amazon.com/sagemaker/latest/dg/monitoring-cloudwatch.html,
https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html,
https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html,
https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/rds-metrics.html,
https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/viewing_metrics_with_cloudwatch.html,
https://docs.aws.amazon.com/elasticloadbalancing/latest/application/load-balancer-cloudwatch-metrics.html,
https://docs.aws.amazon.com/fsx/latest/LustreGuide/fs-metrics.html, https://docs.aws.amazon.com/efs/latest/ug/efs-metrics.html,
https://docs.aws.amazon.com/AmazonS3/latest/userguide/metrics-dimensions.html and
https://docs.aws.amazon.com/step-functions/latest/dg/procedure-cw-metrics.html
"""

from __future__ import annotations

from collections.abc import Mapping

_OF: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "AWS/ApplicationELB": {"Seconds": ("TargetResponseTime",)},
    "AWS/DynamoDB": {"Milliseconds": ("SuccessfulRequestLatency",)},
    "AWS/EC2": {
        "Bytes": ("NetworkIn", "NetworkOut"),
        "Count": ("StatusCheckFailed", "StatusCheckFailed_Instance", "StatusCheckFailed_System"),
        "Percent": ("CPUUtilization",),
    },
    "AWS/EFS": {"Bytes": ("BurstCreditBalance", "StorageBytes"), "Count": ("ClientConnections",), "Percent": ("PercentIOLimit",)},
    "AWS/FSx": {"Bytes": ("DataReadBytes", "DataWriteBytes", "FreeDataStorageCapacity", "FreeStorageCapacity")},
    "AWS/Lambda": {
        "Count": ("ConcurrentExecutions", "Errors", "Invocations", "Throttles"),
        "Milliseconds": ("Duration", "IteratorAge"),
    },
    "AWS/RDS": {
        "Bytes": ("FreeStorageSpace", "FreeableMemory"),
        "Count": ("DatabaseConnections",),
        "Percent": ("CPUUtilization",),
        "Seconds": ("ReadLatency", "WriteLatency"),
    },
    "AWS/S3": {
        "Bytes": ("BucketSizeBytes",),
        "Count": ("NumberOfObjects",),
        "Milliseconds": ("FirstByteLatency", "TotalRequestLatency"),
    },
    "AWS/SQS": {
        "Count": ("ApproximateNumberOfMessagesNotVisible", "ApproximateNumberOfMessagesVisible", "NumberOfMessagesSent"),
        "Seconds": ("ApproximateAgeOfOldestMessage",),
    },
    "AWS/SageMaker": {"Microseconds": ("ModelLatency", "OverheadLatency")},
    "AWS/States": {"Count": ("ExecutionsFailed", "ExecutionsStarted", "ExecutionsTimedOut"), "Milliseconds": ("ExecutionTime",)},
}
UNITS: Mapping[tuple[str, str], str] = {
    (space, name): unit for space, units in _OF.items() for unit, names in units.items() for name in names
}
"""By namespace and metric; others are not known."""
