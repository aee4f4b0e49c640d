"""Files for nodes that stand in the templates: they are what their names say, and their programs end well.

Sources: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-lifecycle-best-practices-slurm.html and
https://docs.python.org/3/library/__main__.html
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from hyperpod_constructs.analysis.clusters import Group, clusters
from hyperpod_constructs.analysis.code_runs.parsing import read_code
from hyperpod_constructs.analysis.embedded import marked
from hyperpod_constructs.analysis.node_programs import LIFE_CYCLE, NodeFile, programs_of
from hyperpod_constructs.analysis.schema.violation import Path
from hyperpod_constructs.analysis.texts.reading import from_json, from_yaml
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource

_CLUSTER = "AWS::SageMaker::Cluster"
_NAME, _MAIN = "__name__", "__main__"


class _Mistake(NamedTuple):
    """What is wrong with a file, in words, and what is right."""

    says: str
    allowed: str


def files(cluster: Resource) -> Slips:
    """The files for the groups of a cluster, each once."""
    said: set[tuple[Resource, Path]] = set()
    for group in (group for one in clusters(cluster.template.model) if one.resource is cluster for group in one.groups):
        for file in programs_of(group).files.values():
            place, found = (file.resource, file.path), next(_mistakes(group, file), None)
            if found is not None and place not in said:
                said.add(place)
                message = f"{file.name} for nodes of instance group {group.label!r} {found.says}"
                beside = ((cluster, (*group.path, LIFE_CYCLE)),)
                yield Slip(message, found.allowed, file.path, dead=True, beside=beside, at=file.resource)


def _mistakes(group: Group, file: NodeFile) -> Iterator[_Mistake]:
    read = _KINDS.get(file.name.rpartition(".")[2])
    yield from read(file) if read is not None else ()
    failures = (failure for name, failure in programs_of(group).failures if name == file.name)
    yield from (_Mistake(f"fails in line {one.line}: {one.says}", "a program that ends well") for one in failures)


def _json(file: NodeFile) -> Iterator[_Mistake]:
    found = from_json(file.text)
    if isinstance(found, Slip):
        yield _Mistake(found.message.replace("the text is", "is", 1), found.allowed)


def _yaml(file: NodeFile) -> Iterator[_Mistake]:
    found = from_yaml(file.text)
    if isinstance(found, Slip):
        yield _Mistake(found.message.removeprefix("the text "), found.allowed)


def _python(file: NodeFile) -> Iterator[_Mistake]:
    """A program that Python cannot read, or that compares its name with one that it never has."""
    text, marks = marked(file.text)
    try:
        tree = read_code(text or "")
    except SyntaxError as error:
        if not marks:
            yield _Mistake(f"is no Python: {error.msg} in line {error.lineno}", "a program that Python reads")
        return
    nodes = ast.walk(tree) if tree is not None else ()
    for node in (one for one in nodes if isinstance(one, ast.Compare)):
        sides = [node.left, *node.comparators]
        names = [one.value for one in sides if isinstance(one, ast.Constant)]
        if any(isinstance(one, ast.Name) and one.id == _NAME for one in sides) and names not in ([], [_MAIN]):
            yield _Mistake(f"compares {_NAME} with {names[0]!r} in line {node.lineno}, which it never is", _MAIN)


_KINDS: Mapping[str, Callable[[NodeFile], Iterator[_Mistake]]] = {"json": _json, "py": _python, "yaml": _yaml, "yml": _yaml}
JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {_CLUSTER: files}
