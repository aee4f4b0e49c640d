"""The words of a schema that limit a single value: each is true, false or, where a deployment decides, `None`."""

from __future__ import annotations

import ipaddress
import json
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any, TypeAlias

from hyperpod_constructs.facts import lustre
from hyperpod_constructs.facts.arn_forms import FORMS as ARN_FORMS
from hyperpod_constructs.facts.property_schemas import FORMATS, FORMS, property_schema
from hyperpod_constructs.facts.receivers import ARN_SOURCES
from hyperpod_constructs.templates.model import target_of
from hyperpod_constructs.templates.values import (
    ABSENT,
    Either,
    Reference,
    Text,
    Unknown,
    Value,
    alternatives_of,
    as_bool,
    as_float,
    as_int,
    as_str,
    at,
    is_known,
)

Answer: TypeAlias = bool | None
Word: TypeAlias = Callable[[Any, Value], Answer]

_LONGEST_MATCHED = 1024
"""Longer texts are not matched with a pattern: its time grows with the text."""
_WITHOUT_ARN = frozenset(
    {
        "AWS::EKS::Cluster",
        "AWS::IAM::Role",
        "AWS::KMS::Key",
        "AWS::Lambda::Function",
        "AWS::Logs::LogGroup",
        "AWS::S3::Bucket",
        "AWS::SQS::Queue",
    }
)
"""Types whose `Ref` is a name, an id or an address, where others give an ARN."""
_ONE_SOURCE = frozenset({"AWS::EC2::SecurityGroup.Id", "AWS::EC2::Subnet.Id", "AWS::EC2::VPC.Id", "AWS::IAM::Role.Arn"})
"""Formats that `Ref` gives for one type only, or for none."""
_KEY_IDS = frozenset({"AWS::KMS::Alias.AliasName", "AWS::KMS::Key.Id"})
"""Where the id or alias of a key is taken, so is its ARN."""
_FILLS = ("a", "a1", "123456789012")
"""Texts in the place of unknown parts."""
_ARN_FILL = "arn:aws:service:us-west-2:123456789012:kind/name"
_SCHEMES = re.compile(r"\^?\(?((?:s3|https?)(?:\|(?:s3|https?))*)\)?:(?:\\?/){2}")
"""The begin of a pattern of addresses such as `s3://BUCKET/KEY`."""
_ARN_OF = re.compile(r"\^?arn:.*?:([a-z][a-z0-9-]+):")
"""The begin of a pattern of ARNs of one service."""
_KIND = re.compile(r":([a-z][a-z-]+)\\?[:/]")
"""The kind of a resource in an ARN, or in a pattern of ARNs behind its service."""
_TYPES = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "object": "an object with properties",
    "string": "a text",
}


def both(answers: Iterable[Answer]) -> Answer:
    """Whether all hold."""
    every = list(answers)
    return False if False in every else None if None in every else True


def any_of(answers: Iterable[Answer]) -> Answer:
    """Whether one holds."""
    every = list(answers)
    return True if True in every else None if None in every else False


def present(value: Value) -> Answer:
    """Whether a property is there; `None` if a condition decides."""
    if value is ABSENT or value is None:
        return False
    if isinstance(value, Unknown):
        return None
    return None if any(one is ABSENT for one in alternatives_of(value)) else True


def taken(value: Value) -> Answer:
    """Whether a property is there and no empty list, which excludes no other property."""
    return False if value == () else present(value)


def type_words(types: str | list[str]) -> str:
    """Types in words."""
    return " or ".join(_TYPES[one] for one in ([types] if isinstance(types, str) else types))


def has_type(types: str | list[str], value: Value) -> Answer:
    """Whether CloudFormation reads the value as one of these types: `"443"` is a number too."""
    return any_of(_has_type(one, value) for one in ([types] if isinstance(types, str) else types))


def _has_type(name: str, value: Value) -> Answer:
    if isinstance(value, Reference) and value.attribute is not None:
        return None
    if isinstance(value, Reference | Text):
        return {"string": True, "array": False, "object": False}.get(name)
    if name in ("array", "object"):
        return isinstance(value, tuple if name == "array" else Mapping)
    readers: dict[str, Callable[[Value], object]] = {"integer": as_int, "number": as_float, "boolean": as_bool, "string": as_str}
    return readers[name](value) is not None


def is_one_of(choices: list[Any], value: Value) -> Answer:
    """Whether the value is one of the words."""
    return _is_one_of([_text(one) for one in choices], value, str)


