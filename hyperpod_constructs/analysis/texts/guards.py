"""Statements below which code runs only in some cases, or may fail: what it reads there may lack."""

from __future__ import annotations

import ast

from hyperpod_constructs.analysis.sent_answers import FAILED

_OF_KEYS, _ALL = ("KeyError", "LookupError"), ("Exception", "BaseException")


def is_guard(node: ast.AST) -> bool:
    """Whether what is below is read only in some cases, other than a kind of request, or may lack.

    One statement alone in a `try` that catches everything is tried; a longer one only reports that it failed, as does one whose
    handlers all raise, or answer that the request failed.
    """
    if isinstance(node, ast.If):
        return not (isinstance(node.test, ast.Compare) and _is_kind(node.test.left))
    if isinstance(node, ast.Try):
        caught = ["BaseException" if one.type is None else ast.unparse(one.type) for one in node.handlers]
        names = (*_OF_KEYS, *_ALL) if len(node.body) == 1 else _OF_KEYS
        return any(name in one for one in caught for name in names) and not all(map(_reports, node.handlers))
    return isinstance(node, ast.IfExp | ast.BoolOp | ast.Match)


def _reports(handler: ast.ExceptHandler) -> bool:
    """Whether a handler only tells of the failure: it raises, or answers CloudFormation that it failed."""
    last = handler.body[-1]
    words = {getattr(one, "attr", None) or getattr(one, "id", None) or getattr(one, "value", None) for one in ast.walk(last)}
    return isinstance(last, ast.Raise) or FAILED in words


def _is_type(node: ast.expr) -> bool:
    """Whether an expression is the kind of the request for a custom resource."""
    return ast.unparse(node).replace(".get(", "[").replace(")", "]").endswith("['RequestType']")


def _is_kind(node: ast.expr) -> bool:
    return _is_type(node) or (isinstance(node, ast.Name) and "type" in node.id.lower())
