"""Files that programs of nodes start by their names alone: objects of S3 have no bit by which a system starts them.

Sources: https://docs.aws.amazon.com/AmazonS3/latest/userguide/UsingObjects.html and
https://www.gnu.org/software/bash/manual/bash.html#Command-Search-and-Execution
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from hyperpod_constructs.analysis.clusters import Group, clusters
from hyperpod_constructs.analysis.embedded import marked
from hyperpod_constructs.analysis.node_programs import LIFE_CYCLE, NodeFile, Programs, Ran, programs_of
from hyperpod_constructs.analysis.schema.violation import Path
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.values import as_str

_CLUSTER = "AWS::SageMaker::Cluster"
_OWN = re.compile(r"\./([\w.-]+)")
_CHANGING = ("chmod", "cp", "install", "mv", "find", "xargs")
"""Commands that may give a file the bit, or bring another file of its name."""
_CHMOD = re.compile(r"\bchmod\b")


def starts(cluster: Resource) -> Slips:
    """The files that nodes of a cluster cannot start, each once."""
    said: set[tuple[Resource, Path]] = set()
    for group in (group for one in clusters(cluster.template.model) if one.resource is cluster for group in one.groups):
        for by, name in _started(group):
            if (by.resource, by.path) not in said:
                said.add((by.resource, by.path))
                says = f"{by.name} of instance group {group.label!r} starts ./{name}: files from S3 have no bit by which they run"
                beside = ((cluster, (*group.path, LIFE_CYCLE)),)
                yield Slip(says, f"{_shell(name)} {name}, or chmod +x before", by.path, dead=True, beside=beside, at=by.resource)


def _shell(name: str) -> str:
    return "python3" if name.endswith(".py") else "bash"


def _started(group: Group) -> Iterator[tuple[NodeFile, str]]:
    """The files beside a program that it starts so, each with the program."""
    programs = programs_of(group)
    for ran in programs.ran:
        found = _OWN.fullmatch(as_str(ran.words[0]) or "") if ran.words else None
        if found is not None and found[1] in programs.files and ran.by in programs.files and not _may_run(programs, found[1]):
            yield programs.files[ran.by], found[1]


def _may_run(programs: Programs, name: str) -> bool:
    """Whether a program may give a file the bit."""
    texts = [marked(one.text)[0] or "" for one in programs.files.values() if one.name.endswith(".py")]
    return any(_CHMOD.search(text) and name in text for text in texts) or any(_touches(ran, name) for ran in programs.ran)


def _touches(ran: Ran, name: str) -> bool:
    """Whether a command may give a file the bit, or bring another one of its name."""
    program, *texts = [as_str(word) for word in ran.words] or [None]
    base = (program or "").rpartition("/")[2]
    is_open = base == "chmod" and None in texts
    return is_open or (base in _CHANGING and any(text in (".", "./", "*", "./*") or _fits(text or "", name) for text in texts))


def _fits(text: str, name: str) -> bool:
    return name in text or (text.rpartition("/")[0] in ("", ".") and text.startswith(("*.", "./*.")) and text[-3:] == name[-3:])


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {_CLUSTER: starts}
