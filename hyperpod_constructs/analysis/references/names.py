"""Names that a template uses and does not have: of resources, attributes, parameters, conditions, mappings and outputs."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs._support.words import enumerated
from hyperpod_constructs.analysis.answered_values import attributes_of
from hyperpod_constructs.analysis.custom_resources import PREFIXES, makers
from hyperpod_constructs.analysis.references.choices import choice_without, in_words, named_conditions
from hyperpod_constructs.analysis.references.places import Call, Misreference, calls, entry, names, once, section
from hyperpod_constructs.analysis.schema.judge import fits
from hyperpod_constructs.analysis.schema.violation import listed, meant
from hyperpod_constructs.facts.lacking_attributes import lacking
from hyperpod_constructs.facts.property_schemas import attributes
from hyperpod_constructs.facts.template_parts import NOT_IN_CONDITIONS
from hyperpod_constructs.templates.documents import NESTED_STACK
from hyperpod_constructs.templates.environment import Environment
from hyperpod_constructs.templates.files import is_file
from hyperpod_constructs.templates.model import Model, Resource, Template
from hyperpod_constructs.templates.nesting import TEMPLATE_ENDINGS, is_url
from hyperpod_constructs.templates.raw import Raw
from hyperpod_constructs.templates.values import as_str

_VARIABLE = re.compile(r"\$\{([^${}]*)\}")
_EARLY = ("Condition", "Rule")
"""The owners of calls that are computed before there is a resource."""
_PSEUDO = (
    "AWS::AccountId",
    "AWS::NoValue",
    "AWS::NotificationARNs",
    "AWS::Partition",
    "AWS::Region",
    "AWS::StackId",
    "AWS::StackName",
    "AWS::URLSuffix",
)


def unknown_names(model: Model) -> tuple[Misreference, ...]:
    """Names that a template does not have, and resources that a condition surely leaves out."""
    return tuple(once([*_of_calls(model), *_of_attributes_beside(model), *_of_files(model)]))


def unknown_attributes(model: Model) -> tuple[Misreference, ...]:
    """Attributes that the type of a resource does not have, and outputs that a nested stack does not have."""
    taken = [(call, resource, name) for call in calls(model) for resource, name in _taken(call)]
    found = (_attribute(*one) for one in taken)
    return tuple(once([*(one for one in found if one is not None), *_of_custom(model, taken)]))


def _taken(call: Call) -> Iterator[tuple[Resource, str]]:
    """The resources of which a call takes attributes, with their names."""
    found = ((call.template.by_id.get(owner), attribute) for owner, attribute in _attributes_in(call))
    yield from ((resource, attribute) for resource, attribute in found if resource is not None)


def _of_calls(model: Model) -> Iterator[Misreference]:
    for call in calls(model):
        if call.owner.type in _EARLY and call.name in NOT_IN_CONDITIONS:
            message = f"{call.name} is in {call.owner.type.lower()} {call.owner.logical_id}, which is computed before any resource"
            yield call.mistake(message, call.name, "parameters, mappings and other conditions")
        elif call.owner.type == "Condition" and call.name == "Condition":
            yield from _missing(call, "Conditions", call.argument)
        elif call.name == "Fn::If" and isinstance(call.argument, list):
            yield from _missing(call, "Conditions", call.argument[0])
        elif call.name == "Fn::FindInMap" and isinstance(call.argument, list) and call.argument:
            yield from _missing(call, "Mappings", call.argument[0])
        elif call.name == "Ref":
            yield from _value(call, call.argument)
        elif call.name in ("Fn::GetAtt", "Fn::Sub"):
            for name in _variables(call) if call.name == "Fn::Sub" else ():
                yield from _value(call, name)
            for name, _ in _attributes_in(call):
                yield from _resource(call, name)


def _of_attributes_beside(model: Model) -> Iterator[Misreference]:
    """Names in `DependsOn` and `Condition` of resources, in `Condition` of outputs, and circles of conditions."""
    for template in model.templates:
        for resource in () if template.rewritten else template.resources:
            place = Call(resource, (), "", None, True)
            written = resource.raw.get("DependsOn")
            for name in written if isinstance(written, list) else [written]:
                yield from (replace(one, of_order=True) for one in _missing(place, "Resources", name, "DependsOn names"))
            yield from _missing(place, "Conditions", resource.raw.get("Condition"))
        for name, output in () if template.rewritten else section(template, "Outputs").items():
            if isinstance(output, dict):
                place = Call(entry(template, "Outputs", name), (), "", None, True)
                yield from _missing(place, "Conditions", output.get("Condition"))
        yield from _circular(template)


def _of_files(model: Model) -> Iterator[Misreference]:
    """Local templates of nested stacks that are not beside the template; CloudFormation's packaging reads them from there."""
    for stack in model.resources(NESTED_STACK):
        url, file = as_str(stack.get("TemplateURL")), stack.template.document.file
        is_local = url is not None and not is_url(url) and url.endswith(TEMPLATE_ENDINGS)
        if url is None or file is None or not is_local or stack.nested is not None:
            continue
        if is_file(file) and not is_file(file.parent / url):
            message = f"there is no file {url} beside {file.name}"
            yield Misreference(stack, ("TemplateURL",), message, url, "the path of a template, from the folder of this one")


