"""The stacks of an assembly, for a program that emits them again."""

from __future__ import annotations

import json
from dataclasses import dataclass
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class StackFile:
    """A stack: its artifact's name, its template, and the expression that makes it."""

    artifact: str
    template: dict[str, Any]
    constructor: str


def stacks(assembly: Path) -> list[StackFile]:
    """The stacks in this directory, each after its dependencies."""
    manifest = json.loads((assembly / "manifest.json").read_text("utf-8"))
    found = {name: part for name, part in manifest["artifacts"].items() if part["type"] == "aws:cloudformation:stack"}
    needs = {name: set(part.get("dependencies", ())) & set(found) for name, part in found.items()}
    return [_stack(assembly, name, found[name]) for name in TopologicalSorter(needs).static_order()]


def _stack(assembly: Path, artifact: str, part: dict[str, Any]) -> StackFile:
    properties = part["properties"]
    template = json.loads((assembly / properties["templateFile"]).read_text("utf-8"))
    account, region = part["environment"].removeprefix("aws://").split("/")
    constructor = (
        f"cdk.Stack(app, {artifact!r}, env=cdk.Environment(account={account!r}, region={region!r}), "
        f"stack_name={properties.get('stackName', artifact)!r}, description={template.get('Description')!r}, "
        f"termination_protection={properties['terminationProtection']!r})"
    )
    return StackFile(artifact, template, constructor)
