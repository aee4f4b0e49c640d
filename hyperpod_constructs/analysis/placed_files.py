"""Where programs of nodes put files by `install`, `cp` and `mv`, and the modes that these have there.

Sources: https://www.gnu.org/software/coreutils/manual/html_node/install-invocation.html and
https://www.gnu.org/software/coreutils/manual/html_node/chmod-invocation.html
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import NamedTuple

from hyperpod_constructs.analysis.node_programs import Programs
from hyperpod_constructs.templates.values import as_str

_INSTALL, _CHANGE, _MAKE = "install", "chmod", "mkdir"
COPYING = (_INSTALL, "cp", "mv")
_SHORT = re.compile(r"-(?P<flags>[a-zA-Z]*?)(?P<letter>[gmotS])(?P<value>.*)")
_LONG: Mapping[str, str] = {"--group": "g", "--mode": "m", "--owner": "o", "--suffix": "S", "--target-directory": "t"}
"""Options with a value: behind the letter, or in the next word."""
_MODE = re.compile(r"0*[0-7]{3,4}")
_ANY, _OWN_MODE = 0o111, "755"
"""The bits by which a file runs, and the mode that `install` gives."""


_FOLDERS = (
    *("/bin", "/etc", "/etc/cron.d", "/etc/cron.daily", "/etc/cron.hourly", "/etc/logrotate.d", "/etc/modprobe.d"),
    *("/etc/profile.d", "/etc/security/limits.d", "/etc/sysctl.d", "/etc/systemd/system", "/etc/tmpfiles.d"),
    *("/etc/udev/rules.d", "/opt", "/root", "/sbin", "/tmp", "/usr/bin", "/usr/local/bin", "/usr/local/lib"),
    *("/usr/local/sbin", "/usr/sbin", "/var/log", "/var/tmp"),
)
"""Folders that each machine has."""


class Placed(NamedTuple):
    """A file that a program puts somewhere.

    :param source: the words behind which it is copied.
    :param place: its whole path.
    :param by: the name of the file with the command.
    :param runs: whether the system can start it; `None` if that is not known.
    """

    source: str
    place: str
    by: str
    runs: bool | None

    @property
    def name(self) -> str:
        """Its name there."""
        return self.place.rpartition("/")[2]


def placed_files(programs: Programs) -> tuple[Placed, ...]:
    """The files that the programs of nodes put somewhere, each as the last command leaves it."""
    found: dict[str, Placed] = {}
    folders = {*_FOLDERS}
    for words, by in programs.ran:
        texts = [as_str(word) or "" for word in words]
        texts = texts[1:] if texts[:1] == ["sudo"] else texts
        program = texts[0].rpartition("/")[2] if texts else ""
        folders |= {*_folders_made(program, texts)}
        if program in COPYING:
            found |= {one.place: one for one in placed_by(texts, by, folders)}
        elif program == _CHANGE and len(texts) > 2:
            found |= {one: found[one]._replace(runs=_runs(texts[1])) for one in texts[2:] if one in found}
    return tuple(found.values())


def _folders_made(program: str, words: Sequence[str]) -> Iterator[str]:
    """The folders that a command makes."""
    if program in (_INSTALL, _MAKE):
        names, options = options_of(words[1:])
        yield from (one.rstrip("/") for one in names if program == _MAKE or "d" in options)


def placed_by(words: Sequence[str], by: str = "", folders: Container[str] = _FOLDERS) -> Iterator[Placed]:
    """The files that a command such as `install` puts somewhere: one by its whole path, or several into a folder.

    :param folders: the folders that are there.
    """
    names, options = options_of(words[1:])
    folder, mode = options.get("t", ""), options.get("m", _OWN_MODE if words[0].endswith(_INSTALL) else "")
    sources, place = (names, f"{folder.rstrip('/')}/") if folder else (names[:-1], names[-1] if names else "")
    is_folder = place.endswith("/") or len(sources) > 1 or place in folders
    if place and sources and "d" not in options and (is_folder or all(names)):
        for source in filter(None, sources):
            whole = f"{place.rstrip('/')}/{source.rstrip('/').rpartition('/')[2]}" if is_folder else place
            yield Placed(source, whole, by, _runs(mode))


def options_of(words: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """The words that are no options, and the options by their letters."""
    names, options, waiting = list[str](), dict[str, str](), list(words)
    while waiting:
        word = waiting.pop(0)
        name, equals, value = word.partition("=")
        found = _SHORT.fullmatch(word)
        if name in _LONG:
            options[_LONG[name]] = value if equals else waiting.pop(0) if waiting else ""
        elif found is not None:
            options |= dict.fromkeys(found["flags"], "")
            options[found["letter"]] = found["value"] or (waiting.pop(0) if waiting else "")
        elif word.startswith("-") and word != "-":
            options |= {"d": ""} if word == "--directory" else dict.fromkeys(word.strip("-"), "") if word[1] != "-" else {}
        else:
            names.append(word)
    return names, options


def _runs(mode: str) -> bool | None:
    if _MODE.fullmatch(mode):
        return bool(int(mode, 8) & _ANY)
    return True if re.fullmatch(r"[augo]*\+[rwst]*x[rwst]*", mode) else None
