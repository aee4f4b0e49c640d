"""Loops in code of Python over what is known before it runs, such as the files in the properties of a custom resource."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from enum import Enum

from hyperpod_constructs.templates.values import Value


class Taken(Enum):
    """What a loop takes of an object or a list."""

    ITSELF = ""
    ITEMS = "items"
    KEYS = "keys"
    VALUES = "values"


def loops_around(tree: ast.AST, loops: tuple[ast.For, ...] = ()) -> Iterator[tuple[ast.AST, tuple[ast.For, ...]]]:
    """All below a node, each with the loops whose body it is in, the outer ones first."""
    waiting = [(tree, loops)]
    while waiting:
        node, around = waiting.pop()
        yield node, around
        inside = (*around, node) if isinstance(node, ast.For) else around
        body = set(map(id, node.body)) if isinstance(node, ast.For) else set()
        children = [(one, inside if id(one) in body else around) for one in ast.iter_child_nodes(node)]
        waiting.extend(reversed(children))


def over(loop: ast.For) -> tuple[ast.expr, Taken]:
    """Over what a loop goes."""
    call = loop.iter
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and not call.args:
        taken = next((one for one in Taken if one.value == call.func.attr), None)
        if taken is not None:
            return call.func.value, taken
    return call, Taken.ITSELF


def turns(target: ast.expr, value: Value, taken: Taken) -> list[Mapping[str, Value]]:
    """The variables of a loop in each turn; none if that is not known."""
    names = [one.id for one in (target.elts if isinstance(target, ast.Tuple) else [target]) if isinstance(one, ast.Name)]
    if taken is Taken.ITEMS:
        pairs = value.items() if isinstance(value, Mapping) and len(names) == 2 else ()
        return [dict(zip(names, pair, strict=True)) for pair in pairs]
    found: list[Value] = []
    if isinstance(value, Mapping):
        found = list(value.values()) if taken is Taken.VALUES else list(value)
    elif isinstance(value, tuple) and taken is Taken.ITSELF:
        found = list(value)
    return [{names[0]: one} for one in found] if isinstance(target, ast.Name) else []
