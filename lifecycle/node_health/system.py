"""Every effect on the node: commands, files, clocks and signals. Tests use a double."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path
from typing import ContextManager, Iterator, NamedTuple, Protocol, Sequence

from node_trust.as_user import Identity, Limits, python, run_as_user
from node_trust.folder import Folder

LIMIT = 16 * 1024 * 1024
LOCK_PAUSE_SECONDS = 0.1
SEARCH = "/opt/slurm/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/aws/neuron/bin"
PYTHON = sys.executable or "python3"
"""Python's own path; slurmd runs its programs without a PATH, so that Python may not know it."""
REMOVE = "import shutil, sys; shutil.rmtree(sys.argv[1], ignore_errors=True)"
REMOVE_SECONDS = 2.0
USERS_SPACE = "size=64m,nr_inodes=65536,mode=1777,nosuid,nodev,noexec"
MOUNT_SECONDS = 10.0
USER_MEMORY = 1024 * 1024 * 1024


class Result(NamedTuple):
    """The result of a command.

    :param code: the exit code; `None` if the command did not end in time.
    :param pid: the process that may be left then.
    :param hurried: whether the command had less than its full time, so that its silence proves nothing.
    """

    code: int | None
    output: str = ""
    error: str = ""
    pid: int = 0
    hurried: bool = False

    @property
    def last_line(self) -> str:
        lines = [line.strip() for line in (self.output + "\n" + self.error).split("\n") if line.strip()]
        return lines[-1] if lines else ""


class Space(NamedTuple):
    """The space of a file system: bytes and inodes, free for users and in total."""

    free: int
    size: int
    free_inodes: int
    inodes: int


class UserFile(NamedTuple):
    """A small file in a user's folder, with its owner."""

    text: str
    owner: int


class System(Protocol):
    def run(self, command: Sequence[str], seconds: float, text: str = "") -> Result: ...
    def find(self, program: str) -> str | None: ...
    def read(self, path: str) -> str | None: ...
    def write(self, path: str, text: str, mode: int = 0o644) -> None: ...
    def append(self, path: str, text: str) -> None: ...
    def remove(self, path: str) -> None: ...
    def user_names(self, directory: str, count: int) -> list[str]: ...
    def user_files(self, directory: str, names: re.Pattern[str], count: int, size: int) -> dict[str, UserFile]: ...
    def remove_as_owner(self, directory: str, name: str) -> None: ...
    def run_as(self, identity: Identity, program: Sequence[str], seconds: float, output: int) -> Result: ...
    def open_directory(self, path: str) -> None: ...
    def own_space(self, path: str) -> bool: ...
    def names(self, directory: str) -> list[str]: ...
    def status(self, path: str) -> os.stat_result | None: ...
    def space(self, path: str) -> Space | None: ...
    def now(self) -> float: ...
    def monotonic(self) -> float: ...
    def sleep(self, seconds: float) -> None: ...
    def kill(self, pid: int, number: int) -> bool: ...
    def alone(self, lock: str, seconds: float) -> ContextManager[bool]: ...


