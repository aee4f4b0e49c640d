"""Code of Python as a tree; none for what Python cannot read."""

from __future__ import annotations

import ast
import warnings

LONGEST = 1 << 16
"""The longest code that is read, in characters."""


def parsed_code(text: str) -> ast.Module | None:
    """The tree of some code; `None` for code that Python cannot read, or that is very long."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text) if 0 < len(text) <= LONGEST else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
