"""Deployed stacks: their resources, what is kept when they are deleted, and why an operation failed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hyperpod_constructs.cli.cloudformation import events, resource_summaries, stack_description, template_body
from hyperpod_constructs.cli.target import Target

CLUSTER_TYPE = "AWS::SageMaker::Cluster"

_KEPT = frozenset({"Retain", "RetainExceptOnCreate", "Snapshot"})


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource in a deployed stack. With `kept` it stays when the stack is deleted."""

    stack: str
    logical_id: str
    type: str
    physical_id: str
    kept: bool


@dataclass(frozen=True, slots=True)
class DeployedStack:
    """A stack as CloudFormation has it now; the app may describe it differently."""

    name: str
    status: str
    protected: bool
    template: Mapping[str, Any]
    resources: tuple[Resource, ...]

    @property
    def kept(self) -> tuple[Resource, ...]:
        """The resources that stay when this stack is deleted."""
        return tuple(resource for resource in self.resources if resource.kept)

    def declares(self, type: str) -> bool:
        """Whether the template has a resource of this type, created or not."""
        return any(resource.get("Type") == type for resource in self.template.get("Resources", {}).values())

    def template_of(self, resources: Iterable[Resource]) -> dict[str, Any]:
        """This stack's template, reduced to these resources."""
        wanted = {resource.logical_id for resource in resources if resource.stack == self.name}
        found = self.template.get("Resources", {})
        return {**self.template, "Resources": {key: value for key, value in found.items() if key in wanted}}


@dataclass(frozen=True, slots=True)
class Failure:
    """The event that made an operation fail, with CloudFormation's reason."""

    stack: str
    logical_id: str
    type: str
    status: str
    reason: str

    def __str__(self) -> str:
        return f"{self.logical_id} ({self.type}) {self.status}: {self.reason}"


def deployed(target: Target, name: str) -> DeployedStack | None:
    """The stack of this name, or None if it does not exist."""
    description = stack_description(target, name)
    if description is None:
        return None
    template = template_body(target, name)
    resources = tuple(_resources(target, name, template))
    protected = bool(description.get("EnableTerminationProtection", False))
    return DeployedStack(name, description["StackStatus"], protected, template, resources)


def _resources(target: Target, name: str, template: Mapping[str, Any]) -> Iterator[Resource]:
    declared = template.get("Resources", {})
    for found in resource_summaries(target, name):
        physical_id = found.get("PhysicalResourceId", "")
        if found["ResourceStatus"] != "DELETE_COMPLETE" and physical_id:
            logical_id = found["LogicalResourceId"]
            policy = declared.get(logical_id, {}).get("DeletionPolicy")
            yield Resource(name, logical_id, found["ResourceType"], physical_id, policy in _KEPT)


def latest_event(target: Target, name: str) -> str | None:
    """The id of the newest event of a stack, if there is one: a mark for `first_failure`."""
    return next((str(event["EventId"]) for event in events(target, name)), None)


def first_failure(target: Target, name: str, since: str | None) -> Failure | None:
    """The first failed event of a stack after the mark. It is the cause; later failures follow from it."""
    failure = None
    for event in events(target, name):
        if event["EventId"] == since:
            break
        reason = event.get("ResourceStatusReason", "")
        if not event["ResourceStatus"].endswith("_FAILED") or "cancelled" in reason.lower():
            continue
        failure = Failure(name, event["LogicalResourceId"], event["ResourceType"], event["ResourceStatus"], reason)
    return failure
