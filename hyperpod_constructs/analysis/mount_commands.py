"""What commands of a shell mount: by `mount` itself, by lines for `/etc/fstab`, and by own functions that do either.

Sources: https://man7.org/linux/man-pages/man8/mount.8.html and https://man7.org/linux/man-pages/man5/fstab.5.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hyperpod_constructs.analysis.shell import Run
from hyperpod_constructs.analysis.shell_words import Command
from hyperpod_constructs.analysis.written_texts import texts_written
from hyperpod_constructs.templates.values import UNKNOWN, Part, Value, as_str, joined, parts_of

FSTAB = "/etc/fstab"
_WITH_VALUE = ("-L", "-N", "-O", "-T", "-U", "-o", "-t", "--options", "--source", "--target", "--types")
_MAKING, _MAKING_OPTIONS = ("-m", "--mkdir"), ("-mount.mkdir", "x-systemd.")
"""Words with which `mount` or systemd makes the place."""
_BLANKS, _LINES, _COMMA = re.compile(r"[ \t]+"), re.compile(r"\n"), re.compile(r",")


class Mount(NamedTuple):
    """A mount.

    :param kind: the type of the file system; `None` if it is not known.
    :param makes: whether the mount may make its place.
    :param line: the line of the command.
    :param options: its options as far as they are known.
    """

    kind: str | None
    source: Value
    place: Value
    makes: bool
    line: int
    options: tuple[str, ...] = ()


def mounts_of(run: Run) -> Iterator[Mount]:
    """The mounts for which a script asks."""
    for command in run.called:
        yield from _by_command(command, run)
    for text in (one for one in texts_written(run) if one.place == FSTAB):
        yield from (found for line in _split(text.value, _LINES) if (found := _of_line(line, text.line)) is not None)


def _by_command(command: Command, run: Run) -> Iterator[Mount]:
    name, _, kind = command.name.partition(".")
    if name != "mount":
        return
    waiting = iter([run.value(word) for word in command.arguments])
    options, others = list[tuple[str, Value]](), list[Value]()
    for word in waiting:
        text = as_str(word) or ""
        if text.startswith("-"):
            options.append((text, next(waiting, UNKNOWN) if text in _WITH_VALUE else text[2:].removeprefix("types=")))
        else:
            others.append(word)
    kinds = [as_str(value) for text, value in options if text.startswith(("-t", "--types"))]
    if len(others) == 2:
        makes = any(text in _MAKING or value is UNKNOWN or _has_option(value) for text, value in options)
        given = (value for text, value in options if text.startswith(("-o", "--options")))
        known = tuple(one for value in given for one in _options(value))
        yield Mount((*kinds, kind or None)[0], others[0], others[1], makes, command.line, known)


def _options(given: Value) -> Iterator[str]:
    """The options of a text that are known as a whole."""
    yield from (text for one in _split(given, _COMMA) if (text := as_str(one)))


def _has_option(word: Value) -> bool:
    return any(isinstance(part, str) and any(one in part for one in _MAKING_OPTIONS) for part in parts_of(word))


def _of_line(line: Value, number: int) -> Mount | None:
    """The mount of a line of the table: source, place, type, and options."""
    fields = [one for one in _split(line, _BLANKS) if one != ""]
    if len(fields) < 3 or any(one is UNKNOWN for one in fields[:3]) or str(parts_of(fields[0])[0]).startswith("#"):
        return None
    makes = len(fields) > 3 and (fields[3] is UNKNOWN or _has_option(fields[3]))
    options = tuple(_options(fields[3])) if len(fields) > 3 else ()
    return Mount(as_str(fields[2]), fields[0], fields[1], makes, number, options)


def _split(value: Value, between: re.Pattern[str]) -> Sequence[Value]:
    """The pieces of a text between some characters."""
    pieces: list[list[Part]] = [[]]
    for part in parts_of(value):
        first, *others = between.split(part) if isinstance(part, str) else (part,)
        pieces[-1].append(first)
        pieces += [[one] for one in others]
    return [joined(one) for one in pieces]
