"""The form of what expressions of JSONata give, as far as they are plain paths such as `{% $states.input.detail.name %}`.

A path that leads nowhere gives nothing, and a state that hands nothing on fails. Longer expressions are believed: a function or
an operator may take nothing for something.

Source: https://docs.aws.amazon.com/step-functions/latest/dg/transforming-data.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from hyperpod_constructs.analysis.data_forms import Data, Known, Lost, read
from hyperpod_constructs.templates.values import Value

_EXPRESSION = re.compile(r"\{%\s*\$states\.(input|result|errorOutput)((?:\.[A-Za-z_]\w*)*)\s*%\}")
_DEEPEST = 10
Scope: TypeAlias = Mapping[str, Known]
"""What `$states` has, by its names."""


def form_of(value: Value, scope: Scope, depth: int = 0) -> Known:
    """The form of a value with expressions in it."""
    if depth > _DEEPEST:
        return None
    if isinstance(value, Mapping):
        return Data({name: form_of(item, scope, depth + 1) for name, item in value.items()})
    if isinstance(value, tuple):
        return Data(items=(None,))
    found = _found(value, scope)
    return None if found is None or isinstance(found[1], Lost) else found[1]


def lost_in(value: Value, scope: Scope, depth: int = 0) -> Iterator[tuple[str, Lost]]:
    """The paths of a value's expressions that lead nowhere, each with the member that is not there."""
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, tuple) else ()
    for item in inner if depth < _DEEPEST else ():
        yield from lost_in(item, scope, depth + 1)
    found = _found(value, scope)
    if found is not None and isinstance(found[1], Lost):
        yield found[0], found[1]


def _found(value: Value, scope: Scope) -> tuple[str, Known | Lost] | None:
    """The path of an expression, and what is there; `None` for another value."""
    match = _EXPRESSION.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None or match[1] not in scope:
        return None
    data, steps = scope[match[1]], match[2].split(".")[1:]
    for step in steps:
        # A path goes into each item of a list by itself.
        after = None if data is None or data.items else read(data, (step,))
        if isinstance(after, Lost):
            return f"$states.{match[1]}{match[2]}", after
        data = after
    return f"$states.{match[1]}{match[2]}", data
