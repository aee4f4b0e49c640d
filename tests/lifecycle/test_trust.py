"""The rule for root's programs: only a few modules work on files, by handles.

Each package lists the modules that may use the file system directly, with a reason. The other modules cannot open, make, change or
list anything by a path. The rule covers every package in `PACKAGES`.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from .conftest import LIFECYCLE

# Functions that use a path; with `dir_fd`, or on a `Folder`, they use a handle.
OF_MODULES = {
    "os": "access chdir chflags chmod chown lchown link listdir lstat makedirs mkdir mkfifo mknod open readlink remove removedirs "
    "rename renames replace rmdir scandir stat symlink truncate unlink utime walk",
    "shutil": "chown copy copy2 copyfile copymode copystat copytree move rmtree",
    "tarfile": "open",
    "zipfile": "ZipFile",
    "tempfile": "NamedTemporaryFile TemporaryDirectory mkdtemp mkstemp mktemp",
    "glob": "glob iglob",
    "io": "open",
    "sqlite3": "connect",
}
# Methods of a `Path` under any variable: nothing else in these programs has methods of these names.
OF_PATHS = {
    *("chmod", "exists", "expanduser", "glob", "hardlink_to", "is_dir", "is_file", "is_symlink", "iterdir", "lchmod", "link_to"),
    *("lstat", "mkdir", "read_bytes", "read_text", "readlink", "rglob", "rmdir", "stat", "symlink_to", "touch", "unlink"),
    *("write_bytes", "write_text"),
}
# The permitted modules, each with its reason; `node_trust` is the mechanism, and calls the kernel with handles.
PACKAGES = {
    "node_setup": {
        "commands.py": "looks for programs in the folders of the system, which are root's",
        "home_child.py": "is the user himself, in his home",
    },
    "node_health": {
        "heartbeat.py": "is the job itself, in its own folder",
        "rank_child.py": "is the job's user, where the job says",
        "settings.py": "reads config.json, which root wrote",
        "system.py": "keeps root's own files in root's own folders; what lies in a user's goes through `user_files` and `run_as`",
    },
    "node_metrics": {},
    "node_trust": {
        "as_user.py": "looks whether users can reach the interpreter",
        "launcher.py": "enters a folder as the user who it has become",
    },
}
# Methods of these names on `Node` or `Folder`, which work by handles.
BY_HANDLES = {"node", "self"}


def uses(tree: ast.AST) -> list[str]:
    """The uses of paths in a module, with their lines."""
    found = []
    for call in [node for node in ast.walk(tree) if isinstance(node, (ast.Call, ast.Attribute))]:
        name = _by_path(call)
        if name:
            found.append(f"{call.lineno}: {name}")
    return found


def _by_path(node: ast.AST) -> str:
    if isinstance(node, ast.Call):
        return "open" if isinstance(node.func, ast.Name) and node.func.id == "open" and not _has_handle(node) else _called(node)
    return ""


def _called(call: ast.Call) -> str:
    function = call.func
    if not isinstance(function, ast.Attribute) or _has_handle(call):
        return ""
    owner = function.value.id if isinstance(function.value, ast.Name) else ""
    if owner in OF_MODULES:
        return f"{owner}.{function.attr}" if function.attr in OF_MODULES[owner].split() else ""
    if function.attr in OF_PATHS and owner not in BY_HANDLES:
        return f"{owner or '...'}.{function.attr}"
    is_path = (
        isinstance(function.value, ast.Call) and isinstance(function.value.func, ast.Name) and function.value.func.id == "Path"
    )
    return f"Path.{function.attr}" if is_path and function.attr in ("open", "rename", "replace") else ""


def _has_handle(call: ast.Call) -> bool:
    """Whether a call has a handle: a keyword argument, or a descriptor as its first argument."""
    keywords = {keyword.arg for keyword in call.keywords}
    if keywords & {"dir_fd", "src_dir_fd", "fileobj"} or None in keywords:
        return True
    first = call.args[0] if call.args else None
    return (isinstance(first, ast.Attribute) and first.attr == "descriptor") or (
        isinstance(first, ast.Constant) and first.value == "/"
    )


MODULES = [
    (package, path.relative_to(LIFECYCLE / package).as_posix())
    for package in PACKAGES
    for path in sorted((LIFECYCLE / package).rglob("*.py"))
]


@pytest.mark.parametrize(("package", "module"), MODULES)
def test_no_module_reaches_files_by_their_path(package: str, module: str) -> None:
    found = uses(ast.parse((LIFECYCLE / package / module).read_text(encoding="utf-8")))
    if module in PACKAGES[package]:
        assert found, f"{package}/{module} no longer needs its exception"
    else:
        assert found == [], f"{package}/{module}: go through Node or node_trust.folder"


@pytest.mark.parametrize("imported", ["from os import chmod", "from shutil import rmtree", "from pathlib import Path as P"])
def test_no_module_hides_what_it_uses(imported: str) -> None:
    """Otherwise another name would pass the test above."""
    statement = ast.parse(imported).body[0]
    assert hidden(statement)
    for package, module in MODULES:
        tree = ast.parse((LIFECYCLE / package / module).read_text(encoding="utf-8"))
        assert [ast.dump(node) for node in ast.walk(tree) if hidden(node)] == [], f"{package}/{module}"


def hidden(node: ast.AST) -> bool:
    if isinstance(node, ast.Import):
        return any(alias.name in OF_MODULES and alias.asname for alias in node.names)
    if not isinstance(node, ast.ImportFrom):
        return False
    names = set(OF_MODULES.get(str(node.module), "").split())
    return any(alias.name in names or (node.module == "pathlib" and alias.asname) for alias in node.names)


@pytest.mark.parametrize(
    "text",
    [
        "open('/fsx/home/alice/x')",
        "os.chmod(path, 0o700)",
        "os.open(path, os.O_RDONLY | os.O_NOFOLLOW)",
        "node.path('/fsx').read_text()",
        "Path('/x').open()",
        "path.rglob('*')",
        "shutil.rmtree(path)",
        "tarfile.open(path)",
    ],
)
def test_the_judge_sees_what_reaches_files_by_their_path(text: str) -> None:
    assert uses(ast.parse(text))


@pytest.mark.parametrize(
    "text", ["os.open(name, flags, dir_fd=folder)", "os.scandir(self.descriptor)", "node.open('/etc/passwd')", "folder.stat"]
)
def test_the_judge_lets_handles_pass(text: str) -> None:
    assert uses(ast.parse(text)) == []


def test_the_packages_are_there() -> None:
    assert all(
        (LIFECYCLE / package).is_dir() and Path(LIFECYCLE / package / module).is_file()
        for package in PACKAGES
        for module in PACKAGES[package]
    )
