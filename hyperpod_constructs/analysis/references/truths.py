"""What conditions and rules decide by: functions that are true or false, and the texts that these compare.

Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference-conditions.html
"""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_constructs._support.words import enumerated
from hyperpod_constructs.analysis.references.places import Misreference, entry, section, settled
from hyperpod_constructs.analysis.schema.violation import listed, quoted
from hyperpod_constructs.facts.template_parts import FUNCTIONS
from hyperpod_constructs.templates.model import Resource, Template
from hyperpod_constructs.templates.raw import Raw
from hyperpod_constructs.templates.values import ABSENT

_OF_TRUTHS = ("Fn::And", "Fn::Not", "Fn::Or")
_IN_CONDITIONS = ("Condition", "Fn::Equals", *_OF_TRUTHS)
_IN_RULES = ("Fn::And", "Fn::Contains", "Fn::EachMemberEquals", "Fn::EachMemberIn", "Fn::Equals", "Fn::Not", "Fn::Or")


def untrue(template: Template) -> Iterator[Misreference]:
    """Conditions and assertions that are neither true nor false, and comparisons of what is no text."""
    for name, written in section(template, "Conditions").items():
        yield from map(settled, _judged(entry(template, "Conditions", name), written, _IN_CONDITIONS))
    for name, rule in section(template, "Rules").items():
        assertions = rule.get("Assertions") if isinstance(rule, dict) else None
        asserted = (
            [one["Assert"] for one in assertions if isinstance(one, dict) and "Assert" in one]
            if isinstance(assertions, list)
            else []
        )
        when = [rule["RuleCondition"]] if isinstance(rule, dict) and "RuleCondition" in rule else []
        for written in (*when, *asserted):
            yield from map(settled, _judged(entry(template, "Rules", name), written, _IN_RULES))


def _judged(owner: Resource, raw: Raw, known: tuple[str, ...]) -> Iterator[Misreference]:
    what = f"{owner.type.lower()} {owner.logical_id}"
    names = list(raw) if isinstance(raw, dict) else []
    name, argument = next(iter(raw.items()), ("", None)) if isinstance(raw, dict) else ("", None)
    is_said = name.startswith("Fn::") and (len(names) > 1 or name not in FUNCTIONS)
    if raw is None or is_said or name == "Fn::Transform":
        return
    if len(names) != 1 or name not in known:
        found = (
            enumerated(names)
            if names
            else "a list"
            if isinstance(raw, list)
            else "nothing"
            if isinstance(raw, dict)
            else quoted(raw)
        )
        yield Misreference(owner, (), f"{what} decides by {found}", ABSENT, f"one of {listed(known)}")
    elif isinstance(argument, dict):
        yield Misreference(owner, (), f"{name} of {what} takes a list of arguments", ABSENT, "a list")
    elif isinstance(argument, list) and name in _OF_TRUTHS:
        for one in argument:
            yield from _judged(owner, one, known)
    elif isinstance(argument, list) and name == "Fn::Equals":
        for said in _no_texts(argument):
            yield Misreference(owner, (), f"{what} compares {said}", ABSENT, "a text, or a function that gives one")


def _no_texts(compared: list[Raw]) -> Iterator[str]:
    for one in compared:
        if isinstance(one, list):
            yield "a list"
        elif isinstance(one, dict) and not any(name.startswith(("Fn::", "Ref", "Condition")) for name in one):
            yield f"an object with {enumerated(one) or 'nothing'}"
