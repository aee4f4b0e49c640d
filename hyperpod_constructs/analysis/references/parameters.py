"""Values of parameters: the defaults of a template, and those that a nested stack receives."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple

from hyperpod_constructs.analysis.references.anatomy import no_text
from hyperpod_constructs.analysis.references.places import Misreference, entry, names, section
from hyperpod_constructs.analysis.schema.formats import format_words, has_format
from hyperpod_constructs.analysis.schema.judge import violations
from hyperpod_constructs.analysis.schema.patterns import compiled
from hyperpod_constructs.analysis.schema.violation import Violation, listed, meant, nearest, quoted
from hyperpod_constructs.facts.parameter_types import DECLARED, FORMATS, FROM_SSM, NOT_IN_NAMES, NOT_OF, TYPES, is_list, item
from hyperpod_constructs.templates.documents import NESTED_STACK
from hyperpod_constructs.templates.doubts import key_of
from hyperpod_constructs.templates.model import Model, Resource, Template
from hyperpod_constructs.templates.raw import Raw
from hyperpod_constructs.templates.values import ABSENT, Value, as_float, as_int, as_items, as_str, is_known

_LONGEST_PATTERN, _LONGEST_VALUE = 500, 64
_BROKEN = ("missing ), unterminated subpattern", "unbalanced parenthesis", "unterminated character set", "nothing to repeat")
_REPEAT = re.compile(r"(?<!\))(?:[*+]|\{\d*,)")
_OPTIONAL = re.compile(r"(?<!\()\?")
_CHOICE = re.compile(r"\|")
_GROUP_THRICE = re.compile(r"\)\{[123]\}")
_GROUP_REPEATED = re.compile(r"\)(?:[*+]|\{(?![123]\}))|\(\?(?!:)|\\\d")


class Declared(NamedTuple):
    """A parameter as its template declares it."""

    template: Template
    name: str
    raw: Mapping[str, Raw]

    @property
    def kind(self) -> str:
        """Its type."""
        found = self.raw.get("Type")
        return found if isinstance(found, str) else ""

    def limit(self, name: str) -> Value:
        """One of its limits, such as `MinValue`; `ABSENT` without one."""
        return self.template.resolver.resolve(self.raw[name]) if name in self.raw else ABSENT


def declared(template: Template) -> dict[str, Declared]:
    """The parameters of a template."""
    found = section(template, "Parameters").items()
    return {name: Declared(template, name, raw) for name, raw in found if isinstance(raw, dict)}


def wrong_parameters(model: Model) -> Iterator[Misreference]:
    """Types that CloudFormation does not have, and defaults that their parameter does not take; none of what is in doubt."""
    for template in model.templates:
        doubted = model.doubts.parameters
        for parameter in (one for one in declared(template).values() if key_of(template.document, one.name) not in doubted):
            place = entry(template, "Parameters", parameter.name)
            if not _is_type(parameter.kind):
                said = f"has the type {parameter.kind!r}{meant(parameter.kind, TYPES)}" if parameter.kind else "has no type"
                message = f"parameter {parameter.name} {said}"
                yield Misreference(place, (), message, parameter.kind, listed(TYPES))
            elif (broken := _broken(parameter.limit("AllowedPattern"))) is not None:
                message = f"the pattern of parameter {parameter.name} is no regular expression: {broken}"
                yield Misreference(place, (), message, parameter.limit("AllowedPattern"), "a regular expression")
            elif (wrong := next(_wrong_limits(parameter), None)) is not None:
                yield Misreference(place, (), f"{wrong.message}, in parameter {parameter.name}", wrong.found, wrong.allowed)
            elif template.parent is None and "Default" in parameter.raw:
                default = template.resolver.resolve(parameter.raw["Default"])
                for said, allowed in _mistakes(parameter, default) if default != "" else ():
                    message = f"the default of parameter {parameter.name} is {quoted(default)}{said}"
                    yield Misreference(place, (), message, default, allowed)


def _wrong_limits(parameter: Declared) -> Iterator[Violation]:
    """Keys of a parameter with a value that they do not take, and limits that its type does not have."""
    lacking = {"properties": dict.fromkeys(NOT_OF.get(parameter.kind, ()), False), "additionalProperties": True}
    given = {name: parameter.limit(name) for name in parameter.raw}
    for schema in (DECLARED, lacking):
        yield from violations(schema, given)


def wrong_arguments(model: Model) -> Iterator[Misreference]:
    """Parameters that a nested stack lacks, receives without having them, or does not take with this value."""
    for stack in model.resources(NESTED_STACK):
        given = stack.get("Parameters")
        if stack.nested is None or not (given is ABSENT or isinstance(given, Mapping)):
            continue
        known = names(stack.nested, "Parameters")
        if known is not None:
            yield from _of_stack(stack, stack.nested, given if isinstance(given, Mapping) else {})


def _of_stack(stack: Resource, nested: Template, given: Mapping[str, Value]) -> Iterator[Misreference]:
    parameters = declared(nested)
    for name, value in given.items():
        if name not in parameters:
            message = f"the template of {stack.logical_id} has no parameter {name}{meant(name, parameters)}"
            yield Misreference(stack, ("Parameters", name), message, value, listed(sorted(parameters)) or "no parameter")
            continue
        if (given_as := no_text(stack.template, _written(stack, name))) not in (None, "a mapping"):
            message = f"parameter {name} of {stack.logical_id} is {given_as}"
            yield Misreference(stack, ("Parameters", name), message, value, "a text; Fn::Join with a comma makes one of a list")
            continue
        for said, allowed in _mistakes(parameters[name], value):
            message = f"parameter {name} of {stack.logical_id} is {quoted(value)}{said}"
            yield Misreference(stack, ("Parameters", name), message, value, allowed)
    if stack.exists is not None:
        meant_ones = {nearest(name, parameters) for name in given if name not in parameters}
        absent = {name for name, one in parameters.items() if name not in given and "Default" not in one.raw}
        missing = [name for name in parameters if name in absent - meant_ones]
        if missing:
            message = f"{stack.logical_id} lacks {listed(missing)}, which has no default in its template"
            yield Misreference(stack, ("Parameters",), message, ABSENT, f"a value of {listed(missing)}")


def _written(stack: Resource, name: str) -> Raw:
    """The argument of a parameter as written."""
    properties = stack.raw.get("Properties")
    given = properties.get("Parameters") if isinstance(properties, dict) else None
    return given.get(name) if isinstance(given, dict) else None


def _is_type(kind: str) -> bool:
    return kind in TYPES or (kind.startswith(FROM_SSM) and kind.removeprefix(FROM_SSM).removesuffix(">") in TYPES)


def _mistakes(parameter: Declared, value: Value) -> Iterator[tuple[str, str]]:
    """The first mistake of a value: the end of a sentence, and the allowed values."""
    if isinstance(value, Mapping):
        yield ", not a text", "a text, or a list of texts joined with commas"
        return
    if not is_known(value):
        return
    if parameter.kind.startswith(FROM_SSM):
        yield from _value_for_name(parameter.kind.removeprefix(FROM_SSM).removesuffix(">"), value)
        return
    items: list[str | None] = [as_str(one) for one in value] if isinstance(value, tuple) else [as_str(value)]
    if is_list(parameter.kind):
        items = [part.strip() for one in items if one is not None for part in one.split(",")] if None not in items else []
    elif isinstance(value, tuple):
        yield ", not a single value", "one value"
        return
    for one in items:
        found = None if one is None else _mistake(parameter, one)
        if found is not None:
            yield found
            return


def _value_for_name(kind: str, value: Value) -> Iterator[tuple[str, str]]:
    """A value where the name of the parameter of Systems Manager is taken that has it."""
    wanted = FORMATS.get(item(kind) if is_list(kind) else kind)
    if wanted is not None and "Id" in wanted and isinstance(value, str) and has_format(wanted, value):
        yield f", which is {format_words(wanted)}", "the name of a parameter of Systems Manager"
    elif isinstance(value, str) and (other := NOT_IN_NAMES.search(value)):
        yield f", which has {other[0]!r}, as no name does", "the name of a parameter of Systems Manager"


def _broken(pattern: Value) -> str | None:
    """What makes a pattern none in any dialect: a bracket that does not end, or a repeat of nothing."""
    if not isinstance(pattern, str) or len(pattern) > _LONGEST_PATTERN:
        return None
    try:
        compiled(pattern)
    except re.error as error:
        return error.msg if error.msg.startswith(_BROKEN) else None
    except (RecursionError, OverflowError):
        return None
    return None


def _mistake(parameter: Declared, text: str) -> tuple[str, str] | None:
    return _kind_mistake(item(parameter.kind) if is_list(parameter.kind) else parameter.kind, text) or _limit_mistake(
        parameter, text
    )


def refusal_of(parameter: Declared, text: str) -> tuple[str, str] | None:
    """Why a parameter does not take a text, as the end of a sentence, and what it takes; `None` if it may take it."""
    return None if parameter.kind.startswith(FROM_SSM) or is_list(parameter.kind) else _mistake(parameter, text)


def _kind_mistake(kind: str, text: str) -> tuple[str, str] | None:
    if kind == "Number" and as_float(text) is None:
        return ", not a number", "a number"
    wanted = FORMATS.get(kind)
    if wanted is not None and has_format(wanted, text) is False:
        return f", not {format_words(wanted)}", format_words(wanted)
    return None


def _limit_mistake(parameter: Declared, text: str) -> tuple[str, str] | None:
    """The first limit that a value breaks."""
    choices = as_items(parameter.limit("AllowedValues"))
    words = [as_str(one) for one in choices or ()]
    if choices and None not in words and text not in words and not _same_number(text, choices):
        allowed = [word for word in words if word is not None]
        return f", not one of its values{meant(text, allowed)}", listed(allowed)
    least, most = as_float(parameter.limit("MinValue")), as_float(parameter.limit("MaxValue"))
    number = as_float(text) if parameter.kind in ("Number", "List<Number>") else None
    if number is not None and ((least is not None and number < least) or (most is not None and number > most)):
        return ", out of its range", _range(least, most)
    short, long = as_int(parameter.limit("MinLength")), as_int(parameter.limit("MaxLength"))
    if parameter.kind == "String" and ((short is not None and len(text) < short) or (long is not None and len(text) > long)):
        return f" with {len(text)} characters", f"{_range(short, long)} characters"
    pattern = parameter.limit("AllowedPattern")
    if isinstance(pattern, str) and fits_pattern(pattern, text) is False:
        return ", not of its form", f"a text of the form {pattern}"
    return None


def _same_number(text: str, choices: tuple[Value, ...]) -> bool:
    """Whether a value is one of the numbers, written otherwise: 1 and 1.0."""
    number = as_float(text)
    return number is not None and number in map(as_float, choices)


def _range(least: float | None, most: float | None) -> str:
    if least is None:
        return f"at most {most:g}"
    return f"{least:g} or more" if most is None else f"{least:g} to {most:g}"


def fits_pattern(pattern: str, text: str) -> bool | None:
    """Whether a text has a form; `None` if the pattern is not one of Python, or may keep the matcher busy."""
    return None if len(text) > _LONGEST_VALUE or not _is_quick(pattern) else compiled(pattern).fullmatch(text) is not None


@cache
def _is_quick(pattern: str) -> bool:
    """Whether no text of a hostile template keeps the matcher busy: few repeats and choices, and hardly a repeated group."""
    grouped = "(" in pattern
    counts = (
        (_REPEAT, 1 if grouped else 3),
        (_OPTIONAL, 3),
        (_CHOICE, 10),
        (_GROUP_THRICE, 1),
        (_GROUP_REPEATED, 0),
    )
    if len(pattern) > _LONGEST_PATTERN or any(len(form.findall(pattern)) > most for form, most in counts):
        return False
    try:
        compiled(pattern)
    except (re.error, RecursionError, OverflowError):
        return False
    return True
