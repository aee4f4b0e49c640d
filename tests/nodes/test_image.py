"""The requirements of a machine, the cached image, and the rig's ledger."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from hyperpod_constructs.local.nodes import Image, NodesError, ledger, requirements, slots
from hyperpod_constructs.local.nodes.doubles.health_agent import Mark, marks
from hyperpod_constructs.local.nodes.doubles.programs.mount_table import render, show
from hyperpod_constructs.local.nodes.ledger import Ledger
from hyperpod_constructs.local.nodes.slots import Slot
from tests.nodes.configuration import WAIT_SECONDS
from tests.nodes.conftest import SCRIPTS, require_nodes

NODES = """\
NodeName=a Arch=x86_64 State=IDLE+FAIL ThreadsPerCore=1    Reason=Action:Replace [root@2026-11-21T15:51:31]
NodeName=b Arch=x86_64 State=MIXED+FAIL ThreadsPerCore=1    Reason=Action:Reboot [root@2026-11-21T15:51:31]
NodeName=c Arch=x86_64 State=IDLE+FAIL ThreadsPerCore=1    Reason=action:replace [root@2026-11-21T15:51:31]
NodeName=d Arch=x86_64 State=IDLE+FAIL ThreadsPerCore=1    Reason=Action:Replace now [root@2026-11-21T15:51:31]
NodeName=e Arch=x86_64 State=DOWN*+FAIL ThreadsPerCore=1    Reason=Action:Replace [root@2026-11-21T15:51:31]
NodeName=f Arch=x86_64 State=IDLE ThreadsPerCore=1
"""


def test_only_exact_reasons_are_marks() -> None:
    assert marks(NODES) == [Mark("a", "Action:Replace", True), Mark("b", "Action:Reboot", False), Mark("e", "Action:Replace", True)]


def test_recorded_mounts_are_shown_as_what_they_stand_for() -> None:
    table = "overlay / overlay rw 0 0\nshared /fsx tmpfs rw,size=1k 0 0\nshared /home tmpfs rw 0 0\n"
    record = [("/fsx", "fs-1@tcp:/abcd", "lustre"), ("/gone", "fs-2@tcp:/abcd", "lustre"), ("/home", "fs-3:/fsx", "nfs4")]

    shown = render(table, "".join(json.dumps(line) + "\n" for line in record))
    assert shown == "overlay / overlay rw 0 0\nfs-1@tcp:/abcd /fsx lustre rw,size=1k 0 0\nfs-3:/fsx /home nfs4 rw 0 0\n"


def test_a_mount_that_stays_is_there_for_every_reader_of_the_table(tmp_path: Path) -> None:
    place, ended = tmp_path / "mounts", threading.Event()
    stays = "fs-1@tcp:/abcd /fsx lustre rw,size=1k 0 0\n"
    tables = [stays, stays + "tmpfs /run/one tmpfs rw 0 0\ntmpfs /run/two tmpfs rw 0 0\n"]

    def change() -> None:
        for table in tables * 2000:
            show(table, place)
        ended.set()

    show(tables[1], place)
    writer = threading.Thread(target=change)
    writer.start()
    while not ended.is_set():
        lines = [line.split() for line in place.read_text().splitlines()]
        assert ["fs-1@tcp:/abcd", "/fsx", "lustre"] in [line[:3] for line in lines]
        assert {len(line) for line in lines} == {6}
    writer.join()
    show(tables[0], place)
    assert [line.split() for line in place.read_text().splitlines()] == [stays.split()]


def test_missing_packages_are_named_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(shutil, "which", lambda program, path: None if program == "mmdebstrap" else program)
    monkeypatch.setattr(requirements, "KEYRINGS", Path("/"))
    monkeypatch.setattr(requirements, "KEYRING_NAME", "etc")

    sentence = requirements.missing()
    assert sentence is not None
    assert sentence.endswith("apt-get install -y --no-install-recommends mmdebstrap")


def test_another_system_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")

    with pytest.raises(NodesError, match="need Linux, this is darwin"):
        Image.build(tmp_path)


def test_image_is_built_once(image: Image) -> None:
    before = [layer.stat().st_ctime_ns for layer in image.layers]

    again = Image.build()
    assert again == image
    assert [layer.stat().st_ctime_ns for layer in again.layers] == before


def test_ledger_undoes_what_was_made_newest_first(tmp_path: Path) -> None:
    require_nodes()
    ledger = Ledger(tmp_path / "made")
    outer = ledger.directory(tmp_path / "outer of a rig")
    subprocess.run(["mount", "-t", "tmpfs", "test", ledger.mount(outer)], check=True)  # noqa: S603
    ledger.directory(outer / "inner")
    (tmp_path / "kept").touch()

    for _ in range(2):
        Ledger(tmp_path / "made").undo()
        assert sorted(path.name for path in tmp_path.iterdir()) == ["kept"]


CRASH = """
import os, sys
from pathlib import Path
from hyperpod_constructs.local.nodes import Image, NodeSpec, Rig
rig = Rig.create(Path(sys.argv[1]), image=Image.build(), wait_seconds=600)
rig.boot([NodeSpec("controller", "Controller", 1)], scripts=Path(sys.argv[2]), config={}, mode="on_create")
print(rig.slot.directory / "made", flush=True)
os._exit(9)
"""
MADE = {
    "mount": lambda name: any(line.split()[1] == name for line in Path("/proc/mounts").read_text().splitlines()),
    "namespace": lambda name: Path("/run/netns", name).exists(),
    "cgroup": lambda name: any(Path("/sys/fs/cgroup").glob(f"**/hyperpod-nodes/{name}")),
    "directory": lambda name: Path(name).exists(),
}


def test_next_rig_cleans_up_after_a_crash(image: Image, tmp_path: Path) -> None:
    command = [sys.executable, "-c", CRASH, str(tmp_path / "crashed"), str(SCRIPTS)]
    crashed = subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True)  # noqa: S603
    assert crashed.returncode == 9
    made = [json.loads(line) for line in Path(crashed.stdout.strip()).read_text().splitlines()]
    assert {kind for kind, _, _ in made} == set(MADE)
    assert [entry for entry in made if not MADE[entry[0]](entry[1])] == []
    Slot.take(WAIT_SECONDS).leave()
    assert [entry for entry in made if MADE[entry[0]](entry[1])] == []


@pytest.fixture
def setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A setting of a kernel that is not the host's, and slots of no other rig."""
    value = tmp_path / "sys" / slots.INOTIFY
    value.parent.mkdir(parents=True)
    value.write_text("128\n")
    monkeypatch.setattr(ledger, "SYSCTL", tmp_path / "sys")
    monkeypatch.setattr(slots, "STATE", tmp_path / "state")
    return value


def test_the_last_rig_restores_the_settings_of_the_kernel(setting: Path) -> None:
    first, second = Slot.take(0), Slot.take(0)
    assert (first.number, second.number, setting.read_text()) == (0, 1, "8192")
    first.leave()
    assert setting.read_text() == "8192"
    second.leave()
    assert setting.read_text() == "128"
