"""Patterns of statements that no ARN fits: for a region or an account in it, for a name that is an id, or for another value in it.

Source: https://docs.aws.amazon.com/service-authorization/latest/reference/reference_policies_actions-resources-contextkeys.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache

from hyperpod_constructs.analysis.arn_kinds import other_kind
from hyperpod_constructs.analysis.arn_shapes import mistaken_shape
from hyperpod_constructs.analysis.arns import Arn
from hyperpod_constructs.analysis.policy_document import Statement
from hyperpod_constructs.facts.arn_forms import FORMS, ArnForm
from hyperpod_constructs.facts.arn_names import NAMES
from hyperpod_constructs.templates.dependencies import references
from hyperpod_constructs.templates.model import target_of
from hyperpod_constructs.templates.values import Reference, Value, parts_of, shown

_FIELDS: Mapping[int, str] = {3: "region", 4: "account"}
_HOLE = "\0"
_WILD = re.compile(rf"[*?{_HOLE}]")
_ADDRESSES = frozenset({("AWS::ECR::Repository", "RepositoryUri"), ("AWS::SQS::Queue", None), ("AWS::SQS::Queue", "QueueUrl")})
"""Types with the attributes that are addresses."""
_OF_AWS = ("ssm",)
"""Services with things of AWS itself, whose ARNs have no account."""
_S3, _OF_S3 = "s3", ("accesspoint", "access-grants", "async-request", "job/", "storage-lens")
"""S3, with the things of it that have a region and an account. Another finding says it of buckets of the templates."""


def misplaced_fields(statement: Statement) -> Iterator[str]:
    """The patterns of a statement that no ARN fits for its region or its account, in words."""
    for pattern in () if statement.excludes_resources else statement.resources:
        wrong = wrong_form(pattern)
        if wrong is not None:
            yield f"{shown(pattern)!r} {wrong}"


def wrong_form(pattern: Value) -> str | None:
    """Why no ARN fits a pattern, in words."""
    other = other_kind(pattern)
    found = mistaken_shape(pattern) or _wrong_field(pattern) or _wrong_value(pattern) or _wrong_name(pattern)
    return found or (None if other is None else f"is of another kind: {other[0]}")


def _wrong_field(pattern: Value) -> str | None:
    text = "".join(part if isinstance(part, str) else _HOLE for part in Arn(pattern).spelled)
    fields = text.split(":", 5)
    if len(fields) < 6 or fields[0] != "arn" or (fields[2] in _OF_AWS and not any(True for _ in references(pattern))):
        return None
    if fields[2] == _S3:
        placed = fields[3].strip("*") or fields[4].strip("*")
        of_bucket = not fields[5].startswith((*_OF_S3, "*", "?", _HOLE)) and not any(True for _ in references(pattern))
        return "has a region or an account, and the ARN of a bucket has none" if placed and of_bucket else None
    type_, form = next(((one, form) for one, form in _forms().get(fields[2], ()) if fields[5].startswith(_begin(form))), ("", ""))
    for place, name in _FIELDS.items() if form else ():
        has, given = form.split(":", 5)[place] != "", fields[place]
        if has and given == "":
            return f"has no {name}, and the ARN of an {type_} has one"
        if not has and given.strip("*"):
            return f"has a {name}, and the ARN of an {type_} has none"
    return None


def _wrong_value(pattern: Value) -> str | None:
    """A reference behind the beginning of an ARN that gives an ARN, or no name."""
    first, *others = parts_of(pattern)
    if not isinstance(first, str) or not first.startswith("arn:"):
        return None
    for one in others:
        form = FORMS.get(target_of(one).type, ArnForm()) if isinstance(one, Reference) else ArnForm()
        if isinstance(one, Reference) and one.attribute in form.arns - form.names:
            return f"has an ARN in the place of a name: {one!r}"
        if isinstance(one, Reference) and (target_of(one).type, one.attribute) in _ADDRESSES:
            return f"has an address in the place of a name: {one!r}"
    return None


def _wrong_name(pattern: Value) -> str | None:
    """A name that nothing of the type has, as far as its characters are known."""
    text = "".join(part if isinstance(part, str) else _HOLE for part in parts_of(pattern))
    fields = text.split(":", 5)
    if len(fields) < 6 or fields[0] != "arn" or "${" in fields[5]:
        return None
    for (service, word), known in NAMES.items():
        if fields[2] == service and fields[5].startswith(word):
            name = fields[5][len(word) :]
            literal = _WILD.split(name)[0]
            whole = literal == name
            if not (known.form.fullmatch(name) if whole else known.begin.startswith(literal[: len(known.begin)])):
                return f"ends with {name.replace(_HOLE, '${?}')!r}, where ARNs have {known.words}"
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
