"""Configuration files of Slurm that scripts write: the plugins that there are, the port of slurmdbd, and who may read its password.

Sources: https://slurm.schedmd.com/slurmdbd.conf.html and https://slurm.schedmd.com/slurm.conf.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from hyperpod_constructs.analysis.database import DATABASES, port_of
from hyperpod_constructs.analysis.schema.violation import listed, meant, nearest
from hyperpod_constructs.analysis.scripts import Script
from hyperpod_constructs.analysis.shell import Run, inner_run
from hyperpod_constructs.analysis.shell_words import Command
from hyperpod_constructs.analysis.texts.machine_scripts import of_scripts
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.analysis.written_texts import HOLE, WrittenText, text_of, texts_written, whole_files
from hyperpod_constructs.facts.slurm_options import SLURMD
from hyperpod_constructs.facts.slurm_ports import SLURMDBD
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Model
from hyperpod_constructs.templates.values import as_str

_SLURM, _SLURMDBD = "slurm.conf", "slurmdbd.conf"
_FILE = re.compile(r"(?:slurm|slurmdbd|accounting)\.conf")
_LINE = re.compile(r"^[ \t]*(\w+)[ \t]*=[ \t]*([^#\n]*?)[ \t]*$", re.MULTILINE)
_INCLUDE = re.compile(r"^[ \t]*include[ \t]+(\S+)[ \t]*$", re.MULTILINE | re.IGNORECASE)
_PLUGINS: Mapping[str, tuple[str, ...]] = {
    "accountingstoragetype": ("accounting_storage/none", "accounting_storage/slurmdbd"),
    "storagetype": ("accounting_storage/mysql",),
}
"""The plugins of options, by their names in small letters."""
_DBD_PORT, _STORAGE_PORT = "dbdport", "accountingstorageport"
_USER, _DATABASE_HOST, _DATABASE_PORT = "slurmuser", "storagehost", "storageport"
_OF_SLURM = ("accountingstorage", "jobacctgather", "jobcomp", "slurmctld", "slurmd")
"""The beginnings of options of `slurm.conf` that `slurmdbd.conf` does not have."""
_MODE, _OWNER = re.compile(r"0?[0-7]{3}"), re.compile(r"([a-z_][\w-]*)(?:[:.].*)?")
_PROXY, _MYSQL, _MYSQL_PORT = "AWS::RDS::DBProxy", re.compile(r"mysql|mariadb"), 3306
_OF_SERVICE = ("/opt/slurm/etc/slurm.conf", "/etc/slurm/slurm.conf")
_MAY_BE_WHOLE = re.compile(r"\s*(?:SlurmctldHost|ControlMachine|ClusterName|include|\?)", re.IGNORECASE)
"""The begin of lines of a whole configuration, or of any lines."""
_HARMLESS = ("chmod", "chown", "grep", "ls", "test", "[", "[[")
"""Commands that leave the text of a file as it is."""
_DAEMON, _ITS_OPTIONS, _OPTION = "slurmd", "SLURMD_OPTIONS", re.compile(r"(?:^|(?<=[\s\"'=]))--([a-z][a-z-]*)(?![\w-])")
_STARTED = re.compile(rf"(?:^[ \t]*ExecStart=\S*/{_DAEMON}\b|\b{_ITS_OPTIONS}=)(.*)$", re.MULTILINE)


class _Given(NamedTuple):
    """The value of an option, and the line in which its text begins."""

    value: str
    line: int


def of_script(script: Script) -> Slips:
    """The first mistake in the files that a script writes."""
    return list(_slips(script, script.run))[:1] if script.run is not None else ()


def _slips(script: Script, run: Run) -> Iterator[Slip]:
    texts = list(texts_written(run))
    options = {name: given for text in texts for name, given in _options(text, _FILE)}
    yield from (slip for command in run.called for slip in _open_to_others(command, run))
    yield from _of_others(run, {name: given for text in texts for name, given in _options(text, re.compile(_SLURMDBD))})
    yield from _plugins(options)
    yield from _ports(options)
    yield from _database(options, script.resource.template.model)
    yield from _included(texts)
    yield from _of_daemon(run, texts)
    yield from _overwritten(run, texts)


def _plugins(options: Mapping[str, _Given]) -> Iterator[Slip]:
    for name, plugins in _PLUGINS.items():
        value, line = options.get(name, ("", 0))
        if value and HOLE not in value and value not in plugins:
            yield _slip(f"writes {value}, which Slurm does not have{meant(value, plugins)}", line, listed(plugins))


def _ports(options: Mapping[str, _Given]) -> Iterator[Slip]:
    listens = options.get(_DBD_PORT, (str(SLURMDBD.start), 0))[0]
    asked, line = options.get(_STORAGE_PORT, (listens, 0))
    if asked.isdigit() and listens.isdigit() and asked != listens:
        yield _slip(f"has slurmctld look for slurmdbd at port {asked}, and slurmdbd listens at {listens}", line, listens)


def _database(options: Mapping[str, _Given], model: Model) -> Iterator[Slip]:
    """The port of the database, where its host is known to the deployment alone, and the templates have it."""
    asked, line = options.get(_DATABASE_PORT, ("", 0))
    databases = model.resources(*DATABASES)
    engines = [as_str(one.get("Engine")) for one in databases]
    ports = [port_of(one) for one, engine in zip(databases, engines, strict=True) if engine is None or _MYSQL.search(engine)]
    is_ours = HOLE in options.get(_DATABASE_HOST, ("", 0))[0] and ports and None not in ports
    known = sorted({*(one for one in ports if one is not None), *([_MYSQL_PORT] if model.resources(_PROXY) else [])})
    if is_ours and asked.isdigit() and int(asked) not in known:
        yield _slip(f"has slurmdbd look for its database at port {asked}, and that listens at {listed(known)}", line, listed(known))


def _slip(says: str, line: int, allowed: str) -> Slip:
    return Slip(f"the script {says} (line {line})", allowed, dead=True)


def _options(text: WrittenText, file: re.Pattern[str]) -> Iterator[tuple[str, _Given]]:
    """The options in a text for a file of Slurm, by their names in small letters."""
    if file.fullmatch(text.name):
        yield from ((name.lower(), _Given(value, text.line)) for name, value in _LINE.findall(text.text))


def _open_to_others(command: Command, run: Run) -> Iterator[Slip]:
    """The file with the password of the database, open to more than its owner: slurmdbd refuses to start."""
    words = [text_of(word, run) for word in command.words]
    is_mode = command.name == "chmod" and len(words) == 3 and _MODE.fullmatch(words[1]) is not None
    if is_mode and words[2].rpartition("/")[2] == _SLURMDBD and int(words[1][-2:], 8):
        yield _slip(f"opens {_SLURMDBD} to others by the mode {words[1]}: slurmdbd does not start", command.line, "600")


def _of_others(run: Run, options: Mapping[str, _Given]) -> Iterator[Slip]:
    """The same file, of another owner than the one as whom slurmdbd runs."""
    user, owners = options.get(_USER, ("", 0))[0], list(_owners(run))
    if user and HOLE not in user and owners and owners[-1].value not in ("", user):
        owner, line = owners[-1]
        yield _slip(f"gives {_SLURMDBD} to {owner}, and slurmdbd runs as {user}: it does not start", line, user)


def _owners(run: Run) -> Iterator[_Given]:
    """The owners that commands give the file, or a folder that may have it; empty for one that is not known."""
    for command in (one for one in run.called if one.name == "chown"):
        words = [text_of(word, run) for word in command.arguments]
        names = [word for word in words if not word.startswith("-")]
        owner = _OWNER.fullmatch(names[0]) if names else None
        if any(place.rpartition("/")[2] == _SLURMDBD for place in names[1:]):
            yield _Given(owner[1] if owner is not None else "", command.line)
        elif len(words) > len(names):
            yield _Given("", command.line)


def _included(texts: list[WrittenText]) -> Iterator[Slip]:
    """Options of `slurm.conf` in a file that `slurmdbd.conf` includes."""
    written = {text.name: text for text in whole_files(texts)}
    for text in (one for one in texts if one.name == _SLURMDBD):
        for name in _INCLUDE.findall(text.text):
            own = written.get(name.rpartition("/")[2])
            option = next((one for one, _ in _LINE.findall(own.text) if one.lower().startswith(_OF_SLURM)), "") if own else ""
            if option:
                says = f"has {_SLURMDBD} include {name} with {option}, which is an option of {_SLURM}"
                yield _slip(says, text.line, f"the line in {_SLURM}")


def _of_daemon(run: Run, texts: list[WrittenText]) -> Iterator[Slip]:
    """An option of `slurmd` that it does not have, and that is nearly one of its own."""
    for words, line in (*_of_commands(run), *((found, text.line) for text in texts for found in _STARTED.findall(text.text))):
        for name in _OPTION.findall(words):
            near = nearest(name, SLURMD, 0.8)
            if near is not None and not any(one.startswith(name) for one in SLURMD):
                yield _slip(f"gives {_DAEMON} --{name}, which it does not have; the nearest is --{near}", line, f"--{near}")


def _of_commands(run: Run) -> Iterator[tuple[str, int]]:
    """The options that commands give it, also by the variable of its unit."""
    for command in run.called:
        given = [text_of(word, run) for name, word in command.given if name == _ITS_OPTIONS]
        exported = [found[1] for word in command.arguments for found in _STARTED.finditer(text_of(word, run))]
        own = [text_of(word, run) for word in command.arguments] if command.name == _DAEMON else []
        yield from ((text, command.line) for text in (*given, *exported, *own))


def _overwritten(run: Run, texts: list[WrittenText]) -> Iterator[Slip]:
    """The configuration of the service, in whose place a script writes one with which slurmctld does not start."""
    for text in (one for one in texts if one.place in _OF_SERVICE and not one.adds):
        lines = [line for line in text.text.split("\n") if line.strip()]
        is_part = bool(lines) and not any(map(_MAY_BE_WHOLE.match, lines))
        if is_part and not any(_changes(command, text.place, inside) for command, inside in _behind(run, text.numbers)):
            says = f"writes {text.place} anew, without the controller and the name of the cluster that are in it"
            yield _slip(says, run.called[text.numbers[0]].line, "the lines behind those that are there, by >>")


def _behind(run: Run, numbers: Sequence[int]) -> Iterator[tuple[Command, Run]]:
    """The commands behind the one of these places, in its own shell and in those around it."""
    number, *further = numbers
    command, *behind = run.called[number:]
    yield from ((one, run) for one in behind)
    inner = inner_run(command, run) if further else None
    if inner is not None:
        yield from _behind(inner, further)


def _changes(command: Command, place: str, run: Run) -> bool:
    """Whether a command may put other lines into a file."""
    words = (*command.arguments, *(one.place for one in command.redirected if one.writes and not one.empties))
    return command.name not in _HARMLESS and any(place in text_of(word, run) for word in words)


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = of_scripts(None, of_script)
