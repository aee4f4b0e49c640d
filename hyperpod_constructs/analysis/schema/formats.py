"""Texts and references against a named format of a schema: an identifier, an address block, JSON."""

from __future__ import annotations

import ipaddress

from hyperpod_constructs.analysis.answers import Answer
from hyperpod_constructs.analysis.bounded_json import read_json
from hyperpod_constructs.analysis.schema.patterns import matches
from hyperpod_constructs.analysis.schema.words import is_short_enough
from hyperpod_constructs.facts.property_schemas import FORMATS, LONGEST, property_schema
from hyperpod_constructs.templates.model import target_of
from hyperpod_constructs.templates.values import Reference, Text, Value, as_str

_ONE_SOURCE = frozenset({"AWS::EC2::SecurityGroup.Id", "AWS::EC2::Subnet.Id", "AWS::EC2::VPC.Id", "AWS::IAM::Role.Arn"})
"""Formats that `Ref` gives for one type only, or for none."""
_KEY_IDS = frozenset({"AWS::KMS::Alias.AliasName", "AWS::KMS::Key.Id"})
"""Where the id or alias of a key is taken, so is its ARN."""


def has_format(name: str, value: Value) -> Answer:
    """Whether a text has the format of an identifier or address block, and whether a reference gives one."""
    if isinstance(value, Reference):
        return None if name not in FORMATS else _gives(value, name)
    if isinstance(value, Text) and name in LONGEST and is_short_enough(LONGEST[name], value) is False:
        return False
    if isinstance(value, Text) and name in FORMATS:
        return matches(FORMATS[name][0], value)
    text = as_str(value)
    if text is None:
        return None
    if name.endswith("-network"):
        return _is_block(text, 4 if name.startswith("ipv4") else 6)
    if name == "json":
        return _is_object(text)
    return matches(FORMATS[name][0], text) if name in FORMATS else None


def _is_object(text: str) -> bool:
    try:
        return isinstance(read_json(text), dict)
    except ValueError:
        return False


def _is_block(text: str, version: int) -> bool:
    try:
        return "/" in text and ipaddress.ip_network(text, strict=False).version == version
    except ValueError:
        return False


def _gives(reference: Reference, wanted: str) -> Answer:
    """Whether a reference gives an identifier of this format. `Ref` gives no other, and of an attribute only some are known."""
    target = target_of(reference)
    schema = property_schema(target.type)
    if schema is None:
        return None
    name = schema.get("ref") if reference.attribute is None else reference.attribute
    node = schema["properties"].get(name, {})
    given = {node.get("format"), *(one.get("format") for one in node.get("anyOf", ()))} & FORMATS.keys()
    if not given:
        return False if reference.attribute is None and name is not None and wanted in _ONE_SOURCE else None
    return wanted in given or (wanted in _KEY_IDS and any(one.startswith("AWS::KMS::") for one in given))


def format_words(name: str) -> str:
    """A format in words."""
    if name.endswith("-network"):
        return "a block such as 10.0.0.0/16" if name.startswith("ipv4") else "a block such as 2001:db8::/56"
    if name == "json":
        return "an object of JSON"
    return FORMATS[name][1] if name in FORMATS else name
