"""Marks in files of nodes, such as `@CONTROLLER@`, which no program fills: they stand in the file as they are.

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-lifecycle-best-practices-slurm.html
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from hyperpod_constructs.analysis.clusters import Group
from hyperpod_constructs.analysis.code_runs.parsing import parsed_code
from hyperpod_constructs.analysis.node_programs import NodeFile, programs_of
from hyperpod_constructs.analysis.slurm_texts import spelled_file
from hyperpod_constructs.analysis.texts.on_nodes import Mistake, of_slurm
from hyperpod_constructs.analysis.texts.slip import Judge, WholeJudge
from hyperpod_constructs.facts.texts import Language

_MARK = re.compile(r"@([A-Z][A-Z0-9_]{2,60})@|\{\{ ?([A-Z][A-Z0-9_]{2,60}) ?\}\}|%%([A-Z][A-Z0-9_]{2,60})%%")
_DATA = (".cfg", ".conf", ".ini", ".json", ".service", ".timer", ".toml", ".yaml", ".yml")
_READING, _WRITING = ("read_text", "read"), ("write_text", "write", "print")
_FILLING = ("format", "format_map", "safe_substitute", "sub", "substitute", "translate", "render")
"""Methods that put other texts into a text."""


def _mistakes(group: Group) -> Iterator[Mistake]:
    texts = {one.name: spelled_file(one) for one in programs_of(group).files.values()}
    for file in programs_of(group).files.values():
        text = texts[file.name] or ""
        found = _MARK.search(text) if file.name.endswith(_DATA) else None
        if found is not None:
            others = {name: one for name, one in texts.items() if name != file.name}
            line = text.count("\n", 0, found.start()) + 1
            yield from _unfilled(file, found, line, others)


def _unfilled(file: NodeFile, found: re.Match[str], line: int, others: Mapping[str, str | None]) -> Iterator[Mistake]:
    """The mistake of a file whose mark no other one names, or that a program writes as it reads it."""
    mark, bare = found[0], next(filter(None, found.groups()))
    if None in others.values() or not any(file.name in (text or "") for text in others.values()):
        return
    if not any(bare in (text or "") for text in others.values()):
        yield Mistake(file, f"has the mark {mark}, and no program of the nodes fills it", "a program that fills it", line)
        return
    naming = {name: text for name, text in others.items() if text is not None and file.name in text}
    if len(naming) == 1 and next(iter(naming)).endswith(".py"):
        (name, text), *_ = naming.items()
        if _is_written_raw(text, file.name):
            yield Mistake(file, f"has the mark {mark}, and {name} writes it as it stands", "a program that fills it", line)


def _is_written_raw(text: str, name: str) -> bool:
    """Whether all places where code reads a file give it to what writes it as it is."""
    tree = parsed_code(text)
    if tree is None:
        return False
    around = {id(child): node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    functions = {one.name: one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)}
    read = 0
    for node in (one for one in ast.walk(tree) if isinstance(one, ast.Constant) and one.value == name):
        call = around.get(id(node))
        reader = _reader(call, around)
        if reader is not None:
            user = around.get(id(reader))
            if not isinstance(user, ast.Call) or reader not in user.args or _may_fill(user, functions):
                return False
            read += 1
        elif not isinstance(call, ast.BinOp) and (not isinstance(call, ast.Call) or _may_fill(call, functions)):
            return False
    return read > 0


def _reader(call: ast.AST | None, around: Mapping[int, ast.AST]) -> ast.Call | None:
    """The call that reads the file which another call names, such as `Path(…).read_text()`."""
    method = around.get(id(call)) if isinstance(call, ast.Call) else None
    reader = around.get(id(method)) if isinstance(method, ast.Attribute) and method.attr in _READING else None
    return reader if isinstance(reader, ast.Call) else None


def _may_fill(call: ast.Call, functions: Mapping[str, ast.FunctionDef]) -> bool:
    """Whether a call may put other texts into those that it gets."""
    if isinstance(call.func, ast.Attribute):
        return call.func.attr not in _WRITING
    function = functions.get(call.func.id) if isinstance(call.func, ast.Name) else None
    return function is None or any(_fills(one) for one in ast.walk(function))


def _fills(node: ast.AST) -> bool:
    method = node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""
    replaces = isinstance(node, ast.Call) and method == "replace" and len(node.args) > 1
    return replaces or method in _FILLING or (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod))


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = of_slurm(_mistakes)
