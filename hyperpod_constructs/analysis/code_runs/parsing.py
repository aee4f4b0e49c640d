"""Code of Python as a tree; none for what Python cannot read.

Those who walk a tree call themselves, so its depth is bounded here, and not by Python's own limit, which any library may raise.
"""

from __future__ import annotations

import ast
import warnings

LONGEST = 1 << 16
"""The longest code that is read, in characters."""

DEEPEST = 100
"""The levels of a tree that is read: `ast.unparse` takes some six frames for one, of the thousand that Python allows."""


def parsed_code(text: str) -> ast.Module | None:
    """The tree of some code; `None` for code that Python cannot read, or that is very long or deep."""
    try:
        return read_code(text)
    except SyntaxError:
        return None


def read_code(text: str) -> ast.Module | None:
    """The tree of some code; `None` for code that is very long or deep.

    :raises SyntaxError: Python cannot read it.
    """
    if not 0 < len(text) <= LONGEST:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (ValueError, RecursionError, MemoryError):
        return None
    return None if _is_deep(tree) else tree


def _is_deep(tree: ast.Module) -> bool:
    level: list[ast.AST] = [tree]
    for _ in range(DEEPEST):
        level = [inner for node in level for inner in ast.iter_child_nodes(node)]
        if not level:
            return False
    return True
