"""What parameters and pseudo parameters never are, and what never holds for that: conditions, and rules, which then refuse all.

Sources: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/rules-section-structure.html and
https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/pseudo-parameter-reference.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import islice, product
from typing import TypeAlias

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs.analysis.comparisons import text_of
from hyperpod_constructs.analysis.references.choices import used
from hyperpod_constructs.analysis.references.deciding import holds
from hyperpod_constructs.analysis.references.parameters import declared, refusal_of
from hyperpod_constructs.analysis.references.places import Misreference, entry, section, settled
from hyperpod_constructs.analysis.schema.violation import listed, meant
from hyperpod_constructs.facts.regions import REGIONS
from hyperpod_constructs.templates.model import Template
from hyperpod_constructs.templates.raw import Raw, walk
from hyperpod_constructs.templates.values import ABSENT, as_items, as_str

Atom: TypeAlias = tuple[str, str]
"""A reference, and a text that something compares it with."""

_OTHER = "\ufffc"
_MOST = 256
"""Choices that are tried."""
_PSEUDO: Mapping[str, tuple[re.Pattern[str], str]] = {
    "AWS::AccountId": (re.compile(r"\d{12}"), "12 digits"),
    "AWS::Partition": (re.compile(r"aws(-[a-z]+)*"), "a partition such as aws or aws-cn"),
    "AWS::Region": (re.compile("|".join(sorted(REGIONS))), "a region such as us-west-2"),
    "AWS::StackId": (re.compile(r"arn:.*"), "an ARN"),
    "AWS::URLSuffix": (re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+)+"), "a domain such as amazonaws.com"),
}


def compared_in(raw: Raw) -> Iterator[Atom]:
    """The references that a function compares with texts, itself or in its arguments."""
    for one in walk(raw):
        name, argument = next(iter(one.items())) if isinstance(one, dict) and len(one) == 1 else ("", None)
        if isinstance(argument, list) and len(argument) == 2 and name in ("Fn::Equals", "Fn::Contains"):
            first, second = argument
            for text in first if isinstance(first, list) else [first]:
                yield from _atom(text, second)
            yield from _atom(second, first) if name == "Fn::Equals" else ()


def _atom(text: Raw, reference: Raw) -> Iterator[Atom]:
    name, known = _referred(reference), text_of(text)
    if name is not None and known is not None:
        yield name, known


def _referred(raw: Raw) -> str | None:
    name = raw.get("Ref") if isinstance(raw, dict) and len(raw) == 1 else None
    return name if isinstance(name, str) else None


def never(template: Template, atom: Atom) -> tuple[str, str] | None:
    """What a parameter or a pseudo parameter never is, in words, and what it can be; `None` if it may be the text."""
    name, text = atom
    form, words = _PSEUDO.get(name, (None, ""))
    if form is not None:
        said = meant(text, sorted(REGIONS)) if name == "AWS::Region" else ""
        return None if form.fullmatch(text) else (f"{name} is never {text!r}{said}", words)
    parameter = declared(template).get(name)
    if parameter is None or not text:
        return None  # what an empty text stands for may be decided elsewhere
    allowed = [as_str(one) for one in as_items(parameter.limit("AllowedValues")) or ()]
    words_of = [one for one in allowed if one is not None]
    if words_of and len(words_of) == len(allowed):
        return None if text in words_of else (f"parameter {name} is never {text!r}{meant(text, words_of)}", listed(words_of))
    refused = refusal_of(parameter, text)
    return None if refused is None else (f"parameter {name} is never {text!r}, which is{refused[0].removeprefix(',')}", refused[1])


def refusing(template: Template) -> Iterator[Misreference]:
    """The first rule with which no deployment passes, whatever its parameters and its region are."""
    passed: list[Raw] = []
    for name, rule in section(template, "Rules").items():
        passed.append(rule)
        choices = _choices(template, passed)
        if choices is None or any(all(_passes(one, choice) for one in passed) for choice in choices):
            continue
        cause = next((said for atom in compared_in(rule) if (said := never(template, atom)) is not None), None)
        message, allowed = cause or ("its assertions hold with no values", "assertions that some deployment meets")
        yield settled(
            Misreference(entry(template, "Rules", name), (), f"rule {name} refuses every deployment: {message}", ABSENT, allowed)
        )
        return


def contradictions(template: Template) -> Iterator[Misreference]:
    """Conditions that no values of the parameters make true, though each comparison may be."""
    conditions = section(template, "Conditions")
    for name, written in conditions.items():
        together = [conditions[one] for one in used(conditions, [name])]
        choices = _choices(template, together) if _may_each_be(template, together) else None
        if choices and all(holds(written, partial(_side, choice), conditions) is False for choice in choices):
            place = entry(template, "Conditions", name)
            yield Misreference(place, (), f"condition {name} is never true", ABSENT, "a condition that some deployment meets")


def _may_each_be(template: Template, together: Sequence[Raw]) -> bool:
    """Whether conditions compare parameters, and each of them with what it may be: anything else is said alone."""
    atoms = [*compared_in([*together])]
    return len(atoms) > 1 and not any(never(template, one) for one in atoms)


def _choices(template: Template, rules: Sequence[Raw]) -> list[Mapping[str, str]] | None:
    """The texts that the compared parameters can be, in all combinations; `None` for too many."""
    found = grouped(atom for rule in rules for atom in compared_in(rule))
    values = [_values(template, name, texts) for name, texts in found.items()]
    choices: list[Mapping[str, str]] = [dict(zip(found, each, strict=True)) for each in islice(product(*values), _MOST + 1)]
    return choices if len(choices) <= _MOST else None


def _values(template: Template, name: str, texts: Sequence[str]) -> list[str]:
    parameter = declared(template).get(name)
    allowed = None if parameter is None else [as_str(one) for one in as_items(parameter.limit("AllowedValues")) or ()]
    known = [one for one in allowed or () if one is not None]
    possible = [text for text in dict.fromkeys(texts) if never(template, (name, text)) is None]
    return known if known and len(known) == len(allowed or ()) else [*possible, _OTHER]


def _passes(rule: Raw, choice: Mapping[str, str]) -> bool:
    """Whether a rule may let a deployment with these values pass."""
    if not isinstance(rule, dict):
        return True
    assertions = rule.get("Assertions")
    asserted = [one.get("Assert") for one in assertions if isinstance(one, dict)] if isinstance(assertions, list) else []
    applies = "RuleCondition" not in rule or holds(rule["RuleCondition"], partial(_side, choice))
    return applies is not True or all(holds(one, partial(_side, choice)) is not False for one in asserted)


def _side(choice: Mapping[str, str], raw: Raw) -> str | None:
    name = _referred(raw)
    return text_of(raw) if name is None else choice.get(name)
