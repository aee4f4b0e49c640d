"""The values of CloudFormation's functions, as far as they can be known.

Each function is one small Python function in `_FUNCTIONS`. Any other function (`Fn::Transform`, `Fn::ForEach`, a future one) is
unknown, and so is a malformed call: schema checks report it.

Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/intrinsic-function-reference.html
"""

from __future__ import annotations

import base64
import ipaddress
import itertools
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol, TypeAlias

from hyperpod_constructs._support.placeholders import known_parts
from hyperpod_constructs.facts.arn_forms import FORMS
from hyperpod_constructs.facts.regions import REGIONS
from hyperpod_constructs.templates.parameters import compared
from hyperpod_constructs.templates.raw import Raw, has_function
from hyperpod_constructs.templates.values import (
    ABSENT,
    MAX_ALTERNATIVES,
    UNKNOWN,
    Part,
    Reference,
    Text,
    Unknown,
    Value,
    agreed,
    alternatives_of,
    as_int,
    as_str,
    either,
    is_known,
    joined,
    leaves,
    parts_of,
    shown,
)

_DEEPEST = 100
_DYNAMIC = re.compile(r"\{\{resolve:[^{}]*\}\}")
_RESOLVE = "{{resolve:"
_VARIABLE = re.compile(r"\$\{([^${}]*)\}")
_REGION: tuple[Raw, ...] = ({"Ref": "AWS::Region"}, {"Fn::Sub": "${AWS::Region}"})
_PLACES = re.compile(r"(\{\w+\})")
"""What stands in the form of an ARN for something else."""
_IN_NO_NAME = (",", ";", "|", " ")
"""Delimiters that no id, name or ARN of a resource has."""
_GIVERS = ("AWS::CloudFormation::CustomResource", "AWS::CloudFormation::Stack", "AWS::SSM::Parameter", "Custom::")
"""The begins of types whose attributes may be any text."""


class Scope(Protocol):
    """The names that the functions of a template can use; `Template` is one."""

    def ref(self, name: str) -> Value: ...
    def attribute(self, resource: str, name: str) -> Value: ...
    def condition(self, name: str) -> bool | None: ...
    def filled(self, name: str) -> bool: ...
    def mapping(self, name: str) -> Value: ...
    def exported(self, name: str) -> Value: ...
    def stack_output(self, stack: str, name: str, place: Mapping[str, Value]) -> Value: ...


Function: TypeAlias = "Callable[[Resolver, Scope, Raw], Value]"


class Depth:
    """The depth of a resolution, through functions and across stacks; all templates of a model share one."""

    __slots__ = ("_level",)

    def __init__(self) -> None:
        self._level = 0

    def __enter__(self) -> None:
        self._level += 1

    def __exit__(self, *_: object) -> None:
        self._level -= 1

    @property
    def reached(self) -> bool:
        """Whether the limit is reached, so that deeper values are unknown."""
        return self._level >= _DEEPEST


class Resolver:
    """Resolves raw template values in one scope."""

    def __init__(self, scope: Scope, depth: Depth | None = None) -> None:
        self._scope = scope
        self._depth = Depth() if depth is None else depth

    def resolve(self, raw: Raw) -> Value:
        """The value of a part of the template."""
        if isinstance(raw, str):
            return known_text(raw)
        if not isinstance(raw, dict | list):
            return raw
        if self._depth.reached:
            return UNKNOWN
        with self._depth:
            return self._list(raw) if isinstance(raw, list) else self._mapping(raw)

    def _list(self, raw: Sequence[Raw]) -> Value:
        return tuple([value for value in map(self.resolve, raw) if value is not ABSENT])

    def _mapping(self, raw: Mapping[str, Raw]) -> Value:
        if len(raw) == 1:
            (name,) = raw
            if name == "Ref" or name.startswith("Fn::"):
                function = _FUNCTIONS.get(name)
                return UNKNOWN if function is None else function(self, self._scope, raw[name])
        if has_function(raw):
            return UNKNOWN
        found = {}
        for key, item in raw.items():
            value = self.resolve(item)
            if value is not ABSENT:
                found[key] = value
        return found

    def holds(self, raw: Raw) -> bool | None:
        """Whether a condition's expression holds; `None` if that is unknown or the expression is malformed."""
        if not isinstance(raw, dict) or len(raw) != 1 or self._depth.reached:
            return None
        with self._depth:
            return self._holds(raw)

    def _holds(self, raw: Mapping[str, Raw]) -> bool | None:
        ((name, argument),) = raw.items()
        if name == "Condition":
            return self._scope.condition(argument) if isinstance(argument, str) else None
        if not isinstance(argument, list):
            return None
        if name == "Fn::Equals" and len(argument) == 2:
            if any(self._is_filled(one) and other == "" for one, other in (argument, argument[::-1])):
                return False
            return _equal(self.resolve(argument[0]), self.resolve(argument[1]))
        operands = [self.holds(operand) for operand in argument]
        if name == "Fn::Not" and len(operands) == 1:
            return None if operands[0] is None else not operands[0]
        if name in ("Fn::And", "Fn::Or"):
            decisive = name == "Fn::Or"
            if decisive in operands:
                return decisive
            return None if None in operands else not decisive
        return None

    def _is_filled(self, raw: Raw) -> bool:
        """Whether a side of a comparison is a parameter that is not empty."""
        name = compared(raw)
        return name is not None and self._scope.filled(name)


