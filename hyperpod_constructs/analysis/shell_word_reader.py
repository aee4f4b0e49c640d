"""Reads the words of a shell: their quotes, the variables in them, and the commands whose output they take.

Source: https://www.gnu.org/software/bash/manual/bash.html#Quoting
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple, TypeGuard

from hyperpod_constructs.analysis.embedded import is_mark, unmarked
from hyperpod_constructs.analysis.shell_words import ALL_ARGUMENTS, NAME, POSITION, Piece, Variable, Word

_DIGITS, _DEFAULTS = "123456789", ("-", ":-", "=", ":=", "?", ":?")
"""Begins of numbers of arguments, and of operators that leave the value of a variable which has one."""
ENDS, BLANKS = "\n;&|()", " \t\r"
"""Characters that end a command, and others that end a word."""
_IN_QUOTES, _SPECIAL = '\\"$`', "\\'\"$`#<>" + ENDS + BLANKS


class Open(NamedTuple):
    """What is open at the end of a script.

    :param what: it, in words.
    :param line: the line in which it begins.
    :param end: the line that should end a text behind `<<`; empty for another thing.
    :param function: the function in which it stands, or which it is.
    """

    what: str
    line: int
    end: str = ""
    function: str = ""


class UnreadError(ValueError):
    """A script that is not understood.

    :param unended: what is open at its end, if that is the reason.
    """

    def __init__(self, unended: Open | None = None) -> None:
        super().__init__()
        self.unended = unended


class WordReader(ABC):
    """Reads the words of a text from its begin to its end, once."""

    def __init__(self, text: str, line: int) -> None:
        self._text, self._at, self._depth = text, 0, 0
        self._counted, self._line = 0, line
        self._pieces: list[Piece] | None = None
        """The word that is read now; `None` between words."""

    @property
    @abstractmethod
    def _function(self) -> str:
        """The function in which the word stands; empty outside of all."""

    @abstractmethod
    def read(self, end: str, what: str = "") -> None:
        """The commands up to a character, or to the end of the text.

        :param what: what the character ends, in words.
        """

    @abstractmethod
    def _nested(self, text: str) -> None:
        """Commands in backquotes."""

    def _line_of(self, position: int) -> int:
        """The line of a position, which grows from call to call."""
        if position > self._counted:
            self._line += self._text.count("\n", self._counted, position)
            self._counted = position
        return self._line

    def _piece(self, character: str, *, quoted: bool) -> None:
        """A character, a quote or a variable in a word."""
        if character == "\\":
            following = self._text[self._at + 1 : self._at + 2]
            kept = "\\" if quoted and following not in '$`"\\\n' else ""
            self._at += 2
            if following != "\n":
                self._add(kept + following)
        elif character == "'" and not quoted:
            end = self._find("'", self._at + 1, "a quote")
            self._add(self._text[self._at + 1 : end])
            self._at = end + 1
        elif character == '"' and not quoted:
            self._quoted()
        elif character == "$":
            self._dollar(quoted=quoted)
        elif character == "`":
            end = self._find("`", self._at + 1, "a command in backquotes", escapes=True)
            self._nested(self._text[self._at + 1 : end])
            self._at = end + 1
        else:
            special = _IN_QUOTES if quoted else _SPECIAL
            end = self._at + 1
            while end < len(self._text) and self._text[end] not in special:
                end += 1
            self._add(self._text[self._at : end])
            self._at = end

    def _quoted(self) -> None:
        start = self._line_of(self._at)
        self._at += 1
        self._add("")
        while (character := self._text[self._at : self._at + 1]) != '"':
            if character == "":
                raise UnreadError(Open("a quote", start))
            self._piece(character, quoted=True)
        self._at += 1

    def _dollar(self, *, quoted: bool) -> None:
        rest = self._text[self._at + 1 : self._at + 3]
        found = NAME.match(self._text, self._at + 1)
        if found is not None:
            self._add(Variable(found[0], plain=True))
            self._at = found.end()
        elif rest[:1] in (*_DIGITS, *ALL_ARGUMENTS) and rest:
            self._add(Variable(rest[:1], plain=rest[:1] in _DIGITS, own=bool(self._function)))
            self._at += 2
        elif rest == "((":
            self._at = self._find("))", self._at, "arithmetic") + 2
            self._add(None)
        elif rest[:1] == "(":
            self._at += 2
            self.read(")", "a command in brackets")
            self._add(None)
        elif rest[:1] == "{":
            self._braces()
        elif rest[:1] == "'" and not quoted:
            self._at = self._find("'", self._at + 2, "a quote", escapes=True) + 1
            self._add(None)
        else:
            alone = rest[:1] in {"", '"', "'", " ", "/", ")", "\n"}
            self._add("$" if alone else None)
            self._at += 1 if alone else 2

    def _braces(self) -> None:
        """`${NAME}`, or one with an operator, whose text may have quotes and braces of its own."""
        line, start = self._line_of(self._at), self._at + 2
        self._at = start
        self._skip("{", "}", Open("a variable in braces", line))
        written = self._text[start : self._at - 1]
        name = written.lstrip("#")
        found = NAME.match(name) or POSITION.match(name)
        if found is not None and not written.startswith("!"):
            operator = name[found.end() :]
            is_plain = not operator.startswith((*_DEFAULTS, "+", ":+"))
            changed = name != written or (operator != "" and not operator.startswith(_DEFAULTS))
            self._add(Variable(found[0], is_plain, changed, found[0][0] in _DIGITS and self._function != ""))
        else:
            self._add(None)

    def _skip(self, opening: str, closing: str, found: Open) -> None:
        """Pass over what is between brackets; the commands in it count."""
        pieces, self._pieces = self._pieces, []
        depth = 1
        while depth:
            character = self._text[self._at : self._at + 1]
            if character == "":
                raise UnreadError(found)
            if character in '\\"$`' or (character == "'" and closing == ")"):
                self._piece(character, quoted=False)
            elif character == "#" and closing == ")" and self._text[self._at - 1] in " \t\n":
                self._at = (self._text + "\n").find("\n", self._at)
            else:
                depth += (character == opening) - (character == closing)
                self._at += 1
        self._pieces = pieces

    def _add(self, piece: Piece) -> None:
        self._pieces = [] if self._pieces is None else self._pieces
        found = unmarked(piece) if isinstance(piece, str) and piece else [] if piece == "" else [piece]
        self._pieces.extend(Variable(one, plain=False) if _is_mark(one) else one for one in found)

    def _find(self, text: str, start: int, what: str, *, escapes: bool = False) -> int:
        found = start
        line = self._line_of(self._at)
        while (found := self._text.find(text, found)) >= 0:
            slashes = found
            while escapes and slashes > start and self._text[slashes - 1] == "\\":
                slashes -= 1
            if (found - slashes) % 2 == 0:
                return found
            found += 1
        raise UnreadError(Open(what, line))


def _is_mark(piece: Piece) -> TypeGuard[str]:
    return isinstance(piece, str) and is_mark(piece)


def merged(pieces: list[Piece]) -> Word:
    """A word in which characters beside each other are one piece."""
    merged: list[Piece] = []
    for one in pieces:
        if isinstance(one, str) and merged and isinstance(merged[-1], str):
            merged[-1] += one
        else:
            merged.append(one)
    return tuple(merged)
