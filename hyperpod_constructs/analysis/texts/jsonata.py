"""Expressions of JSONata in the states of a machine: operators and functions that it has, and variables that are assigned.

Sources: https://docs.jsonata.org/overview.html and https://docs.aws.amazon.com/step-functions/latest/dg/transforming-data.html
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import pairwise

from hyperpod_constructs.analysis.schema.violation import listed, meant, quoted
from hyperpod_constructs.analysis.texts.slip import Slip
from hyperpod_constructs.facts.state_language import CONTEXT, HASHES, JSONATA_FUNCTIONS

_TOKEN = re.compile(
    r"\s+|/\*.*?\*/|\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|`[^`]*`|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\$\$|\$\w+|\$|[^\W\d]\w*"
    r"|:=|!=|<=|>=|~>|\.\.|\*\*|\?\?|\?:|==|&&|\|\||.",
    re.DOTALL,
)
_REGULAR = re.compile(r"/(?:[^/\\\[\n]|\\.|\[(?:[^\]\\]|\\.){0,99}\]){1,255}/[a-z]{0,9}")
_LONGEST, _MOST_PARAMETERS = 4096, 40
"""Longer expressions are believed."""
_OPENS = frozenset(("", "(", "[", "{", ",", ":", ";", "?", "=", "!=", "~>", ":=", "and", "or", "in", "&"))
"""Tokens behind which a slash begins a regular expression."""
_OF_OTHERS = {"==": "=", "&&": "and", "||": "or", "!": "$not(...)"}
"""Operators of other languages, with what JSONata has for them."""
_WORDS = frozenset(("function", "and", "or", "in", "true", "false", "null", "λ"))


def mistakes_in_expression(text: str, scope: Collection[str], variables: Collection[str] | None) -> Iterator[Slip]:
    """The first mistake of an expression between its signs.

    :param scope: the members that `$states` has where the expression stands.
    :param variables: the variables that the machine assigns; `None` if they are not known.
    """
    if len(text) > _LONGEST:
        return
    tokens = list(_tokens(text.strip()[2:-2]))
    shown, bound = quoted(text), _bound(tokens)
    for index, token in enumerate(tokens):
        after = tokens[index + 1 : index + 8]
        if token in _OF_OTHERS:
            yield Slip(f"has {shown}, in which {token} is no operator", _OF_OTHERS[token])
        elif token == "$$" or (token == "$" and index == 0):
            yield Slip(f"has {shown}, and {token} is nothing there", "$states.input, or a variable", dead=True)
        elif token == "$states":
            yield from _of_states(shown, after, scope)
        elif token == "$hash" and after[:1] == ["("]:
            yield from _hash(shown, tokens[index + 1 :])
        elif token[0] == "$" and len(token) > 1 and token not in bound:
            yield from _variable(shown, token, after, variables)
        elif index == 0 and (token[0].isalpha() or token[0] == "_") and token not in _WORDS:
            yield Slip(f"has {shown}, and there is no {token} to read", "$states.input, or a variable", dead=True)


def _tokens(text: str) -> Iterator[str]:
    """The tokens of an expression without blanks and comments."""
    start, before = 0, ""
    while start < len(text):
        match = (_REGULAR.match(text, start) if text[start] == "/" and before in _OPENS else None) or _TOKEN.match(text, start)
        if match is None:
            return
        start = match.end()
        if not match[0].isspace() and not match[0].startswith("/*"):
            before = match[0]
            yield before


def _variable(shown: str, name: str, after: list[str], variables: Collection[str] | None) -> Iterator[Slip]:
    called = after[:1] == ["("]
    if name in JSONATA_FUNCTIONS or variables is None or name[1:] in variables:
        return
    known = JSONATA_FUNCTIONS if called else tuple(f"${one}" for one in variables)
    what = "calls the function" if called else "reads the variable"
    lacks = "which is not there" if called else "which nothing assigns"
    yield Slip(
        f"has {shown}; it {what} {name}, {lacks}{meant(name, known)}", listed(sorted(known)) or "a variable of Assign", dead=True
    )


def _bound(tokens: list[str]) -> set[str]:
    """The names that an expression binds itself: by `:=`, as parameters, and by `@` and `#`."""
    found = {one for one, after in pairwise(tokens) if after == ":="}
    found |= {one for before, one in pairwise(tokens) if before in ("@", "#")}
    for index, token in enumerate(tokens):
        if token in ("function", "λ"):
            given = tokens[index + 1 : index + _MOST_PARAMETERS]
            found.update(given[: given.index(")")] if ")" in given else given)
    return found


def _of_states(shown: str, after: list[str], scope: Collection[str]) -> Iterator[Slip]:
    """A member of `$states` that it does not have there, or one of the context."""
    steps = [one for dot, one in zip(after[::2], after[1::2], strict=False) if dot == "."]
    if not steps or after[0] != ".":
        return
    if steps[0] not in scope:
        yield Slip(f"has {shown}, and $states has no {steps[0]} there{meant(steps[0], scope)}", listed(sorted(scope)), dead=True)
    elif steps[0] == "context":
        place = ""
        for step in steps[1:]:
            names = CONTEXT.get(place, ())
            if names and step not in names:
                yield Slip(f"has {shown}, and the context has no {step}{meant(step, names)}", listed(names), dead=True)
                return
            place = f"{place}.{step}".lstrip(".")


def _hash(shown: str, after: list[str]) -> Iterator[Slip]:
    end = after.index(")") if ")" in after else 0
    word = after[end - 1][1:-1] if end and after[end - 1][:1] in "'\"" and after[end - 2] == "," else ""
    if word and word not in HASHES:
        yield Slip(f"has {shown}, and there is no hash {word}{meant(word, HASHES)}", listed(HASHES), dead=True)
