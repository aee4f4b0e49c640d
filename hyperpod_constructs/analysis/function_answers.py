"""The form of what a function answers, where its code stands in the template. The code is parsed, and never executed."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from typing import TYPE_CHECKING

from hyperpod_constructs.analysis.data_forms import Data, Known, either
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.values import as_str

if TYPE_CHECKING:
    import ast


def answer_of_function(function: Resource) -> Known:
    """The form of the answer of a function; `None` if its code does not say it."""
    model = function.template.model
    return model.cached((answer_of_function, function), lambda: _answer(function))


def tree_of(function: Resource) -> ast.Module | None:
    """The code of a function in Python that stands in its template; `None` for another one."""
    from hyperpod_constructs.analysis.code_runs.parsing import parsed_code  # few templates have code

    code, runtime = as_str(function.get("Code", "ZipFile")) or "", as_str(function.get("Runtime")) or ""
    return parsed_code(code) if runtime.startswith("python") else None


def answers_nothing(function: Resource) -> bool:
    """Whether the handler of a function surely gives no answer."""
    found = _handler(function)
    return found is not None and not any(one.value is not None for one in _returns(found.body))


def _handler(function: Resource) -> ast.FunctionDef | None:
    """The handler in the code of a function, if it is there once and nothing wraps it."""
    import ast

    module, _, name = (as_str(function.get("Handler")) or "").rpartition(".")
    tree = tree_of(function) if module == "index" else None
    found = [one for one in tree.body if isinstance(one, ast.FunctionDef) and one.name == name] if tree is not None else []
    return found[0] if len(found) == 1 and not found[0].decorator_list else None


def _answer(function: Resource) -> Known:
    found = _handler(function)
    answers = [_form(one.value, found) for one in _returns(found.body) if one.value is not None] if found is not None else []
    return reduce(either, answers) if answers else None


def _returns(body: list[ast.stmt]) -> Iterator[ast.Return]:
    """The returns of a function, without those of functions in it."""
    import ast

    for one in body:
        if isinstance(one, ast.Return):
            yield one
        elif not isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            inner = [child for child in ast.walk(one) if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)]
            hidden = {id(child) for function in inner for child in ast.walk(function)}
            yield from (child for child in ast.walk(one) if isinstance(child, ast.Return) and id(child) not in hidden)


def _form(node: ast.expr | None, handler: ast.FunctionDef) -> Known:
    """The form of what a handler answers.

    :param node: how it is written.
    """
    import ast

    if not isinstance(node, ast.Dict):
        return Data(items=(None,)) if isinstance(node, ast.List | ast.ListComp) else None
    names = [key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else None for key in node.keys]
    found = [(name, value) for name, value in zip(names, node.values, strict=True) if name is not None]
    members = {name: _form(value, handler) or _text(value, handler) for name, value in found}
    return Data(members, is_open=None in names)


def _text(node: ast.expr, handler: ast.FunctionDef) -> Known:
    """A text by some of what it may be."""
    from hyperpod_constructs.analysis.answered_texts import texts_of  # few templates have code

    some = texts_of(node, handler)
    return Data(is_open=True, some=some) if some else None
