"""Reads scripts of a shell, once from the begin to the end: their commands, and what is open at the end. They are never executed.

Marks, which stand for parts that only the deployment knows, are variables of these names.

Source: https://www.gnu.org/software/bash/manual/bash.html
"""

from __future__ import annotations

import re
from typing import NamedTuple, TypeGuard

from hyperpod_constructs.analysis.embedded import is_mark, unmarked
from hyperpod_constructs.analysis.shell_words import NAME, Command, Piece, Variable, Word, assigned, plain

LONGEST = 1 << 16
_LEADING = {
    *("!", "{", "}", "[[", "do", "done", "elif", "else", "esac", "fi", "if", "then", "time", "until", "while"),
    *("command", "env", "exec", "nohup", "sudo"),
}
"""Words before a command."""
_BLOCKS = {"if": "fi", "case": "esac", "do": "done", "{": "}"}
_BRACKET, _CASE = "a bracket", "a block of case"
_NOTHING = ("!",)
"""A word that stands for a command in brackets."""
_OPTIONS_OF_SUDO = ("-C", "-D", "-g", "-h", "-p", "-R", "-T", "-U", "-u")
"""Options of `sudo` with a value."""
_ENDS, _BLANKS = "\n;&|()", " \t\r"
_IN_QUOTES, _SPECIAL = '\\"$`', "\\'\"$`#<>" + _ENDS + _BLANKS
_OPERATOR = re.compile(r"&?[<>]+[-&|]?")
_DOCUMENT = re.compile(r"[ \t]*(?:'([^'\n]+)'|\"([^\"\n]+)\"|(\\?)([\w.%@+-]+))")
_DEEPEST = 8


class Open(NamedTuple):
    """What is open at the end of a script.

    :param what: it, in words.
    :param line: the line in which it begins.
    :param end: the line that should end a text behind `<<`; empty for another thing.
    """

    what: str
    line: int
    end: str = ""


class ParsedScript(NamedTuple):
    """What a script says.

    :param commands: its commands in their order, those inside of others first; `None` if it is not understood, or very long.
    :param unended: what is open at its end, if that is known.
    """

    commands: tuple[Command, ...] | None
    unended: Open | None = None


def read_script(text: str) -> ParsedScript:
    """Read a script."""
    reader = _Reader(text[:LONGEST])
    try:
        reader.read("")
    except _UnreadError as error:
        return ParsedScript(None, error.unended if len(text) <= LONGEST else None)
    except RecursionError:
        return ParsedScript(None)
    if len(text) > LONGEST:
        return ParsedScript(None)
    return ParsedScript(tuple(reader.commands), reader.unended)


class _UnreadError(ValueError):
    """A script that is not understood.

    :param unended: what is open at its end, if that is the reason.
    """

    def __init__(self, unended: Open | None = None) -> None:
        super().__init__()
        self.unended = unended


