"""Commands of AWS's SDK in the code of a function in JavaScript: parameters that are texts, or variables of the environment.

Source: https://docs.aws.amazon.com/AWSJavaScriptSDK/v3/latest/
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from hyperpod_constructs.analysis.code_runs.service_calls import CodeCall
from hyperpod_constructs.facts.sdk_calls import by_client, by_package
from hyperpod_constructs.templates.values import UNKNOWN, Value

_DOCUMENTS: Mapping[str, str] = {"Delete": "deleteitem", "Get": "getitem", "Put": "putitem", "Update": "updateitem"}
"""Commands for documents of DynamoDB, by their operation."""
_PACKAGE = re.compile(r"""(?:from|require\()\s*["']@aws-sdk/((?:client|lib)-[a-z0-9-]+)["']""")
_TAKEN = re.compile(r"""\{([^{}]{1,2000})\}\s*(?:=\s*require\(|from)\s*["']@aws-sdk/(client-[a-z0-9-]+)["']""")
_COMMAND = re.compile(r"\bnew\s+(\w{1,80})Command\s*\(\s*(\{)?")
_GIVEN = re.compile(r"""(\w{1,80})\s*:\s*(?:process\.env\.(\w+)|["'`]([^"'`$\n]*)["'`])""")


def commands_in(text: str, variables: Mapping[str, Value]) -> Iterator[CodeCall]:
    """The calls of code.

    :param variables: those of the environment.
    """
    packages = [found for name in dict.fromkeys(_PACKAGE.findall(text)) if (found := by_package(name)) is not None]
    documents = by_client("dynamodb") if "@aws-sdk/lib-dynamodb" in text else None
    for match in _COMMAND.finditer(text):
        name = match[1].lower()
        operation = next((one[name] for one in packages if name in one), None)
        if operation is None and documents is not None:
            operation = documents.get(_DOCUMENTS.get(match[1], name))
        if operation is not None:
            given = _GIVEN.findall(text[match.end() : _end(text, match.end())]) if match[2] else []
            yield CodeCall(operation, {key.lower(): variables.get(name, UNKNOWN) if name else value for key, name, value in given})


def unknown_commands(text: str) -> Iterator[tuple[str, str, list[str]]]:
    """Commands that code in JavaScript takes from a package of AWS's SDK which has none of this name, with those that it has."""
    for names, package in _TAKEN.findall(text):
        operations = by_package(package)
        for word in re.findall(r"\b(\w+)Command\b", names) if operations is not None else ():
            if operations is not None and word.lower() not in operations:
                yield f"@aws-sdk/{package}", f"{word}Command", [f"{one.name}Command" for one in operations.values()]


def _end(text: str, start: int) -> int:
    """Where the braces of an object end."""
    depth = 1
    for position in range(start, len(text)):
        depth += (text[position] == "{") - (text[position] == "}")
        if depth == 0:
            return position
    return len(text)
