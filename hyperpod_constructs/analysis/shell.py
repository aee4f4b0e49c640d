"""Scripts of a shell: their commands, with the variables that each word takes. They are read, and never executed.

A script that the reader does not understand, such as one with an open quote, has no commands. Marks, which stand for parts that
only the deployment knows, are variables of these names.

>>> [one.name for one in commands_of('test -d "$PLACE" && aws s3 cp a.sh "s3://$BUCKET/a.sh"') or ()]
['test', 'aws']

Source: https://www.gnu.org/software/bash/manual/bash.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple, TypeAlias, TypeGuard

from hyperpod_constructs.analysis.embedded import is_mark, unmarked
from hyperpod_constructs.templates.values import UNKNOWN, Reference, Text, Value, joined, parts_of

LONGEST = 1 << 16
_NAME = re.compile(r"[A-Za-z_]\w*")
_ASSIGNED = re.compile(r"([A-Za-z_]\w*)(?:\[[^\]]*\])?\+?=")
_LEADING = {
    *("!", "{", "}", "[[", "do", "done", "elif", "else", "esac", "fi", "if", "then", "time", "until", "while"),
    *("command", "env", "exec", "nohup", "sudo"),
}
"""Words before a command."""
_SETTING = ("declare", "export", "local", "mapfile", "read", "readarray", "readonly", "typeset", "unset")
_SOURCING = (".", "eval", "source")
"""Commands that may set any variable."""
_ENDS, _BLANKS = "\n;&|()", " \t\r"
_IN_QUOTES, _SPECIAL = '\\"$`', "\\'\"$`#<>" + _ENDS + _BLANKS
_DEEPEST = 8


class Variable(NamedTuple):
    """A variable in a word.

    :param plain: whether the script takes its value as it is, without another one for a variable that nobody sets.
    """

    name: str
    plain: bool


Piece: TypeAlias = "str | Variable | None"
"""A part of a word; `None` for one that only the run knows."""
Word: TypeAlias = tuple[Piece, ...]


class Command(NamedTuple):
    """A command.

    :param words: its name and its arguments.
    :param given: the assignments before it.
    :param read: what it takes besides, such as the places of its output and the text behind `<<`.
    :param guarded: whether the script goes on where it fails, by `||`.
    """

    words: tuple[Word, ...]
    given: tuple[tuple[str, Word], ...] = ()
    read: tuple[Word, ...] = ()
    guarded: bool = False

    @property
    def name(self) -> str:
        """The name of its program without the folder; empty if it is not known."""
        return plain(self.words[0]).rpartition("/")[2] if self.words else ""

    @property
    def arguments(self) -> tuple[Word, ...]:
        """The words behind its name."""
        return self.words[1:]


def plain(word: Word) -> str:
    """The characters of a word; empty if some of them are not known."""
    return "".join(str(one) for one in word) if all(isinstance(one, str) for one in word) else ""


def commands_of(text: str) -> tuple[Command, ...] | None:
    """The commands of a script in their order, those inside of others first; `None` if it is not understood, or very long."""
    reader = _Reader(text[:LONGEST])
    try:
        reader.read("")
    except (_UnreadError, RecursionError):
        return None
    return tuple(reader.commands) if len(text) <= LONGEST else None


def open_document(text: str) -> str | None:
    """The word that should end a text behind `<<` in a script, and that no line is; `None` for a script without such a text."""
    try:
        _Reader(text[:LONGEST]).read("")
    except (_UnreadError, RecursionError) as error:
        return str(error.args[0]) if isinstance(error, _UnreadError) and error.args else None
    return None


def variables_read(commands: tuple[Command, ...]) -> Iterator[Variable]:
    """The variables that commands take."""
    for one in commands:
        for word in (*one.words, *(value for _, value in one.given), *one.read):
            yield from (piece for piece in word if isinstance(piece, Variable))


def variables_set(commands: tuple[Command, ...]) -> Iterator[str]:
    """The names of variables that commands may set; a star for any."""
    for one in commands:
        yield from (name for name, _ in one.given)
        texts = [plain(word[:1]) for word in one.words]
        if one.name in _SOURCING or (one.name == "set" and any("a" in text for text in texts[1:] if text.startswith("-"))):
            yield "*"
        if one.name in (*_SETTING, "for", "getopts", "printf", "select"):
            yield from (found[0] for text in texts[1:] if (found := _NAME.match(text)) is not None)


def values_set(commands: tuple[Command, ...], variables: Mapping[str, Value]) -> dict[str, Value]:
    """Variables with those that commands set; one that is set twice, or in a way that only the run knows, is unknown."""
    values, said = dict(variables), set(variables)
    for one in commands:
        exported = [(found[1], word) for word in one.arguments if one.name in _SETTING and (found := _begun(word)) is not None]
        given = (*one.given, *((name, (plain(word[:1])[len(name) + 1 :], *word[1:])) for name, word in exported))
        for name, word in given if not one.words or exported else ():
            values[name] = UNKNOWN if name in said else value_of(word, values)
            said.add(name)
        if one.name in (*_SETTING, "for", "getopts", "printf", "select"):
            values |= {name: UNKNOWN for name in variables_set((one,)) if name not in dict(given)}
    return values


def _begun(word: Word) -> re.Match[str] | None:
    return _ASSIGNED.match(plain(word[:1]))


def value_of(word: Word, variables: Mapping[str, Value]) -> Value:
    """A word as a value; a variable that is not known is an unknown part."""
    found = [variables.get(one.name, UNKNOWN) if isinstance(one, Variable) else UNKNOWN if one is None else one for one in word]
    return joined(part for one in found for part in (parts_of(one) if isinstance(one, str | Text | Reference) else (UNKNOWN,)))


class _UnreadError(ValueError):
    """A script that is not understood."""


class _Reader:
    """Reads a script from its begin to its end, once."""

    def __init__(self, text: str) -> None:
        self._text, self._at, self._depth = text, 0, 0
        self.commands: list[Command] = []
        self._words: list[Word] = []
        self._read: list[Word] = []
        self._pieces: list[Piece] | None = None
        self._taken = False
        self._documents: list[tuple[str, bool, bool]] = []

    def read(self, end: str) -> None:
        """The commands up to a character, or to the end of the text."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise _UnreadError
        outer = self._words, self._read, self._pieces, self._taken
        self._words, self._read, self._pieces, self._taken = [], [], None, False
        while (character := self._text[self._at : self._at + 1]) != "" and (character != end or self._in_pattern()):
            self._one(character)
        if end and character == "":
            raise _UnreadError
        self._at += len(end)
        self._finish()
        self._words, self._read, self._pieces, self._taken = outer
        self._depth -= 1

    def _in_pattern(self) -> bool:
        """Whether a parenthesis belongs to a pattern of `case`."""
        return bool(self._words) and plain(self._words[0]) in ("case", "in")

    def _one(self, character: str) -> None:
        following = self._text[self._at + 1 : self._at + 2]
        if character in _BLANKS:
            self._end_word()
            self._at += 1
        elif character == "#" and self._pieces is None:
            self._at = (self._text + "\n").find("\n", self._at)
        elif character in "<>" or (character == "&" and following == ">"):
            self._redirect(character)
        elif character == "(":
            self._parenthesis()
        elif character in _ENDS:
            self._at += 1
            self._finish(guarded=character + following == "||")
            if character == "\n":
                self._here_documents()
        else:
            self._piece(character, quoted=False)

    def _piece(self, character: str, *, quoted: bool) -> None:
        """A character, a quote or a variable in a word."""
        if character == "\\":
            following = self._text[self._at + 1 : self._at + 2]
            kept = "\\" if quoted and following not in '$`"\\\n' else ""
            self._at += 2
            if following != "\n":
                self._add(kept + following)
        elif character == "'" and not quoted:
            end = self._find("'", self._at + 1)
            self._add(self._text[self._at + 1 : end])
            self._at = end + 1
        elif character == '"' and not quoted:
            self._at += 1
            self._quoted('"')
        elif character == "$":
            self._dollar()
        elif character == "`":
            end = self._find("`", self._at + 1)
            self._nested(self._text[self._at + 1 : end])
            self._at = end + 1
        else:
            special = _IN_QUOTES if quoted else _SPECIAL
            end = self._at + 1
            while end < len(self._text) and self._text[end] not in special:
                end += 1
            self._add(self._text[self._at : end])
            self._at = end

    def _quoted(self, end: str) -> None:
        self._add("")
        while (character := self._text[self._at : self._at + 1]) != end:
            if character == "":
                raise _UnreadError
            self._piece(character, quoted=True)
        self._at += len(end)

    def _dollar(self) -> None:
        rest = self._text[self._at + 1 : self._at + 3]
        found = _NAME.match(self._text, self._at + 1)
        if found is not None:
            self._add(Variable(found[0], plain=True))
            self._at = found.end()
        elif rest == "((":
            self._at = self._find("))", self._at) + 2
            self._add(None)
        elif rest[:1] == "(":
            self._at += 2
            self.read(")")
            self._add(None)
        elif rest[:1] == "{":
            self._braces()
        else:
            length = 1 if rest[:1] in {"", '"', " ", "/", ")", "\n"} else 2
            self._add("$" if length == 1 or rest[:1] == "'" else None)
            self._at += 1 if rest[:1] == "'" else length

    def _braces(self) -> None:
        """`${NAME}`, or one with an operator, whose text may have braces of its own."""
        start = self._at + 2
        depth, end = 1, start
        while depth:
            if end >= len(self._text):
                raise _UnreadError
            depth += {"{": 1, "}": -1}.get(self._text[end], 0)
            end += 1
        written = self._text[start : end - 1]
        found = _NAME.match(written.lstrip("#"))
        if found is not None and not written.startswith("!"):
            operator = written.lstrip("#")[found.end() :]
            self._add(Variable(found[0], plain=not operator.startswith(("-", ":-", "+", ":+", "=", ":=", "?", ":?"))))
            if operator:
                self._add(None)
        else:
            self._add(None)
        self._at = end

    def _nested(self, text: str) -> None:
        inner = commands_of(text)
        if inner is None:
            raise _UnreadError
        self.commands += inner
        self._add(None)

    def _parenthesis(self) -> None:
        self._at += 1
        last = self._pieces[-1] if self._pieces else None
        if isinstance(last, str) and last.endswith("="):  # a list
            end = self._find(")", self._at)
            self._at = end + 1
            self._add(None)
        elif self._pieces and self._text[self._at : self._at + 1] == ")":  # a function
            self._at += 1
            self._pieces, self._words = None, []
        else:
            self._finish()

    def _redirect(self, character: str) -> None:
        if self._pieces is not None and plain(tuple(self._pieces)).isdigit():
            self._pieces = None
        self._end_word()
        operator = re.compile(r"&?[<>]+[-&|]?").match(self._text, self._at)
        written = character if operator is None else operator[0]
        self._at += len(written)
        if self._text[self._at : self._at + 1] == "(" and written in ("<", ">"):
            self._at += 1
            self.read(")")
        elif written in ("<<", "<<-"):
            found = re.compile(r"[ \t]*(['\"\\]?)([\w.-]+)['\"]?").match(self._text, self._at)
            if found is None:
                raise _UnreadError
            self._documents.append((found[2], bool(found[1]), written.endswith("-")))
            self._at = found.end()
        else:
            self._taken = True

    def _here_documents(self) -> None:
        """The texts behind `<<` in the line that has just ended."""
        for name, quoted, indented in self._documents:
            body: list[str] = []
            while True:
                if self._at >= len(self._text):
                    raise _UnreadError(name)
                end = (self._text + "\n").find("\n", self._at)
                line, self._at = self._text[self._at : end], min(end + 1, len(self._text))
                if (line.lstrip("\t") if indented else line) == name:
                    break
                body.append(line)
            if not quoted:
                self._expanded("\n".join(body))
        self._documents = []

    def _expanded(self, text: str) -> None:
        """The variables and commands in a text that the shell fills."""
        inner = _Reader(text)
        inner._depth = self._depth
        while inner._at < len(text):
            inner._piece(text[inner._at], quoted=True)
        self.commands += (*inner.commands, Command((), read=(tuple(inner._pieces or ()),)))

    def _add(self, piece: Piece) -> None:
        self._pieces = [] if self._pieces is None else self._pieces
        found = unmarked(piece) if isinstance(piece, str) and piece else [] if piece == "" else [piece]
        self._pieces.extend(Variable(one, plain=False) if _is_mark(one) else one for one in found)

    def _end_word(self) -> None:
        if self._pieces is not None:
            (self._read if self._taken else self._words).append(_merged(self._pieces))
            self._taken = False
        self._pieces = None

    def _finish(self, *, guarded: bool = False) -> None:
        """The end of a command."""
        self._end_word()
        words, given = list(self._words), list[tuple[str, Word]]()
        while words and (plain(words[0]) in _LEADING or (found := _begun(words[0])) is not None):
            first = words.pop(0)
            found = _begun(first)
            if found is not None:
                given.append((found[1], (plain(first[:1])[found.end() :], *first[1:])))
        if words or given or self._read:
            self.commands.append(Command(tuple(words), tuple(given), tuple(self._read), guarded))
        self._words, self._read = [], []

    def _find(self, text: str, start: int) -> int:
        found = self._text.find(text, start)
        if found < 0:
            raise _UnreadError
        return found


def _is_mark(piece: Piece) -> TypeGuard[str]:
    return isinstance(piece, str) and is_mark(piece)


def _merged(pieces: list[Piece]) -> Word:
    """A word in which characters beside each other are one piece."""
    merged: list[Piece] = []
    for one in pieces:
        if isinstance(one, str) and merged and isinstance(merged[-1], str):
            merged[-1] += one
        else:
            merged.append(one)
    return tuple(merged)
