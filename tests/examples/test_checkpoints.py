"""The checkpoint store: kills, damage and a full disk in the middle of a save leave the checkpoint before."""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from common import checkpoints, files
from common.checkpoints import MANIFEST, Store, seal, verify

from tests.memory import folder_in_memory

CONTENT = {10: b"ten" * 100, 20: b"twenty" * 100, 30: b"thirty" * 100}


@pytest.fixture
def tmp_path(tmp_path: Path) -> Iterator[Path]:
    """These tests flush to disk hundreds of times."""
    with folder_in_memory(tmp_path) as folder:
        yield folder


def save(store: Store, step: int, token: str = "writer") -> None:
    """One checkpoint of two ranks."""
    partial = store.partial(step, token)
    partial.mkdir(parents=True, exist_ok=True)
    for rank in range(2):
        shard = partial / f"shard-{rank}"
        shard.write_bytes(CONTENT.get(step, b"other"))
        seal(partial, rank, [shard])
    store.commit(step, token)
    store.retain()


def newest_good(store: Store) -> int | None:
    return next((step for step in store.steps() if verify(store.path(step))), None)


def phases(monkeypatch: pytest.MonkeyPatch, act: Callable[[int], None]) -> None:
    """`act` is called with its number before each flush and each rename of the store."""
    count = 0

    def wrap(function: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*arguments: Any, **keywords: Any) -> Any:
            nonlocal count
            count += 1
            act(count)
            return function(*arguments, **keywords)

        return wrapped

    for owner, name in [(os, "fsync"), (os, "replace"), (os, "rename"), (os, "rmdir")]:
        monkeypatch.setattr(owner, name, wrap(getattr(owner, name)))


def count_phases(tmp_path: Path) -> int:
    store = Store(tmp_path / "count", keep=1)
    save(store, 10)
    seen: list[int] = []
    with pytest.MonkeyPatch.context() as patch:
        phases(patch, seen.append)
        save(store, 20)
    return len(seen)


def test_a_kill_at_every_phase_leaves_a_good_checkpoint(tmp_path: Path) -> None:
    total = count_phases(tmp_path)
    assert total > 10
    outcomes: list[int] = []
    for phase in range(1, total + 1):
        directory = tmp_path / str(phase)
        save(Store(directory, keep=1), 10)
        assert killed_in_save(directory, phase)
        outcomes.append(newest_good(Store(directory, keep=1)) or 0)
        after = Store(directory, keep=1)
        save(after, 30, token="restarted")
        assert newest_good(after) == 30
        assert sorted(path.name for path in directory.iterdir()) == [after.path(30).name], "leftovers stay"
    assert set(outcomes) == {10, 20}
    assert outcomes == sorted(outcomes), "a checkpoint was good before it was complete"


def killed_in_save(directory: Path, phase: int) -> bool:
    child = os.fork()
    if child == 0:
        with pytest.MonkeyPatch.context() as patch:
            phases(patch, lambda number: os.kill(os.getpid(), signal.SIGKILL) if number == phase else None)
            save(Store(directory, keep=1), 20)
        os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def test_a_full_disk_at_every_phase_leaves_a_good_checkpoint(tmp_path: Path) -> None:
    for phase in range(1, count_phases(tmp_path) + 1):
        store = Store(tmp_path / str(phase), keep=1)
        save(store, 10)
        with pytest.MonkeyPatch.context() as patch:
            phases(patch, lambda number, phase=phase: fail(number, phase))  # type: ignore[misc]
            try:
                save(store, 20)
            except OSError:
                store.discard(20, "writer")
        assert newest_good(Store(tmp_path / str(phase), keep=1)) in (10, 20)
        save(store, 30)
        assert newest_good(store) == 30


def fail(number: int, phase: int) -> None:
    if number >= phase:
        raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: (path / "shard-1").write_bytes(b"twenty" * 99 + b"Twenty"),
        lambda path: (path / "shard-1").write_bytes(b"twenty"),
        lambda path: (path / "shard-1").unlink(),
        lambda path: (path / MANIFEST).unlink(),
        lambda path: (path / MANIFEST).write_text("{"),
        lambda path: (path / MANIFEST).write_text('{"files": {}}'),
        lambda path: (path / MANIFEST).write_text("[]"),
    ],
    ids=["changed", "cut", "file missing", "no manifest", "torn manifest", "empty manifest", "other JSON"],
)
def test_the_previous_one_is_used_when_the_newest_is_damaged(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    store = Store(tmp_path, keep=2)
    save(store, 10)
    save(store, 20)
    damage(store.path(20))
    assert newest_good(Store(tmp_path, keep=2)) == 10


def test_each_rank_verifies_its_share(tmp_path: Path) -> None:
    store = Store(tmp_path, keep=2)
    save(store, 10)
    (store.path(10) / "shard-1").write_bytes(b"")
    assert [verify(store.path(10), rank, 2) for rank in range(2)] == [True, False]


def test_retention_keeps_the_newest_good_ones(tmp_path: Path) -> None:
    store = Store(tmp_path, keep=2)
    for step in (10, 20, 30):
        save(store, step)
    assert store.steps() == [30, 20]


def test_retention_never_removes_the_last_good_one(tmp_path: Path) -> None:
    save(Store(tmp_path, keep=1), 10)
    store = Store(tmp_path, keep=1)
    for step in (20, 30):
        save(Store(tmp_path, keep=9), step)
        (store.path(step) / "shard-0").write_bytes(b"damaged")
    store.retain()
    assert newest_good(store) == 10


def test_a_damaged_checkpoint_is_replaced_when_its_step_is_done_again(tmp_path: Path) -> None:
    store = Store(tmp_path, keep=2)
    save(store, 10)
    (store.path(10) / "shard-0").write_bytes(b"damaged")
    save(store, 10, token="again")
    assert newest_good(store) == 10
    assert [path.name for path in tmp_path.iterdir()] == [store.path(10).name]


def test_an_atomic_write_is_flushed_before_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[str] = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda descriptor: fsync(note(events, "fsync", descriptor)))
    monkeypatch.setattr(os, "replace", lambda old, new: replace(note(events, "replace", old), new))
    files.write_atomically(tmp_path / "file", "text")
    assert events == ["fsync", "replace", "fsync"]
    assert checkpoints.describe(tmp_path / "file")["bytes"] == 4


def note(events: list[str], event: str, value: Any) -> Any:
    events.append(event)
    return value
