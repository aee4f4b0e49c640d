"""Variables of policies that the calls surely lack: a resource or a value with such a one fits nothing.

Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_variables.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hyperpod_constructs.analysis.conditions import Context, value_of
from hyperpod_constructs.analysis.policy_document import Statement, values_with_places
from hyperpod_constructs.templates.values import ABSENT, parts_of, shown

_Place = tuple[str | int, ...]
_VARIABLE = re.compile(r"\$\{([\w-]+:[^},]+)\}")
"""A variable without a text for calls that lack its key."""


def missing_variables(statement: Statement, caller: Context) -> Iterator[tuple[str, _Place]]:
    """The variables of a statement that its callers surely lack: in words, with the place in the statement.

    :param caller: the keys of all calls that the statement is for, as far as they are known.
    """
    for place, value in values_with_places(statement):
        found = [key for part in parts_of(value) if isinstance(part, str) for key in _VARIABLE.findall(part)]
        missing = next((key for key in found if value_of(key, caller) is ABSENT), None)
        if missing is not None:
            yield f"{shown(value)} fits nothing, as calls of these principals never have {missing}", place
