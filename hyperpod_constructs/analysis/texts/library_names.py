"""Names of Python's library and of boto3 that code takes, and that these do not have, such as `json.dump_s`.

The modules are asked themselves: this Python has them too. What newer ones have beside it is a fact here.

Sources: https://docs.python.org/3/library/ and https://docs.aws.amazon.com/boto3/latest/reference/core/boto3.html
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import NamedTuple

from hyperpod_constructs.analysis.schema.violation import meant
from hyperpod_constructs.analysis.texts.guards import is_guard
from hyperpod_constructs.analysis.texts.slip import Slip, Slips

_CODE = ("Code", "ZipFile")
_SAME_EVERYWHERE = (
    *("base64", "collections", "concurrent.futures", "csv", "datetime", "decimal", "functools", "gzip", "hashlib", "hmac", "io"),
    *("itertools", "json", "logging", "math", "random", "re", "shutil", "string", "tempfile", "traceback", "urllib", "uuid"),
    *("urllib.error", "urllib.parse", "urllib.request", "zipfile"),
)
_OF_LINUX = ("os", "subprocess", "sys", "time")
"""Modules whose names depend on the system: functions run on Linux."""
_BOTO3 = (
    *("DEFAULT_SESSION", "NullHandler", "Session", "client", "compat", "dynamodb", "ec2", "exceptions", "resource", "resources"),
    *("s3", "session", "set_stream_logger", "setup_default_session", "utils", "docs", "crt", "logging", "copy"),
)
_NEWER = frozenset(
    (
        *("batched", "sumprod", "binomialvariate", "process_cpu_count", "fma", "PatternError", "z85encode", "z85decode"),
        *("uuid6", "uuid7", "uuid8", "NIL", "MAX", "Placeholder", "reload_environ", "InterpreterPoolExecutor", "UTC"),
        *("file_digest", "strptime", "EX_OK", "activate_stack_trampoline", "monitoring", "unshare", "setns", "timerfd_create"),
        *("getHandlerByName", "getHandlerNames", "cbrt", "exp2", "readinto", "Template", "integer", "getLevelNamesMapping"),
    )
)
"""What Python 3.11 to 3.14 have added to these modules."""


class _Lost(NamedTuple):
    """A name that its owner does not have."""

    name: str
    names: tuple[str, ...]


def unknown_library_names(tree: ast.Module) -> Slips:
    """The first name that the code takes from a module in vain."""
    tried = {id(one) for node in ast.walk(tree) if isinstance(node, ast.Try) and is_guard(node) for one in ast.walk(node)}
    things = _things_in(tree)
    for node in ast.walk(tree):
        if id(node) in tried or not isinstance(node, ast.Attribute | ast.ImportFrom):
            continue
        for owner, lost in _imported(node) if isinstance(node, ast.ImportFrom) else _taken(node, things):
            message = f"line {node.lineno} of the code takes {lost.name} from {owner}, which does not have it"
            yield Slip(message + meant(lost.name, lost.names), f"a name of {owner}", _CODE, dead=True)
            return


def _things_in(tree: ast.Module) -> Mapping[str, object]:
    """The modules, and what is imported from them, by the names that the code has for these and for nothing else."""
    others = Counter(one.id for one in ast.walk(tree) if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Load))
    others += Counter(one.arg for one in ast.walk(tree) if isinstance(one, ast.arg))
    found: dict[str, object] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                found[alias.asname or alias.name.partition(".")[0]] = _module(
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            owner = _module(node.module)
            found.update({alias.asname or alias.name: _part(owner, alias.name) for alias in node.names})
    return {name: thing for name, thing in found.items() if thing is not None and not others[name]}


def _part(owner: object | None, name: str) -> object | None:
    """A part of a thing: a module inside of a package, or what a module, a class or an object has; `None` if that is not known."""
    if owner is None or isinstance(owner, tuple):
        return None
    inner = _module(f"{owner.__name__}.{name}") if isinstance(owner, ModuleType) else None
    return getattr(owner, name, None) if inner is None else inner


def _imported(node: ast.ImportFrom) -> Iterator[tuple[str, _Lost]]:
    module = _module(node.module or "") if not node.level else None
    for alias in node.names if module is not None and _is_plain(node) else ():
        lost = _lost(module, alias.name)
        if lost is not None:
            yield str(node.module), lost


def _is_plain(node: ast.ImportFrom) -> bool:
    """Whether an import names what it takes."""
    return all(alias.name != "*" for alias in node.names)


def _taken(node: ast.Attribute, things: Mapping[str, object]) -> Iterator[tuple[str, _Lost]]:
    """The name that an attribute takes in vain from a module, a class in it, or a thing in it."""
    owner = _thing(node.value, things)
    lost = None if owner is None else _lost(owner, node.attr)
    if lost is not None:
        yield ast.unparse(node.value), lost


def _thing(node: ast.expr, things: Mapping[str, object]) -> object | None:
    """What an expression of names and dots is; `None` for another one, and for what is not known."""
    if isinstance(node, ast.Name):
        return things.get(node.id)
    return _part(_thing(node.value, things), node.attr) if isinstance(node, ast.Attribute) else None


def _module(name: str) -> object | None:
    """A module of Python's library, the names of boto3, or `None`."""
    if name == "boto3":
        return _BOTO3
    known = name in _SAME_EVERYWHERE or (name in _OF_LINUX and sys.platform == "linux")
    return importlib.import_module(name) if known else None


def _lost(owner: object, name: str) -> _Lost | None:
    if isinstance(owner, tuple):
        return None if name in owner or name.startswith("_") else _Lost(name, owner)
    if hasattr(owner, name) or name in _NEWER or name.startswith("__"):
        return None
    if isinstance(owner, ModuleType) and hasattr(owner, "__path__") and importlib.util.find_spec(f"{owner.__name__}.{name}"):
        return None
    return _Lost(name, tuple(one for one in dir(owner) if not one.startswith("_")))
