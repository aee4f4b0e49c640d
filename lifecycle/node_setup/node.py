"""The node as the steps see it: everything that changes it goes through here.

A root in front of every path lets tests run all steps in a temporary folder; what observes the effects can count them, and
stop before any of them as a kill does.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Callable, NamedTuple

from node_setup import files
from node_setup.accounts import Account, AccountGroup, parse_accounts, parse_groups
from node_setup.commands import Completed, can_connect, find_program, run_command
from node_setup.config import Config, Mount
from node_setup.errors import NodeSetupError
from node_setup.log import Log
from node_setup.role import Role
from node_setup.software import Software
from node_setup.waiting import Clock, wait_until

HOME = "/opt/hyperpod"
STATE = "/var/lib/hyperpod"


class Patience(NamedTuple):
    """Seconds until what something else does is taken to have failed."""

    mount: float = 300
    grace: float = 20
    role: float = 60
    slurm: float = 600


class Host(NamedTuple):
    """The machine below the node: where it is, what it is called, and how it is reached."""

    root: str
    name: str
    clock: Clock
    ownership: files.Ownership
    run: Callable[[str, Sequence[str], str, float, Mapping[str, str]], Completed] = run_command
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

    @property
    def software(self) -> Software:
        return self.config.software

    @property
    def mounts(self) -> list[Mount]:
        return self.config.mounts(self.role.group)

    @property
    def is_controller(self) -> bool:
        return self.role.node_type == "Controller"

    # What is there

    def path(self, path: str) -> Path:
        return Path(self.root + path)

    def exists(self, path: str) -> bool:
        return self.path(path).exists()

    def read(self, path: str) -> str | None:
        """The text of a file; ``None`` when there is none."""
        try:
            return self.path(path).read_text(encoding="utf-8", errors="replace")
        except (FileNotFoundError, NotADirectoryError):
            return None

    def names(self, folder: str) -> list[str]:
        """The names in a folder; none when there is no such folder."""
        path = self.path(folder)
        return sorted(entry.name for entry in path.iterdir()) if path.is_dir() else []

    def owner(self, path: str) -> files.Ids:
        return self._host.ownership.of(self.path(path).lstat())

    def has(self, program: str) -> bool:
        return find_program(self.root, program) is not None

    def first_program(self, *programs: str) -> str | None:
        return next((program for program in programs if self.has(program)), None)

    def accounts(self) -> list[Account]:
        return parse_accounts(self.read("/etc/passwd") or "")

    def groups(self) -> list[AccountGroup]:
        return parse_groups(self.read("/etc/group") or "")

    def query(self, command: Sequence[str], seconds: float = 60, environment: Mapping[str, str] | None = None) -> Completed:
        """Runs a command that changes nothing."""
        return self._host.run(self.root, command, "", seconds, environment or {})

    def wait_until(self, condition: Callable[[], bool], what: str, seconds: float) -> None:
        wait_until(condition, what, seconds, self.clock)

    def can_connect(self, address: str, port: int) -> bool:
        return self._host.connect(address, port)

    # What changes it

    def run(
        self, command: Sequence[str], text: str = "", seconds: float = 120, environment: Mapping[str, str] | None = None
    ) -> Completed:
        """Runs a command, with ``text`` as its input. Raises :class:`NodeSetupError` with the end of what it said."""
        self._effect("run " + " ".join(command))
        done = self._host.run(self.root, command, text, seconds, environment or {})
        if done.code != 0:
            said = [line for line in (done.error + "\n" + done.output).splitlines() if line.strip()]
            raise NodeSetupError(f"{' '.join(command[:3])}: ended with {done.code}: {said[-1] if said else 'it said nothing'}")
        return done

    def write(self, path: str, content: str | bytes, mode: int = 0o644, owner: str = "root") -> bool:
        """Whether the file differed: then it has this content, mode and owner now, and at no time another or half of it."""
        data = content.encode() if isinstance(content, str) else content
        if files.is_same(self.path(path), data, mode, self.ids(owner), self._host.ownership):
            return False
        self.fill(path, lambda file: _put(file, data), mode, owner)
        return True

    def fill(self, path: str, fill: Callable[[BinaryIO], None], mode: int = 0o600, owner: str = "root") -> None:
        """Replaces the file with what ``fill`` writes, whole or not at all."""
        beside = self._beside(path, fill, mode, owner)
        self._effect(f"rename {path}")
        beside.replace(self.path(path))
        files.sync_folder(self.path(path).parent)

    def create(self, path: str, content: str, mode: int = 0o644, owner: str = "root") -> bool:
        """Whether this node made the file: of several that try, on a shared file system too, exactly one does."""
        if self.exists(path):
            self.remove(str(files.name_beside(Path(path), self.name)))
            return False
        beside = self._beside(path, lambda file: _put(file, content.encode()), mode, owner)
        self._effect(f"link {path}")
        try:
            os.link(beside, self.path(path))
        except FileExistsError:
            return False
        finally:
            beside.unlink()
        return True

    def folder(self, path: str, mode: int = 0o755, owner: str = "root") -> bool:
        """Whether the folder was missing or differed: it is there now, and a new one never had another mode or owner."""
        target, ids = self.path(path), self.ids(owner)
        if target.is_dir():
            status = target.lstat()
            if stat.S_IMODE(status.st_mode) == mode and self._host.ownership.of(status) == ids:
                return False
            self._effect(f"own {path}")
            self._host.ownership.give(target, ids)
            target.chmod(mode)
            return True
        self._parents(path)
        self._effect(f"folder {path}")
        beside = files.folder_beside(target, self.name, mode, ids, self._host.ownership)
        self._effect(f"rename {path}")
        files.place_folder(beside, target)
        return True

    def move(self, source: str, target: str) -> bool:
        """Whether it could be moved: a file replaces a file, a folder replaces nothing that has content."""
        self._effect(f"move {target}")
        try:
            self.path(source).rename(self.path(target))
        except OSError:
            return False
        return True

    def remove(self, path: str) -> bool:
        target = self.path(path)
        if not target.exists() and not target.is_symlink():
            return False
        self._effect(f"remove {path}")
        files.delete(target)
        return True

    def unpack(self, archive: str, folder: str) -> None:
        self.remove(folder)
        self.folder(folder, 0o700)
        self._effect(f"unpack {folder}")
        files.unpack(self.path(archive), self.path(folder))

    # What is remembered

    def once(self, name: str, text: str, action: Callable[[], object]) -> bool:
        """Whether the action ran: it does when it has not yet run for this text. After a kill it may run twice."""
        path = f"{STATE}/applied.json"
        known = self.recall(path)
        if known.get(name) == text:
            return False
        action()
        self.write(path, json.dumps({**known, name: text}, indent=1, sort_keys=True) + "\n", 0o600)
        return True

    def recall(self, path: str) -> dict[str, Any]:
        """The object in a JSON file of this node; empty when there is none that can be read."""
        try:
            value = json.loads(self.read(path) or "{}")
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}

    def ids(self, owner: str) -> files.Ids:
        if owner == "root":
            return 0, 0
        found = next((account for account in self.accounts() if account.name == owner), None)
        if found is None:
            raise NodeSetupError(f"user {owner!r} is not in /etc/passwd")
        return found.uid, found.gid

    def _effect(self, effect: str) -> None:
        self._host.observe(effect)
        self.effects += 1

    def _beside(self, path: str, fill: Callable[[BinaryIO], None], mode: int, owner: str) -> Path:
        ids = self.ids(owner)
        self._parents(path)
        self._effect(f"write {path}")
        return files.write_beside(self.path(path), self.name, fill, mode, ids, self._host.ownership)

    def _parents(self, path: str) -> None:
        parent = str(Path(path).parent)
        if not self.path(parent).is_dir():
            self.folder(parent)


def _put(file: BinaryIO, data: bytes) -> None:
    file.write(data)
