"""Configuration files of Slurm that scripts write: the plugins that there are, the port of slurmdbd, and who may read its password.

`slurm.conf` of the service is added to: one that a script writes anew needs a controller and the name of the cluster.

Sources: https://slurm.schedmd.com/slurmdbd.conf.html and https://slurm.schedmd.com/slurm.conf.html
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping

from hyperpod_constructs.analysis.schema.violation import listed, meant
from hyperpod_constructs.analysis.scripts import Script
from hyperpod_constructs.analysis.shell import Run
from hyperpod_constructs.analysis.shell_words import Command, Word
from hyperpod_constructs.analysis.texts.machine_scripts import of_scripts
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.facts.slurm_ports import SLURMDBD
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.values import parts_of

_SLURMDBD = "slurmdbd.conf"
_FILE = re.compile(r"(?:slurm|slurmdbd|accounting)\.conf")
_LINE = re.compile(r"^[ \t]*(\w+)[ \t]*=[ \t]*([^#\n]*?)[ \t]*$", re.MULTILINE)
_PLUGINS: Mapping[str, tuple[str, ...]] = {
    "accountingstoragetype": ("accounting_storage/none", "accounting_storage/slurmdbd"),
    "storagetype": ("accounting_storage/mysql",),
}
"""The plugins of options, by their names in small letters."""
_DBD_PORT, _STORAGE_PORT = "dbdport", "accountingstorageport"
_OF_SERVICE = ("/opt/slurm/etc/slurm.conf", "/etc/slurm/slurm.conf")
_MAY_BE_WHOLE = re.compile(r"\s*(?:SlurmctldHost|ControlMachine|ClusterName|include|\?)", re.IGNORECASE)
"""The begin of lines of a whole configuration, or of any lines."""
_WRITING, _HARMLESS = ("cat", "echo"), ("chmod", "chown", "grep", "ls", "test", "[", "[[")
"""Commands that write a text, and others that leave the text of a file as it is."""
_MODE = re.compile(r"0?[0-7]{3}")


def of_script(script: Script) -> Slips:
    """The first mistake in the files that a script writes."""
    return list(_slips(script.run))[:1] if script.run is not None else ()


def _slips(run: Run) -> Iterator[Slip]:
    options: dict[str, tuple[str, int]] = {}
    for before, command in itertools.pairwise((*run.commands[:1], *run.commands)):
        options |= {name: (value, before.line) for name, value in _written(before, command, run)}
        yield from _open_to_others(command, run)
    yield from _overwritten(run)
    for name, plugins in _PLUGINS.items():
        value, line = options.get(name, ("", 0))
        if value and "?" not in value and value not in plugins:
            yield _slip(f"writes {value}, which Slurm does not have{meant(value, plugins)}", line, listed(plugins))
    listens = options.get(_DBD_PORT, (str(SLURMDBD.start), 0))[0]
    asked, line = options.get(_STORAGE_PORT, (listens, 0))
    if asked.isdigit() and listens.isdigit() and asked != listens:
        yield _slip(f"has slurmctld look for slurmdbd at port {asked}, and slurmdbd listens at {listens}", line, listens)


def _slip(says: str, line: int, allowed: str) -> Slip:
    return Slip(f"the script {says} (line {line})", allowed, dead=True)


def _written(command: Command, behind: Command, run: Run) -> Iterator[tuple[str, str]]:
    """The options in a text that a command writes into a file of Slurm, by their names in small letters.

    :param behind: the text, which the reader gives as a command without words.
    """
    places = (_text(word, run) for word in (*command.read, *command.words))
    if not behind.words and any(_FILE.fullmatch(place.rpartition("/")[2]) for place in places):
        for word in behind.read:
            yield from ((name.lower(), value) for name, value in _LINE.findall(_text(word, run)))


def _overwritten(run: Run) -> Iterator[Slip]:
    """The configuration of the service, in whose place a script writes one with which slurmctld does not start."""
    for place, command in enumerate(run.commands):
        emptied = [_text(one.place, run) for one in command.redirected if one.empties]
        if emptied not in [[one] for one in _OF_SERVICE] or command.name not in _WRITING:
            continue
        behind, others = run.commands[place + 1 :], [word for word in command.arguments if command.name == "echo"]
        texts = [*others, *(behind[0].read if behind and not behind[0].words else ())]
        lines = [line for word in texts for line in _text(word, run).split("\n") if line.strip()]
        if lines and not any(map(_MAY_BE_WHOLE.match, lines)) and not any(_changes(one, emptied[0], run) for one in behind):
            says = f"writes {emptied[0]} anew, without the controller and the name of the cluster that are in it"
            yield _slip(says, command.line, "the lines behind those that are there, by >>")


def _changes(command: Command, place: str, run: Run) -> bool:
    """Whether a command may put other lines into a file."""
    words = (*command.arguments, *(one.place for one in command.redirected if not one.empties))
    return command.name not in _HARMLESS and any(place in _text(word, run) for word in words)


def _text(word: Word, run: Run) -> str:
    """The characters of a word, with a question mark for each part that is not known."""
    return "".join(part if isinstance(part, str) else "?" for part in parts_of(run.value(word)))


def _open_to_others(command: Command, run: Run) -> Iterator[Slip]:
    """The file with the password of the database, open to more than its owner: slurmdbd refuses to start."""
    words = [_text(word, run) for word in command.words]
    is_mode = command.name == "chmod" and len(words) == 3 and _MODE.fullmatch(words[1]) is not None
    if is_mode and words[2].rpartition("/")[2] == _SLURMDBD and int(words[1][-2:], 8):
        yield _slip(f"opens {_SLURMDBD} to others by the mode {words[1]}: slurmdbd does not start", command.line, "600")


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = of_scripts(None, of_script)
