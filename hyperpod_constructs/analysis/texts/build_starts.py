"""The variables that the code of a function gives to a build that it starts.

Source: https://docs.aws.amazon.com/codebuild/latest/APIReference/API_StartBuild.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hyperpod_constructs.analysis.function_answers import tree_of
from hyperpod_constructs.templates.model import Resource

_OVERRIDES, _NAME = "environmentVariablesOverride", "name"


def names_given(function: Resource) -> frozenset[str] | None:
    """The names of the variables in all starts of builds; `None` if the code does not spell all of them."""
    tree = tree_of(function)
    if tree is None:
        return None
    given = [one.value for node in ast.walk(tree) if isinstance(node, ast.Call) for one in node.keywords if one.arg == _OVERRIDES]
    names = [name for one in given for name in _names(tree, one)]
    written = ast.unparse(tree).count(_OVERRIDES)
    return None if None in names or not given or written != len(given) else frozenset(one for one in names if one)


def _names(tree: ast.Module, node: ast.expr) -> Iterator[str | None]:
    """The names in a list of variables: written out, or made from the keys of an object that is."""
    found = _value(tree, node)
    if isinstance(found, ast.List):
        yield from (_constant(_member(one)) for one in found.elts)
    elif isinstance(found, ast.ListComp) and len(found.generators) == 1:
        yield from _of_keys(tree, found.elt, found.generators[0])
    else:
        yield None


def _of_keys(tree: ast.Module, each: ast.expr, loop: ast.comprehension) -> Iterator[str | None]:
    """The keys of an object over which a list goes, where each key is a name."""
    over, target = loop.iter, loop.target
    is_items = isinstance(over, ast.Call) and isinstance(over.func, ast.Attribute) and over.func.attr == "items"
    owner = _value(tree, over.func.value) if isinstance(over, ast.Call) and isinstance(over.func, ast.Attribute) else None
    key, name = target.elts[0] if isinstance(target, ast.Tuple) and target.elts else None, _member(each)
    same = isinstance(key, ast.Name) and isinstance(name, ast.Name) and key.id == name.id
    yield from map(_constant, owner.keys) if is_items and same and isinstance(owner, ast.Dict) else (None,)


def _member(node: ast.expr) -> ast.expr | None:
    """The name in a variable."""
    pairs = zip(node.keys, node.values, strict=True) if isinstance(node, ast.Dict) else ()
    return next((value for key, value in pairs if _constant(key) == _NAME), None)


def _constant(node: ast.expr | None) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _value(tree: ast.Module, node: ast.expr) -> ast.expr | None:
    """An expression, or what a name stands for that the code gives a value once, and does not change."""
    if not isinstance(node, ast.Name):
        return node
    uses = [one for one in ast.walk(tree) if isinstance(one, ast.Name) and one.id == node.id]
    made = [one.value for one in ast.walk(tree) if isinstance(one, ast.Assign) and _is_named(one.targets, node.id)]
    return made[0] if len(made) == 1 and len(uses) == 2 else None


def _is_named(targets: list[ast.expr], name: str) -> bool:
    return len(targets) == 1 and isinstance(targets[0], ast.Name) and targets[0].id == name
