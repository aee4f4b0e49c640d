"""What an expression of code is worth on one way.

What is not followed is unknown, and so is all that is too deep or too long.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from hyperpod_constructs.analysis.code_runs.known_calls import ENVIRONMENT, plain, text_of
from hyperpod_constructs.analysis.code_runs.things import (
    FOLDER,
    FRESH,
    WHERE_TO,
    Arguments,
    Client,
    Folder,
    Fresh,
    Function,
    Given,
    Instance,
    Items,
    Method,
    Named,
    Object,
    Opened,
    Parser,
    Scope,
    Spelled,
    Thing,
    several,
    truth,
)
from hyperpod_constructs.analysis.code_runs.way import Way
from hyperpod_constructs.templates.values import UNKNOWN, Reference, Text, joined

MOST_TURNS = 100
_OF_OBJECTS = ("get", "items", "keys", "setdefault", "update", "values")
"""Methods of objects that lists do not have."""
_PROPERTY, _STATIC = "property", "staticmethod"
_PAGES = "paginate"
"""The method of what gives an operation page by page."""
_FRESH = ("aws_request_id",)
"""Attributes that have another value in each call."""
_LARGEST, _MOST_WORDS = 1 << 62, 4


def evaluated(way: Way, node: ast.expr, scope: Scope) -> Thing:
    """What an expression is worth."""
    how = _HOW.get(type(node))
    if how is not None and way.may_go_on():
        with way.deeper() as is_deep:
            found = UNKNOWN if is_deep else how(way, node, scope)
            way.sees_address = way.sees_address or (isinstance(found, Given) and found == WHERE_TO)
            return found
    return UNKNOWN


def looked_up(name: str, scope: Scope | None) -> Thing:
    """The value of a name; a name that nothing gives a value is that of a module or a function of Python."""
    while scope is not None:
        if name in scope.names:
            return scope.names[name]
        scope = scope.outer
    return Named(name)


def attribute(way: Way, of: Thing, name: str, written: str) -> Thing:
    """An attribute of a thing.

    :param written: how the code writes it; what the code gives an unknown thing is known by that.
    """
    if name in _FRESH or isinstance(of, Fresh):
        return FRESH
    if isinstance(of, Named):
        return way.attributes.get(written, Named(f"{of.name}.{name}"))
    if isinstance(of, Instance):
        method = of.kind.members.names.get(name)
        if name in of.attributes or not isinstance(method, Function):
            return of.attributes.get(name, UNKNOWN)
        bound = Function(method.node, method.scope, None if _STATIC in method.wrapped else of, method.wrapped)
        return way.own(bound) if _PROPERTY in method.wrapped else bound
    if isinstance(of, Method) and name == _PAGES:
        return of
    if isinstance(of, Folder):
        return FOLDER if name == "parent" else Method(of, name)
    if isinstance(of, Arguments):
        return of.values.get(name, UNKNOWN)
    if isinstance(of, Client | Object | Items | Opened | Parser | Spelled | str | Text | Reference):
        return Method(of, name)
    return way.attributes.get(written, Method(of, name) if name in ("client", "resource") else UNKNOWN)


def item(way: Way, of: Thing, key: Thing) -> Thing:
    """An item of an object, a list or the environment."""
    if isinstance(of, Named):
        return way.around.variables.get(key, UNKNOWN) if of.name == ENVIRONMENT and isinstance(key, str) else UNKNOWN
    if isinstance(of, Object):
        return of.items.get(key, UNKNOWN) if plain(key) else UNKNOWN
    if isinstance(of, Items) and type(key) is int and not of.is_open and -len(of.items) <= key < len(of.items):
        return of.items[key]
    if isinstance(of, Items) and of.is_open:
        return of.each if type(key) is int else UNKNOWN
    return of[key] if isinstance(of, str) and type(key) is int and -len(of) <= key < len(of) else UNKNOWN


def _constant(way: Way, node: ast.Constant, _: Scope) -> Thing:
    value = node.value.decode("utf-8", "replace") if isinstance(node.value, bytes) else node.value
    if way.around.holes and isinstance(value, str):
        holes = re.compile("(" + "|".join(map(re.escape, way.around.holes)) + ")")
        return joined(way.around.holes.get(part, part) for part in holes.split(value))
    return value if plain(value) else UNKNOWN


def _name(way: Way, node: ast.Name, scope: Scope) -> Thing:
    return way.around.holes[node.id] if node.id in way.around.holes else looked_up(node.id, scope)


def _listed(way: Way, node: ast.List | ast.Tuple | ast.Set, scope: Scope) -> Thing:
    return listed(way, node.elts, scope)


def listed(way: Way, nodes: Sequence[ast.expr], scope: Scope) -> Items:
    """What several expressions are worth."""
    found = Items()
    for one in nodes:
        if isinstance(one, ast.Starred):
            starred = evaluated(way, one.value, scope)
            found.items += starred.items if isinstance(starred, Items) else []
            found.is_open = found.is_open or not isinstance(starred, Items) or starred.is_open
        else:
            found.items.append(evaluated(way, one, scope))
    return several(found.items, is_open=found.is_open)


def _object(way: Way, node: ast.Dict, scope: Scope) -> Thing:
    found = Object()
    for key, value in zip(node.keys, node.values, strict=True):
        thing = evaluated(way, value, scope)
        name = None if key is None else evaluated(way, key, scope)
        if key is not None and plain(name):
            found.items[name] = thing
        elif key is None and isinstance(thing, Object):
            found.items.update(thing.items)
            found.is_open = found.is_open or thing.is_open
        else:
            found.is_open = True
    return found


def _attribute(way: Way, node: ast.Attribute, scope: Scope) -> Thing:
    of = evaluated(way, node.value, scope)
    if isinstance(of, Items) and node.attr in _OF_OBJECTS:
        way.fail(node, f"a list has no {node.attr}", "AttributeError")
    return attribute(way, of, node.attr, ast.unparse(node))


def _subscript(way: Way, node: ast.Subscript, scope: Scope) -> Thing:
    of = evaluated(way, node.value, scope)
    if isinstance(node.slice, ast.Slice):
        return _slice(way, of, node.slice, scope)
    key = evaluated(way, node.slice, scope)
    if isinstance(of, Object) and plain(key) and key not in of.items and not of.is_open and isinstance(node.ctx, ast.Load):
        way.misses(of, str(key), node)
        way.fail(node, f"there is no {key}", "KeyError")
    if of is None and isinstance(node.ctx, ast.Load):
        way.fail(node, "None has no items", "TypeError")
    return _any_item(way, node, of) if isinstance(of, Object) and key is UNKNOWN else item(way, of, key)


def _any_item(way: Way, node: ast.Subscript, of: Object) -> Thing:
    """An item whose key nobody knows: in a program, one way for each of a few words."""
    is_program = way.around.arguments is not None and not of.is_open and all(isinstance(one, str) for one in of.items.values())
    words = list(dict.fromkeys(of.items.values())) if is_program else []
    if not 1 < len(words) <= _MOST_WORDS:
        return UNKNOWN
    return next((one for one in words[:-1] if way.side(node)), words[-1])


def _slice(way: Way, of: Thing, node: ast.Slice, scope: Scope) -> Thing:
    ends = [None if one is None else evaluated(way, one, scope) for one in (node.lower, node.upper, node.step)]
    if not all(one is None or type(one) is int for one in ends) or ends[2] == 0:
        return UNKNOWN
    if isinstance(of, Items) and not of.is_open:
        return Items(of.items[slice(*ends)])
    return of[slice(*ends)] if isinstance(of, str) else of if isinstance(of, Fresh) else UNKNOWN


def _formatted(way: Way, node: ast.JoinedStr, scope: Scope) -> Thing:
    parts = [one for one in node.values if isinstance(one, ast.FormattedValue)]
    things = [evaluated(way, one.value if isinstance(one, ast.FormattedValue) else one, scope) for one in node.values]
    return UNKNOWN if any(one.format_spec is not None or one.conversion != -1 for one in parts) else text_of(things)


def _operation(way: Way, node: ast.BinOp, scope: Scope) -> Thing:
    return combined(node.op, evaluated(way, node.left, scope), evaluated(way, node.right, scope))


def combined(operator: ast.operator, left: Thing, right: Thing) -> Thing:
    """The result of an operator."""
    if isinstance(operator, ast.Add):
        if isinstance(left, Items) and isinstance(right, Items):
            return several([*left.items, *right.items], is_open=left.is_open or right.is_open)
        if isinstance(left, str | Text | Reference) or isinstance(right, str | Text | Reference):
            return text_of((left, right))
    if isinstance(operator, ast.Div) and isinstance(left, Folder):
        return right
    if isinstance(operator, ast.BitOr) and isinstance(left, Object) and isinstance(right, Object):
        return Object({**left.items, **right.items}, left.is_open or right.is_open)
    if type(left) is int and type(right) is int and type(operator) in _ARITHMETIC:
        found = _ARITHMETIC[type(operator)](left, right)
        return found if abs(found) < _LARGEST else UNKNOWN
    return UNKNOWN


_ARITHMETIC: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: lambda left, right: left + right,
    ast.Sub: lambda left, right: left - right,
    ast.Mult: lambda left, right: left * right,
}


def _logic(way: Way, node: ast.BoolOp, scope: Scope) -> Thing:
    ends_at, found = isinstance(node.op, ast.Or), UNKNOWN
    for place, one in enumerate(node.values):
        found = evaluated(way, one, scope)
        known = truth(found)
        if known is ends_at:
            return found
        if known is None:
            if ends_at and isinstance(found, Items) and _is_empty_list(node.values[place + 1 :]):
                return found
            rest = [truth(evaluated(way, other, scope)) for other in node.values[place + 1 :]]
            return ends_at if ends_at in rest and _all_conditions(node.values) else UNKNOWN
    return found


def _is_empty_list(nodes: Sequence[ast.expr]) -> bool:
    return len(nodes) == 1 and isinstance(nodes[0], ast.List | ast.Tuple) and not nodes[0].elts


def _all_conditions(nodes: Sequence[ast.expr]) -> bool:
    """Whether all that stands between operators is true or false."""
    return all(
        isinstance(one, ast.Compare | ast.BoolOp) or (isinstance(one, ast.UnaryOp) and isinstance(one.op, ast.Not)) for one in nodes
    )


def _unary(way: Way, node: ast.UnaryOp, scope: Scope) -> Thing:
    of = evaluated(way, node.operand, scope)
    if isinstance(node.op, ast.Not):
        known = truth(of)
        return UNKNOWN if known is None else not known
    return -of if isinstance(node.op, ast.USub) and type(of) is int else UNKNOWN


def _comparison(way: Way, node: ast.Compare, scope: Scope) -> Thing:
    left, answers = evaluated(way, node.left, scope), []
    for operator, other in zip(node.ops, node.comparators, strict=True):
        right = evaluated(way, other, scope)
        answers.append(compared(operator, left, right))
        left = right
    return False if False in answers else UNKNOWN if None in answers else True


def compared(operator: ast.cmpop, left: Thing, right: Thing) -> bool | None:
    """Whether a comparison holds; `None` if that is not known."""
    if isinstance(operator, ast.NotEq | ast.NotIn | ast.IsNot):
        turned = {ast.NotEq: ast.Eq, ast.NotIn: ast.In, ast.IsNot: ast.Is}[type(operator)]
        found = compared(turned(), left, right)
        return None if found is None else not found
    if isinstance(operator, ast.Eq | ast.Is):
        return left == right if plain(left) and plain(right) else _never_equal(left, right)
    if isinstance(operator, ast.In):
        return _is_in(left, right)
    if type(left) is int and type(right) is int:
        order = {ast.Lt: left < right, ast.LtE: left <= right, ast.Gt: left > right, ast.GtE: left >= right}
        return order.get(type(operator))
    return None


def _never_equal(left: Thing, right: Thing) -> bool | None:
    """A text of the template is never nothing, and not what it does not begin or end with."""
    texts = [one for one in (left, right) if isinstance(one, Text | Reference | Object | Items)]
    if len(texts) == 1 and (left is None or right is None):
        return False
    text, other = (left, right) if isinstance(left, Text) else (right, left)
    if isinstance(text, Text) and isinstance(other, str):
        return None if other.startswith(text.prefix) and other.endswith(text.suffix) else False
    return None


def _is_in(left: Thing, right: Thing) -> bool | None:
    if isinstance(right, Object) and plain(left):
        return True if left in right.items else None if right.is_open else False
    if isinstance(right, Items):
        answers = [compared(ast.Eq(), left, one) for one in right.items]
        return True if True in answers else None if None in answers or right.is_open else False
    return left in right if isinstance(left, str) and isinstance(right, str) else None


def _choice(way: Way, node: ast.IfExp, scope: Scope) -> Thing:
    return evaluated(way, node.body if way.holds(node.test, scope) else node.orelse, scope)


def _call(way: Way, node: ast.Call, scope: Scope) -> Thing:
    return way.call(node, scope)


def _given_name(way: Way, node: ast.NamedExpr, scope: Scope) -> Thing:
    found = evaluated(way, node.value, scope)
    way.assign(node.target, found, scope)
    return found


def _lambda(_: Way, node: ast.Lambda, scope: Scope) -> Thing:
    return Function(node, scope)


def _comprehension(way: Way, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, scope: Scope) -> Thing:
    found: Items | Object = Object() if isinstance(node, ast.DictComp) else Items()
    for inner in _turns(way, node.generators, Scope(outer=scope), found):
        if isinstance(node, ast.DictComp) and isinstance(found, Object):
            key, value = evaluated(way, node.key, inner), evaluated(way, node.value, inner)
            found.items.update({key: value} if plain(key) else {})
            found.is_open = found.is_open or not plain(key)
        elif isinstance(found, Items) and not isinstance(node, ast.DictComp):
            found.items.append(evaluated(way, node.elt, inner))
    if found.is_open and isinstance(found, Items):
        found.items.clear()
    return found


def _turns(way: Way, generators: Sequence[ast.comprehension], scope: Scope, found: Items | Object) -> Iterator[Scope]:
    """The scope of each turn of a comprehension; what it makes is open where its turns are not known."""
    if not generators:
        yield scope
        return
    first, *others = generators
    over, is_known = turns_over(evaluated(way, first.iter, scope))
    found.is_open = found.is_open or not is_known
    for one in over:
        inner = Scope(outer=scope)
        way.assign(first.target, one, inner)
        known = [truth(evaluated(way, test, inner)) for test in first.ifs]
        if False not in known and way.may_go_on():
            found.is_open = found.is_open or None in known
            yield from _turns(way, others, inner, found)


def turns_over(thing: Thing) -> tuple[list[Thing], bool]:
    """What a loop takes in each turn, and whether that is known; else one turn stands for all."""
    if isinstance(thing, Object | Items) and not thing.is_open and len(thing.items) <= MOST_TURNS:
        return [*thing.items], True
    return [thing.each if isinstance(thing, Items) else UNKNOWN], False


def _awaited(way: Way, node: ast.Await | ast.Starred, scope: Scope) -> Thing:
    return evaluated(way, node.value, scope)


def _yielded(way: Way, node: ast.Yield | ast.YieldFrom, scope: Scope) -> Thing:
    way.yields = True
    if node.value is not None:
        evaluated(way, node.value, scope)
    return UNKNOWN


_HOW: Mapping[type[ast.expr], Callable[..., Thing]] = {
    ast.Attribute: _attribute,
    ast.Await: _awaited,
    ast.BinOp: _operation,
    ast.BoolOp: _logic,
    ast.Call: _call,
    ast.Compare: _comparison,
    ast.Constant: _constant,
    ast.Dict: _object,
    ast.DictComp: _comprehension,
    ast.GeneratorExp: _comprehension,
    ast.IfExp: _choice,
    ast.JoinedStr: _formatted,
    ast.Lambda: _lambda,
    ast.List: _listed,
    ast.ListComp: _comprehension,
    ast.Name: _name,
    ast.NamedExpr: _given_name,
    ast.Set: _listed,
    ast.SetComp: _comprehension,
    ast.Starred: _awaited,
    ast.Subscript: _subscript,
    ast.Tuple: _listed,
    ast.UnaryOp: _unary,
    ast.Yield: _yielded,
    ast.YieldFrom: _yielded,
}
