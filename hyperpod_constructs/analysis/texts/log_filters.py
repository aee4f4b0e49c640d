"""Patterns of filters on logs: terms, fields between spaces, JSON; and what a filter makes of its matches.

Source: https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/FilterAndPatternSyntax.html
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from hyperpod_constructs.analysis.schema.violation import quoted
from hyperpod_constructs.analysis.texts.arns import service_of
from hyperpod_constructs.analysis.texts.reading import HOLE, known, place_of, spelled
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge, entries, mapping, rivals
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.values import ABSENT, Value

_TERMS = 'terms such as ERROR, "exit code", -DEBUG, ?ERROR ?WARN, %regular expression%'
_JSON = 'a pattern such as { $.level = "ERROR" && $.code > 499 }'
_FIELDS = "a pattern such as [ip, user, status = 5*, bytes > 1000]"
_LONGEST = 1024
_TOKEN = re.compile(
    r'\s+|"(?:[^"\\]|\\.)*"|%[^%]*%|\$(?:\.[\w@-]+|\.?\[\s*(?:\d+|\*|"[^"]*"|\'[^\']*\')\s*\]|\.\*)*|&&|\|\||!=|<=|>=|[=<>()]|'
    r"[^\s\"%&|!=<>()]+|."
)
_COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")


def filter_pattern(value: Value) -> Slips:
    """A pattern of any of the three kinds."""
    text = spelled(value)
    if text is None or HOLE in text or len(text) > _LONGEST or not text.strip():
        return
    body = text.strip()
    if body[0] == "{":
        yield from _json(text, body)
    elif body[0] == "[":
        yield from _fields(body)
    else:
        yield from _terms(text, body)


def _closed(body: str, end: str, kind: str, allowed: str) -> Slips:
    if body[-1] != end:
        yield Slip(f"the pattern {quoted(body)} begins with {body[0]!r} and does not end with {end!r}", allowed, found=body)
    elif len(re.findall(r'(?<!\\)"', body)) % 2:
        yield Slip(f"the pattern {quoted(body)} has a quote without an end", allowed, found=body)
    elif not body[1:-1].strip():
        yield Slip(f"the {kind} of {quoted(body)} is empty", allowed, found=body)


def _json(text: str, body: str) -> Slips:
    found = list(_closed(body, "}", "condition", _JSON))
    yield from found
    if found:
        return
    try:
        _Condition(body[1:-1]).read()
    except _ConditionError as error:
        where = place_of(text, text.index(body) + 1 + error.at)
        yield Slip(f"the pattern {quoted(body)} {error} at {where}", _JSON, found=text)


class _ConditionError(ValueError):
    """A mistake in a condition, at a position in it."""

    def __init__(self, message: str, at: int) -> None:
        super().__init__(message)
        self.at = at


class _Condition:
    """`condition = [NOT] term {(&& | ||) term}`, where a term is in parentheses or compares a field."""

    def __init__(self, text: str) -> None:
        self._tokens = [(one[0], one.start()) for one in _TOKEN.finditer(text) if not one[0].isspace()]
        self._end = len(text)
        self._next = 0

    def read(self) -> None:
        self._any(0)
        if self._next < len(self._tokens):
            self._fail("&&, || or the end is awaited")

    def _fail(self, wanted: str) -> None:
        token, at = self._tokens[self._next] if self._next < len(self._tokens) else ("", self._end)
        hint = {"AND": "; write &&", "and": "; write &&", "OR": "; write ||", "or": "; write ||"}
        raise _ConditionError(f"has {token!r} where {wanted}{hint.get(token, '')}" if token else "ends too early", at)

    def _peek(self) -> str:
        return self._tokens[self._next][0] if self._next < len(self._tokens) else ""

    def _any(self, depth: int) -> None:
        if depth > 50:
            return
        self._one(depth)
        while self._peek() in ("&&", "||"):
            self._next += 1
            self._one(depth)

    def _one(self, depth: int) -> None:
        if self._peek() in ("!", "NOT"):
            self._next += 1
        if self._peek() == "(":
            self._next += 1
            self._any(depth + 1)
            if self._peek() != ")":
                self._fail("')' is awaited")
            self._next += 1
        else:
            self._comparison()

    def _comparison(self) -> None:
        if not self._peek().startswith("$") or self._peek() == "$":
            self._fail("a field such as $.level is awaited")
        self._next += 1
        word = self._peek()
        if word in ("IS", "NOT", "EXISTS"):
            self._next += 1
            if word != "EXISTS":
                if self._peek() not in ("NULL", "TRUE", "FALSE", "EXISTS"):
                    self._fail("NULL, TRUE, FALSE or EXISTS is awaited")
                self._next += 1
            return
        if word not in _COMPARISONS:
            self._fail("one of = != < <= > >= is awaited")
        if self._tokens[self._next + 1 : self._next + 2] and self._tokens[self._next + 1][0] == "=":
            self._fail("= is written once")
        self._next += 1
        if self._peek() in ("", ")", "(", "&&", "||"):
            self._fail("a value is awaited")
        self._next += 1


def _fields(body: str) -> Slips:
    found = list(_closed(body, "]", "list of fields", _FIELDS))
    yield from found
    for field in () if found else re.sub(r'"(?:[^"\\]|\\.)*"|%[^%]*%', "x", body[1:-1]).split(","):
        name = field.strip().lstrip("(").strip()
        if not re.match(r"\.\.\.$|[A-Za-z_]\w*\s*(?:(?:=|!=|<=|>=|<|>)\s*\S.*)?$", name):
            yield Slip(f"the pattern {quoted(body)} has the field {quoted(field.strip())}", _FIELDS, found=body)
            return


def _terms(text: str, body: str) -> Slips:
    if len(re.findall(r'(?<!\\)"', body)) % 2:
        yield Slip(f"the pattern {quoted(body)} has a quote without an end", _TERMS, found=text)
        return
    for match in re.finditer(r'[-?]?(?:"(?:[^"\\]|\\.)*"|%[^%]*%|\S+)', body):
        word = match[0].lstrip("-?")
        if word[:1] not in ('"', "%") and not re.fullmatch(r"[\w.]*", word):
            where = place_of(text, text.index(body) + match.start())
            message = f'the term {word} at {where} has characters that need quotes; write "{word}"'
            yield Slip(message, f"{_TERMS}; other characters than letters, digits and _ in quotes", found=text)
            return


def metric_filter(resource: Resource) -> Slips:
    """The values that a filter makes of its matches: fields that its pattern has."""
    pattern = known(resource.get("FilterPattern"))
    for index, change in entries(resource.get("MetricTransformations")):
        one = mapping(change)
        path = ("MetricTransformations", index)
        value, dimensions = known(one.get("MetricValue", ABSENT)), one.get("Dimensions", ABSENT)
        if one.get("DefaultValue", ABSENT) is not ABSENT and isinstance(dimensions, tuple) and dimensions:
            yield rivals("Dimensions", "DefaultValue", one["DefaultValue"], *path)
        if pattern is not None and value and value.startswith("$") and (wrong := _field_of(pattern, value)):
            yield Slip(
                f"the value {value} is a field, and {wrong}", "a number, or a field of the pattern", (*path, "MetricValue"), value
            )
        for place, dimension in entries(dimensions):
            field = known(mapping(dimension).get("Value", ABSENT))
            if pattern is not None and field and (wrong := _field_of(pattern, field)):
                message = f"the dimension has the value {field}, and {wrong}"
                yield Slip(message, "a field of the pattern, such as $.level", (*path, "Dimensions", place, "Value"), field)


def _field_of(pattern: str, field: str) -> str | None:
    """Why a field is none of the pattern's."""
    body = pattern.strip()
    if not field.startswith("$"):
        return "a dimension is a field, which begins with $"
    if body.startswith("{"):
        return None if field.startswith(("$.", "$[")) else "the pattern is of JSON, whose fields begin with $."
    if body.startswith("["):
        names = [re.split(r"[\s=!<>]", name.strip(" ()"), maxsplit=1)[0] for name in body.strip("[]").split(",")]
        return None if field[1:] in names or not all(names) else f"the pattern has no field {field[1:]}"
    return "a pattern of terms has no fields"


def subscription(resource: Resource) -> Slips:
    """What the destination of a subscription demands."""
    kind, role = service_of(resource.get("DestinationArn")), resource.get("RoleArn")
    if kind in ("kinesis", "firehose") and role is ABSENT:
        yield Slip(f"a destination of {kind} needs RoleArn", "the ARN of a role that CloudWatch Logs assumes", ("RoleArn",))
    if kind == "lambda" and role is not ABSENT and spelled(role) != "" and role is not None:
        yield Slip("a destination that is a function takes no RoleArn", "a permission of the function", ("RoleArn",), role)
    if kind in ("lambda", "firehose") and known(resource.get("Distribution")):
        yield Slip("Distribution is for streams of Kinesis", "no Distribution", ("Distribution",), resource.get("Distribution"))


JUDGES: Mapping[Language, Judge] = {Language.LOGS: filter_pattern}
WHOLES: Mapping[str, WholeJudge] = {
    "AWS::Logs::MetricFilter": metric_filter,
    "AWS::Logs::SubscriptionFilter": subscription,
}
