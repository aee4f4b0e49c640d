"""What a CloudFormation resource provider of the embedded AWS is: create, update and delete over boto3."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from hyperpod_constructs.facts import updates
from hyperpod_constructs.facts.schema import type_facts
from hyperpod_constructs.local.aws_service import Caller
from hyperpod_constructs.local.changes import changed


@dataclass(frozen=True, slots=True)
class Provisioned:
    """A resource that exists: what `Ref` yields and what `Fn::GetAtt` yields, by attribute name."""

    physical_id: str
    attributes: Mapping[str, str] = field(default_factory=dict)


class ResourceProvider(Protocol):
    """One CloudFormation resource type.

    A provider reads every property that it honours from the given mapping. The engine records the reads; an unread property fails
    the deployment. Every method blocks until the resource is stable, and raises AwsError or botocore's
    ClientError with the cause.
    """

    type_name: str

    def create(self, properties: Mapping[str, Any], logical_id: str, stack: str, caller: Caller) -> Provisioned:
        """Create the resource and wait until it is stable; undo partial work before raising."""

    def update(self, physical_id: str, old: Mapping[str, Any], new: Mapping[str, Any], stack: str, caller: Caller) -> Provisioned:
        """Change the resource and wait until it is stable.

        Called for changes in place, and for replacements that delete the old resource first; another physical id tells these apart.
        """

    def delete(self, physical_id: str, properties: Mapping[str, Any], caller: Caller) -> None:
        """Delete the resource and wait until it is gone; one that does not exist is a success."""


def updated(
    provider: ResourceProvider,
    physical_id: str,
    old: Mapping[str, Any],
    new: Mapping[str, Any],
    *,
    logical_id: str,
    stack: str,
    caller: Caller,
) -> Provisioned:
    """Update a resource as CloudFormation does: in place, or by a new one under another physical id."""
    if _needs_new(provider.type_name, old, new):
        return provider.create(new, logical_id, stack, caller)
    return provider.update(physical_id, old, new, stack, caller)


def paths_that_create(type_name: str) -> frozenset[str]:
    """The properties whose change makes a new resource before the old one is deleted."""
    facts = type_facts(type_name)
    return frozenset() if facts is not None and facts.deletes_first else updates.replacing(type_name)


def paths_that_may_create(type_name: str) -> frozenset[str]:
    """The properties with some changes that make a new resource."""
    facts = type_facts(type_name)
    return frozenset() if facts is None else facts.conditional


def _needs_new(type_name: str, old: Any, new: Any) -> bool:
    if any(changed(old, new, path.split("/")) for path in paths_that_create(type_name)):
        return True
    return any(
        changed(old, new, [name]) and updates.needs_new(type_name, name, dict.get(old, name), dict.get(new, name))
        for name in paths_that_may_create(type_name)
    )
