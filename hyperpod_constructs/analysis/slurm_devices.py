"""Generic resources of nodes, such as GPUs: what configurations of Slurm give nodes, and what batch scripts ask for.

Sources: https://slurm.schedmd.com/gres.html and https://slurm.schedmd.com/gres.conf.html
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from hyperpod_constructs.analysis.batch_scripts import read_batch
from hyperpod_constructs.analysis.clusters import Group
from hyperpod_constructs.analysis.code_runs.parsing import parsed_code
from hyperpod_constructs.analysis.node_programs import NodeFile, programs_of
from hyperpod_constructs.analysis.slurm_texts import SlurmText, is_known, spelled_file, spelled_node
from hyperpod_constructs.facts.slurm_configuration import GRES, SLURM

_NODES = re.compile(r"(?:^|\s)Gres=([\w:.,?()-]+)", re.IGNORECASE)
_GRES = re.compile(r"([a-z]\w*)(?::([A-Za-z][\w.-]*|\?+))?(?::(\d+|\?+))?(?:\([^)]*\))?")
_RANGE = re.compile(r"\[([\d,-]+)\]")
_MOST = 1024


class Device(NamedTuple):
    """Resources of one kind.

    :param name: such as `gpu`.
    :param type_: empty without a type; `None` if it is not known.
    :param number: `None` if it is not known.
    :param nodes: the nodes that a line names; empty for all.
    """

    name: str
    type_: str | None
    number: int | None
    file: NodeFile
    nodes: str = ""


def of_nodes(group: Group, texts: tuple[SlurmText, ...]) -> Iterator[Device]:
    """What `slurm.conf` says that nodes have, also in pieces of lines that programs in Python add."""
    for text in texts:
        for line in text.lines if text.kind == SLURM else ():
            yield from _listed(line.get("gres"), text.file)
    for file in programs_of(group).files.values():
        code = spelled_file(file) if file.name.endswith(".py") else None
        tree = parsed_code(code) if code else None
        inside = {id(one) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for one in node.values} if tree else ()
        for node in ast.walk(tree) if tree is not None else ():
            if isinstance(node, ast.Constant | ast.JoinedStr) and id(node) not in inside:
                said = spelled_node(node)
                yield from (one for found in _NODES.findall(said) for one in _listed(found, file) if "\n" not in said)


def of_devices(texts: tuple[SlurmText, ...]) -> Iterator[Device]:
    """What `gres.conf` says that nodes have; nothing for a file that looks for devices by itself."""
    texts = tuple(one for one in texts if one.kind == GRES)
    if any(line.get("autodetect").lower() not in ("", "off") for text in texts for line in text.lines):
        return
    for text in texts:
        for line in text.lines:
            type_, name = line.get("type"), line.get("name")
            if name and is_known(name):
                files, count = line.get("file") or line.get("multiplefiles"), line.get("count")
                number = int(count) if count.isdecimal() and len(count) < 6 else _files(files) if not count else None
                yield Device(name.lower(), type_ if is_known(type_) else None, number, text.file, line.get("nodename"))


def of_jobs(group: Group) -> Iterator[Device]:
    """What batch scripts ask of each node."""
    for file in programs_of(group).files.values():
        batch = read_batch(spelled_file(file) or "")
        if batch is not None:
            yield from _listed((batch.value("gres") or "").replace("gres/", "").replace("gres:", ""), file)
            asked = batch.value("gpus-per-node")
            yield from _listed(f"gpu:{asked}", file) if asked else ()


def _listed(text: str, file: NodeFile) -> Iterator[Device]:
    """The resources of a list such as `gpu:h100:8,nic:4`."""
    for one in text.split(","):
        found = _GRES.fullmatch(one)
        if found is not None:
            type_, count = found[2] or "", found[3] or "1"
            known = None if type_ and not is_known(type_) else type_
            known, count = (None, "?") if known is None and not found[3] else (known, count)
            yield Device(found[1], known, int(count) if count.isdecimal() and len(count) < 6 else None, file)


def _files(text: str) -> int | None:
    """The number of devices of a list of paths with ranges in brackets."""
    if not text or not is_known(text):
        return None
    count = 0
    for path in re.split(r",(?![^\[]*\])", text)[:_MOST]:
        found = _RANGE.findall(path)
        if len(found) > 1 or ("[" in path and not found):
            return None
        count += sum(map(_width, found[0].split(","))) if found else 1
    return count if count <= _MOST else None


def _width(text: str) -> int:
    first, dash, last = text.partition("-")
    if not first.isdecimal() or (dash and not last.isdecimal()) or len(text) > 11:
        return 0
    return max(int(last) - int(first) + 1, 0) if dash else 1
