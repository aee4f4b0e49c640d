"""Other deployments that templates foresee, beside the one with the defaults of all parameters.

A template foresees the regions for which it has rows of a mapping, and the values that its parameters allow where a condition or
the key of a mapping decides by them. A parameter whose default is empty is given in some deployment if a condition asks for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs.analysis.comparisons import comparisons
from hyperpod_constructs.analysis.references.choices import allowed_values, may_limit
from hyperpod_constructs.analysis.references.places import calls, section
from hyperpod_constructs.analysis.regions import claims
from hyperpod_constructs.facts.regions import REGIONS
from hyperpod_constructs.facts.zones import zone_prefix
from hyperpod_constructs.templates.dependencies import lookup_at
from hyperpod_constructs.templates.deployment import Deployment
from hyperpod_constructs.templates.doubts import Key, key_of
from hyperpod_constructs.templates.model import Model, Template
from hyperpod_constructs.templates.parameters import referred
from hyperpod_constructs.templates.raw import Raw
from hyperpod_constructs.templates.values import UNKNOWN, Value, as_str

_MOST, _MOST_LOOKS = 6, 1_000
"""Deployments that are looked at, and the resources that this looks at again."""
_MOST_REGIONS = 8
"""Rows of a mapping that somebody fills for his own deployments; one with more regions tells what is known of all."""
_REGION = {"Ref": "AWS::Region"}


class Other(NamedTuple):
    """A deployment.

    :param words: what tells it from the one with the defaults.
    :param alike: nothing differs but the region: all that is said of it holds.
    """

    deployment: Deployment
    words: str
    alike: bool


def others(model: Model) -> Iterator[Other]:
    """The other deployments, as many as can be looked at in little time."""
    return islice(_others(model), min(_MOST, _MOST_LOOKS // (1 + len(model.resources()))))


def _others(model: Model) -> Iterator[Other]:
    for region in _regions(model):
        yield Other(Deployment(region=region), f"in {region}", alike=True)
    for template in model.templates:
        yield from _of_parameters(template) if template.parent is None else ()


def _regions(model: Model) -> list[str]:
    """The regions of the mappings in which the stacks can be; those that other places name, if mappings have them.

    None where places of one stack name several: that is a mistake, whichever region is meant.
    """
    if any(template.environment.region for template in model.templates):
        return []
    rows = [_rows(template, argument) for template, argument in _lookups(model) if argument[1] == _REGION]
    found = list(dict.fromkeys(region for row in rows if len(row) <= _MOST_REGIONS for region in row if region in REGIONS))
    claimed = {(one.resource.template.root, one.region) for one in claims(model) if lookup_at(one.resource, one.path) is None}
    several = len({root for root, _ in claimed}) < len(claimed)
    return [] if several else [region for region in found if zone_prefix(region) in {one for _, one in claimed}] or found


def _lookups(model: Model) -> Iterator[tuple[Template, list[Raw]]]:
    for call in calls(model):
        if call.name == "Fn::FindInMap" and isinstance(call.argument, list) and len(call.argument) in (3, 4):
            yield call.template, call.argument


def _rows(template: Template, argument: Sequence[Raw]) -> Mapping[str, Raw]:
    found = section(template, "Mappings").get(str(argument[0]))
    return found if isinstance(found, dict) else {}


def _of_parameters(template: Template) -> Iterator[Other]:
    """The deployments in which one parameter has another value; first those in which one that is empty by default is given."""
    declared, rules = section(template, "Parameters"), section(template, "Rules")
    free = [(name, texts) for name, texts in _deciding(template).items() if name in declared and not may_limit(rules, name)]
    for name, texts in free:
        if _default(declared[name]) == "" and "" in texts:
            yield Other(_with(template, name, UNKNOWN), f"with a value of {name}", alike=False)
    for name, texts in free:
        for value in allowed_values(template, name) or texts:
            if value not in ("", _default(declared[name])):
                yield Other(_with(template, name, value), f"with {name} {value!r}", alike=False)


def _deciding(template: Template) -> Mapping[str, list[str]]:
    """The parameters by which conditions and keys of mappings decide, with the texts that they are compared with."""
    compared = list(comparisons([*section(template, "Conditions").values()]))
    keys = [(template_, key) for template_, argument in _lookups(template.model) for key in argument[1:3]]
    named = [(name, "") for owner, key in keys if owner is template and (name := referred(key)) is not None]
    return {name: list(dict.fromkeys(texts)) for name, texts in grouped([*compared, *named]).items()}


def _default(declaration: Raw) -> str | None:
    given = declaration.get("Default") if isinstance(declaration, dict) else None
    return as_str(given) if isinstance(given, str | int | float | bool) else None


def _with(template: Template, name: str, value: Value) -> Deployment:
    """A deployment with a value of a parameter, which may ask for other values of others.

    Those by which nothing is decided have any; of the others, those that are empty by default may be given, and rules limit some.
    """
    deciding = _deciding(template)
    rules = {one: rule for one, rule in section(template, "Rules").items() if f"'{name}'" in str(rule)}
    key = key_of(template.document, name)
    open_: dict[Key, Value] = {
        key_of(template.document, other): UNKNOWN
        for other, declaration in section(template, "Parameters").items()
        if other not in deciding or _default(declaration) == "" or (rules and may_limit(rules, other))
    }
    return Deployment(given={**open_, key: value}, filled=frozenset({key} if value is UNKNOWN else ()))
