"""Other writers on a cluster's shared file system: another cluster, a user, or leftovers."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import shutil
import stat
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest

from tests.attacks.node import ALICE, AttackedNode, attacked_node, is_root
from tests.patience import until

from node_setup import database, files, shared, state  # isort: skip
from node_setup.commands import Command, Completed  # isort: skip
from node_setup.database import Access  # isort: skip
from node_setup.errors import NodeSetupError  # isort: skip
from node_setup.steps import health, host_keys, restore  # isort: skip
from node_trust.errors import Untrusted  # isort: skip
from node_trust.folder import Folder  # isort: skip

pytestmark = pytest.mark.skipif(not is_root(), reason="only root can set a node up, and give files to users")
BASE = "/fsx/.hyperpod"
OURS = f"{BASE}/cluster-a"
COPY = f"{OURS}/state/state.tar.gz"
EVIL = r"""\! touch {marker}
system touch {marker};
INSERT INTO a VALUES ('x') \! touch {marker}
;
source {script}
tee {marker}
pager touch {marker}
\P touch {marker}
\T {marker}
"""


@pytest.fixture
def attacked() -> Iterator[AttackedNode]:
    with attacked_node() as made:
        yield made


def plant(attacked: AttackedNode, path: str, kind: str) -> None:
    """Files of another uid in the places of root's work."""
    target = attacked.root / path.lstrip("/")
    target.parent.mkdir(parents=True, exist_ok=True)
    if kind == "folder":
        target.mkdir()
    elif kind == "link":
        target.symlink_to(attacked.victim)
    else:
        os.mkfifo(target)
    os.chown(target, ALICE, ALICE, follow_symlinks=False)


@pytest.mark.parametrize("kind", ["folder", "link", "FIFO"])
@pytest.mark.parametrize("path", [BASE, OURS, f"{OURS}/state"])
def test_somebody_plants_a_folder_of_the_cluster(attacked: AttackedNode, path: str, kind: str) -> None:
    plant(attacked, path, kind)
    with pytest.raises(Untrusted) as raised:
        shared.make_private_folder(attacked.node, "state")
    said = str(raised.value)
    assert path in said
    assert f"uid {ALICE}" in said
    assert attacked.is_untouched()
    assert kind != "folder" or list((attacked.root / path.lstrip("/")).iterdir()) == []


def test_two_clusters_share_nothing_but_the_file_system(attacked: AttackedNode) -> None:
    with attacked_node("cluster-b", attacked.root / "fsx") as other:
        for node in (attacked, other):
            node.install()
            health.make_folders(node.node)
            shared.make_private_folder(node.node, "host_keys")
        (attacked.root / "fsx/.hyperpod/cluster-b/host_keys/mine").touch()
        assert attacked.node.names(f"{OURS}/host_keys") == []
        ids = [(node.root / "var/lib/hyperpod/cluster").read_text() for node in (attacked, other)]
    assert ids == ["cluster-a\n", "cluster-b\n"]
    folder = attacked.root / "fsx/.hyperpod"
    assert sorted(path.name for path in folder.iterdir()) == ["cluster-a", "cluster-b"]
    modes = {path: stat.S_IMODE((folder / path).stat().st_mode) for path in (".", "cluster-a", "cluster-a/host_keys")}
    assert modes == {".": 0o755, "cluster-a": 0o755, "cluster-a/host_keys": 0o700}


def test_what_the_node_tells_of_its_cluster_is_roots(attacked: AttackedNode) -> None:
    attacked.install()
    path = attacked.root / "var/lib/hyperpod/cluster"
    assert (path.stat().st_uid, stat.S_IMODE(path.stat().st_mode)) == (0, 0o644)
    os.chown(path, ALICE, ALICE)
    with pytest.raises(Untrusted, match=f"belongs to uid {ALICE}"):
        attacked.node.read("/var/lib/hyperpod/cluster")


def copy(attacked: AttackedNode, members: dict[str, bytes]) -> Path:
    """A copy of the state on the shared file system."""
    shared.make_private_folder(attacked.node, "state")
    path = attacked.root / COPY.lstrip("/")
    with tarfile.open(path, "w:gz") as archive:
        for name, data in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return path


MANIFEST = {"manifest.json": b'{"cluster": "demo"}'}


@pytest.mark.parametrize("kind", ["owner", "link", "hard link", "FIFO"])
def test_a_copy_that_root_did_not_make_is_not_restored(attacked: AttackedNode, kind: str) -> None:
    path = copy(attacked, {**MANIFEST, "slurmctld/clustername": b"evil"})
    if kind == "owner":
        os.chown(path, ALICE, ALICE)
    elif kind == "hard link":
        os.link(path, path.with_name("other"))
    else:
        path.rename(path.with_name("other"))
        if kind == "link":
            path.symlink_to("other")
            os.chown(path, ALICE, ALICE, follow_symlinks=False)
        else:
            os.mkfifo(path)
    with pytest.raises(Untrusted, match=r"state\.tar\.gz"):
        restore.apply(attacked.node)
    assert not (attacked.root / "var/spool/slurmctld/clustername").exists()