def _equal(one: Value, other: Value) -> bool | None:
    """Equality as in `Fn::Equals`, for strings and lists of strings; `None` if it depends on an alternative."""
    return agreed(itertools.starmap(_are_equal, itertools.product(alternatives_of(one), alternatives_of(other))))


def _are_equal(one: Value, other: Value) -> bool | None:
    if isinstance(one, tuple) and isinstance(other, tuple) and is_known(one) and is_known(other):
        return one == other
    first, second = as_str(one), as_str(other)
    return None if first is None or second is None else first == second


def known_text(text: str) -> Value:
    """A string with unknown parts for `{{resolve:...}}` and for CDK's placeholders of a look-up.

    Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/dynamic-references.html
    """
    literals = _DYNAMIC.split(text) if _RESOLVE in text else (text,)
    pieces = [piece for literal in literals for piece in known_parts(literal) or (literal,)]
    return text if len(pieces) == 1 else _text([part for piece in pieces for part in (UNKNOWN, piece)][1:])


def _text(parts: Sequence[Part]) -> Value:
    """The string of these parts; unknown if a dynamic reference contains a function."""
    found = joined(parts)
    return UNKNOWN if any(isinstance(part, str) and _RESOLVE in part for part in parts_of(found)) else found


def _combined(values: Sequence[Value], combine: Callable[[tuple[Value, ...]], Value]) -> Value:
    """The result of a function for each combination of its arguments' alternatives."""
    choices = [alternatives_of(value) for value in values]
    combinations = 1
    for choice in choices:
        combinations *= len(choice)
        if combinations > MAX_ALTERNATIVES:
            return UNKNOWN
    return either(combine(combination) for combination in itertools.product(*choices))


def _of_values(compute: Callable[[tuple[Value, ...]], Value], *counts: int) -> Function:
    """A function that is computed from the values of its arguments alone.

    :param counts: the lengths that its list of arguments can have; by default its argument is one value.
    """

    def function(resolver: Resolver, scope: Scope, argument: Raw) -> Value:
        arguments = argument if counts else [argument]
        if not isinstance(arguments, list) or (counts and len(arguments) not in counts):
            return UNKNOWN
        return _combined([resolver.resolve(item) for item in arguments], compute)

    return function


def _ref(resolver: Resolver, scope: Scope, argument: Raw) -> Value:
    return scope.ref(argument) if isinstance(argument, str) else UNKNOWN


def _get_att(resolver: Resolver, scope: Scope, argument: Raw) -> Value:
    names = argument.split(".", 1) if isinstance(argument, str) else argument
    if not isinstance(names, list) or len(names) < 2 or not isinstance(names[0], str):
        return UNKNOWN
    attribute = [as_str(resolver.resolve(name)) for name in names[1:]]
    known = [name for name in attribute if name is not None]
    return scope.attribute(names[0], ".".join(known)) if len(known) == len(attribute) else UNKNOWN


def _if(resolver: Resolver, scope: Scope, argument: Raw) -> Value:
    if not isinstance(argument, list) or len(argument) != 3 or not isinstance(argument[0], str):
        return UNKNOWN
    holds = scope.condition(argument[0])
    if holds is None:
        return either(resolver.resolve(branch) for branch in argument[1:])
    return resolver.resolve(argument[1 if holds else 2])