class LocalSystem:
    """This machine."""

    def __init__(self) -> None:
        self._left: list[subprocess.Popen[str]] = []

    def run(self, command: Sequence[str], seconds: float, text: str = "") -> Result:
        """Run a command. A child in uninterruptible sleep, which no signal ends, is left behind and named in the result."""
        environment = {**os.environ, "PATH": SEARCH, "LC_ALL": "C"}
        pipe = subprocess.PIPE
        try:
            child = subprocess.Popen(  # noqa: S603
                list(command), stdin=pipe, stdout=pipe, stderr=pipe, env=environment, start_new_session=True,
                text=True, errors="replace",
            )  # fmt: skip
        except OSError as error:
            return Result(127, error=f"{command[0]}: {error.strerror}")
        try:
            output, problem = child.communicate(text, timeout=max(0.1, seconds))
            return Result(child.returncode, output, problem)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            output, problem = child.communicate(timeout=1)
            return Result(None, output, problem)
        self._left.append(child)
        return Result(None, pid=child.pid)

    def find(self, program: str) -> str | None:
        return shutil.which(program, path=SEARCH)

    def read(self, path: str) -> str | None:
        """The text of a regular file, without following a link or waiting; `None` if there is none."""
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            return None if stat.S_ISFIFO(os.fstat(descriptor).st_mode) else _drain(descriptor)
        finally:
            os.close(descriptor)

    def write(self, path: str, text: str, mode: int = 0o644) -> None:
        """Replace a file completely. Missing folders are made, and are private if the file is."""
        target = Path(path)
        for folder in reversed(target.parents):
            folder.mkdir(mode=0o755 if mode & 0o044 else 0o700, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=str(target.parent), prefix=f".{target.name}.")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
                stream.write(text)
                os.fchmod(stream.fileno(), mode)
            Path(name).replace(target)
        except OSError:
            Path(name).unlink()
            raise

    def append(self, path: str, text: str) -> None:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            os.write(descriptor, text.encode("utf-8"))
        finally:
            os.close(descriptor)

    def remove(self, path: str) -> None:
        shutil.rmtree(path, ignore_errors=True)

    def user_names(self, directory: str, count: int) -> list[str]:
        """The first names, unsorted, in a folder that users can fill."""
        try:
            with Folder.open(directory, checked=False) as folder, os.scandir(folder.descriptor) as entries:
                return [entry.name for entry in islice(entries, count)]
        except OSError:
            return []

    def user_files(self, directory: str, names: re.Pattern[str], count: int, size: int) -> dict[str, UserFile]:
        """The user's own files of these names in the user's folder, in order; none if others can write to the folder.

        Larger files, and anything but regular files, are left out. At most `count` files are read, from at most four times as many
        names.
        """
        parent, _, last = directory.rpartition("/")
        try:
            with Folder.open(parent, checked=False) as above, above.enter(last) as folder:
                owner = os.fstat(folder.descriptor).st_uid
                folder.check(owner)
                found = [name for name in folder.names(4 * count) if names.fullmatch(name)]
                return dict(_user_files(folder, sorted(found, key=int)[:count], size, owner))
        except OSError:
            return {}

    def remove_as_owner(self, directory: str, name: str) -> None:
        """Remove a folder as its owner, within a limited time."""
        status = self.status(f"{directory}/{name}")
        if status is not None and stat.S_ISDIR(status.st_mode):
            owner = Identity(status.st_uid, status.st_gid)
            run_as_user(owner, python("-c", REMOVE, name), limits=Limits(seconds=REMOVE_SECONDS), folder=directory)

    def run_as(self, identity: Identity, program: Sequence[str], seconds: float, output: int) -> Result:
        """Run a program of this package as a user, within limits; its output is untrusted."""
        limits = Limits(seconds=seconds, memory=USER_MEMORY, file_size=output, output=output)
        answer = run_as_user(identity, python(*program), limits=limits)
        return Result(answer.code, answer.output.decode("utf-8", "replace"), answer.error, answer.left)

    def open_directory(self, path: str) -> None:
        """Make a folder of root's, with its parents, where every user can make files and remove only their own."""
        folder = Path(path)
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o1777)
        folder.parent.chmod(stat.S_IMODE(folder.parent.stat().st_mode) | 0o111)

    def own_space(self, path: str) -> bool:
        """Whether the folder is a file system of its own, so that filling it fills nothing else. An empty folder becomes one."""
        if not Path(path).is_mount() and not self.names(path):
            self.run(["mount", "-t", "tmpfs", "-o", USERS_SPACE, "tmpfs", path], MOUNT_SECONDS)
        return Path(path).is_mount()

    def names(self, directory: str) -> list[str]:
        try:
            return sorted(entry.name for entry in Path(directory).iterdir())
        except OSError:
            return []

    def status(self, path: str) -> os.stat_result | None:
        try:
            return os.lstat(path)
        except OSError:
            return None

    def space(self, path: str) -> Space | None:
        try:
            found = os.statvfs(path)
        except OSError:
            return None
        return Space(found.f_bavail * found.f_frsize, found.f_blocks * found.f_frsize, found.f_favail, found.f_files)

    def now(self) -> float:
        return time.time()

    def monotonic(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    def kill(self, pid: int, number: int) -> bool:
        try:
            os.kill(pid, number)
        except OSError:
            return False
        return True

    @contextlib.contextmanager
    def alone(self, lock: str, seconds: float) -> Iterator[bool]:
        """Wait for a lock, and return whether this program has it. The lock ends with its program."""
        try:
            Path(lock).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except OSError:
            yield False
            return
        try:
            yield _locked(descriptor, time.monotonic() + seconds)
        finally:
            os.close(descriptor)


def _locked(descriptor: int, deadline: float) -> bool:
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(LOCK_PAUSE_SECONDS)
        else:
            return True


def _user_files(folder: Folder, names: list[str], size: int, owner: int) -> Iterator[tuple[str, UserFile]]:
    for name in names:
        with contextlib.suppress(OSError):
            yield name, UserFile(folder.read(name, size, owners=(owner,)).decode("utf-8", "replace"), owner)


def _drain(descriptor: int) -> str:
    """Everything readable without waiting. In the kernel's log, each read is one record, and EPIPE means lost records."""
    parts: list[bytes] = []
    size = 0
    while size < LIMIT:
        try:
            part = os.read(descriptor, 65536)
        except BrokenPipeError:
            continue
        except OSError:
            break
        if not part:
            break
        parts.append(part)
        size += len(part)
    return b"".join(parts).decode("utf-8", "replace")
