"""Options with which scripts mount file systems: their names, and their values.

Sources: https://man7.org/linux/man-pages/man5/nfs.5.html and
https://github.com/lustre/lustre-release/blob/master/lustre/doc/mount.lustre.8
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hyperpod_constructs.analysis.mount_commands import Mount, mounts_of
from hyperpod_constructs.analysis.schema.violation import listed, nearest
from hyperpod_constructs.analysis.scripts import Script
from hyperpod_constructs.analysis.texts.machine_scripts import of_scripts
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.facts.mount_options import OF_ALL, OF_KINDS, Taken
from hyperpod_constructs.facts.texts import Language

_LIKE = 0.8
"""How alike an option is at least to the one that was meant."""


def of_script(script: Script) -> Slips:
    """The first option of a mount that makes it fail, for any of those who start a script."""
    return [slip for run in script.runs for one in mounts_of(run) for slip in _slips(one)][:1]


def _slips(mount: Mount) -> Iterator[Slip]:
    known = OF_KINDS.get(mount.kind or "", {})
    for option in mount.options if known else ():
        name, equals, value = option.partition("=")
        meant = nearest(name, (*known, *OF_ALL), _LIKE) if name not in {*known, *OF_ALL} and "." not in name else None
        taken = known.get(name)
        if meant is not None:
            yield _slip(mount, option, meant)
        elif equals and taken is not None and _is_other(value, taken):
            yield _slip(mount, option, _told(taken))


def _is_other(value: str, taken: Taken) -> bool:
    """Whether an option does not take a value."""
    if isinstance(taken, range):
        return not (value.isascii() and value.isdigit() and len(value) < 20 and int(value) in taken)
    return taken is not None and value not in taken


def _told(taken: Taken) -> str:
    return f"{taken.start} to {taken.stop - 1}" if isinstance(taken, range) else listed(taken or ())


def _slip(mount: Mount, option: str, allowed: str) -> Slip:
    says = f"the script mounts by the type {mount.kind} in line {mount.line} with {option}, which this does not take"
    return Slip(says, allowed, dead=True)


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = of_scripts(None, of_script)
