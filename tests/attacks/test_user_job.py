"""Attacks of a job's user on the node: against root, the node, other users' jobs, and a neighbour's cluster."""

from __future__ import annotations

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lifecycle"))

from node_health import aggregate, beats, devices, dumping, hang, log, picture, stacks, status, summary
from node_health.checks import custom, kernel_log
from node_health.checks.context import Context
from node_health.finding import Finding
from node_health.hang import Place, Verdict
from node_health.heartbeat import DIRECTORY, DUMP_SIGNAL, HEADER_BYTES, Heartbeat
from node_health.marks import gather
from node_health.memory import Memory
from node_health.shared import CLUSTER, Exchange, SharedDirectory
from node_health.system import LocalSystem, Result, UserFile
from node_health.watch import Watch
from node_trust.as_user import Identity, python

from tests.node_health.doubles import SETTINGS, Cluster, Machine

USER, OTHER = 12345, 12346
SIGNAL = signal.SIGRTMIN + DUMP_SIGNAL
STEP = "7.0"
JOB = {"RANK": "0", "WORLD_SIZE": "2", "SLURM_JOB_ID": "7", "SLURM_STEP_ID": "0"}
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="two users take root")


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that every user can reach."""
    path = Path(tempfile.mkdtemp(prefix="attack-"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


def as_user(uid: int, program: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A program of the user."""
    command = python("-c", program, *arguments)
    return subprocess.run(  # noqa: S603
        command, user=uid, group=uid, extra_groups=[], env=environment, capture_output=True, text=True, check=False, cwd="/"
    )


def shared_at(place: Path, cluster: str = "c1") -> SharedDirectory:
    system = LocalSystem()
    files = {"/proc/self/mounts": f"fs {place} lustre rw 0 0\n", CLUSTER: f"{cluster}\n"}
    system.read = files.get  # type: ignore[method-assign, assignment]
    return SharedDirectory(system, str(place))


def put(kind: str, path: Path, secret: Path) -> None:
    """Anything but a file of root's or of the job's, of the usual size."""
    if kind == "link":
        path.symlink_to(secret)
    elif kind == "hard link":
        path.hardlink_to(secret)
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.write_bytes(b" " * (70_000 if kind == "huge" else 2))
    if kind == "foreign":
        os.chown(path, USER, USER)


