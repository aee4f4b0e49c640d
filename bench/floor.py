"""The floor: a generated program that emits the templates of an assembly as bare L1s.

A person with the final templates would write the same program: one typed L1 with typed property structs per resource, references as
attributes of L1s, strings joined in Python, an asset per directory. Custom resources are generic, because a `Custom::` type has no
typed L1. Construct ids are logical ids; CDK keeps them for children of a stack. Exports come from the references between stacks,
parameters and rules from the synthesizer.
"""

from __future__ import annotations

import json
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

from bench.assembly import StackFile, stacks
from bench.expressions import FloorError, Namespace, Writer, references

_POLICIES = {
    ("Delete", "Delete"): "DESTROY",
    ("Retain", "Retain"): "RETAIN",
    ("RetainExceptOnCreate", "Retain"): "RETAIN_ON_UPDATE_OR_DELETE",
    ("Snapshot", "Snapshot"): "SNAPSHOT",
}


def write_floor(assembly: Path) -> str:
    """The text of a program that emits the same stacks as the assembly in this directory.

    The program reads assets from the assembly, so it must stay.

    :raises FloorError: for a part of a template that bare L1s cannot express.
    """
    names = Namespace()
    body: list[str] = []
    for stack in stacks(assembly):
        body += _stack(assembly, stack, names)
    imports = [f"from aws_cdk import {module}" for module in sorted(names.modules)]
    return "\n".join(
        [
            "import aws_cdk as cdk",
            *imports,
            "from aws_cdk.aws_s3_assets import Asset",
            "",
            "app = cdk.App()",
            *body,
            "app.synth()",
            "",
        ]
    )


def _stack(assembly: Path, stack: StackFile, names: Namespace) -> list[str]:
    artifact, template = stack.artifact, stack.template
    variable = names.variable("stack")
    lines = [f"{variable} = {stack.constructor}"]
    files = json.loads((assembly / f"{artifact}.assets.json").read_text("utf-8"))["files"]
    for digest in sorted(name for name, file in files.items() if file["source"]["path"] != f"{artifact}.template.json"):
        asset = names.variable("asset")
        path = assembly / files[digest]["source"]["path"]
        lines.append(f"{asset} = Asset({variable}, {asset!r}, path={str(path)!r})")
        names.asset_hashes[digest] = f"{asset}.asset_hash"
    for name, condition in template.get("Conditions", {}).items():
        expression = Writer(names, artifact).value(condition)
        lines.append(f"cdk.CfnCondition({variable}, {name!r}, expression={expression})")
    resources: dict[str, Any] = template["Resources"]
    needs = {name: references(resource) & set(resources) for name, resource in resources.items()}
    for name in TopologicalSorter(needs).static_order():
        lines += _resource(variable, artifact, name, resources, names)
    for name, output in template.get("Outputs", {}).items():
        if "Export" in output:
            names.exports[output["Export"]["Name"]] = (artifact, output["Value"])
            continue
        writer = Writer(names, artifact)
        value = writer.value(output["Value"])
        lines += writer.lines
        lines.append(f"cdk.CfnOutput({variable}, {name!r}, value={value}, description={output.get('Description')!r})")
    return lines


def _resource(stack: str, artifact: str, name: str, resources: dict[str, Any], names: Namespace) -> list[str]:
    resource = resources[name]
    writer = Writer(names, artifact)
    variable = names.define(artifact, name, resource["Type"])
    arguments = writer.arguments(resource["Type"], resource.get("Properties", {}))
    lines = [*writer.lines, f"{variable} = {names.constructor(resource['Type'])}({stack}, {name!r}, {arguments})"]
    for needed in resource.get("DependsOn", ()):
        lines.append(f"{variable}.add_resource_dependency({names.resources[artifact, needed].variable})")
    policies = resource.get("DeletionPolicy"), resource.get("UpdateReplacePolicy")
    if policies != (None, None):
        if policies not in _POLICIES:
            raise FloorError(f"{artifact}/{name}: deletion and replacement policies {policies} have no removal policy")
        lines.append(f"{variable}.apply_removal_policy(cdk.RemovalPolicy.{_POLICIES[policies]})")
    unknown = set(resource) - {"Type", "Properties", "DependsOn", "DeletionPolicy", "UpdateReplacePolicy", "Metadata"}
    if unknown:
        raise FloorError(f"{artifact}/{name}: attributes {sorted(unknown)} cannot be written as a bare L1 yet")
    return lines
