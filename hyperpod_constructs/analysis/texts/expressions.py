"""Paths, intrinsic functions and expressions of JSONata in the states of a machine.

Sources: https://states-language.net/spec.html#paths, https://docs.aws.amazon.com/step-functions/latest/dg/intrinsic-functions.html
and https://docs.aws.amazon.com/step-functions/latest/dg/transforming-data.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from hyperpod_constructs.analysis.schema.violation import meant, quoted
from hyperpod_constructs.analysis.texts.reading import HOLE
from hyperpod_constructs.analysis.texts.slip import Slip
from hyperpod_constructs.facts.state_language import FUNCTIONS
from hyperpod_constructs.templates.values import Value

_INNER = ("Branches", "ItemProcessor", "Iterator")
_DEEPEST = 20
_LITERAL = re.compile(r"\$\$?(?=[.\[]|$)(?:\[[^\]]*\]|\S)*")
_FUNCTION = re.compile(r"States\.\w+(?=\()")
_PAIRS = {")": "(", "]": "[", "}": "{"}
_TOKEN = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|`[^`]*`|/\*.*?\*/|[()\[\]{}\"'`]", re.DOTALL)


def expressions_of(state: Mapping[str, Value]) -> Iterator[tuple[str, str]]:
    """The texts of a state with the keys that they stand under, without those of the machines inside of it."""
    for key, value in state.items():
        if key not in _INNER:
            yield from _texts(key, value, key, 0)


def _texts(key: str, value: Value, field: str, depth: int) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield (key if field in ("Parameters", "ResultSelector", "ItemSelector") else ""), value
    elif depth < _DEEPEST and isinstance(value, Mapping):
        for name, item in value.items():
            yield from _texts(name, item, field, depth + 1)
    elif depth < _DEEPEST and isinstance(value, tuple):
        for item in value:
            yield from _texts("", item, field, depth + 1)


def mistake_in_path(key: str, text: str) -> Slip | None:
    """A path that is taken for a text, a text that is taken for a path, or a function that nobody has."""
    if HOLE in text:
        return None
    if key.endswith(".$"):
        if not text.startswith(("$", "States.")):
            return Slip(f"has {quoted(text)} as {key}, which is no path", "a path such as $.name, or a function of States")
        unknown = [name for name in _FUNCTION.findall(text) if name not in FUNCTIONS]
        if unknown:
            return Slip(f"has the function {unknown[0]}{meant(unknown[0], FUNCTIONS)}", "an intrinsic function")
    elif key and _LITERAL.fullmatch(text):
        return Slip(f"has the text {quoted(text)} as {key}, not what is at this path", f"{key}.$", dead=True)
    return None


def mistakes_in_jsonata(text: str) -> Iterator[Slip]:
    """An expression without its end, or with parentheses that do not match."""
    stripped = text.strip()
    if HOLE in text or not stripped.startswith("{%"):
        if HOLE not in text and stripped.endswith("%}"):
            yield Slip(f"has {quoted(text)}, which does not begin with {{%", "{% expression %}", dead=True)
        return
    if not stripped.endswith("%}"):
        yield Slip(f"has {quoted(text)}, which does not end with %}}", "{% expression %}")
    elif not _match(stripped[2:-2]):
        yield Slip(f"has {quoted(text)}, whose parentheses or quotes do not match", "{% expression %}")


def _match(text: str) -> bool:
    """Whether parentheses and quotes match; a regular expression hides them, and is believed."""
    if re.search(r"[(,~]\s*/", text):
        return True
    open_: list[str] = []
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token in "([{":
            open_.append(token)
        elif token in _PAIRS:
            if not open_ or open_.pop() != _PAIRS[token]:
                return False
        elif len(token) == 1:
            return False
    return not open_
