"""Reads scripts of a shell, once from the begin to the end: their commands, and what is open at the end. They are never executed.

Marks, which stand for parts that only the deployment knows, are variables of these names.

Source: https://www.gnu.org/software/bash/manual/bash.html
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple, TypeGuard

from hyperpod_constructs.analysis.embedded import is_mark, unmarked
from hyperpod_constructs.analysis.shell_words import (
    NAME,
    POSITION,
    Arm,
    Case,
    Command,
    Piece,
    Redirection,
    Variable,
    Word,
    assigned,
    plain,
)

LONGEST = 1 << 16
_LEADING = {
    *("!", "{", "}", "[[", "do", "done", "elif", "else", "esac", "fi", "if", "then", "time", "until", "while"),
    *("command", "env", "exec", "nohup", "sudo"),
}
"""Words before a command."""
_BLOCKS = {"if": "fi", "case": "esac", "do": "done", "{": "}"}
_BRACKET, _CASE = "a bracket", "a block of case"
_ENDS_OF_PARTS = (";;", ";&")
"""Ends of the parts of `case`."""
_UNNAMED = "?"
"""Stands for a function whose name is not known."""
_DIGITS, _DEFAULTS = "123456789", ("-", ":-", "=", ":=", "?", ":?")
"""Begins of numbers of arguments, and of operators that leave the value of a variable which has one."""
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
    :param function: the function in which it stands, or which it is.
    """

    what: str
    line: int
    end: str = ""
    function: str = ""


class ParsedScript(NamedTuple):
    """What a script says.

    :param commands: its commands in their order, those inside of others first; `None` if it is not understood, or very long.
    :param unended: what is open at its end, if that is known.
    :param cases: its blocks of `case`, those inside of others first.
    """

    commands: tuple[Command, ...] | None
    unended: Open | None = None
    cases: tuple[Case, ...] = ()


@lru_cache(maxsize=256)
def read_script(text: str) -> ParsedScript:
    """Read a script, once for all that ask."""
    reader = _Reader(text[:LONGEST])
    try:
        reader.read("")
    except _UnreadError as error:
        return ParsedScript(None, error.unended if len(text) <= LONGEST else None)
    except RecursionError:
        return ParsedScript(None)
    if len(text) > LONGEST:
        return ParsedScript(None)
    return ParsedScript(tuple(reader.commands), reader.unended, tuple(reader.cases))


class _Document(NamedTuple):
    """The begin of a text behind `<<`.

    :param end: the line that ends it.
    :param filled: whether the shell puts the values of variables into it.
    :param indented: whether tabs before its lines do not count.
    """

    end: str
    filled: bool
    indented: bool
    line: int
    function: str


