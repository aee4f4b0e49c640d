"""Texts that scripts of a shell write into files: behind `<<`, or by `echo` and `printf`, through pipes too, and in own shells.

Sources: https://www.gnu.org/software/bash/manual/bash.html#Redirections and
https://www.gnu.org/software/coreutils/manual/html_node/printf-invocation.html
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import NamedTuple

from hyperpod_constructs.analysis.placed_files import COPYING, placed_by
from hyperpod_constructs.analysis.shell import SHELLS, Run, inner_run
from hyperpod_constructs.analysis.shell_words import Command, Word, plain
from hyperpod_constructs.templates.values import UNKNOWN, Part, Value, as_str, joined, parts_of

HOLE = "?"
"""What stands for a part that is not known."""
_INPUT, _DEVICES = "/dev/stdin", "/dev/"
_MOST_SHELLS, _DEEPEST = 20, 2
_MOST_PIECES, _LONGEST = 1000, 1 << 16
"""Most pieces and characters of a text of `printf`."""
_OPTION = re.compile(r"-[neE]+")
_ESCAPED, _ESCAPES = re.compile(r'\\([nt"\\])'), {"n": "\n", "t": "\t"}
_DIRECTIVE = re.compile(r"%(%|[-+ #0-9.*]*[A-Za-z])")


class WrittenText(NamedTuple):
    """A text for a file.

    :param place: the path of the file.
    :param line: the line in which it begins.
    :param numbers: the place of the command that writes it among those of the script, as `called` gives them; then its place in
        the command's own shell, and so on.
    :param adds: whether it comes behind what is in the file.
    :param literal: whether it is a text behind `<<` that the shell leaves as it is.
    """

    place: str
    value: Value
    line: int
    numbers: tuple[int, ...] = ()
    adds: bool = False
    literal: bool = False

    @property
    def text(self) -> str:
        """Its characters, with a question mark for each part that is not known."""
        return _spelled(self.value)

    @property
    def name(self) -> str:
        """The name of the file without the folder."""
        return self.place.rpartition("/")[2]


def texts_written(run: Run, depth: int = 0) -> Iterator[WrittenText]:
    """The texts that the commands of a script write into files."""
    piped: WrittenText | None = None
    shells = iter(range(_MOST_SHELLS if depth < _DEEPEST else 0))
    for number, command in enumerate(run.called):
        places = [(place, adds) for place, adds in _places(command, run) if not place.startswith(_DEVICES)]
        said = _said(command, piped, run) if places or command.piped else None
        yield from (said._replace(place=place, numbers=(number,), adds=adds) for place, adds in places if said is not None)
        piped = said if command.piped else None
        inner = inner_run(command, run) if command.name in SHELLS and next(shells, None) is not None else None
        found = texts_written(inner, depth + 1) if inner is not None else ()
        yield from (text._replace(line=command.line, numbers=(number, *text.numbers)) for text in found)


def texts_read(run: Run, programs: Container[str]) -> Iterator[tuple[Command, WrittenText | None]]:
    """The commands of some programs, each with the text that it gets as its input; none where that is not known."""
    piped: WrittenText | None = None
    for command in run.called:
        read = command.name in programs
        if read:
            yield command, _taken(command, piped, run)
        piped = _said(command, piped, run) if command.piped and not read else None


def whole_files(texts: Iterable[WrittenText]) -> list[WrittenText]:
    """The texts with those that come behind them in the same file, as far as its path is known."""
    found, last = list[list[WrittenText]](), dict[str, list[WrittenText]]()
    for one in texts:
        if one.adds and one.place in last:
            last[one.place].append(one)
        else:
            found.append([one])
            last |= {} if HOLE in one.place else {one.place: found[-1]}
    return [some[0]._replace(value=joined(part for one in some for part in parts_of(one.value))) for some in found]


def teed(command: Command) -> Iterator[tuple[Word, bool]]:
    """The files of `tee`, and whether it adds to what is in them."""
    if command.name == "tee":
        options = [text for text in map(plain, command.arguments) if text.startswith("-")]
        adds = any(text == "--append" or ("a" in text and not text.startswith("--")) for text in options)
        yield from ((word, adds) for word in command.arguments if plain(word) not in options)


def text_of(word: Word, run: Run) -> str:
    """The characters of a word, with a question mark for each part that is not known."""
    return _spelled(run.value(word))


def _spelled(value: Value) -> str:
    return "".join(part if isinstance(part, str) else HOLE for part in parts_of(value))


def _places(command: Command, run: Run) -> Iterator[tuple[str, bool]]:
    redirected = ((one.place, not one.empties) for one in command.redirected if one.writes and one.of_output)
    yield from ((text_of(word, run), adds) for word, adds in (*redirected, *teed(command)))
    if command.name in COPYING:
        yield from ((one.place, False) for one in placed_by([text_of(word, run) for word in command.words]) if one.source == _INPUT)


def _said(command: Command, piped: WrittenText | None, run: Run) -> WrittenText | None:
    """What a command writes, if that is known; what is piped to it, for one that hands that on."""
    given = [run.value(word) for word in command.arguments]
    if command.name == "echo":
        return WrittenText("", _echoed(given), command.line)
    if command.name == "printf":
        given = given[1:] if given[:1] == ["--"] else given
        return WrittenText("", _formatted(given[0], given[1:]), command.line) if given else None
    copies = command.name in COPYING and _INPUT in given
    hands_on = command.name == "tee" or (command.name == "cat" and all(as_str(one) in ("-", _INPUT) for one in given))
    return _taken(command, piped, run) if copies or hands_on else None


def _taken(command: Command, piped: WrittenText | None, run: Run) -> WrittenText | None:
    """What a command reads, if that is known."""
    found = next((one for one in reversed(command.redirected) if one.operator in ("<", "<<", "<<<")), None)
    if found is None or found.operator == "<":
        return piped if found is None else None
    text = run.value(found.place) if found.operator == "<<" else joined((*parts_of(run.value(found.place)), "\n"))
    return WrittenText("", text, found.line or command.line, literal=found.literal)


def _echoed(given: Sequence[Value]) -> Value:
    options = list(itertools.takewhile(lambda word: _OPTION.fullmatch(as_str(word) or ""), given))
    escapes = any("e" in str(one) for one in options)
    said = [part for word in given[len(options) :] for part in (*parts_of(word), " ")][:-1]
    end = "" if any("n" in str(one) for one in options) else "\n"
    return joined((*(_unescaped(one) if escapes and isinstance(one, str) else one for one in said), end))


def _unescaped(part: str) -> str:
    return _ESCAPED.sub(lambda found: _ESCAPES.get(found[1], found[1]), part)


def _formatted(form: Value, given: Sequence[Value]) -> Value:
    """The words of `printf` in its format, which it takes again and again."""
    if str(form).count("%") > _MOST_PIECES:
        return UNKNOWN
    split = [_DIRECTIVE.split(_unescaped(part)) if isinstance(part, str) else [part] for part in parts_of(form)]
    pieces = [(piece, place % 2 == 1 and piece != "%") for some in split for place, piece in enumerate(some)]
    gaps, words = sum(takes for _, takes in pieces), iter(given)
    rounds = max(-(-len(given) // gaps), 1) if gaps else 1
    if rounds * len(pieces) > _MOST_PIECES or rounds * len(str(form)) > _LONGEST:
        return UNKNOWN
    every = itertools.chain.from_iterable(itertools.repeat(pieces, rounds))
    return joined(part for piece, takes in every for part in (_converted(piece, next(words, "")) if takes else (piece,)))


def _converted(directive: Part, word: Value) -> Sequence[Part]:
    return parts_of(word) if directive in ("d", "i", "s", "u") else (UNKNOWN,)
