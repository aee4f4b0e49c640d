"""The lowest floor: a generated program that emits the final resources of an assembly as `CfnResource`, from literals.

It contains every logical id and every value, so it needs neither typed L1s, references, assets nor outputs.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bench.assembly import StackFile, stacks


def write_untyped_floor(assembly: Path) -> str:
    """The text of a program that emits the same resources, by type and properties, as the assembly in this directory."""
    body = [line for stack in stacks(assembly) for line in _stack(stack)]
    return "\n".join(["import aws_cdk as cdk", "", "app = cdk.App()", *body, "app.synth()", ""])


def _stack(stack: StackFile) -> list[str]:
    resources = stack.template["Resources"]
    return [f"stack = {stack.constructor}", *(_resource(name, resource) for name, resource in resources.items())]


def _resource(name: str, resource: dict[str, Any]) -> str:
    return f"cdk.CfnResource(stack, {name!r}, type={resource['Type']!r}, properties={resource.get('Properties', {})!r})"


def differing_resources(assembly: Path, floor: Path) -> list[str]:
    """Logical ids whose type or properties differ between two assemblies."""
    ours, theirs = _resources(assembly), _resources(floor)
    return sorted(id for id in ours.keys() | theirs.keys() if ours.get(id) != theirs.get(id))


def _resources(assembly: Path) -> dict[str, Any]:
    templates = [(file.name, json.loads(file.read_text("utf-8"))) for file in assembly.glob("*.template.json")]
    return {
        f"{file}/{id}": (resource["Type"], resource.get("Properties", {}))
        for file, template in templates
        for id, resource in template["Resources"].items()
    }
