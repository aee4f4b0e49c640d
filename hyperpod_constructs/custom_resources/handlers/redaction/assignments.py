"""Secrets with a telling name: `KEY=value`, `key: value`, `"key": "value"`, `--option value`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .forms import MASK, Counts, count
from .names import Level, is_folder, is_header, level

# A name and the sign before its value: `=`, `:`, `:=`, `=>`, or blanks after `--option` and before a quote. An ARN is skipped up to
# its resource, because some ARNs contain `secret:`.
NAMED = re.compile(
    r"""
    (?<![\w.-])
    (?:
        arn:aws[\w-]*+:[\w-]*+:[\w-]*+:\d*+:(?:secret:)?+
        |
        (?P<name>(?:(?:secret[ ]access|api|access|auth|encryption|master|private|secret|session|signing)[ ](?=key|token))?+[\w.-]++)
        (?P<closed>\\*+["'])?+ [\])]?+
        (?P<join>[ \t]*+(?:=>|:=|==|=|:|%3D)[ \t]*+ | [ \t]++(?:is[ ])?+)
        (?P<open>\\*+["'])?+
    )
    """,
    re.VERBOSE | re.IGNORECASE,
)

KIND = "value with a secret's name"

PLAIN = re.compile(r"(?:\\[^\n]|[^\s\\])++")

_END = r"[)\]},;.]*+\Z"
_HARMLESS = re.compile(rf"(?i)arn:aws[\w-]*+:[\w-]++:[\w-]*+:\d{{0,12}}:[!-~]++\Z|(?:yes|no|true|false|none|null|\*\*\*){_END}")
_HARMLESS_WEAK = re.compile(
    rf"(?i)[\d.,]++[kmgb%s]?{_END}|\[[\d\s.,]*+\]{_END}|[~.]{{0,2}}/[!-~]*+\Z|[$<{{%][!-~]*+\Z"
    rf"|(?:i|vpc|subnet|sg|fs|eni|ami|vol|lt)-[0-9a-f]{{8,17}}{_END}"
    rf"|(?:munge|slurm|jwt|basic|ok|passed|failed|required|missing|expired|invalid){_END}"
)

# A structured value: the names inside it decide.
_NESTED = re.compile(r"\{(?:\s*+\\*+[\"']|\s*+\Z)")


def without_assignments(text: str, counts: Counts | None = None) -> str:
    """The text with the mask in place of every value with a secret's name."""
    return "".join(Scan(text, counts).pieces())


class Scan:
    """One pass over a text. `position` only grows, and each line end is searched once."""

    def __init__(self, text: str, counts: Counts | None = None) -> None:
        self._text, self._line, self._counts = text, -1, counts
        self.position = 0

    def pieces(self) -> Iterator[str]:
        """The parts of the text, with each secret replaced."""
        done = 0
        while found := NAMED.search(self._text, self.position):
            self.position = found.end()
            stop = self._secret_end(found)
            if stop > self.position:
                if self._counts is not None:
                    count(self._counts, KIND, 1 - self._text.count(MASK, self.position, stop))
                yield self._text[done : self.position] + MASK
                done = self.position = stop
        yield self._text[done:]

    def _secret_end(self, found: re.Match[str]) -> int:
        """The end of the secret after a name; the start of the value if it is not a secret."""
        sure = Level.NONE if found["name"] is None else level(found["name"])
        if sure is Level.NONE or not _joins(found, sure):
            return found.end()
        stop = self._value_end(found, sure)
        return stop if _is_secret(self._text[found.end() : stop], found, sure) else found.end()

    def _value_end(self, found: re.Match[str], sure: Level) -> int:
        start, line = found.end(), self._line_end(found.end())
        quote = found["open"] or (self._before(found) if found["closed"] is None else "")
        if quote:
            return _closing(self._text, quote, start, line)
        if self._text.startswith("[", start):
            return (self._text.find("]", start, line) + 1) or line
        if is_header(found["name"]) or (sure is Level.STRONG and self._opens_line(found)):
            return line
        plain = PLAIN.match(self._text, start)
        return plain.end() if plain else start

    def _before(self, found: re.Match[str]) -> str:
        """The quote right before a name, which encloses the value too, as in `"password=two words"`."""
        before = self._text[max(0, found.start() - 1) : found.start()]
        return before if before in ("'", '"') else ""

    def _opens_line(self, found: re.Match[str]) -> bool:
        """Whether the name starts a line, as in YAML: `password: two words`."""
        margin = self._text[max(0, found.start() - 80) : found.start()]
        return ":" in found["join"] and len(margin) < 80 and not margin.rpartition("\n")[2].strip(" -\t")

    def _line_end(self, start: int) -> int:
        if self._line < start:
            found = self._text.find("\n", start)
            self._line = found if found >= 0 else len(self._text)
        return self._line


def _joins(found: re.Match[str], sure: Level) -> bool:
    """Whether name and value belong together. Blanks alone join only an option and its argument, or a password and a quote."""
    if found["join"].strip().lower() not in ("", "is"):
        return True
    return found["name"].startswith("-") or (found["open"] is not None and sure is Level.STRONG)


def _closing(text: str, quote: str, start: int, line: int) -> int:
    """The quote that ends a value, or the end of the line."""
    position = start
    while (position := text.find(quote, position, line)) >= 0:
        after = position + len(quote)
        if quote == "'" and text.startswith(quote, after):
            position = after + 1
        elif _escaped(text, position, start):
            position = after
        else:
            return position
    return line


def _escaped(text: str, position: int, start: int) -> bool:
    before = text[start:position] if position - start < 20 else text[position - 20 : position]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1


def _is_secret(value: str, found: re.Match[str], sure: Level) -> bool:
    value = value.strip()
    if not value or _NESTED.match(value) or _HARMLESS.match(value):
        return False
    if not found["join"].strip() and value.startswith("--"):
        return False
    if sure is Level.STRONG:
        return not (is_folder(found["name"]) and value.startswith("/"))
    if _HARMLESS_WEAK.match(value):
        return False
    return sure is Level.WEAK or _looks_random(value) or _is_assigned(found)


def _is_assigned(found: re.Match[str]) -> bool:
    name = found["name"]
    assigned = "=" in found["join"] or found["closed"] is not None or name.startswith("-")
    return assigned and not name.lower().endswith(("key", "keys"))


def _looks_random(value: str) -> bool:
    """Whether letters and digits mix, unlike in a word, a path or an address."""
    word = value.strip(",;)]}")
    if len(word) < 6 or any(character in word for character in "/.: "):
        return False
    return any(map(str.isdigit, word)) and any(map(str.isalpha, word))
