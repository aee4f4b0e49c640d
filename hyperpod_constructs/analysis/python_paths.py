"""Paths in programs of Python, as far as they can be compared: two that are spelled otherwise may be one.

Source: https://docs.python.org/3/library/pathlib.html
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from hyperpod_constructs.templates.values import UNKNOWN, Value, as_str

Parts: TypeAlias = tuple[str, ...]
_JOINING = ("Path", "PurePath", "pathlib.Path", "os.path.join", "posixpath.join")
_KEEPING = ("str", "os.fspath", "Path", "pathlib.Path")
_DEEPEST = 20
_ENVIRONMENT = re.compile(r"os\.environ\[['\"](\w+)['\"]\]|os\.(?:getenv|environ\.get)\(['\"](\w+)['\"][^()]*\)")
_CHANGING: Mapping[str, int] = {
    **dict.fromkeys(("os.chmod", "os.chown", "os.makedirs", "os.mkdir", "shutil.chown"), 0),
    **dict.fromkeys(("shutil.copy", "shutil.copy2", "shutil.copyfile", "shutil.copytree", "shutil.move"), 1),
}
"""Functions that make or change a path, by its place among their arguments."""
_METHODS = ("chmod", "mkdir", "symlink_to", "touch", "write_bytes", "write_text")
"""The same of paths."""


def assigned_in(tree: ast.Module) -> Mapping[str, ast.expr | None]:
    """The expressions that names stand for; `None` for one with several, or one that is not known."""
    found: dict[str, ast.expr | None] = {}
    for node in ast.walk(tree):
        for name, value in _given_by(node):
            found[name] = None if name in found else value
    return found


def looped_in(tree: ast.Module) -> Mapping[str, tuple[ast.expr, ...]]:
    """The expressions that loops over some give a name, one after the other."""
    loops = [node for node in ast.walk(tree) if isinstance(node, ast.For) and isinstance(node.target, ast.Name)]
    found = {node.target.id: node.iter for node in loops if isinstance(node.target, ast.Name)}
    return {name: (*several.elts,) for name, several in found.items() if isinstance(several, ast.Tuple | ast.List)}


def _given_by(node: ast.AST) -> Iterator[tuple[str, ast.expr | None]]:
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from _pairs(target, node.value)
    elif isinstance(node, ast.AnnAssign | ast.NamedExpr | ast.AugAssign):
        yield from _pairs(node.target, node.value if not isinstance(node, ast.AugAssign) else None)
    elif isinstance(node, ast.For | ast.comprehension):
        yield from _pairs(node.target, None)
    elif isinstance(node, ast.arg):
        yield node.arg, None


def _pairs(target: ast.expr, value: ast.expr | None) -> Iterator[tuple[str, ast.expr | None]]:
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, ast.Tuple | ast.List):
        fits = isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts)
        values = value.elts if fits and isinstance(value, ast.Tuple | ast.List) else [None] * len(target.elts)
        for one, other in zip(target.elts, values, strict=True):
            yield from _pairs(one, other)


def parts_of_path(node: ast.expr, names: Mapping[str, ast.expr | None], depth: int = 0) -> Parts:
    """The parts of a path; what is no path stands as it is written."""
    inner = depth + 1
    if depth > _DEEPEST:
        return (ast.unparse(node),)
    if isinstance(node, ast.Name):
        value = names.get(node.id)
        return parts_of_path(value, names, inner) if value is not None else (node.id,)
    if isinstance(node, ast.Constant):
        return _split(str(node.value))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        return _joined([parts_of_path(one, names, inner) for one in (node.left, node.right)])
    if isinstance(node, ast.Attribute) and node.attr == "parent":
        return parts_of_path(node.value, names, inner)[:-1]
    if isinstance(node, ast.JoinedStr):
        return _of_text(node, names, inner)
    if isinstance(node, ast.Call) and not node.keywords and node.args:
        called = ast.unparse(node.func)
        if called in _JOINING or (called in _KEEPING and len(node.args) == 1):
            return _joined([parts_of_path(one, names, inner) for one in node.args])
    return (ast.unparse(node),)


def _of_text(node: ast.JoinedStr, names: Mapping[str, ast.expr | None], depth: int) -> Parts:
    """The parts of a formatted text, in which each expression is a whole path or a name in one."""
    found: list[str] = []
    for one in node.values:
        if isinstance(one, ast.FormattedValue):
            found += parts_of_path(one.value, names, depth)
        elif isinstance(one, ast.Constant):
            found += _split(str(one.value))[bool(found) and str(one.value).startswith("/") :]
    return tuple(found)


def _split(text: str) -> Parts:
    return (*(["/"] if text.startswith("/") else []), *(part for part in text.split("/") if part))


def _joined(paths: Sequence[Parts]) -> Parts:
    """Paths behind each other; one from the root stands alone."""
    found: Parts = ()
    for one in paths:
        found = one if one[:1] == ("/",) else (*found, *one)
    return found


def whole_path(parts: Parts, environment: Mapping[str, Value]) -> str | None:
    """A path from the root, with variables of the environment at its begin; `None` for another one."""
    found = _ENVIRONMENT.fullmatch(parts[0]) if parts else None
    value = as_str(environment.get(found[1] or found[2], UNKNOWN)) if found is not None else None
    whole = (*_split(value), *parts[1:]) if value is not None else parts
    return f"/{'/'.join(whole[1:])}" if whole[:1] == ("/",) else None


def touched(tree: ast.Module, environment: Mapping[str, Value]) -> Iterator[tuple[str, int]]:
    """The whole paths that a program makes or changes, each with its line."""
    names, loops = assigned_in(tree), looped_in(tree)
    for node in ast.walk(tree):
        for place in _places(node) if isinstance(node, ast.Call) else ():
            several = loops.get(place.id, (place,)) if isinstance(place, ast.Name) else (place,)
            found = (whole_path(parts_of_path(one, names), environment) for one in several)
            yield from ((path, getattr(node, "lineno", 0)) for path in found if path is not None)


def _places(call: ast.Call) -> Iterator[ast.expr]:
    """The paths that a call makes or changes."""
    name = ast.unparse(call.func)
    if name in _CHANGING:
        yield from call.args[_CHANGING[name] : _CHANGING[name] + 1]
    elif name == "open" and len(call.args) > 1 and isinstance(call.args[1], ast.Constant) and {*str(call.args[1].value)} & {*"wax"}:
        yield call.args[0]
    elif isinstance(call.func, ast.Attribute) and call.func.attr in _METHODS:
        yield call.func.value
