"""Actions on a cluster of those who run it, by the grant that gives them (`cluster.grants`).

Source: https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonsagemaker.html
"""

from __future__ import annotations

from hyperpod_constructs.facts import session_manager

READ = ("DescribeCluster", "DescribeClusterEvent", "DescribeClusterNode", "ListClusterEvents", "ListClusterNodes")
"""See the cluster, its nodes and its events."""

MANAGE_NODES = (
    "BatchAddClusterNodes",
    "BatchDeleteClusterNodes",
    "BatchRebootClusterNodes",
    "BatchReplaceClusterNodes",
    "StartClusterHealthCheck",
    "UpdateClusterSoftware",
)
"""Add, delete, reboot, replace and examine nodes, and update their software."""

READ_LOGS = "logs:FilterLogEvents"
"""Read the log group of the cluster's nodes."""

GRANTS = {
    **{f"sagemaker:{name}": "read" for name in READ},
    **{f"sagemaker:{name}": "manage_nodes" for name in MANAGE_NODES},
    READ_LOGS: "read_logs",
    **dict.fromkeys(("ssm:StartSession", *session_manager.OWN_SESSIONS), "connect"),
}
"""By action: the method of `cluster.grants` that gives it."""