def test_a_header_of_a_copy_does_not_fill_the_memory(tmp_path: Path) -> None:
    """Long names are read completely before the member behind them is known."""
    header = tarfile.TarInfo("././@LongLink")
    header.type, header.size = tarfile.GNUTYPE_LONGNAME, files.MAX_HEADER + 1
    with gzip.open(tmp_path / "bomb", "wb") as file:
        file.write(header.tobuf(tarfile.GNU_FORMAT) + b"x" * 512)
    with (
        (tmp_path / "bomb").open("rb") as opened,
        Folder.open(str(tmp_path)) as folder,
        pytest.raises(Untrusted, match="a header of"),
    ):
        files.unpack(opened, folder)


@pytest.mark.parametrize("manifest", [b"[]", b"7", b"", b"[" * 100_000])
def test_a_copy_with_a_strange_manifest_is_passed_over_for_the_one_before(attacked: AttackedNode, manifest: bytes) -> None:
    previous = copy(attacked, MANIFEST)
    previous.rename(previous.with_name("state.previous.tar.gz"))
    copy(attacked, {"manifest.json": manifest})
    assert state.open_latest(attacked.node, "/var/lib/hyperpod/restore") == {"cluster": "demo"}


def test_a_copy_unpacks_regular_files_only_and_none_outside(attacked: AttackedNode) -> None:
    path = copy(attacked, MANIFEST)
    with tarfile.open(path, "w:gz") as archive:
        for name, kind in (
            ("link", tarfile.SYMTYPE),
            ("hard", tarfile.LNKTYPE),
            ("fifo", tarfile.FIFOTYPE),
            ("dev", tarfile.CHRTYPE),
        ):
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = kind, str(attacked.victim)
            archive.addfile(entry)
        for name in ("../../out", "/out", "link/secret", "good"):
            entry = tarfile.TarInfo(name)
            entry.size = 1
            archive.addfile(entry, io.BytesIO(b"x"))
    attacked.node.unpack(COPY, "/var/lib/hyperpod/restore")
    found = attacked.root / "var/lib/hyperpod/restore"
    assert sorted(str(path.relative_to(found)) for path in found.rglob("*") if path.is_file()) == ["good", "link/secret"]
    assert attacked.is_untouched()


class Bomb(io.RawIOBase):
    """Endless zeros."""

    def read(self, size: int = -1) -> bytes:
        return bytes(size)


def bomb(file: IO[bytes], members: int, size: int) -> None:
    with tarfile.open(fileobj=file, mode="w:gz", compresslevel=1) as archive:
        for number in range(members):
            entry = tarfile.TarInfo(f"member-{number}")
            entry.size = size
            archive.addfile(entry, Bomb())


@pytest.mark.parametrize(("members", "size"), [(3, 4 * 1024 * 1024), (12, 1)])
def test_an_archive_that_fills_the_disk_is_refused_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, members: int, size: int
) -> None:
    monkeypatch.setattr(files, "MAX_MEMBERS", 10)
    with tempfile.TemporaryFile() as file:
        bomb(file, members, size)
        file.seek(0)
        with Folder.open(str(tmp_path)) as folder, pytest.raises(Untrusted, match="has more than 10 members or"):
            files.unpack(file, folder, limit=10 * 1024 * 1024)
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 10 * 1024 * 1024


