"""`hyperpod copy`, with given answers and a program that stands for scp; tests of nodes copy for real."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from hyperpod_constructs.cli.operate import remote
from hyperpod_constructs.cli.operate.copy import Connection, Remote
from hyperpod_constructs.cli.operate.remote import Done
from hyperpod_constructs.cli.operate.sessions import RefusedError
from tests.cli.conftest import StubbedTarget
from tests.cli.operate.conftest import ARN, ASKED, CLUSTER, NODES, run
from tests.cli.operate.entries import interrupt

HOST_KEY = f"ssh-ed25519 {'A' * 68}"
CONTROLLER = "i-00000000000000001"
SCP = """#!/bin/sh
while [ $# -gt 1 ]; do
    [ "$1" != -F ] || cat "$2" "${{2%config}}known" > {asked}
    shift
done
echo "$1" >> {asked}
case $1 in i-*) ;; *) echo whole > "$1" ;; esac
exit $(cat {result})
"""


class Node:
    """A node that answers scripts, and an scp that notes what it is asked and has a result."""

    def __init__(self, account: StubbedTarget, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.scripts: list[str] = []
        self.key_lines = [HOST_KEY]
        self.refuses: str | None = None
        self.asked, self._result = folder / "asked", folder / "result"
        self.scp_ends_with(0)
        program = folder / "scp"
        program.write_text(SCP.format(asked=self.asked, result=self._result))
        program.chmod(0o755)
        monkeypatch.setattr(account, "environment", lambda: {"PATH": f"{folder}:{os.environ['PATH']}"})
        monkeypatch.setattr(remote, "run", self._run)

    def scp_ends_with(self, code: int) -> None:
        self._result.write_text(str(code))

    def _run(self, place: object, cluster: object, node: object, user: str, text: str) -> Done:
        self.scripts.append(text)
        if self.refuses is not None and self.refuses in text:
            return Done("Welcome\nit is full\n", 1)
        if "authorized_keys" in text and "ssh_host" in text:
            return Done("".join(f"hyperpod-copy|{key}\n" for key in self.key_lines), 0)
        return Done("Welcome\nhyperpod-copy|/fsx/data\n", 0)


@pytest.fixture
def served(
    account: StubbedTarget, workdir: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Node:
    account.answer("sagemaker", "describe_cluster", CLUSTER, ClusterName="trainer")
    asked = {**ASKED, "ClusterName": ARN, "InstanceGroupNameContains": "controller"}
    account.answer("sagemaker", "list_cluster_nodes", {"ClusterNodeSummaries": NODES}, **asked)
    (workdir / "data").write_text("x")
    return Node(account, tmp_path_factory.mktemp("programs"), monkeypatch)


def copy(*arguments: str) -> Result:
    return run("copy", "--cluster", "trainer", *arguments)


def test_a_path_on_a_node_has_a_colon_before_its_slash() -> None:
    assert Remote.parse("workers:/fsx/a b/") is not None
    for text in ("workers:data", "./a:/b", "/fsx/data", "node:/a\nb", "user@node:/a"):
        assert Remote.parse(text) is None


def test_a_file_arrives_under_its_name_once_it_is_whole(served: Node) -> None:
    result = copy("data", ":/fsx/data")
    assert result.exit_code == 0, result.output
    assert result.stdout == f"Copied: {CONTROLLER}:/fsx/data\n"
    opened, asked, finished, closed = served.scripts
    told = served.asked.read_text()
    assert "restrict,expiry-time=" in opened
    assert "exists on the node" in asked
    assert f"{CONTROLLER}:/fsx/.hyperpod-copy-" in told
    assert "mv -nT /fsx/.hyperpod-copy-" in finished
    assert "sed -i --follow-symlinks" in closed
    assert "StrictHostKeyChecking yes" in told
    assert f"{CONTROLLER} {HOST_KEY}" in told


def test_nothing_stays_of_a_copy_that_fails(served: Node) -> None:
    served.scp_ends_with(1)
    result = copy("data", ":/fsx/data")
    assert result.exit_code == 1
    assert "the copy failed, and nothing of it is left" in " ".join(result.output.split())
    _, _, removed, closed = served.scripts
    assert "rm -rf /fsx/.hyperpod-copy-" in removed
    assert "authorized_keys" in closed


def test_a_failed_fetch_leaves_this_machine_as_it_was(served: Node, workdir: Path) -> None:
    served.scp_ends_with(1)
    before = sorted(path.name for path in workdir.iterdir())
    assert copy(":/fsx/data", "new").exit_code == 1
    assert sorted(path.name for path in workdir.iterdir()) == before


def test_a_file_is_fetched(served: Node, workdir: Path) -> None:
    result = copy(":/fsx/data", "new")
    assert result.exit_code == 0, result.output
    assert (workdir / "new").read_text() == "whole\n"


def test_what_the_node_refuses_is_its_last_line(served: Node) -> None:
    served.refuses = "may not write"
    result = copy("data", ":/fsx/data")
    assert result.exit_code == 1
    assert "hyperpod: it is full" in result.output
    assert "authorized_keys" in served.scripts[-1]


def test_a_refused_session_left_no_key_that_could_stay(served: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def refuse(*given: object) -> Done:
        asked.append(given)
        raise RefusedError("ssm:StartSession is not allowed")

    monkeypatch.setattr(remote, "run", refuse)
    result = copy("data", ":/fsx/data")
    assert (result.exit_code, result.output.strip()) == (1, "hyperpod: ssm:StartSession is not allowed")
    assert len(asked) == 1


def test_a_strange_host_key_is_none(served: Node) -> None:
    served.key_lines = ["* ssh-ed25519 AAAA", "@cert-authority x", f"{HOST_KEY} more"]
    result = copy("data", ":/fsx/data")
    assert "has no key of an SSH server" in " ".join(result.output.split())
    assert not served.asked.exists()


def test_a_key_that_cannot_be_removed_is_told(served: Node) -> None:
    served.refuses = "sed -i"
    result = copy("data", ":/fsx/data")
    assert result.exit_code == 0
    assert "stays on node i-00000000000000001 until it expires in ten minutes" in " ".join(result.output.split())


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("data", "elsewhere"), "one of SOURCE and DESTINATION is on a node"),
        ((":/a", ":/b"), "one of SOURCE and DESTINATION is on a node"),
        (("missing", ":/fsx/"), "missing does not exist on this machine"),
        ((":/fsx/data", "data"), "exists: name another, or replace a file with --force"),
        ((":/fsx/data", "no/such/folder"), "is no directory on this machine"),
        (("data", ":/fsx/", "--user", "-x"), "is no name of a user"),
    ],
)
def test_mistakes_are_told_before_a_node_is_asked(served: Node, arguments: tuple[str, ...], sentence: str) -> None:
    result = copy(*arguments)
    assert result.exit_code == 1
    assert sentence in " ".join(result.output.split())
    assert served.scripts == []


@pytest.mark.parametrize(
    ("where", "sentence", "scripts"),
    [
        ("opening", "interrupted; nothing of the copy is left", ["authorized_keys"]),
        ("asking", "interrupted; nothing of the copy is left", ["exists on the node", "authorized_keys"]),
        ("scp", "interrupted; nothing of the copy is left", ["rm -rf", "authorized_keys"]),
        ("removing", "interrupted; perhaps a part of the copy is left on the node: /fsx/.hyperpod-copy-", ["authorized_keys"]),
        ("finishing", f"interrupted; perhaps the copy has arrived: {CONTROLLER}:/fsx/data", ["authorized_keys"]),
        ("closing", f"interrupted; copied: {CONTROLLER}:/fsx/data", ["authorized_keys"]),
    ],
)
def test_an_interruption_says_what_is_left(
    served: Node, monkeypatch: pytest.MonkeyPatch, where: str, sentence: str, scripts: list[str]
) -> None:
    marks = {"opening": "ssh_host", "asking": "exists on", "removing": "rm -rf /fsx", "finishing": "mv -nT", "closing": "sed -i"}
    run_script, interrupted = remote.run, list[str]()

    def run_until(*given: Any) -> Done:
        done = run_script(*given)
        if where in marks and marks[where] in given[-1] and not interrupted:
            interrupted.append(where)
            raise KeyboardInterrupt
        return done

    monkeypatch.setattr(remote, "run", run_until)
    if where == "removing":
        served.scp_ends_with(1)
    if where == "scp":
        monkeypatch.setattr(Connection, "_scp", lambda *given: interrupt())
    result = copy("data", ":/fsx/data")
    assert result.exit_code == 130
    assert sentence in " ".join(result.stderr.split())
    assert all(any(part in script for script in served.scripts) for part in scripts)
    assert "sed -i" in served.scripts[-1]
