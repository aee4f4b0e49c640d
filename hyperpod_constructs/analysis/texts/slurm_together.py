"""Slurm's configuration files against each other, and against the files and commands that nodes get.

Sources: https://slurm.schedmd.com/slurm.conf.html, https://slurm.schedmd.com/configless_slurm.html,
https://slurm.schedmd.com/cgroup.conf.html and https://github.com/NVIDIA/pyxis
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatchcase

from hyperpod_constructs.analysis.batch_scripts import read_batch
from hyperpod_constructs.analysis.clusters import Group
from hyperpod_constructs.analysis.node_programs import NodeFile, programs_of
from hyperpod_constructs.analysis.placed_files import placed_files
from hyperpod_constructs.analysis.schema.violation import listed
from hyperpod_constructs.analysis.slurm_texts import Line, SlurmText, is_known, slurm_texts, spelled_file
from hyperpod_constructs.analysis.texts.on_nodes import Mistake, of_slurm
from hyperpod_constructs.analysis.texts.slip import Judge, WholeJudge
from hyperpod_constructs.analysis.typo import typo_of
from hyperpod_constructs.facts import slurm_configuration as facts
from hyperpod_constructs.facts.slurm_ports import SLURMDBD
from hyperpod_constructs.facts.texts import Language

_LOCALHOST = re.compile(r"localhost|127(?:\.\d{1,3}){3}|::1")
_YES = ("yes", "true", "up", "1")
_SERVED = "--conf-server"
_PLUGIN, _STACK, _IMAGE = "pyxis", re.compile(r"plugstack|spank_pyxis"), re.compile(r"--container-(?:image|name)\b")
_GLOB, _MOST_GLOBS = re.compile(r"/[\w./-]{1,100}\*[\w.*-]{0,60}"), 50
_PATHS = r"(?<![\w./-])(/[\w./*?-]*{})(?![\w-])"


def _found(group: Group, kind: str, name: str) -> Iterator[tuple[SlurmText, Line]]:
    """The lines of an option of one file, the one that counts of each text."""
    for text in slurm_texts(group):
        line = text.last(name) if text.kind == kind else None
        if line is not None:
            yield text, line


def _at(text: SlurmText, line: Line, says: str, allowed: str) -> Mistake:
    return Mistake(text.file, says, allowed, line.number if text.own else 0)


def _others(group: Group, file: NodeFile) -> Iterator[tuple[NodeFile, str]]:
    """The other files of the nodes with their characters; those that are very long have none."""
    yield from ((one, spelled_file(one) or "") for one in programs_of(group).files.values() if one is not file)


def _host(group: Group) -> Iterator[Mistake]:
    """A daemon of the database on each node itself: other nodes than the controller take the same file."""
    for text, line in _found(group, facts.SLURM, "accountingstoragehost"):
        if _LOCALHOST.fullmatch(line.value) and len(group.cluster.groups) > 1:
            says = f"has AccountingStorageHost {line.value}, and nodes that are not the controller have no slurmdbd there"
            yield _at(text, line, says, "the name of the controller")


def _port(group: Group) -> Iterator[Mistake]:
    """Another port than the one at which `slurmdbd` listens, in another file; one script alone is judged elsewhere."""
    listening = [line for _, line in _found(group, facts.SLURMDBD, facts.PORTS[facts.SLURMDBD])]
    own = [text for text in slurm_texts(group) if text.kind == facts.SLURMDBD]
    port = listening[0].value if len(listening) == 1 else "" if listening else str(SLURMDBD.start)
    for text, line in _found(group, facts.SLURM, facts.PORTS[facts.SLURM]):
        is_elsewhere = len(own) == 1 and own[0].file is not text.file
        if is_elsewhere and line.value.isdecimal() and port.isdecimal() and line.value != port:
            says = f"has slurmctld look for slurmdbd at port {line.value}, and slurmdbd listens at {port}"
            yield _at(text, line, says, port)


def _agreeing(group: Group) -> Iterator[Mistake]:
    """Another user or plugin of the two daemons, of which one does not believe the other."""
    for name in facts.AGREEING:
        of_database = [line for _, line in _found(group, facts.SLURMDBD, name)]
        for text, line in _found(group, facts.SLURM, name):
            others = {one.value for one in of_database}
            if len(others) == 1 and all(map(is_known, (*others, line.value))) and line.value not in {*others, "root"}:
                other = others.pop()
                says = f"has {line.pairs[0][0]} {line.value}, and slurmdbd.conf {other}: the daemons do not trust each other"
                yield _at(text, line, says, other)


def _served(group: Group) -> Iterator[Mistake]:
    """Parameters of `slurmctld` in the place of those with which it serves its configuration."""
    asks = any(_SERVED in (spelled_file(one) or "") for one in programs_of(group).files.values())
    for text, line in _found(group, facts.SLURM, "slurmctldparameters"):
        is_meant = any(typo_of(one, (facts.CONFIGLESS,)) is not None for one in line.value.lower().split(","))
        elsewhere = is_meant or any(facts.CONFIGLESS in said for _, said in _others(group, text.file))
        if asks and is_known(line.value) and facts.CONFIGLESS not in line.value.lower() and not elsewhere:
            says = f"has SlurmctldParameters {line.value} without {facts.CONFIGLESS}: slurmd {_SERVED} gets no configuration"
            yield _at(text, line, says, f"{facts.CONFIGLESS},{line.value}")


def _constrained(group: Group) -> Iterator[Mistake]:
    """Limits of `cgroup.conf` that no plugin applies."""
    names = [
        line.pairs[0][0]
        for name in facts.CONSTRAINING
        for _, line in _found(group, facts.CGROUP, name)
        if line.value.lower() in _YES
    ]
    for text, line in _found(group, facts.SLURM, "taskplugin"):
        if names and is_known(line.value) and facts.TASK_CGROUP not in line.value.lower():
            says = f"has TaskPlugin {line.value} without {facts.TASK_CGROUP}, which applies {names[0]} of cgroup.conf"
            yield _at(text, line, says, f"{line.value},{facts.TASK_CGROUP}")


def _scripts(group: Group) -> Iterator[Mistake]:
    """A script that is put elsewhere."""
    programs = programs_of(group)
    placed = placed_files(programs)
    for name in facts.SCRIPTS:
        for text, line in _found(group, facts.SLURM, name):
            folder, _, file = line.value.rpartition("/")
            places = sorted({one.place for one in placed if one.source.rpartition("/")[2] == file or one.name == file})
            mentioned = any(line.value in said for _, said in _others(group, text.file))
            is_known_ = file in programs.files and bool(folder) and is_known(line.value) and all(map(is_known, places))
            if any(one.place == line.value and one.runs is False for one in placed):
                says = f"has {line.pairs[0][0]} {line.value}, which is put there without the permission to run"
                yield _at(text, line, says, "install -m 0755")
            if is_known_ and places and line.value not in places and not mentioned:
                says = f"has {line.pairs[0][0]} {line.value}, and {file} is put at {listed(places)}"
                yield _at(text, line, says, listed(places))


def _logs(group: Group) -> Iterator[Mistake]:
    """The log of a daemon at another place than the one that others read and turn."""
    for kind, name in facts.LOGS:
        for text, line in _found(group, kind, name):
            file = line.value.rpartition("/")[2]
            if file and line.value.startswith("/") and is_known(line.value):
                said = [one for other, one in _others(group, text.file) if not other.name.endswith((".sbatch", ".md"))]
                pattern = re.compile(_PATHS.format(re.escape(file)))
                read = sorted({path for one in said for path in pattern.findall(one)})
                matched = any(fnmatchcase(line.value, glob) for one in said for glob in _GLOB.findall(one)[:_MOST_GLOBS])
                if read and line.value not in read and not matched:
                    says = f"has {line.pairs[0][0]} {line.value}, and other files of the nodes read {listed(read)}"
                    yield _at(text, line, says, listed(read))


def _plugins(group: Group) -> Iterator[Mistake]:
    """Containers of jobs without the plugin that starts them, where scripts write the configuration and install it."""
    files = [(one, spelled_file(one)) for one in programs_of(group).files.values()]
    jobs = [one for one, text in files if text and read_batch(text) is not None and _IMAGE.search(text)]
    others = [(one, text or "plugstack") for one, text in files if one not in jobs]
    own = [one.file for one in slurm_texts(group) if one.kind in (facts.SLURM, facts.CGROUP, facts.GRES)]
    installs = any(_PLUGIN in text for _, text in others)
    if jobs and own and installs and not any(_STACK.search(text) for _, text in others):
        writing = next((one for one in own if one.name.endswith((".py", ".sh"))), own[0])
        says = f"puts no plugstack.conf beside the other files, and {jobs[0].name} asks for containers: no plugin takes them"
        yield Mistake(writing, says, "plugstack.conf with spank_pyxis.so")


_JUDGES: tuple[Callable[[Group], Iterator[Mistake]], ...] = (
    _host,
    _port,
    _agreeing,
    _served,
    _constrained,
    _scripts,
    _logs,
    _plugins,
)
JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = of_slurm(*_JUDGES)
