"""The file in which nodes find the groups and the instances of their cluster (as of 2026-12-01).

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-lifecycle-best-practices-slurm-slurm-base-config.html
"""

from __future__ import annotations

FOLDER = "/opt/ml"
"""Below it is what the service puts on nodes."""
RESOURCE_CONFIG = f"{FOLDER}/config/resource_config.json"

CLUSTER_TYPE, CLUSTER_CONFIG, GROUPS = "ClusterType", "ClusterConfig", "InstanceGroups"
"""What the file has; the example of the page is without a `ClusterType`."""
OF_CLUSTER = ("ClusterArn", "ClusterName")
NAME, TYPE, INSTANCES = "Name", "InstanceType", "Instances"
"""What it says of each group."""
OF_INSTANCE = ("AgentIpAddress", "CustomerIpAddress", "InstanceId", "InstanceName")
"""What it says of each instance."""