def _join(resolver: Resolver, scope: Scope, argument: Raw) -> Value:
    if not isinstance(argument, list) or len(argument) != 2 or not isinstance(argument[0], str):
        return UNKNOWN
    delimiter = argument[0]

    def combine(lists: tuple[Value, ...]) -> Value:
        (items,) = lists
        return _combined(items, joined_by_delimiter) if isinstance(items, tuple) else UNKNOWN

    def joined_by_delimiter(items: tuple[Value, ...]) -> Value:
        parts: list[Part] = []
        for item in items:
            if item is not ABSENT:
                parts += [*([delimiter] if parts else []), *(parts_of(item) or ("",))]
        return _text(parts)

    return _combined([resolver.resolve(argument[1])], combine)


def _split(resolver: Resolver, scope: Scope, argument: Raw) -> Value:
    if not isinstance(argument, list) or len(argument) != 2 or not isinstance(argument[0], str) or not argument[0]:
        return UNKNOWN
    delimiter = argument[0]
    return _combined([resolver.resolve(argument[1])], lambda texts: _pieces(texts[0], delimiter))


def _pieces(text: Value, delimiter: str) -> Value:
    """The parts of a text between delimiters; references are split only where an id, a name or an ARN cannot have the delimiter."""
    if isinstance(text, str):
        return tuple(text.split(delimiter))
    if isinstance(text, Reference) and delimiter not in _IN_NO_NAME:
        return _without_end(text, delimiter)
    if not isinstance(text, Text | Reference) or delimiter not in _IN_NO_NAME or not all(map(_is_one, parts_of(text))):
        return UNKNOWN
    pieces: list[list[Part]] = [[]]
    for part in parts_of(text):
        first, *others = part.split(delimiter) if isinstance(part, str) else [part]
        pieces[-1].append(first)
        pieces += [[other] for other in others]
    return tuple(joined(piece) for piece in pieces)


def _is_one(part: Part) -> bool:
    """Whether a part is known, and no list in a text that a program or a parameter gives."""
    if isinstance(part, Reference):
        return part.attribute is None or not part.resource.type.startswith(_GIVERS)
    return isinstance(part, str)


def _without_end(reference: Reference, end: str) -> Value:
    """The two parts of an ARN that always ends so, as that of a log group ends with `:*`."""
    form = FORMS.get(reference.resource.type)
    if form is None or reference.attribute not in form.arns or None not in form.names or not form.form.endswith(end):
        return UNKNOWN
    whole = form.form.removesuffix(end).replace("arn:aws:", "arn:{partition}:").replace("{place}", "{region}:{account}")
    parts = _PLACES.split(whole)
    name = Reference(reference.resource)
    return joined([name if part == "{name}" else UNKNOWN if _PLACES.fullmatch(part) else part for part in parts]), ""


def _select(values: tuple[Value, ...]) -> Value:
    index, items = as_int(values[0]), values[1]
    if index is None or not isinstance(items, tuple) or not 0 <= index < len(items) or _can_vanish(items[: index + 1]):
        return UNKNOWN
    return items[index]


def _can_vanish(items: Sequence[Value]) -> bool:
    return any(ABSENT in alternatives_of(item) for item in items)


def _sub(resolver: Resolver, scope: Scope, argument: Raw) -> Value:
    if isinstance(argument, list) and len(argument) == 2:
        text, given = argument
    else:
        text, given = argument, {}
    if not isinstance(text, str) or not isinstance(given, dict):
        return UNKNOWN
    values = list(_substituted(resolver, scope, text, given))
    return _combined(values, lambda found: _text([part for value in found for part in parts_of(value)]))


def _substituted(resolver: Resolver, scope: Scope, text: str, given: Mapping[str, Raw]) -> Iterator[Value]:
    """The literals and the variables of a string, in turn."""
    for position, piece in enumerate(_VARIABLE.split(text)):
        if position % 2 == 0:
            yield known_text(piece)
            continue
        name = piece.strip()
        if name.startswith("!"):
            yield "${" + name[1:] + "}"
        elif name in given:
            yield resolver.resolve(given[name])
        elif "." in name:
            yield scope.attribute(*name.split(".", 1))
        else:
            yield scope.ref(name)


