"""What a case's construct gives to its handler: the properties as CloudFormation sends them, and the permissions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aws_cdk import App, CfnResource, Environment, Stack
from constructs import Construct

from hyperpod_constructs.local.clients import dns_suffix, partition
from tests.custom_resources.case import Case, Variant
from tests.custom_resources.engine import STACK_ID
from tests.custom_resources.world import InProcessWorld

LONGEST_SECONDS = 600
"""A shorter time than an hour: an operation that never succeeds ends sooner."""


@dataclass(frozen=True)
class Synthesized:
    """One variant of a case."""

    properties: Mapping[str, Any]
    statements: tuple[Mapping[str, Any], ...]

    @property
    def actions(self) -> frozenset[str]:
        """The actions that its policies allow."""
        return frozenset(action for statement in self.statements for action in listed(statement["Action"]))


def variants(case: Case) -> list[Variant]:
    """Those that the case has."""
    return [variant for variant in Variant if not (variant is Variant.RENAMED and case.not_renamed)]


def synthesize(case: Case, world: InProcessWorld, directory: Path) -> dict[Variant, Synthesized]:
    """Every variant of a case, with its assets in the world."""
    stack = Stack(App(outdir=str(directory)), "Stack", env=Environment(account=world.account, region=world.region))
    scopes = {variant: Construct(stack, variant.name.capitalize()) for variant in variants(case)}
    for variant, scope in scopes.items():
        case.build(scope, world, variant)
    assembly = App.of(stack).synth()  # type: ignore[union-attr]  # the stack has an app
    world.publish(Path(assembly.directory))
    template = assembly.get_stack_artifact(stack.artifact_id).template["Resources"]
    return {variant: _read(case, scope, template, world) for variant, scope in scopes.items()}


def _read(case: Case, scope: Construct, template: Mapping[str, Any], world: InProcessWorld) -> Synthesized:
    ids = [_logical_id(found) for found in scope.node.find_all() if isinstance(found, CfnResource)]
    custom = [template[id] for id in ids if template[id]["Type"].startswith("Custom::HyperPod")]
    assert len(custom) == 1, f"{case.name}: {len(custom)} custom resources; write one construct in build()"
    policies = [template[id]["Properties"]["PolicyDocument"] for id in ids if template[id]["Type"] == "AWS::IAM::Policy"]
    properties = {key: value for key, value in custom[0]["Properties"].items() if key not in ("ServiceToken", "ServiceTimeout")}
    properties["TimeoutSeconds"] = min(properties["TimeoutSeconds"], LONGEST_SECONDS)
    return Synthesized(
        _as_text(_resolved(properties, _pseudo(world), case.name)),
        tuple(_resolved(statement, _pseudo(world), case.name) for found in policies for statement in found["Statement"]),
    )


def _logical_id(resource: CfnResource) -> str:
    return str(Stack.of(resource).resolve(resource.logical_id))


def listed(value: str | list[str]) -> list[str]:
    """The actions or the resources of a statement."""
    return [value] if isinstance(value, str) else value


def _pseudo(world: InProcessWorld) -> dict[str, str]:
    return {
        "AWS::AccountId": world.account,
        "AWS::Region": world.region,
        "AWS::StackId": STACK_ID,
        "AWS::Partition": partition(world.region),
        "AWS::URLSuffix": dns_suffix(world.region),
    }


def _resolved(value: Any, names: Mapping[str, str], case: str) -> Any:
    if isinstance(value, list):
        return [_resolved(item, names, case) for item in value]
    if not isinstance(value, dict):
        return value
    if value.get("Ref") in names:
        return names[value["Ref"]]
    if "Fn::Join" in value:
        separator, parts = value["Fn::Join"]
        return str(separator).join(_resolved(parts, names, case))
    if isinstance(text := value.get("Fn::Sub"), str):
        for name, known in names.items():
            text = text.replace(f"${{{name}}}", known)
        return text
    assert not any(key == "Ref" or key.startswith("Fn::") for key in value), f"{case}: build() left {value}; write a literal"
    return {key: _resolved(item, names, case) for key, item in value.items()}


def _as_text(value: Any) -> Any:
    """CloudFormation sends numbers and truth values as text."""
    if isinstance(value, dict):
        return {key: _as_text(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_as_text(item) for item in value]
    return str(value).lower() if isinstance(value, bool) else str(value)