@dataclass(slots=True)
class _OpenCase:
    """A block of `case` that is not yet read to its end.

    :param start: how many commands there are before it.
    :param patterns: those of the part that is read now.
    :param part: how many commands there are before this part.
    :param sure: its commands about which nothing decides.
    """

    word: Word
    line: int
    alone: bool
    start: int
    patterns: list[Word]
    part: int
    arms: list[Arm] = field(default_factory=list)
    sure: list[Command] = field(default_factory=list)

    def end_part(self, place: int) -> None:
        """The end of a part, before the command at a place."""
        if self.patterns:
            self.arms.append(Arm(tuple(self.patterns), range(self.part, place), tuple(self.sure)))
        self.patterns, self.sure = [], []


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
        self.cases: list[Case] = []
        self._words: list[Word] = []
        self._redirected: list[Redirection] = []
        self._pieces: list[Piece] | None = None
        self._taken = ""
        """The operator before the next word, if that is no word of the command."""
        self._documents: list[_Document] = []
        self._open_cases: list[_OpenCase] = []
        self._named, self._outer = "", ""
        """The function whose body comes next, and the one around what is read."""
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

    @property
    def _function(self) -> str:
        """The function in which the next command stands, or whose body comes next."""
        return self._named or (self._blocks[-1].function if self._blocks else self._outer)

    def read(self, end: str, what: str = "") -> None:
        """The commands up to a character, or to the end of the text.

        :param what: what the character ends, in words.
        """
        start = self._line_of(self._at)
        self._depth += 1
        if self._depth > _DEEPEST:
            raise _UnreadError
        outer = self._words, self._redirected, self._pieces, self._taken, self._blocks, self._pattern, self._free
        functions, cases = (self._named, self._outer), self._open_cases
        self._named, self._outer, self._open_cases = "", self._function, []
        self._words, self._redirected, self._pieces, self._taken, self._blocks, self._pattern = [], [], None, "", [], False
        self._free = not end
        while (character := self._text[self._at : self._at + 1]) != "" and (character != end or self._is_inner()):
            self._one(character)
        if end and character == "":
            raise _UnreadError(Open(what, start))
        self._at += len(end)
        self._finish("\n")
        if end:
            self._words, self._redirected, self._pieces, self._taken, self._blocks, self._pattern, self._free = outer
            (self._named, self._outer), self._open_cases = functions, cases
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
            double = self._text[self._at : self._at + 2] in ("&&", "||", ";;", ";&", "|&")
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
        elif rest[:1] in _DIGITS and rest:
            self._add(Variable(rest[:1], plain=True, own=bool(self._function)))
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
        inner._depth, inner._outer = self._depth, self._function
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
        elif (self._pieces or self._is_name()) and self._text[self._at : self._at + 1] == ")":  # a function
            self._at += 1
            self._end_word()
            self._named = plain((self._words or [()])[-1]) or _UNNAMED
            self._words = []
        elif self._is_case() and self._pieces is None:
            self._begin_case()
        elif not (self._pattern and not self._words and self._pieces is None):
            self._finish("(")
            self._open(_BRACKET, line)

    def _is_name(self) -> bool:
        """Whether the words so far are one, which may be the name of a function."""
        return self._pieces is None and len(self._words) == 1 and NAME.fullmatch(plain(self._words[0])) is not None

    def _open(self, what: str, line: int) -> None:
        """The begin of a block."""
        self._blocks.append(Open(what, line, function=self._function))
        self._named = ""

    def _close(self) -> None:
        """A closing parenthesis: of a pattern of `case`, or of a bracket."""
        self._at += 1
        self._end_word()
        if self._is_case():
            self._begin_case()
        if self._pattern:
            self._add_patterns()
            self._words, self._redirected, self._pattern, self._free = [], [], False, True
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
            is_filled = bool(found[4] and not found[3])
            self._documents.append(_Document(end, is_filled, written.endswith("-"), line, self._function))
            self._at = found.end()
        else:
            self._taken = written

    def _here_documents(self) -> None:
        """The texts behind `<<` in the line that has just ended."""
        for one in self._documents:
            body: list[str] = []
            line = self._line_of(self._at)
            while True:
                if self._at >= len(self._text):
                    raise _UnreadError(_of_document(one))
                stop = (self._text + "\n").find("\n", self._at)
                found, self._at = self._text[self._at : stop], min(stop + 1, len(self._text))
                if (found.lstrip("\t") if one.indented else found) == one.end:
                    break
                body.append(found)
            if one.filled:
                self._expanded("\n".join(body), line, one.function)
            else:
                self.commands.append(Command((), read=(("\n".join(body),),), line=line, literal=True, function=one.function))
        self._documents = []

    def _expanded(self, text: str, line: int, function: str) -> None:
        """The text behind `<<` that the shell fills, right behind the command that takes it, and the commands in it."""
        inner = _Reader(text, line)
        inner._depth, inner._outer = self._depth, function
        while inner._at < len(text):
            inner._piece(text[inner._at], quoted=True)
        self.commands += (Command((), read=(tuple(inner._pieces or ()),), line=line, function=function), *inner.commands)

    def _add(self, piece: Piece) -> None:
        self._pieces = [] if self._pieces is None else self._pieces
        found = unmarked(piece) if isinstance(piece, str) and piece else [] if piece == "" else [piece]
        self._pieces.extend(Variable(one, plain=False) if _is_mark(one) else one for one in found)

    def _end_word(self) -> None:
        if self._pieces is not None:
            word = _merged(self._pieces)
            if self._taken:
                self._redirected.append(Redirection(self._taken, word))
            else:
                self._words.append(word)
            if len(self._words) == 2 and plain(self._words[0]) == "function":
                self._named = plain(self._words[1]) or _UNNAMED
            self._taken = ""
        self._pieces = None

    def _finish(self, end: str) -> None:
        """The end of a command, by a character or two."""
        self._end_word()
        words, given = list(self._words), list[tuple[str, Word]]()
        if self._pattern and not (words and plain(words[0]) == "esac"):
            self._add_patterns()
            self._words, self._redirected = [], []
            return
        if self._is_case():
            self._begin_case()
            words = []
        last = False
        if words and plain(words[0]) == "function":
            words = words[2:]
        while words and (plain(words[0]) in _LEADING or assigned(words[0]) is not None):
            first = words.pop(0)
            found, name = assigned(first), plain(first)
            if found is not None:
                given.append((found[1], (plain(first[:1])[found.end() :], *first[1:])))
            elif name == "sudo":
                _drop_options(words)
            last = last or (name == "exec" and bool(words))
            self._turn(name)
        if words or given or self._redirected:
            alone = self._is_alone() and end in ("\n", ";", "&&", "||")
            line, ends = self._line_of(self._at), last or bool(words and plain(words[0]) in ("exit", "return"))
            read = tuple(one.place for one in self._redirected)
            command = Command(tuple(words), tuple(given), read, end == "||", line, alone, ends)
            piped = end in ("|", "|&")
            self.commands.append(command._replace(redirected=tuple(self._redirected), piped=piped, function=self._function))
            if self._free and self._is_in_case() and end in ("\n", ";", *_ENDS_OF_PARTS):
                self._open_cases[-1].sure.append(self.commands[-1])
        if self._words or end != "\n":
            self._free = end in ("\n", ";", *_ENDS_OF_PARTS)
        if end in _ENDS_OF_PARTS and self._is_in_case():
            self._end_part()
            self._pattern = True
        self._words, self._redirected = [], []

    def _is_alone(self) -> bool:
        """Whether nothing decides about a command that begins here."""
        return self._free and not self._blocks and self._depth == 1

    def _begin_case(self) -> None:
        """The begin of a block of `case`, maybe with the first patterns behind it."""
        line, place = self._line_of(self._at), next((at for at, one in enumerate(self._words) if plain(one) == "case"), 0)
        word, patterns = self._words[place + 1], self._words[place + 3 :]
        start = len(self.commands)
        self._open_cases.append(_OpenCase(word, line, self._is_alone(), start, patterns, start))
        self._open(_CASE, line)
        self._words, self._pattern = [], True

    def _add_patterns(self) -> None:
        """Patterns of a part of `case`, whose commands come next."""
        if self._open_cases:
            self._open_cases[-1].patterns += self._words
            self._open_cases[-1].part = len(self.commands)

    def _is_in_case(self) -> bool:
        """Whether no block is open in the part of `case` that is read."""
        return bool(self._blocks and self._open_cases) and self._blocks[-1].what == _CASE

    def _end_part(self) -> None:
        if self._open_cases:
            self._open_cases[-1].end_part(len(self.commands))

    def _end_case(self) -> None:
        self._end_part()
        if self._open_cases:
            one = self._open_cases.pop()
            self.cases.append(Case(one.word, one.line, one.alone, tuple(one.arms), range(one.start, len(self.commands))))

    def _turn(self, word: str) -> None:
        """A word that begins or ends a block."""
        if word in _BLOCKS:
            self._open(f"a block of {word}", self._line_of(self._at))
        opener = next((one for one, end in _BLOCKS.items() if end == word), None)
        if opener is not None and self._blocks and self._blocks[-1].what == f"a block of {opener}":
            self._blocks.pop()
            self._pattern = False
            if word == "esac":
                self._end_case()

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


def _of_document(document: _Document) -> Open:
    return Open(f"a text for a command up to {document.end}", document.line, document.end)


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
