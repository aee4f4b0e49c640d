"""Variables in the resources and conditions of statements: in their form, of keys that there are, and where IAM reads them.

Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_variables.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hyperpod_constructs.analysis.conditions import taken_apart
from hyperpod_constructs.analysis.policy_document import Statement, values_with_places
from hyperpod_constructs.facts.condition_keys import is_listed, key_of
from hyperpod_constructs.templates.values import parts_of

_Place = tuple[str | int, ...]
_BEGIN = "${"
_VARIABLE = re.compile(r"\$\{([^{}]*)\}")
_DEFAULT = re.compile(r"\s*'[^']*'\s*")
_CHARACTERS = ("*", "?", "$")
"""What stands in braces for a character and not for a wildcard."""
_WITH_VARIABLES = ("string", "arn")
"""The beginnings of operators that read variables."""


def mistaken_variables(statement: Statement) -> Iterator[tuple[str, _Place]]:
    """The mistakes in variables: in words, with the place in the statement."""
    for place, value in values_with_places(statement):
        texts = [part for part in parts_of(value) if isinstance(part, str)]
        operator = taken_apart(str(place[1]))[0] if place[0] == "Condition" else ""
        if not any(_BEGIN in text for text in texts):
            continue
        if operator and not operator.startswith(_WITH_VARIABLES):
            yield f"{place[1]} reads no variables, and takes {texts[0]!r} for a text", place
            continue
        words = next(filter(None, (_words(text, is_last=text is parts_of(value)[-1]) for text in texts)), None)
        if words is not None:
            yield words, place


def _words(text: str, *, is_last: bool) -> str | None:
    """The mistake in the variables of a text; behind one that is not the last, something unknown may close them."""
    for name in _VARIABLE.findall(text):
        key, comma, default = name.partition(",")
        if not key:
            return "${} is a variable without a name"
        if " " in key:
            return f"${{{name}}} has a space in the name of the variable"
        if comma and _DEFAULT.fullmatch(default) is None:
            return f"${{{name}}} has a text for calls without the key that is not in single quotes"
        prefix, colon, _ = key.lower().partition(":")
        if key not in _CHARACTERS and colon and prefix != "aws" and is_listed(prefix) and key_of(key) is None:
            return f"${{{name}}} is no variable: {prefix} has no key of this name"
        if prefix == "aws" and colon and key_of(key) is None:
            return f"${{{name}}} is no variable: there is no global key of this name"
    rest = _VARIABLE.sub("", text)
    return f"{text!r} has a variable without its closing brace" if _BEGIN in rest and is_last and "}" not in rest else None
