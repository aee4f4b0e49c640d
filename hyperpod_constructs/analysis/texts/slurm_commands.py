"""Commands of Slurm in scripts of nodes: those that ask, those that are refused, and daemons in a wrong order or at a wrong port.

Sources: https://slurm.schedmd.com/sacctmgr.html, https://slurm.schedmd.com/scontrol.html,
https://slurm.schedmd.com/configless_slurm.html and https://slurm.schedmd.com/accounting.html
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from hyperpod_constructs.analysis.clusters import Group
from hyperpod_constructs.analysis.node_programs import ENTRIES, LIFE_CYCLE, Programs, programs_of
from hyperpod_constructs.analysis.schema.violation import listed, meant
from hyperpod_constructs.analysis.scripts import Home, Script, scripts_for
from hyperpod_constructs.analysis.shell import Run
from hyperpod_constructs.analysis.shell_words import Command
from hyperpod_constructs.analysis.slurm_accounts import verb_of
from hyperpod_constructs.analysis.slurm_texts import file_of, is_known, slurm_texts, spelled_file
from hyperpod_constructs.analysis.texts.on_nodes import Mistake, of_slurm
from hyperpod_constructs.analysis.texts.slip import Judge, WholeJudge
from hyperpod_constructs.facts import slurm_accounting as facts
from hyperpod_constructs.facts.slurm_configuration import SLURM
from hyperpod_constructs.facts.slurm_ports import SLURMCTLD, SLURMD, SLURMDBD
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.values import UNKNOWN, Value, as_str

_SERVED = re.compile(r"^(?![ \t]*#).*?--conf-server[= ]\"?([^\s\"']+)", re.MULTILINE)
_SERVED_PORT = re.compile(r":(\d{1,5})(?=,|$)")
_STARTING = ("restart", "start", "reload-or-restart", "try-restart")
_CONTROLLER, _DATABASE = "slurmctld", "slurmdbd"
_DEEPEST = 5


def _commands(script: Script) -> Iterator[tuple[Command | None, Command, Run]]:
    """The commands of a script, each with the one before it."""
    run = script.run
    if run is not None:
        yield from ((before, command, run) for before, command in pairwise((None, *run.called)) if command is not None)


def _asking(group: Group) -> Iterator[Mistake]:
    """`sacctmgr` asks before it changes something, and nobody is there to answer."""
    for script in (one for one in scripts_for(group) if one.home is Home.BOOT):
        for before, command, run in _commands(script):
            words = [run.value(word) for word in command.words]
            verb, place = verb_of(words)
            is_answered = (before is not None and before.piped) or any(one.operator.startswith("<") for one in command.redirected)
            if verb and not is_answered and UNKNOWN not in words[1:place] and not _is_immediate(words[1:]):
                says = f"has {facts.PROGRAM} {verb} in line {command.line} ask whether to commit: it commits nothing"
                yield Mistake(file_of(group, script), says, f"{facts.PROGRAM} --immediate {verb}")


def _is_immediate(words: Sequence[Value]) -> bool:
    short, long = facts.IMMEDIATE
    options = [text for word in words if (text := as_str(word) or "").startswith("-")]
    return any(short in text[1:] if text[1:2] != "-" else len(text) > 3 and long.startswith(text[2:]) for text in options)


def _refused(group: Group) -> Iterator[Mistake]:
    """A state of a node that `scontrol` does not set, or only with a reason."""
    for script in scripts_for(group):
        for _, command, run in _commands(script):
            words = [run.value(word) for word in command.words]
            texts = [as_str(word) for word in words]
            if command.name != facts.CONTROL or "update" not in texts or UNKNOWN in words:
                continue
            settings = dict(_settings(words[texts.index("update") + 1 :]))
            state = settings.get("state", "").lower()
            if not {"nodename", "node"} & {*settings} or not state or not is_known(state):
                continue
            place = f"{facts.CONTROL} update with State={settings['state']} in line {command.line}"
            if state in facts.NEEDS_REASON and settings.get("reason") in (None, ""):
                yield Mistake(file_of(group, script), f"has {place} and no reason: {facts.CONTROL} refuses it", "Reason=…")
            elif meant(state, facts.NODE_STATES) and state not in facts.NODE_STATES:
                says = f"has {place}, which is no state that it sets{meant(state, facts.NODE_STATES)}"
                yield Mistake(file_of(group, script), says, listed(facts.NODE_STATES))


def _settings(words: Sequence[Value]) -> Iterator[tuple[str, str]]:
    """The settings of a command by their names in small letters, with a question mark for what is not known."""
    for word in words:
        text = "".join(one if isinstance(one, str) else "?" for one in getattr(word, "parts", (word,)))
        name, equals, value = text.partition("=")
        if equals:
            yield name.lower(), value


def _ports(group: Group) -> Iterator[Mistake]:
    """Another port than the one at which `slurmctld` serves its configuration."""
    lines = [line for text in slurm_texts(group) if text.kind == SLURM and (line := text.last("slurmctldport")) is not None]
    port = lines[0].value if len(lines) == 1 else "" if lines else str(SLURMCTLD.start)
    names = {str(SLURMD.start): "slurmd", str(SLURMDBD.start): _DATABASE}
    for file in programs_of(group).files.values():
        for servers in _SERVED.findall(spelled_file(file) or ""):
            for found in _SERVED_PORT.findall(servers):
                if port.isdecimal() and found != port:
                    of = f", the port of {names[found]}" if found in names else ""
                    says = f"has slurmd ask for its configuration at port {found}{of}, and slurmctld serves it at {port}"
                    yield Mistake(file, says, port)


class _Start(NamedTuple):
    """A daemon that a program starts.

    :param by: the name of the file with the command.
    """

    daemon: str
    by: str


def _order(group: Group) -> Iterator[Mistake]:
    """`slurmctld` before the database's daemon: without associations that it knows, it ends."""
    programs = programs_of(group)
    lines = [line for text in slurm_texts(group) if text.kind == SLURM and (line := text.last("accountingstorageenforce"))]
    enforces = any(value in facts.ENFORCED["associations"] for line in lines for value in line.value.lower().split(","))
    names = [name for key in ENTRIES if (name := as_str(group.get(LIFE_CYCLE, key))) in programs.files]
    starts = [one for name in names if name is not None for one in _starts(name, programs, 0)] if enforces else []
    daemons = [one.daemon for one in starts]
    if _DATABASE in daemons and _CONTROLLER in daemons:
        last = len(daemons) - 1 - daemons[::-1].index(_CONTROLLER)
        if last < daemons.index(_DATABASE):
            says = f"starts {_CONTROLLER}, which enforces associations, before {_DATABASE}: it ends without them"
            yield Mistake(programs.files[starts[last].by], says, f"{_DATABASE} first")


