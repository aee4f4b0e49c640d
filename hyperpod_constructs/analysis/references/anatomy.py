"""The parts of a template: its sections, and the keys of resources, parameters and outputs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice

from hyperpod_constructs.analysis.references.empty import without_value
from hyperpod_constructs.analysis.references.init import wrong_init
from hyperpod_constructs.analysis.references.outlines import unformed
from hyperpod_constructs.analysis.references.places import ENTRIES, Misreference, entry, head, section, settled
from hyperpod_constructs.analysis.references.truths import untrue
from hyperpod_constructs.analysis.schema.judge import violations
from hyperpod_constructs.analysis.schema.violation import listed, meant, nearest
from hyperpod_constructs.facts.data_holders import SNAPSHOT_TYPES
from hyperpod_constructs.facts.parameter_types import is_list
from hyperpod_constructs.facts.property_schemas import property_schema
from hyperpod_constructs.facts.template_parts import (
    CREATION_POLICIES,
    LONGEST_DESCRIPTION,
    TRANSFORMED,
    TRANSFORMS,
    UPDATE_POLICIES,
    VERSION,
)
from hyperpod_constructs.templates.dependencies import raw_at
from hyperpod_constructs.templates.model import Model, Resource, Template
from hyperpod_constructs.templates.raw import Raw
from hyperpod_constructs.templates.transforms import macros, may_name
from hyperpod_constructs.templates.values import ABSENT, Value, as_bool, as_int, at

_VARIABLE = re.compile(r"\$\{([A-Za-z0-9.]+)\}")
_ANY_VARIABLE = re.compile(r"\$\{[^!}][^}]*\}")
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
_SECRETS = ("{{resolve:secretsmanager:", "{{resolve:ssm-secure:")
_OWN = ("AWS::Serverless::", "Custom::")
_SPELLED_OUT, _POLICIES_OF_DATA = ("Condition", "DependsOn", "Type"), ("DeletionPolicy", "UpdateReplacePolicy")
"""What takes no functions, and what takes them with the transform AWS::LanguageExtensions.

