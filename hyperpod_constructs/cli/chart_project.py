"""The service's chart of a project: its lock file, and the cache of the user."""

from __future__ import annotations

import re
from pathlib import Path

from hyperpod_constructs.cli.chart_fetch import Source, fetch
from hyperpod_constructs.cli.console import CliError, say, step
from hyperpod_constructs.eks.chart_cache import LOCK_FILE, Record, cache_directory, load, private, read_record, replace, store
from hyperpod_constructs.eks.chart_files import ChartError
from hyperpod_constructs.facts.chart import REVISION

_REVISION = re.compile(r"[0-9a-f]{40}")


def fetch_for_project(revision: str | None, lock: Path | None, *, update: bool, frozen: bool, gpu_operator: bool) -> None:
    """Put the chart of a project into the user's cache.

    :param revision: the commit; the one that AWS's templates install unless given. A lock file for another one needs it given.
    :param lock: the lock file; the one of the current directory unless given.
    :param update: whether to record hashes anew.
    :param frozen: whether an unknown hash is an error.
    :param gpu_operator: whether to get the GPU operator too.
    :raises CliError: for anything that is not proven, not allowed or not complete.
    """
    if revision is not None and _REVISION.fullmatch(revision) is None:
        example = f"40 lowercase hexadecimal digits, such as {REVISION}"
        raise CliError(f"--revision is {revision!r}; write the full id of a commit: {example}")
    if update and frozen:
        raise CliError("--update records new hashes and --frozen forbids it; write one of them")
    try:
        _fetch(revision, Path(LOCK_FILE) if lock is None else lock, update=update, frozen=frozen, gpu_operator=gpu_operator)
    except ValueError as error:  # a `ChartError`, or an address of a stranger that cannot be read
        raise CliError(str(error)) from error
    except OSError as error:
        raise CliError(f"{error.filename or 'the cache'}: {error.strerror}") from error


def _fetch(revision: str | None, lock: Path, *, update: bool, frozen: bool, gpu_operator: bool) -> None:
    locked = None if update else read_record(lock)
    if frozen and locked is None:
        raise ChartError(
            f"{lock} is not there, and --frozen takes nothing new; run `hyperpod chart fetch` once, and commit the file"
        )
    if locked is not None and revision not in (None, locked.revision):
        raise ChartError(f"{lock} is for revision {locked.revision}; write --update to record {revision}")
    if locked is not None and revision is None and locked.revision != REVISION:
        raise ChartError(
            f"{lock} is for revision {locked.revision}, and AWS's templates install {REVISION}; write --update to record AWS's, "
            f"or --revision {locked.revision} if you chose it"
        )
    wanted = revision or REVISION
    if wanted != REVISION:
        say(f"revision {wanted} is not the one that AWS's templates install, and nothing proves it to be AWS's")
    if locked is not None and gpu_operator and not _has_operator(locked):
        raise ChartError(f"{lock} has no GPU operator; write --update to record it")
    if locked is not None and _is_cached(locked):
        say(f"the chart is in {cache_directory()} already, as {lock} states it: revision {wanted}")
        return
    _get(wanted, lock, locked, frozen=frozen, gpu_operator=gpu_operator or (locked is not None and _has_operator(locked)))


def _get(revision: str, lock: Path, locked: Record | None, *, frozen: bool, gpu_operator: bool) -> None:
    directory = private(cache_directory())
    with step(f"fetch the service's chart, revision {revision}"):
        found = fetch(Source(), revision, lock=locked, frozen=frozen, gpu_operator=gpu_operator)
    store(found.chart.packed, found.record, directory)
    if locked is None:
        replace(lock.absolute(), found.record.text().encode())
    for one in found.first:
        say(f"trusted for the first time: {one.name} {one.version}, SHA-256 {one.sha256}")
    if found.first:
        say(f"no public source states these hashes. they are in {lock} now, and another content is refused: commit the file")
    say(f"the chart is complete, SHA-256 {found.record.chart}; use it by HyperPodChart.from_cache(lock={str(lock)!r})")


def _has_operator(record: Record) -> bool:
    return any(one.name.startswith("gpu-operator/") for one in record.dependencies)


def _is_cached(record: Record) -> bool:
    """Whether the chart of a lock file is in the cache, unchanged; a damaged one is fetched again."""
    try:
        load(cache_directory(), record)
    except ChartError:
        return False
    return True
