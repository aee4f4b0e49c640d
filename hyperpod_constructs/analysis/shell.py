"""Commands of a shell in scripts: the variables that they take and set, and the values of their words.

>>> [one.name for one in commands_of('test -d "$PLACE" && aws s3 cp a.sh "s3://$BUCKET/a.sh"') or ()]
['test', 'aws']

Source: https://www.gnu.org/software/bash/manual/bash.html
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from hyperpod_constructs.analysis.embedded import marked
from hyperpod_constructs.analysis.shell_reader import read_script
from hyperpod_constructs.analysis.shell_words import NAME, Case, Command, Piece, Variable, Word, assigned, plain
from hyperpod_constructs.templates.values import UNKNOWN, Reference, Text, Value, as_str, joined, parts_of

_SETTING = ("declare", "export", "local", "mapfile", "read", "readarray", "readonly", "typeset", "unset")
_SOURCING = (".", "eval", "source")
"""Commands that may set any variable."""
SHELLS, COMMAND = ("bash", "dash", "sh", "zsh"), re.compile(r"-[a-z]*c[a-z]*")
"""Shells, and their option with commands in the next word."""
_DEEPEST_CALL, _MOST_CALLED = 3, 500
_MOST_PIECES, _LONGEST_WORD = 50, 4096
"""Most pieces and characters of a word in which others stand."""
_SHELL = re.compile(r"#!\s*(?:/usr)?/bin/(?:env\s+)?(?:ba|da|k|z)?sh\b")


NO_FILES: Mapping[str, str] = {}


class Run(NamedTuple):
    """What a shell runs.

    :param given: the variables that it finds when it starts.
    :param set: the names of variables that its commands may set; a star for any.
    :param values: the variables with those that its commands set.
    :param cases: the blocks of `case`, where there is one text.
    """

    commands: tuple[Command, ...]
    given: Mapping[str, Value]
    set: frozenset[str]
    values: Mapping[str, Value]
    cases: tuple[Case, ...] = ()

    def value(self, word: Word) -> Value:
        """A word of a command."""
        return value_of(word, self.values)


def run_of(
    texts: Iterable[str], given: Mapping[str, Value], marks: Mapping[str, Value], files: Mapping[str, str] = NO_FILES
) -> Run | None:
    """What runs in the scripts of one shell; `None` for one that is not understood.

    :param marks: what the marks in the scripts stand for.
    :param files: the files that they may read as commands of their own, by their names.
    """
    found = [read_script(one) for one in texts]
    commands = tuple(one for some in found for one in some.commands or ())
    if any(one.commands is None for one in found):
        return None
    cases = found[0].cases if len(found) == 1 else ()
    return Run(commands, given, frozenset(variables_set(commands, files)), values_set(commands, {**marks, **given}), cases)


def inner_run(command: Command, run: Run) -> Run | None:
    """What a command such as `sh -c` has a shell of its own run; all of it stands in the line of the command."""
    given = [run.value(word) for word in command.arguments] if command.name in SHELLS else []
    place = next((place for place, word in enumerate(given, 1) if COMMAND.fullmatch(as_str(word) or "")), len(given))
    text, marks = marked(found) if place < len(given) and isinstance(found := given[place], str | Text) else (None, {})
    arguments = {str(number): word for number, word in enumerate(given[place + 2 :], 1)}
    inner = run_of((text,), {**_without_arguments(run.given), **arguments}, marks) if text is not None else None
    return inner and inner._replace(commands=tuple(one._replace(line=command.line) for one in inner.commands))


def is_shell(text: str) -> bool:
    """Whether a shell runs a script, by its first line."""
    return _SHELL.match(text) is not None


def commands_of(text: str) -> tuple[Command, ...] | None:
    """The commands of a script in their order, those inside of others first; `None` if it is not understood, or very long."""
    return read_script(text).commands


def variables_read(commands: tuple[Command, ...]) -> Iterator[Variable]:
    """The variables that commands take."""
    for one in commands:
        for word in (*one.words, *(value for _, value in one.given), *one.read):
            yield from (piece for piece in word if isinstance(piece, Variable))


def variables_set(commands: tuple[Command, ...], files: Mapping[str, str] = NO_FILES) -> Iterator[str]:
    """The names of variables that commands may set; a star for any.

    :param files: the files that they may read as commands of their own, by their names.
    """
    for one in commands:
        yield from (name for name, _ in one.given)
        texts = [plain(word[:1]) for word in one.words]
        if one.name in _SOURCING:
            yield from _set_by_file(one, files)
        if one.name == "set" and any("a" in text for text in texts[1:] if text.startswith("-")):
            yield "*"
        if one.name in (*_SETTING, "for", "getopts", "printf", "select"):
            yield from (found[0] for text in texts[1:] if (found := NAME.match(text)) is not None)


def _set_by_file(command: Command, files: Mapping[str, str]) -> Iterator[str]:
    """The names of variables that a file which a command reads may set; a star for a file that is not known."""
    last = command.arguments[0][-1:] if command.arguments else ()
    name = plain(last).rpartition("/")[2]
    found = commands_of(files[name]) if name in files and command.name != "eval" else None
    yield from ("*",) if found is None else variables_set(found, {key: text for key, text in files.items() if key != name})


def values_set(commands: tuple[Command, ...], variables: Mapping[str, Value]) -> dict[str, Value]:
    """Variables with those that commands set; one that is set twice, or in a way that only the run knows, is unknown."""
    is_ordered = all(one.alone for one in commands if _moves_arguments(one))
    values = dict(variables) if is_ordered else _without_arguments(variables)
    said = set(variables)
    for one in commands:
        given = _assigned_by(one)
        for name, word in given:
            values[name] = UNKNOWN if name in said else value_of(word, values)
            said.add(name)
        if one.name in (*_SETTING, "for", "getopts", "printf", "select"):
            values |= {name: UNKNOWN for name in variables_set((one,)) if name not in dict((*one.given, *given))}
        values = _without_arguments(values) if _moves_arguments(one) else values
    return values


def _assigned_by(command: Command) -> tuple[tuple[str, Word], ...]:
    """The variables that a command sets for those behind it, with their words."""
    exported = [
        (found[1], word) for word in command.arguments if command.name in _SETTING and (found := assigned(word)) is not None
    ]
    given = (*command.given, *((name, (plain(word[:1])[len(name) + 1 :], *word[1:])) for name, word in exported))
    return given if not command.words or exported else ()


def _moves_arguments(command: Command) -> bool:
    """Whether the arguments of a script are others behind a command."""
    first = plain(command.arguments[0][:1]) if command.arguments else "-"
    is_set = command.name == "set" and (not first.startswith(("-", "+")) or "--" in map(plain, command.arguments))
    return not command.function and (command.name == "shift" or is_set)


def _without_arguments(variables: Mapping[str, Value]) -> dict[str, Value]:
    return {name: UNKNOWN if name.isdigit() else value for name, value in variables.items()}


def value_of(word: Word, variables: Mapping[str, Value]) -> Value:
    """A word as a value; a variable that is not known is an unknown part."""
    if len(word) == 1 and isinstance(word[0], str):
        return word[0]
    found = [_taken(one, variables) if isinstance(one, Variable) else UNKNOWN if one is None else one for one in word]
    return joined(part for one in found for part in (parts_of(one) if isinstance(one, str | Text | Reference) else (UNKNOWN,)))


def _taken(variable: Variable, variables: Mapping[str, Value]) -> Value:
    value = UNKNOWN if variable.own or variable.changed else variables.get(variable.name, UNKNOWN)
    return UNKNOWN if value == "" and not variable.plain else value


def called(commands: tuple[Command, ...]) -> tuple[Command, ...]:
    """The commands with those of the script's own functions at each call, in which their arguments stand.

    Those of a function that no command names stand at the end, with arguments that are not known.
    """
    bodies: dict[str, list[Command]] = {}
    for one in commands:
        bodies.setdefault(one.function, []).append(one)
    outside = bodies.pop("", [])
    named = {one.name for one in commands}
    found = list(itertools.islice(_called(outside, bodies, 0), _MOST_CALLED + len(outside)))
    return (*found, *(one for name, some in bodies.items() if name not in named for one in some))


def _called(commands: Iterable[Command], bodies: Mapping[str, Sequence[Command]], depth: int) -> Iterator[Command]:
    for one in commands:
        yield one
        if one.name in bodies and depth < _DEEPEST_CALL:
            yield from _called(_filled(bodies[one.name], one), bodies, depth + 1)


def _filled(body: Sequence[Command], call: Command) -> Iterator[Command]:
    """The commands of a function for a call, with its words, and those of its own variables, in the place of these."""
    arguments = call.arguments
    if any(one.name in ("shift", "set") for one in body):
        yield from body
        return
    known = next((place for place, word in enumerate(arguments) if None in word), len(arguments))
    words: dict[str, Word] = {str(place): word for place, word in enumerate(arguments[:known], 1)}
    lacking: Word = () if known == len(arguments) else (None,)
    for one in body:
        filled = one._replace(
            words=tuple(_with(word, words, lacking) for word in one.words),
            given=tuple((name, _with(word, words, lacking)) for name, word in one.given),
            redirected=tuple(place._replace(place=_with(place.place, words, lacking)) for place in one.redirected),
            line=call.line,
        )
        yield filled
        for name, word in _assigned_by(filled):
            words[name] = (None,) if name in words else word


def _with(word: Word, words: Mapping[str, Word], lacking: Word) -> Word:
    """A word with others in the place of its variables.

    :param lacking: what stands for an argument that a call does not give.
    """
    found: list[Piece] = []
    for one in word:
        other = words.get(one.name, lacking if one.own else None) if isinstance(one, Variable) else None
        if not isinstance(one, Variable) or other is None:
            found.append(one)
        else:
            found += (None,) if one.changed or (not one.plain and not other) else other
    is_short = len(found) <= _MOST_PIECES and sum(len(one) for one in found if isinstance(one, str)) <= _LONGEST_WORD
    return tuple(found) if is_short or word == tuple(found) else (None,)
