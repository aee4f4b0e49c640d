"""The services' answers about one small cluster, and an assembly with the app's two stacks."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.cli.conftest import StubbedTarget

ARN = "arn:aws:sagemaker:us-west-2:111122223333:cluster/abc123def456"
NOW = datetime(2026, 1, 2, tzinfo=UTC)


def group(name: str, instance_type: str, count: int, role: str) -> dict[str, Any]:
    return {
        "InstanceGroupName": name,
        "InstanceType": instance_type,
        "CurrentCount": count,
        "TargetCount": count,
        "Status": "InService",
        "SlurmConfig": {"NodeType": role},
    }


def node(name: str, instance_id: str, instance_type: str, status: str = "Running") -> dict[str, Any]:
    return {
        "InstanceGroupName": name,
        "InstanceId": instance_id,
        "InstanceType": instance_type,
        "LaunchTime": NOW,
        "InstanceStatus": {"Status": status},
    }


CLUSTER: dict[str, Any] = {
    "ClusterArn": ARN,
    "ClusterName": "sagemaker-demo-cluster",
    "ClusterStatus": "InService",
    "InstanceGroups": [
        group("controller", "ml.m5.xlarge", 1, "Controller"),
        group("workers", "ml.trn1.32xlarge", 2, "Compute"),
    ],
}
NODES = [
    node("workers", "i-0000000000000000a", "ml.trn1.32xlarge"),
    node("controller", "i-0000000000000000c", "ml.m5.xlarge"),
    node("workers", "i-0000000000000000b", "ml.trn1.32xlarge", "Pending"),
]
SESSION = "aws ssm start-session --target sagemaker-cluster:abc123def456_controller-i-0000000000000000c --region us-west-2"


def answer_cluster(target: StubbedTarget) -> None:
    target.answer("sagemaker", "describe_cluster", CLUSTER, ClusterName=ARN)
    answer_nodes(target)


def answer_nodes(target: StubbedTarget, group: str | None = None) -> None:
    """The nodes, or those of a group."""
    asked = {"ClusterName": ARN, "MaxResults": 100, "SortBy": "CREATION_TIME", "SortOrder": "Ascending"}
    if group is not None:
        asked["InstanceGroupNameContains"] = group
    found = [one for one in NODES if group in (None, one["InstanceGroupName"])]
    target.answer("sagemaker", "list_cluster_nodes", {"ClusterNodeSummaries": found}, **asked)


def answer_stack(
    target: StubbedTarget,
    name: str,
    resources: list[tuple[str, str, str]],
    *,
    kept: tuple[str, ...] = (),
    protected: bool = False,
    status: str = "CREATE_COMPLETE",
    template: str | None = None,
) -> None:
    """One stack as CloudFormation describes it: resources as (logical id, type, physical id), with this template or one of them."""
    stack = {"StackName": name, "StackStatus": status, "CreationTime": NOW, "EnableTerminationProtection": protected}
    target.answer("cloudformation", "describe_stacks", {"Stacks": [stack]}, StackName=name)
    body = {
        logical_id: {"Type": kind, **({"DeletionPolicy": "Retain"} if logical_id in kept else {})}
        for logical_id, kind, _ in resources
    }
    written = json.dumps({"Resources": body}) if template is None else template
    target.answer("cloudformation", "get_template", {"TemplateBody": written}, StackName=name, TemplateStage="Original")
    summaries = [
        {
            "LogicalResourceId": logical_id,
            "ResourceType": kind,
            "PhysicalResourceId": physical_id,
            "LastUpdatedTimestamp": NOW,
            "ResourceStatus": "CREATE_COMPLETE",
        }
        for logical_id, kind, physical_id in resources
    ]
    answer = {"StackResourceSummaries": summaries}
    target.answer("cloudformation", "list_stack_resources", answer, StackName=name)


def stack_id(name: str, number: int = 1) -> str:
    return f"arn:aws:cloudformation:us-west-2:111122223333:stack/{name}/{number}"


def answer_history(target: StubbedTarget, *stacks: tuple[str, list[dict[str, Any]]]) -> None:
    """The stacks of the account, deleted ones too, by id and with their events; the events of stacks of the app are asked for."""
    summaries = [
        {"StackId": id, "StackName": id.split("/")[1], "StackStatus": "DELETE_COMPLETE", "CreationTime": NOW} for id, _ in stacks
    ]
    target.answer("cloudformation", "list_stacks", {"StackSummaries": summaries})
    for id, events in stacks:
        if id.split("/")[1].startswith("HyperPod-"):
            target.answer("cloudformation", "describe_stack_events", {"StackEvents": events}, StackName=id)


def skipped(logical_id: str, type: str, physical_id: str) -> dict[str, Any]:
    """The event of a resource that was kept."""
    return {**event("1", logical_id, "DELETE_SKIPPED"), "ResourceType": type, "PhysicalResourceId": physical_id}


def refuse_stack(target: StubbedTarget, name: str, operation: str = "describe_stacks") -> None:
    target.refuse("cloudformation", operation, "ValidationError", f"Stack with id {name} does not exist")


def event(event_id: str, logical_id: str, status: str, reason: str = "") -> dict[str, Any]:
    return {
        "StackId": "arn",
        "StackName": "HyperPod-Cluster",
        "EventId": event_id,
        "LogicalResourceId": logical_id,
        "ResourceType": "AWS::SageMaker::Cluster",
        "ResourceStatus": status,
        "ResourceStatusReason": reason,
        "Timestamp": NOW,
    }


def write_assembly(directory: Path) -> None:
    """The manifest of an app with the stacks Cluster and Foundation, the dependent one first."""
    directory.mkdir(parents=True)
    artifacts = {
        "Cluster": _artifact("Cluster", ["Foundation", "Cluster.assets"]),
        "Cluster.assets": {"type": "cdk:asset-manifest"},
        "Foundation": _artifact("Foundation", []),
    }
    (directory / "manifest.json").write_text(json.dumps({"version": "55.0.0", "artifacts": artifacts}))
    for name in ("Cluster", "Foundation"):
        (directory / f"{name}.template.json").write_text('{"Resources": {}}')


def _artifact(stack_id: str, dependencies: list[str]) -> dict[str, Any]:
    return {
        "type": "aws:cloudformation:stack",
        "environment": "aws://unknown-account/unknown-region",
        "properties": {
            "templateFile": f"{stack_id}.template.json",
            "stackName": f"HyperPod-{stack_id}",
            "bootstrapStackVersionSsmParameter": "/cdk-bootstrap/hnb659fds/version",
        },
        "dependencies": dependencies,
        "displayName": stack_id,
    }
