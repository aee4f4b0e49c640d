"""Lines that scripts write into `/etc/fstab`: they keep those of others, and stand there once.

Source: https://man7.org/linux/man-pages/man5/fstab.5.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from hyperpod_constructs.analysis.mount_commands import FSTAB
from hyperpod_constructs.analysis.placed_files import COPYING
from hyperpod_constructs.analysis.scripts import Script
from hyperpod_constructs.analysis.shell import Run
from hyperpod_constructs.analysis.shell_words import Command, plain
from hyperpod_constructs.analysis.texts.machine_scripts import of_scripts
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.analysis.written_texts import text_of, texts_written
from hyperpod_constructs.facts.texts import Language

_ROOT = re.compile(r"^\s*\S+\s+/\s", re.MULTILINE)
"""A line for the root of the machine, as every whole table has."""
_CHANGING = ("awk", "cp", "install", "mv", "perl", "python", "python3", "sed")
"""Commands that may take lines out of the table."""
_ASKING = ("findmnt", "mountpoint")
"""Commands by which a script asks whether it has mounted before."""
_READING = ("awk", "cat", "egrep", "fgrep", "findmnt", "grep", "rg", "sed")


def of_script(script: Script) -> Slips:
    """The first such line of a script."""
    return list(_slips(script.run))[:1] if script.run is not None else ()


def _slips(run: Run) -> Iterator[Slip]:
    commands = run.called
    for text in (one for one in texts_written(run) if one.place == FSTAB):
        if not text.adds and not _ROOT.search(text.text) and commands[text.numbers[0]].name not in COPYING:
            says = f"the script writes {FSTAB} anew in line {text.line}: the lines of all other file systems are gone"
            yield Slip(says, f">> {FSTAB}", dead=True)
        elif text.adds and _runs_again(commands) and not any(_looks(one, run) for one in commands):
            says = f"the script adds a line to {FSTAB} in line {text.line} with each run"
            yield Slip(f"{says}, and asks only whether it is mounted", f"grep -q … {FSTAB} || echo … >> {FSTAB}", dead=True)


def _runs_again(commands: tuple[Command, ...]) -> bool:
    """Whether a script is made for further runs: it looks whether something is mounted before it mounts that."""
    asked = next((place for place, one in enumerate(commands) if one.name in _ASKING), len(commands))
    return any(one.name == "mount" for one in commands[asked:])


def _looks(command: Command, run: Run) -> bool:
    """Whether a command reads the table, or changes what is in it."""
    names = any(FSTAB in text_of(word, run) for word in (*command.words, *command.files))
    asks = command.name == "findmnt" and not {"-s", "--fstab"}.isdisjoint(plain(word) for word in command.arguments)
    return asks or (names and command.name in (*_READING, *_CHANGING))


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = of_scripts(None, of_script)