def _circular(template: Template) -> Iterator[Misreference]:
    """The first condition that leads back to itself."""
    conditions = section(template, "Conditions")
    for start in conditions:
        reached, waiting = set[str](), named_conditions(conditions[start])
        while waiting:
            name = waiting.pop()
            if name in conditions and name not in reached:
                reached.add(name)
                waiting += named_conditions(conditions[name])
        if start in reached:
            place = Call(entry(template, "Conditions", start), (), "", None, True)
            yield place.mistake(f"condition {start} leads back to itself", start, "conditions that lead to parameters")
            return


def _missing(call: Call, kind: str, name: Raw, says: str = "") -> Iterator[Misreference]:
    known = names(call.template, kind)
    if isinstance(name, str) and known is not None and name not in known:
        what = {"Conditions": "the condition", "Mappings": "the mapping", "Resources": "the resource"}[kind]
        yield _unknown(call, f"{says or f'{what} is'} {name!r}", name, known, f"a name in {kind} of the template")


def _unknown(call: Call, said: str, name: str, known: Collection[str], allowed: str) -> Misreference:
    return call.mistake(f"{said}, which the template does not have{meant(name, known)}", name, allowed)


def _value(call: Call, name: Raw) -> Iterator[Misreference]:
    """A name as `Ref` and `Fn::Sub` take it: a resource, a parameter or a pseudo parameter."""
    if not isinstance(name, str):
        return
    if name.startswith("AWS::"):
        if Environment().pseudo_parameter(name) is None:
            yield _unknown(call, f"{name!r} is no pseudo parameter", name, _PSEUDO, listed(_PSEUDO))
        return
    in_condition = call.owner.type in _EARLY
    known = names(call.template, "Parameters") if in_condition else names(call.template, "Parameters", "Resources")
    if known is None:
        return
    if name not in known:
        allowed = "a parameter of the template" if in_condition else "a resource or parameter of the template"
        if in_condition and name in (names(call.template, "Resources") or ()):
            message = f"a reference names {name!r}, a resource; conditions and rules know parameters only"
            yield call.mistake(message, name, allowed)
            return
        yield _unknown(call, f"a reference names {name!r}", name, known, allowed)
    elif name not in section(call.template, "Parameters"):
        yield from _left_out(call, name)


def _resource(call: Call, name: str) -> Iterator[Misreference]:
    known = names(call.template, "Resources")
    if known is not None and name not in known:
        yield _unknown(call, f"a reference names {name!r}", name, known, "a resource of the template")
    else:
        yield from _left_out(call, name)


def _left_out(call: Call, name: str) -> Iterator[Misreference]:
    """A resource that a deployment needs, and does not make: this one surely, or one with other values of its parameters."""
    written = call.template.written
    condition = written[name].get("Condition") if name in written else None
    if not isinstance(condition, str) or call.template.rewritten:
        return
    said, allowed = f"a reference names {name}, which condition {condition} leaves out", "Fn::If with that condition"
    if call.sure and name not in call.template.by_id:
        yield call.mistake(said, name, f"{allowed}, or a resource without it")
    elif name != call.owner.logical_id:
        choice = choice_without(call.template, condition, call.needs)
        if choice is not None:
            yield call.mistake(f"{said} with {in_words(choice)}", name, f"{allowed}, or the condition on what refers")


def _variables(call: Call) -> list[str]:
    """The names in `Fn::Sub` that are no attributes, without those that it defines itself."""
    return [name for name in _written_in(call) if "." not in name]


