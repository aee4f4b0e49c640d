"""What a machine must have, the cached image and the rig's record of what it has made."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hyperpod_constructs.local.nodes import Image, NodesError, Rig, requirements
from hyperpod_constructs.local.nodes.doubles.health_agent import Mark, marks
from hyperpod_constructs.local.nodes.doubles.programs.mount_table import render
from hyperpod_constructs.local.nodes.ledger import Ledger
from tests.nodes.conftest import CACHE, SCRIPTS, WAIT_SECONDS, require_nodes

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


def test_recorded_mounts_are_shown_as_lustre() -> None:
    table = "overlay / overlay rw 0 0\nshared /fsx tmpfs rw,size=1k 0 0\n"

    shown = render(table, '["/fsx", "fs-1@tcp:/abcd"]\n["/gone", "fs-2@tcp:/abcd"]\n')
    assert shown == "overlay / overlay rw 0 0\nfs-1@tcp:/abcd /fsx lustre rw,size=1k 0 0\n"


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

    again = Image.build(CACHE)
    assert again == image
    assert [layer.stat().st_ctime_ns for layer in again.layers] == before


def test_ledger_undoes_what_was_made_newest_first(tmp_path: Path) -> None:
    require_nodes()
    ledger = Ledger(tmp_path / "made")
    outer = ledger.directory(tmp_path / "outer")
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
rig = Rig.create(Path(sys.argv[1]), image=Image.build(Path(sys.argv[2])), wait_seconds=600)
rig.boot([NodeSpec("controller", "Controller", 1)], scripts=Path(sys.argv[3]), config={}, mode="on_create")
os._exit(9)
"""


def host_state() -> tuple[str, ...]:
    mounts = "".join(line for line in Path("/proc/mounts").read_text().splitlines() if "hyperpod" in line)
    groups = sorted(str(path) for path in Path("/sys/fs/cgroup").glob("**/hyperpod-nodes"))
    spaces = sorted(path.name for path in Path("/run/netns").glob("hpn-*")) if Path("/run/netns").exists() else []
    return mounts, *groups, *spaces, Path("/proc/sys/fs/inotify/max_user_instances").read_text()


def test_next_rig_cleans_up_after_a_crash(image: Image, tmp_path: Path) -> None:
    with Rig.create(tmp_path / "rig", image=image, wait_seconds=WAIT_SECONDS):
        pass
    before = host_state()
    command = [sys.executable, "-c", CRASH, str(tmp_path / "rig"), str(CACHE), str(SCRIPTS)]
    assert subprocess.run(command, check=False).returncode == 9  # noqa: S603
    assert host_state() != before
    with Rig.create(tmp_path / "rig", image=image, wait_seconds=WAIT_SECONDS):
        pass
    assert host_state() == before
