"""Texts in the log group of a cluster that tell of a failure, as patterns of metric filters (read, not measured).

A filter cannot be limited to some streams, so each pattern is narrow enough for all of them. AWS's example scripts are in Python
too, and end with a traceback.

Sources: https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/FilterAndPatternSyntax.html,
https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-resiliency-health-monitoring-agent.html and
https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html
"""

from __future__ import annotations

DETECTION = "HealthMonitoringAgentDetectionEvent"
"""In each line of the health agent about a fault."""

LIFECYCLE = '?"node_setup failed:" ?"Traceback (most recent call last)"'
CAPACITY = '?InsufficientInstanceCapacity ?InsufficientCapacity ?"sufficient capacity"'
PERMISSIONS = '?AccessDenied ?UnauthorizedOperation ?"is not authorized to perform"'
HEALTH = DETECTION
