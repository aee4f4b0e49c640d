"""Scripts for a shell: they are read, and never run.

What is known is what any shell of the family of `sh` fails at: lines of Windows, a quote or a text for a command that never ends, a
block that is open at the end, and a failure at the end of every way through the script.

Source: https://pubs.opengroup.org/onlinepubs/9799919799/utilities/V3_chap02.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_SHELL = re.compile(r"#!\s*(?:/usr)?/bin/(?:env\s+)?(?:ba|da|k|z)?sh\b")
_HEREDOC = re.compile(r"<<(-?)\s*(?:'([^'\n]+)'|\"([^\"\n]+)\"|\\?([\w.%@+-]+))")
_WORD = re.compile(r"[^\s;&|()<>\"'`$\\#]+")
_OPENERS = {"if": "fi", "case": "esac", "do": "done", "{": "}"}
_BEFORE_COMMANDS = frozenset({"", "then", "do", "else", "elif", "if", "while", "until", "!", "{", "time"})
"""Words behind which a command begins, as at the begin of a line."""
_FAILING = re.compile(r"[1-9]\d*")


@dataclass
class Script:
    """What a script is made of.

    :param unended: what is open at the end, with its line.
    :param failing: the line of a failure that nothing but lines before it can keep from happening.
    """

    unended: tuple[str, int] | None = None
    failing: int | None = None
    commands: list[tuple[int, list[str]]] = field(default_factory=list)


def is_shell(text: str) -> bool:
    """Whether a shell runs a script."""
    return _SHELL.match(text) is not None


def mistakes_in_script(text: str) -> Iterator[tuple[str, str]]:
    """Why a script surely fails, in words, and what is right: one reason."""
    first = text.split("\n", 1)[0]
    if first.endswith("\r"):
        yield "has a carriage return behind its first line, so its program is not found", "lines that end with a line feed"
        return
    found = read_script(text)
    if found.unended is not None:
        what, line = found.unended
        yield f"has {what} in line {line} that never ends", "a script that its shell can read"
    elif found.failing is not None:
        yield f"ends with a failure in line {found.failing}, whatever happened before", "a way through the script that ends well"


def read_script(text: str) -> Script:
    """Read a script."""
    return _Reader(text).read()


class _Reader:
    """A script, and how far it is read."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._found = Script()
        self._waiting: list[tuple[str, bool, int]] = []
        """The ends of texts for commands that begin in the next line, whether tabs before them count, and their lines."""
        self._open: list[tuple[str, int]] = []
        self._words: list[str] = []
        self._plain = True
        """Whether the command at hand stands alone: nothing before it decides whether it runs."""

    def read(self) -> Script:
        while self._found.unended is None and self._at < len(self._text):
            self._step()
        self._ends_command("\n")
        if self._found.unended is None and self._open:
            self._found.unended = self._open[-1]
        return self._found

    def _line(self, position: int | None = None) -> int:
        return self._text.count("\n", 0, self._at if position is None else position) + 1

    def _step(self) -> None:
        text, at = self._text, self._at
        character = text[at]
        if character == "\n":
            self._ends_command("\n")
            self._at += 1
            self._skip_texts()
        elif character == "\\":
            self._at += 2
        elif character == "#" and (at == 0 or text[at - 1] in " \t\n;&|()"):
            self._at = _find(text, "\n", at)
        elif character in "'\"`$":
            self._words.append("?")
            self._skip_quoted()
        elif text.startswith("((", at):
            self._skip_to("))", "arithmetic")
        elif character == "<" and text.startswith("<<<", at):
            self._at += 3
        elif character == "<" and (match := _HEREDOC.match(text, at)):
            self._waiting.append((match[2] or match[3] or match[4], match[1] == "-", self._line()))
            self._at = match.end()
        elif character in ";&|":
            double = text[at : at + 2] in ("&&", "||", ";;")
            redirects = character == "&" and (text[at - 1 : at] in "<>" or text[at + 1 : at + 2] == ">")
            if not redirects:
                self._ends_command(text[at : at + 2] if double else character)
            self._at += 2 if double else 1
        elif character in "()":
            self._bracket(character)
        elif match := _WORD.match(text, at):
            self._word(match[0])
            self._at = match.end()
        else:
            self._at += 1

    def _bracket(self, character: str) -> None:
        in_case = bool(self._open) and self._open[-1][0] == "a block of case"
        if character == "(" and not (in_case and not self._words):
            self._open.append(("a bracket", self._line()))
        elif character == ")" and self._open and self._open[-1][0] == "a bracket":
            self._open.pop()
        self._ends_command("(")
        self._at += 1

    def _word(self, word: str) -> None:
        begins = not self._words or self._words[-1] in _BEFORE_COMMANDS
        if begins and word in _OPENERS:
            self._open.append((f"a block of {word}", self._line()))
        elif begins and word in _OPENERS.values() and self._open:
            opener = next(key for key, end in _OPENERS.items() if end == word)
            if self._open[-1][0] == f"a block of {opener}":
                self._open.pop()
        self._words.append(word)

    def _ends_command(self, by: str) -> None:
        words = self._words
        if words:
            self._found.commands.append((self._line(), words))
        fails = len(words) == 2 and words[0] == "exit" and _FAILING.fullmatch(words[1])
        if fails and self._plain and not self._open and by in ("\n", ";") and not self._may_have_ended():
            self._found.failing = self._line()
        if words or by != "\n":
            self._plain = by in ("\n", ";")
        self._words = []

    def _may_have_ended(self) -> bool:
        """Whether a command before the last one may have ended the script."""
        before = self._found.commands[:-1]
        return any("exit" in words or "return" in words or ("exec" in words and words[-1] != "exec") for _, words in before)

    def _skip_texts(self) -> None:
        """Skip the texts for the commands of a line."""
        for end, tabs, line in self._waiting:
            while self._at < len(self._text):
                stop = _find(self._text, "\n", self._at)
                content = self._text[self._at : stop]
                self._at = min(stop + 1, len(self._text))
                if (content.lstrip("\t") if tabs else content) == end:
                    break
            else:
                self._found.unended = (f"a text for a command up to {end}", line)
        self._waiting = []

    def _skip_quoted(self) -> None:
        """Skip a text in quotes, or what a dollar begins."""
        text, at = self._text, self._at
        if text[at] == "'":
            self._skip_to("'", "a quote")
        elif text[at] == '"':
            self._skip_double()
        elif text[at] == "`":
            self._skip_to("`", "a command in backquotes", escapes=True)
        elif text.startswith("$'", at):
            self._at += 1
            self._skip_to("'", "a quote", escapes=True)
        elif text.startswith("$((", at):
            self._skip_to("))", "arithmetic")
        elif text.startswith("$(", at):
            self._skip_nested("(", ")", "a command in brackets")
        elif text.startswith("${", at):
            self._skip_nested("{", "}", "a variable in braces")
        else:
            self._at += 2 if text[at + 1 : at + 2] in ("#", "$", "?", "!", "@", "*", "-") else 1

    def _skip_to(self, end: str, what: str, *, escapes: bool = False) -> None:
        start = self._at
        position = start + 1
        while True:
            stop = self._text.find(end, position)
            if stop < 0:
                self._found.unended = (what, self._line(start))
                return
            slashes = len(self._text[:stop]) - len(self._text[:stop].rstrip("\\"))
            if not escapes or slashes % 2 == 0:
                self._at = stop + len(end)
                return
            position = stop + 1

    def _skip_double(self) -> None:
        start = self._at
        self._at += 1
        while self._at < len(self._text) and self._found.unended is None:
            character = self._text[self._at]
            if character == '"':
                self._at += 1
                return
            if character == "\\":
                self._at += 2
            elif character == "`" or (character == "$" and self._text[self._at + 1 : self._at + 2] in ("(", "{")):
                self._skip_quoted()
            else:
                self._at += 1
        self._found.unended = ("a quote", self._line(start))

    def _skip_nested(self, opening: str, closing: str, what: str) -> None:
        """Skip what is between brackets, with the quotes in it."""
        start, depth = self._at, 0
        self._at += 1
        while self._at < len(self._text) and self._found.unended is None:
            character = self._text[self._at]
            before = self._text[self._at - 1]
            if character in "'\"`$" and not (opening == "{" and character == "'"):
                self._skip_quoted()
                continue
            if character == "#" and opening == "(" and before in " \t\n;":
                self._at = _find(self._text, "\n", self._at)
                continue
            depth += (character == opening) - (character == closing)
            self._at += 2 if character == "\\" else 1
            if depth == 0:
                return
        self._found.unended = self._found.unended or (what, self._line(start))


def _find(text: str, end: str, start: int) -> int:
    """Where a text has something; its end if it does not."""
    found = text.find(end, start)
    return len(text) if found < 0 else found
