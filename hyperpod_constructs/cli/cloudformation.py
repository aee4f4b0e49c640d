"""Stacks, templates and events as CloudFormation answers them. A missing stack is None."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from hyperpod_constructs.cli.target import Target


def stack_description(target: Target, name: str) -> Mapping[str, Any] | None:
    """The stack of this name."""
    client = target.client("cloudformation")
    try:
        found: Mapping[str, Any] = client.describe_stacks(StackName=name)["Stacks"][0]
    except client.exceptions.ClientError as error:
        if _is_missing(error):
            return None
        raise
    return None if found["StackStatus"] == "DELETE_COMPLETE" else found


def template_body(target: Target, name: str) -> Mapping[str, Any]:
    """The template of a stack as it was written, in JSON or YAML."""
    body = target.client("cloudformation").get_template(StackName=name, TemplateStage="Original")["TemplateBody"]
    parsed: Mapping[str, Any] = _parsed(body) if isinstance(body, str) else body
    return parsed


def _parsed(body: str) -> Any:
    try:
        return json.loads(body)
    except json.JSONDecodeError:
        from hyperpod_constructs.templates.yaml_reading import parsed

        return parsed(body)


def stack_summaries(target: Target) -> Iterator[Mapping[str, Any]]:
    """The stacks of the account, with those that were deleted in the last 90 days."""
    for page in target.client("cloudformation").get_paginator("list_stacks").paginate():
        yield from page["StackSummaries"]


def resource_summaries(target: Target, name: str) -> Iterator[Mapping[str, Any]]:
    """The resources of a stack."""
    for page in target.client("cloudformation").get_paginator("list_stack_resources").paginate(StackName=name):
        yield from page["StackResourceSummaries"]


def physical_id(target: Target, stack: str, logical_id: str) -> str | None:
    """The id of a resource in AWS; None if its condition was false when the stack was deployed."""
    client = target.client("cloudformation")
    try:
        detail = client.describe_stack_resource(StackName=stack, LogicalResourceId=logical_id)["StackResourceDetail"]
    except client.exceptions.ClientError as error:
        if _is_missing(error):
            return None
        raise
    found: str | None = detail.get("PhysicalResourceId")
    return found


def events(target: Target, name: str) -> Iterator[Mapping[str, Any]]:
    """The events of a stack, the newest first. A missing stack has none."""
    client = target.client("cloudformation")
    try:
        for page in client.get_paginator("describe_stack_events").paginate(StackName=name):
            yield from page["StackEvents"]
    except client.exceptions.ClientError as error:
        if not _is_missing(error):
            raise


def _is_missing(error: Any) -> bool:
    failure = error.response["Error"]
    return bool(failure["Code"] == "ValidationError" and "does not exist" in failure["Message"])