def is_one_of_any_case(choices: list[Any], value: Value) -> Answer:
    """Whether the value is one of the words, in capital or small letters."""
    return _is_one_of([_text(one).casefold() for one in choices], value, str.casefold)


def _is_one_of(choices: list[str], value: Value, folded: Callable[[str], str]) -> Answer:
    if isinstance(value, Text):
        possible = any(value.matches(one.replace("*", "?")) is not False for one in choices)
        return None if possible or folded is not str else False
    text = as_str(value)
    if text is None:
        return None if isinstance(value, Reference) else False
    return folded(text) in choices


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def matches(pattern: str, value: Value) -> Answer:
    """Whether the whole text has this form."""
    if isinstance(value, Reference):
        return False if _gives_no(pattern, value) else None
    if isinstance(value, Text):
        return False if _begins_otherwise(pattern, value) or _excludes(pattern, value) else None
    text = as_str(value)
    if text is None or len(text) > _LONGEST_MATCHED or "{{" in text:
        return None
    return compiled(pattern).fullmatch(text) is not None


def _gives_no(pattern: str, reference: Reference) -> bool:
    """Whether a reference surely gives no text of this form: a name where an ARN or an address is, or another service's ARN."""
    target = target_of(reference)
    if _is_arn(reference):
        of = _ARN_OF.match(pattern)
        other = of is not None and (of[1] != ARN_SOURCES[target.type][0] or _is_of_another_kind(pattern[of.end() - 1 :], reference))
        return bool(_addresses(pattern)) or other
    named = reference.attribute is None and target.type in _WITHOUT_ARN
    return named and (pattern.removeprefix("^").startswith("arn:") or bool(_addresses(pattern)))


def _is_of_another_kind(rest: str, reference: Reference) -> bool:
    """Whether the ARN of a reference has another kind of resource than a pattern.

    :param rest: the pattern behind the service.
    """
    form = ARN_FORMS.get(target_of(reference).type)
    own, wanted = None if form is None else _KIND.search(form.form, form.form.index("{")), _KIND.search(rest)
    return own is not None and wanted is not None and own[1] != wanted[1]


def other_words(pattern: str, reference: Reference) -> tuple[str, str]:
    """What a reference gives instead of a text of a form, and what is allowed, in words."""
    addresses, of = _addresses(pattern), _ARN_OF.match(pattern)
    if addresses:
        return "which is no address", f"an address that begins with {' or '.join(addresses)}"
    return (
        ("which is another ARN", f"an ARN of {of[1]}")
        if of is not None and _is_arn(reference)
        else ("which is not an ARN", "an ARN")
    )


def _begins_otherwise(pattern: str, text: Text) -> bool:
    """Whether a text surely does not begin as the addresses of a pattern do."""
    first, addresses = text.parts[0], _addresses(pattern)
    if isinstance(first, Reference):
        return bool(addresses) and _gives_no(pattern, first)
    return (
        isinstance(first, str) and bool(addresses) and not any(first.startswith(one) or one.startswith(first) for one in addresses)
    )


@cache
def _addresses(pattern: str) -> tuple[str, ...]:
    """The beginnings of the addresses of a pattern, such as `s3://`; none for a pattern of others."""
    found = _SCHEMES.match(pattern)
    return () if found is None else tuple(f"{one}://" for one in found[1].split("|"))


def _excludes(pattern: str, text: Text) -> bool:
    """Whether a character of the known parts is surely wrong: the text has no form with it, and has one with a letter instead."""
    known = "".join(part for part in text.parts if isinstance(part, str))
    if len(known) > _LONGEST_MATCHED or "{{" in known or any(_filled(pattern, text, fill, "") for fill in _FILLS):
        return any(map(_is_arn, text.parts)) and not any(_filled(pattern, text, fill, "", _ARN_FILL) for fill in _FILLS)
    capitals = "".join(dict.fromkeys(one for one in known if one.isupper()))
    return any(_filled(pattern, text, fill, wrong) for fill in _FILLS for wrong in (*dict.fromkeys(known), capitals))


def _filled(pattern: str, text: Text, fill: str, wrong: str, arn: str = "") -> bool:
    """Whether a text has the form once its unknown parts are filled.

    :param wrong: characters that are letters instead.
    :param arn: what fills the references that give an ARN.
    """
    letters = str.maketrans(wrong, "a" * len(wrong))
    parts = [part.translate(letters) if isinstance(part, str) else arn if arn and _is_arn(part) else fill for part in text.parts]
    return compiled(pattern).fullmatch("".join(parts)) is not None


