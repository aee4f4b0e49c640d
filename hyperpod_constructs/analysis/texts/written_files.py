"""Files that the code of a function writes where it may not: of the file system of Lambda, only /tmp can be written.

Source: https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from hyperpod_constructs.analysis.texts.slip import Slip

_CODE = ("Code", "ZipFile")
_MAY = re.compile(r"/(tmp|mnt|dev|proc)(/|$)")
"""Places that can be written, or where a file system may be mounted."""
_WRITES = re.compile(r"[wax+]")
_MAKES = ("os.makedirs", "os.mkdir")
_MOVES = ("os.chdir", "chdir", "tempfile")
"""What changes where relative paths are."""


def unwritable_files(tree: ast.Module) -> Iterator[Slip]:
    """The first file or folder that the code makes outside of /tmp."""
    moves = any(isinstance(node, ast.Attribute) and ast.unparse(node) in _MOVES for node in ast.walk(tree))
    for node in ast.walk(tree):
        path = _path(node) if isinstance(node, ast.Call) else None
        if path and not _MAY.match(path) and (path.startswith("/") or not moves):
            message = f"line {getattr(node, 'lineno', 0)} of the code writes {path}, and a function can write only below /tmp"
            yield Slip(message, f"/tmp/{path.rpartition('/')[2]}", _CODE, dead=True)
            return


def _path(node: ast.Call) -> str | None:
    """The path that a call writes, if it is written out."""
    called, given = ast.unparse(node.func), [_text(one) for one in node.args]
    mode = next((_text(one.value) for one in node.keywords if one.arg == "mode"), given[1] if len(given) > 1 else None)
    if called == "open" and given and mode and _WRITES.search(mode):
        return given[0]
    if called in _MAKES and given:
        return given[0]
    if isinstance(node.func, ast.Attribute) and node.func.attr in ("write_text", "write_bytes"):
        owner = node.func.value
        is_path = isinstance(owner, ast.Call) and ast.unparse(owner.func) in ("Path", "pathlib.Path") and len(owner.args) == 1
        return _text(owner.args[0]) if isinstance(owner, ast.Call) and is_path else None
    if isinstance(node.func, ast.Attribute) and node.func.attr == "download_file":
        named = next((_text(one.value) for one in node.keywords if one.arg == "Filename"), None)
        return named or (given[2] if len(given) > 2 else None)
    return None


def _text(node: ast.expr) -> str | None:
    """A text, as far as it begins with characters that are written out."""
    first = node.values[0] if isinstance(node, ast.JoinedStr) and node.values else node
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else None
