"""A template with what its surroundings tell about it: the form in which every source hands templates to the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from hyperpod_constructs.rules.template.environment import Environment
from hyperpod_constructs.rules.template.raw import Raw


@dataclass(frozen=True, kw_only=True, slots=True)
class Document:
    """One template of a model, or one use of it as a nested stack."""

    name: str
    body: Mapping[str, Raw]
    file: Path | None = None
    environment: Environment = field(default_factory=Environment)
    construct_paths: Mapping[str, str] = field(default_factory=dict)
    """Logical id to construct path, where the assembly tells."""
    awaits: frozenset[str] = frozenset()
    """Names of the templates that are deployed before this one, where the assembly tells."""
    nested: Mapping[str, Document] = field(default_factory=dict)
    """Logical id of a nested stack to its template."""


NESTED_STACK = "AWS::CloudFormation::Stack"


def resources_of(body: Mapping[str, Raw]) -> Mapping[str, Mapping[str, Raw]]:
    """The resources that are mappings with a type: all that a rule can speak of."""
    resources = body.get("Resources")
    if not isinstance(resources, dict):
        return {}
    return {
        name: resource
        for name, resource in resources.items()
        if isinstance(resource, dict) and isinstance(resource.get("Type"), str)
    }
