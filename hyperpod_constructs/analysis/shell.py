"""Commands of a shell in scripts: the variables that they take and set, and the values of their words.

>>> [one.name for one in commands_of('test -d "$PLACE" && aws s3 cp a.sh "s3://$BUCKET/a.sh"') or ()]
['test', 'aws']

Source: https://www.gnu.org/software/bash/manual/bash.html
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from hyperpod_constructs.analysis.shell_reader import read_script
from hyperpod_constructs.analysis.shell_words import NAME, Command, Variable, Word, assigned, plain
from hyperpod_constructs.templates.values import UNKNOWN, Reference, Text, Value, joined, parts_of

_SETTING = ("declare", "export", "local", "mapfile", "read", "readarray", "readonly", "typeset", "unset")
_SOURCING = (".", "eval", "source")
"""Commands that may set any variable."""
_SHELL = re.compile(r"#!\s*(?:/usr)?/bin/(?:env\s+)?(?:ba|da|k|z)?sh\b")


NO_FILES: Mapping[str, str] = {}


class Run(NamedTuple):
    """What a shell runs.

    :param given: the variables that it finds when it starts.
    :param set: the names of variables that its commands may set; a star for any.
    :param values: the variables with those that its commands set.
    """

    commands: tuple[Command, ...]
    given: Mapping[str, Value]
    set: frozenset[str]
    values: Mapping[str, Value]

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
    found = [commands_of(one) for one in texts]
    commands = tuple(one for some in found for one in some or ())
    if None in found:
        return None
    return Run(commands, given, frozenset(variables_set(commands, files)), values_set(commands, {**marks, **given}))


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
    values, said = dict(variables), set(variables)
    for one in commands:
        exported = [(found[1], word) for word in one.arguments if one.name in _SETTING and (found := assigned(word)) is not None]
        given = (*one.given, *((name, (plain(word[:1])[len(name) + 1 :], *word[1:])) for name, word in exported))
        for name, word in given if not one.words or exported else ():
            values[name] = UNKNOWN if name in said else value_of(word, values)
            said.add(name)
        if one.name in (*_SETTING, "for", "getopts", "printf", "select"):
            values |= {name: UNKNOWN for name in variables_set((one,)) if name not in dict(given)}
    return values


def value_of(word: Word, variables: Mapping[str, Value]) -> Value:
    """A word as a value; a variable that is not known is an unknown part."""
    found = [variables.get(one.name, UNKNOWN) if isinstance(one, Variable) else UNKNOWN if one is None else one for one in word]
    return joined(part for one in found for part in (parts_of(one) if isinstance(one, str | Text | Reference) else (UNKNOWN,)))
