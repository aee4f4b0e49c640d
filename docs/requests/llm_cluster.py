"""The cluster of the article by boto3, in the bucket and with the role of the page: creates it, waits for it, lists its nodes."""

from __future__ import annotations

import time
from typing import Any

import boto3

NAME = "llm-training-cluster"
ROLE = "arn:aws:iam::123456789012:role/SageMakerRole"


def group(name: str, instance_type: str, count: int) -> dict[str, Any]:
    """One instance group. `SourceS3Uri` is a prefix: nodes copy all below it, and start `OnCreate` in it."""
    return {
        "InstanceGroupName": name,
        "InstanceType": instance_type,
        "InstanceCount": count,
        "LifeCycleConfig": {"SourceS3Uri": "s3://sagemaker-llm-scripts/scripts/", "OnCreate": "on_create.sh"},
        "ExecutionRole": ROLE,
        "ThreadsPerCore": 1,
    }


def main() -> None:
    """Create the cluster. Its ARN is no status: DescribeCluster has that."""
    sagemaker = boto3.client("sagemaker")
    groups: Any = [group("head-nodes", "ml.m5.2xlarge", 1), group("worker-nodes", "ml.p5.48xlarge", 32)]
    print(sagemaker.create_cluster(ClusterName=NAME, InstanceGroups=groups)["ClusterArn"])  # noqa: T201
    while (cluster := sagemaker.describe_cluster(ClusterName=NAME))["ClusterStatus"] == "Creating":
        time.sleep(1)
    if cluster["ClusterStatus"] != "InService":
        raise SystemExit(cluster.get("FailureMessage", cluster["ClusterStatus"]))
    pages = sagemaker.get_paginator("list_cluster_nodes").paginate(ClusterName=NAME)
    nodes = [node for page in pages for node in page["ClusterNodeSummaries"]]
    print(f"{cluster['ClusterStatus']}: {len(nodes)} nodes")  # noqa: T201


if __name__ == "__main__":
    main()