def _attributes_in(call: Call) -> list[tuple[str, str]]:
    """The resources and attributes in a call, as far as they are known."""
    if call.name == "Fn::Sub":
        return [(owner, attribute) for owner, dot, attribute in (name.partition(".") for name in _written_in(call)) if dot]
    if call.name != "Fn::GetAtt":
        return []
    argument = call.argument
    parts = argument.split(".", 1) if isinstance(argument, str) else argument
    if not isinstance(parts, list) or len(parts) < 2 or not isinstance(parts[0], str):
        return []
    known = [as_str(call.template.resolver.resolve(part)) for part in parts[1:]]
    return [(parts[0], ".".join(part for part in known if part is not None))] if None not in known else []


def _written_in(call: Call) -> list[str]:
    argument = call.argument
    text, given = argument if isinstance(argument, list) and len(argument) == 2 else (argument, {})
    if not isinstance(text, str) or not isinstance(given, dict):
        return []
    found = (name.strip() for name in _VARIABLE.findall(text))
    return [name for name in found if name and not name.startswith("!") and name not in given]


def _attribute(call: Call, resource: Resource, attribute: str) -> Misreference | None:
    if resource.type == NESTED_STACK:
        return _output(call, resource, attribute)
    known = None if resource.type.startswith(PREFIXES) else attributes(resource.type)
    if known is None or attribute in known or any("*" in name for name in known if name.startswith(f"{attribute}.")):
        return _lacking(call, resource, attribute)
    message = f"{resource.logical_id} is an {resource.type}, which has no attribute {attribute}{meant(attribute, known)}"
    return call.mistake(message, f"{resource.logical_id}.{attribute}", listed(sorted(known)) or "no attribute; Ref gives its id")


def _of_custom(model: Model, taken: Iterable[tuple[Call, Resource, str]]) -> Iterator[Misreference]:
    """Attributes of custom resources that the code of their function does not give, all those of one function in one message."""
    custom = ((call, one, attributes_of(one), name) for call, one, name in taken if one.type.startswith(PREFIXES))
    lacking = [(call, one, known, name) for call, one, known, name in custom if known is not None and not _is_given(name, known)]
    for same in grouped((makers(model).get(one), (call, one, known, name)) for call, one, known, name in lacking).values():
        _, first, known, name = same[0]
        lacks, users = list(dict.fromkeys(name for *_, name in same)), dict.fromkeys(one.logical_id for _, one, *_ in same)
        near = meant(name, known) if len(lacks) == 1 else ""
        message = f"the function of {enumerated(users)} gives no {enumerated(lacks)}{near}"
        allowed = listed(known) or "no attribute; Ref gives its id"
        yield from (call.mistake(message, f"{first.logical_id}.{name}", allowed) for call, *_ in same)


def _is_given(name: str, known: Collection[str]) -> bool:
    return name in known or name.partition(".")[0] in known


def _lacking(call: Call, resource: Resource, attribute: str) -> Misreference | None:
    """An attribute of the type that the resource does not have, with its settings."""
    schema, words = lacking().get((resource.type, attribute), (None, ""))
    if schema is None or not resource.exists or not fits(schema, resource.get()):
        return None
    return call.mistake(f"{resource.logical_id} {words}, and has no {attribute}", attribute, "an attribute that it has")


def _output(call: Call, stack: Resource, attribute: str) -> Misreference | None:
    name = attribute.removeprefix("Outputs.")
    if name == attribute:
        return call.mistake(
            f"{stack.logical_id} is a nested stack, and {attribute} is none of its outputs", attribute, "Outputs.NAME"
        )
    known = None if stack.nested is None else names(stack.nested, "Outputs")
    if known is None or stack.nested is None:
        return None
    if name not in known:
        message = f"the template of {stack.logical_id} has no output {name}{meant(name, known)}"
        return call.mistake(message, attribute, listed(sorted(known)) or "no output")
    return _output_left_out(call, stack, stack.nested, name)


def _output_left_out(call: Call, stack: Resource, nested: Template, name: str) -> Misreference | None:
    """An output that a deployment needs, and its nested stack does not have: this one surely, or one with other values."""
    declared = section(nested, "Outputs")[name]
    condition = declared.get("Condition") if isinstance(declared, dict) else None
    if not isinstance(condition, str):
        return None
    said = f"condition {condition} leaves output {name} of {stack.logical_id} out"
    if call.sure and nested.condition(condition) is False:
        return call.mistake(said, name, "an output that is there")
    alone = {need for need, _ in call.needs} <= {stack.condition}
    choice = choice_without(nested, condition, ()) if alone else None
    return None if choice is None else call.mistake(f"{said} with {in_words(choice)}", name, "the condition on what refers, too")