def _is_arn(part: Value) -> bool:
    """Whether a part of a text is a reference that gives an ARN."""
    if not isinstance(part, Reference):
        return False
    _, given = ARN_SOURCES.get(target_of(part).type, ("", ()))
    return (part.attribute or "Ref") in given


def has_nowhere(refused: list[str], value: Value) -> Answer:
    """Whether a text has none of these parts."""
    parts = value.parts if isinstance(value, Text) else (value,)
    known = [part for part in parts if isinstance(part, str)]
    if any(one in part for part in known for one in refused):
        return False
    return True if len(known) == len(parts) else None


def begins_with(beginnings: list[str], value: Value) -> Answer:
    """Whether a text begins so; of one with unknown parts, as far as its first part tells."""
    if isinstance(value, Text):
        return any_of(value.startswith(one) for one in beginnings)
    text = as_str(value)
    return None if text is None else text.startswith(tuple(beginnings))


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """A pattern of the schemas."""
    return re.compile(pattern, re.ASCII)


def is_long_enough(least: int, value: Value) -> Answer:
    text = as_str(value)
    return None if text is None else len(text) >= least


def is_short_enough(most: int, value: Value) -> Answer:
    if isinstance(value, Text):
        return False if sum(len(part) for part in value.parts if isinstance(part, str)) > most else None
    text = as_str(value)
    return None if text is None else len(text) <= most


def is_at_least(least: float, value: Value) -> Answer:
    number = as_float(value)
    return None if number is None else number >= least


def is_at_most(most: float, value: Value) -> Answer:
    number = as_float(value)
    return None if number is None else number <= most


def is_multiple(step: float, value: Value) -> Answer:
    number = as_float(value)
    return None if number is None else number % step == 0


def has_enough_items(least: int, value: Value) -> Answer:
    return _has_enough(least, value) if isinstance(value, tuple) else None


def has_few_enough_items(most: int, value: Value) -> Answer:
    return _has_few_enough(most, value) if isinstance(value, tuple) else None


def has_enough_names(least: int, value: Value) -> Answer:
    return _has_enough(least, tuple(value.values())) if isinstance(value, Mapping) else None


def has_few_enough_names(most: int, value: Value) -> Answer:
    return _has_few_enough(most, tuple(value.values())) if isinstance(value, Mapping) else None


def _has_enough(least: int, items: tuple[Value, ...]) -> Answer:
    if len(items) < least:
        return False
    return True if _sure(items) >= least else None


def _has_few_enough(most: int, items: tuple[Value, ...]) -> Answer:
    if _sure(items) > most:
        return False
    return True if len(items) <= most else None


def _sure(items: tuple[Value, ...]) -> int:
    """The number of items that are sure to be there."""
    return sum(present(item) is True for item in items)


def has_different_items(wanted: bool, value: Value) -> Answer:
    """Whether no two items are the same."""
    if not wanted or not isinstance(value, tuple):
        return True
    return False if repeated(value) is not ABSENT else None if any(not is_known(item) for item in value) else True


def repeated(items: tuple[Value, ...]) -> Value:
    """An item that is there twice; `ABSENT` if there is none."""
    known: list[Value] = []
    simple: set[object] = set()
    for item in items:
        if isinstance(item, str):
            if item in simple:
                return item
            simple.add(item)
        elif is_known(item) and not isinstance(item, Either):
            if any(type(item) is type(other) and item == other for other in known[:100]):
                return item
            known.append(item)
    return ABSENT


def has_format(name: str, value: Value) -> Answer:
    """Whether a text has the format of an identifier or address block, and whether a reference gives one."""
    if isinstance(value, Reference):
        return None if name not in FORMATS else _gives(value, name)
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
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
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


def form_words(pattern: str) -> str | None:
    """A pattern in words, if a reader needs them often."""
    return _forms().get(pattern)


@cache
def _forms() -> Mapping[str, str]:
    limits = [limit for limit in lustre.MEMBERS.values() if limit.pattern and limit.words]
    return {
        **FORMS,
        **{limit.pattern or "": limit.words.format(shortest=limit.shortest, longest=limit.longest) for limit in limits},
    }


def place_in(value: Value, path: str) -> Iterable[tuple[tuple[str | int, ...], Value]]:
    """The values at a path such as `Policies/*/PolicyDocument`, each with its place."""
    found: list[tuple[tuple[str | int, ...], Value]] = [((), value)]
    for key in path.split("/") if path else ():
        found = [
            ((*place, name), at(one, name))
            for place, one in found
            for name in (range(len(one)) if key == "*" and isinstance(one, tuple) else [key])
            if key != "*" or isinstance(one, tuple)
        ]
    return found
