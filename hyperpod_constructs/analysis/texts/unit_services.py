"""Services of systemd: pairs of options that it refuses, programs that do not run as their type says, and limits.

Sources: https://www.freedesktop.org/software/systemd/man/latest/systemd.service.html and
https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hyperpod_constructs.analysis.clusters import Group
from hyperpod_constructs.analysis.node_programs import programs_of
from hyperpod_constructs.analysis.placed_files import placed_files
from hyperpod_constructs.analysis.schema.violation import listed
from hyperpod_constructs.analysis.texts.reading import HOLE
from hyperpod_constructs.analysis.texts.unit_reader import Unit, UnitPlace, program_of
from hyperpod_constructs.facts.daemons import ALWAYS_THERE, FOREGROUND

_SERVICE = "Service"
_AGAIN = ("always", "on-success")
_LEFT = ("exec", "idle", "notify", "simple", "")
"""Types of services whose program stays in the foreground."""
_OPERATORS = ("&", "&&", "<", ">", ">>", "|", "||", "2>&1", "&>", "2>")
_SHELLS = ("bash", "dash", "sh", "env")
_COMMANDS = ("ExecStart", "ExecStartPre", "ExecStartPost", "ExecStop", "ExecStopPost", "ExecReload", "ExecCondition")
_LOCKED, _ENDLESS = "LimitMEMLOCK", "infinity"
_OF_JOBS = ("containerd.service", "docker.service", "kubelet.service", "slurmd.service")
"""Services whose limits jobs inherit."""


def mistakes_in_service(group: Group, unit: Unit, place: UnitPlace) -> Iterator[tuple[str, str]]:
    """What is wrong with a service, in words, and what is right."""
    if place.kind == "service":
        commands = [one for name in _COMMANDS for one in unit.all(_SERVICE, name)]
        yield from () if place.part else _refused(unit)
        yield from (found for one in commands for found in _command(group, one))
        yield from _running(unit)


def mistakes_of_limits(group: Group, unit: Unit, place: UnitPlace) -> Iterator[tuple[str, str]]:
    """A limit of locked memory, where jobs register memory with network cards."""
    limit = unit.last(_SERVICE, _LOCKED)
    is_small = bool(limit) and HOLE not in limit and not {_ENDLESS, "%"} & {*limit.split(":"), *limit}
    efa = [one.name for one in group.types or () if one.efa_interfaces]
    if is_small and place.unit in _OF_JOBS and efa:
        says = f"has {_LOCKED}={limit}, which jobs inherit on {efa[0]}, whose EFA needs locked memory without a limit"
        yield says, _ENDLESS


def _refused(unit: Unit) -> Iterator[tuple[str, str]]:
    """Options with which systemd does not load a service."""
    kind, again = unit.last(_SERVICE, "Type"), unit.last(_SERVICE, "Restart")
    starts, stops = unit.all(_SERVICE, "ExecStart"), unit.all(_SERVICE, "ExecStop")
    is_kept = unit.last(_SERVICE, "RemainAfterExit").lower() in ("yes", "true", "on", "1")
    if kind == "oneshot" and again in _AGAIN:
        yield f"has Type=oneshot with Restart={again}, which systemd refuses", "on-failure, or another Type"
    if kind != "oneshot" and len(starts) > 1:
        yield f"has ExecStart {len(starts)} times, which systemd refuses without Type=oneshot", "one ExecStart"
    if kind == "dbus" and not unit.last(_SERVICE, "BusName"):
        yield "has Type=dbus without BusName, which systemd refuses", "BusName"
    if not starts and not unit.last("Unit", "SuccessAction") and not (kind == "oneshot" and stops and is_kept):
        yield "has no ExecStart, without which systemd refuses a service", "ExecStart"


def _command(group: Group, command: str) -> Iterator[tuple[str, str]]:
    program, words = program_of(command)
    if HOLE in program or program.startswith(("%", "$")):
        return
    if "/" in program and not program.startswith("/"):
        yield f"starts {program}, which is no path from the root", f"/…/{program}"
    wrong = next((one for one in words if one in _OPERATORS), None)
    if wrong is not None and program.rpartition("/")[2] not in _SHELLS and HOLE not in command:
        yield f"starts {program} with {wrong} as an argument: no shell reads the command", f"/bin/sh -c '… {wrong} …'"
    placed = [one for one in placed_files(programs_of(group)) if one.place == program]
    if placed and all(one.runs is False for one in placed):
        yield f"starts {program}, which {placed[0].by} puts there without a bit by which it runs", "the mode 755"


def _running(unit: Unit) -> Iterator[tuple[str, str]]:
    """A program that stays in the foreground or leaves it otherwise than the type of the service says."""
    kind, (command, *_) = unit.last(_SERVICE, "Type"), (*unit.all(_SERVICE, "ExecStart"), "")
    program, words = program_of(command)
    name = program.rpartition("/")[2]
    wanted = FOREGROUND.get(name, ())
    stays = name in ALWAYS_THERE or any(_is_given(one, words) for one in wanted)
    is_known = HOLE not in command and "$" not in command
    if kind == "forking" and stays:
        yield f"has Type=forking, and {name} stays in the foreground: systemd stops it when its start takes too long", "simple"
    elif kind in _LEFT and wanted and not stays and is_known:
        says = f"starts {name} without {listed(wanted)}: it leaves the foreground, and systemd takes the service for ended"
        yield says, f"{wanted[0]}, or Type=forking"


def _is_given(option: str, words: tuple[str, ...]) -> bool:
    """Whether an option is among words, also a letter with others behind one hyphen."""
    letter = option[1:] if re.fullmatch(r"-\w", option) else ""
    return option in words or bool(letter and any(re.fullmatch(rf"-[a-zA-Z]*{letter}[a-zA-Z]*", one) for one in words))
