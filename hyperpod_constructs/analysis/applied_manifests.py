"""Manifests that a shell applies by `kubectl`: from the input of the command, or from files that the same shell writes.

In a text behind a quoted word, names of variables stand as they are: they count as parts that are not known, and `kept` has them.

Source: https://kubernetes.io/docs/reference/kubectl/generated/kubectl_apply/ (as of 2026-12-01)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from hyperpod_constructs.analysis.embedded import documents_in
from hyperpod_constructs.analysis.shell import Run
from hyperpod_constructs.analysis.shell_words import Command
from hyperpod_constructs.analysis.written_texts import HOLE, WrittenText, text_of, texts_read, texts_written, whole_files
from hyperpod_constructs.facts.cli import KUBECTL_VALUES, MAKING_OBJECTS, MAKING_PROGRAMS
from hyperpod_constructs.templates.values import UNKNOWN, Part, Value, joined, parts_of

KUBECTL = "kubectl"
_APPLYING = ("apply", "create", "replace")
_INPUT = ("-", "/dev/stdin")
_FILE, _SPACE, _FOLDER = ("-f", "--filename"), ("-n", "--namespace"), ("-k", "--kustomize")
_NAMED = re.compile(r"\$(?:\{(\w+)\}|([A-Za-z_]\w*))")
_FILLING = ("ansible-playbook", "awk", "eval", "envsubst", "gomplate", "perl", "python", "python3", "sed", "yq")
"""Programs that may change a text where it was written."""
_OF_CONTAINERS = ("annotations", "args", "binaryData", "command", "data", "stringData", "value")
"""Fields with texts for programs, which may read variables of their own."""
_MOST_TEXTS = 100


class Applied(NamedTuple):
    """A text with manifests.

    :param value: the text; `None` if it is not known.
    :param namespace: the namespace that the command names.
    :param line: the line in which the text begins, or the command.
    :param kept: the variables of the shell whose names stand in the text as they are.
    """

    value: Value | None
    namespace: str | None
    line: int
    kept: tuple[str, ...] = ()


def applied_in(run: Run) -> Iterator[Applied]:
    """The texts that a shell applies, in their order."""
    files = {one.place.removeprefix("./"): one for one in whole_files(texts_written(run)) if HOLE not in one.place}
    for _, (command, read) in zip(range(_MOST_TEXTS), texts_read(run, (KUBECTL,)), strict=False):
        words = [text_of(word, run) for word in command.arguments]
        if _verb(words) in _APPLYING and "dry-run" not in " ".join(words):
            space = next(_options(words, _SPACE), None)
            known_space = None if space is None or HOLE in space else space
            for name in _options(words, (*_FILE, *_FOLDER)):
                yield _text(read if name in _INPUT else files.get(name.removeprefix("./")), command, known_space, run)


def applies_known_objects(run: Run) -> bool:
    """Whether all that a shell brings into a cluster is known: texts of `kubectl`, and nothing else."""
    verbs = [_verb([text_of(word, run) for word in one.arguments]) for one in run.called if one.name == KUBECTL]
    makes_otherwise = any(one.name in MAKING_PROGRAMS for one in run.called) or not {*MAKING_OBJECTS}.isdisjoint(verbs)
    texts = list(applied_in(run))
    return (
        not makes_otherwise
        and len(texts) == sum(verb in _APPLYING for verb in verbs)
        and all(one.value is not None for one in texts)
    )


def _text(found: WrittenText | None, command: Command, space: str | None, run: Run) -> Applied:
    if found is None or found.value is UNKNOWN:
        return Applied(None, space, command.line)
    if not found.literal:
        return Applied(found.value, space, found.line)
    is_filled = any(one.name in _FILLING for one in run.called)
    names = {one[1] or one[2] for one in _NAMED.finditer(found.text)}
    said = {name for document in documents_in(found.value) for name in _in_fields(document)} if names and not is_filled else set()
    return Applied(joined(_holed(found.value, names)), space, found.line, tuple(sorted(said & {*run.given, *run.set})))


def _in_fields(data: object) -> Iterator[str]:
    """The variables that stand in fields of objects, without those that a shell in a container may read."""
    if isinstance(data, Mapping):
        yield from (name for key, part in data.items() if key not in _OF_CONTAINERS for name in _in_fields(part))
    elif isinstance(data, list):
        yield from (name for part in data for name in _in_fields(part))
    elif isinstance(data, str):
        yield from (one[1] or one[2] for one in _NAMED.finditer(data))


def _holed(value: Value, names: set[str]) -> Iterator[Part]:
    """The parts of a text, in which each variable is one that is not known."""
    for part in parts_of(value):
        if not isinstance(part, str) or not names:
            yield part
            continue
        end = 0
        for found in _NAMED.finditer(part):
            yield from (part[end : found.start()], UNKNOWN)
            end = found.end()
        yield part[end:]


def _verb(words: Sequence[str]) -> str:
    """The first word that is neither an option nor its value."""
    waiting = iter(words)
    for word in waiting:
        if not word.startswith("-"):
            return word
        if word in KUBECTL_VALUES:
            next(waiting, None)
    return ""


def _options(words: Sequence[str], names: Sequence[str]) -> Iterator[str]:
    """The values of an option, behind a space or an equals sign."""
    for place, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name in names and (equals or place + 1 < len(words)):
            yield value if equals else words[place + 1]
        elif word[:2] in names and len(word) > 2 and not word.startswith("--") and not equals:
            yield word[2:]
