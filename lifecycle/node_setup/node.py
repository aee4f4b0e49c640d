"""The node as the steps see it: every change of the node goes through this module.

A root in front of every path lets tests run all steps in a temporary folder. An observer of the effects can count them and stop
before any of them, like a kill.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Callable, ContextManager, NamedTuple

from node_trust.as_user import Answer, Identity
from node_trust.errors import Untrusted
from node_trust.folder import Folder
from node_trust.owners import Ids, Ownership
from node_trust.tree import files_below, mode_of, opened

from node_setup import files
from node_setup.accounts import Account, AccountGroup, parse_accounts, parse_groups
from node_setup.commands import Command, Completed, can_connect, find_program, run_command, run_in_home
from node_setup.config import Config, Mount
from node_setup.errors import NodeSetupError
from node_setup.home_child import Request
from node_setup.log import Log
from node_setup.places import MISSING, Places
from node_setup.role import Role
from node_setup.software import Software
from node_setup.waiting import Clock, wait_until

HOME = "/opt/hyperpod"
STATE = "/var/lib/hyperpod"
RUN = "/run/hyperpod"
MAX_TEXT = 16 * 1024 * 1024
MAX_FILE = 1024 * 1024 * 1024


class Patience(NamedTuple):
    """Seconds after which the work of another program counts as failed; `disk` is for the image's mount of a local disk."""

    mount: float = 300
    grace: float = 20
    role: float = 60
    slurm: float = 600
    disk: float = 60


class Host(NamedTuple):
    """The machine below the node: its root folder, its name and its clocks."""

    root: str
    name: str
    clock: Clock
    ownership: Ownership
    run: Callable[[str, Command], Completed] = run_command
    run_in_home: Callable[[Identity, str, str, Request], Answer] = run_in_home
    connect: Callable[[str, int], bool] = can_connect
    observe: Callable[[str], None] = lambda effect: None