Sources: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference.html and
https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/transform-aws-languageextensions.html
"""
_CUSTOM_TYPE = re.compile(r"Custom::[A-Za-z0-9_@-]+")
"""Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-cloudformation-customresource.html"""
_EXPORT = re.compile(r"[A-Za-z0-9:-]+")
"""Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/outputs-section-structure.html"""
_RULE = ("Assertions", "RuleCondition")
_ASSERTION = ("Assert", "AssertDescription")
_POLICIES = {"CreationPolicy": CREATION_POLICIES, "UpdatePolicy": UPDATE_POLICIES}


def wrong_parts(model: Model) -> Iterator[Misreference]:
    """Keys that CloudFormation does not know, and outputs without a value; a macro may have keys of its own."""
    for template in model.templates:
        yield from _at_the_head(template)
        if may_name(template.raw):
            continue
        yield from _unspellable(template)
        yield from _untyped(template)
        yield from without_value(template)
        yield from untrue(template)
        yield from unformed(template)
        for resource in template.resources:
            yield from _unknown(resource, "resource", resource.raw, _RESOURCE)
            yield from _without_snapshot(resource)
            yield from _not_spelled_out(resource)
            yield from _wrong_policies(resource)
            yield from wrong_init(resource)
        for name, parameter in section(template, "Parameters").items():
            if isinstance(parameter, dict):
                yield from _unknown(entry(template, "Parameters", name), "parameter", parameter, _PARAMETER)
        for name, output in section(template, "Outputs").items():
            if isinstance(output, dict):
                yield from _of_output(entry(template, "Outputs", name), output)
        for name, rule in section(template, "Rules").items():
            yield from map(settled, _of_rule(entry(template, "Rules", name), rule))
        yield from _of_template(template)


def _at_the_head(template: Template) -> Iterator[Misreference]:
    """The version, the description and the macros of a template, at its first resource."""
    place = head(template)
    if place is not None:
        version, description = (template.raw.get(name) for name in ("AWSTemplateFormatVersion", "Description"))
        if isinstance(version, str) and version != VERSION:
            yield Misreference(place, (), f"the version of the template is {version!r}", version, VERSION)
        size = len(description.encode()) if isinstance(description, str) else 0
        if size > LONGEST_DESCRIPTION:
            message = f"the description of the template has {size} bytes"
            yield Misreference(place, (), message, size, f"at most {LONGEST_DESCRIPTION} bytes")
        for name in macros(template.raw):
            if name.startswith("AWS::") and name not in TRANSFORMS:
                first, *others = list(_made_by(template, name)) or [place]
                message = f"the template has the transform {name}{meant(name, TRANSFORMS)}"
                yield Misreference(first, (), message, name, listed(TRANSFORMS), covers=tuple(others))


def _made_by(template: Template, macro: str) -> Iterator[Resource]:
    """What a macro makes that was probably meant."""
    near = nearest(macro, TRANSFORMS) or ""
    for begin, (type_, key) in TRANSFORMED.items():
        if near.startswith(begin):
            found = (one for one in template.resources if one.type.startswith(type_))
            yield from (one for one in found if key is None or raw_at(one, (key,)) is not None)


def _wrong_policies(resource: Resource) -> Iterator[Misreference]:
    """Policies of the creation and the update that the type does not have, or not like this."""
    for name, known in _POLICIES.items():
        policy = resource.policy(name)
        if not isinstance(policy, Mapping):
            continue
        if resource.type not in known:
            if not resource.type.startswith(_OWN):
                message = f"{resource.logical_id} has a {name}, and {resource.type} takes none"
                yield Misreference(resource, (), message, ABSENT, f"a {name} of {listed(known)}")
            continue
        for one in islice(violations(known[resource.type], policy), 1):
            yield Misreference(resource, (), f"{name} of {resource.logical_id}: {one.message}", one.found, one.allowed)
    yield from _never_below(resource)


def _never_below(resource: Resource) -> Iterator[Misreference]:
    """A rolling update that keeps as many instances as the group has at most, and so replaces none; an empty group has none."""
    rolling = at(resource.policy("UpdatePolicy"), "AutoScalingRollingUpdate", "MinInstancesInService")
    kept, most = as_int(rolling), as_int(resource.get("MaxSize"))
    if kept is not None and most and kept >= most:
        message = f"an update of {resource.logical_id} keeps {kept} instances in service, and the group has {most} at most"
        yield Misreference(resource, (), message, kept, f"at most {most - 1}")


def _of_rule(place: Resource, rule: Raw) -> Iterator[Misreference]:
    if not isinstance(rule, dict):
        return
    yield from _unknown(place, "rule", rule, _RULE)
    assertions = rule.get("Assertions")
    for one in assertions if isinstance(assertions, list) else ():
        if isinstance(one, dict):
            yield from _unknown(place, "rule", one, _ASSERTION)
    if not isinstance(assertions, list) or any(isinstance(one, dict) and "Assert" not in one for one in assertions):
        yield Misreference(place, (), f"rule {place.logical_id} asserts nothing", ABSENT, "Assertions, each with Assert")


def _unspellable(template: Template) -> Iterator[Misreference]:
    """Names of resources, parameters, outputs and others with other characters than letters and digits."""
    first = head(template)
    for kind in ("Resources", "Parameters", "Outputs", "Conditions", "Mappings"):
        for name in section(template, kind):
            if not (name.isascii() and name.isalnum()):
                place = (
                    template.by_id.get(name) if kind == "Resources" else entry(template, kind, name) if kind in ENTRIES else first
                )
                if place is not None:
                    yield Misreference(place, (), f"{name!r} is a name in {kind}", name, "letters and digits")


def _untyped(template: Template) -> Iterator[Misreference]:
    """Resources without a type."""
    for name, written in section(template, "Resources").items():
        if isinstance(written, dict) and not isinstance(written.get("Type"), str):
            said = "a Type that is no text" if written.get("Type") else "no Type"
            yield Misreference(
                entry(template, "Resources", name), (), f"{name} has {said}", ABSENT, "a type such as AWS::S3::Bucket"
            )


def _without_snapshot(resource: Resource) -> Iterator[Misreference]:
    """A policy of a type of which CloudFormation takes no snapshot."""
    for name in _POLICIES_OF_DATA:
        if resource.raw.get(name) == "Snapshot" and resource.type not in SNAPSHOT_TYPES:
            message = f"{name} of {resource.logical_id} is Snapshot, and {resource.type} has none"
            yield Misreference(resource, (), message, "Snapshot", "Retain, Delete; Snapshot for databases and volumes")


def _not_spelled_out(resource: Resource) -> Iterator[Misreference]:
    """A function where CloudFormation reads what is written, and the name of a custom type with other characters."""
    for name in (*_SPELLED_OUT, *(() if macros(resource.template.raw) else _POLICIES_OF_DATA)):
        written = resource.raw.get(name)
        parts = written if isinstance(written, list) else [written]
        if any(isinstance(one, dict) for one in parts):
            message = f"{name} of {resource.logical_id} is a function"
            yield Misreference(resource, (), message, ABSENT, "what is written out; functions are for properties")
    kind = resource.raw.get("Type")
    if isinstance(kind, str) and kind.startswith("Custom::") and not _CUSTOM_TYPE.fullmatch(kind):
        message = f"the type of {resource.logical_id} is {kind!r}"
        yield Misreference(resource, (), message, kind, "Custom:: with letters, digits, '_', '@' and '-'")


def _of_output(place: Resource, output: Mapping[str, Raw]) -> Iterator[Misreference]:
    yield from _unknown(place, "output", output, _OUTPUT)
    export = output.get("Export")
    name = export.get("Name") if isinstance(export, dict) else None
    strange = next((one for one in written_in(name) if one and not _EXPORT.fullmatch(one)), "" if name == "" else None)
    if strange is not None:
        message = f"the name of the export of output {place.logical_id} {'has' if strange != name else 'is'} {strange!r}"
        yield Misreference(place, (), message, strange, "letters, digits, colons and hyphens")
    if isinstance(export, dict) and any(name in place.template.by_id for name in named_in(export.get("Name"))):
        message = f"the name of the export of output {place.logical_id} comes from a resource"
        yield Misreference(place, (), message, ABSENT, "a text, with parameters and pseudo parameters")
    if "Value" not in output:
        yield Misreference(place, (), f"output {place.logical_id} has no Value", ABSENT, "a Value")
    elif (given := no_text(place.template, output["Value"])) is not None:
        yield Misreference(place, (), f"output {place.logical_id} is {given}", ABSENT, "a text, such as Fn::Join makes of a list")
    elif (secret := _secret_in(place.template, output["Value"])) is not None:
        message = f"output {place.logical_id} shows parameter {secret}, which has NoEcho"
        yield Misreference(place, (), message, ABSENT, "no secret")
    elif any(start in str(output["Value"]) for start in _SECRETS):
        message = f"output {place.logical_id} resolves a secret, which CloudFormation does in properties of resources only"
        yield Misreference(place, (), message, ABSENT, "the ARN of the secret")


def no_text(template: Template, value: Raw) -> str | None:
    """What a value gives instead of a text, in words."""
    if isinstance(value, list):
        return "a list"
    if not isinstance(value, dict):
        return None
    (name, argument), *more = value.items() if value else [("", None)]
    if more or not (name == "Ref" or name.startswith(("Fn::", "Condition"))):
        return "a mapping"
    parameter = section(template, "Parameters").get(argument) if name == "Ref" and isinstance(argument, str) else None
    kind = parameter.get("Type") if isinstance(parameter, dict) else None
    if isinstance(kind, str) and is_list(kind):
        return f"the list in parameter {argument}"
    return "a list" if name in ("Fn::Cidr", "Fn::GetAZs", "Fn::Split") or _is_list_attribute(template, name, argument) else None


def _is_list_attribute(template: Template, name: str, argument: Raw) -> bool:
    """Whether a call takes an attribute of a resource that is a list."""
    parts = argument.split(".", 1) if isinstance(argument, str) else argument if isinstance(argument, list) else []
    if name != "Fn::GetAtt" or len(parts) != 2 or not all(isinstance(part, str) for part in parts):
        return False
    resource = template.by_id.get(str(parts[0]))
    schema = None if resource is None else property_schema(resource.type)
    node = (schema or {}).get("properties", {}).get(parts[1])
    return isinstance(node, Mapping) and node.get("type") in ("array", ["array"])


def _secret_in(template: Template, value: Raw) -> str | None:
    """A parameter in a value that is not to be shown."""
    parameters = section(template, "Parameters")
    shown = (name for name in named_in(value) if isinstance(parameters.get(name), dict))
    return next((name for name in shown if as_bool(_no_echo(parameters[name]))), None)


def _no_echo(parameter: Raw) -> Value:
    found = parameter.get("NoEcho") if isinstance(parameter, dict) else None
    return found if isinstance(found, str | bool) else ABSENT


def named_in(value: Raw) -> Iterator[str]:
    """The names in `Ref`, `Fn::GetAtt` and `Fn::Sub` of a value."""
    if isinstance(value, dict):
        for key, argument in value.items():
            first = argument[0] if isinstance(argument, list) and argument else argument
            if key in ("Ref", "Fn::GetAtt") and isinstance(first, str):
                yield first.partition(".")[0]
            elif key == "Fn::Sub" and isinstance(first, str):
                yield from (name.partition(".")[0] for name in _VARIABLE.findall(first))
            yield from named_in(argument)
    elif isinstance(value, list):
        for item in value:
            yield from named_in(item)


def written_in(value: Raw) -> Iterator[str]:
    """The characters that a text surely has, piece by piece: it, or what `Fn::Sub` and `Fn::Join` leave as it is."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict) and len(value) == 1:
        (name, argument), *_ = value.items()
        text = argument[0] if name == "Fn::Sub" and isinstance(argument, list) and argument else argument
        if name == "Fn::Sub" and isinstance(text, str):
            yield from _ANY_VARIABLE.split(text)
        elif name == "Fn::Join" and isinstance(argument, list) and len(argument) == 2 and isinstance(argument[1], list):
            for one in (argument[0] if len(argument[1]) > 1 else "", *argument[1]):
                yield from written_in(one)


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
