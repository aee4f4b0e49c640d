"""A user against the set-up of a node: the home belongs to the user, and its content harms nobody else."""

from __future__ import annotations

import json
import os
import stat
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.attacks.node import ALICE, BOB, KEY, AttackedNode, attacked_node, is_root

from node_setup.errors import NodeSetupError  # isort: skip
from node_setup.steps import containers, health, homes, user_keys  # isort: skip
from node_trust.as_user import Answer  # isort: skip
from node_trust.errors import Untrusted  # isort: skip

pytestmark = pytest.mark.skipif(not is_root(), reason="only root can set a node up, and give files to users")
TERABYTE = 1024**4
RACES = 12


@pytest.fixture
def attacked() -> Iterator[AttackedNode]:
    """A node with the homes of alice and bob, and with no keys in them yet."""
    with attacked_node() as made:
        made.install()
        homes.apply(made.node)
        yield made


def own(path: Path, uid: int = ALICE) -> Path:
    os.chown(path, uid, uid, follow_symlinks=False)
    return path


def ssh(attacked: AttackedNode, name: str = "alice") -> Path:
    folder = attacked.home(name) / ".ssh"
    folder.mkdir(mode=0o700)
    return own(folder)


def fifo(path: Path) -> Path:
    os.mkfifo(path)
    return own(path)


def sparse(path: Path) -> Path:
    path.touch()
    os.truncate(path, TERABYTE)
    return own(path)


def link(path: Path, target: Path) -> Path:
    path.symlink_to(target)
    return own(path)


PLANTED: dict[str, Callable[[AttackedNode], object]] = {
    "a link where root once made a folder on the way": lambda node: link(node.home("alice") / "..ssh.node-1", node.victim),
    "a link as the folder of keys": lambda node: link(node.home("alice") / ".ssh", node.victim),
    "a FIFO as the folder of keys": lambda node: fifo(node.home("alice") / ".ssh"),
    "a file of another as the folder of keys": lambda node: (node.home("alice") / ".ssh").touch(),
    "a FIFO as the key": lambda node: fifo(ssh(node) / "id_ed25519"),
    "a terabyte as the key": lambda node: sparse(ssh(node) / "id_ed25519"),
    "a link to a secret as the key": lambda node: link(ssh(node) / "id_ed25519", node.victim / "secret"),
    "a link to a secret as the keys that log in": lambda node: link(ssh(node) / "authorized_keys", node.victim / "secret"),
    "a hard link to a secret as the keys that log in": lambda node: os.link(node.victim / "secret", ssh(node) / "authorized_keys"),
    "a terabyte as the keys that log in": lambda node: sparse(ssh(node) / "authorized_keys"),
    "a FIFO as the keys that log in": lambda node: fifo(ssh(node) / "authorized_keys"),
    "a folder as the keys that log in": lambda node: (ssh(node) / "authorized_keys").mkdir(),
    "a link where the public key is written": lambda node: link(ssh(node) / ".id_ed25519.pub.node-1", node.victim / "secret"),
    "a home that the user himself cannot enter": lambda node: node.home("alice").chmod(0),
}


@pytest.mark.parametrize("planted", PLANTED)
def test_a_user_plants(attacked: AttackedNode, planted: str) -> None:
    """Other users' files stay, the next user gets the keys, and no step waits until a deadline."""
    PLANTED[planted](attacked)
    error = put_keys(attacked)
    assert error == "" or error.startswith("alice: ")
    assert "bob" not in error
    assert "not done after" not in error
    assert attacked.is_untouched()
    assert (attacked.home("bob") / ".ssh/id_ed25519").exists()
    assert "secret" not in "".join(text(path) for path in attacked.home("alice").rglob("*.pub"))


def put_keys(attacked: AttackedNode) -> str:
    """The logged reasons for missing keys."""
    try:
        user_keys.apply(attacked.node)
    except NodeSetupError as error:
        return str(error)
    return ""


def text(path: Path) -> str:
    return path.read_text() if path.is_file() and not path.is_symlink() else ""


def test_keys_are_their_users_own_and_a_second_run_changes_nothing(attacked: AttackedNode) -> None:
    user_keys.apply(attacked.node)
    folder = attacked.home("alice") / ".ssh"
    found = {path.name: path.stat() for path in [folder, *folder.iterdir()]}
    modes = {name: (status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode)) for name, status in found.items()}
    assert modes == {
        ".ssh": (ALICE, ALICE, 0o700),
        "authorized_keys": (ALICE, ALICE, 0o600),
        "id_ed25519": (ALICE, ALICE, 0o600),
        "id_ed25519.pub": (ALICE, ALICE, 0o644),
    }
    before = attacked.node.effects
    user_keys.apply(attacked.node)
    assert attacked.node.effects == before
    assert {path.name: path.stat().st_mtime_ns for path in [folder, *folder.iterdir()]} == {
        name: status.st_mtime_ns for name, status in found.items()
    }