class Node:
    def __init__(self, mode: str, config: Config, role: Role, source: Path, log: Log, host: Host, patience: Patience) -> None:
        self.mode = mode
        self.config = config
        self.role = role
        self.source = source
        self.log = log
        self.patience = patience
        self.name = host.name
        self.clock = host.clock
        self.root = host.root
        self.effects = 0
        self._host = host
        self._places = Places(host.root, host.name, host.ownership, _ours(config.software))

    @property
    def software(self) -> Software:
        return self.config.software

    @property
    def mounts(self) -> list[Mount]:
        return self.config.mounts(self.role.group)

    @property
    def is_controller(self) -> bool:
        return self.role.node_type == "Controller"

    # Reading

    def path(self, path: str) -> Path:
        """The path on the machine, for arguments of programs."""
        return Path(self.root + path)

    def exists(self, path: str) -> bool:
        try:
            with self._places.holding(path, follow=True) as (folder, name):
                return folder.status(name) is not None
        except MISSING:
            return False

    def is_folder(self, path: str) -> bool:
        try:
            with self._places.inside(path):
                return True
        except MISSING:
            return False

    def read(self, path: str) -> str | None:
        """The text of a file; `None` if it does not exist."""
        try:
            return self.load(path, MAX_TEXT)[0].decode("utf-8", errors="replace")
        except MISSING:
            return None

    def load(self, path: str, limit: int = MAX_FILE) -> tuple[bytes, int]:
        """The content and the mode of a file."""
        with self.open(path, limit) as file:
            data = file.read(limit + 1)
            if len(data) > limit:
                raise Untrusted(f"{path}: has more than {limit} bytes, the limit")
            return data, mode_of(file)

    def open(self, path: str, limit: int | None = None) -> ContextManager[BinaryIO]:
        return self._places.file(path, limit)

    def names(self, folder: str) -> list[str]:
        """The names in a folder; empty if it does not exist."""
        try:
            with self._places.inside(folder) as found:
                return found.names()
        except MISSING:
            return []

    def tree(self, folder: str) -> list[str]:
        """The regular files below a folder, by their relative paths."""
        return self._places.tree(folder)

    def bundle(self, name: str) -> dict[str, bytes]:
        """The file or the folder's files of that name among these scripts, without compiled ones."""
        with Folder.open(str(self.source), self._host.ownership, checked=False) as source:
            paths = [path for path in files_below(source) if path == name or path.startswith(f"{name}/")]
            found = {}
            for path in [path for path in paths if "__pycache__" not in path]:
                with opened(source, path, MAX_TEXT) as file:
                    found[path] = file.read()
            return found

    def owner(self, path: str) -> Ids:
        """The owner of a path; for a link, the owner of the link itself."""
        return self._host.ownership.of(self.status(path))

    def status(self, path: str) -> os.stat_result:
        """The status of a path; for a link, the status of the link itself."""
        with self._places.holding(path) as (folder, name):
            status = folder.status(name)
            if status is None:
                raise FileNotFoundError(errno.ENOENT, "No such file or directory", path)
            return status

    def has(self, program: str) -> bool:
        return find_program(self.root, program) is not None

    def program(self, name: str) -> str | None:
        return find_program(self.root, name)

    def first_program(self, *programs: str) -> str | None:
        return next((program for program in programs if self.has(program)), None)

    def accounts(self) -> list[Account]:
        return parse_accounts(self.read("/etc/passwd") or "")

    def groups(self) -> list[AccountGroup]:
        return parse_groups(self.read("/etc/group") or "")

    def query(self, command: Sequence[str], seconds: float = 60, environment: Mapping[str, str] | None = None) -> Completed:
        """Run a command that changes nothing."""
        return self._host.run(self.root, Command(command, seconds, environment or {}))

    def run_in_home(self, who: Identity, home: str, request: Request) -> Answer:
        """The answer of a child process that runs as this user in the user's home."""
        return self._host.run_in_home(who, self.root + home, self.root + HOME, request)

    def wait_until(self, condition: Callable[[], bool], what: str, seconds: float) -> None:
        wait_until(condition, what, seconds, self.clock)

    def can_connect(self, address: str, port: int) -> bool:
        return self._host.connect(address, port)

    # Changes

    def run(
        self, command: Sequence[str], text: str = "", seconds: float = 120, environment: Mapping[str, str] | None = None
    ) -> Completed:
        """Run a command with `text` as its input.

        :raises NodeSetupError: with the last line of its output, if it fails.
        """
        return self.execute(Command(command, seconds, environment or {}, text))

    def attempt(self, command: Command) -> Completed:
        """Run a command, whatever its outcome."""
        self._effect("run " + " ".join(command.words))
        return self._host.run(self.root, command)

    def execute(self, command: Command) -> Completed:
        words = command.words
        done = self.attempt(command)
        if done.code != 0:
            said = [line for line in (done.error + "\n" + done.output).splitlines() if line.strip()]
            raise NodeSetupError(f"{' '.join(words[:3])}: ended with {done.code}: {said[-1] if said else 'it said nothing'}")
        return done

    def write(self, path: str, content: str | bytes, mode: int = 0o644, owner: str = "root") -> bool:
        """Give a file this content, mode and owner in one step, and return whether it differed."""
        data = content.encode() if isinstance(content, str) else content
        if self._places.is_same(path, data, mode, self.ids(owner)):
            return False
        self.fill(path, lambda file: _put(file, data), mode, owner)
        return True

    def fill(self, path: str, fill: Callable[[BinaryIO], None], mode: int = 0o600, owner: str = "root") -> None:
        """Replace a file with the output of `fill`, completely or not at all."""
        ids = self.ids(owner)
        self._parents(path)
        with self._places.holding(path) as (folder, name):
            self._effect(f"write {path}")
            beside = folder.put_beside(name, fill, mode, ids)
            self._effect(f"rename {path}")
            folder.rename(beside, folder, name)
            folder.sync()

    def create(self, path: str, content: str, mode: int = 0o644, owner: str = "root") -> bool:
        """Make a file, and return whether this node did: of several that try, exactly one succeeds, on shared file systems too."""
        ids = self.ids(owner)
        self._parents(path)
        with self._places.holding(path) as (folder, name):
            if folder.status(name) is not None:
                self._remove(folder, folder.beside(name), path)
                return False
            self._effect(f"write {path}")
            beside = folder.put_beside(name, lambda file: _put(file, content.encode()), mode, ids)
            self._effect(f"link {path}")
            try:
                return folder.link(beside, name)
            finally:
                folder.remove(beside)

    def folder(self, path: str, mode: int = 0o755, owner: str = "root") -> bool:
        """Make a folder with this mode and owner, and return whether anything changed.

        A new folder never has another mode or owner. A folder that belongs to neither root nor `owner` is refused: its maker may
        have left something in it.
        """
        ids = self.ids(owner)
        self._parents(path)
        with self._places.holding(path, follow=True) as (folder, name):
            if folder.status(name) is None:
                self._effect(f"folder {path}")
                return folder.make(name, mode, ids)
            with folder.enter(name) as found:
                adopt = found.adopt(mode, ids)
                if adopt is not None:
                    self._effect(f"own {path}")
                    adopt()
                return adopt is not None

    def move(self, source: str, target: str) -> bool:
        """Move a path, and return whether that was possible: a file replaces a file, a folder replaces only an empty one."""
        self._effect(f"move {target}")
        with self._places.holding(source) as (old, name), self._places.holding(target) as (new, new_name):
            try:
                old.rename(name, new, new_name)
            except OSError:
                return False
            return True

    def remove(self, path: str) -> bool:
        try:
            with self._places.holding(path) as (folder, name):
                return self._remove(folder, name, path)
        except MISSING:
            return False

    def unpack(self, archive: str, folder: str) -> None:
        self.remove(folder)
        self.folder(folder, 0o700)
        self._effect(f"unpack {folder}")
        with self.open(archive) as file, self._places.inside(folder) as place:
            files.unpack(file, place)

    # Memory

    def once(self, name: str, text: str, action: Callable[[], object]) -> bool:
        """Run an action once for each text, and return whether it ran. After a kill it may run twice."""
        path = f"{STATE}/applied.json"
        known = self.recall(path)
        if known.get(name) == text:
            return False
        action()
        self.write(path, json.dumps({**known, name: text}, indent=1, sort_keys=True) + "\n", 0o600)
        return True

    def recall(self, path: str) -> dict[str, Any]:
        """The object in a JSON file of this node; empty if the file is missing or unreadable."""
        try:
            value = json.loads(self.read(path) or "{}")
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}

    def ids(self, owner: str) -> Ids:
        if owner == "root":
            return 0, 0
        found = next((account for account in self.accounts() if account.name == owner), None)
        if found is None:
            raise NodeSetupError(f"user {owner!r} is not in /etc/passwd")
        return found.uid, found.gid

    def _effect(self, effect: str) -> None:
        self._host.observe(effect)
        self.effects += 1

    def _remove(self, folder: Folder, name: str, path: str) -> bool:
        if folder.status(name) is None:
            return False
        self._effect(f"remove {path}")
        return folder.remove(name)

    def _parents(self, path: str) -> None:
        parent = path.rpartition("/")[0]
        if parent and not self.is_folder(parent):
            self.folder(parent)


def _ours(software: Software) -> list[str]:
    """The places that belong to root alone."""
    shared = [] if software.shared_directory is None else [f"{software.shared_directory}/.hyperpod"]
    homes = [] if software.homes is None else [software.homes]
    return [HOME, STATE, RUN, *shared, *homes]


def _put(file: BinaryIO, data: bytes) -> None:
    file.write(data)
