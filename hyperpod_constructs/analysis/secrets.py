"""Secrets in the clear: resolved from their store, or written as text under a name that tells what they are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from hyperpod_constructs.facts.exposure import SECRET_WORDS
from hyperpod_constructs.templates.dependencies import raw_at
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.raw import Raw
from hyperpod_constructs.templates.values import Value, as_str

_RESOLVED = re.compile(r"\{\{resolve:(?:secretsmanager:.*?:SecretString(?::([^:}]*))?|ssm-secure:)")
_NAME = re.compile(SECRET_WORDS)
_LITERAL = re.compile(r"(?!arn:)(?!.*(?i:change|dummy|example|placeholder|replace))[^\s/${}]{8,}")
"""A text that is no name of where the secret lies, and not there to be replaced."""
_ELSEWHERE = ("PARAMETER_STORE", "SECRETS_MANAGER")
"""The types of variables whose values are names."""


def secret_in(resource: Resource, path: Sequence[str | int], value: Value) -> str | None:
    """What a value tells everybody, in words; `None` if it is no secret."""
    written = raw_at(resource, path)
    found = _RESOLVED.search("".join(_texts(written)))
    if found is not None:
        return "the secret is resolved before, and stands there as text" if not found[1] or _NAME.fullmatch(found[1]) else None
    if as_str(resource.get(*path[:-1], "Type")) in _ELSEWHERE:
        return None
    name = as_str(resource.get(*path[:-1], "Name")) if path[-1] == "Value" else str(path[-1])
    literal = isinstance(written, str) and written == as_str(value) and _LITERAL.fullmatch(written)
    return f"{name} stands in the template" if name and literal and _NAME.fullmatch(name) else None


def _texts(written: Raw) -> Iterator[str]:
    """The texts in an expression, in their order."""
    if isinstance(written, str):
        yield written
    elif isinstance(written, list | dict):
        for one in written.values() if isinstance(written, dict) else written:
            yield from _texts(one)
