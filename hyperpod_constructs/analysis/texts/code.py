"""Code of a function that stands in the template: it is parsed, and never executed.

Python that is newer than the Python of this check may have syntax that its parser does not know: f-strings and type parameters of
3.12 and later are believed where the parser is older.

Sources: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-lambda-function-code.html and
https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtimes.html
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from hyperpod_constructs.analysis.javascript_calls import unknown_commands
from hyperpod_constructs.analysis.schema.violation import listed, meant, nearest
from hyperpod_constructs.analysis.texts.reading import HOLE, known, spelled
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.facts import lambda_runtimes
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.values import ABSENT

if TYPE_CHECKING:
    import ast

_CODE = ("Code", "ZipFile")
_OF_MODULES = ("nodejs", "python", "ruby")
"""The families of runtimes whose handler is a module and a function in it."""
_REQUIRED, _WITHOUT_SDK = re.compile(r"""(?:\bfrom|\brequire\()\s*["']([\w@/.-]{1,100})["']"""), (18,)
"""Packages that code imports, and the first version of Node.js without the SDK for JavaScript 2."""
_LONGEST = 1 << 16
_LONGEST_NAME = 64
_NEWER = re.compile(r"""\b[rR]?[fFtT][rR]?["']|^\s*type\s+\w+|^\s*(?:async\s+)?(?:def|class)\s+\w+\[|^\s*except\s+\w+,""")
_OF_JAVASCRIPT = re.compile(r"^\s*(?:const |let |var |exports\.|module\.exports|import .* from ['\"]|export )", re.MULTILINE)


def inline_code(function: Resource) -> Slips:
    """The code of a function: its language, its syntax, its handler and what it imports."""
    text = spelled(function.get(*_CODE))
    runtime, handler = known(function.get("Runtime")), known(function.get("Handler"))
    if not text and handler and "." not in handler and _family(runtime or "") in _OF_MODULES:
        yield Slip(f"the handler {handler!r} names no function", f"{handler}.FUNCTION", ("Handler",), handler, dead=True)
    if not text or text.strip() == HOLE or runtime is None or len(runtime) > _LONGEST_NAME:
        return
    family = _family(runtime)
    if family not in ("python", "nodejs"):
        yield Slip(
            f"code in the template runs on Python and Node.js, not on {runtime}",
            "S3Bucket and S3Key, or ImageUri",
            ("Runtime",),
            runtime,
        )
    elif family == "nodejs":
        yield from list(_node(text, handler)) or (_packages(text, runtime) if function.get("Layers") in (ABSENT, ()) else ())
        if HOLE not in text:
            from hyperpod_constructs.analysis.texts.environments import lacking_in_javascript  # few templates have code

            yield from lacking_in_javascript(text, function.get("Environment", "Variables"))
    elif len(text) <= _LONGEST:
        yield from _python(function, text, runtime, handler)


def _node(text: str, handler: str | None) -> Slips:
    if not _OF_JAVASCRIPT.search(text) and re.search(r"^def \w+\(.*\):\s*$", text, re.MULTILINE):
        yield Slip("the code is Python, and the runtime Node.js", "code and runtime of one language", ("Runtime",))
        return
    module, _, name = (handler or "index.handler").rpartition(".")
    yield from _module(module, handler)
    if HOLE not in text and module == "index" and not re.search(rf"\b{re.escape(name)}\b", text):
        yield Slip(f"the code exports no {name}", "a name that index exports", ("Handler",), handler, dead=True)


def _packages(text: str, runtime: str) -> Slips:
    """Packages that the runtime does not have, and commands that a package of AWS's SDK does not have."""
    name = next((one for one in _REQUIRED.findall(text) if one in lambda_runtimes.NOT_IN_NODE), None)
    if name is not None and _version(runtime) >= _WITHOUT_SDK:
        message = f"the code needs {name}, which the runtime does not have"
        yield Slip(message, "packages of the runtime (@aws-sdk/client-…), or Layers with the package", _CODE, dead=True)
        return
    for package, command, names in unknown_commands(text):
        message = f"the code imports {command}, which {package} does not have{meant(command, names)}"
        yield Slip(message, f"a command of {package}", _CODE, dead=True)
        return


def _module(module: str, handler: str | None) -> Slips:
    if handler and module != "index":
        message = f"the handler {handler!r} is in the module {module or handler!r}, and code in the template is in index"
        yield Slip(message, f"index.{handler.rpartition('.')[2]}", ("Handler",), handler, dead=True)


def _python(function: Resource, text: str, runtime: str, handler: str | None) -> Slips:
    module, _, name = (handler or "").rpartition(".")
    yield from _module(module, handler)
    tree = _parsed(text, runtime)
    if isinstance(tree, Slip):
        yield tree
    elif tree is not None:
        if module == "index":
            yield from _handler(tree, name, handler)
        if function.get("Layers") in (ABSENT, ()):
            yield from _imports(tree)
        if HOLE not in text:
            from hyperpod_constructs.analysis.texts.custom_answers import mistakes_in_answers  # few templates have code
            from hyperpod_constructs.analysis.texts.inputs import input_of
            from hyperpod_constructs.analysis.texts.program_data import mistakes_in_reads
            from hyperpod_constructs.analysis.texts.programs import clients_in, mistakes_in_program
            from hyperpod_constructs.analysis.texts.written_files import unwritable_files

            found = list(mistakes_in_program(tree, name, function.get("Environment", "Variables")))
            found = found or list(mistakes_in_reads(tree, clients_in(tree), name, input_of(function)))
            yield from found or [*mistakes_in_answers(tree, function, name)] or unwritable_files(tree)


@lru_cache(maxsize=64)
def _parsed(text: str, runtime: str) -> ast.Module | Slip | None:
    """The code as a tree, or its mistake; `None` if this Python cannot know.

    A model in doubt has the same code: it gets the same tree, of which what follows from it alone is known.
    """
    from hyperpod_constructs.analysis.code_runs.parsing import read_code  # few templates have code

    try:
        return read_code(text.replace(HOLE, "_hole_"))
    except SyntaxError as error:
        if HOLE in text or _may_be_newer(error, text, runtime):
            return None
        where = f"line {error.lineno}, column {error.offset}"
        if _OF_JAVASCRIPT.search(text):
            return Slip(
                f"the code is JavaScript, and the runtime {runtime}", "code and runtime of one language", ("Runtime",), dead=True
            )
        return Slip(
            f"the code is no Python: {error.msg} at {where}", "code that Python parses", _CODE, _line(text, error), dead=True
        )


def _line(text: str, error: SyntaxError) -> str:
    lines = text.splitlines()
    return lines[error.lineno - 1].strip()[:80] if error.lineno and error.lineno <= len(lines) else ""


def _may_be_newer(error: SyntaxError, text: str, runtime: str) -> bool:
    version = tuple(int(part) for part in re.findall(r"\d+", runtime))
    if version < (3,) or version <= sys.version_info[:2]:
        return False
    return error.msg.startswith("f-string") or bool(_NEWER.search(_line(text, error)))


def _handler(tree: ast.Module, name: str, handler: str | None) -> Slips:
    names = _names(tree)
    if names is not None and name not in names:
        near = nearest(name, names)
        allowed = f"index. and one of {listed(sorted(names))}" if names else "a function of the code"
        message = f"the code has no {name}{f'; the nearest is {near}' if near else ''}"
        yield Slip(message, allowed, ("Handler",), handler, dead=True)


def _names(tree: ast.Module) -> set[str] | None:
    """The names at the top of a module; `None` if it may have more."""
    import ast

    found: set[str] = set()
    for node in _top(tree.body):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            if any(alias.name == "*" for alias in node.names):
                return None
            found.update(alias.asname or alias.name for alias in node.names)
        else:
            found.update(one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store))
            if any(isinstance(one, ast.Name) and one.id in ("exec", "globals", "setattr") for one in ast.walk(node)):
                return None
    return found


def _top(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements that run when the module is imported, also below `if`, `try` and `with`."""
    import ast

    for node in body:
        inner = [getattr(node, name, []) for name in ("body", "orelse", "finalbody")]
        inner += [one.body for one in getattr(node, "handlers", [])]
        if isinstance(node, ast.If | ast.Try | ast.With | ast.For | ast.While):
            for block in inner:
                yield from _top(block)
        yield node if not isinstance(node, ast.If | ast.Try | ast.With) else ast.Pass()


def _imports(tree: ast.Module) -> Slips:
    """Packages that the runtime does not have, imported at the top of the code, before it looks anywhere else for packages."""
    import ast

    for node in tree.body:
        if "sys.path." in ast.unparse(node):
            return
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module] if isinstance(node, ast.ImportFrom) and node.module and not node.level else []
        for name in names:
            top = name.partition(".")[0]
            if top in lambda_runtimes.NOT_IN_LAMBDA:
                message = f"line {node.lineno} of the code imports {top}, which the runtime does not have"
                yield Slip(
                    message, "packages of the runtime (boto3, botocore, urllib3), or Layers with the package", _CODE, dead=True
                )
                return


def runtime(function: Resource) -> Slips:
    """A runtime that Lambda still makes functions with."""
    name = known(function.get("Runtime"))
    if not name or len(name) > _LONGEST_NAME:
        return
    if name in lambda_runtimes.BLOCKED_RUNTIMES:
        yield Slip(f"Lambda makes no more functions with {name}", _newest(name), ("Runtime",), name)
    elif name in lambda_runtimes.DEPRECATED_RUNTIMES:
        message = f"{name} is deprecated since {lambda_runtimes.DEPRECATED_RUNTIMES[name]}: it gets no security updates"
        yield Slip(message, _newest(name), ("Runtime",), name, dead=True)
    elif name not in lambda_runtimes.RUNTIMES and not _is_newer(name):
        near = nearest(name, lambda_runtimes.RUNTIMES)
        if near or _family(name) in lambda_runtimes.RUNTIME_FAMILIES:
            meant = f"; the nearest is {near}" if near else ""
            yield Slip(f"Lambda has no runtime {name}{meant}", f"one of {listed(lambda_runtimes.RUNTIMES)}", ("Runtime",), name)


def _family(name: str) -> str:
    return name.rstrip("x.0123456789")


def _version(name: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", name))


def _is_newer(name: str) -> bool:
    """Whether a runtime is newer than those of the facts: it may have come since."""
    same = _same_family(name)
    return bool(same) and _version(name) > max(map(_version, same))


def _same_family(name: str) -> list[str]:
    return [one for one in lambda_runtimes.RUNTIMES if _family(one) == _family(name)]


def _newest(name: str) -> str:
    same = _same_family(name)
    return f"a supported runtime, such as {max(same, key=_version)}" if same else "a supported runtime"


def function(resource: Resource) -> Slips:
    """The code of a function and its runtime."""
    yield from runtime(resource)
    yield from inline_code(resource)


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {"AWS::Lambda::Function": function}
