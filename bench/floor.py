"""The floor: a generated program that emits the templates of an assembly as bare L1s, and the proof that it does.

The program is what a person would write who knows the final templates: one typed L1 with typed property structs per resource,
references as attributes of L1s, strings joined in Python, an asset per directory. Custom resources are generic: no typed L1 exists
for a `Custom::` type. Construct ids are logical ids, which CDK keeps for children of a stack. Exports come from the references
between stacks, parameters and rules from the synthesizer.
"""

from __future__ import annotations

import json
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

from bench.expressions import FloorError, Namespace, Writer, references

_POLICIES = {
    ("Delete", "Delete"): "DESTROY",
    ("Retain", "Retain"): "RETAIN",
    ("RetainExceptOnCreate", "Retain"): "RETAIN_ON_UPDATE_OR_DELETE",
    ("Snapshot", "Snapshot"): "SNAPSHOT",
}


def write_floor(assembly: Path) -> str:
    """The text of a program that emits the same stacks as the assembly in this directory.

    The program reads assets from the assembly, so it must stay. Raises FloorError for what cannot be written as bare L1s.
    """
    manifest = json.loads((assembly / "manifest.json").read_text("utf-8"))
    stacks = {name: part for name, part in manifest["artifacts"].items() if part["type"] == "aws:cloudformation:stack"}
    names = Namespace()
    body: list[str] = []
    for artifact in TopologicalSorter(
        {name: set(part.get("dependencies", ())) & set(stacks) for name, part in stacks.items()}
    ).static_order():
        body += _stack(assembly, artifact, stacks[artifact], names)
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


def _stack(assembly: Path, artifact: str, part: dict[str, Any], names: Namespace) -> list[str]:
    template = json.loads((assembly / part["properties"]["templateFile"]).read_text("utf-8"))
    account, region = part["environment"].removeprefix("aws://").split("/")
    variable = names.variable("stack")
    lines = [
        f"{variable} = cdk.Stack(app, {artifact!r}, env=cdk.Environment(account={account!r}, region={region!r}), "
        f"stack_name={part['properties'].get('stackName', artifact)!r}, description={template.get('Description')!r}, "
        f"termination_protection={part['properties']['terminationProtection']!r})"
    ]
    files = json.loads((assembly / f"{artifact}.assets.json").read_text("utf-8"))["files"]
    for digest in sorted(name for name, file in files.items() if file["source"]["packaging"] == "zip"):
        asset = names.variable("asset")
        path = assembly / files[digest]["source"]["path"]
        lines.append(f"{asset} = Asset({variable}, {asset!r}, path={str(path)!r})")
        names.asset_hashes[digest] = f"{asset}.asset_hash"
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
