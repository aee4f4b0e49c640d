"""Where programs of nodes put files by `install`, `cp` and `mv`, and the modes that these have there.

Sources: https://www.gnu.org/software/coreutils/manual/html_node/install-invocation.html and
https://www.gnu.org/software/coreutils/manual/html_node/chmod-invocation.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from hyperpod_constructs.analysis.node_programs import Programs
from hyperpod_constructs.templates.values import as_str

_INSTALL, _CHANGE = "install", "chmod"
COPYING = (_INSTALL, "cp", "mv")
_SHORT = re.compile(r"-(?P<flags>[a-zA-Z]*?)(?P<letter>[gmotS])(?P<value>.*)")
_LONG: Mapping[str, str] = {"--group": "g", "--mode": "m", "--owner": "o", "--suffix": "S", "--target-directory": "t"}
"""Options with a value: behind the letter, or in the next word."""
_MODE = re.compile(r"0*[0-7]{3,4}")
_ANY, _OWN_MODE = 0o111, "755"
"""The bits by which a file runs, and the mode that `install` gives."""


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
    for words, by in programs.ran:
        texts = [as_str(word) or "" for word in words]
        texts = texts[1:] if texts[:1] == ["sudo"] else texts
        program = texts[0].rpartition("/")[2] if texts else ""
        if program in COPYING:
            found |= {one.place: one for one in placed_by(texts, by)}
        elif program == _CHANGE and len(texts) > 2:
            found |= {one: found[one]._replace(runs=_runs(texts[1])) for one in texts[2:] if one in found}
    return tuple(found.values())


def placed_by(words: Sequence[str], by: str = "") -> Iterator[Placed]:
    """The file that a command such as `install` puts somewhere."""
    names, options = _read(words[1:])
    folder, mode = options.get("t", ""), options.get("m", _OWN_MODE if words[0].endswith(_INSTALL) else "")
    if all(names) and len(names) == (1 if folder else 2) and "d" not in options:
        place = folder or names[1]
        whole = f"{place.rstrip('/')}/{names[0].rpartition('/')[2]}" if folder or place.endswith("/") else place
        yield Placed(names[0], whole, by, _runs(mode))


def _read(words: Sequence[str]) -> tuple[list[str], dict[str, str]]:
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
