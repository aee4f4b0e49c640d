"""A folder by its handle: its checks, and the confinement of root's work to it."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest
from node_trust.errors import Untrusted
from node_trust.folder import Folder
from node_trust.owners import Ownership, Unowned

TERABYTE = 1024**4


class Mapped(Ownership):
    """Owners without root: everything belongs to root except the named entries, which belong to uid 1234."""

    def __init__(self, *foreign: str) -> None:
        self.foreign = {os.lstat(path).st_ino for path in foreign}

    def of(self, status: os.stat_result) -> tuple[int, int]:
        return (1234, 1234) if status.st_ino in self.foreign else (0, 0)

    def give(self, descriptor: int, ids: tuple[int, int]) -> None:
        return


def plant(path: Path, kind: str) -> None:
    if kind == "link":
        path.symlink_to("/etc/passwd")
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "file":
        path.touch()
    else:
        path.mkdir()
    if kind == "mode":
        path.chmod(0o775)


def opened(path: Path, ownership: Ownership | None = None) -> Folder:
    return Folder.open(str(path), Unowned() if ownership is None else ownership)


def test_a_file_is_replaced_whole_with_its_mode(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("untouched", encoding="utf-8")
    (tmp_path / "name").symlink_to("elsewhere")
    with opened(tmp_path) as folder:
        folder.write("name", b"data", 0o640)
        assert folder.read("name", 4) == b"data"
        assert folder.names() == ["elsewhere", "name"]
    assert stat.S_IMODE((tmp_path / "name").lstat().st_mode) == 0o640
    assert (tmp_path / "elsewhere").read_text(encoding="utf-8") == "untouched"


def test_a_folder_is_made_with_its_mode_and_taken_when_it_is_there(tmp_path: Path) -> None:
    with opened(tmp_path) as folder, folder.child("a", mode=0o755) as first, folder.child("a") as second:
        assert os.fstat(first.descriptor).st_ino == os.fstat(second.descriptor).st_ino
        assert stat.S_IMODE(os.fstat(first.descriptor).st_mode) == 0o755
        assert folder.names() == ["a"]


@pytest.mark.parametrize("kind", ["link", "fifo", "file", "owner", "mode"])
def test_a_folder_that_is_not_roots_is_refused_by_name(tmp_path: Path, kind: str) -> None:
    planted = tmp_path / "planted"
    plant(planted, kind)
    ownership = Mapped(str(planted)) if kind == "owner" else Unowned()
    said = {"owner": "belongs to uid 1234, it must belong to root", "mode": "has mode 0775, so others than root"}
    with opened(tmp_path, ownership) as folder, pytest.raises(Untrusted) as raised:
        folder.child("planted")
    assert str(raised.value).startswith(f"{planted}: {said.get(kind, 'is a ' + kind.replace('fifo', 'FIFO') + ' of uid 0')}")


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("link", "is a link of uid 0, it must be a file"),
        ("fifo", "is a FIFO of uid 0, it must be a file"),
        ("folder", "is a folder of uid 0, it must be a file"),
        ("hard link", "belongs to uid 0 and has 2 names"),
        ("owner", "belongs to uid 1234 and has 1 names, it must belong to root"),
        ("size", f"has {TERABYTE} bytes, at most 100 are read"),
    ],
)
def test_a_file_that_is_not_believed_is_refused_by_name(tmp_path: Path, kind: str, said: str) -> None:
    planted = tmp_path / "planted"
    plant(planted, "folder" if kind == "folder" else kind if kind in ("link", "fifo") else "file")
    if kind == "hard link":
        os.link(planted, tmp_path / "other")
    if kind == "size":
        os.truncate(planted, TERABYTE)
    ownership = Mapped(str(planted)) if kind == "owner" else Unowned()
    with opened(tmp_path, ownership) as folder, pytest.raises(Untrusted) as raised:
        folder.read("planted", 100)
    assert str(raised.value).startswith(f"{planted}: {said}")


def test_a_file_that_grows_after_its_check_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "log").write_bytes(b"x" * 101)
    monkeypatch.setattr(Folder, "_check_file", lambda *arguments: None)
    with opened(tmp_path) as folder, pytest.raises(Untrusted, match="has more than 100 bytes"):
        folder.read("log", 100)


def test_more_names_than_allowed_are_refused(tmp_path: Path) -> None:
    for number in range(4):
        (tmp_path / str(number)).touch()
    with opened(tmp_path) as folder:
        assert len(folder.names(4)) == 4
        with pytest.raises(Untrusted, match="has more than 3 names"):
            folder.names(3)


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "/a", "a\0"])
def test_a_name_is_of_one_thing_in_the_folder(tmp_path: Path, name: str) -> None:
    with opened(tmp_path) as folder:
        for action in (folder.child, folder.remove, folder.status, lambda name: folder.write(name, b"")):
            with pytest.raises(Untrusted, match="is not the name of one thing"):
                action(name)


def test_what_is_removed_is_the_link_and_not_what_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "kept/deep").mkdir(parents=True)
    (tmp_path / "tree/below").mkdir(parents=True)
    for place in (tmp_path / "link", tmp_path / "tree/below/link"):
        place.symlink_to(tmp_path / "kept")
    with opened(tmp_path) as folder:
        assert folder.remove("link")
        assert folder.remove("tree")
        assert not folder.remove("tree")
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")) == ["kept", "kept/deep"]


def test_a_link_on_the_way_is_followed_when_root_made_it_among_its_own(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "way").symlink_to(tmp_path / "real")
    (tmp_path / "loop").symlink_to("loop")
    with Folder.open(f"{tmp_path}/way", Unowned()) as folder:
        folder.write("a", b"")
    assert (tmp_path / "real/a").exists()
    with pytest.raises(Untrusted, match="more than 16 links"):
        opened(tmp_path / "loop")
    with pytest.raises(Untrusted, match=r"'way' on its way is a link of uid 1234 in a folder of uid 0"):
        Folder.open(f"{tmp_path}/way", Mapped(f"{tmp_path}/way"))
    tmp_path.chmod(0o1777)
    with pytest.raises(Untrusted, match="with mode 1777, so it is not followed"):
        Folder.open(f"{tmp_path}/way", Unowned())


def test_a_missing_folder_is_named_by_its_whole_path(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as raised:
        opened(tmp_path / "a/b")
    assert raised.value.filename == f"{tmp_path}/a/b"


def test_a_folder_that_is_swapped_for_a_link_keeps_its_handle(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    with opened(tmp_path) as folder, folder.child("ours") as ours:
        (tmp_path / "ours").rename(tmp_path / "moved")
        (tmp_path / "ours").symlink_to("other")
        ours.write("file", b"")
    assert (tmp_path / "moved/file").exists()
    assert list((tmp_path / "other").iterdir()) == []


def test_of_many_that_make_a_folder_all_get_the_same(tmp_path: Path) -> None:
    start = threading.Barrier(8)
    found = []

    def make(tag: str) -> None:
        start.wait()
        with Folder.open(str(tmp_path), Unowned(), tag=tag) as folder, folder.child("one") as one:
            found.append(os.fstat(one.descriptor).st_ino)

    threads = [threading.Thread(target=make, args=(str(number),)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["one"]
