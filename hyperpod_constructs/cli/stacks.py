"""What CloudFormation knows of deployed stacks: their resources, what is kept when they go, why something failed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from hyperpod_constructs.cli.target import Target

_KEPT = frozenset({"Retain", "RetainExceptOnCreate", "Snapshot"})


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource that exists in a deployed stack; `kept` says that it stays when the stack is deleted."""

    stack: str
    logical_id: str
    type: str
    physical_id: str
    kept: bool


@dataclass(frozen=True, slots=True)
class DeployedStack:
    """A stack as CloudFormation has it now, and not as the app would make it."""

    name: str
    status: str
    protected: bool
    template: Mapping[str, Any]
    resources: tuple[Resource, ...]

    @property
    def kept(self) -> tuple[Resource, ...]:
        """What stays when this stack is deleted."""
        return tuple(resource for resource in self.resources if resource.kept)

    def template_of(self, resources: Iterable[Resource]) -> dict[str, Any]:
        """This stack's template with no other resources than these."""
        wanted = {resource.logical_id for resource in resources if resource.stack == self.name}
        found = self.template.get("Resources", {})
        return {**self.template, "Resources": {key: value for key, value in found.items() if key in wanted}}


@dataclass(frozen=True, slots=True)
class Failure:
    """The event that made an operation fail: where, and CloudFormation's reason."""

    stack: str
    logical_id: str
    type: str
    status: str
    reason: str

    def __str__(self) -> str:
        return f"{self.logical_id} ({self.type}) {self.status}: {self.reason}"


def deployed(target: Target, name: str) -> DeployedStack | None:
    """The stack of this name, or None if there is none."""
    client = target.client("cloudformation")
    description = _describe(client, name)
    if description is None or description["StackStatus"] == "DELETE_COMPLETE":
        return None
    template = _template(client, name)
    resources = tuple(_resources(client, name, template))
    protected = bool(description.get("EnableTerminationProtection", False))
    return DeployedStack(name, description["StackStatus"], protected, template, resources)


def _describe(client: Any, name: str) -> dict[str, Any] | None:
    try:
        found: list[dict[str, Any]] = client.describe_stacks(StackName=name)["Stacks"]
    except client.exceptions.ClientError as error:
        if _is_missing(error):
            return None
        raise
    return found[0]


def _is_missing(error: Any) -> bool:
    failure = error.response["Error"]
    return bool(failure["Code"] == "ValidationError" and "does not exist" in failure["Message"])


def _template(client: Any, name: str) -> Mapping[str, Any]:
    body = client.get_template(StackName=name, TemplateStage="Original")["TemplateBody"]
    parsed: Mapping[str, Any] = json.loads(body) if isinstance(body, str) else body
    return parsed


def _resources(client: Any, name: str, template: Mapping[str, Any]) -> Iterable[Resource]:
    declared = template.get("Resources", {})
    for page in client.get_paginator("list_stack_resources").paginate(StackName=name):
        for found in page["StackResourceSummaries"]:
            physical_id = found.get("PhysicalResourceId", "")
            if found["ResourceStatus"] == "DELETE_COMPLETE" or not physical_id:
                continue
            logical_id = found["LogicalResourceId"]
            policy = declared.get(logical_id, {}).get("DeletionPolicy")
            yield Resource(name, logical_id, found["ResourceType"], physical_id, policy in _KEPT)


def latest_event(target: Target, name: str) -> str | None:
    """The id of the newest event of a stack, or None: a mark, to tell later what happened since."""
    return next((str(event["EventId"]) for event in _events(target, name)), None)


def first_failure(target: Target, name: str, since: str | None) -> Failure | None:
    """The first failed event of a stack after the mark: the leaf cause, of which the later ones are consequences."""
    failure = None
    for event in _events(target, name):
        if event["EventId"] == since:
            break
        reason = event.get("ResourceStatusReason", "")
        if not event["ResourceStatus"].endswith("_FAILED") or "cancelled" in reason.lower():
            continue
        failure = Failure(name, event["LogicalResourceId"], event["ResourceType"], event["ResourceStatus"], reason)
    return failure


def _events(target: Target, name: str) -> Iterable[dict[str, Any]]:
    """The events of a stack, the newest first."""
    client = target.client("cloudformation")
    try:
        for page in client.get_paginator("describe_stack_events").paginate(StackName=name):
            yield from page["StackEvents"]
    except client.exceptions.ClientError as error:
        if not _is_missing(error):
            raise
