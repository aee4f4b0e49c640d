"""Functions of custom resources that answer each request with a new physical id, and delete by other names when they are asked.

CloudFormation takes an update with another physical id for a replacement, and then asks to delete the old resource: the function
deletes what it has just updated.

Sources: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/crpg-ref-requesttypes-update.html and
https://docs.aws.amazon.com/lambda/latest/dg/python-context.html (as of 2026-11-30)
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

from hyperpod_constructs.analysis.sent_answers import id_of_answer
from hyperpod_constructs.analysis.texts.guards import is_guard

Holds = Callable[[ast.expr, str], "bool | None"]
"""Whether a comparison with the kind of a request holds; `None` for another test."""

_NEW = ("aws_request_id",)
_MAKERS = (
    "uuid.uuid1",
    "uuid.uuid4",
    "uuid1",
    "uuid4",
    "time.time",
    "time.time_ns",
    "datetime.now",
    "datetime.utcnow",
    "secrets.token_hex",
)
"""Functions that give another value in each call."""
_DELETING = ("delete_", "deregister_", "terminate_")
_OLD = "PhysicalResourceId"
"""Code that has it may answer with the old id, or delete by it."""


def new_id(tree: ast.Module, handler: ast.FunctionDef, holds: Holds) -> ast.expr | None:
    """The id with which a handler answers each update, where it is always a new one and a request to delete deletes something."""
    if _OLD in ast.unparse(tree):
        return None
    calls = {request: list(_reached(handler.body, request, holds)) for request in ("Update", "Delete")}
    deletes = [one for one in calls["Delete"] if _deletes(one) and one not in calls["Update"]]
    given = {ast.unparse(one.targets[0]): one.value for one in ast.walk(tree) if isinstance(one, ast.Assign)}
    ids = [found for one in calls["Update"] if (found := id_of_answer(one)) is not None]
    ids = [given.get(one.id, one) if isinstance(one, ast.Name) else one for one in ids]
    return ids[0] if ids and deletes and all(map(_is_new, ids)) else None


def _reached(body: Sequence[ast.stmt], request: str, holds: Holds) -> Iterator[ast.Call]:
    """The calls in a block to which a request may come."""
    for one in body:
        blocks = [getattr(one, name, []) for name in ("body", "orelse", "finalbody")]
        if isinstance(one, ast.If):
            known = holds(one.test, request)
            blocks = [way for way, wanted in ((one.body, True), (one.orelse, False)) if known in (None, wanted)]
            if known is not None and any(isinstance(last, ast.Return | ast.Raise) for block in blocks for last in block[-1:]):
                yield from _reached(blocks[0], request, holds)
                return
        elif isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        elif not any(blocks):
            yield from (node for node in ast.walk(one) if isinstance(node, ast.Call))
        for block in blocks:
            yield from _reached(block, request, holds)


def _deletes(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr.startswith(_DELETING)


def _is_new(node: ast.expr) -> bool:
    """Whether an id is surely another one in each call."""
    if any(map(is_guard, ast.walk(node))):
        return False
    parts = [one for one in ast.walk(node) if isinstance(one, ast.Attribute | ast.Call)]
    attributes = [one.attr for one in parts if isinstance(one, ast.Attribute)]
    called = [ast.unparse(one.func).removeprefix("datetime.datetime.") for one in parts if isinstance(one, ast.Call)]
    return any(one in _NEW for one in attributes) or any(one in _MAKERS for one in called)
