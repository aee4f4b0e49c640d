"""Matches a pattern with `*` and `?` against a string, where parts of both can be unknown.

Either side is a sequence of parts: strings and objects. Equal objects are the same text, and unequal ones are different texts, of
at least one character. Against a string, an object can be any text. An object that is not equal to itself (an unknown) can be any
text, even an empty one; a `Segment` is such a text without `/` and `:`, and `Digits` are a certain number of digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

_STAR, _ONE = "*", "?"
_MOST_STEPS = 100_000
_BETWEEN = ("/", ":")
"""The characters between segments."""


class Segment:
    """An unknown text without `/` and `:`, such as a field of an ARN; equal to nothing."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return False

    def __hash__(self) -> int:
        return id(self)


class Digits:
    """Twelve unknown digits, the same ones wherever an object stands; `likely` are those for which others are not taken."""

    __slots__ = ()
    likely = ""


class _Digit(str):
    """One of the digits of an object, by its place in them; each place has always the same one.

    It may be any digit, or only the likely one.
    """

    __slots__ = ("likely",)
    likely: str

    def may_be(self, other: str) -> bool:
        """Whether it may be a character."""
        return isinstance(other, _Digit) or (other == self.likely if self.likely else other.isdecimal())


_LENGTH = 12


@cache
def _digits(likely: str) -> tuple[_Digit, ...]:
    found = tuple(_Digit(chr(0xE010 + place)) for place in range(_LENGTH))
    for place, digit in enumerate(found):
        digit.likely = likely[place] if len(likely) == _LENGTH else ""
    return found


def matches(pattern: Sequence[object], text: Sequence[object]) -> bool | None:
    """True if the pattern always matches the text, False if it never does, `None` if that depends on unknown parts.

    :param pattern: the parts of the pattern; in its strings, `*` and `?` are wildcards.
    :param text: the parts of the text; its strings are literal.
    """
    if len(pattern) == 1 == len(text) and isinstance(pattern[0], str) and isinstance(text[0], str):
        return glob(pattern[0], text[0])
    if tuple(pattern) == ("*",):
        return True
    tokens, symbols = _tokens(pattern, wild=True), _tokens(text, wild=False)
    for _ in range(2):
        cut = _common_prefix(tokens, symbols)
        if cut is None:
            return False
        tokens, symbols = tokens[: cut - 1 if cut else None : -1], symbols[: cut - 1 if cut else None : -1]
    if len(tokens) * len(symbols) > _MOST_STEPS:
        return None
    if _covers(tokens, symbols):
        return True
    return None if _meets(tokens, symbols) else False


def glob(pattern: str, text: str) -> bool:
    """Whether a pattern with `*` and `?` matches a text, in at most as many steps as the product of their lengths."""
    if _STAR not in pattern and _ONE not in pattern:
        return pattern == text
    at = to = 0
    star, resumed = -1, 0
    while to < len(text):
        if at < len(pattern) and pattern[at] == _STAR:
            star, resumed = at, to
            at += 1
        elif at < len(pattern) and pattern[at] in (_ONE, text[to]):
            at += 1
            to += 1
        elif star >= 0:
            resumed += 1
            at, to = star + 1, resumed
        else:
            return False
    return not pattern[at:].strip(_STAR)


class _Wild:
    """A wildcard of the pattern."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


_ANY, _SINGLE = _Wild(_STAR), _Wild(_ONE)


def _tokens(parts: Sequence[object], *, wild: bool) -> list[object]:
    tokens: list[object] = []
    for part in parts:
        if isinstance(part, Digits):
            tokens.extend(_digits(part.likely))
        elif not isinstance(part, str):
            tokens.append(part)
        elif wild:
            tokens.extend(_ANY if char == _STAR else _SINGLE if char == _ONE else char for char in part)
        else:
            tokens.extend(part)
    return tokens


def _common_prefix(pattern: list[object], text: list[object]) -> int | None:
    """The length of the common prefix, equal objects in it; `None` if the first characters that differ cannot be the same."""
    for position, (token, symbol) in enumerate(zip(pattern, text, strict=False)):
        if token != symbol:
            differ = isinstance(token, str) and isinstance(symbol, str) and not _may_be(token, symbol)
            return None if differ else position
    return min(len(pattern), len(text))


def _covers(pattern: list[object], text: list[object]) -> bool:
    """Whether the pattern always matches: only `*` covers an unknown part."""
    reached = _closed({0}, pattern)
    for symbol in text:
        following: set[int] = set()
        for at in reached:
            if at == len(pattern):
                continue
            token = pattern[at]
            if token is _ANY:
                following.add(at)
            elif (token is _SINGLE and isinstance(symbol, str)) or token == symbol:
                following.add(at + 1)
        reached = _closed(following, pattern)
        if not reached:
            return False
    return len(pattern) in reached


def _meets(pattern: list[object], text: list[object]) -> bool:
    """Whether the pattern may match: some text of the unknown parts makes it match."""
    seen = {(0, 0)}
    waiting = [(0, 0)]
    while waiting:
        at, to = waiting.pop()
        if (at, to) == (len(pattern), len(text)):
            return True
        for step in _steps(pattern, text, at, to):
            if step not in seen:
                seen.add(step)
                waiting.append(step)
    return False


def _steps(pattern: list[object], text: list[object], at: int, to: int) -> list[tuple[int, int]]:
    token = pattern[at] if at < len(pattern) else None
    symbol = text[to] if to < len(text) else None
    steps: list[tuple[int, int]] = []
    if token is not None and _empty(token):
        steps.append((at + 1, to))
    if symbol is not None and _empty(symbol):
        steps.append((at, to + 1))
    if token is not None and symbol is not None and _agree(token, symbol):
        steps.append((at + 1, to + 1))
        if token == symbol:
            return steps
        if _long(token):
            steps.append((at, to + 1))
        if _long(symbol):
            steps.append((at + 1, to))
    return steps


def _agree(token: object, symbol: object) -> bool:
    """Whether a token and a symbol can share a character."""
    if (token in _BETWEEN and isinstance(symbol, Segment)) or (symbol in _BETWEEN and isinstance(token, Segment)):
        return False
    if isinstance(token, _Wild) or not (isinstance(token, str) or isinstance(symbol, str)):
        return isinstance(token, _Wild) or token == symbol or _unknown(token) or _unknown(symbol)
    return _may_be(token, symbol) if isinstance(token, str) and isinstance(symbol, str) else True


def _may_be(one: str, other: str) -> bool:
    """Whether two characters are the same, or one is a digit that is not known, and the other may be it."""
    return one == other or (isinstance(one, _Digit) and one.may_be(other)) or (isinstance(other, _Digit) and other.may_be(one))


def _unknown(token: object) -> bool:
    """Whether a part is unknown: it equals nothing, not even itself."""
    return token != token


def _empty(token: object) -> bool:
    return token is _ANY or _unknown(token)


def _long(token: object) -> bool:
    return token is _ANY or not isinstance(token, str | _Wild)


def _closed(reached: set[int], pattern: list[object]) -> set[int]:
    """These positions, and those behind every `*` at them, because `*` can match nothing."""
    closed = set(reached)
    for start in reached:
        at = start
        while at < len(pattern) and pattern[at] is _ANY:
            at += 1
            closed.add(at)
    return closed
