"""Stacks over boto3, for tests that need no CLI."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from hyperpod_constructs.local.server import LocalAws
from tests.patience import until

IAM = ("CAPABILITY_IAM", "CAPABILITY_NAMED_IAM")


@dataclass(frozen=True)
class Stack:
    """How a stack operation ended."""

    status: str
    reasons: tuple[str, ...]
    resources: dict[str, str]
    """Physical ids by logical id of what the stack holds."""


def deploy(aws: LocalAws, resources: dict[str, Any], name: str = "Stack", capabilities: tuple[str, ...] = IAM) -> Stack:
    """Create the stack, or update it if it exists, and wait until that is over."""
    cloudformation = aws.client("cloudformation")
    known = [s["StackName"] for s in cloudformation.list_stacks()["StackSummaries"] if s["StackStatus"] != "DELETE_COMPLETE"]
    act = cloudformation.update_stack if name in known else cloudformation.create_stack
    act(StackName=name, TemplateBody=json.dumps({"Resources": resources}), Capabilities=list(capabilities))
    return wait(aws, name)


def delete(aws: LocalAws, name: str = "Stack") -> Stack:
    """Delete the stack and wait until that is over."""
    stack_id = aws.client("cloudformation").describe_stacks(StackName=name)["Stacks"][0]["StackId"]
    aws.client("cloudformation").delete_stack(StackName=name)
    return wait(aws, stack_id)


def wait(aws: LocalAws, name: str) -> Stack:
    """Wait until no operation is in progress."""
    cloudformation = aws.client("cloudformation")

    def ended() -> str | None:
        status = str(cloudformation.describe_stacks(StackName=name)["Stacks"][0]["StackStatus"])
        return None if status.endswith("IN_PROGRESS") else status

    status = until(ended, f"the end of what {name} does")
    events = cloudformation.describe_stack_events(StackName=name)["StackEvents"]
    reasons = tuple(event["ResourceStatusReason"] for event in events if "FAILED" in event["ResourceStatus"])
    held = cloudformation.describe_stack_resources(StackName=name)["StackResources"]
    resources = {item["LogicalResourceId"]: item["PhysicalResourceId"] for item in held if "PhysicalResourceId" in item}
    return Stack(status, reasons, resources)
