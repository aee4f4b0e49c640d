"""Commands of a shell in scripts: the variables that they take and set, and the values of their words.

>>> [one.name for one in commands_of('test -d "$PLACE" && aws s3 cp a.sh "s3://$BUCKET/a.sh"') or ()]
['test', 'aws']

Source: https://www.gnu.org/software/bash/manual/bash.html
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from hyperpod_constructs.analysis.embedded import marked
from hyperpod_constructs.analysis.shell_functions import called
from hyperpod_constructs.analysis.shell_reader import read_script
from hyperpod_constructs.analysis.shell_words import NAME, SETTING, Case, Command, Variable, Word, assigned_by, plain
from hyperpod_constructs.templates.values import UNKNOWN, Part, Reference, Text, Value, as_str, joined, parts_of

_KEEPING = ("export", "readonly")
"""Commands that leave a variable its value."""
_SOURCING = (".", "eval", "source")
"""Commands that may set any variable."""
SHELLS, COMMAND = ("bash", "dash", "sh", "zsh"), re.compile(r"-[a-z]*c[a-z]*")
"""Shells, and their option with commands in the next word."""
_SHELL = re.compile(r"#!\s*(?:/usr)?/bin/(?:env\s+)?(?:ba|da|k|z)?sh\b")


class Beside(NamedTuple):
    """A file beside a script, which may be read as its own commands.

    :param marks: what the marks in it stand for.
    """

    text: str
    marks: Mapping[str, Part]


NO_FILES: Mapping[str, Beside] = {}


class Run(NamedTuple):
    """What a shell runs.

    :param commands: as they are written, each once.
    :param given: the variables that it finds when it starts.
    :param set: the names of variables that its commands may set; a star for any.
    :param values: the variables with those that its commands set.
    :param cases: the blocks of `case`, where there is one text.
    :param called: the commands with those of the script's own functions at each call, in which their arguments stand.
    """

    commands: tuple[Command, ...]
    given: Mapping[str, Value]
    set: frozenset[str]
    values: Mapping[str, Value]
    cases: tuple[Case, ...] = ()
    called: tuple[Command, ...] = ()

    def value(self, word: Word) -> Value:
        """A word of a command."""
        return value_of(word, self.values)


def run_of(
    texts: Iterable[str], given: Mapping[str, Value], marks: Mapping[str, Value], files: Mapping[str, Beside] = NO_FILES
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
    known = values_set(commands, {**marks, **given}, files)
    return Run(commands, given, frozenset(variables_set(commands, files)), known, cases, called(commands))


def inner_run(command: Command, run: Run) -> Run | None:
    """What a command such as `sh -c` has a shell of its own run; all of it stands in the line of the command."""
    given = [run.value(word) for word in command.arguments] if command.name in SHELLS else []
    place = next((place for place, word in enumerate(given, 1) if COMMAND.fullmatch(as_str(word) or "")), len(given))
    text, marks = marked(found) if place < len(given) and isinstance(found := given[place], str | Text) else (None, {})
    arguments = {str(number): word for number, word in enumerate(given[place + 2 :], 1)}
    inner = run_of((text,), {**_without_arguments(run.given), **arguments}, marks) if text is not None else None
    return inner and inner._replace(commands=_at(command.line, inner.commands), called=_at(command.line, inner.called))


def _at(line: int, commands: Iterable[Command]) -> tuple[Command, ...]:
    return tuple(one._replace(line=line) for one in commands)


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


def variables_set(commands: tuple[Command, ...], files: Mapping[str, Beside] = NO_FILES) -> Iterator[str]:
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
        if one.name in (*SETTING, "for", "getopts", "printf", "select"):
            yield from (found[0] for text in texts[1:] if (found := NAME.match(text)) is not None)


def _set_by_file(command: Command, files: Mapping[str, Beside]) -> Iterator[str]:
    """The names of variables that a file which a command reads may set; a star for a file that is not known."""
    name, found = _read_by(command, files)
    yield from ("*",) if found is None else variables_set(found, _without(name, files))


def _read_by(command: Command, files: Mapping[str, Beside]) -> tuple[str, tuple[Command, ...] | None]:
    """The name of the file beside the script that a command reads as commands of its own, and these."""
    last = command.arguments[0][-1:] if command.arguments and command.name in _SOURCING else ()
    name = plain(last).rpartition("/")[2]
    return name, commands_of(files[name].text) if name in files and command.name != "eval" else None


def _without(name: str, files: Mapping[str, Beside]) -> Mapping[str, Beside]:
    return {key: one for key, one in files.items() if key != name}


def values_set(
    commands: tuple[Command, ...], variables: Mapping[str, Value], files: Mapping[str, Beside] = NO_FILES
) -> dict[str, Value]:
    """Variables with those that commands set; one that is set twice, or in a way that only the run knows, is unknown."""
    is_ordered = all(one.alone for one in commands if _moves_arguments(one))
    values = dict(variables) if is_ordered else _without_arguments(variables)
    said = set(variables)
    for one in commands:
        given = {name: value_of(word, values) for name, word in assigned_by(one)} | _given_by_file(one, values, files)
        values |= {name: UNKNOWN if name in said and values.get(name) != value else value for name, value in given.items()}
        said.update(given)
        if one.name in (*SETTING, "for", "getopts", "printf", "select"):
            known = set(values) if one.name in _KEEPING else {name for name, _ in one.given}.union(given)
            values |= {name: UNKNOWN for name in variables_set((one,)) if name not in known}
        values = _without_arguments(values) if _moves_arguments(one) else values
    return values


def _given_by_file(command: Command, values: Mapping[str, Value], files: Mapping[str, Beside]) -> dict[str, Value]:
    """The variables that a file which a command reads sets, as far as they are known."""
    name, found = _read_by(command, files)
    if found is None:
        return {}
    after = values_set(found, {**values, **files[name].marks}, _without(name, files))
    return {one: after.get(one, UNKNOWN) for one in variables_set(found) if one != "*"}


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


def exported(commands: Iterable[Command], files: Mapping[str, Beside] = NO_FILES) -> Iterator[str]:
    """The names of variables that programs find which the commands start; a star for all that they set."""
    for one in commands:
        flags = [text for word in one.arguments if (text := plain(word)).startswith("-")]
        if one.name == "export" or (one.name in ("declare", "typeset") and "x" in "".join(flags)):
            yield from (found[0] for word in one.arguments if (found := NAME.match(plain(word[:1]))) is not None)
        elif one.name == "set" and ("a" in "".join(flags) or "allexport" in map(plain, one.arguments)):
            yield "*"
        elif one.name in _SOURCING:
            name, inside = _read_by(one, files)
            yield from exported(inside or (), _without(name, files))