def test_the_dump_is_never_readable_for_others(attacked: AttackedNode, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even while it is made: the program writes into a file that root has opened."""
    seen = []

    def run(root: str, command: Command) -> Completed:
        assert command.output is not None
        seen.append(os.fstat(command.output.fileno()))
        command.output.write(b"rows")
        return Completed(0, "", "")

    monkeypatch.setattr(attacked.node, "_host", attacked.node._host._replace(run=run))
    (attacked.root / "usr/bin/mariadb-dump").symlink_to("/bin/true")
    (attacked.root / "opt/slurm/etc/slurmdbd.conf").write_text("StorageHost=localhost\n")
    (attacked.root / "var/spool/slurmctld/clustername").write_text("demo")
    monkeypatch.setattr(state, "version", lambda node: [])
    assert state.keep(attacked.node)
    assert [(stat.S_IMODE(status.st_mode), status.st_uid) for status in seen] == [(0o600, 0)]
    kept = attacked.root / OURS.lstrip("/") / "state"
    assert {path.name: stat.S_IMODE(path.stat().st_mode) for path in kept.iterdir()} == {"state.tar.gz": 0o600}


def test_host_keys_that_somebody_put_there_are_not_taken(attacked: AttackedNode) -> None:
    (attacked.root / "etc/ssh").mkdir()
    (attacked.root / "etc/ssh/sshd_config").touch()
    kept = attacked.root / shared.make_private_folder(attacked.node, "host_keys").lstrip("/") / "node-1"
    kept.mkdir()
    (kept / "ssh_host_rsa_key").write_text("evil")
    os.chown(kept / "ssh_host_rsa_key", ALICE, ALICE)
    with pytest.raises(Untrusted, match=rf"ssh_host_rsa_key: belongs to uid {ALICE}"):
        host_keys.apply(attacked.node)
    assert not (attacked.root / "etc/ssh/ssh_host_rsa_key").exists()


def test_the_client_of_the_database_gets_statements_only_and_is_nobody(attacked: AttackedNode) -> None:
    """With a double of the client, so that it runs without a database too."""
    program = attacked.root / "usr/bin/mariadb"
    program.write_text(f'#!/bin/sh\n{{ /usr/bin/id -u; /usr/bin/id -G; echo "$@"; /bin/cat; }} >{attacked.root}/out/said\n')
    program.chmod(0o755)
    (attacked.root / "out").mkdir(mode=0o777)
    (attacked.root / "out").chmod(0o777)
    attacked.install()
    attacked.node.write("/var/lib/hyperpod/dump", "SELECT 1;\n", 0o600)
    database.load(attacked.node, Access("localhost", 3306, "acct", "slurm", "pw"), "/var/lib/hyperpod/dump")
    said = (attacked.root / "out/said").read_text().splitlines()
    assert said == ["65534", "65534", "--batch --binary-mode --local-infile=0 --user=slurm acct", "SELECT 1;"]


@pytest.fixture(scope="module")
def server() -> Iterator[Path]:
    """The folder with the socket of this machine's MariaDB, if it is installed."""
    if not all(shutil.which(name, path="/usr/bin:/usr/sbin") for name in ("mariadbd", "mariadb", "mariadb-install-db")):
        if os.environ.get("CI") == "true":
            pytest.fail("no MariaDB is installed here: run tools/setup_nodes.sh")
        pytest.skip("no MariaDB is installed here")
    with tempfile.TemporaryDirectory(prefix="attacked-") as made:
        folder = Path(made)
        folder.chmod(0o755)
        shutil.chown(folder, "mysql")
        own = ["--no-defaults", "--user=mysql", f"--datadir={folder}/data"]
        subprocess.run(["/usr/bin/mariadb-install-db", *own], check=True, capture_output=True)  # noqa: S603
        command = ["/usr/sbin/mariadbd", *own, f"--socket={folder}/socket", "--skip-networking", f"--pid-file={folder}/pid"]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:  # noqa: S603
            until((folder / "socket").exists, "MariaDB's socket")
            sql = "CREATE DATABASE acct; CREATE USER slurm@localhost IDENTIFIED BY 'pw'; GRANT ALL ON acct.* TO slurm@localhost"
            ask(folder, sql)
            yield folder
            process.terminate()


def ask(server: Path, sql: str) -> str:
    command = ["/usr/bin/mariadb", "--no-defaults", f"--socket={server}/socket", f"--execute={sql}"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout  # noqa: S603


@pytest.mark.parametrize("line", EVIL.strip().replace("\n;\n", ";\n").splitlines())
def test_the_real_client_runs_no_command_of_a_dump(attacked: AttackedNode, server: Path, line: str) -> None:
    marker, script = attacked.root / "open/marker", attacked.root / "script.sql"
    marker.parent.mkdir()
    marker.parent.chmod(0o777)
    script.write_text("CREATE TABLE sourced (x INT);\n")
    client = attacked.root / "usr/bin/mariadb"
    client.write_text(f'#!/bin/sh\nexec /usr/bin/mariadb --socket={server}/socket --force "$@"\n')
    client.chmod(0o755)
    attacked.install()
    text = "CREATE TABLE IF NOT EXISTS a (x TEXT);\n" + line.format(marker=marker, script=script) + "\n;\nSELECT 1;\n"
    attacked.node.write("/var/lib/hyperpod/dump", text, 0o600)
    with contextlib.suppress(NodeSetupError):  # the server refuses the rest
        database.load(attacked.node, Access("localhost", 3306, "acct", "slurm", "pw"), "/var/lib/hyperpod/dump")
    assert not marker.exists()
    assert "sourced" not in ask(server, "SHOW TABLES FROM acct")
