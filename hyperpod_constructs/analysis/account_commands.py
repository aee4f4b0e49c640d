"""Commands of nodes that make users and groups: their words, and whether something asks before whether these are there.

Sources: https://man7.org/linux/man-pages/man8/useradd.8.html, https://man7.org/linux/man-pages/man8/groupadd.8.html and
https://manpages.debian.org/bookworm/adduser/adduser.8.en.html
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from hyperpod_constructs.analysis.shell import Run
from hyperpod_constructs.analysis.written_texts import HOLE, text_of

MAKING = ("useradd", "adduser", "groupadd", "addgroup")
USERS = ("useradd", "adduser")
_SYSTEM = re.compile(r"--system|-[a-zA-Z]*r[a-zA-Z]*")
_NUMBER = re.compile(r"--uid(?:=.*)?|-[A-Za-z]*u.*")
_HOMES = re.compile(r"--home(?:-dir)?(?:=(.*))?|-[A-Za-z]*d(.*)")
_SEVERAL = "*"
"""Stands for words that are not known."""
_ASKING = re.compile(r"\|\||&&|^\s*(?:if|elif|while|until)\b")
_ASKS_BEFORE = re.compile(r"\b(?:id|getent)\b|/etc/(?:passwd|group)\b|\buserdel\b|\bcut\b")
_CHECKING = ("check_call", "check_output")
_STARTING = ("run", *_CHECKING)
_CHECKED = re.compile(r"\bcheck\s*=\s*True")


class AccountCommand(NamedTuple):
    """A command that makes a user or a group.

    :param words: its words; a question mark for each part that is not known.
    :param asked: whether something decides whether it runs, or its failure does not matter.
    """

    words: tuple[str, ...]
    line: int
    asked: bool

    @property
    def has_number(self) -> bool:
        """Whether it says the number of its user, or may."""
        pairs = zip(self.words[:-1], self.words[1:-1], strict=False)
        may = any(word == HOLE and not before.startswith("-") for before, word in pairs) or _SEVERAL in self.words
        return may or any(_NUMBER.fullmatch(word) for word in self.words[1:])

    @property
    def is_of_system(self) -> bool:
        """Whether it makes a user for a service."""
        return any(_SYSTEM.fullmatch(word) for word in self.words[1:])

    @property
    def home(self) -> str | None:
        """The home that it gives; `None` if it does not say."""
        for word, following in zip(self.words, (*self.words[1:], ""), strict=True):
            found = _HOMES.fullmatch(word)
            if found is not None:
                return found[1] or found[2] or following
        return None


def by_shell(run: Run, text: str) -> Iterator[AccountCommand]:
    """Those of a script."""
    lines = text.split("\n")
    for one in run.called:
        words = tuple(text_of(word, run) for word in one.words)
        if one.name in MAKING:
            before = "\n".join(lines[: one.line - 1])
            decided = one.guarded or _ASKING.search(lines[one.line - 1]) is not None
            asked = decided or (not one.alone and _ASKS_BEFORE.search(before) is not None)
            yield AccountCommand((one.name, *words[1:]), one.line, asked)


def by_python(tree: ast.Module) -> Iterator[AccountCommand]:
    """Those of a program."""
    parents = {inner: node for node in ast.walk(tree) for inner in ast.iter_child_nodes(node)}
    for node in ast.walk(tree):
        given = node.elts if isinstance(node, ast.List | ast.Tuple) else node.args if isinstance(node, ast.Call) else ()
        words, call = tuple(map(_word, given)), parents.get(node)
        if words and words[0] in MAKING:
            asked = not isinstance(call, ast.Call) or isinstance(node, ast.Call) or _is_asked(call, parents)
            yield AccountCommand(words, getattr(node, "lineno", 0), asked)


def _word(node: ast.expr) -> str:
    return str(node.value) if isinstance(node, ast.Constant) else _SEVERAL if isinstance(node, ast.Starred) else HOLE


def _is_asked(call: ast.Call, parents: Mapping[ast.AST, ast.AST]) -> bool:
    """Whether something decides whether a call is made, or its failure does not matter."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if name not in _STARTING or (name not in _CHECKING and _CHECKED.search(ast.unparse(call)) is None):
        return True
    node: ast.AST = call
    while node in parents:
        outer = parents[node]
        body: Sequence[ast.AST] = getattr(outer, "body", ()) if isinstance(getattr(outer, "body", ()), list) else ()
        before = body[: body.index(node)] if node in body else ()
        if _decides(outer, node) or any(_leaves(one) for one in before):
            return True
        node = outer
    return False


def _decides(outer: ast.AST, node: ast.AST) -> bool:
    tested = outer.test if isinstance(outer, ast.If | ast.IfExp | ast.While) else None
    is_test = tested is not None and not isinstance(tested, ast.Constant) and tested is not node
    is_own = isinstance(outer, ast.FunctionDef) and outer.name != "main"
    return is_test or is_own or isinstance(outer, ast.Try | ast.BoolOp | ast.Match)


def _leaves(statement: ast.AST) -> bool:
    """Whether a statement may leave the block in which it stands."""
    jumps = any(isinstance(one, ast.Continue | ast.Return | ast.Break) for one in ast.walk(statement))
    return isinstance(statement, ast.If | ast.Try) and jumps
