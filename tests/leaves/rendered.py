"""The leaves of the schema that constructs render, read from the templates of the samples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from aws_cdk import App

from hyperpod_constructs.facts.schema import type_facts
from tests.leaves.samples import cluster, file_systems

COVERED = ("AWS::SageMaker::Cluster", "AWS::FSx::FileSystem", "AWS::FSx::DataRepositoryAssociation")
"""The types that constructs cover in full, but for what `unset.UNSET` lists."""
SAMPLES = (cluster, file_systems)
_OTHERS = ("OntapConfiguration/", "WindowsConfiguration/")  # other kinds of file systems


def leaves_of(resource_type: str) -> frozenset[str]:
    """Every writable leaf of a type, such as `InstanceGroups/*/ImageId`; of file systems, those of Lustre and OpenZFS."""
    facts = type_facts(resource_type)
    assert facts is not None
    return frozenset(leaf for leaf in facts.leaves if not leaf.startswith(_OTHERS))


@cache
def rendered() -> dict[str, frozenset[str]]:
    """The leaves by type that the samples render."""
    found: dict[str, set[str]] = {kind: set() for kind in COVERED}
    for template in _templates():
        for resource in template.get("Resources", {}).values():
            if resource["Type"] in found:
                kind = resource["Type"]
                found[kind] |= set(leaves_in(resource.get("Properties", {}), "", leaves_of(kind)))
    return {kind: frozenset(leaves) for kind, leaves in found.items()}


def leaves_in(value: Any, path: str, leaves: frozenset[str]) -> Iterator[str]:
    """The leaves at and below a path of a template.

    :raises ValueError: for a value that the schema does not have there, or an intrinsic function around several leaves.
    """
    if path in leaves:
        yield path
    elif isinstance(value, Mapping) and not any(key == "Ref" or key.startswith("Fn::") for key in value):
        for name, child in value.items():
            yield from leaves_in(child, f"{path}/{name}".removeprefix("/"), leaves)
    elif isinstance(value, list):
        for item in value:
            yield from leaves_in(item, f"{path}/*", leaves)
    else:
        raise ValueError(f"{path or 'the properties'}: {value!r} is no leaf of the schema, and nothing that holds leaves")


def _templates() -> Iterator[dict[str, Any]]:
    for sample in SAMPLES:
        app = App(context={"hyperpod:rules": False})  # samples set what Slurm and EKS take, each alone
        sample.build(app)
        yield from (stack.template for stack in app.synth().stacks)