class TestDumps:
    FOLDER = f"hang/{STEP}.0/w0"

    def dump(self, place: Path) -> dict[str, str] | None:
        return shared_at(place).exchange(Exchange(write={f"{self.FOLDER}/rank-0.txt": "stacks"}, owner=(USER, USER)))

    @needs_root
    @pytest.mark.parametrize("name", ["rank-0.txt", "verdict.txt", ".rank-0.txt.1", "new"])
    def test_puts_a_link_where_root_writes_a_dump(self, place: Path, name: str) -> None:
        target = place / "passwd"
        target.write_text("root")
        assert self.dump(place) == {}
        folder = place / ".hyperpod/c1" / self.FOLDER
        link = "import os, sys; os.path.lexists(sys.argv[2]) and os.unlink(sys.argv[2]); os.symlink(*sys.argv[1:])"
        assert "PermissionError" in as_user(USER, link, str(target), str(folder / name)).stderr
        assert self.dump(place) == {}
        assert (target.read_text(), target.stat().st_uid) == ("root", 0)

    @needs_root
    @pytest.mark.parametrize("above", [".hyperpod", ".hyperpod/c1", ".hyperpod/c1/hang", f".hyperpod/c1/hang/{STEP}.0"])
    def test_renames_a_folder_on_the_way_to_the_dumps(self, place: Path, above: str) -> None:
        self.dump(place)
        place.chmod(0o1777)
        done = as_user(USER, "import os, sys; os.rename(sys.argv[1], sys.argv[1] + '.mine')", str(place / above))
        assert "PermissionError" in done.stderr

    @needs_root
    def test_reads_the_dumps_of_another_user(self, place: Path) -> None:
        self.dump(place)
        read = "import sys; print(open(sys.argv[1]).read())"
        path = str(place / ".hyperpod/c1" / self.FOLDER / "rank-0.txt")
        assert as_user(USER, read, path).stdout == "stacks\n"
        assert "PermissionError" in as_user(OTHER, read, path).stderr

    @pytest.mark.parametrize("folder", [".hyperpod", ".hyperpod/c1", ".hyperpod/c1/hang", ".hyperpod/c1/health/marks"])
    def test_made_a_link_in_place_of_a_folder_of_roots(self, place: Path, folder: str) -> None:
        target = place / "etc"
        target.mkdir()
        (place / folder).parent.mkdir(parents=True, exist_ok=True)
        (place / folder).symlink_to(target)
        for name in (f"{self.FOLDER}/rank-0.txt", "health/marks/w0.json"):
            shared_at(place).exchange(Exchange(write={name: "1"}))
        assert list(target.iterdir()) == []

    @needs_root
    @pytest.mark.parametrize(("owner", "mode"), [(USER, 0o755), (0, 0o777), (0, 0o775)])
    def test_made_the_folder_of_the_cluster_first(self, place: Path, owner: int, mode: int) -> None:
        folder = place / ".hyperpod/c1"
        (folder / "health/marks").mkdir(parents=True)
        (folder / "health/marks/w0.json").write_text("[]")
        os.chown(folder, owner, owner)
        folder.chmod(mode)
        assert shared_at(place).exchange(Exchange(write={"a": "1"}, read=("health/marks",))) is None
        assert not (folder / "a").exists()

    @needs_root
    @pytest.mark.parametrize("kind", ["foreign", "link", "fifo", "huge", "hard link"])
    def test_puts_a_file_of_his_among_those_that_root_reads(self, place: Path, kind: str) -> None:
        shared = shared_at(place)
        shared.exchange(Exchange(write={"health/marks/w0.json": "[]"}))
        path, secret = place / ".hyperpod/c1/health/marks/w1.json", place / "secret"
        secret.write_text("secret")
        put(kind, path, secret)
        assert shared.exchange(Exchange(read=("health/marks",))) == {"health/marks/w0.json": "[]"}

    @needs_root
    @pytest.mark.parametrize("name", ["flight_dump", "flight_pipe", "stack"])
    def test_has_root_open_a_path_that_he_names(self, place: Path, name: str) -> None:
        """A file or a FIFO for root only, passed off as the Flight Recorder's or the job's own."""
        secret = place / "secret"
        secret.mkdir(mode=0o700)
        (secret / "0").write_text("secret")
        os.mkfifo(secret / "0.pipe")
        reader = os.open(secret / "0.pipe", os.O_RDONLY | os.O_NONBLOCK)
        asked = {"pid": 1, "py_spy": None, "signal": 0, "signal_seconds": 0, "stack": "", "flight_pipe": "", "flight_dump": "/no"}
        asked[name] = str(secret / ("0.pipe" if name == "flight_pipe" else "0"))
        result = LocalSystem().run_as(Identity(USER, USER), [stacks.CHILD, json.dumps(asked)], 20, 65536)
        assert json.loads(result.output)["flight"] == ""
        assert os.read(reader, 1) == b"", "root wrote into the pipe"
        os.close(reader)

    def test_hangs_three_thousand_ranks_to_start_three_thousand_threads(self, monkeypatch: pytest.MonkeyPatch) -> None:
        running: list[int] = []

        def dump(system: object, step: str, beat: beats.Beat) -> stacks.Dump:
            running.append(threading.active_count())
            return stacks.Dump("")

        monkeypatch.setattr(dumping, "dump", dump)
        beat = beats.Beat(1, 1, 0, 3000, 0, "", "", False, 0, 0.0)
        before = threading.active_count()
        taken = dumping.take(LocalSystem(), STEP, {rank: beat._replace(rank=rank) for rank in range(3000)})
        assert (len(taken), max(running) - before <= dumping.WORKERS) == (3000, True)

    def test_hangs_so_many_ranks_that_the_detector_looks_at_nothing_else(self, monkeypatch: pytest.MonkeyPatch) -> None:
        machine = Cluster(["w0"])["w0"]

        def slow(system: Machine, step: str, beat: beats.Beat) -> stacks.Dump:
            system.sleep(30)
            return stacks.Dump("stacks")

        monkeypatch.setattr(dumping, "dump", slow)
        monkeypatch.setattr(dumping, "WORKERS", 1)
        beat = beats.Beat(1, 1, 0, 512, 0, "", "", False, 0, 0.0)
        taken = dumping.take(machine, STEP, {rank: beat._replace(rank=rank) for rank in range(512)})
        assert [found.text for found in taken.values()].count("stacks") == 2
        assert "no time was left" in taken[511].text

    def test_writes_what_a_terminal_obeys_into_the_dump_that_root_reads(self) -> None:
        machine = Cluster(["w0"])["w0"]
        machine.live(STEP, 0)
        machine.run_as = lambda *unused: Result(0, json.dumps({"stacks": "\x1b]0;owned\x07\r", "flight": "!"}))  # type: ignore[method-assign]
        found = stacks.dump(machine, STEP, beats.Beat(1000, 77, 0, 1, 0, "", "", False, 0, 0.0, 0))
        assert "owned" in found.text
        assert not {"\x1b", "\x07", "\r"} & set(found.text)
        assert found.flight == ""

    @pytest.mark.parametrize(("owner", "start"), [(USER, 77), (0, 76)])
    def test_lets_another_user_have_the_number_of_its_process(self, owner: int, start: int) -> None:
        """Otherwise the paths in its heartbeat would be read with that user's rights."""
        machine = Cluster(["w0"])["w0"]
        machine.live(STEP, 0)
        found = stacks.dump(machine, STEP, beats.Beat(1000, start, 0, 1, 0, "", "/home/bob/.ssh/id_", False, 0, 0.0, owner))
        assert (found.owner, found.flight, machine.commands) == (None, "", [])

    def test_records_more_flights_than_the_detector_keeps(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(dumping, "dump", lambda system, step, beat: stacks.Dump("stacks", "A" * 100))
        monkeypatch.setattr(dumping, "FLIGHTS_LIMIT", 1000)
        beat = beats.Beat(1, 1, 0, 512, 0, "", "", False, 0, 0.0)
        taken = dumping.take(Cluster(["w0"])["w0"], STEP, {rank: beat._replace(rank=rank) for rank in range(512)})
        assert sum(len(found.flight) for found in taken.values()) == 1000
        assert {found.text for found in taken.values()} == {"stacks"}

    def test_poses_as_all_ranks_of_a_step_to_have_its_node_replaced(self) -> None:
        machine = Cluster(["w0"])["w0"]
        machine.live(STEP, 0)
        for rank in range(2):
            machine.beat(STEP, rank, 10 + rank, world=2, pid=1000)
        assert len(beats.of_step(machine, STEP, {1000})) == 1

    def test_hangs_many_steps_so_that_the_dumps_of_one_follow_those_of_another(self) -> None:
        machine = Cluster(["w0"])["w0"]
        for number in range(3):
            machine.live(f"{number}.0", number)
            machine.beat(f"{number}.0", number, 10, world=number + 1)
        watch = Watch(machine, SETTINGS, "w0")
        watch.poll()
        machine.sleep(SETTINGS.hang_seconds + 1)
        dumped = []
        for _ in range(3):
            watch.poll()
            dumped.append(len({path.split("/")[5] for path in machine.files if path.startswith(f"{dumping.LOCAL}/")}))
        assert dumped == [1, 2, 3]

    @pytest.mark.parametrize(
        ("place", "owner", "mode"), [("/opt/hyperpod/checks.d", 0, 0o1777), ("/opt/hyperpod", USER, 0o755), ("/opt", 0, 0o777)]
    )
    def test_renames_a_folder_above_the_checks_that_root_runs(self, place: str, owner: int, mode: int) -> None:
        machine = Cluster(["w0"])["w0"]
        machine.files["/opt/hyperpod/checks.d/fan"] = "#!/bin/sh"
        machine.programs["/opt/hyperpod/checks.d/fan"] = lambda command, text: Result(0)
        machine.owners[place], machine.modes[place] = owner, stat.S_IFDIR | mode
        (found,) = custom.check(Context(machine, SETTINGS, Memory(machine), None, machine.monotonic() + 60))
        assert f"others than root could change {place}" in found.detail
        assert machine.commands == []


@needs_root
class TestSpace:
    FILL = "import sys\nwith open(sys.argv[1] + '/fill', 'wb') as file:\n    for _ in range(100): file.write(bytes(1 << 20))"

    @pytest.fixture
    def heartbeats(self, place: Path) -> Iterator[Path]:
        folder = place / "heartbeat"
        LocalSystem().open_directory(str(folder))
        yield folder
        if folder.is_mount():
            subprocess.run(["/bin/umount", str(folder)], check=True)  # noqa: S603

    def test_fills_the_folder_of_heartbeats_and_nothing_else(self, heartbeats: Path) -> None:
        assert [LocalSystem().own_space(str(heartbeats)) for _ in range(2)] == [True, True]
        assert Path("/proc/mounts").read_text().count(f" {heartbeats} ") == 1
        assert stat.S_IMODE(heartbeats.stat().st_mode) == 0o1777
        assert "No space left on device" in as_user(USER, self.FILL, str(heartbeats)).stderr
        assert heartbeats.stat().st_dev != heartbeats.parent.stat().st_dev

    def test_beats_before_the_detector_and_is_not_hidden(self, heartbeats: Path) -> None:
        (heartbeats / STEP).mkdir()
        assert not LocalSystem().own_space(str(heartbeats))
        assert (heartbeats / STEP).is_dir()


class TestKernelLog:
    """Records of the kernel contain the name of a process, 15 bytes, and Neuron's driver prints any program's text."""

    NEURON = "NEURON_HW_ERR=SRAM_UNCORRECTABLE_ERROR instance-id=i-0 nd-id=0 action=TERMINATE_INSTANCE"
    XID = "NVRM: Xid (PCI:0000:b9:00): 79, pid=7, GPU has fallen off the bus."
    counted = "1\n"

    def check(self, records: str, *present: str) -> list[Finding]:
        machine = Cluster(["w0"])["w0"]
        machine.files.update({"/dev/kmsg": records, **{f"/dev/{device}": "" for device in present}})
        machine.files[f"{devices.NEURON_DEVICES}/neuron0/stats/hardware/mem_ecc_uncorrected"] = self.counted
        return [one for one in kernel_log.check(Context(machine, SETTINGS, Memory(machine), None, 0.0)) if one.action is not None]

    @pytest.mark.parametrize(
        "record",
        [
            "4,1,1,-;NEURON_HW_ERR=A[77]: segfault at 0 ip 0 sp 0 error 4 in true[1000+1000]",
            "4,1,1,-;traps: NEURON_HW_ERR=A[77] trap invalid opcode ip:0 sp:0 error:0 in true[1000+1000]",
            "6,1,1,-;NEURON_HW_ERR=A (77) used greatest stack depth: 1 bytes left",
            "6,1,1,-;process 'NEURON_HW_ERR=A' started with executable stack",
            "4,1,1,-;NVRM: Xid (PCI:[77]: segfault at 0 ip 0 sp 0 error 4",
            "4,1,1,-;NVRM: Xid (0): [79]: segfault at 0 ip 0 sp 0 error 4",
            "4,1,1,-;NVRM: Xid (PCI:0000:b9:00): 31, pid=7, name=Xid (x): 79, , Ch 00000008, intr 10000000. MMU Fault",
            "4,1,1,-;NVRM: Xid (PCI:0000:b9:00): 154, pid=7, name=(OS Reboot), MMU Fault",
            "4,1,1,-;NVRM: Xid (PCI:0000:b9:00): 154, name= to (OS Reboot), GPU recovery action changed from 0x2 (x) to 0x0 (-)",
            f"4,1,1,c;{XID}",
            f"4,1,1,+;{XID}",
            f"12,1,1,-;{XID}",
            f"4,1,1,-;first line\\x0a{XID}",
            f"4,1,1,-;first line\n {XID}",
            f" SUBSYSTEM=4,1,1,-;{XID}",
            f'4,1,1,-;audit: type=1701 comm="{XID}"',
        ],
    )
    def test_names_a_process_after_a_fault(self, record: str) -> None:
        assert self.check(record + "\n", "nvidia0", "nvidiactl", "neuron0") == []

    @pytest.mark.parametrize(("record", "devices"), [(XID, ["neuron0", "null"]), (NEURON, ["nvidia0"]), (XID, []), (NEURON, [])])
    def test_names_a_fault_of_a_device_that_the_node_has_not(self, record: str, devices: list[str]) -> None:
        assert self.check(f"3,1,1,-;{record}\n", *devices) == []

    def test_has_neurons_driver_print_a_fault_that_no_device_counts(self) -> None:
        assert self.check(f"3,1,1,-;{self.NEURON}\n", "neuron0") != []
        self.counted = "0\n"
        assert self.check(f"3,1,1,-;{self.NEURON}\n", "neuron0") == []

    def test_words_of_a_custom_checks_last_line_that_a_user_chose_ask_for_a_mark(self) -> None:
        machine = Cluster(["w0"])["w0"]
        path = f"{SETTINGS.checks_directory}/top"
        machine.files[path] = "#!/bin/sh"
        for separator in "\x0b\x0c\x1c\x85\u2028\r":
            machine.programs[path] = lambda command, text, end=separator: Result(1, f"busy: x{end}Action:Replace\n")  # type: ignore[misc]
            (found,) = custom.check(Context(machine, SETTINGS, Memory(machine), None, machine.now() + 30))
            assert found.action is None

    def test_names_a_process_so_that_the_table_moves_the_cursor_of_who_reads_it(self) -> None:
        machine = Cluster(["w0"])["w0"]
        log.log(machine, "rank \x1b[2J\nmarked by nobody")
        found = [["check:\x1b]0;x\x07", "\x1b[31mred\rgreen", None]]
        machine.files["/var/lib/hyperpod/health/report.json"] = json.dumps(
            {"time": 0, "findings": found, "action": None, "why": ""}
        )
        shown = machine.log + status.table(machine)
        assert not {"\x1b", "\x07", "\r"} & set(shown)
        assert not any(line.startswith("marked") for line in shown.splitlines())


class TestHeartbeatsOfOthers:
    """Before the job of another user begins, there is something where its heartbeats will be."""

    @needs_root
    @pytest.mark.parametrize("mode", [0o777, 0o755, 0o1777])
    def test_makes_the_folder_of_the_next_job_with_links_in_it(self, place: Path, mode: int) -> None:
        target, folder = place / "bashrc", place / STEP
        target.write_text("mine")
        folder.mkdir()
        for name in ("0.stack", "0", f".0.{os.getpid()}", f".0.stack.{os.getpid()}"):
            (folder / name).symlink_to(target)
        os.chown(folder, USER, USER)
        folder.chmod(mode)
        assert not Heartbeat.from_environment({**JOB, "NODE_HEALTH_HEARTBEATS": str(place)}).active
        assert target.read_text() == "mine"

    def test_makes_a_link_to_a_folder_of_the_other_user(self, tmp_path: Path) -> None:
        home = tmp_path / "home"
        home.mkdir()
        (tmp_path / STEP).symlink_to(home)
        assert not Heartbeat.from_environment({**JOB, "NODE_HEALTH_HEARTBEATS": str(tmp_path)}).active
        assert list(home.iterdir()) == []

    @needs_root
    def test_has_root_remove_what_his_leftovers_link_to(self, place: Path) -> None:
        (place / "precious").mkdir()
        (place / "precious/file").write_text("root")
        (place / STEP).mkdir()
        (place / STEP / "0").symlink_to(place / "precious")
        (place / STEP / "deep").mkdir()
        for path in (place / STEP, place / STEP / "deep"):
            os.chown(path, USER, USER)
        place.chmod(0o1777)
        LocalSystem().remove_as_owner(str(place), STEP)
        assert sorted(path.name for path in place.iterdir()) == ["precious"]
        assert (place / "precious/file").read_text() == "root"

    def test_fills_the_folder_of_heartbeats_with_a_million_names(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(beats.Leftovers, "SEEN", 20)
        for number in range(30):
            (tmp_path / f"{number}.0").touch()
        looked: list[str] = []

        def look(system: object, step: str) -> list[str]:
            looked.append(step)
            return looked

        monkeypatch.setattr(beats, "DIRECTORY", str(tmp_path))
        monkeypatch.setattr(beats, "living", look)
        beats.Leftovers(LocalSystem()).remove({})
        assert len(looked) == beats.Leftovers.LOOKED_AT
        assert len(LocalSystem().user_names(str(tmp_path), beats.Leftovers.SEEN)) == beats.Leftovers.SEEN


def heartbeat(line: str = f"R {11:20d} {0.1:14.6f} {0.0:14.6f}\n", changes: dict[str, object] | None = None) -> str:
    values = {"pid": 1000, "start": 77, "rank": 0, "world": 2, "restart": 0, "signal": SIGNAL, **(changes or {})}
    return json.dumps(values).ljust(HEADER_BYTES - 1) + "\n" + line


BAD_HEADERS: list[dict[str, object]] = [
    {"signal": 0},
    {"signal": 9},
    {"signal": -1},
    {"signal": 10**400},
    {"signal": True},
    {"world": 10**9},
    {"world": 0},
    {"world": -1},
    {"rank": 2},
    {"rank": -1},
    {"rank": 10**30},
    {"pid": 0.5},
    {"pid": 2**31},
    {"pid": [1000]},
    {"start": None},
    {"restart": "0"},
    {"restart": float("nan")},
    {"flight_pipe": ["/x"]},
    {"flight_dump": "\0"},
    {"flight_dump": "x" * 600},
]
BAD_LINES = [
    "R 1e400 1.000000 0.000000\n",
    f"R {10**30} 1.000000 0.000000\n",
    f"R {2**63} 1.000000 0.000000\n",
    "R -1 1.000000 0.000000\n",
    "R 11 inf 0.000000\n",
    "R 11 nan 0.000000\n",
    "R 11 1e300 0.000000\n",
    f"R 11 {'9' * 400}.000000 0.000000\n",
    "R 11 1.000000 0.000000\n" * 2,
    "",
]


class TestHeartbeat:
    def test_a_heartbeat_without_malice_is_read(self) -> None:
        assert beats.parse(heartbeat()) is not None

    @pytest.mark.parametrize("header", BAD_HEADERS, ids=lambda header: str(header)[:40])
    def test_claims_what_no_job_has(self, header: dict[str, object]) -> None:
        assert beats.parse(heartbeat(changes=header)) is None

    @pytest.mark.parametrize("line", BAD_LINES, ids=lambda line: line[:30])
    def test_beats_a_number_that_is_none(self, line: str) -> None:
        assert beats.parse(heartbeat(line)) is None

    @pytest.mark.parametrize("text", ["[" * 1023 + "\n", '{"a":' * 204 + "1111\n", "\0" * 1024, "\ud800" * 1024])
    def test_nests_a_header_deeper_than_a_parser_goes(self, text: str) -> None:
        assert beats.parse(text + heartbeat()[HEADER_BYTES:]) is None

    def test_a_world_without_end_is_not_counted_through(self) -> None:
        verdict = hang.culprit({0: Place("w0", 1), 2: Place("w0", 1)}, 10**15)
        assert verdict.why.startswith("culprit unknown: no live heartbeat of ranks 1, 3, 4, 5, 6, 7, 8, 9 and 999999999999990 more")

    @pytest.mark.parametrize("kind", ["fifo", "link", "hard link", "huge", "folder"])
    def test_puts_something_else_in_place_of_a_heartbeat(self, tmp_path: Path, kind: str) -> None:
        folder = tmp_path / STEP
        folder.mkdir()
        (folder / "0").write_text("good")
        (tmp_path / "secret").write_text("secret")
        put(kind, folder / "1", tmp_path / "secret")
        found = LocalSystem().user_files(str(folder), beats.RANK, 8, beats.FILE_BYTES)
        assert found == {"0": UserFile("good", os.getuid())}

    @pytest.mark.parametrize(("files", "read"), [(30, 8), (33, 0)])
    def test_makes_more_heartbeats_than_a_node_has_ranks(self, tmp_path: Path, files: int, read: int) -> None:
        (tmp_path / STEP).mkdir()
        for rank in range(files):
            (tmp_path / STEP / str(rank)).write_text("x")
        assert len(LocalSystem().user_files(str(tmp_path / STEP), beats.RANK, 8, 10)) == read

    @pytest.mark.parametrize("link", [True, False])
    def test_lets_others_write_his_heartbeats_or_links_to_theirs(self, tmp_path: Path, link: bool) -> None:
        (tmp_path / "other").mkdir()
        (tmp_path / "other/0").write_text("x")
        if link:
            (tmp_path / STEP).symlink_to(tmp_path / "other")
        else:
            (tmp_path / "other").rename(tmp_path / STEP).chmod(0o777)
        assert LocalSystem().user_files(str(tmp_path / STEP), beats.RANK, 8, 10) == {}

    def test_beats_for_the_rank_of_another_file(self) -> None:
        machine = Cluster(["w0"])["w0"]
        machine.live(STEP, 0)
        machine.beat(STEP, 0, 11)
        machine.files[f"{DIRECTORY}/{STEP}/1"] = machine.files.pop(f"{DIRECTORY}/{STEP}/0")
        assert beats.of_step(machine, STEP, {1000}) == {}

    @pytest.mark.parametrize(
        "text", ["", "[" * 5000, heartbeat(changes={"world": 10**9}), heartbeat(changes={"signal": 0}), "x" * 4096]
    )
    def test_hides_the_hang_of_another_job_behind_a_bad_file(self, cluster: Cluster, text: str) -> None:
        detect(cluster, lambda machine: machine.files.update({f"{DIRECTORY}/9.0/0": text}))
        assert cluster.reasons == [("w1", "Action:Replace")]

    @pytest.mark.parametrize("error", [MemoryError, RecursionError, OverflowError, ValueError, KeyError, OSError])
    def test_breaks_the_detector_with_one_step(self, cluster: Cluster, error: type[Exception]) -> None:
        """Any error ends with its step."""

        def breaks(machine: Machine) -> None:
            read = machine.user_files

            def user_files(directory: str, *rest: object) -> dict[str, UserFile]:
                if directory.endswith("/9.0"):
                    raise error("a hole")
                return read(directory, *rest)  # type: ignore[arg-type]

            machine.user_files = user_files  # type: ignore[method-assign, assignment]

        detect(cluster, breaks)
        assert cluster.reasons == [("w1", "Action:Replace")]
        assert cluster["w0"].log.count(f"9.0: its heartbeats cannot be read: {error.__name__}") == 1


def detect(cluster: Cluster, attack: Callable[[Machine], object]) -> None:
    """A rank hangs on each node's step 7.0, beside an attacker's step 9.0; the detectors poll long enough."""
    watches = [Watch(machine, SETTINGS, name) for name, machine in cluster.machines.items()]
    for rank, machine in enumerate(cluster.machines.values()):
        machine.live("9.0", 10 + rank)
        machine.live(STEP, rank)
        machine.beat(STEP, rank, 10 if rank == 1 else 11)
        attack(machine)
    for _ in range(20):
        for watch in watches:
            watch.poll()
        cluster.time += 10


@pytest.fixture
def cluster() -> Cluster:
    return Cluster(["w0", "w1", "w2", "w3"])


class TestOtherNodes:
    """Files of other nodes and of another cluster on the shared directory."""

    GOOD = json.loads(str(aggregate.Aggregate("w1", 0, 1, 4, False, {1: Place("w1", 10)})))
    VIEW = picture.Picture("0" * 64, False, Verdict("w1", (1,), "why"), True, ())
    TOLD = json.loads(str(summary.Summary("w0", 0, 0, 1, 4, VIEW)))

    @pytest.mark.parametrize(
        "change",
        [
            {"world": 10**9},
            {"world": 1},
            {"node": "x" * 300},
            {"node": 7},
            {"number": -1},
            {"number": 1e400},
            {"dumped": 1},
            {"ranks": {"1": [10, 1e400, False]}},
            {"ranks": {"1": [10**40, 0.1, False]}},
            {"ranks": {"1": [10, 0.1, 0]}},
            {"ranks": {"-1": [10, 0.1, False]}},
            {"ranks": {str(rank): [1, 0.1, False] for rank in range(513)}, "world": 1000},
            {"ranks": [1]},
        ],
        ids=lambda change: str(change)[:40],
    )
    def test_an_aggregate_claims_what_no_node_has(self, change: dict[str, object]) -> None:
        assert aggregate.parse(json.dumps(self.GOOD)) is not None
        assert aggregate.parse(json.dumps({**self.GOOD, **change})) is None

    @pytest.mark.parametrize(
        "change",
        [
            {"world": 10**9},
            {"rank": 4},
            {"leader": None},
            {"number": True},
            {"picture": None},
            {"picture": {**TOLD["picture"], "digest": "x" * 100}},
            {"picture": {**TOLD["picture"], "paused": 0}},
            {"picture": {**TOLD["picture"], "slow": [[1, "w", 1.0]] * 17}},
            {"picture": {**TOLD["picture"], "verdict": {"node": "w1", "ranks": [1] * 513, "why": ""}}},
            {"picture": {**TOLD["picture"], "verdict": {"node": 7, "ranks": [1], "why": ""}}},
        ],
        ids=lambda change: str(change)[:40],
    )
    def test_a_leader_tells_what_no_step_has(self, change: dict[str, object]) -> None:
        assert summary.parse(json.dumps(self.TOLD)) is not None
        assert summary.parse(json.dumps({**self.TOLD, **change})) is None

    @pytest.mark.parametrize("ranks", [(1,), (0, 1), ()])
    def test_a_leader_blames_a_node_that_does_not_lag(self, cluster: Cluster, ranks: tuple[int, ...]) -> None:
        """The node's own ranks contradict the leader."""
        machine = cluster["w1"]
        machine.live(STEP, 1, 2)
        machine.beat(STEP, 1, 11, world=4)
        machine.beat(STEP, 2, 10, world=4)
        watch = Watch(machine, SETTINGS, "w1")
        told = summary.Summary("w0", 0, 0, 1, 4, self.VIEW._replace(verdict=Verdict("w1", ranks, "lies\x1b[2J")))
        for number in range(40):
            cluster.files[f"summary/{STEP}.json"] = str(told._replace(number=number))
            watch.poll()
            cluster.time += 10
        assert cluster.reasons == []
        assert "\x1b" not in machine.log

    def test_a_neighbours_job_of_the_same_number_takes_the_blame_away(self, place: Path) -> None:
        ours, theirs = shared_at(place, "c1"), shared_at(place, "c2")
        folder = f"heartbeat/{STEP}"
        ours.exchange(Exchange(write={f"{folder}/w0.json": "ours"}))
        theirs.exchange(Exchange(write={f"{folder}/w0.json": "theirs", f"{folder}/w9.json": "theirs"}))
        assert ours.exchange(Exchange(read=(folder,))) == {f"{folder}/w0.json": "ours"}

    @pytest.mark.parametrize("text", ["[" * 9000, "[[1]]", '[["x", 1]]', "[[1e400, 1]]", "{}", "7", '[[1, "Action:Reboot", 1]]'])
    def test_marks_of_another_form_stop_nobody(self, cluster: Cluster, text: str) -> None:
        cluster.files["health/marks/w1.json"] = text
        shared = SharedDirectory(cluster["w0"], "/fsx")
        assert gather(cluster["w0"], "w0", shared, []).since("w1", 10**6, time.time()) == []
