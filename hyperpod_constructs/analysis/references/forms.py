"""What references give and properties take, as far as the schemas tell: an ARN or none, and of which type.

`Ref` gives the identifier of a type. Where a type has its ARN as an attribute beside another identifier, its `Ref` is no ARN. A
property whose name ends in `Arn`, or whose pattern begins with `arn:`, takes an ARN only; one whose pattern matches no ARN, or that
is named like the name of the type to which it refers, takes none.

Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference-ref.html
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from hyperpod_constructs.analysis.schema.patterns import compiled
from hyperpod_constructs.facts.property_schemas import attributes, has_schema, property_schema
from hyperpod_constructs.facts.receivers import ARN_SOURCES
from hyperpod_constructs.facts.reference_kinds import kind_of
from hyperpod_constructs.templates.model import target_of
from hyperpod_constructs.templates.values import Reference

_ARN = ("Arn", "ARN")
_NO_ARN = ("Name", "Url", "Address", "DNSName", "DnsName", "Endpoint", "Port", "Host")
_ENDS = ("Identifier", "Id", "Arn", "Name")
_EXAMPLES = tuple(f"arn:aws:sqs:us-east-1:123456789012:{end}" for end in ("a1", "a1/b1", "a1:b1", "a1/b1/c1"))
_OTHERS = ("a", "ab1", "abc1234", "s3://ab1/cd1", "https://ab1.cd1/ef1")
_CLASSES = re.compile(r"\\.|\[\^?\]?[^\]]*\]")
"""Escaped letters and classes of letters of a pattern."""
_EITHER = frozenset({"EventBusName", "FileSystemId", "FunctionName", "KeyId", "SecretId", "StreamName", "TableName"})
"""Names of properties that take an ARN too."""


def gives_arn(reference: Reference) -> bool | None:
    """Whether a reference gives an ARN; `None` if that is not known."""
    type_, attribute = target_of(reference).type, reference.attribute
    if type_ in ARN_SOURCES:
        given = ("Ref" if attribute is None else attribute) in ARN_SOURCES[type_][1]
        return given or (None if attribute is not None and attribute.endswith(_ARN) else False)
    known, schema = attributes(type_), property_schema(type_)
    if attribute is not None:
        beside = attribute.endswith("Id") and known is not None and any(one.endswith(_ARN) for one in known)
        return True if attribute.endswith(_ARN) else False if beside or attribute.endswith(_NO_ARN) else None
    identifier = (schema or {}).get("ref", "Arn")
    return False if known and not identifier.endswith(_ARN) and any(one.endswith(_ARN) for one in known) else None


def arns_of(resource_type: str) -> list[str]:
    """The attributes of a type that are its ARN."""
    known = ARN_SOURCES.get(resource_type, ("", ()))[1]
    return sorted(known or (one for one in attributes(resource_type) or () if one.endswith(_ARN)))


def takes_arn(resource_type: str, path: Sequence[str | int], reference: Reference) -> bool | None:
    """Whether a property takes an ARN only (true), or none (false)."""
    name = next((one for one in reversed(path) if isinstance(one, str)), "")
    node = node_at(resource_type, path)
    if node is None:
        return None
    pattern = node.get("pattern")
    if name.endswith((*_ARN, "Arns")) or (isinstance(pattern, str) and _wants_arn(pattern)):
        return True if not isinstance(pattern, str) or _matches(pattern, _EXAMPLES) or "arn" in pattern else None
    if isinstance(pattern, str):
        return None if "arn" in pattern or _matches(pattern, _EXAMPLES) or not _matches(pattern, _OTHERS) else False
    target = target_of(reference).type
    named = name.endswith(f"{target.rpartition('::')[2]}Name") or name == (property_schema(target) or {}).get("ref")
    return False if named and name not in _EITHER else None


def takes_text_of_arn(resource_type: str, path: Sequence[str | int]) -> bool | None:
    """Whether a text at a property is an ARN (true) or never one (false), by its kind or its name; patterns tell it elsewhere."""
    name = next((one for one in reversed(path) if isinstance(one, str)), "")
    kind = kind_of(resource_type, name)
    takes = kind.is_arn if kind is not None else False if _is_identifier(resource_type, name) else None
    node = None if takes is None else node_at(resource_type, path)
    return takes if node is not None and "pattern" not in node else None


def _is_identifier(resource_type: str, name: str) -> bool:
    """Whether a property is what `Ref` gives of another type of its service, and no ARN."""
    return not name.endswith(_ARN) and type_named(resource_type, name) is not None


def _wants_arn(pattern: str) -> bool:
    """Whether each text of a pattern begins with `arn:`, as far as its alternatives and its first group tell."""
    plain = _CLASSES.sub("_", pattern.removeprefix("^"))
    group = plain.startswith("(arn:")
    if not group and not plain.startswith("arn:"):
        return False
    depth, first = 0, group
    for letter, following in zip(plain, [*plain[1:], ""], strict=True):
        depth += (letter == "(") - (letter == ")")
        if (letter == "|" and depth <= first) or (first and depth == 0 and following in ("?", "*", "{")):
            return False
        first = first and depth > 0
    return True


def _matches(pattern: str, texts: Sequence[str]) -> bool:
    return any(compiled(pattern).fullmatch(one) for one in texts)


def node_at(resource_type: str, path: Sequence[str | int]) -> Mapping[str, Any] | None:
    """The schema of a property."""
    schema = property_schema(resource_type)
    node: Any = schema
    for key in path:
        node = _opened(schema or {}, node)
        node = node.get("items") if isinstance(key, int) else node.get("properties", {}).get(key)
        if not isinstance(node, Mapping):
            return None
    return _opened(schema or {}, node)


def _opened(schema: Mapping[str, Any], node: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = schema.get("definitions", {}).get(node["$ref"], {}) if "$ref" in node else node
    return found


def type_named(resource_type: str, name: str) -> str | None:
    """The type of the same service whose id, name or ARN a property is, by its name."""
    if name in _EITHER:
        return None
    prefix = resource_type.rpartition("::")[0]
    found = next((f"{prefix}::{name.removesuffix(end)}" for end in _ENDS if name.endswith(end)), "")
    schema = property_schema(found) if found else None
    return found if schema is not None and found != resource_type and schema.get("ref") in (name, *_ENDS) else None


def is_of_another_type(reference: Reference, wanted: str) -> bool:
    """Whether a reference surely gives the identifier of another type than the wanted one."""
    target, attribute = target_of(reference), reference.attribute
    noun = target.type.rpartition("::")[2]
    identifies = attribute is None or attribute in _ENDS or attribute in [f"{noun}{end}" for end in _ENDS]
    return target.type != wanted and has_schema(target.type) and identifies
