"""Patterns of statements with a region or an account where the ARNs of their type have none, or without one: they are for nothing.

Source: https://docs.aws.amazon.com/service-authorization/latest/reference/reference_policies_actions-resources-contextkeys.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from hyperpod_constructs.analysis.arns import Arn
from hyperpod_constructs.analysis.policy_document import Statement
from hyperpod_constructs.facts.arn_forms import FORMS
from hyperpod_constructs.templates.dependencies import references
from hyperpod_constructs.templates.values import Value, shown

_FIELDS: Mapping[int, str] = {3: "region", 4: "account"}
_HOLE = "\0"
_OF_AWS = ("ssm",)
"""Services with things of AWS itself, whose ARNs have no account."""
_S3 = "s3"
"""Another finding says it of buckets."""


def misplaced_fields(statement: Statement) -> Iterator[str]:
    """The patterns of a statement that no ARN fits for its region or its account, in words."""
    for pattern in () if statement.excludes_resources else statement.resources:
        wrong = _wrong_field(pattern)
        if wrong is not None:
            yield f"{shown(pattern)!r} {wrong}"


def _wrong_field(pattern: Value) -> str | None:
    text = "".join(part if isinstance(part, str) else _HOLE for part in Arn(pattern).spelled)
    fields = text.split(":", 5)
    if len(fields) < 6 or fields[0] != "arn" or (fields[2] in _OF_AWS and not any(True for _ in references(pattern))):
        return None
    type_, form = next(((one, form) for one, form in _forms().get(fields[2], ()) if fields[5].startswith(_begin(form))), ("", ""))
    for place, name in _FIELDS.items() if form else ():
        has, given = form.split(":", 5)[place] != "", fields[place]
        if has and given == "":
            return f"has no {name}, and the ARN of an {type_} has one"
        if not has and given.strip("*"):
            return f"has a {name}, and the ARN of an {type_} has none"
    return None


def _begin(form: str) -> str:
    """The characters before the name in the last field of a form."""
    return form.split(":", 5)[5].partition("{")[0]


@cache
def _forms() -> Mapping[str, list[tuple[str, str]]]:
    """The types with their forms, by the services in them; of those without a word before the name only the one of its service."""
    found: dict[str, list[tuple[str, str]]] = {}
    for type_, one in FORMS.items():
        if one.service != _S3:
            found.setdefault(one.service, []).append((type_, one.form.replace("{place}", "{region}:{account}")))
    return {service: [one for one in ones if _begin(one[1]) or len(ones) == 1] for service, ones in found.items()}
