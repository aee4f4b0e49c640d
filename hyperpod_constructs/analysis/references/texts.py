"""Texts that do not mean what they look like: a variable without `Fn::Sub`, and a comparison that is never true."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from hyperpod_constructs.analysis.references.never import compared_in, contradictions, never
from hyperpod_constructs.analysis.references.places import Call, Misreference, calls, names, once
from hyperpod_constructs.facts.property_schemas import property_schema
from hyperpod_constructs.templates.model import Model, Resource
from hyperpod_constructs.templates.raw import Raw

_VARIABLE = re.compile(r"\$\{([A-Za-z0-9:.]+)\}")
_TAG = re.compile(r"!(?:Ref|GetAtt|ImportValue)\s+([A-Za-z0-9.]+)\Z")
_OF_PROGRAMS = ("Code", "Content", "DefinitionString", "UserData")
"""Properties with variables of their own, such as those of a shell."""
_VALUES = frozenset({"Value", "Values"})
"""Properties that may have such variables."""
_SUBSTITUTED = "DefinitionSubstitutions"
"""The property of a state machine for what takes the places of variables in its definition."""


def unmeant(model: Model) -> tuple[Misreference, ...]:
    """Variables that stay in a text as they are, comparisons with a value that a parameter does not take, and contradictions."""
    found = [one for resource in model.resources() for one in _plain_variables(resource)]
    found += [one for template in model.templates if not template.rewritten for one in contradictions(template)]
    return tuple(once([*found, *(one for call in calls(model) for one in _never_equal(call))]))


def _plain_variables(resource: Resource) -> Iterator[Misreference]:
    """Names of the template between `${` and `}`, in a text outside of `Fn::Sub`."""
    known = names(resource.template, "Parameters", "Resources")
    if known is None or property_schema(resource.type) is None:
        return
    substitutions = resource.get(_SUBSTITUTED)
    replaced = substitutions if isinstance(substitutions, Mapping) else {}
    waiting: list[tuple[Raw, tuple[str | int, ...]]] = [(resource.raw.get("Properties"), ())]
    while waiting:
        value, path = waiting.pop()
        if isinstance(value, list):
            waiting += [(item, (*path, index)) for index, item in enumerate(value)]
        elif isinstance(value, dict) and not any(key == "Ref" or key.startswith("Fn::") for key in value):
            waiting += [(item, (*path, key)) for key, item in value.items() if key not in _OF_PROGRAMS]
        elif isinstance(value, str) and (tag := _TAG.match(value)) is not None and _first(tag[1]) in known:
            yield Misreference(resource, path, f"{tag[0]} is a text, and no function", value, "the function, without quotes")
        elif isinstance(value, str) and "${" in value and "\n" not in value:
            found = [name for name in _VARIABLE.findall(value) if name not in replaced and _is_meant(name, path)]
            meant_ones = [name for name in found if name.startswith("AWS::") or name.partition(".")[0] in known]
            if meant_ones:
                message = f"${{{meant_ones[0]}}} stays in the text as it is, without Fn::Sub"
                yield Misreference(resource, path, message, value, "Fn::Sub around the text")


def _first(name: str) -> str:
    return name.partition(".")[0]


def _is_meant(name: str, path: tuple[str | int, ...]) -> bool:
    """Whether a variable is surely the template's: a value may have those of a shell, which have neither colons nor dots."""
    return not _VALUES.intersection(map(str, path)) or ("Tags" not in path and (":" in name or "." in name))


def _never_equal(call: Call) -> Iterator[Misreference]:
    for atom in compared_in({call.name: call.argument}) if call.name in ("Fn::Equals", "Fn::Contains") else ():
        said = never(call.template, atom)
        if said is not None:
            yield call.mistake(said[0], atom[1], said[1])