def _find_in_map(resolver: Resolver, scope: Scope, argument: Raw) -> Value:
    if not isinstance(argument, list) or len(argument) not in (3, 4):
        return UNKNOWN
    keys = [resolver.resolve(key) for key in argument[:3]]
    default: Value = ABSENT
    if len(argument) == 4:
        options = argument[3]
        default = resolver.resolve(options["DefaultValue"]) if isinstance(options, dict) and "DefaultValue" in options else UNKNOWN

    def combine(names: tuple[Value, ...]) -> Value:
        first = as_str(names[0])
        found: tuple[Value, ...] = (UNKNOWN if first is None else scope.mapping(first),)
        for key, raw in zip(names[1:], argument[1:3], strict=True):
            found = tuple(value for one in found for value in _under(one, key, of_region=raw in _REGION))
        missing = UNKNOWN if default is ABSENT else default
        open_to_default = () if default is ABSENT or all(as_str(key) is not None for key in names) else (default,)
        return either((*(missing if value is ABSENT else value for value in found), *open_to_default))

    return _combined(keys, combine)


def _under(found: Value, key: Value, *, of_region: bool) -> tuple[Value, ...]:
    """What a mapping has under a key: any of its values, if the key is known at deployment only; under a region only those of
    regions, since maps of images also have a row that describes the columns.
    """
    if not isinstance(found, Mapping):
        return (UNKNOWN if found is UNKNOWN else ABSENT,)
    name = as_str(key)
    if name is not None:
        return (found.get(name, ABSENT),)
    of_regions = tuple(value for row, value in found.items() if of_region and row in REGIONS)
    return of_regions or tuple(found.values()) if isinstance(key, Unknown | Text) else (UNKNOWN,)


def _cidr(values: tuple[Value, ...]) -> Value:
    block, count = values[0], as_int(values[1])
    bits = as_int(values[2]) if len(values) == 3 else 8
    if not isinstance(block, str) or count is None or bits is None or not 1 <= count <= 256:
        return UNKNOWN
    try:
        network = ipaddress.ip_network(block, strict=False)
        subnets = itertools.islice(network.subnets(new_prefix=network.max_prefixlen - bits), count)
        found = tuple(map(str, subnets))
    except ValueError:
        return UNKNOWN
    return found if len(found) == count else UNKNOWN


def _base64(values: tuple[Value, ...]) -> Value:
    text = as_str(values[0])
    return UNKNOWN if text is None else base64.b64encode(text.encode("utf-8", "surrogatepass")).decode()


def _import_value(resolver: Resolver, scope: Scope, argument: Raw) -> Value:
    return _combined([resolver.resolve(argument)], lambda names: scope.exported(names[0]) if isinstance(names[0], str) else UNKNOWN)


def _get_stack_output(resolver: Resolver, scope: Scope, argument: Raw) -> Value:
    if not isinstance(argument, dict):
        return UNKNOWN
    names = [resolver.resolve(argument.get(key)) for key in ("StackName", "OutputName")]
    place: dict[str, Value] = {key: resolver.resolve(argument[key]) for key in ("Region", "RoleArn") if key in argument}

    def combine(found: tuple[Value, ...]) -> Value:
        stack, output = found
        return scope.stack_output(stack, output, place) if isinstance(stack, str) and isinstance(output, str) else UNKNOWN

    return _combined(names, combine)


def _length(values: tuple[Value, ...]) -> Value:
    return len(values[0]) if isinstance(values[0], tuple) and not _can_vanish(values[0]) else UNKNOWN


def _to_json_string(resolver: Resolver, scope: Scope, argument: Raw) -> Value:
    value = resolver.resolve(argument)
    plain = all(leaf is None or isinstance(leaf, str | int | float | bool) for leaf in leaves(value))
    return json.dumps(shown(value), separators=(",", ":")) if plain else UNKNOWN


_FUNCTIONS: Mapping[str, Function] = {
    "Ref": _ref,
    "Fn::Base64": _of_values(_base64),
    "Fn::Cidr": _of_values(_cidr, 2, 3),
    "Fn::FindInMap": _find_in_map,
    "Fn::GetAtt": _get_att,
    "Fn::GetStackOutput": _get_stack_output,
    "Fn::If": _if,
    "Fn::ImportValue": _import_value,
    "Fn::Join": _join,
    "Fn::Length": _of_values(_length),
    "Fn::Select": _of_values(_select, 2),
    "Fn::Split": _split,
    "Fn::Sub": _sub,
    "Fn::ToJsonString": _to_json_string,
}
