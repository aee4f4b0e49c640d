"""Variables of the environment that code reads, and that its function does not have.

A variable is believed to lack where the code asks for it first, has another value for it, or catches that it is not there.

Sources: https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html and
https://docs.python.org/3/library/os.html#os.environ
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from hyperpod_constructs.analysis.schema.violation import meant, nearest
from hyperpod_constructs.analysis.texts.guards import is_guard
from hyperpod_constructs.analysis.texts.slip import Slip
from hyperpod_constructs.analysis.typo import typo_of
from hyperpod_constructs.templates.values import ABSENT, Value

_PATH = ("Environment", "Variables")
_LAMBDAS_OWN = ("AWS_", "LAMBDA_", "_", "PYTHON", "NODE_", "LD_", "PATH", "LANG", "TZ", "HOME", "PWD")
"""The beginnings of variables that Lambda, the shell and the languages have themselves."""
_TAKE_NO_NOTHING = ("float", "int", "json.loads", "len", "open", "sorted")
"""Functions that fail at `None`."""
_OWNERS = ("os.environ", "environ")
_READ = re.compile(r"process\.env(?:\.(\w{1,100})|\[\s*[\"'](\w{1,100})[\"']\s*\])(?!\s*(?:\?|\|\||=[^=]|\w))")
"""A variable that code in JavaScript reads, with nothing in its place and no other value behind it."""


def lacking_variables(tree: ast.Module, environment: Value) -> Iterator[Slip]:
    """The first variable that must be there, and that the function does not have."""
    names = _names(environment)
    guarded = {id(one) for node in ast.walk(tree) if is_guard(node) and not _is_of_request(node) for one in ast.walk(node)}
    for node in ast.walk(tree) if names is not None else ():
        name = variable(node)
        if name is not None and names is not None and _lacks(name, names, near=id(node) in guarded):
            yield _slip(f"line {getattr(node, 'lineno', 0)} of the code reads", name, names)
            return


def reads_of_nothing(tree: ast.Module, environment: Value) -> Mapping[int, str]:
    """The expressions that give `None`, as the function does not have the variable: its name by the identity of the node."""
    names = _names(environment)
    tried = (node for node in ast.walk(tree) if isinstance(node, ast.Try | ast.If | ast.IfExp | ast.BoolOp | ast.Match))
    guarded = {id(one) for node in tried for one in ast.walk(node)}
    found = ((id(node), _optional(node)) for node in ast.walk(tree) if id(node) not in guarded) if names is not None else ()
    return {key: name for key, name in found if name is not None and names is not None and _lacks(name, names)}


def uses_of_nothing(tree: ast.Module, environment: Value) -> Iterator[Slip]:
    """What the code does with a variable that the function does not have, as if it were a text."""
    nothing = reads_of_nothing(tree, environment)
    for node in ast.walk(tree) if nothing else ():
        used: list[ast.expr] = [node.value] if isinstance(node, ast.Attribute | ast.Subscript) else []
        if isinstance(node, ast.Call) and ast.unparse(node.func) in _TAKE_NO_NOTHING:
            used = node.args
        for one in used:
            if id(one) in nothing:
                yield _slip(f"line {one.lineno} of the code needs", nothing[id(one)], _names(environment) or {})
                return


def lacking_in_javascript(text: str, environment: Value) -> Iterator[Slip]:
    """A variable with nearly the name of one that the function has; others may lack, as they are undefined then."""
    names = _names(environment) or {}
    unread = {*names} - {*re.findall(r"\w+", text)}
    for found in _READ.finditer(text):
        name = found[1] or found[2]
        if _lacks(name, names, near=nearest(name, unread) is None):
            yield _slip(f"line {text.count(chr(10), 0, found.start()) + 1} of the code reads", name, names)
            return


def _slip(reads: str, name: str, names: Mapping[str, Value]) -> Slip:
    message = f"{reads} the variable {name}, which the function does not have{meant(name, names)}"
    return Slip(message, f"Environment with {name}", _PATH, dead=True)


def _names(environment: Value) -> Mapping[str, Value] | None:
    """The variables of a function; `None` if they are not known."""
    return {} if environment is ABSENT else environment if isinstance(environment, Mapping) else None


def _lacks(name: str, names: Mapping[str, Value], *, near: bool = False) -> bool:
    """Whether a function does not have a variable.

    :param near: whether it counts only if the function has one with nearly this name.
    """
    return name not in names and not name.startswith(_LAMBDAS_OWN) and (not near or typo_of(name, names) is not None)


def _is_of_request(node: ast.AST) -> bool:
    """Whether an `if` only tells kinds of requests apart, of which each comes some day."""
    return isinstance(node, ast.If) and "RequestType" in ast.unparse(node.test) and "environ" not in ast.unparse(node.test)


def variable(node: ast.AST) -> str | None:
    """The variable that `os.environ["NAME"]` reads."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.ctx, ast.Load) or not isinstance(node.slice, ast.Constant):
        return None
    is_text = ast.unparse(node.value) in _OWNERS and isinstance(node.slice.value, str)
    return str(node.slice.value) if is_text else None


def _optional(node: ast.AST) -> str | None:
    """The variable that `os.environ.get("NAME")` or `os.getenv("NAME")` reads, without another value."""
    if not isinstance(node, ast.Call) or len(node.args) != 1 or node.keywords or not isinstance(node.args[0], ast.Constant):
        return None
    reads = ast.unparse(node.func) in (*(f"{one}.get" for one in _OWNERS), "os.getenv", "getenv")
    return str(node.args[0].value) if reads else None
