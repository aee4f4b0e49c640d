"""Calls of AWS by commands of its CLI in builds and scripts, as the role of what runs them.

What gets other credentials than those of its role calls as somebody else.

Sources: https://docs.aws.amazon.com/cli/latest/reference/s3/ and https://docs.aws.amazon.com/cli/latest/reference/eks/update-kubeconfig.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from hyperpod_constructs.analysis.arns import s3_place
from hyperpod_constructs.analysis.build_commands import build_of
from hyperpod_constructs.analysis.code_runs.service_calls import OTHERS, CodeCall
from hyperpod_constructs.analysis.regions import region_of
from hyperpod_constructs.analysis.shell import Run
from hyperpod_constructs.analysis.shell_words import Command, Word, plain
from hyperpod_constructs.facts.cli import CREDENTIALS, OF_COMMANDS, OF_STORAGE, REGIONS, SERVICES, WITHOUT_VALUE
from hyperpod_constructs.facts.sdk_calls import by_client
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.values import UNKNOWN, Part, Value, as_str, joined, parts_of

_AWS, _STORAGE = "aws", "s3"
_AS_OTHERS = frozenset({"endpoint-url", "no-sign-request", "profile"})
"""Options of calls to others, or as others."""


class Line(NamedTuple):
    """A command of a program with subcommands.

    :param words: the words that are no options, as `s3`, `cp`, and the two places.
    :param options: options by their names without hyphens; one without a value is true.
    """

    words: tuple[Word, ...]
    options: Mapping[str, Word | bool]

    def word(self, place: int) -> str:
        """A word, if it is known."""
        return plain(self.words[place]) if place < len(self.words) else ""


def lines_of(run: Run, program: str, flags: frozenset[str] = WITHOUT_VALUE) -> Iterator[Line]:
    """The commands of a program whose failure ends the run.

    :param flags: options without a value.
    """
    return lines_in(run.called, program, flags)


def lines_in(commands: tuple[Command, ...], program: str, flags: frozenset[str] = WITHOUT_VALUE) -> Iterator[Line]:
    """The same of the commands of a script."""
    return (_line(one, flags) for one in commands if one.name == program and not one.guarded)


def _line(command: Command, flags: frozenset[str]) -> Line:
    words: list[Word] = []
    options: dict[str, Word | bool] = {}
    waiting = list(command.arguments)
    while waiting:
        word = waiting.pop(0)
        first = str(word[0]) if word and isinstance(word[0], str) else ""
        name, equals, behind = first.partition("=")
        if not name.startswith("-") or name == "-":
            words.append(word)
        elif equals:
            options[name.lstrip("-")] = (*((behind,) if behind else ()), *word[1:])
        else:
            alone = name.lstrip("-") in flags or not waiting or plain(waiting[0]).startswith("--")
            options[name.lstrip("-")] = True if alone else waiting.pop(0)
    return Line(tuple(words), options)


def cli_calls(project: Resource) -> tuple[CodeCall, ...]:
    """The calls by the commands of a build; computed once."""
    build = build_of(project)
    return project.template.model.cached((cli_calls, project), lambda: tuple(calls_in(build, project)) if build else ())


def calls_in(run: Run, resource: Resource) -> Iterator[CodeCall]:
    """The calls of a run for a resource, as its role."""
    logs_in = any(line.word(0) == "configure" and line.word(2).startswith("aws_") for line in lines_of(run, _AWS))
    if logs_in or not {*run.given, *run.set}.isdisjoint(CREDENTIALS):
        return
    for line in lines_of(run, _AWS):
        if not _AS_OTHERS.isdisjoint(line.options):
            continue
        if line.word(0) == _STORAGE:
            yield from _of_storage(run, line)
        else:
            yield from _of_line(run, line, own=_is_here(resource, run, line))


def _is_here(resource: Resource, run: Run, line: Line) -> bool:
    """Whether a command is for the region of its stack, as far as that is known."""
    given = line.options.get("region")
    names = [run.values[name] for name in REGIONS if name in run.values]
    region = as_str(run.value(given)) if isinstance(given, tuple) else as_str(names[0]) if names else None
    return region is None or region == region_of(resource)


def _of_line(run: Run, line: Line, *, own: bool) -> Iterator[CodeCall]:
    service, name = OF_COMMANDS.get((line.word(0), line.word(1)), (line.word(0), line.word(1)))
    operation = (by_client(SERVICES.get(service, service)) or {}).get(name.replace("-", "").lower())
    if operation is not None:
        given = {key.replace("-", ""): value for key, value in _given(run, line)}
        yield CodeCall(operation, given if own else {OTHERS: UNKNOWN})


def _given(run: Run, line: Line) -> Iterator[tuple[str, Value]]:
    for name, word in line.options.items():
        value = run.value(word) if isinstance(word, tuple) else UNKNOWN
        yield (OTHERS if name.startswith("cli-input") else name), UNKNOWN if str(value).startswith(("file:", "[", "{")) else value


def _of_storage(run: Run, line: Line) -> Iterator[CodeCall]:
    """The calls of a command for objects: on the place from which it copies, and on that to which it does."""
    operations = by_client(_STORAGE) or {}
    whole = line.word(1) == "sync" or "recursive" in line.options
    for place, names in enumerate(OF_STORAGE.get(line.word(1), ()), start=2):
        found = s3_place(run.value(line.words[place])) if place < len(line.words) else None
        for name in names if found is not None else ():
            if found is not None and (whole or not name.startswith("?")):
                bucket, key = found
                yield CodeCall(operations[name.lstrip("?")], {"bucket": bucket, "key": _key(run, line, key, whole=whole)})


def _key(run: Run, line: Line, key: Value, *, whole: bool) -> Value:
    """The key of an object; a folder takes the name of the file."""
    *_, last = parts_of(key)
    if whole:
        return joined([*parts_of(key), UNKNOWN])
    is_folder = key == "" or (isinstance(last, str) and last.endswith("/"))
    return joined([*parts_of(key), *(_file(run.value(line.words[2])) if is_folder else ())])


def _file(value: Value) -> tuple[Part, ...]:
    *_, last = parts_of(value)
    return (last.rpartition("/")[2],) if isinstance(last, str) and ("/" in last or last == value) else (UNKNOWN,)