def _starts(name: str, programs: Programs, depth: int) -> Iterator[_Start]:
    """The daemons that a file starts, and the files that it starts, in their order."""
    own = {one.name for one in programs.started if one.by == name and one.arguments is not None}
    for words in (one.words for one in programs.ran if one.by == name):
        texts = [as_str(word) or "" for word in words]
        daemon = _started_by(texts)
        if daemon:
            yield _Start(daemon, name)
        started = next((text.removeprefix("./") for text in texts[:2] if text.removeprefix("./") in own), "")
        if started in programs.files and started != name and depth < _DEEPEST:
            yield from _starts(started, programs, depth + 1)


def _started_by(texts: Sequence[str]) -> str:
    """The daemon of Slurm that a command starts; empty for another command."""
    words = texts[1:] if texts[:1] == ["sudo"] else texts
    program, arguments = (words[0].rpartition("/")[2] if words else ""), [one.removesuffix(".service") for one in words[1:]]
    if program in (_CONTROLLER, _DATABASE) and "-V" not in arguments:
        return program
    is_start = program == "systemctl" and (any(one in arguments for one in _STARTING) or {"enable", "--now"} <= {*arguments})
    is_start = is_start or (program == "service" and any(one in _STARTING for one in arguments[1:2]))
    return next((one for one in (_DATABASE, _CONTROLLER) if one in arguments), "") if is_start else ""


_JUDGES: tuple[Callable[[Group], Iterator[Mistake]], ...] = (_asking, _refused, _ports, _order)
JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = of_slurm(*_JUDGES)
