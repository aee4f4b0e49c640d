"""The parts of a template: its sections, and the keys of resources, parameters and outputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hyperpod_constructs.analysis.references.places import Misreference, entry, section
from hyperpod_constructs.analysis.schema.violation import listed, meant
from hyperpod_constructs.templates.model import Model, Resource, Template
from hyperpod_constructs.templates.raw import Raw
from hyperpod_constructs.templates.transforms import may_name
from hyperpod_constructs.templates.values import ABSENT

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
        for resource in template.resources:
            yield from _unknown(resource, "resource", resource.raw, _RESOURCE)
        for name, parameter in section(template, "Parameters").items():
            if isinstance(parameter, dict):
                yield from _unknown(entry(template, "Parameters", name), "parameter", parameter, _PARAMETER)
        for name, output in section(template, "Outputs").items():
            if isinstance(output, dict):
                yield from _of_output(entry(template, "Outputs", name), output)
        yield from _of_template(template)


def _of_output(place: Resource, output: Mapping[str, Raw]) -> Iterator[Misreference]:
    yield from _unknown(place, "output", output, _OUTPUT)
    if "Value" not in output:
        yield Misreference(place, (), f"output {place.logical_id} has no Value", ABSENT, "a Value")


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
