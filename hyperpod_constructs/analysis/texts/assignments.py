"""Assignments of code in Python, also of several names at once."""

from __future__ import annotations

import ast
from collections.abc import Iterator


def pairs(node: ast.Assign) -> Iterator[tuple[str, ast.expr]]:
    """The names of an assignment, each with its value."""
    for target in node.targets:
        if isinstance(target, ast.Name):
            yield target.id, node.value
        elif isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple) and len(target.elts) == len(node.value.elts):
            yield from (
                (one.id, value) for one, value in zip(target.elts, node.value.elts, strict=True) if isinstance(one, ast.Name)
            )
