"""What scripts fetch from hosts in the internet: by package managers, from registries of images, and by addresses.

Source: https://docs.aws.amazon.com/vpc/latest/userguide/configure-subnets.html
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from hyperpod_constructs.analysis.build_commands import host_in
from hyperpod_constructs.analysis.shell import Run
from hyperpod_constructs.analysis.shell_words import Command, plain
from hyperpod_constructs.facts.builds import FETCHING
from hyperpod_constructs.facts.internet_programs import OTHER_REGISTRIES, PROGRAMS, PULLING, REGISTRY

_REMOTE, _OF_FILES_TOO = "docker://", ("apptainer", "enroot", "singularity")
_IMAGE = re.compile(r"(?:docker://)?(?:[\w.-]+@)?(?:(?P<host>[a-z0-9-]+(?:\.[a-z0-9-]+)+(?::\d+)?)[#/])?(?P<rest>[\w./-]+).*")
_OWN = re.compile(r".*\.(?:amazonaws\.com(?:\.cn)?|aws|corp|internal|lan|local)(?::\d+)?")
_FROM_HERE = re.compile(r"(?:\.{0,2}/|file:).*|.*\.(?:deb|rpm|whl|tar\.gz|sif|sqsh|tgz|gem)")
_PROXY = re.compile(r"_proxy\b|\bproxy\.conf\b", re.IGNORECASE)


class Fetch(NamedTuple):
    """Something that a command fetches.

    :param what: the begin of the command, in words.
    """

    host: str
    line: int
    what: str


def fetches(run: Run, texts: Iterable[str]) -> Iterator[Fetch]:
    """What a script surely fetches from the internet.

    :param texts: the script and those beside it, which may name other hosts.
    """
    every = [*texts]
    if any(map(_PROXY.search, every)) or any(_PROXY.search(name) for name in (*run.given, *run.set)):
        return
    for one in (one for one in run.called if not one.guarded):
        host = _host_of(one, run, every)
        if host is not None and not _OWN.fullmatch(host):
            yield Fetch(host, one.line, " ".join(filter(None, (one.name, *map(plain, one.arguments[:1])))))


def _host_of(command: Command, run: Run, texts: list[str]) -> str | None:
    words = [plain(word) for word in command.arguments]
    if command.name in FETCHING:
        found = (host_in(plain(word[:1])) for word in command.arguments)
        return next(filter(None, found), None)
    named = [word for word in words if not word.startswith("-")]
    module = words[1] if command.name in ("python", "python3") and words[:1] == ["-m"] and len(words) > 1 else ""
    known = PROGRAMS.get(module or command.name)
    first = (named[1:] if module else named)[:1]
    if known is not None:
        is_here = [one for one in named if _FROM_HERE.fullmatch(one)]
        has_others = any(other in text for other in known.others for text in texts)
        return known.host if command.alone and first and first[0] in known.words and not is_here and not has_others else None
    if first and first[0] in PULLING.get(command.name, ()) and not any(one in text for one in OTHER_REGISTRIES for text in texts):
        return _registry(command, run)
    return None


def _registry(command: Command, run: Run) -> str | None:
    """The host of an image; `None` if the name does not begin with characters that are known."""
    given = [word for word in command.arguments if word and isinstance(word[0], str) and not word[0].startswith("-")]
    names = [str(word[0]) for word in given[1:]]
    remote = [one for one in names if one.startswith(_REMOTE)] or ([] if command.name in _OF_FILES_TOO else names)
    found = _IMAGE.fullmatch(remote[0]) if remote else None
    return None if found is None else found["host"] or REGISTRY
