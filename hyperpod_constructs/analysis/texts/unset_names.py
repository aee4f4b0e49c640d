"""Names that code reads before it gives them a value: Python finds none, however much the name gets one further down.

Only what surely runs is judged: a branch, a loop or a function may run when the name has its value.

Source: https://docs.python.org/3/reference/executionmodel.html
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator

from hyperpod_constructs.analysis.texts.slip import Slip, Slips

_CODE = ("Code", "ZipFile")
_SCOPES = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef
_COMPREHENSIONS = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def unset_names(tree: ast.Module) -> Slips:
    """The first name of each function, and of the whole code, that is read too early."""
    for scope in (tree, *(node for node in ast.walk(tree) if isinstance(node, _Function))):
        early = next(_early(scope), None)
        if early is not None:
            message = f"line {early.lineno} of the code reads {early.id}, which has its value only behind it"
            yield Slip(message, "a name that has a value there", _CODE, dead=True)


def _early(scope: ast.Module | ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.Name]:
    own = {name.id for name in _names(scope.body) if not isinstance(name.ctx, ast.Load)}
    elsewhere = {name for node in ast.walk(scope) if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names}
    known = (
        {one.arg for one in ast.walk(scope.args) if isinstance(one, ast.arg)} if isinstance(scope, _Function) else {*dir(builtins)}
    )
    yield from _read(scope.body, own - elsewhere, known)


def _read(body: Iterable[ast.stmt], own: set[str], known: set[str]) -> Iterator[ast.Name]:
    """The names of a scope that its statements read before they have a value; what has one is added to what is known."""
    for one in body:
        made = {name.id for name in _names([one]) if not isinstance(name.ctx, ast.Load)} | set(_made(one))
        inner = {name.id for walrus in ast.walk(one) if isinstance(walrus, ast.NamedExpr) for name in [walrus.target]}
        yield from (name for part in _surely(one) for name in _loads(part) if name.id in own and name.id not in known | inner)
        if isinstance(one, ast.With):
            known |= {name.id for item in one.items for name in _names([item]) if not isinstance(name.ctx, ast.Load)}
            yield from _read(one.body, own, known)
        known |= made


def _surely(one: ast.stmt) -> list[ast.AST]:
    """The parts of a statement that surely run, and run before it gives names their values."""
    if isinstance(one, ast.If | ast.While):
        return [one.test]
    if isinstance(one, ast.For | ast.AsyncFor):
        return [one.iter]
    if isinstance(one, ast.With):
        return [item.context_expr for item in one.items]
    if isinstance(one, ast.AugAssign):
        target = ast.copy_location(ast.Name(one.target.id, ast.Load()), one) if isinstance(one.target, ast.Name) else one.target
        return [target, one.value]
    return [one] if isinstance(one, ast.Assign | ast.AnnAssign | ast.Expr | ast.Return | ast.Raise | ast.Assert) else []


def _made(one: ast.stmt) -> Iterator[str]:
    """Names that a statement, or one in it, makes otherwise than by an assignment."""
    for node in ast.walk(one):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from ((alias.asname or alias.name).partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            yield node.name


def _loads(node: ast.AST) -> Iterator[ast.Name]:
    """The names that surely are read, without those of a scope inside."""
    if isinstance(node, ast.Name):
        yield from [node] if isinstance(node.ctx, ast.Load) else []
    elif isinstance(node, ast.IfExp):
        yield from _loads(node.test)
    elif isinstance(node, ast.BoolOp):
        yield from _loads(node.values[0])
    elif isinstance(node, _COMPREHENSIONS):
        yield from _loads(node.generators[0].iter)
    elif not isinstance(node, _SCOPES):
        for child in ast.iter_child_nodes(node):
            yield from _loads(child)


def _names(nodes: Iterable[ast.AST]) -> Iterator[ast.Name]:
    """All names of a scope, without those of scopes inside."""
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name):
            yield node
        elif not isinstance(node, _SCOPES | _COMPREHENSIONS):
            waiting += ast.iter_child_nodes(node)
