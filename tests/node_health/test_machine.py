"""Real processes, files, pipes and signals, beyond any double; no test needs root."""

from __future__ import annotations

import base64
import errno
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from node_health import beats, stacks
from node_health.checks.context import process_start
from node_health.heartbeat import HEADER_BYTES, Heartbeat
from node_health.shared import CLUSTER, Exchange, SharedDirectory
from node_health.system import LocalSystem
from node_trust.as_user import Identity

from .conftest import LIFECYCLE

ENVIRONMENT = {"RANK": "3", "WORLD_SIZE": "8", "SLURM_JOB_ID": "7", "SLURM_STEP_ID": "0", "SLURM_RESTART_COUNT": "2"}
JOB = """
import sys, threading, time
sys.path.insert(0, sys.argv[1])
from node_health.heartbeat import Heartbeat

def stand_still():
    print("ready", flush=True)
    time.sleep(60)

beat = Heartbeat.from_environment()
beat.before(5)
stand_still()
"""


@pytest.fixture
def system() -> LocalSystem:
    return LocalSystem()


@pytest.fixture
def heart(tmp_path: Path) -> Heartbeat:
    return Heartbeat.from_environment({**ENVIRONMENT, "NODE_HEALTH_HEARTBEATS": str(tmp_path)})


class TestSystem:
    def test_a_command_gets_its_input_and_gives_its_output(self, system: LocalSystem) -> None:
        result = system.run(["sh", "-c", "cat; echo problem >&2; exit 3"], 10, "text")
        assert (result.code, result.output, result.error, result.last_line) == (3, "text", "problem\n", "problem")

    def test_a_command_that_is_not_there_is_an_answer(self, system: LocalSystem) -> None:
        assert system.run(["/nothing/there"], 1).code == 127

    def test_a_late_command_is_killed_with_its_children(self, system: LocalSystem) -> None:
        result = system.run(["sh", "-c", "echo begun; sleep 60 & sleep 60"], 0.5)
        assert (result.code, result.output, result.pid) == (None, "begun\n", 0), "a child that lives would hold the output open"

    def test_a_child_that_no_signal_ends_is_left_and_named(self, system: LocalSystem, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(os, "killpg", lambda pid, number: None)
        result = system.run(["sleep", "3"], 0.2)
        assert result.code is None
        assert process_start(system, result.pid) > 0
        system._left[0].kill()
        system._left[0].communicate()

    def test_a_written_file_is_whole_and_readable_for_all(self, system: LocalSystem, tmp_path: Path) -> None:
        path = tmp_path / "a" / "b"
        system.write(str(path), "text")
        system.append(str(path), " more")
        assert system.read(str(path)) == "text more"
        assert stat.S_IMODE(path.stat().st_mode) == 0o644
        assert os.listdir(path.parent) == ["b"]  # noqa: PTH208

    def test_no_link_is_followed_and_no_pipe_waited_for(self, system: LocalSystem, tmp_path: Path) -> None:
        (tmp_path / "link").symlink_to("/etc/hostname")
        os.mkfifo(tmp_path / "pipe")
        assert system.read(str(tmp_path / "link")) is None
        assert system.read(str(tmp_path / "pipe")) is None

    def test_absent_things_are_none(self, system: LocalSystem) -> None:
        assert (system.read("/no"), system.status("/no"), system.space("/no"), system.names("/no")) == (None, None, None, [])
        assert system.kill(2**22 + 1, 0) is False

    def test_a_folder_for_everybody(self, system: LocalSystem, tmp_path: Path) -> None:
        system.open_directory(str(tmp_path / "run" / "heartbeat"))
        assert stat.S_IMODE((tmp_path / "run" / "heartbeat").stat().st_mode) == 0o1777
        system.remove(str(tmp_path / "run"))
        assert system.names(str(tmp_path)) == []


class TestSharedDirectory:
    @pytest.fixture
    def system(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LocalSystem:
        """This machine, with a file system mounted at the test's folder."""
        system = LocalSystem()
        files = {"/proc/self/mounts": f"/dev/root / ext4 rw 0 0\nfs {tmp_path} lustre rw 0 0\n", CLUSTER: "c1\n"}
        monkeypatch.setattr(system, "read", files.get)
        return system

    def test_writes_removes_and_reads_in_one_go(self, system: LocalSystem, tmp_path: Path) -> None:
        shared = SharedDirectory(system, str(tmp_path))
        assert shared.exchange(Exchange(write={"a/x.json": "1", "a/y.json": "2"})) == {}
        wanted = Exchange(
            write={"a/z.json": "3"}, encoded={"b/f": base64.b64encode(b"\0\xff").decode()}, remove=("a/x.json",), read=("a",)
        )
        assert shared.exchange(wanted) == {"a/y.json": "2", "a/z.json": "3"}
        assert shared.exchange(Exchange(files=("a/z.json", "a/none.json"))) == {"a/z.json": "3"}
        assert (tmp_path / ".hyperpod/c1/b/f").read_bytes() == b"\0\xff"
        shared.exchange(Exchange(remove=("a/y.json", "a/z.json", "a/none.json")))
        assert not (tmp_path / ".hyperpod/c1/a").exists(), "the last file takes the folder along"

    def test_the_empty_folder_of_a_lost_mount_is_not_written_to(self, tmp_path: Path) -> None:
        assert SharedDirectory(LocalSystem(), str(tmp_path)).exchange(Exchange(write={"a.json": "1"})) is None
        assert list(tmp_path.iterdir()) == []

    def test_a_folder_that_is_not_there_is_not_made(self, system: LocalSystem, tmp_path: Path) -> None:
        assert SharedDirectory(system, str(tmp_path / "fsx")).exchange(Exchange(write={"a.json": "1"})) is None
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("cluster", [None, "", "..", ".c1", "a/b", "c" * 129])
    def test_without_a_clusters_id_nothing_is_exchanged(
        self, system: LocalSystem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cluster: str | None
    ) -> None:
        files = {"/proc/self/mounts": f"fs {tmp_path} lustre rw 0 0\n", CLUSTER: cluster}
        monkeypatch.setattr(system, "read", files.get)
        shared = SharedDirectory(system, str(tmp_path))
        assert shared.exchange(Exchange(write={"a.json": "1"})) is None
        assert "has no cluster id" in str(shared.problem)
        assert list(tmp_path.iterdir()) == []

    def test_without_a_directory_there_is_no_answer(self, system: LocalSystem) -> None:
        assert SharedDirectory(system, None).exchange(Exchange()) is None


class TestHeartbeat:
    def test_the_detector_reads_what_the_job_writes(self, heart: Heartbeat, tmp_path: Path) -> None:
        heart.before(41)
        beat = beats.parse((tmp_path / "7.0/3").read_text(encoding="utf-8"))
        assert beat is not None
        assert (beat.pid, beat.rank, beat.world, beat.restart, beat.progress) == (os.getpid(), 3, 8, 2, 83)
        assert beat.start == process_start(LocalSystem(), os.getpid())
        heart.after(41)
        with heart.paused():
            beat = beats.parse((tmp_path / "7.0/3").read_text(encoding="utf-8"))
            assert beat is not None
            assert (beat.paused, beat.progress) == (True, 84)
        heart.close()
        assert sorted(path.name for path in (tmp_path / "7.0").iterdir()) == ["3", "3.stack"]

    @pytest.mark.parametrize("missing", ["RANK", "WORLD_SIZE", "SLURM_JOB_ID", "NODE_HEALTH_HEARTBEATS"])
    def test_outside_of_a_job_every_call_does_nothing(self, tmp_path: Path, missing: str) -> None:
        environment = {**ENVIRONMENT, "NODE_HEALTH_HEARTBEATS": str(tmp_path), missing: "/nothing"}
        heart = Heartbeat.from_environment(environment)
        heart.before(1)
        heart.after(1)
        assert not heart.active
        heart.close()

    def test_a_folder_of_another_user_is_no_error(self, tmp_path: Path) -> None:
        (tmp_path / "7.0").write_text("in the way", encoding="utf-8")
        assert not Heartbeat.from_environment({**ENVIRONMENT, "NODE_HEALTH_HEARTBEATS": str(tmp_path)}).active

    def test_the_batch_script_has_a_step_of_its_own(self, tmp_path: Path) -> None:
        environment = {**ENVIRONMENT, "NODE_HEALTH_HEARTBEATS": str(tmp_path)}
        del environment["SLURM_STEP_ID"]
        Heartbeat.from_environment(environment).close()
        assert (tmp_path / "7.batch/3").exists()

    def test_a_call_is_one_write(self, heart: Heartbeat, monkeypatch: pytest.MonkeyPatch) -> None:
        written: list[bytes] = []
        monkeypatch.setattr(os, "pwrite", lambda descriptor, line, offset: written.append(line))
        heart.before(7)
        heart.after(7)
        assert [line.split()[:2] for line in written] == [[b"R", b"15"], [b"R", b"16"]]
        heart.close()


class TestStacks:
    @pytest.fixture
    def child(self, tmp_path: Path) -> object:
        environment = {**os.environ, **ENVIRONMENT, "NODE_HEALTH_HEARTBEATS": str(tmp_path)}
        command = [sys.executable, "-c", JOB, str(LIFECYCLE)]
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as child:  # noqa: S603
            assert child.stdout is not None
            assert child.stdout.readline() == "ready\n"
            yield child
            child.kill()

    @pytest.fixture
    def system(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LocalSystem:
        """This machine without py-spy, with the heartbeats in the test's folder."""
        monkeypatch.setattr(stacks, "DIRECTORY", str(tmp_path))
        monkeypatch.setattr(LocalSystem, "find", lambda self, program: None)
        return LocalSystem()

    def read(self, tmp_path: Path) -> beats.Beat:
        beat = beats.parse((tmp_path / "7.0/3").read_text(encoding="utf-8"))
        assert beat is not None
        return beat._replace(owner=os.getuid())

    def test_the_job_prints_its_stacks_and_lives(self, child: subprocess.Popen[str], tmp_path: Path, system: LocalSystem) -> None:
        found = stacks.dump(system, "7.0", self.read(tmp_path))
        assert "in stand_still" in found.text
        assert f"thread {child.pid} python" in found.text
        assert found.owner is not None
        assert found.owner.uid == os.getuid()
        assert child.poll() is None

    def test_a_stopped_job_is_told_from_its_kernel_state(
        self, child: subprocess.Popen[str], tmp_path: Path, system: LocalSystem, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(stacks, "SIGNAL_SECONDS", 0.3)
        child.send_signal(signal.SIGSTOP)
        text = stacks.dump(system, "7.0", self.read(tmp_path)).text
        assert "did not answer its dump signal" in text
        assert "state T" in text

    def test_a_process_without_its_file_gets_no_signal(
        self, child: subprocess.Popen[str], tmp_path: Path, system: LocalSystem
    ) -> None:
        (tmp_path / "7.0/3.stack").unlink()
        assert "handles no dump signal" in stacks.dump(system, "7.0", self.read(tmp_path)).text
        assert child.poll() is None

    def test_a_process_without_a_handler_gets_no_signal(
        self, child: subprocess.Popen[str], tmp_path: Path, system: LocalSystem, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(stacks, "DUMP_SIGNAL", 11)
        assert "handles no dump signal" in stacks.dump(system, "7.0", self.read(tmp_path)).text
        assert child.poll() is None

    def test_py_spy_is_preferred(
        self, child: subprocess.Popen[str], tmp_path: Path, system: LocalSystem, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(LocalSystem, "find", lambda self, program: "/bin/echo")
        assert f"dump --nonblocking --pid {child.pid}" in stacks.dump(system, "7.0", self.read(tmp_path)).text

    def test_a_process_that_is_gone_is_nobodys(self, system: LocalSystem) -> None:
        beat = beats.Beat(2**22, 1, 0, 1, 0, "", "", False, 0, 0.0)
        assert stacks.dump(system, "7.0", beat).owner is None


class TestFlightRecorder:
    """A double of PyTorch's side: a reader on `<prefix><rank>.pipe` that answers with `<prefix><rank>`."""

    RECORDER = "import sys; open(sys.argv[1]).readline(); open(sys.argv[2], 'wb').write(bytes(range(256)))"

    def dump(self, tmp_path: Path) -> bytes:
        paths = {"flight_pipe": str(tmp_path / "pipe_3.pipe"), "flight_dump": str(tmp_path / "trace_3")}
        asked = {"pid": 1, "py_spy": None, "signal": 0, "stack": "", **paths}
        me = Identity(os.getuid(), os.getgid(), tuple(os.getgroups()))
        result = LocalSystem().run_as(me, [stacks.CHILD, json.dumps(asked)], 20, 1024 * 1024)
        return base64.b64decode(json.loads(result.output)["flight"])

    def test_the_pipe_asks_for_the_file(self, tmp_path: Path) -> None:
        pipe = tmp_path / "pipe_3.pipe"
        os.mkfifo(pipe)
        command = [sys.executable, "-c", self.RECORDER, str(pipe), str(tmp_path / "trace_3")]
        holder = os.open(pipe, os.O_RDWR)  # the recorder's end is open before anybody writes
        with subprocess.Popen(command):  # noqa: S603
            content = self.dump(tmp_path)
        os.close(holder)
        assert content == bytes(range(256))

    def test_without_a_pipe_the_watchdogs_file_is_taken(self, tmp_path: Path) -> None:
        (tmp_path / "trace_3").write_bytes(b"earlier")
        assert self.dump(tmp_path) == b"earlier"

    def test_a_link_is_not_followed(self, tmp_path: Path) -> None:
        (tmp_path / "secret").write_bytes(b"secret")
        (tmp_path / "trace_3").symlink_to(tmp_path / "secret")
        assert self.dump(tmp_path) == b""

    def test_a_pipe_that_is_a_file_is_not_written_to(self, tmp_path: Path) -> None:
        (tmp_path / "pipe_3.pipe").write_bytes(b"mine")
        assert self.dump(tmp_path) == b""
        assert (tmp_path / "pipe_3.pipe").read_bytes() == b"mine"


class TestProgram:
    """The command as slurmd starts it, where `config.json` switches the checks off: then it touches nothing of this machine."""

    @pytest.fixture
    def opt(self, tmp_path: Path) -> Path:
        for package in ("node_health", "node_trust"):
            shutil.copytree(LIFECYCLE / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
        (tmp_path / "config.json").write_text(json.dumps({"version": 1, "software": {}}), encoding="utf-8")
        return tmp_path

    def run(self, opt: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-B", "-W", "error", "-m", "node_health", *arguments]
        environment = {"PATH": "/usr/bin:/bin", "SLURMD_NODENAME": "w0"}
        return subprocess.run(  # noqa: S603
            command, cwd=opt, env=environment, capture_output=True, text=True, check=False, timeout=60
        )

    def test_the_chained_programs_exit_code_is_kept(self, opt: Path) -> None:
        result = self.run(opt, "check", "--chain", "sh", "-c", "echo chained; exit 5")
        assert (result.returncode, result.stdout) == (5, "chained\n")

    def test_a_config_that_is_wrong_keeps_the_chain_going(self, opt: Path) -> None:
        (opt / "config.json").unlink()
        result = self.run(opt, "check", "--chain", "true")
        assert result.returncode == 0
        assert "config.json: cannot be read" in result.stderr

    def test_there_is_nothing_to_watch_where_health_is_off(self, opt: Path) -> None:
        assert self.run(opt, "hang").returncode == 0

    @pytest.mark.parametrize("arguments", [(), ("chek",), ("hang", "now"), ("check", "--chain"), ("status", "--chain", "true")])
    def test_fails_for_other_arguments(self, opt: Path, arguments: tuple[str, ...]) -> None:
        result = self.run(opt, *arguments)
        assert result.returncode == 2
        assert "usage: python3 -m node_health check" in result.stderr


def test_the_header_of_a_heartbeat_fits(tmp_path: Path) -> None:
    long = {"TORCH_NCCL_DEBUG_INFO_PIPE_FILE": "/fsx/" + "p" * 300, "TORCH_NCCL_DEBUG_INFO_TEMP_FILE": "/fsx/" + "t" * 300}
    Heartbeat.from_environment({**ENVIRONMENT, **long, "NODE_HEALTH_HEARTBEATS": str(tmp_path)}).close()
    text = (tmp_path / "7.0/3").read_text(encoding="utf-8")
    assert len(text) > HEADER_BYTES
    assert beats.parse(text) is not None


class TestHeartbeatFailsSoftly:
    """The job continues with any fault of the folder or the node."""

    def beat(self, **environment: str) -> Heartbeat:
        heart = Heartbeat.from_environment({**ENVIRONMENT, **environment})
        heart.before(1)
        with heart.paused():
            heart.after(1)
        heart.close()
        return heart

    @pytest.mark.skipif(os.geteuid() != 0, reason="root may enter every folder, so the job must be somebody else")
    def test_on_a_node_that_has_closed_run_hyperpod(self, tmp_path: Path) -> None:
        """The parent folder belongs to root alone."""
        program = (
            "import os, sys; sys.path.insert(0, sys.argv[1]); from node_health.heartbeat import Heartbeat; os.setuid(12345);"
            "beat = Heartbeat.from_environment(dict(os.environ)); beat.before(1); print(beat.active)"
        )
        (tmp_path / "closed/heartbeat").mkdir(parents=True)
        (tmp_path / "closed").chmod(0o700)
        environment = {**ENVIRONMENT, "NODE_HEALTH_HEARTBEATS": str(tmp_path / "closed/heartbeat")}
        command = [sys.executable, "-c", program, str(LIFECYCLE)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
        assert (done.returncode, done.stdout) == (0, "False\n"), done.stderr

    @pytest.mark.parametrize("call", ["open", "mkdir", "pwrite", "replace"])
    @pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EDQUOT, errno.EIO])
    def test_when_a_call_fails(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, number: int) -> None:
        def fails(*unused: object, **also: object) -> None:
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr(os, call, fails)
        assert not self.beat(NODE_HEALTH_HEARTBEATS=str(tmp_path)).active

    def test_when_the_disk_fills_up_later(self, heart: Heartbeat, monkeypatch: pytest.MonkeyPatch) -> None:
        def fails(*unused: object) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(os, "pwrite", fails)
        heart.before(7)
        with heart.paused():
            heart.after(7)
        assert heart.active
        heart.close()

    @pytest.mark.parametrize("name", ["RANK", "WORLD_SIZE", "SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_RESTART_COUNT"])
    @pytest.mark.parametrize("value", ["", "x", "²", "-1", "9" * 5000, "1/../.."])
    def test_for_numbers_that_are_none(self, tmp_path: Path, name: str, value: str) -> None:
        self.beat(**{name: value, "NODE_HEALTH_HEARTBEATS": str(tmp_path)})
        assert {path.name for path in tmp_path.iterdir()} <= {"7.0"}

    def test_a_signal_that_the_job_handles_itself_stays_its_own(self, tmp_path: Path) -> None:
        number = signal.SIGRTMIN + 10
        caught: list[int] = []
        before = signal.signal(number, lambda given, frame: caught.append(given))
        try:
            heart = Heartbeat.from_environment({**ENVIRONMENT, "NODE_HEALTH_HEARTBEATS": str(tmp_path)})
            signal.raise_signal(number)
        finally:
            signal.signal(number, before)
            heart.close()
        assert caught == [number]
        assert [path.name for path in (tmp_path / "7.0").iterdir()] == ["3"], "without the file nobody sends the signal"
