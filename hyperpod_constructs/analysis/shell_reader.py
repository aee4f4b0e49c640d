"""Reads scripts of a shell, once from the begin to the end: their commands, and what is open at the end. They are never executed.

Marks, which stand for parts that only the deployment knows, are variables of these names.

Source: https://www.gnu.org/software/bash/manual/bash.html
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from hyperpod_constructs.analysis.own_folders import with_own_folder
from hyperpod_constructs.analysis.shell_word_reader import BLANKS, ENDS, Open, UnreadError, WordReader, merged
from hyperpod_constructs.analysis.shell_words import (
    NAME,
    PREFIXES,
    Arm,
    Case,
    Command,
    Redirection,
    Word,
    assigned,
    drop_options,
    plain,
)

LONGEST = 1 << 16
_LEADING = {
    *("!", "{", "}", "[[", "do", "done", "elif", "else", "esac", "fi", "if", "then", "time", "until", "while"),
    *PREFIXES,
}
"""Words before a command."""
_BLOCKS = {"if": "fi", "case": "esac", "do": "done", "{": "}"}
_BRACKET, _CASE, _BODY = "a bracket", "a block of case", "a block of {"
_ENDS_OF_PARTS = (";;", ";&")
"""Ends of the parts of `case`."""
_UNNAMED = "?"
"""Stands for a function whose name is not known."""
_NOTHING = ("!",)
"""A word that stands for a command in brackets."""
_OPERATOR = re.compile(r"&?[<>]+[-&|]?")
_DOCUMENT = re.compile(r"[ \t]*(?:'([^'\n]+)'|\"([^\"\n]+)\"|(\\?)([\w.%@+-]+))")
_DEEPEST = 8


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
    reader = _Reader(with_own_folder(text[:LONGEST]))
    try:
        reader.read("")
    except UnreadError as error:
        return ParsedScript(None, error.unended if len(text) <= LONGEST else None)
    except RecursionError:
        return ParsedScript(None)
    if len(text) > LONGEST:
        return ParsedScript(None)
    return ParsedScript(tuple(_with_texts(one, reader.texts) for one in reader.commands), reader.unended, tuple(reader.cases))


def _with_texts(command: Command, texts: Mapping[Word, Redirection]) -> Command:
    """A command with its texts behind `<<`."""
    if all(one.operator != "<<" for one in command.redirected):
        return command
    return command._replace(redirected=tuple(texts[one.place] if one.operator == "<<" else one for one in command.redirected))


class _Document(NamedTuple):
    """The begin of a text behind `<<`.

    :param sign: the word that stands for it until it is read.
    :param end: the line that ends it.
    :param filled: whether the shell puts the values of variables into it.
    :param indented: whether tabs before its lines do not count.
    """

    sign: Word
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


class _Reader(WordReader):
    """Reads a script from its begin to its end, once."""

    def __init__(self, text: str, line: int = 1) -> None:
        super().__init__(text, line)
        self.commands: list[Command] = []
        self.cases: list[Case] = []
        self._words: list[Word] = []
        self._redirected: list[Redirection] = []
        self._taken: Redirection | None = None
        """What the next word is, if that is no word of the command."""
        self._documents: list[_Document] = []
        self.texts: dict[Word, Redirection] = {}
        """The texts behind `<<`, by the words that stand for them in commands."""
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
            raise UnreadError
        outer = self._words, self._redirected, self._pieces, self._taken, self._blocks, self._pattern, self._free
        functions, cases = (self._named, self._outer), self._open_cases
        self._named, self._outer, self._open_cases = "", self._function, []
        self._words, self._redirected, self._pieces, self._taken, self._blocks, self._pattern = [], [], None, None, [], False
        self._free = not end
        while (character := self._text[self._at : self._at + 1]) != "" and (character != end or self._is_inner()):
            self._one(character)
        if end and character == "":
            raise UnreadError(Open(what, start))
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

    def _one(self, character: str) -> None:
        following = self._text[self._at + 1 : self._at + 2]
        if character in BLANKS:
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
        elif character in ENDS:
            double = self._text[self._at : self._at + 2] in ("&&", "||", ";;", ";&", "|&")
            self._finish(character + following if double else character)
            self._at += 2 if double else 1
            if character == "\n":
                self._here_documents()
        else:
            self._piece(character, quoted=False)

    def _nested(self, text: str) -> None:
        inner = self._inner(text, self._line_of(self._at), self._function)
        inner.read("")
        self.commands += (one._replace(alone=False, steady=False) for one in inner.commands)
        self._add(None)

    def _inner(self, text: str, line: int, function: str) -> _Reader:
        inner = _Reader(text, line)
        inner._depth, inner._outer, inner.texts = self._depth, function, self.texts
        return inner

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
        number = plain(tuple(self._pieces or ()))
        if number.isdigit():
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
                raise UnreadError
            end = found[1] or found[2] or found[4]
            is_filled = bool(found[4] and not found[3])
            sign: Word = (str(len(self.texts)),)
            self.texts[sign] = Redirection("<<", ())
            self._redirected.append(Redirection("<<", sign))
            self._documents.append(_Document(sign, end, is_filled, written.endswith("-"), line, self._function))
            self._at = found.end()
        else:
            self._taken = Redirection(written, (), of_output=not number.isdigit() or number == "1")

    def _here_documents(self) -> None:
        """The texts behind `<<` in the line that has just ended."""
        for one in self._documents:
            body: list[str] = []
            line = self._line_of(self._at)
            while True:
                if self._at >= len(self._text):
                    raise UnreadError(_of_document(one))
                stop = (self._text + "\n").find("\n", self._at)
                found, self._at = self._text[self._at : stop], min(stop + 1, len(self._text))
                found = found.lstrip("\t") if one.indented else found
                if found == one.end:
                    break
                body.append(f"{found}\n")
            self.texts[one.sign] = Redirection("<<", self._filled("".join(body), line, one), line, literal=not one.filled)
        self._documents = []

    def _filled(self, text: str, line: int, document: _Document) -> Word:
        """A text behind `<<`, in which the shell may fill in variables and commands; these come behind the one that takes it."""
        inner = self._inner(text, line, document.function)
        if not document.filled:
            inner._add(text)
        while document.filled and inner._at < len(text):
            inner._piece(text[inner._at], quoted=True)
        self.commands += inner.commands
        return merged(inner._pieces or [])

    def _end_word(self) -> None:
        if self._pieces is not None:
            word = merged(self._pieces)
            if self._taken is not None:
                self._redirected.append(self._taken._replace(place=word))
            else:
                self._words.append(word)
            if len(self._words) == 2 and plain(self._words[0]) == "function":
                self._named = plain(self._words[1]) or _UNNAMED
            self._taken = None
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
            elif name in PREFIXES:
                drop_options(words, name)
            last = last or (name == "exec" and bool(words))
            self._turn(name)
        if words or given or self._redirected:
            steady = self._is_steady() and end in ("\n", ";", "&&", "||")
            alone = steady and not self._blocks
            line, ends = self._line_of(self._at), last or bool(words and plain(words[0]) in ("exit", "return"))
            taken, piped = tuple(self._redirected), end in ("|", "|&")
            self.commands.append(
                Command(tuple(words), tuple(given), end == "||", line, alone, steady, ends, taken, piped, self._function)
            )
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
        return self._is_steady() and not self._blocks

    def _is_steady(self) -> bool:
        """Whether nothing in its function decides about a command that begins here."""
        body = len(self._blocks) == 1 and self._blocks[0].what == _BODY and self._blocks[0].function != ""
        return self._free and (not self._blocks or body) and self._depth == 1

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


def _of_document(document: _Document) -> Open:
    return Open(f"a text for a command up to {document.end}", document.line, document.end)
