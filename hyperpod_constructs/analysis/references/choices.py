"""Conditions, for the values that parameters can have: whether some deployment has what refers, and not what it refers to.

A parameter has its allowed values; without such a list it has the texts that conditions compare it with, or another one.
In a nested stack it has the values that the stack above can give it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice, product

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs.analysis.comparisons import comparisons, text_of
from hyperpod_constructs.analysis.references.deciding import holds
from hyperpod_constructs.analysis.references.places import section
from hyperpod_constructs.analysis.schema.violation import quoted
from hyperpod_constructs.templates.model import Resource, Template
from hyperpod_constructs.templates.parameters import compared, given_parameter, referred
from hyperpod_constructs.templates.raw import Raw, walk

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
        kept = all(_holds(conditions, name, choice) is wanted for name, wanted in needs)
        if kept and _holds(conditions, condition, choice) is False:
            return choice
    return None


def is_empty_where(template: Template, condition: str, parameter: str, *, answer: bool) -> bool:
    """Whether a parameter is surely empty where a condition has an answer, whatever the parameters of the template are."""
    conditions = section(template, "Conditions")
    found = [pair for name in used(conditions, [condition]) for pair in comparisons(conditions[name])]
    values = {one: _any_of(texts) for one, texts in grouped(found).items()}
    choices = [dict(zip(values, each, strict=True)) for each in islice(product(*values.values()), _MOST + 1)]
    fitting = [one for one in choices if _holds(conditions, condition, one) is not (not answer)]
    return len(choices) <= _MOST and bool(fitting) and all(one.get(parameter) == "" for one in fitting)


def in_words(choice: Choice) -> str:
    """A choice as a message says it."""
    return " and ".join(f"another {one}" if value == _OTHER else f"{one} {quoted(value)}" for one, value in choice.items())


def allowed_values(template: Template, parameter: str) -> list[str] | None:
    """The values that a parameter takes; `None` if they are not listed, or something else limits them."""
    lists = [listed for one in _levels(template, parameter) or () if (listed := _listed(*one)) is not None]
    return [text for text in lists[0] if all(text in others for others in lists)] or None if lists else None


def _listed(template: Template, parameter: str) -> list[str] | None:
    """The values that the declaration of a parameter lists, if all are known."""
    declared = section(template, "Parameters").get(parameter)
    listed = declared.get("AllowedValues") if isinstance(declared, dict) else None
    texts = [text_of(one) for one in listed] if isinstance(listed, list) else []
    known = [one for one in texts if one is not None]
    return known if known and len(known) == len(texts) else None


def _levels(template: Template, parameter: str) -> list[tuple[Template, str]] | None:
    """A parameter, and those of the stacks above that hand their value down to it; `None` if something else decides on the value.

    That may be a rule, or the condition of a nested stack, which is not there for all values.
    """
    if may_limit(section(template, "Rules"), parameter):
        return None
    stack = template.parent
    above = None if stack is None else given_parameter(stack.raw.get("Properties"), parameter)
    if stack is None or above is None or above in _deciding(stack):
        return [(template, parameter)] if stack is None else None
    found = _levels(stack.template, above)
    return None if found is None else [(template, parameter), *found]


def _deciding(stack: Resource) -> Collection[str | None]:
    """The parameters by which a nested stack is there or not."""
    conditions = section(stack.template, "Conditions")
    deciding = used(conditions, [] if stack.condition is None else [stack.condition])
    return {referred(raw) for name in deciding for raw in walk(conditions[name])}


def may_limit(rules: Mapping[str, Raw], parameter: str) -> bool:
    """Whether rules assert something of a parameter, of all of some type, or of none: that refuses the case of its condition."""
    asserted = [str(rule.get("Assertions") if isinstance(rule, dict) else rule) for rule in rules.values()]
    return any(f"'{parameter}'" in text or "All'" in text or "'Ref'" not in text for text in asserted)


def _choices(template: Template, conditions: Mapping[str, Raw], names: Sequence[str]) -> Iterator[Choice]:
    """The values of the parameters that conditions compare, in all combinations; none if something else decides on one of them."""
    found = [pair for name in used(conditions, names) for pair in comparisons(conditions[name])]
    levels = {one: _levels(template, one) or [] for one, _ in found}
    if not all(levels.values()):
        return
    sources = grouped((levels[one][-1], (one, text)) for one, text in found)
    values = [allowed_values(template, pairs[0][0]) or _any_of(text for _, text in pairs) for pairs in sources.values()]
    for combination in product(*values):
        yield {one: value for pairs, value in zip(sources.values(), combination, strict=True) for one, _ in pairs}


def _any_of(texts: Iterable[str]) -> list[str]:
    """These texts or another one."""
    return [*dict.fromkeys(texts), _OTHER]


def used(conditions: Mapping[str, Raw], names: Sequence[str]) -> list[str]:
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


def _holds(conditions: Mapping[str, Raw], name: str, choice: Choice) -> bool | None:
    """Whether a condition holds with these values; `None` if that is not known."""
    return holds({"Condition": name}, partial(_side, choice), conditions)


def _side(choice: Choice, raw: Raw) -> str | None:
    parameter = compared(raw)
    return text_of(raw) if parameter is None else choice.get(parameter)
