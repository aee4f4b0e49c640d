"""What a CloudFormation resource provider of the embedded AWS is: create, update and delete over boto3."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from hyperpod_constructs.local.service import Caller


@dataclass(frozen=True, slots=True)
class Provisioned:
    """A resource that exists: what `Ref` yields and what `Fn::GetAtt` yields, by attribute name."""

    physical_id: str
    attributes: Mapping[str, str] = field(default_factory=dict)


class ResourceProvider(Protocol):
    """One CloudFormation resource type.

    `create_only` names the properties (dotted paths) whose change replaces the resource. A provider reads every property that it
    honours from the mapping it is given; the engine records what was read, and a property that nobody read fails the deploy.
    Every method blocks until the resource is stable, and raises AwsError or botocore's ClientError with the cause.
    """

    type_name: str
    create_only: frozenset[str]

    def create(self, properties: Mapping[str, Any], logical_id: str, stack: str, caller: Caller) -> Provisioned:
        """Create the resource and wait until it is stable; undo partial work before raising."""
        ...

    def update(self, physical_id: str, old: Mapping[str, Any], new: Mapping[str, Any], stack: str, caller: Caller) -> Provisioned:
        """Change the resource in place and wait until it is stable."""
        ...

    def delete(self, physical_id: str, properties: Mapping[str, Any], caller: Caller) -> None:
        """Delete the resource and wait until it is gone; one that does not exist is a success."""
        ...
