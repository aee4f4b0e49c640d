"""The assemblies that the CDK CLI synthesizes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hyperpod_constructs.cli.console import CliError

ALL = "all"
"""In the place of a stack's id: every stack of the app."""


@dataclass(frozen=True, slots=True)
class SynthesizedStack:
    """A stack in an assembly: id in the app, name in CloudFormation, and the artifacts that it depends on."""

    artifact: str
    id: str
    name: str
    template: Path
    bootstrap_parameter: str | None
    needs: frozenset[str]


@dataclass(frozen=True, slots=True)
class Assembly:
    """A synthesized app: its directory, and its stacks in the order of their dependencies."""

    directory: Path
    stacks: tuple[SynthesizedStack, ...]

    @classmethod
    def read(cls, directory: Path) -> Assembly:
        """Read an assembly.

        :param directory: the directory of `manifest.json`.
        :raises FileNotFoundError: if it holds no assembly.
        """
        manifest = json.loads((directory / "manifest.json").read_text("utf-8"))
        artifacts = manifest.get("artifacts", {})
        return cls(directory, tuple(_stack(directory, key, artifacts[key]) for key in _ordered(artifacts)))

    def named(self, ids: Sequence[str]) -> tuple[SynthesizedStack, ...]:
        """The stacks of these ids.

        :param ids: ids in the app; `all` stands for every stack.
        :raises CliError: if the app has no stack of an id.
        """
        known = {stack.id: stack for stack in self.stacks}
        if ALL in ids:
            return self.stacks
        for id in ids:
            if id not in known:
                raise CliError(f"the app has no stack {id!r}: name one of {', '.join(known)}, or {ALL}")
        return tuple(stack for stack in self.stacks if stack.id in ids)

    def needing(self, stacks: Sequence[SynthesizedStack]) -> tuple[SynthesizedStack, ...]:
        """These stacks and all that depend on one, which `cdk destroy` takes down together."""
        found = {stack.artifact for stack in stacks}
        for entry in self.stacks:
            if entry.needs & found:
                found.add(entry.artifact)
        return tuple(entry for entry in self.stacks if entry.artifact in found)

    def needed_by(self, stacks: Sequence[SynthesizedStack]) -> tuple[SynthesizedStack, ...]:
        """These stacks and all that one depends on, which `cdk deploy` deploys together."""
        found = {stack.artifact for stack in stacks}
        for entry in reversed(self.stacks):
            if entry.artifact in found:
                found |= entry.needs
        return tuple(entry for entry in self.stacks if entry.artifact in found)


def _ordered(artifacts: dict[str, Any]) -> list[str]:
    """The artifacts that are stacks, in the order of their dependencies."""
    order: list[str] = []

    def visit(key: str) -> None:
        for dependency in artifacts[key].get("dependencies", []):
            if dependency not in order:
                visit(dependency)
        if key not in order:
            order.append(key)

    for key in artifacts:
        visit(key)
    return [key for key in order if artifacts[key]["type"] == "aws:cloudformation:stack"]


def _stack(directory: Path, key: str, artifact: dict[str, Any]) -> SynthesizedStack:
    properties = artifact["properties"]
    return SynthesizedStack(
        artifact=key,
        id=artifact.get("displayName", key).split(" ")[0],
        name=properties.get("stackName", key),
        template=directory / properties["templateFile"],
        bootstrap_parameter=properties.get("bootstrapStackVersionSsmParameter"),
        needs=frozenset(artifact.get("dependencies", [])),
    )
