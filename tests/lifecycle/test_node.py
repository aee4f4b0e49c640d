"""Effects on files and programs: complete or absent, once among several nodes, and with a deadline."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest
from node_setup import commands, files
from node_setup.blocks import with_block
from node_setup.commands import Command
from node_setup.errors import NodeSetupError
from node_trust.folder import Folder
from node_trust.owners import Unowned

from .machine import Killed, make_machine


def test_a_file_is_written_only_when_it_differs(tmp_path: Path) -> None:
    node = make_machine(tmp_path / "node", "Compute", "on_create").node("on_create")
    assert node.write("/etc/a/b", "text", 0o600)
    assert not node.write("/etc/a/b", "text", 0o600)
    assert node.write("/etc/a/b", "text", 0o644)
    assert node.write("/etc/a/b", "text", 0o644, "slurm")
    assert node.owner("/etc/a/b") == (64030, 64030)
    assert node.read("/etc/a/b") == "text"


def test_a_kill_leaves_the_old_content(tmp_path: Path) -> None:
    machine = make_machine(tmp_path / "node", "Compute", "on_create")
    node = machine.node("on_create")
    node.write("/etc/motd", "old")
    machine.kill_at = len(machine.effects) + 1
    with pytest.raises(Killed, match="rename"):
        node.write("/etc/motd", "new")
    assert node.read("/etc/motd") == "old"


def test_a_link_of_somebody_else_is_replaced_and_not_followed(tmp_path: Path) -> None:
    node = make_machine(tmp_path / "node", "Compute", "on_create").node("on_create")
    (tmp_path / "target").write_text("secret", encoding="utf-8")
    node.path("/etc/motd").symlink_to(tmp_path / "target")
    node.write("/etc/motd", "ours")
    assert (tmp_path / "target").read_text(encoding="utf-8") == "secret"
    assert not node.path("/etc/motd").is_symlink()


def test_of_many_nodes_one_makes_a_shared_file(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    nodes = [
        make_machine(tmp_path / f"node{index}", "Compute", "on_create", tmp_path / "shared", f"node{index}").node("on_create")
        for index in range(8)
    ]
    start = threading.Barrier(len(nodes))
    made: list[str] = []

    def create(index: int) -> None:
        start.wait()
        if nodes[index].create("/fsx/key", f"key of {index}"):
            made.append(f"key of {index}")

    threads = [threading.Thread(target=create, args=(index,)) for index in range(len(nodes))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == [(tmp_path / "shared/key").read_text(encoding="utf-8")]
    assert [path.name for path in (tmp_path / "shared").iterdir()] == ["key"]


def test_fails_for_an_owner_that_the_node_does_not_have(tmp_path: Path) -> None:
    node = make_machine(tmp_path / "node", "Compute", "on_create").node("on_create")
    with pytest.raises(NodeSetupError, match=r"user 'nobody-here' is not in /etc/passwd"):
        node.write("/etc/motd", "x", owner="nobody-here")


def test_a_program_that_does_not_end_is_left_behind(tmp_path: Path) -> None:
    program = tmp_path / "usr/bin/hang"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\nexec /bin/sleep 60\n", encoding="utf-8")
    program.chmod(0o755)
    started = time.monotonic()
    done = commands.run_command(str(tmp_path), Command(["hang"], 0.2))
    assert (done.code, done.error) == (124, "not done after 0 s")
    assert time.monotonic() - started < 10


def test_a_program_gets_its_input_and_a_clean_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_PRELOAD_OF_TEST", "x")
    program = tmp_path / "usr/bin/show"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n/bin/cat\necho $LC_ALL $HOME $EXTRA $LD_PRELOAD_OF_TEST\nexit 3\n", encoding="utf-8")
    program.chmod(0o755)
    done = commands.run_command(str(tmp_path), Command(["show"], 10, {"EXTRA": "extra"}, "given\n"))
    assert done == (3, "given\nC.UTF-8 /root extra\n", "")


def test_a_missing_program_is_named(tmp_path: Path) -> None:
    assert commands.run_command(str(tmp_path), Command(["nothing"], 1)) == (127, "", "nothing is not installed")


def pack(path: Path, *names: str) -> None:
    """An archive with these members; each contains an x."""
    source = path.with_name("source")
    source.write_text("x", encoding="utf-8")
    with path.open("wb") as file:
        files.pack(file, [(name, lambda: source.open("rb")) for name in names])


def test_an_archive_unpacks_nothing_outside(tmp_path: Path) -> None:
    pack(tmp_path / "archive", "../evil", "/evil", "a//evil", "a/good")
    (tmp_path / "folder").mkdir()
    with (tmp_path / "archive").open("rb") as file, Folder.open(f"{tmp_path}/folder", Unowned()) as folder:
        files.unpack(file, folder)
    assert [str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*evil*")] == []
    assert (tmp_path / "folder/a/good").read_text(encoding="utf-8") == "x"


def test_a_block_is_replaced_where_it_is_not_alone() -> None:
    text = with_block("mine=1", ["ours=1"])
    assert with_block(text, ["ours=1"]) == text
    assert with_block(text, []) == "mine=1\n"
    assert with_block(text + "mine=2\n", ["ours=2"]).startswith("mine=1\nmine=2\n# begin")
    assert with_block("mine=1\n", ["ours=1"], first=True).endswith("# end hyperpod-constructs\nmine=1\n")
