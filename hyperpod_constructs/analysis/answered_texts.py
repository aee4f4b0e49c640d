"""Some of the texts that an expression in the code of a function may give. The code is parsed, and never executed."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

_GET = 2
"""The arguments of `get` with a value for what is not there."""


def texts_of(node: ast.expr, function: ast.FunctionDef) -> tuple[str, ...]:
    """Texts that an expression may give: those that are written where it, or the name that it is, gets its value.

    A text with which the code compares the name may be turned into another one, and does not count.
    """
    if not isinstance(node, ast.Name):
        return tuple(dict.fromkeys(_written(node)))
    compared = [one for one in ast.walk(function) if isinstance(one, ast.Compare) and _speaks_of(one, node.id)]
    if any(not isinstance(one, ast.Eq | ast.NotEq) for found in compared for one in found.ops):
        return ()
    turned = {part.value for one in compared for part in ast.walk(one) if isinstance(part, ast.Constant)}
    given = _last_values(node.id, function)
    return tuple(dict.fromkeys(text for one in given for text in _written(one) if text not in turned))


def _speaks_of(node: ast.AST, name: str) -> bool:
    return any(isinstance(one, ast.Name) and one.id == name for one in ast.walk(node))


def _last_values(name: str, function: ast.FunctionDef) -> list[ast.expr]:
    """What a name may be at the end: the last value that it surely gets, and those that it may get after it.

    None where something else than a plain assignment outside of loops gives it a value.
    """
    found = list(_assigned(name, function.body))
    stored = [one for one in ast.walk(function) if isinstance(one, ast.Name) and one.id == name and isinstance(one.ctx, ast.Store)]
    if len(found) < len(stored):
        return []
    last = max((place for place, (_, sure) in enumerate(found) if sure), default=0)
    return [value for value, _ in found[last:]]


def _assigned(name: str, body: Sequence[ast.stmt], *, sure: bool = True) -> Iterator[tuple[ast.expr, bool]]:
    """The values that assignments give a name, each with whether it surely gets it."""
    for one in body:
        if isinstance(one, ast.Assign) and len(one.targets) == 1:
            target = one.targets[0]
            if isinstance(target, ast.Name) and target.id == name:
                yield one.value, sure
        elif isinstance(one, ast.If):
            yield from _assigned(name, one.body, sure=False)
            yield from _assigned(name, one.orelse, sure=False)


def _written(node: ast.expr) -> Iterator[str]:
    """The texts that an expression may give, as they are written."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from (*_written(node.body), *_written(node.orelse))
    elif isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
        yield from _written(node.values[-1])
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get" and len(node.args) == _GET:
        yield from _written(node.args[1])