def test_what_a_user_added_himself_stays(attacked: AttackedNode) -> None:
    path = ssh(attacked) / "authorized_keys"
    path.write_bytes(b"# mine \xff\nssh-rsa AAAA\n")
    own(path)
    user_keys.apply(attacked.node)
    keys = path.read_bytes()
    assert keys.startswith(b"# mine \xff\nssh-rsa AAAA\n# begin hyperpod")
    assert KEY.encode() in keys


def test_a_user_swaps_his_folder_for_a_link_while_root_works(attacked: AttackedNode) -> None:
    folder = ssh(attacked)
    stop = threading.Event()

    def swap() -> None:
        other = attacked.home("alice") / "other"
        link(other, attacked.victim)
        while not stop.is_set():
            for source, target in (
                (folder, ".kept"),
                (other, ".ssh"),
                (folder, "other"),
                (attacked.home("alice") / ".kept", ".ssh"),
            ):
                try:
                    source.rename(source.with_name(target))
                except OSError:
                    continue

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        for _ in range(RACES):
            assert "bob: " not in put_keys(attacked)
    finally:
        stop.set()
        thread.join()
    assert attacked.is_untouched()


def test_the_node_does_not_close_the_folder_of_heartbeats(attacked: AttackedNode) -> None:
    run = attacked.root / "run/hyperpod"
    run.mkdir(parents=True, mode=0o700)  # as an earlier version left it
    health.make_folders(attacked.node)
    user_keys.apply(attacked.node)
    assert stat.S_IMODE(run.stat().st_mode) == 0o755
    assert list(run.iterdir()) == []


def test_a_user_cannot_pass_his_folder_for_that_of_the_homes(attacked: AttackedNode) -> None:
    attacked.home("").rename(attacked.root / "fsx/old")
    own_homes = attacked.root / "fsx/home"
    own_homes.mkdir()
    own(own_homes)
    with pytest.raises(Untrusted, match=rf"/fsx/home: belongs to uid {ALICE}, it must belong to root"):
        homes.apply(attacked.node)
    assert list(own_homes.iterdir()) == []


def test_a_home_of_somebody_else_costs_only_its_user_the_home(attacked: AttackedNode) -> None:
    own(attacked.home("alice"), BOB)
    homes.apply(attacked.node)
    homes.verify(attacked.node)
    assert f"skipped: homes: /fsx/home/alice: belongs to uid {BOB}, and alice has uid {ALICE}" in attacked.said


def test_a_user_puts_his_folder_where_dockers_is_to_be(attacked: AttackedNode) -> None:
    """The daemon would run programs from a world-writable disk as root."""
    disk = attacked.root / "opt/dlami/nvme"
    disk.mkdir(parents=True)
    disk.chmod(0o1777)
    (attacked.root / "proc/mounts").write_text("/dev/x /opt/dlami/nvme xfs rw 0 0\n")
    (attacked.root / "usr/bin/dockerd").symlink_to("/bin/true")
    assert attacked.act(ALICE, "import os, sys; os.mkdir(sys.argv[1])", str(disk / "docker")).code == 0
    with pytest.raises(Untrusted, match=rf"docker: belongs to uid {ALICE}, it must belong to root"):
        containers.apply(attacked.node)
    assert not (attacked.root / "etc/docker").exists()


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (Answer(0, b"", ""), "the child ended with 0 and without an answer"),
        (Answer(-9, b"{", "Killed"), "Killed"),
        (Answer(0, b"[" * 60000, ""), "the child ended with 0 and without an answer"),
        (Answer(0, json.dumps({"changes": 10**9, "error": "a\x1b[2J\nfailed: x" + "y" * 10**6}).encode(), ""), "a?[2J?failed: x"),
        (Answer(0, b'{"changes": NaN, "error": ""}', ""), "the child ended with 0 and without an answer"),
    ],
)
def test_a_user_answers_in_place_of_the_child(answer: Answer, expected: str) -> None:
    changes, error = user_keys.judge(answer)
    assert changes <= 1
    assert error.startswith(expected)
    assert len(error) <= 300
    assert error.isprintable()
