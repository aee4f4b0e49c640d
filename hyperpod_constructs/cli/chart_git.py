"""The files of one commit of a Git repository. Git hashes every object that it receives, so the commit's id proves them."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

from hyperpod_constructs.cli import chart_process
from hyperpod_constructs.eks.chart_files import LONGEST_NAME, MOST_BYTES, MOST_FILES, ChartError, Files, Gathered

SECONDS = 300
_LISTING = MOST_FILES * (LONGEST_NAME + 100)
"""Bytes of a list of the most files with the longest names."""
_PLAIN = (b"100644", b"100755")


def revision_files(repository: str, revision: str, path: str, *, seconds: float = SECONDS) -> Files:
    """The files below a folder of a commit. Nothing is checked out, so no hook, filter or attribute of the repository runs.

    :param repository: the address.
    :param revision: the commit's full id.
    :param path: the folder.
    :param seconds: time for each step of Git; 300 unless given.
    :raises ChartError: without Git, for another commit, and for links or too much in the folder.
    """
    git = shutil.which("git")
    if git is None:
        raise ChartError("git is not on the PATH, and the service publishes its chart in a Git repository only; install git")
    with tempfile.TemporaryDirectory() as folder:
        _run([git, "init", "--quiet", "--bare", "--template=", folder], seconds)
        inside, place = [git, "-C", folder], f"{repository} at {revision}"
        allowed = ["-c", "protocol.allow=never", "-c", f"protocol.{urlsplit(repository).scheme}.allow=always"]
        options = ["--quiet", "--depth", "1", "--no-tags", "--no-recurse-submodules", "--"]
        _run([*inside, *allowed, "fetch", *options, repository, revision], seconds, place)
        found = _run([*inside, "rev-parse", "--verify", "FETCH_HEAD^{commit}"], seconds, place).decode().strip()
        if found != revision:
            raise ChartError(f"{place}: the repository gave commit {found}")
        return _files(inside, f"{revision}:{path}", place, seconds)


def _files(git: Sequence[str], folder: str, place: str, seconds: float) -> Files:
    planned, gathered, ids = Gathered(place), Gathered(place), {}
    for mode, object_id, size, name in _entries(_run([*git, "ls-tree", "-r", "-z", "-l", folder], seconds, place)):
        if mode not in _PLAIN:
            raise ChartError(f"{place}: {name} is not a regular file; a chart has no links and no submodules")
        planned.plan(name, size)
        ids[name] = object_id
    wanted = "\n".join([*ids.values(), ""]).encode()
    content = _run([*git, "cat-file", "--batch"], seconds, place, wanted, most_bytes=MOST_BYTES + _LISTING)
    start = 0
    for name in ids:
        end = content.index(b"\n", start)
        size = int(content[start:end].split()[2])
        gathered.add(name, content[end + 1 : end + 1 + size])
        start = end + size + 2
    return gathered.files


def _entries(listing: bytes) -> Iterator[tuple[bytes, str, int, str]]:
    for line in filter(None, listing.split(b"\0")):
        about, name = line.split(b"\t", 1)
        mode, _, object_id, size = about.split()
        yield mode, object_id.decode(), int(size) if size.isdigit() else 0, name.decode("utf-8", "backslashreplace")


def _run(command: Sequence[str], seconds: float, place: str = "git", given: bytes = b"", *, most_bytes: int = _LISTING) -> bytes:
    """The output of a step of Git, which ends with all that it started."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name.startswith("GIT_SSL_")}
    environment |= {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    try:
        code, output, errors = chart_process.run(command, environment, given, seconds=seconds, most_bytes=most_bytes)
    except TimeoutError as error:
        raise ChartError(f"{place}: git did not finish within {seconds:g} seconds; try again") from error
    except chart_process.TooMuchError as error:
        raise ChartError(f"{place}: git said more than {most_bytes} bytes, which no chart needs") from error
    if code != 0:
        said = errors.decode("utf-8", "replace").strip().splitlines()
        raise ChartError(
            f"{place}: git {'fetch' if 'fetch' in command else command[3]} failed: {said[-1][:300] if said else 'no word'}"
        )
    return output
