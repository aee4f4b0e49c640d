"""The parts of a template: its sections, and the keys of resources, parameters and outputs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from hyperpod_constructs.analysis.references.places import Misreference, entry, section
from hyperpod_constructs.analysis.schema.violation import listed, meant
from hyperpod_constructs.facts.data_holders import SNAPSHOT_TYPES
from hyperpod_constructs.templates.model import Model, Resource, Template
from hyperpod_constructs.templates.raw import Raw
from hyperpod_constructs.templates.transforms import may_name
from hyperpod_constructs.templates.values import ABSENT

_VARIABLE = re.compile(r"\$\{([A-Za-z0-9.]+)\}")
_SECTIONS = (
    "AWSTemplateFormatVersion",
    "Conditions",
    "Description",
    "Globals",
    "Hooks",
    "Mappings",
    "Metadata",
    "Outputs",
    "Parameters",
    "Resources",
    "Rules",
    "Transform",
)
_RESOURCE = (
    "Condition",
    "CreationPolicy",
    "DeletionPolicy",
    "DependsOn",
    "Description",
    "Metadata",
    "Properties",
    "Type",
    "UpdatePolicy",
    "UpdateReplacePolicy",
    "Version",
)
_PARAMETER = (
    "AllowedPattern",
    "AllowedValues",
    "ConstraintDescription",
    "Default",
    "Description",
    "MaxLength",
    "MaxValue",
    "MinLength",
    "MinValue",
    "NoEcho",
    "Type",
)
_OUTPUT = ("Condition", "Description", "Export", "Value")


def wrong_parts(model: Model) -> Iterator[Misreference]:
    """Keys that CloudFormation does not know, and outputs without a value; a macro may have keys of its own."""
    for template in model.templates:
        if may_name(template.raw):
            continue
        yield from _unspellable(template)
        for resource in template.resources:
            yield from _unknown(resource, "resource", resource.raw, _RESOURCE)
            yield from _without_snapshot(resource)
        for name, parameter in section(template, "Parameters").items():
            if isinstance(parameter, dict):
                yield from _unknown(entry(template, "Parameters", name), "parameter", parameter, _PARAMETER)
        for name, output in section(template, "Outputs").items():
            if isinstance(output, dict):
                yield from _of_output(entry(template, "Outputs", name), output)
        yield from _of_template(template)


def _unspellable(template: Template) -> Iterator[Misreference]:
    """Names of resources, parameters and outputs with other characters than letters and digits."""
    for kind in ("Resources", "Parameters", "Outputs"):
        for name in section(template, kind):
            if not (name.isascii() and name.isalnum()):
                place = template.by_id.get(name) if kind == "Resources" else entry(template, kind, name)
                if place is not None:
                    yield Misreference(place, (), f"{name!r} is a name in {kind}", name, "letters and digits")


def _without_snapshot(resource: Resource) -> Iterator[Misreference]:
    """A policy of a type of which CloudFormation takes no snapshot."""
    for name in ("DeletionPolicy", "UpdateReplacePolicy"):
        if resource.raw.get(name) == "Snapshot" and resource.type not in SNAPSHOT_TYPES:
            message = f"{name} of {resource.logical_id} is Snapshot, and {resource.type} has none"
            yield Misreference(resource, (), message, "Snapshot", "Retain, Delete; Snapshot for databases and volumes")


def _of_output(place: Resource, output: Mapping[str, Raw]) -> Iterator[Misreference]:
    yield from _unknown(place, "output", output, _OUTPUT)
    export = output.get("Export")
    if isinstance(export, dict) and any(name in place.template.by_id for name in _named_in(export.get("Name"))):
        message = f"the name of the export of output {place.logical_id} comes from a resource"
        yield Misreference(place, (), message, ABSENT, "a text, with parameters and pseudo parameters")
    if "Value" not in output:
        yield Misreference(place, (), f"output {place.logical_id} has no Value", ABSENT, "a Value")


def _named_in(value: Raw) -> Iterator[str]:
    """The names in `Ref`, `Fn::GetAtt` and `Fn::Sub` of a value."""
    if isinstance(value, dict):
        for key, argument in value.items():
            first = argument[0] if isinstance(argument, list) and argument else argument
            if key in ("Ref", "Fn::GetAtt") and isinstance(first, str):
                yield first.partition(".")[0]
            elif key == "Fn::Sub" and isinstance(first, str):
                yield from (name.partition(".")[0] for name in _VARIABLE.findall(first))
            yield from _named_in(argument)
    elif isinstance(value, list):
        for item in value:
            yield from _named_in(item)


def _of_template(template: Template) -> Iterator[Misreference]:
    """A section that is not known, at the first resource."""
    for key in template.raw:
        if key not in _SECTIONS and not key.startswith("Fn::") and template.resources:
            message = f"the template has a section {key}{meant(key, _SECTIONS)}"
            yield Misreference(template.resources[0], (), message, key, listed(_SECTIONS))


def _unknown(place: Resource, what: str, raw: Mapping[str, Raw], known: tuple[str, ...]) -> Iterator[Misreference]:
    for key in raw:
        if key not in known and not key.startswith("Fn::"):
            yield Misreference(place, (), f"{what} {place.logical_id} has a key {key}{meant(key, known)}", key, listed(known))
