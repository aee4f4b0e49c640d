"""Composite alarms of CloudWatch: the grammar of their rules, and the alarms that these name.

Source: https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutCompositeAlarm.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import TypeGuard

from hyperpod_constructs.analysis.alone import is_handed_on, types_of_users
from hyperpod_constructs.analysis.schema.violation import listed, nearest, quoted
from hyperpod_constructs.analysis.texts.alarms import ACTIONS, ALARM
from hyperpod_constructs.analysis.texts.own_names import nobodys
from hyperpod_constructs.analysis.texts.reading import HOLE, known, spelled
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.analysis.typo import typo_of
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.dependencies import awaits
from hyperpod_constructs.templates.model import Model, Resource, Template, target_of
from hyperpod_constructs.templates.values import ABSENT, Reference, Value, joined, parts_of

COMPOSITE = "AWS::CloudWatch::CompositeAlarm"
_STATES = ("ALARM", "OK", "INSUFFICIENT_DATA")
_RULE_TOKEN = re.compile(r"\s+|\"(?:[^\"\\]|\\.)*\"|[(),]|[^\s(),\"]+")
_RULE_WORDS = 'ALARM("name"), OK(...), INSUFFICIENT_DATA(...), TRUE, FALSE, AND, OR, NOT, AT_LEAST(...) and parentheses'
_MOST_TOKENS = 2000


class _RuleError(ValueError):
    """A mistake in the rule of a composite alarm."""


class _Rule:
    """A parser by descent: `rule = not {(AND | OR) not}`; the names of alarms are collected."""

    def __init__(self, text: str) -> None:
        self.names: list[str] = []
        self._tokens = [one for one in _RULE_TOKEN.findall(text) if not one.isspace()]
        if "".join(self._tokens) != "".join(text.split()) and '"' not in "".join(self._tokens) and '"' in text:
            raise _RuleError("has a quote without an end")
        self._next = 0

    def read(self) -> None:
        if len(self._tokens) > _MOST_TOKENS:
            return
        self._any(0)
        if self._next < len(self._tokens):
            raise _RuleError(f"has {self._tokens[self._next]!r} where AND, OR or the end is awaited")

    def _take(self, wanted: str | None = None) -> str:
        token = self._tokens[self._next] if self._next < len(self._tokens) else ""
        if not token or (wanted is not None and token != wanted):
            raise _RuleError(f"has {token!r}" + (f" where {wanted!r} is awaited" if wanted else "") if token else "ends too early")
        self._next += 1
        return token

    def _peek(self) -> str:
        return self._tokens[self._next] if self._next < len(self._tokens) else ""

    def _any(self, depth: int) -> None:
        if depth > 100:
            raise _RuleError("nests too deeply")
        self._one(depth)
        while self._peek() in ("AND", "OR"):
            self._take()
            self._one(depth)

    def _one(self, depth: int) -> None:
        while self._peek() == "NOT":
            self._take()
        token = self._take()
        if token == "(":
            self._any(depth + 1)
            self._take(")")
        elif token == "AT_LEAST":
            self._at_least()
        elif token in _STATES:
            self._take("(")
            self.names.append(self._name())
            self._take(")")
        elif token.startswith(('"', _OPEN)):
            raise _RuleError(f"has {token}, an alarm without a state such as {_STATES[0]}({token})")
        elif token not in ("TRUE", "FALSE"):
            near = nearest(token, (*_STATES, "TRUE", "FALSE", "AND", "OR", "NOT", "AT_LEAST"))
            raise _RuleError(f"has {token!r}, which is no word of it{f'; the nearest is {near}' if near else ''}")

    def _name(self) -> str:
        token = self._take()
        if token in ("(", ")", ","):
            raise _RuleError(f"has {token!r} where the name of an alarm is awaited")
        while self._peek() not in (")", ",", "") and not token.startswith('"'):
            token += f" {self._take()}"
        return token.strip('"')

    def _at_least(self) -> None:
        self._take("(")
        self._take()
        self._take(",")
        if self._peek() == "NOT":
            self._take()
        self._take()
        self._take(",")
        self._take("(")
        self.names.append(self._name())
        while self._peek() == ",":
            self._take()
            self.names.append(self._name())
        self._take(")")
        self._take(")")


def alarm_rule(alarm: Resource) -> Slips:
    """The rule of a composite alarm: its grammar, and the alarms of the template that it names."""
    text = _without_open_names(spelled(_with_alarms(alarm.get("AlarmRule"))) or "")
    if not text or HOLE in text:
        return
    try:
        rule = _Rule(text)
        rule.read()
    except _RuleError as error:
        yield Slip(f"the rule {quoted(alarm.get('AlarmRule'))} {error}", _RULE_WORDS, ("AlarmRule",), alarm.get("AlarmRule"))
        return
    yield from _named(alarm, [name for name in rule.names if _OPEN not in name])
    yield from _never(alarm)


def _never(alarm: Resource) -> Slips:
    """A rule of parts that are all to hold, of which two are about one alarm and exclude each other."""
    parts = parts_of(alarm.get("AlarmRule"))
    numbers: dict[Value, int] = {}
    text = "".join(one if isinstance(one, str) else f"@{numbers.setdefault(one, len(numbers))}" for one in parts)
    if re.search(r"\bOR\b|AT_LEAST", text):
        return
    found = re.findall(rf"(NOT\s+)?\b({'|'.join(_STATES)})\s*\(\s*\"?([^()\"]+?)\"?\s*\)", text)
    if text.count("NOT") != sum(bool(negated) for negated, _, _ in found):
        return
    for first, second in combinations(found, 2):
        one_state = first[1] == second[1]
        excluded = first[2] == second[2] and (one_state if bool(first[0]) != bool(second[0]) else not one_state and not first[0])
        if excluded:
            message = "the rule is never true: two of its parts exclude each other"
            yield Slip(message, "parts that can hold together", ("AlarmRule",), alarm.get("AlarmRule"), dead=True)
            return


_OPEN = "${"
_OPEN_NAME = f"{_OPEN}?}}"


def _with_alarms(rule: Value) -> Value:
    """A rule with the ids of alarms in place of references to them."""
    parts = (f"{_OPEN}{one.resource.logical_id}}}" if _is_of_alarm(one) else one for one in parts_of(rule))
    return joined(parts)


def _is_of_alarm(part: Value) -> TypeGuard[Reference]:
    return isinstance(part, Reference) and target_of(part).type in (ALARM, COMPOSITE)


def _without_open_names(text: str) -> str:
    """A rule whose holes are names of alarms, or parts of them; a hole elsewhere may be any part of a rule, and stays."""
    text = re.sub(rf"\b(\w+)\(\s*\"[^()\"]*{HOLE}[^()\"]*\"", rf'\1("{_OPEN_NAME}"', text)
    return re.sub(rf"\b({'|'.join(_STATES)})\(\s?[^()\"]*{HOLE}[^()\"]*\s?\)", rf"\1({_OPEN_NAME})", text)


def _named(alarm: Resource, names: list[str]) -> Slips:
    """Alarms by literal names: one that is misspelled, and one that may be made later."""
    made = dict(_alarms(alarm.template))
    for name in dict.fromkeys(names):
        short = name.rpartition(":alarm:")[2]
        other = made.get(short)
        if other is alarm:
            yield Slip(f"the alarm {short} is part of its own rule", "other alarms", ("AlarmRule",), short)
        elif other is not None and not awaits(alarm, other):
            message = f"the rule names the alarm {short}, which {other.logical_id} makes, and does not await it"
            yield Slip(message, f"DependsOn: {other.logical_id}, or ${{{other.logical_id}}} in the rule", ("AlarmRule",), short)
        elif other is None and short in _ids(alarm.template):
            message = f"no alarm is named {short}, which is the logical id of one"
            yield Slip(message, f"${{{short}}} in Fn::Sub", ("AlarmRule",), short)
        elif other is None and (near := typo_of(short, made) or _idle(alarm, short, names)):
            yield Slip(f"no alarm is named {short}; the nearest is {near}", listed(made), ("AlarmRule",), short)
        elif other is None and nobodys(alarm.template.model, short, _all_names(alarm.template.model)):
            yield Slip(f"no alarm of the templates is named {short}", listed(made), ("AlarmRule",), short)


def _all_names(model: Model) -> Iterator[Value]:
    return (one.get("AlarmName") for one in model.resources(ALARM, COMPOSITE))


def _idle(alarm: Resource, name: str, names: list[str]) -> str | None:
    """The name of the one alarm that shares words with another name, calls nobody, and that nothing names: it is for a rule."""
    words = set(_words(name))
    near = (one for one in _alarms(alarm.template) if len(words & set(_words(one[0]))) > 1 and one[0] not in names)
    found = [other for other, one in near if one is not alarm and _is_idle(one)]
    return found[0] if len(found) == 1 and alarm.template.model.complete else None


def _is_idle(alarm: Resource) -> bool:
    acts = any(alarm.get(key) not in (ABSENT, ()) for key in ACTIONS)
    return not acts and not types_of_users(alarm) and not is_handed_on(alarm)


def _words(name: str) -> list[str]:
    return re.findall(r"[a-z]{2,}", name.lower())


def _ids(template: Template) -> set[str]:
    return {one.logical_id for one in template.resources if one.type in (ALARM, COMPOSITE)}


def _alarms(template: Template) -> Iterator[tuple[str, Resource]]:
    for resource in template.resources:
        if resource.type in (ALARM, COMPOSITE) and (name := known(resource.get("AlarmName"))):
            yield name, resource


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {COMPOSITE: alarm_rule}
