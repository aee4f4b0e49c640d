"""Patterns of statements that go on behind an ARN without a slash or a colon: they are for something with a longer name.

Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-arn-format.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise

from hyperpod_constructs.analysis.arns import Arn
from hyperpod_constructs.analysis.policy_document import Statement
from hyperpod_constructs.templates.dependencies import references
from hyperpod_constructs.templates.model import Resource, target_of
from hyperpod_constructs.templates.values import UNKNOWN, Part, Reference, Value, joined, parts_of, shown

_BUCKET = "AWS::S3::Bucket"
_OF_BUCKETS = re.compile(r"arn:[^:]*:s3:::")


def longer_names(statement: Statement) -> Iterator[str]:
    """The patterns of a statement for something that surely is not in the model, in words."""
    for pattern in statement.resources:
        named = _goes_on_behind(pattern)
        if named is not None and not any(_may_be(pattern, named, other) for other in _alike(named)):
            yield f"{shown(pattern)!r} goes on behind the name of {named.logical_id} without a slash, and is for a longer name"


def _goes_on_behind(pattern: Value) -> Resource | None:
    """The resource whose ARN, or in an ARN of S3 whose name, has a letter or a digit behind it."""
    parts = parts_of(pattern)
    for index, (one, behind) in enumerate(pairwise(parts)):
        if isinstance(one, Reference) and isinstance(behind, str) and behind[:1].isalnum() and _is_whole(one, parts[:index]):
            return target_of(one)
    return None


def _is_whole(one: Reference, before: tuple[Part, ...]) -> bool:
    """Whether an ARN ends with a reference: it gives one, or the name of a bucket behind the begin of one."""
    if one.attribute is not None:
        return not before and one.attribute == "Arn"
    spelled = "".join(part if isinstance(part, str) else "?" for part in before)
    return target_of(one).type == _BUCKET and _OF_BUCKETS.fullmatch(spelled) is not None


def _alike(named: Resource) -> tuple[Resource, ...]:
    return tuple(one for one in named.template.model.resources(named.type) if one is not named)


def _may_be(pattern: Value, named: Resource, other: Resource) -> bool:
    """Whether a pattern may be for another resource of the type, or for what is in it; its name may begin with the named one."""
    given, whole = other.get(), Reference(other, "Arn")
    names = [value for key, value in given.items() if key.endswith("Name")] if isinstance(given, Mapping) else []
    return named in references(tuple(names)) or any(
        Arn(pattern).covers(Arn(one)) is not False for one in (whole, joined([whole, "/", UNKNOWN]))
    )
