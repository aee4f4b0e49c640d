"""Secrets in the clear: resolved from their store, or written as text under a name that tells what they are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from hyperpod_constructs.analysis.bounded_json import read_json
from hyperpod_constructs.facts.exposure import SECRET_WORDS
from hyperpod_constructs.templates.dependencies import raw_at
from hyperpod_constructs.templates.model import Resource, Template
from hyperpod_constructs.templates.raw import Raw
from hyperpod_constructs.templates.values import Value, as_str

_RESOLVED = re.compile(
    r"\{\{resolve:(?:secretsmanager:(?:(?!:SecretString).)*?(?::SecretString(?::([^:}]*))?[^}]*)?\}\}|ssm-secure:)"
)
"""A reference to a secret, whole or with the name of a part."""
_NAME = re.compile(SECRET_WORDS)
_LITERAL = re.compile(r"(?!arn:)(?!.*(?i:change|dummy|example|placeholder|replace))[^\s/${}]{8,}")
"""A text that is no name of where the secret lies, and not there to be replaced."""
_KEY = re.compile(r"[A-Za-z0-9/+]{38,40}")
"""A secret access key of AWS, also one with the word that its guides put into those that they show.

Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/id_credentials_access-keys.html
"""
_ELSEWHERE = ("PARAMETER_STORE", "SECRETS_MANAGER")
"""The types of variables whose values are names."""
_ADDRESS = re.compile(r"\w+://[^\s:/@${}]+:[^\s:/@${}]{4,}@.+")
"""An address with a user and a password."""
_GIVEN = re.compile(r"^[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)[ \t]*[=:][ \t]*([\"']?)([^\s\"'`;()]+)\2[ \t]*$", re.MULTILINE)
"""A line that gives a text a name, in a shell, in Python or in YAML."""
_VARIABLE = re.compile(r"\$\{(\w+)\}")


def secret_in(resource: Resource, path: Sequence[str | int], value: Value) -> str | None:
    """What a value tells everybody, in words; `None` if it is no secret."""
    written = raw_at(resource, path)
    found = _RESOLVED.search("".join(_texts(written)))
    if found is not None:
        return "the secret is resolved before, and stands there as text" if not found[1] or _NAME.fullmatch(found[1]) else None
    hidden = next((name for name in _named(written) if _is_hidden(_parameter(resource.template, name))), None)
    if hidden is not None:
        return f"parameter {hidden} has NoEcho, and stands there as text"
    if as_str(resource.get(*path[:-1], "Type")) in _ELSEWHERE:
        return None
    name = as_str(resource.get(*path[:-1], "Name")) if path[-1] == "Value" else str(path[-1])
    if not isinstance(written, str) or written != as_str(value):
        return None
    is_secret = name and _NAME.fullmatch(name) and (_LITERAL.fullmatch(written) or _KEY.fullmatch(written))
    return f"{name} stands in the template" if is_secret or _ADDRESS.fullmatch(written) else None


def password_in(resource: Resource, path: Sequence[str | int]) -> str | None:
    """Why a property that is a secret is known to others, in words; `None` if it is not."""
    written = raw_at(resource, path)
    if isinstance(written, str):
        return "the password stands in the template" if "{{resolve:" not in written and _is_password(written) else None
    names = list(_named(written))
    parameter = (
        _parameter(resource.template, names[0]) if len(names) == 1 and isinstance(written, dict) and "Ref" in written else {}
    )
    if parameter and not _is_hidden(parameter):
        return f"parameter {names[0]} shows the password: it has no NoEcho"
    default = parameter.get("Default")
    return f"the default of parameter {names[0]} is the password" if isinstance(default, str) and default else None


def _is_password(written: str) -> bool:
    """Whether a text is a secret, or JSON with one."""
    try:
        found = read_json(written)
    except ValueError:
        return bool(written)
    if not isinstance(found, dict):
        return bool(written)
    return any(_NAME.fullmatch(name) and isinstance(one, str) and _LITERAL.fullmatch(one) for name, one in found.items())


def password_of_program(resource: Resource, path: Sequence[str | int]) -> str | None:
    """The name that gets a secret as text in a program, in words; `None` if no name does."""
    text = "\n".join(_texts(raw_at(resource, path)))
    for name, _, given in _GIVEN.findall(text):
        if _NAME.fullmatch(name) and (_LITERAL.fullmatch(given) or _KEY.fullmatch(given)):
            return f"{name} stands in the program"
    return None


def _parameter(template: Template, name: str) -> Mapping[str, Raw]:
    declared = template.raw.get("Parameters")
    found = declared.get(name) if isinstance(declared, dict) else None
    return found if isinstance(found, dict) else {}


def _is_hidden(parameter: Mapping[str, Raw]) -> bool:
    return str(parameter.get("NoEcho", False)).lower() == "true"


def _named(written: Raw) -> Iterator[str]:
    """The names in `Ref` and `Fn::Sub` of an expression."""
    for key, argument in written.items() if isinstance(written, dict) else ():
        if key == "Ref" and isinstance(argument, str):
            yield argument
        elif key == "Fn::Sub":
            text = argument[0] if isinstance(argument, list) and argument else argument
            yield from _VARIABLE.findall(text) if isinstance(text, str) else ()


def _texts(written: Raw) -> Iterator[str]:
    """The texts in an expression, in their order."""
    if isinstance(written, str):
        yield written
    elif isinstance(written, list | dict):
        for one in written.values() if isinstance(written, dict) else written:
            yield from _texts(one)
