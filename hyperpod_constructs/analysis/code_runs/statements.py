"""The statements of code on one way. What a loop may have changed in turns that are not followed is unknown."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence

from hyperpod_constructs.analysis.code_runs.expressions import combined, evaluated, turns_over
from hyperpod_constructs.analysis.code_runs.known_calls import plain
from hyperpod_constructs.analysis.code_runs.leaving import Broken, Ended, Left, Raised, Returned
from hyperpod_constructs.analysis.code_runs.things import Function, Items, Kind, Named, Object, Scope, Thing, lose, truth
from hyperpod_constructs.analysis.code_runs.way import Way
from hyperpod_constructs.templates.values import UNKNOWN

_ALL = ("Exception", "BaseException")
_WRAPPING = ("property", "staticmethod")
"""Decorators that are followed."""


def done(way: Way, node: ast.stmt, scope: Scope) -> None:
    """Do a statement; one of a kind that is not followed makes the way one of those that are not whole."""
    how = _HOW.get(type(node))
    if how is not None:
        how(way, node, scope)
    elif not isinstance(node, ast.Pass | ast.Assert):
        way.give_up()


def _assign(way: Way, node: ast.Assign, scope: Scope) -> None:
    found = evaluated(way, node.value, scope)
    for target in node.targets:
        way.assign(target, found, scope)


def _assign_with_type(way: Way, node: ast.AnnAssign, scope: Scope) -> None:
    if node.value is not None:
        way.assign(node.target, evaluated(way, node.value, scope), scope)


def _add(way: Way, node: ast.AugAssign, scope: Scope) -> None:
    old, more = evaluated(way, node.target, scope), evaluated(way, node.value, scope)
    if isinstance(old, Items | Object):
        old_items = combined(node.op, old, more)
        if isinstance(old, Items) and isinstance(old_items, Items):
            old.items, old.is_open = old_items.items, old_items.is_open
        else:
            lose(old)
        return
    way.assign(node.target, combined(node.op, old, more), scope)


def _if(way: Way, node: ast.If, scope: Scope) -> None:
    way.block(node.body if way.holds(node.test, scope) else node.orelse, scope)


def _for(way: Way, node: ast.For | ast.AsyncFor, scope: Scope) -> None:
    taken = evaluated(way, node.iter, scope)
    over, is_known = turns_over(taken)
    if not is_known:
        _unknown_loop(way, node, {node.target: over[0]}, scope, always=isinstance(taken, Items) and bool(taken.items))
        return
    for one in over:
        way.assign(node.target, one, scope)
        if _turn(way, node.body, scope):
            return
    way.block(node.orelse, scope)


def _while(way: Way, node: ast.While, scope: Scope) -> None:
    if truth(evaluated(way, node.test, scope)) is False:
        way.block(node.orelse, scope)
        return
    always = isinstance(node.test, ast.Constant)
    if not _unknown_loop(way, node, {}, scope, always=always) and always:
        raise Ended  # a later turn leaves the loop, as another way does in this one


def _unknown_loop(
    way: Way, node: ast.For | ast.AsyncFor | ast.While, targets: Mapping[ast.expr, Thing], scope: Scope, *, always: bool = False
) -> bool:
    """One turn of a loop that stands for all, or none; whether the loop was left by a break."""
    if not always and not way.side(node):
        way.block(node.orelse, scope)
        return False
    way.forget(node.body, scope)
    for target, thing in targets.items():
        way.assign(target, thing, scope)
    is_broken = _turn(way, node.body, scope)
    way.forget([] if is_broken else node.body, scope)
    if not is_broken:
        way.block(node.orelse, scope)
    return is_broken


def _turn(way: Way, body: Sequence[ast.stmt], scope: Scope) -> bool:
    """One turn of a loop; whether it ends the loop."""
    try:
        way.block(body, scope)
    except Broken as broken:
        return broken.ends
    return False


def _try(way: Way, node: ast.Try, scope: Scope) -> None:
    try:
        _tried(way, node, scope)
    except Ended:
        raise
    except Left:
        way.block(node.finalbody, scope)
        raise
    way.block(node.finalbody, scope)


def _tried(way: Way, node: ast.Try, scope: Scope) -> None:
    if node.handlers and not way.side(node):  # what the body does first fails
        _handle(way, node, (), scope)
        return
    try:
        way.block(node.body, scope)
    except Raised as raised:
        if not node.handlers:
            raise
        _handle(way, node, raised.names, scope)
        return
    way.block(node.orelse, scope)


def _handle(way: Way, node: ast.Try, raised: tuple[str, ...], scope: Scope) -> None:
    """Do what catches a failure; the last one if it is not known which does."""
    for handler in node.handlers:
        names = [] if handler.type is None else _names(handler.type)
        takes = handler.type is None or any(one in (*raised, *_ALL) for one in names)
        if takes or (not raised and (handler is node.handlers[-1] or way.side(handler))):
            way.caught.append(handler.lineno)
            way.expected += (one for one in names if one not in _ALL)
            if handler.name is not None:
                scope.names[handler.name] = UNKNOWN
            way.block(handler.body, scope)
            return
    raise Raised(*raised)


def _names(caught: ast.expr) -> list[str]:
    """The classes of exceptions that a handler names, without their modules."""
    nodes = caught.elts if isinstance(caught, ast.Tuple) else [caught]
    return [one.attr if isinstance(one, ast.Attribute) else one.id for one in nodes if isinstance(one, ast.Attribute | ast.Name)]


def _with(way: Way, node: ast.With | ast.AsyncWith, scope: Scope) -> None:
    for one in node.items:
        found = evaluated(way, one.context_expr, scope)
        if one.optional_vars is not None:
            way.assign(one.optional_vars, found, scope)
    way.block(node.body, scope)


def _match(way: Way, node: ast.Match, scope: Scope) -> None:
    evaluated(way, node.subject, scope)
    way.forget([node], scope)
    for case in node.cases:
        if case is node.cases[-1] or way.side(case.pattern):
            way.block(case.body, scope)
            return


def _delete(way: Way, node: ast.Delete, scope: Scope) -> None:
    for one in node.targets:
        if isinstance(one, ast.Name):
            scope.names.pop(one.id, None)
        elif isinstance(one, ast.Subscript):
            of, key = evaluated(way, one.value, scope), evaluated(way, one.slice, scope)
            if isinstance(of, Object) and plain(key):
                of.items.pop(key, None)
            else:
                lose(of)


def _define(way: Way, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> None:
    wrapped = tuple(map(ast.unparse, node.decorator_list))
    scope.names[node.name] = UNKNOWN if {*wrapped} - {*_WRAPPING} else Function(node, scope, wrapped=wrapped)


def _class(way: Way, node: ast.ClassDef, scope: Scope) -> None:
    members = Scope(outer=scope)
    way.block(node.body, members)
    scope.names[node.name] = Kind(node, Scope(members.names, outer=scope))


def _import(way: Way, node: ast.Import, scope: Scope) -> None:
    for one in node.names:
        scope.names[one.asname or one.name.partition(".")[0]] = Named(one.name if one.asname else one.name.partition(".")[0])


def _import_from(way: Way, node: ast.ImportFrom, scope: Scope) -> None:
    for one in node.names:
        scope.names[one.asname or one.name] = Named(f"{node.module}.{one.name}")


def _global(way: Way, node: ast.Global, scope: Scope) -> None:
    scope.of_module.update(node.names)


def _expression(way: Way, node: ast.Expr, scope: Scope) -> None:
    evaluated(way, node.value, scope)


def _return(way: Way, node: ast.Return, scope: Scope) -> None:
    raise Returned(None if node.value is None else evaluated(way, node.value, scope))


def _raise(way: Way, node: ast.Raise, scope: Scope) -> None:
    if node.exc is not None:
        evaluated(way, node.exc, scope)
    called = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    raise Raised(*([] if called is None else _names(called)))


def _break(way: Way, _: ast.Break, __: Scope) -> None:
    raise Broken(ends=True)


def _continue(way: Way, _: ast.Continue, __: Scope) -> None:
    raise Broken(ends=False)


_HOW: Mapping[type[ast.stmt], Callable[..., None]] = {
    ast.AnnAssign: _assign_with_type,
    ast.Assign: _assign,
    ast.AsyncFor: _for,
    ast.AsyncFunctionDef: _define,
    ast.AsyncWith: _with,
    ast.AugAssign: _add,
    ast.Break: _break,
    ast.ClassDef: _class,
    ast.Continue: _continue,
    ast.Delete: _delete,
    ast.Expr: _expression,
    ast.For: _for,
    ast.FunctionDef: _define,
    ast.Global: _global,
    ast.If: _if,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
    ast.Match: _match,
    ast.Raise: _raise,
    ast.Return: _return,
    ast.Try: _try,
    ast.While: _while,
    ast.With: _with,
}
