"""The kinds of arguments that functions take, and where they stand: a text, a list, a number, one function in an object.

Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hyperpod_constructs.analysis.references.places import ENTRIES, Call, Misreference, entry, names, section
from hyperpod_constructs.templates.model import Model, Resource, Template
from hyperpod_constructs.templates.raw import Raw
from hyperpod_constructs.templates.values import ABSENT, as_int

_OF_CONDITIONS = ("Fn::And", "Fn::Equals", "Fn::Not", "Fn::Or")
_OF_RULES = ("Fn::Contains", "Fn::EachMemberEquals", "Fn::EachMemberIn", "Fn::RefAll", "Fn::ValueOf", "Fn::ValueOfAll")
_LISTS_FIRST = ("Fn::Contains", "Fn::EachMemberEquals", "Fn::EachMemberIn")
_WITH_OTHERS = ("Fn::ForEach", "Fn::Transform")
"""What adds to the object in which it stands."""
_PARENTHESES = re.compile(r"\$\(([A-Za-z0-9]+)\)")


def wrong_shape(call: Call) -> Iterator[Misreference]:
    """An argument of another kind than its function takes, or a function at a place that has none."""
    said = _said(call.name, call.argument) or _misplaced(call) or _with_parentheses(call)
    if said is not None:
        yield call.mistake(said[0], ABSENT, said[1])


def _said(name: str, argument: Raw) -> tuple[str, str] | None:
    items = argument if isinstance(argument, list) else []
    if name == "Ref" and not isinstance(argument, str | dict):
        return "Ref names nothing", "the name of a resource or a parameter"
    if name == "Fn::GetAtt" and (len(items) != 2 if items else "." not in str(argument)):
        return f"Fn::GetAtt has {items or argument}, without an attribute", "a resource and its attribute"
    if name == "Fn::Sub" and not _is_sub(argument):
        return "Fn::Sub takes a text, or a list of a text and its variables", "a text, or [TEXT, {NAME: VALUE}]"
    if name == "Fn::Base64" and isinstance(argument, list):
        return "Fn::Base64 takes one text", "a text, such as Fn::Join makes of a list"
    if name == "Fn::ImportValue" and (items or (isinstance(argument, dict) and name in argument)):
        return "Fn::ImportValue takes one name", "the name of an export, or a function that gives it"
    if name == "Fn::Split" and len(items) == 2 and (not isinstance(items[0], str) or isinstance(items[1], list)):
        return "Fn::Split takes a delimiter, and then a text", "[DELIMITER, TEXT]"
    if name == "Fn::Select" and len(items) == 2 and not isinstance(items[0], dict) and as_int(_plain(items[0])) is None:
        return f"Fn::Select takes item {items[0]!r}", "a number, and then a list"
    if name == "Fn::If" and len(items) == 3 and isinstance(items[0], dict):
        return f"Fn::If decides by {next(iter(items[0]), 'nothing')}, and not by the name of a condition", "the name of a condition"
    if name in _LISTS_FIRST and len(items) == 2 and isinstance(items[1], list) and not isinstance(items[0], list):
        return f"{name} takes the list first", "[LIST, VALUE]"
    if name == "Fn::Contains" and len(items) == 2 and isinstance(items[0], str):
        return f"{name} looks into {items[0]!r}, which is no list", "[LIST, VALUE]"
    return None


def _plain(raw: Raw) -> str | int | float | bool | None:
    return raw if isinstance(raw, str | int | float | bool) else None


def _is_sub(argument: Raw) -> bool:
    if not isinstance(argument, list):
        return not isinstance(argument, dict) or "Fn::Transform" in argument
    return len(argument) == 2 and isinstance(argument[0], str) and isinstance(argument[1], dict)


def _misplaced(call: Call) -> tuple[str, str] | None:
    """A function of conditions or rules in a property or an output."""
    kind = call.owner.type
    if call.name in _OF_RULES and kind != "Rule":
        return f"{call.name} is a function of rules", "a place in Rules"
    if call.name in _OF_CONDITIONS and kind not in ("Condition", "Rule"):
        return f"{call.name} is a function of conditions", "a place in Conditions, and Fn::If with its name"
    return None


def _with_parentheses(call: Call) -> tuple[str, str] | None:
    """A name of the template in parentheses, where `Fn::Sub` takes braces."""
    text = call.argument[0] if isinstance(call.argument, list) and call.argument else call.argument
    if call.name != "Fn::Sub" or not isinstance(text, str) or "\n" in text:
        return None
    known = names(call.template, "Parameters", "Resources") or frozenset()
    found = next((name for name in _PARENTHESES.findall(text) if name in known), None)
    return None if found is None else (f"Fn::Sub has $({found}), which stays as it is", f"${{{found}}}")


def doubled(model: Model) -> Iterator[Misreference]:
    """A function with something beside it in one object."""
    for template in model.templates:
        for owner, written in _places_in(template) if not template.rewritten else ():
            yield from _doubled_in(owner, written)


def _places_in(template: Template) -> Iterator[tuple[Resource, Raw]]:
    yield from ((one, one.raw.get("Properties")) for one in template.resources)
    for kind in ("Conditions", "Outputs"):
        yield from ((entry(template, kind, name), written) for name, written in section(template, kind).items())


def _doubled_in(owner: Resource, written: Raw) -> Iterator[Misreference]:
    waiting: list[tuple[Raw, tuple[str | int, ...]]] = [(written, ())]
    while waiting:
        value, path = waiting.pop()
        if isinstance(value, list):
            waiting += [(item, (*path, index)) for index, item in enumerate(value)]
        elif isinstance(value, dict):
            functions = [key for key in value if key.startswith("Fn::") and not key.startswith(_WITH_OTHERS)]
            if functions and len(value) > 1:
                message = f"{functions[0]} stands beside {next(key for key in value if key != functions[0])} in one object"
                yield Misreference(
                    owner, () if owner.type in ENTRIES.values() else path, message, ABSENT, "one function in an object"
                )
            elif not functions and "Ref" not in value:
                waiting += [(item, (*path, key)) for key, item in value.items()]
