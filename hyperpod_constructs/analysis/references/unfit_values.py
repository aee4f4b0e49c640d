"""Pseudo parameters as the value of a property that takes none of what they give: a region is no zone, and no id of a subnet.

Sources: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/pseudo-parameter-reference.html and the schemas of the types
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import chain

from hyperpod_constructs.analysis.references.places import Call, Misreference, Path
from hyperpod_constructs.analysis.schema.arns import arn_violations
from hyperpod_constructs.analysis.schema.judge import violations
from hyperpod_constructs.analysis.schema.violation import Kind, Violation
from hyperpod_constructs.facts.property_schemas import property_schema, request_limits
from hyperpod_constructs.templates.values import Value

_PSEUDO = "AWS::"
_GIVEN: Mapping[str, tuple[str, ...]] = {
    "AccountId": ("123456789012",),
    "Partition": ("aws", "aws-cn", "aws-us-gov"),
    "Region": ("us-west-2", "eu-central-1"),
    "URLSuffix": ("amazonaws.com", "amazonaws.com.cn"),
}
"""What pseudo parameters give; a stack may have nearly any name."""


def unfit_values(call: Call) -> Iterator[Misreference]:
    """The pseudo parameter of a call that is the whole value of a property which takes no such text."""
    name = call.argument.removeprefix(_PSEUDO) if call.name == "Ref" and isinstance(call.argument, str) else ""
    if name not in _GIVEN or not call.path or call.written() != call.argument:
        return
    first, *others = (_refusal(call.owner.type, call.path, given) for given in _GIVEN[name])
    if first is not None and None not in others:
        key = next(str(one) for one in reversed(call.path) if isinstance(one, str))
        message = f"{key} is {_PSEUDO}{name}, which gives a text such as {_GIVEN[name][0]}"
        yield call.mistake(message, f"{_PSEUDO}{name}", first.allowed)


@cache
def _refusal(resource_type: str, path: Path, given: str) -> Violation | None:
    """Why a property surely takes no such text, whatever is beside it."""
    value, place = _around(path, given), tuple(0 if isinstance(one, int) else one for one in path)
    schema, limits = property_schema(resource_type), request_limits(resource_type)
    if schema is None:
        return None
    found = chain(violations(schema, value), violations(limits or {}, value), arn_violations(schema, value))
    return next((one for one in found if one.path == place and one.kind is Kind.VALUE and one.found == given), None)


def _around(path: Sequence[str | int], given: Value) -> Value:
    """Properties with a value at a path, and with nothing else."""
    for key in reversed(path):
        given = (given,) if isinstance(key, int) else {key: given}
    return given
