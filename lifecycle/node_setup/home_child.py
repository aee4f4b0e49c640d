"""The child of `steps.user_keys`: it runs as the user in the user's home, and makes each change completely or not at all.

A second run changes nothing, and only one of several nodes that start together makes the key. The user may change files meanwhile;
that harms nobody else.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, BinaryIO, Callable, List, NamedTuple

from node_trust.errors import Untrusted
from node_trust.folder import Folder
from node_trust.owners import ROOT, Unowned
from node_trust.way import FOLDER

from node_setup.blocks import with_block

KEY = "id_ed25519"
MAX_KEY = 64 * 1024
MAX_AUTHORIZED = 1024 * 1024
PROGRAM = "import sys; sys.path.insert(0, sys.argv.pop(1)); from node_setup.home_child import main; main()"
Run = Callable[[List[str]], str]


class Request(NamedTuple):
    """The order to the child.

    :param keys: the public keys that may log in as the user `name`.
    :param node: the name of this node, in the names of unfinished files, so that a later run replaces them.
    """

    name: str
    node: str
    keys: list[str]
    keygen: str


def main() -> None:
    request = Request(**json.load(sys.stdin))
    with Folder(os.open(".", FOLDER), str(Path.cwd()), Unowned(), request.node) as home:
        json.dump(answer(home, request, run), sys.stdout)


def answer(home: Folder, request: Request, run: Run) -> dict[str, Any]:
    """The number of changes, and the error that stopped further ones."""
    changes = 0
    try:
        changes += home.make(".ssh", 0o700)
        with home.enter(".ssh") as folder:
            for part in (make_key, put_public, put_authorized):
                changes += part(folder, request, run)
    except (OSError, ValueError) as error:
        return {"changes": changes, "error": str(error)}
    return {"changes": changes, "error": ""}


def make_key(folder: Folder, request: Request, run: Run) -> int:
    """Makes the key under another name and links it into place: a second node finds it and drops its own."""
    beside = folder.beside(KEY)
    try:
        if folder.status(KEY) is not None:
            return 0
        _remove_key(folder, beside)
        run([request.keygen, "-q", "-t", "ed25519", "-N", "", "-C", request.name, "-f", f"{folder.path}/{beside}"])
        with folder.open_file(beside, MAX_KEY, None) as file:
            os.fsync(file.fileno())
        return int(folder.link(beside, KEY))
    finally:
        _remove_key(folder, beside)


def put_public(folder: Folder, request: Request, run: Run) -> int:
    return _put(folder, f"{KEY}.pub", _public(folder, request, run) + "\n", 0o644)


def put_authorized(folder: Folder, request: Request, run: Run) -> int:
    """Adds the authorized keys; the user's own entries stay."""
    try:
        text = folder.read("authorized_keys", MAX_AUTHORIZED, None).decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        text = ""
    lines = [*request.keys, _public(folder, request, run)]
    return _put(folder, "authorized_keys", with_block(text, lines), 0o600)


def run(command: list[str]) -> str:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)  # noqa: S603
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise Untrusted(f"{' '.join(command[:2])}: ended with {done.returncode}: {said[-1] if said else 'it said nothing'}")
    return done.stdout.decode(errors="replace")


def _public(folder: Folder, request: Request, run: Run) -> str:
    path = f"{folder.path}/{KEY}"
    folder.open_file(KEY, MAX_KEY, None).close()  # ssh-keygen would wait for a FIFO
    public = run([request.keygen, "-y", "-P", "", "-f", path]).strip()
    if not public.startswith("ssh-") or "\n" in public:
        raise Untrusted(f"{path}: is not a key that ssh-keygen can read without a passphrase")
    return public


def _put(folder: Folder, name: str, text: str, mode: int) -> int:
    data = text.encode("utf-8", "surrogateescape")
    if folder.has(name, data, mode, ROOT):
        return 0
    folder.rename(folder.put_beside(name, lambda file: _fill(file, data), mode), folder, name)
    return 1


def _fill(file: BinaryIO, data: bytes) -> None:
    file.write(data)


def _remove_key(folder: Folder, beside: str) -> None:
    for name in (beside, f"{beside}.pub"):
        folder.remove(name)
