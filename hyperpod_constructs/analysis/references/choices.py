"""Conditions, for the values that parameters can have: whether some deployment has what refers, and not what it refers to.

A parameter has its allowed values; without such a list it has the texts that conditions compare it with, or another one.
In a nested stack it has the values that the stack above can give it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, product

from hyperpod_constructs.analysis.comparisons import comparisons, text_of
from hyperpod_constructs.analysis.references.places import section
from hyperpod_constructs.analysis.schema.violation import quoted
from hyperpod_constructs.templates.model import Resource, Template
from hyperpod_constructs.templates.parameters import compared, given_parameter
from hyperpod_constructs.templates.raw import Raw

_OTHER = "\ufffc"
_MOST = 256
"""Choices that are tried."""

Choice = Mapping[str, str]


def choice_without(template: Template, condition: str, needs: Sequence[tuple[str, bool]]) -> Choice | None:
    """Values of parameters with which all needs hold and a condition does not; `None` if there are none, or they are not known."""
    if (condition, True) in needs:
        return None
    conditions = section(template, "Conditions")
    names = (condition, *(name for name, _ in needs))
    for choice in islice(_choices(template, conditions, names), _MOST):
        kept = all(_holds(conditions, {"Condition": name}, choice, ()) is wanted for name, wanted in needs)
        if kept and _holds(conditions, {"Condition": condition}, choice, ()) is False:
            return choice
    return None


def in_words(choice: Choice) -> str:
    """A choice as a message says it."""
    return " and ".join(f"another {one}" if value == _OTHER else f"{one} {quoted(value)}" for one, value in choice.items())


def allowed_values(template: Template, parameter: str) -> list[str] | None:
    """The values that a parameter takes; `None` if they are not listed, or something else limits them."""
    if template.parent is not None:
        return _given_values(template.parent, parameter)
    limited = may_limit(section(template, "Rules"), parameter)
    declared = None if limited else section(template, "Parameters").get(parameter)
    listed = declared.get("AllowedValues") if isinstance(declared, dict) else None
    texts = [text_of(one) for one in listed] if isinstance(listed, list) else []
    known = [one for one in texts if one is not None]
    return known if known and len(known) == len(texts) else None


def _given_values(stack: Resource, parameter: str) -> list[str] | None:
    """The values that a nested stack gets from a parameter of the stack above; a condition may rule some of them out."""
    if stack.condition is not None:
        return None
    above = given_parameter(stack.raw.get("Properties"), parameter)
    return None if above is None else allowed_values(stack.template, above)


def may_limit(rules: Mapping[str, Raw], parameter: str) -> bool:
    """Whether rules assert something of a parameter, of all of some type, or of none: that refuses the case of its condition."""
    asserted = [str(rule.get("Assertions") if isinstance(rule, dict) else rule) for rule in rules.values()]
    return any(f"'{parameter}'" in text or "All'" in text or "'Ref'" not in text for text in asserted)


def _choices(template: Template, conditions: Mapping[str, Raw], names: Sequence[str]) -> Iterator[Choice]:
    """The values of the parameters that conditions compare, in all combinations; none if rules may limit one of them."""
    texts: dict[str, dict[str, None]] = {}
    for name in _used(conditions, names):
        for parameter, text in comparisons(conditions[name]):
            texts.setdefault(parameter, {})[text] = None
    if any(may_limit(section(template, "Rules"), one) for one in texts):
        return
    values = {one: allowed_values(template, one) or _any_of(template, known) for one, known in texts.items()}
    for combination in product(*values.values()):
        yield dict(zip(values, combination, strict=True))


def _any_of(template: Template, texts: Iterable[str]) -> list[str]:
    """These texts or another one; none in a nested stack, whose values are given."""
    return [*texts, _OTHER] if template.parent is None else []


def _used(conditions: Mapping[str, Raw], names: Sequence[str]) -> list[str]:
    """These conditions and those that they name."""
    found, waiting = [], [*names]
    while waiting:
        name = waiting.pop()
        if name in conditions and name not in found:
            found.append(name)
            waiting += named_conditions(conditions[name])
    return found


def named_conditions(raw: Raw) -> list[str]:
    """The conditions that a condition names."""
    if isinstance(raw, list):
        return [name for one in raw for name in named_conditions(one)]
    if not isinstance(raw, dict):
        return []
    name = raw.get("Condition")
    return [name] if isinstance(name, str) else [other for one in raw.values() for other in named_conditions(one)]


def _holds(conditions: Mapping[str, Raw], raw: Raw, choice: Choice, before: tuple[str, ...]) -> bool | None:
    """Whether a condition holds with these values; `None` if that is not known."""
    if not isinstance(raw, dict) or len(raw) != 1:
        return None
    ((name, argument),) = raw.items()
    if name == "Condition":
        known = isinstance(argument, str) and argument in conditions and argument not in before
        return _holds(conditions, conditions[str(argument)], choice, (*before, str(argument))) if known else None
    if not isinstance(argument, list):
        return None
    if name == "Fn::Equals" and len(argument) == 2:
        one, other = (_side(each, choice) for each in argument)
        return None if one is None or other is None else one == other
    parts = [_holds(conditions, one, choice, before) for one in argument]
    if name == "Fn::Not" and len(parts) == 1:
        return None if parts[0] is None else not parts[0]
    if name not in ("Fn::And", "Fn::Or"):
        return None
    deciding = name == "Fn::Or"
    return deciding if deciding in parts else None if None in parts else not deciding


def _side(raw: Raw, choice: Choice) -> str | None:
    parameter = compared(raw)
    return text_of(raw) if parameter is None else choice.get(parameter)