class _Reader:
    """Reads a script from its begin to its end, once."""

    def __init__(self, text: str, line: int = 1) -> None:
        self._text, self._at, self._depth = text, 0, 0
        self._counted, self._line = 0, line
        self.commands: list[Command] = []
        self._words: list[Word] = []
        self._read: list[tuple[Word, bool]] = []
        """The words behind operators, each with whether it is a file that the command takes."""
        self._pieces: list[Piece] | None = None
        self._taken = ""
        """The operator before a word."""
        self._documents: list[tuple[str, bool, bool, int]] = []
        self._blocks: list[Open] = []
        """The blocks that are open, in words."""
        self._pattern = False
        """Whether a pattern of `case` comes next."""
        self._free = True
        """Whether nothing before a command decides whether it runs."""

    @property
    def unended(self) -> Open | None:
        """The block that is open at the end."""
        return self._blocks[-1] if self._blocks else None

    def read(self, end: str, what: str = "") -> None:
        """The commands up to a character, or to the end of the text.

        :param what: what the character ends, in words.
        """
        start = self._line_of(self._at)
        self._depth += 1
        if self._depth > _DEEPEST:
            raise _UnreadError
        outer = self._words, self._read, self._pieces, self._taken, self._blocks, self._pattern, self._free
        self._words, self._read, self._pieces, self._taken, self._blocks, self._pattern = [], [], None, "", [], False
        self._free = not end
        while (character := self._text[self._at : self._at + 1]) != "" and (character != end or self._is_inner()):
            self._one(character)
        if end and character == "":
            raise _UnreadError(Open(what, start))
        self._at += len(end)
        self._finish("\n")
        if end:
            self._words, self._read, self._pieces, self._taken, self._blocks, self._pattern, self._free = outer
        self._depth -= 1

    def _is_inner(self) -> bool:
        """Whether a closing parenthesis belongs to a pattern of `case`, or to a bracket inside."""
        of_pattern = (
            self._pattern and plain(tuple(self._pieces or ())) != "esac" and [plain(one) for one in self._words] != ["esac"]
        )
        return of_pattern or self._is_case() or (bool(self._blocks) and self._blocks[-1].what == _BRACKET)

    def _is_case(self) -> bool:
        """Whether the words so far are the begin of `case`."""
        place = next((place for place, one in enumerate(self._words) if plain(one) not in _LEADING), 0)
        return [plain(one) for one in self._words[place : place + 3 : 2]] == ["case", "in"]

    def _line_of(self, position: int) -> int:
        """The line of a position, which grows from call to call."""
        if position > self._counted:
            self._line += self._text.count("\n", self._counted, position)
            self._counted = position
        return self._line

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
        elif character == ")":
            self._close()
        elif character in _ENDS:
            double = self._text[self._at : self._at + 2] in ("&&", "||", ";;", "|&")
            self._finish(character + following if double else character)
            self._at += 2 if double else 1
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
                raise _UnreadError(Open("a quote", start))
            self._piece(character, quoted=True)
        self._at += 1

    def _dollar(self, *, quoted: bool) -> None:
        rest = self._text[self._at + 1 : self._at + 3]
        found = NAME.match(self._text, self._at + 1)
        if found is not None:
            self._add(Variable(found[0], plain=True))
            self._at = found.end()
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
        found = NAME.match(written.lstrip("#"))
        if found is not None and not written.startswith("!"):
            operator = written.lstrip("#")[found.end() :]
            self._add(Variable(found[0], plain=not operator.startswith(("-", ":-", "+", ":+", "=", ":=", "?", ":?"))))
            if operator:
                self._add(None)
        else:
            self._add(None)

    def _skip(self, opening: str, closing: str, found: Open) -> None:
        """Pass over what is between brackets; the commands in it count."""
        pieces, self._pieces = self._pieces, []
        depth = 1
        while depth:
            character = self._text[self._at : self._at + 1]
            if character == "":
                raise _UnreadError(found)
            if character in '\\"$`' or (character == "'" and closing == ")"):
                self._piece(character, quoted=False)
            elif character == "#" and closing == ")" and self._text[self._at - 1] in " \t\n":
                self._at = (self._text + "\n").find("\n", self._at)
            else:
                depth += (character == opening) - (character == closing)
                self._at += 1
        self._pieces = pieces

    def _nested(self, text: str) -> None:
        inner = _Reader(text, self._line_of(self._at))
        inner._depth = self._depth
        inner.read("")
        self.commands += (one._replace(alone=False) for one in inner.commands)
        self._add(None)

    def _parenthesis(self) -> None:
        last = self._pieces[-1] if self._pieces else None
        if self._text.startswith("((", self._at) and self._pieces is None:  # arithmetic
            self._at = self._find("))", self._at, "arithmetic") + 2
            self._add(None)
            return
        line = self._line_of(self._at)
        self._at += 1
        if isinstance(last, str) and last.endswith("="):  # a list
            self._skip("", ")", Open(_BRACKET, line))
            self._add(None)
        elif self._pieces and self._text[self._at : self._at + 1] == ")":  # a function
            self._at += 1
            self._pieces, self._words = None, []
        elif not (self._pattern and not self._words and self._pieces is None):
            self._finish("(")
            self._blocks.append(Open(_BRACKET, line))

    def _close(self) -> None:
        """A closing parenthesis: of a pattern of `case`, or of a bracket."""
        self._at += 1
        self._end_word()
        if self._is_case():
            self._begin_case()
        if self._pattern:
            self._words, self._read, self._pattern, self._free = [], [], False, False
            return
        self._finish(")")
        if self._blocks and self._blocks[-1].what == _BRACKET:
            self._blocks.pop()
        self._words = [_NOTHING]

    def _redirect(self, character: str) -> None:
        if self._pieces is not None and plain(tuple(self._pieces)).isdigit():
            self._pieces = None
        self._end_word()
        operator = _OPERATOR.match(self._text, self._at)
        written = character if operator is None else operator[0]
        line = self._line_of(self._at)
        self._at += len(written)
        if self._text[self._at : self._at + 1] == "(" and written in ("<", ">"):
            self._at += 1
            self.read(")", "a command in brackets")
        elif written in ("<<", "<<-"):
            found = _DOCUMENT.match(self._text, self._at)
            if found is None:
                raise _UnreadError
            end = found[1] or found[2] or found[4]
            self._documents.append((end, not (found[4] and not found[3]), written.endswith("-"), line))
            self._at = found.end()
        else:
            self._taken = written

    def _here_documents(self) -> None:
        """The texts behind `<<` in the line that has just ended."""
        for one in self._documents:
            end, quoted, indented, _ = one
            body: list[str] = []
            line = self._line_of(self._at)
            while True:
                if self._at >= len(self._text):
                    raise _UnreadError(_of_document(one))
                stop = (self._text + "\n").find("\n", self._at)
                found, self._at = self._text[self._at : stop], min(stop + 1, len(self._text))
                if (found.lstrip("\t") if indented else found) == end:
                    break
                body.append(found)
            if quoted:
                self.commands.append(Command((), read=(("\n".join(body),),), line=line, literal=True))
            else:
                self._expanded("\n".join(body), line)
        self._documents = []

    def _expanded(self, text: str, line: int) -> None:
        """The text behind `<<` that the shell fills, right behind the command that takes it, and the commands in it."""
        inner = _Reader(text, line)
        inner._depth = self._depth
        while inner._at < len(text):
            inner._piece(text[inner._at], quoted=True)
        self.commands += (Command((), read=(tuple(inner._pieces or ()),), line=line), *inner.commands)

    def _add(self, piece: Piece) -> None:
        self._pieces = [] if self._pieces is None else self._pieces
        found = unmarked(piece) if isinstance(piece, str) and piece else [] if piece == "" else [piece]
        self._pieces.extend(Variable(one, plain=False) if _is_mark(one) else one for one in found)

    def _end_word(self) -> None:
        if self._pieces is not None:
            word = _merged(self._pieces)
            if self._taken:
                self._read.append((word, self._taken == "<"))
            else:
                self._words.append(word)
            self._taken = ""
        self._pieces = None

    def _finish(self, end: str) -> None:
        """The end of a command, by a character or two."""
        self._end_word()
        words, given = list(self._words), list[tuple[str, Word]]()
        if self._pattern and not (words and plain(words[0]) == "esac"):
            self._words, self._read = [], []
            return
        if self._is_case():
            self._begin_case()
            words = []
        last = False
        while words and (plain(words[0]) in _LEADING or assigned(words[0]) is not None):
            first = words.pop(0)
            found, name = assigned(first), plain(first)
            if found is not None:
                given.append((found[1], (plain(first[:1])[found.end() :], *first[1:])))
            elif name == "sudo":
                _drop_options(words)
            last = last or (name == "exec" and bool(words))
            self._turn(name)
        if words and plain(words[0]) == "function" and plain(words[-1]) == "{":
            self._turn("{")
            words = []
        if words or given or self._read:
            alone = self._free and not self._blocks and self._depth == 1 and end in ("\n", ";", "&&", "||")
            line, ends = self._line_of(self._at), last or bool(words and plain(words[0]) in ("exit", "return"))
            read, files = (word for word, _ in self._read), (word for word, is_file in self._read if is_file)
            self.commands.append(
                Command(tuple(words), tuple(given), tuple(read), end == "||", line, alone, ends, files=tuple(files))
            )
        if self._words or end != "\n":
            self._free = end in ("\n", ";", ";;")
        self._pattern = self._pattern or (end == ";;" and self.unended is not None and self._blocks[-1].what == _CASE)
        self._words, self._read = [], []

    def _begin_case(self) -> None:
        self._blocks.append(Open(_CASE, self._line_of(self._at)))
        self._words, self._pattern = [], True

    def _turn(self, word: str) -> None:
        """A word that begins or ends a block."""
        if word in _BLOCKS:
            self._blocks.append(Open(f"a block of {word}", self._line_of(self._at)))
        opener = next((one for one, end in _BLOCKS.items() if end == word), None)
        if opener is not None and self._blocks and self._blocks[-1].what == f"a block of {opener}":
            self._blocks.pop()
            self._pattern = False

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
        raise _UnreadError(Open(what, line))


def _of_document(document: tuple[str, bool, bool, int]) -> Open:
    end, _, _, line = document
    return Open(f"a text for a command up to {end}", line, end)


def _drop_options(words: list[Word]) -> None:
    """Take the options of `sudo` away from the words behind it."""
    while words and plain(words[0]).startswith("-"):
        one = plain(words.pop(0))
        if one in _OPTIONS_OF_SUDO and words:
            words.pop(0)


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
