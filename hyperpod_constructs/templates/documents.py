"""A template with its surroundings: every source hands templates to the model in this form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from hyperpod_constructs.templates.environment import Environment
from hyperpod_constructs.templates.raw import Raw


@dataclass(frozen=True, kw_only=True, slots=True)
class Document:
    """One template of a model, or one use of it as a nested stack.

    :param construct_paths: logical id to construct path, as far as the assembly tells.
    :param awaits: the names of the templates that are deployed before this one, as far as the assembly tells.
    :param nested: logical id of a nested stack to its template.
    """

    name: str
    body: Mapping[str, Raw]
    file: Path | None = None
    environment: Environment = field(default_factory=Environment)
    construct_paths: Mapping[str, str] = field(default_factory=dict)
    awaits: frozenset[str] = frozenset()
    nested: Mapping[str, Document] = field(default_factory=dict)

    def section(self, name: str) -> Mapping[str, Raw]:
        """A section of the template as written, such as `Parameters`; empty without one."""
        section = self.body.get(name)
        return section if isinstance(section, dict) else {}


NESTED_STACK = "AWS::CloudFormation::Stack"


def resources_of(body: Mapping[str, Raw]) -> Mapping[str, Mapping[str, Raw]]:
    """The well-formed resources of a template: mappings with a type."""
    resources = body.get("Resources")
    if not isinstance(resources, dict):
        return {}
    return {
        name: resource
        for name, resource in resources.items()
        if isinstance(resource, dict) and isinstance(resource.get("Type"), str)
    }
