"""Programs of nodes in Python: the modes that they give, and the keys of users that they leave with root.

Sources: https://docs.python.org/3/library/os.html#os.chmod, https://docs.python.org/3/library/pathlib.html#pathlib.Path.chmod and
https://man.openbsd.org/sshd.8#FILES
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from hyperpod_constructs.analysis.clusters import clusters
from hyperpod_constructs.analysis.code_runs.parsing import parsed_code
from hyperpod_constructs.analysis.embedded import marked
from hyperpod_constructs.analysis.node_programs import LIFE_CYCLE, NodeFile, programs_of
from hyperpod_constructs.analysis.python_paths import Parts, assigned_in, looped_in, parts_of_path
from hyperpod_constructs.analysis.schema.violation import Path
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource

_CLUSTER = "AWS::SageMaker::Cluster"
_WITH_MODE: Mapping[str, int] = {
    **{"os.chmod": 1, "os.fchmod": 1, "os.lchmod": 1, "os.mkdir": 1, "os.makedirs": 1, "os.umask": 0, "os.open": 2, "os.mkfifo": 1},
}
"""Functions with a mode, by its place."""
_METHODS: Mapping[str, int] = {"chmod": 0, "lchmod": 0, "mkdir": 0, "touch": 0}
"""The same of paths."""
_USUAL = frozenset(
    {
        *(0o400, 0o440, 0o444, 0o500, 0o550, 0o555, 0o600, 0o640, 0o644, 0o660, 0o664, 0o666, 0o700, 0o710, 0o711, 0o740, 0o744),
        *(0o750, 0o755, 0o770, 0o775, 0o777, 0o1777, 0o2750, 0o2755, 0o2770, 0o2775, 0o4755),
    }
)
_MASKS = frozenset({0o002, 0o007, 0o022, 0o027, 0o077})
_OWNING, _CHANGING = ("os.chown", "os.lchown", "shutil.chown"), "chown"
_FOLDER, _KEYS = ".ssh", "authorized_keys"


class _Mistake(NamedTuple):
    """What is wrong with a program, in words, and what is right."""

    says: str
    allowed: str


class _Names(NamedTuple):
    """What the names of a program stand for.

    :param looped: the same of loops, one after the other.
    """

    assigned: Mapping[str, ast.expr | None]
    looped: Mapping[str, tuple[ast.expr, ...]]

    def places(self, node: ast.expr) -> list[Parts]:
        """The paths that an expression is."""
        several = self.looped.get(node.id, (node,)) if isinstance(node, ast.Name) else (node,)
        return [parts_of_path(one, self.assigned) for one in several]


def programs(cluster: Resource) -> Slips:
    """The programs for the groups of a cluster, each once."""
    said: set[tuple[Resource, Path]] = set()
    for group in (group for one in clusters(cluster.template.model) if one.resource is cluster for group in one.groups):
        for file in programs_of(group).files.values():
            place = file.resource, file.path
            found = next(_mistakes(file), None) if file.name.endswith(".py") and place not in said else None
            if found is not None:
                said.add(place)
                message = f"{file.name} for nodes of instance group {group.label!r} {found.says}"
                beside = ((cluster, (*group.path, LIFE_CYCLE)),)
                yield Slip(message, found.allowed, file.path, dead=True, beside=beside, at=file.resource)


def _mistakes(file: NodeFile) -> Iterator[_Mistake]:
    tree = parsed_code(marked(file.text)[0] or "")
    if tree is not None:
        calls = [one for one in ast.walk(tree) if isinstance(one, ast.Call)]
        yield from (found for one in calls for found in _decimal(one, marked(file.text)[0] or ""))
        yield from _keys_of_root(calls, _Names(assigned_in(tree), looped_in(tree)))


def _mode_in(call: ast.Call) -> ast.expr | None:
    """The mode that a call gives."""
    named = next((one.value for one in call.keywords if one.arg == "mode"), None)
    place = _WITH_MODE.get(ast.unparse(call.func))
    if place is None and isinstance(call.func, ast.Attribute) and not ast.unparse(call.func).startswith("os."):
        place = _METHODS.get(call.func.attr)
    if place is None:
        return None
    return named or (call.args[place] if place < len(call.args) else None)


def _decimal(call: ast.Call, text: str) -> Iterator[_Mistake]:
    """A mode that is meant in the digits of `chmod`, and is written as another number."""
    mode = _mode_in(call)
    written = ast.get_source_segment(text, mode) or "" if isinstance(mode, ast.Constant) and type(mode.value) is int else ""
    usual = _MASKS if ast.unparse(call.func) == "os.umask" else _USUAL
    meant = int(written, 8) if written.isdecimal() and not set(written) & {*"89"} else None
    if mode is not None and meant in usual and int(written) not in usual:
        says = f"gives the mode {written} in line {call.lineno}, which is the number {int(written):#o} and not {meant:#o}"
        yield _Mistake(says, f"{meant:#o}")


def _keys_of_root(calls: Sequence[ast.Call], names: _Names) -> Iterator[_Mistake]:
    """Keys of a user that nobody but their owner may read, and that are given to nobody."""
    closed = [(place, call.lineno) for call in calls for place in _closed(call, names) if place and place[-1] in (_FOLDER, _KEYS)]
    given = [place for call in calls for place in _given_away(call, names)]
    for place, line in closed if all(len(one) > 1 for one in given) else ():
        is_of_root = "root" in place or any("expanduser" in one or "home()" in one for one in place)
        if place not in given and not is_of_root:
            says = f"leaves {place[-1]} with root, and takes it from all others in line {line}"
            yield _Mistake(f"{says}: sshd reads the keys of a user as this user", "os.chown with the user and the group")
            return


def _closed(call: ast.Call, names: _Names) -> list[Parts]:
    """What a call takes from all but its owner."""
    mode = _mode_in(call)
    is_closing = isinstance(mode, ast.Constant) and isinstance(mode.value, int) and not mode.value & 0o005
    if not is_closing or not isinstance(call.func, ast.Attribute) or call.func.attr != "chmod":
        return []
    return names.places(call.args[0] if ast.unparse(call.func) == "os.chmod" else call.func.value)


def _given_away(call: ast.Call, names: _Names) -> list[Parts]:
    """What a call gives to another owner; one part for what is not known."""
    if ast.unparse(call.func) in _OWNING and call.args:
        return names.places(call.args[0])
    words = [str(one.value) for one in ast.walk(call) if isinstance(one, ast.Constant)]
    return [("",)] if any(one.split(" ")[0] == _CHANGING for one in words) else []


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {_CLUSTER: programs}
