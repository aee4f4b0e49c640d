"""Files for nodes that stand in the templates: they are what their names say, and their programs end well.

Sources: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-lifecycle-best-practices-slurm.html and
https://docs.python.org/3/library/__main__.html
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from hyperpod_constructs.analysis.clusters import Group, clusters
from hyperpod_constructs.analysis.code_runs.parsing import read_code
from hyperpod_constructs.analysis.embedded import marked
from hyperpod_constructs.analysis.node_programs import LIFE_CYCLE, NodeFile, programs_of
from hyperpod_constructs.analysis.references.places import names
from hyperpod_constructs.analysis.schema.violation import Path
from hyperpod_constructs.analysis.texts import provisioning
from hyperpod_constructs.analysis.texts.reading import from_json, from_yaml
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.dependencies import raw_at
from hyperpod_constructs.templates.model import Resource

_CLUSTER = "AWS::SageMaker::Cluster"
_PSEUDO, _SHELLS = "AWS::", (".bash", ".env", ".sh")
"""The begin of names of pseudo parameters, and ends of names of files for a shell, which has no such variables."""
_SECRET = re.compile(r"\{\{resolve:(?:secretsmanager|ssm-secure):")
"""The begin of a reference for which CloudFormation writes a secret."""
_DATA = (".cfg", ".conf", ".ini", ".json", ".toml", ".yaml", ".yml")
"""The ends of names of files in which neither a shell nor Python gives variables a value."""
_VARIABLE = re.compile(r"\$\{((?:AWS::)?[A-Za-z0-9]{1,255}(?:\.[A-Za-z0-9.]{1,255})?)\}")
_REPLACING = re.compile(r"envsubst|expandvars|substitute|replace|\bsed\b")
"""What gives variables in a file a value."""
_NAME, _MAIN = "__name__", "__main__"


class _Mistake(NamedTuple):
    """What is wrong with a file, in words, and what is right."""

    says: str
    allowed: str


def files(cluster: Resource) -> Slips:
    """The files for the groups of a cluster, each once."""
    said: set[tuple[Resource, Path]] = set()
    for group in (group for one in clusters(cluster.template.model) if one.resource is cluster for group in one.groups):
        for file, found in _found(group):
            place = (file.resource, file.path)
            if place not in said:
                said.add(place)
                message = f"{file.name} for nodes of instance group {group.label!r} {found.says}"
                beside = ((cluster, (*group.path, LIFE_CYCLE)),)
                yield Slip(message, found.allowed, file.path, dead=True, beside=beside, at=file.resource)


def _found(group: Group) -> Iterator[tuple[NodeFile, _Mistake]]:
    for file in programs_of(group).files.values():
        yield from ((file, one) for one in itertools.islice(_mistakes(group, file), 1))
    for file in _with_secrets(group):
        says = "gets a secret when it is uploaded, in clear text in the bucket and on every node"
        yield file, _Mistake(says, "a command that reads the secret where it is used")


def _mistakes(group: Group, file: NodeFile) -> Iterator[_Mistake]:
    yield from _misread(file)
    yield from _kept(group, file)
    failures = [failure for name, failure in programs_of(group).failures if name == file.name]
    for one in failures if failures and not _reads_mistakes(group, file) else ():
        yield _Mistake(f"fails in line {one.line}: {one.says}", "a program that ends well")


def _kept(group: Group, file: NodeFile) -> Iterator[_Mistake]:
    """A name of the template between `${` and `}` in a file with data, which keeps it as it stands."""
    text = marked(file.text)[0] if file.name.endswith((*_DATA, *_SHELLS)) else None
    found = dict.fromkeys(_VARIABLE.findall(text)) if text is not None else {}
    others = [marked(one.text)[0] or "" for one in programs_of(group).files.values() if one.name != file.name] if found else []
    known = _names(file) if found and not file.name.endswith(_SHELLS) else ()
    for name in (one for one in found if one.startswith(_PSEUDO) or one.partition(".")[0] in known):
        replaced = any(name in other or (file.name in other and _REPLACING.search(other)) for other in others)
        if not replaced:
            yield _Mistake(f"keeps ${{{name}}} as it stands", f"${{{name}}} in a text of Fn::Sub")


def _with_secrets(group: Group) -> Iterator[NodeFile]:
    """The files with a secret; as values, their texts are not known."""
    for resource, path in dict.fromkeys((one.resource, one.path[:-1]) for one in programs_of(group).files.values()):
        beside = raw_at(resource, path) if path else None
        for name, raw in beside.items() if isinstance(beside, dict) else ():
            if _SECRET.search(str(raw)):
                yield NodeFile(name, resource, (*path, name), "")


def _names(file: NodeFile) -> frozenset[str]:
    """The names for which a text of the template has values."""
    raw = raw_at(file.resource, file.path)
    given = raw.get("Fn::Sub") if isinstance(raw, dict) else None
    own = given[1] if isinstance(given, list) and len(given) > 1 and isinstance(given[1], dict) else {}
    return frozenset((*own, *(names(file.resource.template, "Parameters", "Resources") or ())))


def _misread(file: NodeFile) -> Iterator[_Mistake]:
    """What a file is not, by its name."""
    read = _KINDS.get(file.name.rpartition(".")[2])
    yield from read(file) if read is not None else ()


def _reads_mistakes(group: Group, program: NodeFile) -> bool:
    """Whether a program reads a file with a mistake, for which it may fail."""
    programs = programs_of(group)
    names = {one.name for one in programs.started if one.by == program.name and one.arguments is None} & {*programs.files}
    if provisioning.FILE in names and any(provisioning.uploaded(group.resource)):
        return True
    return any(any(_misread(programs.files[name])) for name in names)


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
