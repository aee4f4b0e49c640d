"""Functions inside of functions that give a text where a list is taken, or a list where a text is.

Sources: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference-join.html,
https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference-select.html and
https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference-split.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hyperpod_constructs.analysis.references.places import Call, Misreference, section
from hyperpod_constructs.facts.parameter_types import TYPES, is_list
from hyperpod_constructs.facts.property_schemas import property_schema
from hyperpod_constructs.templates.documents import NESTED_STACK
from hyperpod_constructs.templates.model import Template
from hyperpod_constructs.templates.raw import Raw
from hyperpod_constructs.templates.values import ABSENT

_TAKES_LIST: Mapping[str, str] = {"Fn::Join": "joins", "Fn::Select": "selects from"}
_TEXTS = ("Fn::Base64", "Fn::ImportValue", "Fn::Join", "Fn::Sub")
_LISTS = ("Fn::Cidr", "Fn::GetAZs", "Fn::Split")
"""Functions that give a text, and a list, whatever they are given."""
_LISTED = "AWS::NotificationARNs"
_FROM_SSM = ("AWS::SSM::Parameter::Value<String>", "AWS::SSM::Parameter::Name")


def of_other_kind(call: Call, argument: Sequence[Raw]) -> Iterator[Misreference]:
    """A call whose second argument is a function that gives the other kind of value."""
    inner = argument[1]
    ((name, given),) = inner.items() if isinstance(inner, dict) and len(inner) == 1 else (("", None),)
    listed = _gives_list(call.template, name, given)
    verb = _TAKES_LIST.get(call.name)
    if verb is not None and listed is False:
        message = f"{call.name} {verb} {_words(name, given)}, which is a text"
        yield call.mistake(message, ABSENT, "a list; Fn::Split makes one of a text")
    elif call.name == "Fn::Split" and listed:
        message = f"Fn::Split divides {_words(name, given)}, which is a list already"
        yield call.mistake(message, ABSENT, "a text, or the list without Fn::Split")


def _words(name: str, given: Raw) -> str:
    shown = ".".join(map(str, given)) if isinstance(given, list) and name == "Fn::GetAtt" else given
    return str(shown) if name in ("Ref", "Fn::GetAtt") else name


def _gives_list(template: Template, name: str, given: Raw) -> bool | None:
    """Whether a function surely gives a list, or surely a text; `None` where neither is sure."""
    if name in _TEXTS or name in _LISTS:
        return name in _LISTS
    if name == "Ref" and isinstance(given, str):
        return _of_reference(template, given)
    parts = given.split(".", 1) if isinstance(given, str) else given
    if name == "Fn::GetAtt" and isinstance(parts, list) and len(parts) == 2 and all(isinstance(part, str) for part in parts):
        return _of_attribute(template, str(parts[0]), str(parts[1]))
    return None


def _of_reference(template: Template, name: str) -> bool | None:
    if name.startswith("AWS::"):
        return None if name == "AWS::NoValue" else name == _LISTED
    if name in template.written:
        return False
    declared = section(template, "Parameters").get(name)
    kind = declared.get("Type") if isinstance(declared, dict) else None
    return is_list(kind) if isinstance(kind, str) and kind in (*TYPES, *_FROM_SSM) else None


def _of_attribute(template: Template, owner: str, attribute: str) -> bool | None:
    """Outputs of a nested stack are texts; of other attributes the schema says it."""
    resource = template.by_id.get(owner)
    if resource is None:
        return None
    if resource.type == NESTED_STACK:
        return False if attribute.startswith("Outputs.") else None
    node = (property_schema(resource.type) or {}).get("properties", {}).get(attribute)
    kind = node.get("type") if isinstance(node, Mapping) else None
    return {"array": True, "string": False}.get(kind) if isinstance(kind, str) else None
